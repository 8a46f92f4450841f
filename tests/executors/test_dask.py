"""dask: scheduler and workers in processes of their own on loopback: they die, come late, lack our files."""

import os
import re
import shutil
import signal
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support import ROOT
from support.dask_cluster import Cluster
from support.runner_fakes import Deadly, act
from support.runner_plans import POOL, faulty, make_plan, without_time, write_data

from omkl import config, executors
from omkl.cli import main
from omkl.config import Setting
from omkl.errors import OmklError
from omkl.executors import Failure, dask
from omkl.runs import runner
from omkl.store import provenance
from omkl.store.store import Store

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers that are restarted when they die; one death makes a job a suspect."""
    with Cluster(tmp_path_factory.mktemp("cluster"), failures=0) as cluster:
        cluster.add_worker("--nanny")
        cluster.add_worker("--nanny")
        cluster.wait_for(2)
        yield cluster


@pytest.fixture
def lone_cluster(tmp_path):
    """A scheduler of one test's own, without workers."""
    (tmp_path / "cluster").mkdir()
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


def test_results_and_failures_come_with_their_jobs(cluster):
    jobs = [("value", i) for i in range(200)] + [("raise", "two\nlines"), ("exit", 3)]
    outcomes = dict(cluster.run(jobs))
    assert [outcomes["value", i] for i in range(200)] == list(range(200))
    assert outcomes["raise", "two\nlines"].error == "ValueError: two lines"
    assert outcomes["exit", 3].error == "SystemExit: 3"
    assert len(outcomes) == 202


def test_workers_without_our_files_give_serial_s_results_and_get_the_data_once(cluster, tmp_path):
    """Real learners; only this process has the file."""
    path = write_data(tmp_path / "mine.libsvm", 120)
    words = ["algo=omkc_ss,arow", f"data={path}", "reps=6"]
    serial = runner.run_plan(config.plan([*words, f"store={tmp_path / 'a'}", "exec=serial"]))
    there = config.plan([*words, f"store={tmp_path / 'b'}"])
    before = transfers(cluster)
    remote = runner.run_plan(replace(there, exec=cluster.options()))
    assert transfers(cluster) - before <= 1  # one worker got the data from us, the other from that worker
    assert (serial.failed, remote.failed, len(remote.cells)) == ([], [], 24)
    assert without_time(remote.cells).to_json() == without_time(serial.cells).to_json()  # every bit of them
    assert Store(tmp_path / "a").curves() == Store(tmp_path / "b").curves()
    assert remote.cells["provenance"][0]["backend"] == "dask"


def transfers(cluster: Cluster) -> int:
    """How often a worker has fetched something from another."""

    def count(dask_worker) -> int:
        return dask_worker.state.transfer_incoming_count_total

    with distributed.Client(cluster.address, set_as_default=False) as client:
        return sum(client.run(count).values())


@pytest.mark.slow
def test_innocent_cells_outlive_poison_ones_that_take_their_data_with_them(cluster, tmp_path, monkeypatch):
    grid = [Setting("omkc_u", {"beta": i / 100}, POOL) for i in range(1, 7)]
    poison = [replace(s, params={**s.params, "fault": ["kill", None]}) for s in grid[::2]]
    plan = make_plan(tmp_path, monkeypatch)
    poisoned = replace(plan, settings=(*grid[1::2], *poison), data=plan.data[:1], reps=1, yardsticks=())
    outcome = runner.run_plan(replace(poisoned, exec=cluster.options()))
    assert len(outcome.cells) == 3
    assert ["dask workers that ran it died" in line["error"] for line in outcome.failed] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize(("deaths", "done"), [(dask.TRIES - 1, 1), (100, 0)])
def test_data_whose_workers_died_are_sent_again_and_given_up_in_the_end(
    cluster, tmp_path, monkeypatch, deaths, done
):
    def deadly(job):
        bare, dataset = detach(job)
        return bare, Deadly(dataset, str(tmp_path / "deaths"), deaths)

    detach = dask.detach
    monkeypatch.setattr(dask, "detach", deadly)
    plan = make_plan(tmp_path, monkeypatch)
    plan = replace(plan, settings=plan.settings[:1], data=plan.data[:1], reps=1, yardsticks=())
    outcome = runner.run_plan(replace(plan, exec=cluster.options()))
    assert (len(outcome.cells), len(outcome.failed)) == (done, 1 - done)
    assert len((tmp_path / "deaths").read_bytes()) == (dask.TRIES - 1 if done else 2 * dask.TRIES)


