"""dask: scheduler and workers in processes of their own on loopback: they die, come late, lack our files."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.runner_fakes import act
from support.runner_plans import POOL, faulty, make_plan, without_time, write_data

from omkl import config, executors
from omkl.cli import main
from omkl.config import Setting
from omkl.engine import numba_cache
from omkl.errors import OmklError, UserError
from omkl.executors import Failure
from omkl.run import runner
from omkl.store import provenance
from omkl.store.store import Store

distributed = pytest.importorskip("distributed")


class Cluster:
    """A scheduler, and workers as they are asked for; options: of both."""

    def __init__(self, folder: Path, *options: str, protocol: str = "tcp") -> None:
        self.both = options
        self.folder, self.file, self.workers = folder, folder / "scheduler.json", []
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("OMKL_")}
        self.environment = inherited | {
            "PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}",
            "OMKL_CACHE": str(folder / "cache"),  # nothing of ours is found there, as on another machine
            "NUMBA_CACHE_DIR": str(numba_cache.compiled_folder()),  # but compiling takes too long for a test
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        place = ("--protocol", protocol, "--host", "127.0.0.1", "--port", "0")
        self.scheduler = self._start("scheduler", *place, "--no-show")
        # The scheduler creates its file, then fills it.
        while self.scheduler.poll() is None and not (
            self.file.exists() and self.file.read_text().endswith("}")
        ):
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, what: str, *options: str, package: Path | None = None) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", what, *options, *self.both, "--no-dashboard"]
        environment = dict(self.environment)
        if package is not None:
            environment["PYTHONPATH"] = f"{package}{os.pathsep}{environment['PYTHONPATH']}"
        command += ["--scheduler-file", str(self.file)]
        log = open(self.folder / "log", "ab")  # noqa: SIM115 (the process keeps it)
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def add_worker(self, *options: str, package: Path | None = None) -> subprocess.Popen:
        """Start a worker; package: a folder with the omkl that it imports, in place of this one."""
        options = ("--nthreads", "1", "--local-directory", str(self.folder), *options)
        self.workers.append(self._start("worker", *options, package=package))
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

    def make(*options: str, **how: str) -> Cluster:
        folder = tmp_path / f"cluster{len(made)}"
        folder.mkdir()
        made.append(Cluster(folder, *options, **how))
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
    assert ["dask workers that ran it died" in line["error"] for line in outcome.failed] == [True] * 2


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
    with pytest.raises(OmklError, match=r"dask scheduler at .* is lost"):
        runner.run_plan(plan)
    killer.join()
    done = len(Store(plan.store).done(keys))
    assert 3 <= done < 30

    second = make_cluster()
    with pytest.raises(OmklError, match=r"has had no dask worker for 0\.5 s"):
        runner.run_plan(replace(plan, exec=second.options(wait=0.5)))
    second.add_worker("--no-nanny")  # comes while the run waits for it
    rest = runner.run_plan(replace(plan, exec=second.options()))
    assert (rest.reused, rest.ran, len(rest.cells), rest.failed) == (done, 30 - done, 30, [])


@pytest.mark.parametrize("name", ["omkl", "numpy", "scipy", "numba", "llvmlite"])
def test_another_version_on_the_workers_is_refused(cluster, monkeypatch, name):
    here = provenance.deciding()
    monkeypatch.setattr(provenance, "deciding", lambda: {**here, name: "0.1"})
    refused = (
        rf"a dask worker cannot run cells: the one on {re.escape(socket.gethostname())} has other versions "
        rf"that decide results: {name} {re.escape(here[name])} there, 0\.1 here; install the same versions"
    )
    with pytest.raises(OmklError, match=refused):
        list(executors.make(cluster.options()).run(act, [("value", 1)]))


OTHER = """

_before = learner_seed


def learner_seed(*words):
    return _before(*words) + 1
