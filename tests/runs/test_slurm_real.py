"""A real Slurm on this machine: a job cancelled, the controller killed and started again, nothing lost.

OMKL_SLURM=1 and --slow run it as root, after apt-get install slurm-wlm munge.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.planted import plant
from support.runner_plans import write_data
from support.slurm_machine import Slurm, lacking, wait_until

from omkl import config
from omkl.engine import numba_cache
from omkl.paths import SAFE
from omkl.runs import runner
from omkl.runs.cells import expand
from omkl.store.store import Store

pytestmark = [
    pytest.mark.slurm_real,
    pytest.mark.skipif(os.environ.get("OMKL_SLURM") != "1", reason="set OMKL_SLURM=1 to try a real Slurm"),
    pytest.mark.timeout(1200),
]
OMKL = [sys.executable, "-c", "import sys; from omkl.cli import main; sys.exit(main(sys.argv[1:]))"]


@pytest.fixture
def slurm(tmp_path):
    pytest.importorskip("submitit")
    assert lacking() == [], "OMKL_SLURM=1 needs Slurm's programs: apt-get install slurm-wlm munge"
    folder = tmp_path / "slurm"
    folder.mkdir()
    for path in (folder, *folder.parents):  # daemons insist on folders that they can reach
        if path.stat().st_uid == os.getuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o111)
    slurm = Slurm(folder)
    try:
        slurm.start()
        yield slurm
    except AssertionError as error:
        raise AssertionError(f"{error}\n{slurm.logs()}") from error
    finally:
        slurm.end()
        assert slurm._steps() == []


def environment_of(slurm: Slurm, folder: Path) -> dict[str, str]:
    """Return the environment of commands and jobs, without this machine's own cache."""
    return slurm.environment | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(TESTS)]),
        "OMKL_CACHE": str(folder / "cache"),
        "NUMBA_CACHE_DIR": str(numba_cache.compiled_folder()),
    }


def test_a_job_imports_nothing_from_the_folder_it_was_submitted_in(slurm, tmp_path):
    """The command runs where such modules lie; so does its job, with two cells at a time on loky."""
    here = tmp_path / "here"
    here.mkdir()
    mark, path = plant(here), write_data(tmp_path / "mine.libsvm", 40)
    script = tmp_path / "omkl"
    script.write_text("import sys; from omkl.cli import main; sys.exit(main(sys.argv[1:]))")
    environment = environment_of(slurm, tmp_path)
    environment.pop(SAFE, None)
    words = ["algo=arow", "yardsticks=[]", f"data={path}", "reps=4", f"store={tmp_path / 'store'}"]
    there = ["exec=slurm", "exec.mem=0.5", "exec.cpus=2", "exec.time=30"]

    def omkl(command: str, *options: str) -> str:
        command = [sys.executable, str(script), command, *words, *there, *options]
        done = subprocess.run(
            command, cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    omkl("run")
    wait_until(lambda: not slurm.call("squeue", "--noheader").strip(), 300, "the job does not end")
    logs = "".join(path.read_text() for path in tmp_path.glob("store/slurm/*/*.err"))
    assert not mark.exists(), mark.read_text() + logs
    [row] = json.loads(omkl("status", "--format", "json"))
    assert (row["done"], row["cells"]) == (4, 4), logs


def test_200_cells_in_10_jobs_one_cancelled_and_the_controller_killed(slurm, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path, store = write_data(tmp_path / "mine.libsvm", 120), tmp_path / "store"
    setting = ["algo=arow", "yardsticks=[]", f"data={path}", "reps=200"]
    words = [*setting, f"store={store}"]
    there = ["exec=slurm", "exec.chunk=20", "exec.parallel=2", "exec.mem=0.5", "exec.time=30"]
    environment = environment_of(slurm, tmp_path)

    def omkl(command: str, *options: str) -> subprocess.CompletedProcess:
        command = [*OMKL, command, *words, *there, *options]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    def counts() -> Counter:
        said = omkl("status", "--format", "json")
        assert said.returncode == 0, said.stderr
        [row] = json.loads(said.stdout)
        return Counter({name: number for name, number in row.items() if isinstance(number, int)})

    plan = config.plan(words)
    keys = {cell.key for cell in expand(plan)}

    def done() -> int:
        return len(Store(store).done(keys))

    first = omkl("run")
    assert first.returncode == 0, first.stderr
    [array] = first.stdout.split()
    assert "submitted 200 cells in 10 jobs" in first.stderr
    slurm.call("scancel", f"{array}_9")  # which waits: two run at a time
    wait_until(
        lambda: f"{array}_9" not in slurm.call("squeue", "--array", "--noheader", "--format=%i"), 60, "9"
    )
    cancelled = time.time()
    wait_until(lambda: done() > 0, 300, "no cell was computed")
    state = slurm.folder / "state" / "job_state"  # what is not saved yet a killed controller forgets
    wait_until(lambda: state.exists() and state.stat().st_mtime > cancelled + 1, 120, "no state is saved")

    slurm.kill_controller()
    down = omkl("status", "--format", "json")
    assert down.returncode == 1
    assert "squeue does not answer, so the queued and running cells are unknown" in down.stderr
    [row] = json.loads(down.stdout)
    assert row["missing"] == 0
    assert row["unknown"] + row["done"] == row["cells"] == 200
    assert row["unknown"] > 0
    refused = omkl("run")
    assert refused.returncode == 1
    assert "squeue does not list the queued jobs" in refused.stderr
    assert done() < 200

    slurm.start_controller()
    again = omkl("run")
    assert again.returncode == 0, again.stderr
    assert "submitted 20 cells in 1 job;" in again.stderr  # those of the cancelled job
    # Not until the queue is empty: a job that ended while there was no controller may be listed for long.
    whole = Counter(cells=200, done=200, running=0, queued=0, failed=0, missing=0)
    wait_until(lambda: counts() == whole, 600, "cells are not done")
    lines = [json.loads(line) for path in store.glob("cells/*") for line in path.read_text().splitlines()]
    assert Counter(line["key"] for line in lines) == Counter(keys)  # all of them, nothing twice
    assert {line["provenance"]["backend"] for line in lines} == {"slurm"}
    assert omkl("run", "--format", "csv").returncode == 0
    serial = runner.run_plan(config.plan([*setting, f"store={tmp_path / 'serial'}", "exec=serial"]))
    again = runner.run_plan(plan)
    assert (again.ran, again.reused) == (0, 200)
    assert list(again.cells["mistakes"]) == list(serial.cells["mistakes"])