def test_other_versions_on_the_workers_are_refused(cluster, monkeypatch):
    here = provenance.deciding()
    monkeypatch.setattr(provenance, "deciding", lambda: dict.fromkeys(here, "0.1"))
    names = ("omkl", "numpy", "scipy", "numba", "llvmlite")
    differ = "; ".join(rf"{name} {re.escape(here[name])} there, 0\.1 here" for name in names)
    refused = (
        rf"a dask worker cannot run cells: the versions on {re.escape(socket.gethostname())} differ: "
        rf"{differ}; install the same versions"
    )
    with pytest.raises(OmklError, match=refused):
        cluster.run([("value", 1)])


@pytest.mark.slow
def test_the_provenance_is_the_worker_s_own(cluster, tmp_path, monkeypatch):
    own = {**provenance.collect("dask", 1)}
    software = {"versions": {"omkl": "of the command"}, "commit": "of the command", "dirty": True}
    machine = {"host": "of the command", "cpu": "of the command", "cores": 999}
    plan = replace(make_plan(tmp_path, monkeypatch), exec=cluster.options())
    monkeypatch.setattr(provenance, "_here", lambda: software | machine)
    outcome = runner.run_plan(faulty(plan, "raise", "no luck"))
    lines = [*outcome.cells["provenance"], *(line["provenance"] for line in outcome.failed)]
    assert (len(outcome.cells), len(outcome.failed)) == (6, 2)
    for line in lines:
        assert [line[name] for name in (*software, *machine)] == [own[name] for name in (*software, *machine)]
        assert line["backend"] == "dask"


@pytest.mark.slow
def test_a_worker_killed_costs_nothing_and_a_scheduler_frozen_or_killed_ends_the_run(
    lone_cluster, tmp_path, monkeypatch
):
    cluster = lone_cluster
    first = cluster.add_worker()
    cluster.wait_for(1)
    jobs = [("pid", i) for i in range(3)] + [("spin", 0.05 + i / 1e6) for i in range(40)]
    jobs += [("pid", i) for i in range(3, 6)]
    outcomes, pids = {}, []
    for job, outcome in executors.make_executor(cluster.options()).run(act, jobs):
        outcomes[job] = outcome
        pids += [outcome] if job[0] == "pid" else []
        if len(outcomes) == 5:
            cluster.add_worker()  # late
            cluster.wait_for(2)
            os.killpg(first.pid, signal.SIGKILL)
    assert len(outcomes) == 46
    assert not any(isinstance(outcome, Failure) for outcome in outcomes.values())
    assert len(set(pids[:3])) == 1
    assert len(set(pids)) == 2

    executor = executors.make_executor(cluster.options())
    run = executor.run(act, [("value", 0)] + [("spin", 0.2 + i / 1e6) for i in range(500)])
    next(run)
    executor.wait = 1.0  # connecting may have taken longer
    try:
        cluster.scheduler.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(OmklError, match=r"scheduler at .* has not answered for 1 s"):
            list(run)
        with pytest.raises(OmklError, match=r"exec\.address=.*: no dask scheduler answers within 1 s"):
            cluster.run([("value", 1)], wait=1.0)
        assert time.monotonic() - began < 90
    finally:
        cluster.scheduler.send_signal(signal.SIGCONT)

    plan, keys = spinning(tmp_path, monkeypatch)

    def kill() -> None:
        while len(Store(plan.store).done(keys)) < 3:
            time.sleep(0.02)
        cluster.scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(OmklError, match=r"dask scheduler at .* was lost"):
        runner.run_plan(replace(plan, exec=cluster.options(wait=3.0)))
    killer.join()
    done = len(Store(plan.store).done(keys))
    assert 3 <= done < 30
    rest = runner.run_plan(plan)
    assert (rest.reused, rest.ran, len(rest.cells), rest.failed) == (done, 30 - done, 30, [])


