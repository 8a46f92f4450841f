"""The runner: only missing cells run, each is stored at once, and nothing depends on where it ran."""

import io
import itertools
import json
import os
import pickle
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support import runner_fakes
from support.extension import write
from support.runner_plans import POOL, without_time

from omkl import config
from omkl.config import Setting, learner_spec
from omkl.data import find, ref
from omkl.passes.noted_rounds import noting, read_progress
from omkl.paths import EXTENSIONS
from omkl.runs import cells, runner
from omkl.runs.cells import expand
from omkl.runs.progress import Bar
from omkl.runs.workers import Loky, Serial, attempt
from omkl.store.store import Store


def test_every_cell_runs_once_and_has_its_place(plan):
    outcome = runner.run_plan(plan, jobs=1)
    assert (outcome.requested, outcome.ran, outcome.reused, outcome.failed) == (24, 24, 0, [])
    assert not outcome.interrupted
    cells = outcome.cells
    expected = itertools.product(("one", "two"), ("omkc_dd", "omkc_ss", "majority"), range(4))
    assert list(zip(cells["data"], cells["algo"], cells["rep"], strict=True)) == list(expected)
    assert cells["key"].is_unique
    assert cells["T"].tolist() == [30] * 12 + [50] * 12
    # every learner saw the same permutation in a repetition
    assert (cells.groupby(["data", "rep"])["permutation_seed"].nunique() == 1).all()
    assert cells["permutation_seed"].nunique() == 8
    assert cells["pool"].fillna("").tolist() == (["two"] * 8 + [""] * 4) * 2
    origin = cells["provenance"][0]
    assert origin.keys() >= {
        *["time", "load", "versions", "commit", "dirty", "host", "cpu", "cores", "backend", "jobs"]
    }
    assert (origin["backend"], origin["jobs"]) == ("serial", 1)
    curves = Store(plan.store).curves(cells["key"])
    assert [curves[key]["mistakes"] for key in cells["key"]] == [[n] for n in cells["mistakes"]]


@pytest.mark.slow
def test_nothing_depends_on_the_workers_or_the_order_of_finishing(plan, workers, tmp_path, monkeypatch):
    serial = runner.run_plan(replace(plan, store=tmp_path / "serial"), jobs=1)
    parallel = runner.run_plan(replace(plan, store=tmp_path / "parallel"), jobs=2)
    assert parallel.cells["provenance"][0]["backend"] == "loky"
    assert os.getpid() not in (parallel.cells["seconds"] * 1e6).round()  # the fake's seconds are its pid

    def backwards(self, function, jobs):
        yield from ((job, attempt(function, job)) for job in reversed(list(jobs)))

    monkeypatch.setattr(Serial, "run", backwards)
    last_first = runner.run_plan(replace(plan, store=tmp_path / "backwards"), jobs=1)
    for other in (parallel, last_first):
        pd.testing.assert_frame_equal(without_time(other.cells), without_time(serial.cells))


def test_only_what_is_missing_runs(plan, tmp_path):
    def ran(plan, **how):
        outcome = runner.run_plan(plan, jobs=1, **how)
        return (outcome.requested, outcome.ran, outcome.reused), outcome.cells

    assert ran(replace(plan, reps=2))[0] == (12, 12, 0)
    counts, again = ran(plan)
    assert counts == (24, 12, 12)
    counts, third = ran(plan)
    assert counts == (24, 0, 24)
    pd.testing.assert_frame_equal(third, again)
    assert ran(replace(plan, settings=(*plan.settings, *plan.yardsticks)))[0] == (24, 0, 24)  # once
    wider = replace(plan, settings=(*plan.settings, Setting("omkc_dd", {"beta": 0.9}, POOL)))
    assert ran(wider)[0] == (32, 8, 24)
    _, whole = ran(replace(plan, store=tmp_path / "whole"))
    pd.testing.assert_frame_equal(without_time(whole), without_time(third))
    counts, new = ran(plan, fresh=True)  # all again, and the new results count
    assert (counts, len(new)) == ((24, 24, 0), 24)
    times = [[row["time"] for row in cells["provenance"]] for cells in (third, new)]
    assert max(times[0]) < min(times[1])


