"""The dry run: what is done, what would run, and the seconds of what the store has."""

import json
from dataclasses import replace

import pytest
from support.runner_plans import POOL, make_plan

from omkl.api.dry_run import dry_run
from omkl.cli import main
from omkl.config import Setting
from omkl.config import plan as plan_of
from omkl.runs import runner


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Two learners and a yardstick on two small sets, 4 repetitions: 24 cells."""
    return make_plan(tmp_path, monkeypatch)


def rows_of(plans, **options):
    """Return the rows of a dry run as plain data."""
    return dry_run(plans, **options)[1]


def test_nothing_runs_and_nothing_is_written(plan):
    rows = rows_of([plan])
    assert [(row["data"], row["algo"], row["cells"], row["done"], row["to run"]) for row in rows] == [
        (data, algo, 4, 0, 4) for data in ("one", "two") for algo in ("omkc_dd", "omkc_ss", "majority")
    ]
    assert {row["seconds each"] for row in rows} == {None}
    assert not plan.store.exists()


def test_what_the_store_has_is_counted_with_its_seconds(plan):
    stored = runner.run_plan(replace(plan, reps=2), jobs=1).cells["seconds"].iloc[0]  # the fakes' own
    rows = rows_of([plan])
    assert {(row["done"], row["to run"]) for row in rows} == {(2, 2)}
    assert [row["seconds each"] for row in rows] == [pytest.approx(stored)] * 6
    other = replace(plan, settings=(Setting("omkc_dd", {"beta": 0.5}, POOL),), yardsticks=())
    assert {(row["done"], row["seconds each"]) for row in rows_of([other])} == {(0, None)}
    assert sum(row["to run"] for row in rows_of([replace(plan, reps=2)])) == 0
    assert sum(row["to run"] for row in rows_of([replace(plan, reps=2)], fresh=True)) == 12
    assert sum(row["cells"] for row in rows_of([plan, plan])) == 24  # a cell of two plans is one


def test_a_size_that_is_not_known_yet_is_said(tmp_path):
    words = ["algo=bomkc_rbp", "data=wdbc", "reps=2", "yardsticks=[]", f"store={tmp_path}"]
    _, rows, remarks = dry_run([plan_of([*words, "algo.budget={match:bomkc_spa}"])])
    assert remarks == [
        "a budget matches the size of bomkc_spa, which is not known yet: some of its cells may be done"
    ]
    assert [(row["algo"], row["to run"]) for row in rows] == [("bomkc_spa", 2), ("bomkc_rbp", 2)]


def test_the_command_prints_cells_and_totals(tmp_path, capsys):
    words = ["run", "algo=arow", "data=wdbc", "reps=3", "yardsticks=[]", f"store={tmp_path / 'none'}"]
    assert main([*words, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "3 cells: 0 in the store, 3 to run" in out
    assert main([*words, "--dry-run", "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [row["to run"] for row in made] == [3]
    assert main(["figure", "curve", "algo=arow", "--dry-run"]) == 2
    assert "--dry-run is for a paper's figure" in capsys.readouterr().err
    assert main(["table", "bomkl/3", "--dry-run"]) == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", [["run", "reps=2"], ["tune"]])
def test_data_that_would_be_downloaded_are_counted_by_their_entry(
    tmp_path, monkeypatch, shared_data, capsys, command
):
    words = [*command, "algo=omkc_dd", "data=svmguide3", f"store={tmp_path / 'none'}", "--dry-run"]
    words += ["--format", "json"] if command[0] == "run" else []
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    assert main(words) == 0
    here = capsys.readouterr().out
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("OMKL_OFFLINE", "")
    monkeypatch.setenv("OMKL_MIRROR", "http://127.0.0.1:9")
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert not (tmp_path / "cache" / "files").exists()
    if command[0] == "run":
        assert json.loads(out) == json.loads(here)
    else:
        assert "to be downloaded first: svmguide3" in err
    monkeypatch.setenv("OMKL_MIRROR", "")
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    assert main(words) == 2  # as the command itself
    assert "data set svmguide3 not found" in capsys.readouterr().err
