"""Where commands print: stdout or stderr closed or full, a terminal of no width, a decimal comma."""

import contextlib
import locale
import os
import re
import subprocess
import sys

import pytest
from support import ROOT
from support.runner_plans import write_data

from omkl.cli import main
from omkl.cli.parser import build_parser

FEW = "algo=majority data=mine.libsvm reps=2 yardsticks=[] exec=serial"
MANY = f"{FEW.replace('algo=majority', 'algo=arow')} algo.r=0.5,1"
COMMANDS = {
    "run": f"run {FEW}",
    "sweep": f"sweep {FEW}",
    "tune": f"tune {FEW} --dry-run",
    "figure": f"figure curve {FEW}",
    "report": f"report {FEW} --out page.html",
    "table": "table bomkl/1 data=wdbc --dry-run",
    "claims": "claims omkc data=wdbc --dry-run",
    "bounds": f"bounds {FEW.replace('majority', 'perceptron')}",
    "fit": "fit algo=majority data=mine.libsvm --out other.omkl",
    "predict": "predict mine.omkl mine.libsvm",
    "update": "update mine.omkl mine.libsvm --out other.omkl",
    "status": f"status {FEW}",
    "list": "list data",
    "help": "help run",
    "show": f"show {FEW}",
    "data": "data list",
    "results": "results list",
    "check": "check learners",
    "compile": "compile algo=majority",
    "completion": "completion bash",
    "--help": "--help",
    "--version": "--version",
}
# What is drawn or saved is said on stderr, and that there is no learner to check.
SILENT = {"figure", "report", "fit", "update", "check", "compile"}
# All that these tests store, stored first: else their order would decide what `results list` prints.
STORED = (COMMANDS["run"], COMMANDS["bounds"], f"sweep {MANY}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data, a store that holds what the commands show, a model, and an extension."""
    folder = tmp_path_factory.mktemp("streams")
    write_data(folder / "mine.libsvm", 30)
    (folder / "learners/conf/algo").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("OMKL_STORE", raising=False)
        for words in (*STORED, "fit algo=majority data=mine.libsvm --out mine.omkl"):
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
                main(words.split())
    return folder


@pytest.fixture(autouse=True)
def place(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("OMKL_STORE", "OMKL_PATH"):
        monkeypatch.delenv(name, raising=False)


def call(name):
    """Run a command; its exit code."""
    try:
        return main(COMMANDS[name].split())
    except SystemExit as end:
        return end.code or 0


def test_every_command_is_tried():
    [subparsers] = [action for action in build_parser()._actions if isinstance(action.choices, dict)]
    assert {name for name in COMMANDS if name[0] != "-"} == set(subparsers.choices)


@pytest.fixture
def usual(capsys, usual_ones):
    """What a command prints as a rule, and without a fault."""

    def printed(name):
        if name not in usual_ones:
            assert call(name) == 0
            usual_ones[name] = capsys.readouterr()
        return usual_ones[name]

    return printed


@pytest.fixture(scope="module")
def usual_ones():
    return {}


@pytest.mark.parametrize("name", COMMANDS)
def test_results_go_to_stdout(name, usual):
    assert bool(usual(name).out) is (name not in SILENT)


@contextlib.contextmanager
def faulty(fault):
    """A stream that is closed, or whose disk is full."""
    if fault == "full" and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w", encoding="utf-8") if fault == "full" else contextlib.nullcontext() as stream:
        yield stream


FAULTS = {"closed": "it is closed", "full": "No space left on device"}


@pytest.mark.parametrize(("name", "fault"), [("run", "closed"), ("list", "full"), ("fit", "full")])
def test_a_stdout_that_cannot_be_written(name, fault, capsys, monkeypatch):
    """All commands print by one function; what fit has saved is said on stderr."""
    with faulty(fault) as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        code = call(name)
        assert sys.stdout is stdout
        monkeypatch.undo()
    err = capsys.readouterr().err
    assert "unexpected" not in err
    if name in SILENT:
        assert (code, "cannot write" in err) == (0, False)
        return
    assert code == 1
    assert f"omkl: cannot write to stdout: {FAULTS[fault]}" in err.splitlines()[-1]
    assert ("finished cells are in the store" in err) is (name == "run")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_stderr_that_cannot_be_written(fault, capsys, monkeypatch, usual):
    expected = usual("run").out
    with faulty(fault) as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert call("run") == 0
        monkeypatch.undo()
    assert len(capsys.readouterr().out.splitlines()) == len(expected.splitlines())


@pytest.mark.parametrize("name", ["run", "list", "help"])
def test_a_terminal_without_columns(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert call(name) == 0
    assert capsys.readouterr().out


@pytest.fixture(scope="module")
def comma(tmp_path_factory):
    """The folder of a locale whose decimal sign is a comma: made here, else the system's."""
    folder = tmp_path_factory.mktemp("locales")
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        make = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")]
        subprocess.run(make, check=True, capture_output=True, timeout=60)
        return {"LOCPATH": str(folder)}
    return {}


@contextlib.contextmanager
def decimal_comma():
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    except locale.Error:
        pytest.skip("no locale with a decimal comma")
    try:
        assert locale.localeconv()["decimal_point"] == ","
        yield
    finally:
        locale.setlocale(locale.LC_ALL, before)


@pytest.mark.parametrize("name", ["run", "sweep", "bounds", "predict", "results"])
def test_a_locale_with_a_decimal_comma(name, capsys, monkeypatch, comma, usual):
    for variable, value in comma.items():
        monkeypatch.setenv(variable, value)
    expected = usual(name)
    with decimal_comma():
        assert call(name) == 0
    commas = re.compile(r"\d,\d")
    for here, there in zip(capsys.readouterr(), expected, strict=True):
        assert commas.findall(here) == commas.findall(there)
        assert len(here.splitlines()) == len(there.splitlines())


SHELL = "{python} -c 'import sys; from omkl.cli import command; sys.exit(command())' {words} {to}"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("how", "to", "code"),
    [
        ("serial", ">&- 2>&- <&-", 1),
        pytest.param("dask exec.jobs=1", "2>&-", 0, marks=pytest.mark.slow),
        pytest.param("dask exec.jobs=1", ">&- 2>&- <&-", 1, marks=pytest.mark.slow),
    ],
)
def test_a_command_of_a_shell(how, to, code, capfd):
    """Workers start with what their command has, and the store's files get no other's number."""
    words = f"run {FEW.replace('serial', how)} --fresh"
    line = SHELL.format(python=sys.executable, words=f"'{words}'".replace(" ", "' '"), to=to)
    done = subprocess.run(["sh", "-c", line], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    out, err = capfd.readouterr()
    assert done.returncode == code, err
    assert bool(out) is (code == 0)
    assert err.count("cannot write to stdout") == (0 if "2>" in to else 1)
    assert "unexpected" not in err
    assert "Traceback" not in err
    assert main(["status", *FEW.split(), "--format", "json"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "backend"),
    [(f"figure curve {FEW}", "module://matplotlib_inline.backend_inline"), (f"sweep {MANY}", "nosuch")],
    ids=["figure", "sweep"],
)
def test_a_notebook_s_backend_of_another_environment(tmp_path, words, backend):
    """matplotlib_inline is not installed with omkl; where it is, this name is an ordinary one."""
    code = "import sys; from omkl.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": backend}
    command = [sys.executable, "-c", code, *words.split(), "--out", str(tmp_path / "a.png")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").exists()
