"""Runs that are killed at random moments, in the middle of a write too, and run again: the same table."""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.reports_cells import report
from support.runner_plans import write_data

from omkl.config import plan
from omkl.reports.rows import ReportPlan
from omkl.reports.table import FORMATS
from omkl.runs import runner
from omkl.store.store import Store, StoreWarning

pytestmark = pytest.mark.slow

KILLS = 50 if os.environ.get("OMKL_SLOW") else 4
SEED = 7


def tables(this_plan) -> tuple[int, dict[str, str]]:
    """How many cells had to be run, and the table in every format, without times and origins."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # lines torn by the kills
        outcome = runner.run_plan(this_plan, jobs=1, progress=False)
    cells = outcome.cells.assign(seconds=0.5, provenance=[{}] * len(outcome.cells))
    about = ReportPlan((this_plan,), outcome, "omkl run")
    return outcome.ran, {fmt: report(cells, about, fmt) for fmt in FORMATS}


def test_two_runs_at_once_on_one_store_lose_nothing_and_count_nothing_twice(tmp_path):
    data = write_data(tmp_path / "tiny.libsvm", 60)
    words = ["algo=omkc_dd,omkc_ss", f"data={data}", "yardsticks=[majority]"]
    command = [sys.executable, "-m", "omkl", "run", *words, f"store={tmp_path / 'both'}", "-q", "-j", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    warm = [
        *command,
        "reps=1",
        "--fresh",
        f"store={tmp_path / 'warm'}",
    ]  # else both may say that they compile
    subprocess.run([word for word in warm if not word.endswith("both")], env=environment, check=True)
    runs = [
        subprocess.Popen([*command, reps], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        for reps in ("reps=40", "reps=60")
    ]
    ends = [run.communicate() for run in runs]
    assert [(run.returncode, err) for run, (_, err) in zip(runs, ends, strict=True)] == [(0, b"")] * 2
    store = Store(tmp_path / "both")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines = list(store.lines("cells"))
    assert 180 <= len(lines) < 300  # what both ran at the same time is there twice
    assert len(lines) == sum(len(path.read_bytes().splitlines()) for path in store.files("cells"))
    this_plan = plan([*words, "reps=60"])
    _, alone = tables(replace(this_plan, store=tmp_path / "alone"))
    assert tables(replace(this_plan, store=store.path)) == (0, alone)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds workers through /proc")
def test_killed_at_random_moments_and_run_again_it_prints_the_same_table(tmp_path):
    data = write_data(tmp_path / "tiny.libsvm", 60)
    nursery = TESTS / "support" / "kill_nursery.py"
    words = ["algo=omkc_dd,omkc_ss", f"data={data}", "reps=12", "yardsticks=[majority]"]
    done = subprocess.run(
        [sys.executable, str(nursery), str(tmp_path), str(KILLS), str(SEED), *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    killed = json.loads(done.stdout)
    assert sum(killed["kills"].values()) == KILLS
    assert set(killed["codes"]) == {"0", "-9"}, done.stderr  # no run ended in another way
    this_plan = plan(words)
    ran, undisturbed = tables(replace(this_plan, store=tmp_path / "undisturbed"))
    assert ran == 36
    assert len(killed["stores"]) > 1
    for store in killed["stores"]:
        assert tables(replace(this_plan, store=Path(store))) == (0, undisturbed)
    print(killed)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_readers_writers_and_prunes_killed_at_random_moments_lose_nothing_and_read_no_wrong_row(tmp_path):
    script = TESTS / "support" / "kill_readers.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, TESTS)))}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(10 * KILLS), str(SEED)],
        capture_output=True,
        text=True,
        env={**environment, "OMKL_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    killed = json.loads(done.stdout)
    assert sum(killed["kills"].values()) >= 10 * KILLS
    assert killed["checks"]
    print(killed)
