"""slurm: the options for sbatch, and which cells are submitted a second time."""

import json
import os
import pickletools
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.runner_plans import POOL, make_plan, write_data

from omkl import config
from omkl.cli import main
from omkl.config import Setting
from omkl.errors import OmklError, UserError
from omkl.runs import runner
from omkl.runs.cells import expand
from omkl.runs.status import status_of
from omkl.store.store import Store

pytest.importorskip("submitit")
from omkl.runs import slurm, slurm_jobs

OPTIONS = [
    *("exec=slurm", "exec.partition=long", "exec.account=me", "exec.time=90", "exec.chunk=5", "exec.array=3"),
    *("exec.parallel=2", "exec.setup=[module load python]", 'exec.extra=["constraint=avx512"]'),
]


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A Slurm of shell scripts: sbatch keeps its script and counts from 7001, squeue prints a file.
    PATH holds these and what they call, nothing else: whether the machine has a Slurm makes no difference.
    """
    folder = tmp_path / "tools"
    folder.mkdir()
    scripts = {
        "srun": "exit 1",
        "sbatch": f"n=$(ls {folder}/*.sbatch 2>/dev/null | wc -l); cp $1 {folder}/$n.sbatch; "
        "echo Submitted batch job $((7001 + n))",
        "squeue": f"cat {folder}/queue",
    }
    for name, line in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    (folder / "queue").touch()
    for name in ("cat", "cp", "ls", "wc"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Two learners and a yardstick on two small sets, 4 repetitions: 24 cells, for Slurm."""
    return replace(make_plan(tmp_path, monkeypatch), exec=config.plan(OPTIONS).exec)


def chunks(plan) -> list[list[str]]:
    """The keys of each job submitted so far."""
    folders = [(folder, len(jobs)) for folder, jobs in slurm_jobs._submissions(plan.store)]
    paths = [folder / f"{number}.json" for folder, count in folders for number in range(count)]
    return [json.loads(path.read_text())["keys"] for path in paths]


def total(rows: list[dict], *states: str) -> list[int]:
    """The number of cells in each of these states."""
    return [sum(row[state] for row in rows) for state in states]


def test_sbatch_gets_the_options(plan, tools):
    new = slurm.submit(plan)
    assert (new.cells, new.waiting) == (24, 0)
    assert new.jobs == ["7001_0", "7001_1", "7001_2", "7002_0", "7002_1"]  # arrays of at most 3
    text = (tools / "0.sbatch").read_text()
    words = "partition=long account=me time=90 mem=2GB cpus-per-task=1 constraint=avx512 job-name=omkl"
    for word in [*words.split(), "array=0-2%2"]:
        assert f"#SBATCH --{word}\n" in text
    assert "qos" not in text
    assert text.index("module load python") < text.index("srun --unbuffered")
    assert f"{sys.executable} -u -m submitit.core._submit" in text
    assert "--array=0-1%2\n" in (tools / "1.sbatch").read_text()
    assert [len(keys) for keys in chunks(plan)] == [5, 5, 5, 5, 4]
    assert {key for keys in chunks(plan) for key in keys} == {cell.key for cell in expand(plan)}


def test_a_job_s_pickle_names_one_function_and_holds_a_path(plan, tools):
    slurm.submit(plan)
    folder = next(plan.store.glob("slurm/*/jobs.json")).parent
    words = set()
    for path in folder.glob("*_submitted.pkl"):
        words |= {arg for _, arg, _ in pickletools.genops(path.read_bytes()) if isinstance(arg, str)}
    modules = {word for word in words if word.startswith(("omkl", "submitit"))}
    assert modules == {"omkl.runs.slurm_chunks", "submitit.core.utils"}
    assert {"run_chunk", "DelayedSubmission", str(folder / "0.json")} <= words


@pytest.mark.slow
def test_only_what_is_neither_done_nor_queued_nor_running_is_submitted(plan, tools, monkeypatch):
    slurm.submit(plan)
    (tools / "queue").write_text("7001_0 RUNNING\n7001_1 PENDING\n1234 RUNNING\n")
    first = chunks(plan)
    folder = next(plan.store.glob("slurm/*/jobs.json")).parent
    assert slurm.run_chunk(str(folder / "2.json")) == {"ran": 5, "failed": 0}
    rows = status_of(plan).rows
    assert total(rows, "cells", "done", "running", "queued", "missing") == [24, 5, 5, 5, 9]
    assert (status_of(plan).failed, list(rows[0])[:2]) == ([], ["data", "algo"])
    again = slurm.submit(plan)
    assert (again.cells, again.waiting) == (9, 10)
    assert sorted(key for keys in chunks(plan)[5:] for key in keys) == sorted(first[3] + first[4])
    running = ("7001_0", "7001_1", "7003_0", "7003_1")
    (tools / "queue").write_text("".join(f"{job} RUNNING\n" for job in running))
    nothing = slurm.submit(plan)
    assert (nothing.jobs, nothing.cells, nothing.waiting) == ([], 0, 19)
    assert slurm.submit(plan, fresh=True).cells == 5  # those that are done


DRIVER = """
import sys
sys.path.insert(0, {here!r})
from support import runner_fakes
from omkl.runs import runner, slurm
runner.run_cell, runner.warm_up_once = runner_fakes.run_cell, lambda specs: None
slurm.run_chunk(sys.argv[1])
"""