@pytest.mark.slow
def test_a_scheduler_that_comes_back_is_waited_for(lone_cluster):
    cluster, jobs = lone_cluster, [("spin", 0.1 + i / 1e6) for i in range(20)]
    cluster.add_worker()
    cluster.wait_for(1)
    outcomes = []

    def run() -> None:
        for outcome in executors.make_executor(cluster.options(wait=120.0)).run(act, jobs):
            outcomes.append(outcome)
            if len(outcomes) == 3:
                cluster.restart()
                cluster.add_worker()  # the old one has ended with its scheduler

    with pytest.warns(UserWarning, match=r"the dask scheduler at .* is gone; waiting 120 s"):
        run()
    assert sorted(outcomes) == [(job, job[1]) for job in jobs]


@pytest.mark.slow
def test_workers_that_die_while_the_cluster_starts_end_the_run_with_one_line(monkeypatch):
    def killed(**options):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", killed)
    executor = executors.make_executor({"name": "dask", "address": None, "jobs": 1})
    with pytest.raises(OmklError, match=r"workers of exec=dask did not start: RuntimeError: Nanny failed"):
        list(executor.run(act, [("value", 1)]))


def spinning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[config.Plan, list[str]]:
    """A plan of 30 cells that take 0.2 s each, but not in this process, and their keys."""
    slow = [Setting("omkc_u", {"beta": i / 100, "fault": ["spin", 0.2]}, POOL) for i in range(1, 30)]
    plan = make_plan(tmp_path, monkeypatch)
    monkeypatch.setattr("support.runner_fakes.SPIN", 0.0)
    plan = replace(plan, settings=tuple(slow), data=plan.data[:1], reps=1, exec={"name": "serial"})
    return plan, [cell.key for cell in runner.expand(plan)]


OTHER = """

_before = learner_seed


def learner_seed(*words):
    return _before(*words) + 1
"""


@pytest.mark.slow
def test_without_a_worker_of_the_same_omkl_nothing_is_stored(lone_cluster, tmp_path, capsys):
    """First without workers, then with one of another learner_seed, then with one of ours that comes late."""
    cluster = lone_cluster
    with pytest.raises(OmklError, match=r"has had no dask worker for 5 s"):
        cluster.run([("value", 1)], wait=5.0)  # connecting may take seconds too

    copy = tmp_path / "other"
    shutil.copytree(ROOT / "omkl", copy / "omkl", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "conf").symlink_to(ROOT / "conf")
    with open(copy / "omkl" / "seeds.py", "a", encoding="utf-8") as file:
        file.write(OTHER)
    other = cluster.add_worker(package=copy)
    cluster.wait_for(1)
    path = write_data(tmp_path / "mine.libsvm", 40)
    words = ["algo=omkc_ss", "yardsticks=[]", f"data={path}", "reps=2", f"store={tmp_path / 'store'}"]
    assert main(["run", *words, "exec=dask", f"exec.address={cluster.address}"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "a dask worker cannot run cells" in err
    assert "install the same versions on both machines" in err
    plan = config.plan(words)
    assert Store(plan.store).done([cell.key for cell in runner.expand(plan)]) == set()

    cluster.add_worker()
    cluster.wait_for(2)
    with pytest.warns(
        UserWarning, match=r"^the dask worker tcp://\S+ is not used: the versions on .* differ"
    ):
        outcomes = cluster.run([("value", i) for i in range(100)])
    assert sorted(outcomes) == [(("value", i), i) for i in range(100)]

    for worker in (other, cluster.workers[-1]):
        os.killpg(worker.pid, signal.SIGKILL)
    timer = threading.Timer(1.0, cluster.add_worker)
    timer.start()
    assert cluster.run([("value", 1)]) == [(("value", 1), 1)]
    timer.join()


@pytest.mark.slow
def test_a_cluster_of_this_machine_stops_when_closed():
    run = executors.make_executor({"name": "dask", "address": None, "jobs": 1, "wait": 600.0}).run(
        act, [("pid", 0), ("spin", 10**6)]
    )
    _, worker = next(run)
    assert worker != os.getpid()
    run.close()
    assert not Path(f"/proc/{worker}").exists()
