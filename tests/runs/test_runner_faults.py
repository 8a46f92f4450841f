"""The runner when something goes wrong: failing and poison cells, Ctrl-C, bad input, a full disk."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from support import ROOT, TESTS, runner_fakes
from support.runner_plans import POOL, faulty, without_time

from omkl import config
from omkl.cli import main
from omkl.config import Setting
from omkl.data import find
from omkl.errors import OmklError, UserError
from omkl.runs import runner
from omkl.runs.cells import expand
from omkl.runs.status import failures_text
from omkl.store.store import Store


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (["raise", "no luck"], "ValueError: no luck"),
        (["value", "nan"], "its figures cannot be stored: Out of range float values are not JSON compliant"),
    ],
)
def test_a_failed_cell_is_recorded_excluded_and_tried_again(plan, fault, message):
    outcome = runner.run_plan(faulty(plan, *fault), jobs=1)
    assert (outcome.requested, outcome.ran, len(outcome.cells)) == (8, 8, 6)
    assert [line["data"] for line in outcome.failed] == ["one", "two"]
    assert all(line["error"].startswith(message) for line in outcome.failed)
    assert "omkc_u" not in set(outcome.cells["algo"])
    recorded = Store(plan.store).failed()
    assert sorted(line["key"] for line in recorded) == sorted(line["key"] for line in outcome.failed)
    again = runner.run_plan(faulty(plan, *fault), jobs=1)
    assert (again.ran, again.reused, len(again.failed)) == (2, 6, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "done"), [("kill", 6), ("kill_once", 8)])
def test_a_cell_that_kills_its_worker_fails_alone_and_one_that_did_once_does_not(
    plan, workers, tmp_path, fault, done
):
    outcome = runner.run_plan(faulty(plan, fault, str(tmp_path / "killed")), jobs=2)
    assert len(outcome.cells) == done
    assert ["SIGKILL" in line["error"] for line in outcome.failed] == [True] * (8 - done)
    assert (tmp_path / "killed").exists() == (fault == "kill_once")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_fail_fast_ends_the_run_at_the_first_failure_and_keeps_what_is_finished(plan, workers, jobs):
    faults = ["value", "value", "raise", "raise", *["spin"] * 8]
    slow = [
        Setting("omkc_u", {"beta": i / 100, "fault": [what, 0.3]}, POOL) for i, what in enumerate(faults, 1)
    ]
    plan = replace(plan, settings=tuple(slow), yardsticks=(), data=plan.data[:1], reps=1)
    outcome = runner.run_plan(plan, jobs=jobs, fail_fast=True)
    assert [line["error"] for line in outcome.failed] == ["ValueError: 0.3"]
    assert 1 <= len(outcome.cells) <= 3
    assert outcome.ran == len(outcome.cells) + 1
    assert len(Store(plan.store).failed()) == 1


def test_the_failed_cells_are_listed_at_the_end_with_exit_code_1(plan, monkeypatch, capsys):
    def one_failing(job):
        if job.spec.name == "perceptron" or (job.spec.name == "arow" and job.rep in (0, 1, 2, 5)):
            raise ValueError(f"no luck with {job.spec.name}")
        return runner_fakes.run_cell(job)

    monkeypatch.setattr(runner, "run_cell", one_failing)
    words = ["algo=omkc_dd,perceptron,arow", "yardsticks=[]", f"data={plan.data[0]}", f"store={plan.store}"]
    assert main(["run", *words, "reps=6", "-j1", "--format", "csv"]) == 1
    out, err = capsys.readouterr()
    assert "omkc_dd" in out
    assert err.splitlines()[-3:] == [
        "omkl: 10 cells failed (the same command tries again):",
        "  arow r=1 bias=true full=true squares=false on one, repetitions 0-2, 5: "
        "ValueError: no luck with arow",
        "  perceptron kernel=polynomial(degree=1, scale=1, coef0=1) on one, repetitions 0-5: "
        "ValueError: no luck with perceptron",
    ]
    assert main(["run", *words, "reps=6", "-j1", "--format", "csv", "--fail-fast"]) == 1
    assert "omkl: 1 cell failed; the first ended the run" in capsys.readouterr().err
    assert main(["status", *words, "reps=7", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "data,algo,cells,done,running,queued,failed,missing",
        "one,omkc_dd,7,6,0,0,0,1",
        "one,perceptron,7,0,0,0,6,1",
        "one,arow,7,2,0,0,4,1",
    ]
    assert len(err.splitlines()) == 3


def test_a_long_list_of_failures_is_cut():
    line = {"data": "one", "algo": "omkc_u", "pool": None, "params": {}, "rep": 0}
    lines = failures_text([{**line, "error": f"{number:02}"} for number in range(30)])
    assert len(lines) == 21
    assert lines[0] == "omkc_u on one, repetition 0: 00"
    assert lines[20].startswith("... and 10 more")


DRIVER = """
import pickle, sys
sys.path.insert(0, {here!r})
from support import runner_fakes
from omkl import config
from omkl.runs import runner
runner.run_cell, runner.warm_up_once, runner.SMALL_WORK = runner_fakes.run_cell, lambda specs: None, -1.0
with open(sys.argv[1], "rb") as file:
    outcome = runner.run_plan(pickle.load(file), jobs=int(sys.argv[2]))
