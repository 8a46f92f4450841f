"""What the commands do is what the record says; see scripts/golden.py."""

import contextlib
import re
import shlex

import pytest
from support import script

from omkl.cli import main

golden = script("golden")


@pytest.mark.parametrize("section", [*golden.sections(), "learners"])
def test_the_record_holds(section, monkeypatch):
    for name in ("OMKL_DATA", "OMKL_STORE", "OMKL_PATH", "OMKL_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    differ = golden.differences(section)
    assert not differ, "\n".join(["scripts/golden.py --write records this anew:", *differ])


ADVICE = re.compile(r"`(omkl \S+ [^`]+)`")


def advised() -> list[tuple[str, str]]:
    """Return the commands of the record whose messages advise another one, with that one."""
    lines = (golden.HOME / "record.txt").read_text(encoding="utf-8").splitlines()
    command, found = "", dict[tuple[str, str], None]()
    for line in lines:
        command = line.removeprefix("$ omkl ") if line.startswith("$ omkl ") else command
        found |= dict.fromkeys((command, advice) for advice in ADVICE.findall(line))
    return list(found)


@pytest.mark.parametrize(("command", "advice"), advised())
def test_what_a_message_advises_helps(command, advice, tmp_path, monkeypatch, capsys):
    """The advised command works, and what asked for it then does not ask for it any more."""
    for name in ("OMKL_DATA", "OMKL_STORE", "OMKL_PATH", "OMKL_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    golden.make_inputs()
    with contextlib.suppress(SystemExit):
        main(shlex.split(command))
    said = "".join(capsys.readouterr())
    assert advice in said
    with contextlib.suppress(SystemExit):  # of --help
        assert main(shlex.split(advice)[1:]) == 0
    if re.search(re.escape(f"`{advice}` ") + "(computes|runs|tunes)", said):
        capsys.readouterr()
        assert main(shlex.split(command)) == 0
        assert advice not in "".join(capsys.readouterr())


def test_there_are_such_messages():
    assert any("run algo=" in advice for _, advice in advised())