def test_another_revision_does_not_reuse(plan, monkeypatch):
    old = runner.run_plan(plan, jobs=1)
    assert old.stale == {}
    now = {name: learner_spec(name).revision for name in ("omkc_dd", "omkc_ss", "majority")}
    revised = {name: replace(learner_spec(name), revision=now[name] + 2) for name in ("omkc_dd", "omkc_ss")}
    revised["majority"] = learner_spec("majority")
    monkeypatch.setattr(cells, "learner_specs", lambda names: {name: revised[name] for name in names})
    outcome = runner.run_plan(plan, jobs=1)
    assert (outcome.ran, outcome.reused) == (16, 8)
    assert outcome.stale == {(name, now[name]): 8 for name in ("omkc_dd", "omkc_ss")}
    assert set(outcome.cells["revision"]) == {now["omkc_dd"] + 2, now["majority"]}


def test_the_same_data_and_pool_under_another_name_are_reused_and_shown_under_the_new_names(plan, tmp_path):
    runner.run_plan(plan, jobs=1)
    copy = tmp_path / "copy.libsvm"
    copy.write_text(plan.data[0].source.read_text())
    renamed = Setting("omkc_dd", {"beta": 0.8}, {**POOL, "name": "other"})
    outcome = runner.run_plan(replace(plan, data=(find(str(copy)),), settings=(renamed,)), jobs=1)
    assert (outcome.ran, outcome.reused) == (0, 8)
    assert set(outcome.cells["data"]) == {"copy"}
    assert outcome.cells["pool"].fillna("").tolist() == ["other"] * 4 + [""] * 4