print(outcome.interrupted, len(outcome.cells), len(outcome.failed), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "jobs"), [("loky", 1), ("loky", 2), ("dask", 2)])
def test_ctrl_c_keeps_what_is_finished_and_the_same_plan_continues(plan, tmp_path, monkeypatch, name, jobs):
    slow = [Setting("omkc_u", {"beta": i / 100, "fault": ["spin", 0.15]}, POOL) for i in range(1, 90)]
    options = config.plan([f"exec={name}"]).exec
    plan = replace(plan, settings=tuple(slow), data=plan.data[:1], reps=1, exec=options)
    (tmp_path / "plan").write_bytes(pickle.dumps(plan))
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(here=str(TESTS)), str(tmp_path / "plan"), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    keys = [cell.key for cell in expand(plan)]
    while len(Store(plan.store).done(keys)) < 3 and driver.poll() is None:
        time.sleep(0.01)
    os.killpg(driver.pid, signal.SIGINT)
    out, err = driver.communicate()
    interrupted, cells, failed = out.split()
    assert (interrupted, failed, err) == ("True", "0", "")
    assert 3 <= int(cells) < 90
    monkeypatch.setattr(runner_fakes, "SPIN", 0.0)
    rest = runner.run_plan(replace(plan, exec={"name": "serial"}))
    assert (rest.reused, rest.ran, len(rest.cells)) == (int(cells), 90 - int(cells), 90)


@pytest.mark.slow
def test_data_that_could_not_be_cached_travel_with_the_job(plan, workers, tmp_path):
    expected = runner.run_plan(replace(plan, store=tmp_path / "cached"), jobs=1).cells
    (tmp_path / "file").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMKL_CACHE", str(tmp_path / "file" / "below"))
        assert not isinstance(expand(plan)[0].data, Path)
        outcome = runner.run_plan(plan, jobs=2)
    pd.testing.assert_frame_equal(without_time(outcome.cells), without_time(expected))


def test_bad_input_is_refused_before_any_work(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "run_cell", lambda job: pytest.fail("a cell ran"))
    (tmp_path / "file").touch()
    (tmp_path / "bad.libsvm").write_text("+1 1:nan\n")
    bad = find(str(tmp_path / "bad.libsvm"))
    for wrong, jobs, message in (
        ({"data": (*plan.data, bad)}, 1, r"bad\.libsvm:1"),
        ({"order": "authors"}, 1, "authors"),
        ({}, 0, "jobs=0"),
        ({"exec": {"name": "lokky"}}, 1, "lokky"),
        ({"store": tmp_path / "file" / "store"}, 1, r"cannot .* the store"),
    ):
        with pytest.raises(OmklError if "store" in wrong else UserError, match=message):
            runner.run_plan(replace(plan, **wrong), jobs=jobs)
    assert not plan.store.exists()


def test_a_disk_that_fills_up_ends_the_run_and_keeps_what_is_finished(plan, monkeypatch):
    append, calls = Store.append, []

    def full(self, line, curve=None):
        calls.append(line)
        if len(calls) == 5:
            raise OmklError("cannot write to the store: No space left on device")
        append(self, line, curve)

    monkeypatch.setattr(Store, "append", full)
    with pytest.raises(OmklError, match="No space left"):
        runner.run_plan(plan, jobs=1)
    rest = runner.run_plan(plan, jobs=1)
    assert (rest.reused, rest.ran) == (4, 20)


class PressesCtrlC:
    """Ctrl-C comes while this is cleared away, where Python drops it."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_a_ctrl_c_that_python_drops_ends_the_run_after_the_cell(plan, monkeypatch):
    append, calls = Store.append, []

    def pressed(self, line, curve=None):
        append(self, line, curve)
        calls.append(line)
        if len(calls) == 5:
            PressesCtrlC()

    monkeypatch.setattr(Store, "append", pressed)
    outcome = runner.run_plan(plan, jobs=1)
    assert outcome.interrupted
    assert len(outcome.cells) == 5
