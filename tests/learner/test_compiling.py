"""One process compiles at a time, and what has been compiled for this CPU needs no lock."""

import os
import subprocess
import sys

import pytest
from support import ROOT

from omkl.learner.warming import compiling

COMPILER = """
import sys, time
from omkl.learner.warming import compiling
with compiling(["omkc_dd"]):
    print("in", flush=True)
    time.sleep(0.3)
    print("out", flush=True)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    return tmp_path / "compiled"


def test_two_processes_compile_one_after_the_other(folder, tmp_path):
    with open(tmp_path / "log", "ab") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", COMPILER],
                stdout=log,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            for _ in range(2)
        ]
        assert [process.wait() for process in processes] == [0, 0]
    said = (tmp_path / "log").read_text().split()
    assert said == ["in", "out", "in", "out"]  # the second, too late for the mark, waited


def test_what_has_been_compiled_needs_no_lock(folder):
    with compiling(["omkc_dd"]):
        pass
    (folder / "lock").unlink()
    with compiling(["omkc_dd"]):
        assert not (folder / "lock").exists()
    with compiling(["omkc_dd", "omkc_ss"]):
        assert (folder / "lock").exists()


def test_what_was_not_compiled_to_the_end_is_not_marked(folder):
    with pytest.raises(KeyboardInterrupt), compiling(["omkc_dd"]):
        raise KeyboardInterrupt
    assert not list(folder.rglob("omkc_dd-*"))


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    with compiling(["omkc_dd"]):
        pass
