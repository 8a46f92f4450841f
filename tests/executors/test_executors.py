"""Executors: the same results in this process and in workers, whatever happens to the workers."""

import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.runner_fakes import act
from threadpoolctl import threadpool_info, threadpool_limits

from omkl import executors, runs
from omkl.config import compose
from omkl.errors import OmklError, UserError
from omkl.executors import Failure
from omkl.executors.loky import Loky
from omkl.executors.serial import Serial


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


def gone(pids: list[int], seconds: float = 300) -> bool:
    """Whether all these processes end within some seconds."""
    end = time.monotonic() + seconds
    while any(map(alive, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("executor", [Serial(), Loky(2)], ids=["serial", "loky"])
def test_results_and_failures_come_with_their_jobs(executor):
    jobs = [("value", i) for i in range(20)] + [("raise", "two\nlines"), ("exit", 3)]
    outcomes = dict(executor.run(act, jobs))
    assert [outcomes["value", i] for i in range(20)] == list(range(20))
    failure = outcomes["raise", "two\nlines"]
    assert failure.error == "ValueError: two lines"
    assert "runner_fakes.py" in failure.trace
    assert outcomes["exit", 3].error == "SystemExit: 3"
    assert len(outcomes) == 22


def test_loky_works_elsewhere_with_one_inner_thread(monkeypatch):
    # so many that joblib would give each of two workers several; with fewer it gives one by itself
    monkeypatch.setattr("joblib._parallel_backends.cpu_count", lambda *_, **__: 64)
    outcomes = dict(Loky(2).run(act, [("pid", 0), ("threads", 0)]))
    assert outcomes["pid", 0] != os.getpid()
    assert outcomes["threads", 0] == {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def test_serial_works_with_one_thread_of_blas():
    with threadpool_limits(3):
        ((_, threads),) = Serial().run(lambda _: {each["num_threads"] for each in threadpool_info()}, [0])
        assert threads == {1}
        assert 3 in {each["num_threads"] for each in threadpool_info()}  # as before


def test_a_killed_worker_costs_only_the_jobs_in_flight(tmp_path):
    early = [("count", str(tmp_path / f"early{i}")) for i in range(6)]
    late = [("count", str(tmp_path / f"late{i}")) for i in range(6)]
    killer = ("kill_once_told", str(tmp_path / "killed"))
    seen = []
    for job, outcome in Loky(2).run(act, [*early, killer, *late]):
        seen.append(job)
        if set(early) <= set(seen):  # all that was before is delivered
            (tmp_path / "killed.now").touch()
        assert outcome == ("survived" if job == killer else job[1])
    assert sorted(map(str, seen)) == sorted(map(str, [*early, killer, *late]))  # each once
    assert (tmp_path / "killed").exists()
    assert [Path(path).read_bytes() for _, path in early] == [b"x"] * 6  # none was run again


def test_a_poison_job_is_isolated_and_fails_while_the_others_finish(tmp_path, monkeypatch):
    pool, isolated = Loky._pool, []

    def watching(self, function, jobs, begun):
        if len(jobs) == 1:
            isolated.extend(jobs.values())
        return pool(self, function, jobs, begun)

    monkeypatch.setattr(Loky, "_pool", watching)
    good = [("value", i) for i in range(40)]  # more than finish before the third crash
    marker = str(tmp_path / "killed")
    poison, innocent = (
        ("kill_marked", marker),
        ("await", marker),
    )  # runs at the same time: a suspect too
    outcomes = dict(Loky(2).run(act, [poison, innocent, *good]))
    assert [outcomes[job] for job in good] == list(range(40))
    assert outcomes[innocent] == marker
    failure = outcomes[poison]
    assert isinstance(failure, Failure)
    assert "died 3 times (SIGKILL)" in failure.error
    assert poison in isolated
    assert len(set(isolated)) < 8  # what ran beside it was suspected too, not the whole queue


@pytest.mark.slow
def test_two_poison_jobs_at_once():
    outcomes = dict(Loky(2).run(act, [("kill", 0), ("kill", 1), ("value", 2)]))
    assert outcomes["value", 2] == 2
    assert isinstance(outcomes["kill", 0], Failure)
    assert isinstance(outcomes["kill", 1], Failure)


class Unloadable:
    """A job that cannot be rebuilt in a worker: the worker's loop breaks before any function is called."""

    def __reduce__(self):
        return os._exit, (3,)


@pytest.mark.slow
def test_workers_that_never_begin_end_the_run_with_a_clear_error():
    with pytest.raises(OmklError, match="die before they begin any cell"):
        list(Loky(2).run(act, [Unloadable(), Unloadable()]))


def test_closing_stops_busy_workers_at_once():
    executor = Loky(2)
    pids = {pid for _, pid in executor.run(act, [("pid", i) for i in range(50)])}
    run = executor.run(act, [("value", 1)] + [("spin", 10**6)] * 6)  # which would never end
    assert next(run) == (("value", 1), 1)
    run.close()
    assert gone(list(pids))


DRIVER = """
import signal, sys
sys.path.insert(0, {here!r})
from support.runner_fakes import act
from omkl.executors.loky import Loky
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    for job, outcome in Loky(2).run(act, [("pid", i) for i in range(30)] + [("spin", 10**6)] * 4):
        print(outcome, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether workers are gone")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_driver(how):
    script = DRIVER.format(here=str(TESTS))
    driver = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, which Ctrl-C in a terminal reaches as a whole
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pids = [int(driver.stdout.readline()) for _ in range(30)]
    time.sleep(
        0.3 if len(set(pids)) == 2 else 5
    )  # now both workers spin; on a crowded machine one starts late
    if how == signal.SIGINT:
        os.killpg(driver.pid, how)
    else:
        driver.send_signal(how)
    out, err = driver.communicate()
    if how == signal.SIGINT:
        assert out == "interrupted\n"
        assert "Traceback" not in err
    assert gone(list(set(pids)))


def test_the_watch_of_other_systems_ends_a_worker_without_its_parent():
    code = "import omkl.executors.loky as e; e._watch(-1)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 1


def test_unknown_executor_and_bad_number_of_workers():
    with pytest.raises(UserError, match="exec=lokky is not an executor"):
        executors.make_executor({"name": "lokky"}, 2)
    with pytest.raises(UserError, match="jobs=0"):
        executors.make_executor({"name": "loky", "jobs": None}, 0)
    assert executors.make_executor({"name": "loky", "jobs": None}).workers >= 1
    assert executors.make_executor({"name": "loky", "jobs": 3}).workers == 3
    assert executors.make_executor({"name": "loky", "jobs": 3}, 2).workers == 2
    assert executors.make_executor({"name": "serial"}, 2).workers == 1


def test_every_executor_has_a_conf_file_and_every_conf_file_an_executor():
    names = [info.name for info in pkgutil.iter_modules(executors.__path__)]
    modules = {name: importlib.import_module(f"omkl.executors.{name}") for name in names}
    classes = {name for name, module in modules.items() if hasattr(module, name.capitalize())}
    submitting = {info.name for info in pkgutil.iter_modules(runs.__path__)} & set(compose.options("exec"))
    assert classes | submitting == set(compose.options("exec"))
    assert submitting
    for name in submitting:
        with pytest.raises(UserError, match=f"exec={name} is not an executor that waits"):
            executors.make_executor({"name": name})