def job(path: Path) -> int:
    """Run a chunk as a job does, on fake learners; its exit code."""
    return subprocess.run(
        [sys.executable, "-c", DRIVER.format(here=str(TESTS)), str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
        check=False,
    ).returncode


@pytest.mark.slow
def test_a_poison_cell_has_failed_and_one_at_which_a_job_ended_gets_a_job_of_its_own(plan, tools):
    faults = [["value", 1], ["kill", None], ["kill_parent", None], ["value", 4], ["raise", "no luck"]]
    settings = tuple(
        Setting("omkc_u", {"beta": i / 10, "fault": fault}, POOL) for i, fault in enumerate(faults, 1)
    )
    plan = replace(plan, settings=settings, yardsticks=(), data=plan.data[:1], reps=1)
    keys = [cell.key for cell in expand(plan)]
    slurm.submit(plan)
    folder = next(plan.store.glob("slurm/*/jobs.json")).parent
    assert job(folder / "0.json") == -signal.SIGKILL
    assert Store(plan.store).done(keys) == set(keys[:1])
    (tools / "queue").write_text("7001 RUNNING\n")  # an array of one is a plain job
    assert slurm.submit(plan).waiting == 4
    (tools / "queue").write_text("")
    assert slurm.submit(plan).cells == 4
    assert sorted(map(sorted, chunks(plan)[1:])) == sorted([sorted({*keys[1:]} - {keys[1]}), [keys[1]]])
    second = max(plan.store.glob("slurm/*/jobs.json")).parent
    assert job(second / "1.json") == 0  # alone
    chunk = json.loads((second / "0.json").read_text())
    (second / "0.json").write_text(json.dumps(chunk | {"keys": keys[3:]}))
    assert job(second / "0.json") == 0
    (second / "0.begun").touch()  # as if it had been requeued
    before = dict.fromkeys(Store(plan.store).done(keys))
    assert job(second / "0.json") == 0
    progress = status_of(plan)
    assert before.keys() == {keys[0], keys[3]}
    assert [row[name] for row in progress.rows for name in ("done", "failed", "missing")] == [2, 2, 1]
    errors = sorted(line["error"] for line in progress.failed)
    assert errors[0] == "ValueError: no luck"
    assert "died twice (SIGKILL)" in errors[1]
    assert slurm.submit(plan).cells == 3  # the failed ones are tried again, as everywhere


def test_a_chunk_whose_cells_have_changed_is_refused(plan, tools):
    slurm.submit(plan)
    write_data(plan.data[0].source, seed=7)
    with pytest.raises(OmklError, match="5 of its cells have changed since they were submitted"):
        slurm.run_chunk(str(next(plan.store.glob("slurm/*/0.json"))))


@pytest.mark.slow
def test_with_the_controller_down_what_is_queued_is_unknown(plan, tools, capsys):
    words = [
        f"store={plan.store}",
        f"data={','.join(map(str, plan.data))}",
        "reps=4",
        "algo=omkc_u",
        "yardsticks=[]",
    ]
    plan = replace(plan, settings=config.plan(words).settings, yardsticks=())
    slurm.submit(plan)  # 5, 3 cells
    folder = next(plan.store.glob("slurm/*/jobs.json")).parent
    assert slurm.run_chunk(str(folder / "0.json")) == {"ran": 5, "failed": 0}
    down = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    (tools / "squeue").write_text(f"#!/bin/sh\necho '{down}' >&2\nexit 1\n")
    assert main(["status", *words, "--format", "json"]) == 1
    out, err = capsys.readouterr()
    assert total(json.loads(out), "done", "unknown", "missing", "cells") == [5, 3, 0, 8]
    assert err == f"omkl: squeue does not answer, so the queued and running cells are unknown: {down}\n"
    assert slurm.run_chunk(str(folder / "1.json")) == {"ran": 3, "failed": 0}
    assert main(["status", *words, "--format", "json"]) == 0  # all are done, whatever is queued
    out, err = capsys.readouterr()
    assert (["unknown" in row for row in json.loads(out)], err) == ([False] * 2, "")


def test_with_the_controller_down_what_has_failed_is_known(plan, tools, monkeypatch):
    slurm.submit(plan)
    (tools / "queue").unlink()
    monkeypatch.setattr(runner, "run_cell", lambda cell: 1 / 0)
    folder = next(plan.store.glob("slurm/*/jobs.json")).parent
    assert slurm.run_chunk(str(folder / "0.json"))["failed"] == 5
    assert total(status_of(plan).rows, "failed", "unknown", "missing") == [5, 19, 0]


def test_mistakes_end_with_one_line(plan, tools, monkeypatch):
    slurm.submit(plan)
    (tools / "queue").unlink()  # squeue fails
    with pytest.raises(OmklError, match=r"squeue does not list the queued jobs: cat: .*queue"):
        slurm.submit(plan)
    assert [row["unknown"] for row in status_of(plan).rows] == [4] * 6
    (tools / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid partition' >&2\nexit 1\n")
    (tools / "queue").touch()
    with pytest.raises(OmklError, match="cannot submit: sbatch: error: invalid partition"):
        slurm.submit(plan)
    with pytest.raises(UserError, match=r"exec\.extra: 'gres' is not an option"):
        slurm.submit(replace(plan, exec={**plan.exec, "extra": ["gres"]}))
    (tools / "srun").unlink()
    with pytest.raises(OmklError, match="cannot submit: Could not detect"):
        slurm.submit(plan)
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(UserError, match=r"pip install 'omkl\[slurm\]'"):
        slurm.submit(plan)
    with pytest.raises(UserError, match="--fail-fast has no effect with exec=slurm"):
        main(["run", "exec=slurm", "--fail-fast", "--debug"])
    with pytest.raises(UserError, match="exec=slurm is not an executor that waits for its cells"):
        runner.run_plan(plan)
