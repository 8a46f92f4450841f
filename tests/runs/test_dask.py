"""dask: scheduler and workers in processes of their own on loopback: they die, come late, lack our files.

What holds for every executor is in test_workers.py.
"""

import os
import signal
import socket
import sys
from dataclasses import replace

import pytest
from support.dask_cluster import Cluster
from support.runner_fakes import act
from support.runner_plans import POOL, faulty, make_plan, without_time, write_data

from omkl import config
from omkl.config import Setting
from omkl.errors import OmklError, UserError
from omkl.runs import runner
from omkl.runs.workers import make_executor
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


@pytest.mark.slow
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
def test_other_versions_on_the_workers_are_refused(cluster, monkeypatch):
    names = ("omkl", "numpy", "scipy", "numba", "llvmlite")
    monkeypatch.setattr(provenance, "deciding_versions", lambda: dict.fromkeys(names, "0.1"))
    with pytest.raises(
        OmklError, match=r"a dask worker cannot run cells: the versions on .* differ"
    ) as error:
        cluster.run([("value", 1)])
    assert all(f"{name} " in str(error.value) for name in names)
    assert "0.1 here" in str(error.value)


@pytest.mark.slow
def test_the_provenance_is_the_worker_s_own(cluster, tmp_path, monkeypatch):
    own = {**provenance.collect("dask", 1)}
    software = {"versions": {"omkl": "of the command"}, "commit": "of the command", "dirty": True}
    machine = {"host": "of the command", "cpu": "of the command", "cores": 999}
    plan = replace(make_plan(tmp_path, monkeypatch), exec=cluster.options())
    monkeypatch.setattr(provenance, "here", lambda: software | machine)
    outcome = runner.run_plan(faulty(plan, "raise", "no luck"))
    lines = [*outcome.cells["provenance"], *(line["provenance"] for line in outcome.failed)]
    assert (len(outcome.cells), len(outcome.failed)) == (6, 2)
    for line in lines:
        assert [line[name] for name in (*software, *machine)] == [own[name] for name in (*software, *machine)]
        assert line["backend"] == "dask"


@pytest.mark.slow
def test_workers_come_and_go_and_a_scheduler_frozen_or_killed_ends_the_run(tmp_path):
    with Cluster(tmp_path) as cluster:
        with pytest.raises(OmklError, match=r"has had no dask worker for 2 s.*; start workers and run"):
            cluster.run([("value", 1)], wait=2.0)
        first = cluster.add_worker()
        cluster.wait_for(1)
        jobs = [("spin", 0.05 + i / 1e6) for i in range(40)]
        outcomes = []
        for outcome in make_executor(cluster.options()).run(act, jobs):
            outcomes.append(outcome)
            if len(outcomes) == 5:
                cluster.add_worker()  # late
                cluster.wait_for(2)
                os.killpg(first.pid, signal.SIGKILL)
        assert sorted(outcomes) == [(job, job[1]) for job in jobs]

        for how, wait, why in (
            (signal.SIGSTOP, 1.0, r"scheduler at .* has not answered for 1 s\. The finished cells are safe"),
            (signal.SIGKILL, 60.0, r"connection to the dask scheduler at .* was lost"),
        ):
            executor = make_executor(cluster.options())
            run = executor.run(act, [("value", 0)] + [("spin", 0.2 + i / 1e6) for i in range(500)])
            next(run)
            executor.wait = wait  # connecting may take longer
            cluster.scheduler.send_signal(how)
            with pytest.raises(OmklError, match=why):
                list(run)
            cluster.scheduler.send_signal(signal.SIGCONT)


@pytest.mark.slow
def test_workers_that_die_while_the_cluster_starts_end_the_run_with_one_line(monkeypatch):
    def killed(**options):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", killed)
    with pytest.raises(OmklError, match=r"workers of exec=dask did not start: RuntimeError: Nanny failed"):
        list(make_executor({"name": "dask", "address": None, "jobs": 1}).run(act, [("value", 1)]))


def test_mistakes_with_addresses_end_with_one_line(monkeypatch):
    options = {"name": "dask", "address": None, "jobs": None, "wait": 0.5}

    def run(address: str) -> None:
        list(make_executor(options | {"address": address}).run(act, [("value", 1)]))

    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))  # without listen(), it refuses
        for server in (silent, closed):
            address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            with pytest.raises(OmklError, match=rf"exec\.address={address}: no dask scheduler answers"):
                run(address)
    with pytest.raises(UserError, match=r"exec\.address=nonsense: .* an address is such as tcp://host:8786"):
        run("nonsense")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'omkl\[dask\]'"):
        run("nonsense")
