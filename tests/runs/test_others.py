"""Two runs on one store at once: each takes the cells that the other has finished."""

import os
from dataclasses import replace

import pytest
from support import runner_fakes
from support.results_lines import line
from support.runner_plans import make_plan, without_time

from omkl.runs import other_runs, runner
from omkl.runs.cells import expand
from omkl.runs.other_runs import Others, in_own_order
from omkl.runs.workers import Serial
from omkl.store.lines import encode_cell
from omkl.store.store import Store


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Two learners and a yardstick on two small sets, 4 repetitions: 24 cells."""
    monkeypatch.setattr(other_runs, "SHARE", 0)
    return replace(make_plan(tmp_path, monkeypatch), exec={"name": "serial", "threads": 1})


def beside(plan, monkeypatch, first=1):
    """Let another run of all cells go through while this one is in its first cells; returns its outcome."""
    begun, ends = [], []

    def run_cell(job):
        begun.append(job)
        if len(begun) == first and not ends:
            monkeypatch.setattr(runner, "run_cell", runner_fakes.run_cell)
            ends.append(runner.run_plan(plan, progress=False))
        return runner_fakes.run_cell(job)

    monkeypatch.setattr(runner, "run_cell", run_cell)
    return begun, ends


def test_a_run_takes_what_another_finishes_meanwhile_and_says_so(plan, monkeypatch, capsys):
    begun, ends = beside(plan, monkeypatch, first=3)
    outcome = runner.run_plan(plan)
    assert (outcome.requested, outcome.ran, outcome.reused, len(begun)) == (24, 3, 21, 3)
    assert (ends[0].ran, ends[0].reused) == (22, 2)  # the third cell was running
    said = "another run on the same store finished 21 cells meanwhile; they were not run again\n"
    assert capsys.readouterr().err == said
    assert len(list(Store(plan.store).lines("cells"))) == 25
    alone = runner.run_plan(replace(plan, store=plan.store.with_name("alone")), progress=False)
    assert without_time(outcome.cells).equals(without_time(alone.cells))


def test_a_cell_that_is_finished_while_its_data_are_read_is_not_run_again(plan, monkeypatch):
    cell = expand(plan)[0]
    alone = runner.run_plan(replace(plan, store=plan.store.with_name("alone")), progress=False)
    assert alone.ran == 24
    (raw,) = Store(plan.store.with_name("alone")).raw_lines("cells", [cell.key])
    (plan.store / "cells").mkdir(parents=True)
    own = type(cell.data).load

    def load(data, *args):
        (plan.store / "cells" / "other.jsonl").write_bytes(raw[0])
        return own(data, *args)

    monkeypatch.setattr(type(cell.data), "load", load)
    ran = []
    assert other_runs.unless_finished(plan.store, "own", 0.0, ran.append, cell) == other_runs.TAKEN
    assert ran == []


def test_a_fresh_run_takes_nothing(plan, monkeypatch, capsys):
    begun, _ = beside(plan, monkeypatch)
    outcome = runner.run_plan(plan, fresh=True)
    assert (outcome.ran, len(begun)) == (24, 24)
    assert capsys.readouterr().err == ""


def test_what_others_write_is_read_line_by_line(tmp_path):
    own, other = Store(tmp_path), Store(tmp_path)
    own.open()
    (tmp_path / "cells" / "old.jsonl").write_bytes(encode_cell(line(4)))
    os.utime(tmp_path / "cells" / "old.jsonl", (1e9, 1e9))  # it was seen when the run began
    watch = Others(tmp_path, own.name, 1.5e9)
    watch._due = -1.0
    keys = [line(number)["key"] for number in range(5)]

    def finished():
        watch._due = 0.0
        return [watch.finished(key) for key in keys]

    own.append(line(0))
    assert finished() == [False] * 5  # its own do not count
    other.append(line(1))
    other.append(line(2, "failed"))
    assert finished() == [False, True, False, False, False]
    raw = encode_cell(line(3))
    with open(tmp_path / "cells" / other.name, "ab") as file:
        file.write(b"torn\n" + raw[:50])
        file.flush()
        assert not finished()[3]
        file.write(raw[50:])
    assert finished()[3]
    other.append(line(4))
    other.close()
    assert finished() == [False, True, False, True, True]
    forged = encode_cell(line(2)).replace(b'"mistakes":30', b'"mistakes":3')
    (tmp_path / "cells" / "merged.jsonl").write_bytes(forged)
    assert not finished()[2]
    own.close()


def test_only_a_run_that_is_not_alone_has_an_order_of_its_own(tmp_path):
    cells = list(range(30))
    with Store(tmp_path) as first, Store(tmp_path) as second:
        first.open()
        assert in_own_order(cells, tmp_path, first.name) == cells
        second.open()
        mixed = in_own_order(cells, tmp_path, second.name)
        assert mixed != cells
        assert sorted(mixed) == cells
        assert mixed == in_own_order(cells, tmp_path, second.name)


@pytest.mark.slow
def test_workers_look_for_themselves(plan, monkeypatch):
    monkeypatch.setattr(runner, "SMALL_WORK", -1.0)
    with Store(plan.store) as other:
        other.open()
        cells = {cell.key: cell for cell in expand(plan)}
        alone = runner.run_plan(replace(plan, store=plan.store.with_name("alone")), jobs=1)
        done = Store(plan.store.with_name("alone")).lines("cells")
        monkeypatch.setattr(Store, "done", lambda self, keys: set())  # as if they were finished since
        for one in list(done)[:20]:
            own, shared = one.own, one.shared
            provenance = {**shared["provenance"], "time": own["time"], "load": own["load"]}
            other.append({**own, **shared, "provenance": provenance})
        outcome = runner.run_plan(replace(plan, exec={"name": "loky", "jobs": 2}), jobs=2)
    assert (outcome.ran, outcome.reused) == (4, 20)
    assert len(alone.cells) == len(outcome.cells) == len(cells)


def test_an_executor_on_other_machines_gets_the_plain_function(plan, monkeypatch):
    given = []

    class Remote(Serial):
        remote = True

        def run(self, function, jobs):
            given.append(function)
            return super().run(function, jobs)

    monkeypatch.setattr(runner, "executor_for", lambda *_: Remote())
    assert runner.run_plan(plan).ran == 24
    assert given == [runner.run_cell]
