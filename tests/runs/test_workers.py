"""Executors: the same results in this process and in workers, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.runner_fakes import act
from threadpoolctl import threadpool_info, threadpool_limits

from omkl.errors import OmklError, UserError
from omkl.paths import conf_folder
from omkl.runs import workers
from omkl.runs.workers import CLASSES, Failure, Loky, Serial, make_executor

EXECUTORS = {
    "serial": {"name": "serial"},
    "loky": {"name": "loky", "jobs": 2},
    "dask": {"name": "dask", "address": None, "jobs": 2},
}
BOTH = ["loky", pytest.param("dask", marks=pytest.mark.slow)]  # those that have workers


def executor(name: str) -> workers.Executor:
    if name == "dask":
        pytest.importorskip("distributed")
    return make_executor(EXECUTORS[name])


@pytest.mark.parametrize("name", ["serial", *BOTH])
def test_results_and_failures_come_with_their_jobs_and_poison_ones_fail_alone(name):
    jobs = [("value", i) for i in range(20)] + [("raise", "two\nlines"), ("exit", 3)]
    poison = [("kill", 0), ("kill", 1), ("leave", 5)] if name != "serial" else []
    outcomes = dict(executor(name).run(act, [*poison, *jobs]))
    assert [outcomes["value", i] for i in range(20)] == list(range(20))
    failure = outcomes["raise", "two\nlines"]
    assert failure.error == "ValueError: two lines"
    assert "runner_fakes.py" in failure.trace
    assert outcomes["exit", 3].error == "SystemExit: 3"
    assert all(isinstance(outcomes[job], Failure) and "died" in outcomes[job].error for job in poison)
    assert len(outcomes) == len(jobs) + len(poison)


def test_a_killed_worker_costs_only_its_job_which_runs_again(tmp_path):
    others = [("count", str(tmp_path / f"job{i}")) for i in range(12)]
    killer = ("kill_once", str(tmp_path / "killed"))
    outcomes = dict(Loky(2).run(act, [*others[:6], killer, *others[6:]]))
    assert outcomes.pop(killer) == "survived"
    assert outcomes == {job: job[1] for job in others}
    assert [Path(path).read_bytes() for _, path in others] == [b"x"] * 12  # each began once
    ((_, outcome),) = Loky(1).run(act, [("kill", 0)])
    assert "died twice (SIGKILL), the second time while it ran alone" in outcome.error
    assert "read beyond an array, which `omkl check` finds" in outcome.error


class Unloadable:
    """A job that cannot be rebuilt in a worker."""

    def __reduce__(self):
        return os._exit, (3,)


def test_a_job_that_cannot_be_sent_is_a_failure():
    outcomes = dict(Loky(2).run(act, [unloadable := Unloadable(), lock := ("value", sys._getframe())]))
    assert "died twice" in outcomes[unloadable].error
    assert "pickle" in outcomes[lock].error


def test_workers_that_never_begin_end_the_run(monkeypatch):
    monkeypatch.setattr(workers, "_settle", lambda parent: os._exit(3))
    monkeypatch.setattr(workers, "_idle", [])
    with pytest.raises(OmklError, match="worker processes die before they begin any cell"):
        list(Loky(2).run(act, [("value", 1), ("value", 2), ("value", 3)]))


def test_a_worker_that_is_killed_before_it_begins_is_begun_again(monkeypatch, tmp_path):
    settle, flag = workers._settle, tmp_path / "begun"

    def dies_once(parent):
        if not flag.exists():
            flag.touch()
            os._exit(3)
        settle(parent)

    monkeypatch.setattr(workers, "_settle", dies_once)
    monkeypatch.setattr(workers, "_idle", [])
    jobs = [("value", 1), ("value", 2), ("value", 3)]
    assert sorted(Loky(1).run(act, jobs)) == [(job, job[1]) for job in jobs]


def test_workers_serve_the_next_run_until_the_environment_changes(monkeypatch):
    def seen() -> set[tuple[int, str | None]]:
        jobs = [("pid", i) for i in range(8)] + [("environment", "OMKL_TRIED")]
        return {outcome for _, outcome in Loky(1).run(act, jobs)}

    first = seen()
    assert (seen(), os.getpid() in first) == (first, False)
    monkeypatch.setenv("OMKL_TRIED", "yes")
    assert seen() - {"yes"} != first - {None}
    assert "yes" in seen()


def test_an_idle_worker_that_another_thread_takes_first_is_replaced(monkeypatch):
    class Emptied(list):
        """It looks as if it held a worker."""

        def __bool__(self):
            return True

    monkeypatch.setattr(workers, "_idle", Emptied())
    assert dict(Loky(1).run(act, [("value", 1)])) == {("value", 1): 1}


def test_one_thread_each():
    assert dict(Loky(2).run(act, [("threads", 0)])) == {
        ("threads", 0): {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    }
    with threadpool_limits(3):
        ((_, threads),) = Serial().run(lambda _: {each["num_threads"] for each in threadpool_info()}, [0])
        assert threads == {1}
        assert 3 in {each["num_threads"] for each in threadpool_info()}  # as before


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


def gone(pids: set[int]) -> bool:
    """Whether these processes end within a minute."""
    for _ in range(6000):
        if not any(map(alive, pids)):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether workers are gone")
@pytest.mark.parametrize("name", BOTH)
def test_closing_stops_busy_workers_at_once(name, tmp_path):
    run = executor(name).run(act, [("stay", str(tmp_path / "pid")), ("value", 0)])
    assert next(run) == (("value", 0), 0)
    while not (tmp_path / "pid").exists() or not (text := (tmp_path / "pid").read_text()):
        time.sleep(0.01)
    run.close()
    assert gone({int(text)})


DRIVER = """
import sys
sys.path.insert(0, {here!r})
from support.runner_fakes import act
from omkl.runs.workers import make_executor
try:
    jobs = [("pid", i) for i in range(9)] + [("spin", 10**6)] * 4
    for job, outcome in make_executor({options!r}).run(act, jobs):
        print(outcome, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether workers are gone")
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("loky", signal.SIGINT),
        *(pytest.param("loky", how, marks=pytest.mark.slow) for how in (signal.SIGTERM, signal.SIGKILL)),
        pytest.param("dask", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_no_worker_outlives_its_driver(name, how):
    executor(name)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(here=str(TESTS), options=EXECUTORS[name])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, which Ctrl-C in a terminal reaches as a whole
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pids = {int(driver.stdout.readline()) for _ in range(9)}
    if how == signal.SIGINT:
        os.killpg(driver.pid, how)
    else:
        driver.send_signal(how)
    out, err = driver.communicate()
    if how == signal.SIGINT:
        assert (out, err) == ("interrupted\n", "")
    assert gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc whether workers are gone")
def test_ctrl_c_while_a_job_is_given_stops_its_worker(monkeypatch, tmp_path):
    """The signal comes when the worker has its job, and nobody else knows of it yet."""
    submit, pids = workers._submit, set()

    def interrupted(*job):
        worker, future = submit(*job)
        pids.update(worker.pool._processes)
        os.kill(os.getpid(), signal.SIGINT)
        return worker, future

    monkeypatch.setattr(workers, "_submit", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(make_executor({"name": "loky"}, 1).run(act, [("stay", str(tmp_path / "pid"))]))
    finally:
        signal.signal(signal.SIGINT, before)
    assert pids
    assert gone(pids)


class CtrlC:
    """In place of the queue of finished jobs: Ctrl-C comes as soon as a job has been given."""

    def put(self, future) -> None:
        pass

    def get(self):
        raise KeyboardInterrupt


def test_ctrl_c_right_after_a_job_has_been_given_leaves_no_traceback(monkeypatch):
    faults = []
    monkeypatch.setattr(threading, "excepthook", lambda args: faults.append(args.exc_value))
    loky = make_executor({"name": "loky"}, 1)
    for _ in range(3):
        assert len(list(loky.run(time.sleep, [0.0]))) == 1  # a worker is idle
        with monkeypatch.context() as interrupted:
            interrupted.setattr(workers, "SimpleQueue", CtrlC)
            with pytest.raises(KeyboardInterrupt):
                list(loky.run(time.sleep, [0.3]))
    assert faults == []


def test_the_watch_of_other_systems_ends_a_worker_without_its_parent():
    code = "import omkl.runs.workers as w; w._watch(-1)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 1


def test_names_and_numbers_of_workers():
    with pytest.raises(UserError, match="exec=lokky is not an executor"):
        make_executor({"name": "lokky"}, 2)
    with pytest.raises(UserError, match="jobs=0"):
        make_executor({"name": "loky", "jobs": None}, 0)
    assert make_executor({"name": "loky", "jobs": None}).workers >= 1
    assert make_executor({"name": "loky", "jobs": 3}).workers == 3
    assert make_executor({"name": "loky", "jobs": 3}, 2).workers == 2
    assert make_executor({"name": "serial"}, 2).workers == 1
    assert {*CLASSES, "slurm"} == {path.stem for path in (conf_folder() / "exec").glob("*.yaml")}
    with pytest.raises(UserError, match="exec=slurm is not an executor that waits"):
        make_executor({"name": "slurm"})