def test_cheapest_cells_come_first_and_the_table_has_the_plans_order(plan):
    seen = []

    class Watching(Serial):
        def run(self, function, jobs):
            seen.extend((job.data.name, job.spec.name) for job in jobs)
            return super().run(function, jobs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omkl.runs.workers.Serial", Watching)
        outcome = runner.run_plan(replace(plan, data=plan.data[::-1], reps=1), jobs=1)
    assert [name for name, algo in seen if algo != "majority"] == ["one", "one", "two", "two"]
    assert seen.index(("two", "majority")) < seen.index(("two", "omkc_ss"))
    assert list(outcome.cells["data"]) == ["two"] * 3 + ["one"] * 3


@pytest.mark.parametrize("workers", [2, 3, 16])
def test_no_worker_is_left_alone_with_a_long_cell(workers):
    rng = np.random.default_rng(0)
    costs = [*rng.uniform(0.5, 2.0, 300), *[19.0] * 20, 83.0, 86.0, 99.0]
    begun = [cell.cost for cell in runner.in_turn([SimpleNamespace(cost=c) for c in costs], workers)]
    assert sorted(begun) == sorted(costs)
    assert workers > 3 or begun[:100] == sorted(costs)[:100]  # the cheapest come first
    free = [0.0] * workers  # when each worker has ended what it began
    for cost in begun:
        free[free.index(min(free))] += cost
    least = max(sum(costs) / workers, max(costs))
    assert max(free) < 1.2 * least
    alone = [cell.cost for cell in runner.in_turn([SimpleNamespace(cost=c) for c in costs], 1)]
    assert alone == sorted(costs)


def test_the_bar_moves_with_the_rounds_inside_a_cell(plan, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    cells = expand(replace(plan, reps=1))[:2]
    with Bar(cells, 3, True, remote=False) as bar:
        assert [cell.number for cell in bar.cells] == [0, 1]
        folder = bar.cells[1].board
        with noting(folder, 1, 200) as note:
            note(50)
            assert read_progress(folder) == {1: (50, 200)}
            bar._show(read_progress(folder))
            assert bar._bar.n == pytest.approx(cells[1].cost / 4)
            assert "1/3 cells" in sys.stderr.getvalue()
            assert f"{cells[1].spec.name} on one: round 50 of 200" in sys.stderr.getvalue()
            bar.finished(bar.cells[1])
            bar._show(read_progress(folder))  # its note is older than its end
        assert bar._bar.n == pytest.approx(cells[1].cost)
        assert "2/3 cells" in sys.stderr.getvalue()
    assert not folder.exists()
    assert Bar(cells, 2, False, remote=False).cells == cells


@pytest.mark.slow
def test_workers_read_the_cached_copy_and_notice_other_content(plan, workers, tmp_path, monkeypatch):
    cells = expand(plan)
    job = cells[0]
    assert len(pickle.dumps(job.data)) < 1000  # so the data are not in the job
    monkeypatch.setattr("omkl.runs.workers._idle", [])  # workers that have not opened it yet
    ref._open.clear()
    other = next(cell.data for cell in cells if cell.data.name == "two")
    wrong = replace(job, data=ref.Parsed("one", job.data.task, "one", job.data.content_hash, "", other.copy))
    ((_, outcome),) = Loky(2).run(runner_fakes.run_cell, [wrong])
    assert "changed during the run" in outcome.error
    ((_, outcome),) = Loky(2).run(runner_fakes.run_cell, [job])
    assert outcome["T"] == 30


def test_no_bar_where_stderr_is_no_terminal(plan, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.run_plan(plan, jobs=1)
    assert capfd.readouterr() == ("", "")


def test_real_learners_give_the_same_with_one_worker_and_two(tmp_path, monkeypatch):
    plan = config.plan(["algo=omkc_ss,perceptron_star", "data=wdbc", "reps=3", f"store={tmp_path / 'a'}"])
    serial = runner.run_plan(plan, jobs=1)
    monkeypatch.setattr(runner, "SMALL_WORK", -1.0)
    parallel = runner.run_plan(replace(plan, store=tmp_path / "b"), jobs=2)
    assert serial.failed == parallel.failed == []
    pd.testing.assert_frame_equal(without_time(serial.cells), without_time(parallel.cells))
    assert json.dumps(Store(tmp_path / "a").curves(), sort_keys=True) == json.dumps(
        Store(tmp_path / "b").curves(), sort_keys=True
    )
    assert serial.cells["mistake_rate"].between(0.01, 0.6).all()


def test_few_long_cells_on_many_cores_are_told_of_threads(monkeypatch):
    monkeypatch.setattr(runner.provenance, "cores", lambda: 16)

    def hint(learner, cost=60.0, count=2, threads=1, remote=False):
        cell = SimpleNamespace(cost=cost, spec=learner_spec(learner))
        return runner.idle_cores([cell] * count, SimpleNamespace(threads=threads, remote=remote))

    assert "2 cells on 16 cores: with exec.threads=8" in hint("omkc_dd")
    silent = [hint("raker"), hint("omkc_dd", cost=1.0), hint("omkc_dd", count=9), hint("omkc_dd", threads=2)]
    assert [*silent, hint("omkc_dd", remote=True)] == [""] * 5


@pytest.mark.parametrize(
    ("source", "kernel", "own"),
    [("", {"kind": "linear"}, False), ("hash", {"kind": "linear"}, True), ("", {"source": "hash"}, True)],
)
def test_what_a_user_compiled_runs_in_a_process_of_its_own(plan, source, kernel, own):
    pool, spec = {"kernels": [kernel]}, learner_spec("omkc_dd")
    cell = SimpleNamespace(source=source, cost=0.0, kernel_pool=pool, spec=spec, params={})
    assert (runner.executor_for(plan, [cell, cell], 2).name == "loky") is own


def test_a_stack_does_where_a_member_is_of_a_user(plan, tmp_path, monkeypatch):
    estimator = "estimator: 'sklearn.naive_bayes:GaussianNB'"
    about = f"about: {{label: x, cite: x, task: classification, revision: 1, {estimator}}}"
    monkeypatch.setenv(EXTENSIONS, str(write(tmp_path / "mine", {"conf/algo/other.yaml": about})))
    for words, own in ((["auto"], False), (["auto", "other"], True)):
        params = {"members": words}
        stack = SimpleNamespace(
            source="hash", cost=0.0, kernel_pool=None, spec=learner_spec("stack"), params=params
        )
        assert (runner.executor_for(plan, [stack, stack], 2).name == "loky") is own
