"""Each version is compiled by one process, several at a time, and what has been compiled needs no lock."""

import io
import json
import os
import subprocess
import sys
from contextlib import closing

import pytest
from support import ROOT

from omkl.config import learner_spec
from omkl.engine import numba_cache
from omkl.learner import warming
from omkl.learner.compiled import cold, turns, version

COMPILER = """
import sys, time
from omkl.learner.compiled import cold, turns
for name in turns(sys.argv[1:]):
    if cold([name]):
        print(name, flush=True)
        time.sleep(0.3)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    return tmp_path / "compiled"


def test_of_two_processes_each_compiles_what_the_other_does_not(folder, tmp_path):
    names = ["omkc_dd", "omkc_ss", "alma"]
    with open(tmp_path / "log", "ab") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", COMPILER, *order],
                stdout=log,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            for order in (names, names[::-1])
        ]
        assert [process.wait() for process in processes] == [0, 0]
    assert sorted((tmp_path / "log").read_text().split()) == sorted(names)
    assert cold(names) == []


def test_what_another_process_compiles_comes_last_and_is_waited_for(folder, capsys):
    with closing(turns(["omkc_dd"])) as mine:
        assert next(mine) == "omkc_dd"
        theirs = turns(["omkc_dd", "omkc_ss"])
        assert next(theirs) == "omkc_ss"
        list(mine)
    assert list(theirs) == ["omkc_dd"]
    assert capsys.readouterr().err == ""


def test_what_has_been_compiled_needs_no_lock(folder):
    list(turns(["omkc_dd"]))
    (folder / "locks" / "omkc_dd").unlink()
    assert cold(["omkc_dd", "omkc_ss"]) == ["omkc_ss"]
    assert not (folder / "locks" / "omkc_dd").exists()


def test_what_was_not_compiled_to_the_end_is_not_marked(folder):
    with closing(turns(["omkc_dd"])) as names:
        assert next(names) == "omkc_dd"  # and then Ctrl-C
    assert cold(["omkc_dd"]) == ["omkc_dd"]
    assert list(turns(["omkc_dd"])) == ["omkc_dd"]  # its lock is free


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert list(turns(["omkc_dd", "omkc_ss"])) == ["omkc_dd", "omkc_ss"]


def test_a_second_process_compiles_from_the_other_end(folder, monkeypatch):
    """The text that it reads, and that it is there for a long list only."""
    settings = [
        (learner_spec(name), learner_spec(name).defaults, False) for name in ("majority", "last_value")
    ]
    written = [[spec.name, params, many] for spec, params, many in settings]
    warming._accompany(json.dumps({"share": 0.5, "settings": written}))
    assert cold(version(*own) for own in settings) == []
    started = []
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    monkeypatch.setattr(warming.subprocess, "Popen", lambda *args, **how: started.append(args) or Idle())
    with warming._company(settings * 6):
        assert len(started) == 2
    with warming._company(settings):
        assert len(started) == 2
    assert numba_cache.base() == folder


class Idle:
    """Stands for a process that has ended already."""

    def __init__(self):
        self.stdin = io.StringIO()

    def wait(self):
        return 0

    def kill(self):
        pass
