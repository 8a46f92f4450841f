"""dask: scheduler and workers in processes of their own on loopback: they die, come late, lack our files."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from runner_fakes import act
from runner_plans import POOL, faulty, make_plan, without_time, write_data

from omkl import config, executors, runner
from omkl.config import Setting
from omkl.engine import numba_cache
from omkl.errors import OmklError, UserError
from omkl.executors import Failure
from omkl.results import Store

distributed = pytest.importorskip("distributed")
HERE = Path(__file__).resolve().parent


class Cluster:
    """A scheduler, and workers as they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.workers = folder, folder / "scheduler.json", []
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("OMKL_")}
        self.environment = inherited | {
            "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}",
            "OMKL_CACHE": str(folder / "cache"),  # nothing of ours is found there, as on another machine
            "NUMBA_CACHE_DIR": str(numba_cache.compiled_folder()),  # but compiling takes too long for a test
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        while True:
            if self.file.exists() or self.scheduler.poll() is not None:
                break
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", what, *options, "--no-dashboard"]
        command += ["--scheduler-file", str(self.file)]
        log = open(self.folder / "log", "ab")  # noqa: SIM115 (the process keeps it)
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def add_worker(self, *options: str) -> subprocess.Popen:
        self.workers.append(
            self._start("worker", "--nthreads", "1", "--local-directory", str(self.folder), *options)
        )
        return self.workers[-1]

    def wait_for(self, count: int) -> None:
        with distributed.Client(self.address, timeout=600, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=600)

    def options(self, wait: float = 600.0) -> dict:
        return {"name": "dask", "address": self.address, "jobs": None, "wait": wait}

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def make_cluster(tmp_path):
    made = []

    def make() -> Cluster:
        folder = tmp_path / f"cluster{len(made)}"
        folder.mkdir()
        made.append(Cluster(folder))
        return made[-1]

    yield make
    for cluster in made:
        cluster.end()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that are restarted when they die."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.add_worker("--nanny")
        cluster.add_worker("--nanny")
        cluster.wait_for(2)
        yield cluster
    finally:
        cluster.end()


def test_results_and_failures_come_with_their_jobs(cluster):
    jobs = [("value", i) for i in range(200)] + [("raise", "two\nlines"), ("exit", 3)]
    outcomes = dict(executors.make(cluster.options()).run(act, jobs))
    assert [outcomes["value", i] for i in range(200)] == list(range(200))
    assert outcomes["raise", "two\nlines"].error == "ValueError: two lines"
    assert outcomes["exit", 3].error == "SystemExit: 3"
    assert len(outcomes) == 202


def test_workers_without_our_files_give_serial_s_results_and_get_the_data_once(cluster, tmp_path):
    """Real learners; the file is known to nobody but the driver."""
    path = write_data(tmp_path / "mine.libsvm", 120)
    words = ["algo=omkc_ss,arow", f"data={path}", "reps=6"]
    serial = runner.run_plan(config.plan([*words, f"store={tmp_path / 'a'}", "exec=serial"]))
    there = config.plan([*words, f"store={tmp_path / 'b'}"])
    before = transfers(cluster)
    dask = runner.run_plan(replace(there, exec=cluster.options()))
    assert transfers(cluster) - before <= 1  # one worker got the data from us, the other from that worker
    assert (serial.failed, dask.failed, len(dask.cells)) == ([], [], 24)
    assert without_time(dask.cells).to_json() == without_time(serial.cells).to_json()  # every bit of them
    assert Store(tmp_path / "a").curves() == Store(tmp_path / "b").curves()
    assert dask.cells["provenance"][0]["backend"] == "dask"


def transfers(cluster: Cluster) -> int:
    """How often a worker has fetched something from another."""

    def count(dask_worker) -> int:
        return dask_worker.state.transfer_incoming_count_total

    with distributed.Client(cluster.address, set_as_default=False) as client:
        return sum(client.run(count).values())


def test_a_poison_cell_fails_and_the_others_finish(cluster, tmp_path, monkeypatch):
    plan = replace(make_plan(tmp_path, monkeypatch), exec=cluster.options())
    outcome = runner.run_plan(faulty(plan, "kill", None))
    assert len(outcome.cells) == 6
    assert ["dask workers that it was given to died" in line["error"] for line in outcome.failed] == [
        True
    ] * 2


def test_innocent_cells_outlive_many_poison_ones_that_take_their_data_with_them(
    cluster, tmp_path, monkeypatch
):
    """Data computed again and again beside poison cells are given up in the end, and made anew."""
    grid = [Setting("omkc_u", {"beta": i / 100}, POOL) for i in range(1, 7)]
    poison = [replace(s, params={**s.params, "fault": ["kill", None]}) for s in grid[::2]]
    plan = make_plan(tmp_path, monkeypatch)
    poisoned = replace(plan, settings=(*grid[1::2], *poison), reps=2, yardsticks=())
    outcome = runner.run_plan(replace(poisoned, exec=cluster.options()))
    wanted = 3 * 2 * len(plan.data)
    assert len(outcome.cells) == wanted
    assert ["dask workers" in line["error"] for line in outcome.failed] == [True] * wanted


def test_a_worker_killed_mid_sweep_costs_nothing_and_a_late_one_helps(make_cluster, tmp_path):
    cluster = make_cluster()
    first = cluster.add_worker("--no-nanny")
    cluster.wait_for(1)
    jobs = [("pid", i) for i in range(3)] + [("spin", 0.1 + i / 1e6) for i in range(40)]
    jobs += [("pid", i) for i in range(3, 6)]
    outcomes, pids = {}, []
    for job, outcome in executors.make(cluster.options()).run(act, jobs):
        outcomes[job] = outcome
        pids += [outcome] if job[0] == "pid" else []
        if len(outcomes) == 5:
            cluster.add_worker("--no-nanny")  # late
            cluster.wait_for(2)
            os.killpg(first.pid, signal.SIGKILL)
    assert len(outcomes) == 46
    assert not any(isinstance(outcome, Failure) for outcome in outcomes.values())
    assert len(set(pids[:3])) == 1
    assert len(set(pids)) == 2


def test_the_scheduler_killed_or_without_workers_ends_the_run_and_the_same_command_goes_on(
    make_cluster, tmp_path, monkeypatch
):
    cluster = make_cluster()
    cluster.add_worker("--no-nanny")
    cluster.wait_for(1)
    slow = [Setting("omkc_u", {"beta": i / 100, "fault": ["spin", 0.2]}, POOL) for i in range(1, 30)]
    plan = make_plan(tmp_path, monkeypatch)
    plan = replace(plan, settings=tuple(slow), data=plan.data[:1], reps=1, exec=cluster.options())
    keys = [cell.key for cell in runner.expand(plan)]

    def kill() -> None:
        while len(Store(plan.store).done(keys)) < 3:
            time.sleep(0.02)
        cluster.scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(OmklError, match=r"dask scheduler at .* went away"):
        runner.run_plan(plan)
    killer.join()
    done = len(Store(plan.store).done(keys))
    assert 3 <= done < 30

    second = make_cluster()
    with pytest.raises(OmklError, match=r"no dask worker has been there for 0\.5 s"):
        runner.run_plan(replace(plan, exec=second.options(wait=0.5)))
    second.add_worker("--no-nanny")  # comes while the run waits for it
    rest = runner.run_plan(replace(plan, exec=second.options()))
    assert (rest.reused, rest.ran, len(rest.cells), rest.failed) == (done, 30 - done, 30, [])


def test_another_version_on_the_workers_is_refused(cluster, monkeypatch):
    from omkl import dask_worker

    monkeypatch.setattr(dask_worker, "sources_hash", lambda: "another")
    with pytest.raises(OmklError, match=r"a dask worker cannot run cells: .*another version"):
        list(executors.make(cluster.options()).run(act, [("value", 1)]))


def test_a_cluster_of_this_machine_stops_when_closed():
    run = executors.make({"name": "dask", "address": None, "jobs": 1, "wait": 600.0}).run(
        act, [("pid", 0), ("spin", 10**6)]
    )
    _, worker = next(run)
    assert worker != os.getpid()
    run.close()
    assert not Path(f"/proc/{worker}").exists()


def test_mistakes_with_addresses_end_with_one_line(monkeypatch):
    options = {"name": "dask", "address": "tcp://127.0.0.1:9", "jobs": None, "wait": 0.3}
    with pytest.raises(OmklError, match=r"exec\.address=tcp://127\.0\.0\.1:9: no dask scheduler answers"):
        list(executors.make(options).run(act, [("value", 1)]))
    with pytest.raises(UserError, match=r"exec\.address=nonsense: not an address"):
        list(executors.make(options | {"address": "nonsense"}).run(act, [("value", 1)]))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'omkl\[dask\]'"):
        executors.make(options)
