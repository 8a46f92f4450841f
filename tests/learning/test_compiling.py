"""Each version is compiled by one process, several at a time, and what has been compiled needs no lock."""

import io
import json
import os
import subprocess
import sys
from contextlib import closing

import pytest
from support import ROOT

from omkl.algorithms import functions
from omkl.config import learner_spec, learner_specs
from omkl.engine import by_address, numba_cache
from omkl.learning import compiled, precompile
from omkl.learning.compiled import cold, engine_marks, mark_engine, turns, version

pytestmark = pytest.mark.slow

COMPILER = """
import sys, time
from omkl.learning.compiled import cold, turns
for name in turns(sys.argv[1:]):
    if cold([name]):
        print(name, flush=True)
        time.sleep(0.3)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    functions()  # which are imported now: where their files lie is decided then
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


@pytest.mark.parametrize("helped", [False, True])
def test_only_who_waits_for_another_command_is_told_so(folder, monkeypatch, capsys, helped):
    answers = iter([None, compiled.NONE])  # another process has the lock, then it is free
    monkeypatch.setattr(compiled, "_take", lambda version, wait=False: next(answers))
    assert list(turns(["omkc_dd"], helped)) == ["omkc_dd"]
    assert capsys.readouterr().err.startswith("waiting: another process") is not helped


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


def settings(*names):
    return [(learner_spec(name), learner_spec(name).defaults, False) for name in names]


def test_a_second_process_compiles_from_the_other_end(folder):
    written = [[spec.name, params, many] for spec, params, many in settings("majority", "last_value")]
    precompile._accompany(json.dumps({"share": 0.5, "settings": written}))
    assert cold(version(*own) for own in settings("majority", "last_value")) == []
    assert numba_cache.base() == folder


@pytest.fixture
def started(monkeypatch):
    """The helpers that were started, on a machine of three cores: none of them runs."""
    processes = []
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    monkeypatch.setattr(precompile.subprocess, "Popen", lambda *args, **how: processes.append(args) or Idle())
    monkeypatch.setattr(by_address, "_first", 0.0)
    return processes


def test_helpers_are_there_for_a_long_list_and_for_a_new_engine(folder, started):
    without, with_vectors = settings("majority"), settings("omkc_dd")
    with precompile._company(without):
        assert len(started) == 0
    with precompile._company(without * 12):
        assert len(started) == 2
    with precompile._company(with_vectors):
        assert len(started) == 4
    mark_engine(with_vectors[0][0], False)
    with precompile._company(settings("omkc_ss")):
        assert len(started) == 4
    with precompile._company(settings("bomkc_rbp")):  # has another kind of record
        assert len(started) == 6
    with precompile._company([(*with_vectors[0][:2], True)]):  # of more than two classes
        assert len(started) == 8


def test_one_process_at_a_time_has_helpers(folder, started):
    with precompile._company(settings("omkc_dd")), precompile._company(settings("omkc_dd")):
        assert len(started) == 2


def test_a_folder_that_cannot_be_written_has_no_helpers(tmp_path, monkeypatch, started):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    with precompile._company(settings("omkc_dd")):
        assert started == []


def test_helpers_are_limited_by_memory(folder, monkeypatch, started):
    monkeypatch.setattr(precompile, "memory", lambda: 1.5 * 2**30)
    with precompile._company(settings("omkc_dd")):
        assert len(started) == 1


def test_where_no_process_can_be_started_there_are_no_helpers(folder, monkeypatch, started):
    def refused(*args, **how):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(precompile.subprocess, "Popen", refused)
    with precompile._company(settings("omkc_dd")):
        pass
    monkeypatch.setattr(sys, "executable", None)
    with precompile._company(settings("omkc_dd")):
        pass


def test_a_helper_that_fails_is_heard(folder, tmp_path, monkeypatch):
    helper, processes, popen = tmp_path / "helper", [], subprocess.Popen
    helper.write_text("#!/bin/sh\necho first >&2; echo no luck >&2; exit 3\n")
    helper.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(helper))
    monkeypatch.setattr(precompile, "_helpers", lambda settings: 1)
    start = lambda *words, **how: processes.append(popen(*words, **how)) or processes[-1]  # noqa: E731
    monkeypatch.setattr(precompile.subprocess, "Popen", start)
    with (
        pytest.warns(UserWarning, match="^a process that helps to compile has failed: no luck$"),
        precompile._company(settings("majority")),
    ):
        processes[0].wait()


@pytest.fixture
def entries(monkeypatch):
    """The functions whose entries were wanted; nothing is compiled."""
    functions = []
    monkeypatch.setattr(by_address, "entry", lambda function, kinds: functions.append(function) or (1, 1))
    monkeypatch.setattr(by_address, "_first", 0.0)
    return functions


def test_a_helper_makes_the_entries_that_a_learner_calls(entries):
    for spec in learner_specs().values():
        if not spec.estimator:
            entries.clear()
            precompile._make(spec, spec.usual(spec.tasks[0]), False)
            assert bool(entries) == bool(engine_marks(spec, False)), spec.name


def test_helpers_begin_with_other_entries(entries):
    precompile._make(*settings("omkc_dd")[0])
    first = list(entries)
    entries.clear()
    by_address.begin_at(0.5)
    precompile._make(*settings("omkc_dd")[0])
    middle = len(first) // 2
    assert entries == first[middle:] + first[:middle]


class Idle:
    """Stands for a process that has ended already."""

    def __init__(self):
        self.stdin = io.StringIO()

    def wait(self):
        return 0

    def poll(self):
        return 0

    def kill(self):
        pass