"""


def test_a_worker_whose_omkl_would_store_other_numbers_stores_none(make_cluster, tmp_path, capsys):
    """Another learner_seed: not in the engine, and not among the learners."""
    copy = tmp_path / "other"
    shutil.copytree(ROOT / "omkl", copy / "omkl", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "conf").symlink_to(ROOT / "conf")
    with open(copy / "omkl" / "seeds.py", "a") as file:
        file.write(OTHER)
    cluster = make_cluster()
    cluster.add_worker("--no-nanny", package=copy)
    cluster.wait_for(1)
    path = write_data(tmp_path / "mine.libsvm", 40)
    words = ["algo=omkc_ss", "yardsticks=[]", f"data={path}", "reps=2", f"store={tmp_path / 'store'}"]
    assert main(["run", *words, "exec=dask", f"exec.address={cluster.address}"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "a dask worker cannot run cells" in err
    assert "install the same versions on both" in err
    plan = config.plan(words)
    assert Store(plan.store).done([cell.key for cell in runner.expand(plan)]) == set()


def test_the_provenance_is_the_worker_s_own(cluster, tmp_path, monkeypatch):
    own = {**provenance.collect("dask", 1)}
    software = {"versions": {"omkl": "of the command"}, "commit": "of the command", "dirty": True}
    machine = {"host": "of the command", "cpu": "of the command", "cores": 999}
    plan = replace(make_plan(tmp_path, monkeypatch), exec=cluster.options())
    monkeypatch.setattr(provenance, "_here", lambda: software | machine)
    outcome = runner.run_plan(faulty(plan, "raise", "no luck"))
    found = [*outcome.cells["provenance"], *(line["provenance"] for line in outcome.failed)]
    assert (len(outcome.cells), len(outcome.failed)) == (6, 2)
    for line in found:
        assert [line[name] for name in (*software, *machine)] == [own[name] for name in (*software, *machine)]
        assert line["backend"] == "dask"


def test_a_frozen_scheduler_ends_the_run_after_exec_wait(make_cluster):
    cluster = make_cluster()
    cluster.add_worker("--no-nanny")
    cluster.wait_for(1)
    executor = executors.make(cluster.options(wait=4.0))
    run = executor.run(act, [("value", 0)] + [("spin", 0.2 + i / 1e6) for i in range(500)])
    next(run)
    try:
        cluster.scheduler.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(OmklError, match=r"scheduler at .* has not answered for 4 s"):
            list(run)
        with pytest.raises(OmklError, match=r"exec\.address=.*: no dask scheduler answers within 4 s"):
            list(executor.run(act, [("value", 1)]))
        assert time.monotonic() - began < 90
    finally:
        cluster.scheduler.send_signal(signal.SIGCONT)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Two authorities, and a certificate of each: paths of "ca.pem", "node.pem" and "node.key" by folder."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    for name in ("ours", "theirs"):
        (folder / name).mkdir()
        ca, node = f"{name}/ca", f"{name}/node"
        new = ("-newkey", "rsa:2048", "-nodes")
        openssl(
            "req", "-x509", *new, "-subj", "/CN=ca", "-days", "2", "-keyout", f"{ca}.key", "-out", f"{ca}.pem"
        )
        openssl("req", *new, "-subj", "/CN=node", "-keyout", f"{node}.key", "-out", f"{node}.csr")
        signed = ("-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", "2")
        openssl("x509", "-req", "-in", f"{node}.csr", *signed, "-out", f"{node}.pem")
    return folder


def test_tls_with_certificates_of_one_authority(make_cluster, certificates, tmp_path, monkeypatch):
    def files(authority: str, client: str, key: str) -> dict[str, str]:
        paths = (f"{authority}/ca.pem", f"{client}/node.pem", f"{key}/node.key")
        names = ("tls_ca_file", "tls_cert", "tls_key")
        return {name: str(certificates / path) for name, path in zip(names, paths, strict=True)}

    ours = files("ours", "ours", "ours")
    flags = [word for name, path in ours.items() for word in (f"--{name.replace('_', '-')}", path)]
    cluster = make_cluster(*flags, protocol="tls")
    assert cluster.address.startswith("tls://")
    cluster.add_worker("--no-nanny")
    path = write_data(tmp_path / "mine.libsvm", 40)
    words = ["algo=arow", "yardsticks=[]", f"data={path}", "reps=2"]
    words += ["exec=dask", f"exec.address={cluster.address}"]
    words += [f"exec.{name}={path}" for name, path in ours.items()]
    outcome = runner.run_plan(config.plan([*words, f"store={tmp_path / 'store'}"]))
    assert (outcome.failed, outcome.ran, outcome.reused) == ([], len(outcome.cells), 0)

    def refused(error: type[Exception], text: str, address: str = cluster.address, **tls: str) -> None:
        options = {**cluster.options(wait=20.0), "address": address, **tls}
        with pytest.raises(error, match=text):
            list(executors.make(options).run(act, [("value", 1)]))

    refused(UserError, r"TLS needs exec\.tls_ca_file and exec\.tls_cert and exec\.tls_key")
    refused(UserError, r"exec\.tls_key=nowhere: there is no such file", **{**ours, "tls_key": "nowhere"})
    refused(UserError, "certificates are for", "tcp://127.0.0.1:9", **ours)
    refused(UserError, "KEY_VALUES_MISMATCH", **files("ours", "ours", "theirs"))
    refused(OmklError, "CERTIFICATE_VERIFY_FAILED", **files("theirs", "ours", "ours"))
    refused(OmklError, r"no dask scheduler answers", **files("ours", "theirs", "theirs"))
    for name, path in zip(("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"), ours.values(), strict=True):
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", path)
    code = "import sys; sys.path.insert(0, sys.argv[1]); from support.runner_fakes import act\n"
    code += "from omkl import executors\n"
    code += "print(list(executors.make({'name': 'dask', 'address': sys.argv[2]}).run(act, [('value', 7)])))"
    words = [sys.executable, "-c", code, str(TESTS), cluster.address]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("[(('value', 7), 7)]\n", "")  # dask's own configuration


@pytest.fixture
def listeners():
    """Ports of this machine: closed, and open but without a word."""
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        yield {"closed": closed.getsockname()[1], "silent": silent.getsockname()[1]}


@pytest.mark.parametrize("who", ["closed", "silent", "tls"])
def test_a_failure_to_connect_is_one_line(listeners, certificates, tmp_path, who):
    """In a process of its own: what is printed as it ends counts too."""
    path = write_data(tmp_path / "mine.libsvm", 40)
    words = ["algo=arow", f"data={path}", "exec=dask", "exec.wait=2", f"store={tmp_path / 'store'}"]
    if who == "tls":
        folder = certificates / "ours"
        words += [f"exec.tls_ca_file={folder / 'ca.pem'}", f"exec.tls_cert={folder / 'node.pem'}"]
        words += [
            f"exec.tls_key={folder / 'node.key'}",
            f"exec.address=tls://127.0.0.1:{listeners['closed']}",
        ]
    else:
        words += [f"exec.address=tcp://127.0.0.1:{listeners[who]}"]
    command = [sys.executable, "-c", "import sys; from omkl.cli import main; sys.exit(main(sys.argv[1:]))"]
    done = subprocess.run([*command, "run", *words], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "no dask scheduler answers within 2 s" in done.stderr


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
