"""The dry run: what is done, what would run, and how the estimate follows from the store."""

import json
from dataclasses import replace

import pytest
from support.runner_plans import POOL, make_plan, write_data

from omkl.api import dry_run as module
from omkl.cli import main
from omkl.config import Setting
from omkl.config import plan as plan_of
from omkl.data import find
from omkl.runs import runner


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Two learners and a yardstick on two small sets, 4 repetitions: 24 cells."""
    monkeypatch.setattr(module, "not_compiled", lambda settings: [])
    return make_plan(tmp_path, monkeypatch)


def estimate(plans, **options):
    """Return the cells and the estimates of a dry run as plain data."""
    return module.dry_run(plans, **options)[1]


def test_nothing_runs_and_nothing_is_written(plan):
    made = estimate([plan], jobs=1)
    assert [
        (row["data"], row["algo"], row["cells"], row["done"], row["to run"]) for row in made["cells"]
    ] == [(data, algo, 4, 0, 4) for data in ("one", "two") for algo in ("omkc_dd", "omkc_ss", "majority")]
    assert {row["from"] for row in made["cells"]} == {"cost model"}
    assert not plan.store.exists()
    assert made["time"] > 24 * module.CELL
    assert made["memory"] > module.PROCESS
    assert made["processes"] == 1


def test_the_store_s_seconds_are_the_estimate(plan, tmp_path):
    runner.run_plan(replace(plan, reps=2), jobs=1)
    rows = estimate([plan], jobs=1)["cells"]
    assert {(row["done"], row["to run"], row["from"]) for row in rows} == {(2, 2, "same cells")}
    stored = runner.run_plan(replace(plan, reps=2), jobs=1).cells["seconds"].iloc[0]  # the fakes' own
    assert [row["seconds each"] for row in rows] == [pytest.approx(stored)] * 6
    left = 12 * (stored + module.CELL)
    assert estimate([plan], jobs=1)["time"] == pytest.approx(left + module.START)
    other = replace(plan, settings=(Setting("omkc_dd", {"beta": 0.5}, POOL),), yardsticks=())
    assert {row["from"] for row in estimate([other])["cells"]} == {"same learner"}
    third = replace(other, data=(plan.data[0], find(write_data(tmp_path / "three.libsvm", 70, 2))))
    assert [row["from"] for row in estimate([third])["cells"]] == ["same learner"] * 2
    everything = estimate([replace(plan, reps=2)])
    assert (everything["time"], sum(row["to run"] for row in everything["cells"])) == (0.0, 0)
    assert sum(row["to run"] for row in estimate([replace(plan, reps=2)], fresh=True)["cells"]) == 12


def test_a_size_that_is_not_known_yet_is_assumed_and_said(tmp_path):
    words = ["algo=bomkc_rbp", "data=wdbc", "reps=2", "yardsticks=[]", f"store={tmp_path}"]
    made = estimate([plan_of([*words, "algo.budget={match:bomkc_spa}"])])
    assert made["assumed"] == ["bomkc_spa"]
    assert [(row["algo"], row["to run"]) for row in made["cells"]] == [("bomkc_spa", 2), ("bomkc_rbp", 2)]


def test_the_state_that_a_learner_has_whatever_the_stream_is_part_of_the_memory(tmp_path):
    rows = "".join(f"{i % 5} 1:{i} 2:{i % 7}\n" for i in range(40))
    (tmp_path / "mine.libsvm").write_text(rows)
    words = ["algo=ridge_features", f"data={tmp_path / 'mine.libsvm'}", "task=regression", "reps=1"]
    words += ["yardsticks=[]", f"store={tmp_path / 'store'}"]
    small, large = (estimate([plan_of([*words, f"algo.D={D}"])])["memory"] for D in (2, 2000))
    more = [8 * (3 * 2 * D + 2 * D + (2 * D) ** 2) for D in (2, 2000)]  # frequencies, parameters, inverse
    assert large - small == more[1] - more[0]


def test_the_command_prints_cells_and_totals(tmp_path, capsys):
    words = ["run", "algo=arow", "data=wdbc", "reps=3", "yardsticks=[]", f"store={tmp_path / 'none'}"]
    assert main([*words, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "cells   3: 0 in the store, 3 to run" in out
    assert "time    about" in out
    assert "memory  about" in out
    assert main([*words, "--dry-run", "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [row["to run"] for row in made["cells"]] == [3]
    assert made["time"] > 3 * made["cells"][0]["seconds each"]
    assert main(["figure", "curve", "algo=arow", "--dry-run"]) == 2
    assert "--dry-run is for a paper's figure" in capsys.readouterr().err
    assert main(["table", "bomkl/3", "--dry-run"]) == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", [["run", "reps=2"], ["tune"]])
def test_data_that_would_be_downloaded_are_estimated_from_their_entry(
    tmp_path, monkeypatch, shared_data, capsys, command
):
    words = [*command, "algo=omkc_dd", "data=svmguide3", f"store={tmp_path / 'none'}", "--dry-run"]
    words += ["--format", "json"] if command[0] == "run" else []
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    assert main(words) == 0
    here = capsys.readouterr().out
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("OMKL_MIRROR", str(shared_data))
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert not (tmp_path / "cache" / "files").exists()
    if command[0] == "run":
        assert json.loads(out)["cells"] == json.loads(here)["cells"]
        assert json.loads(out)["memory"] == json.loads(here)["memory"]
    else:
        assert "to be downloaded first, estimated from the registered size: svmguide3" in err
    monkeypatch.setenv("OMKL_MIRROR", "")
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    assert main(words) == 2  # as the command itself
    assert "data set svmguide3 not found" in capsys.readouterr().err
