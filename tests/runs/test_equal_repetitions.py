"""In file order, the repetitions of a learner that draws nothing would be equal: one of them is run."""

import json
from dataclasses import replace

import pytest

from omkl.cli import main
from omkl.config import learner_spec, plan
from omkl.publications import Selection, find_item
from omkl.publications.claims import check_claims
from omkl.publications.compare import compare_rows
from omkl.publications.selection import plans_of
from omkl.runs.cells import expand
from omkl.runs.status import status_of
from omkl.runs.tuning import races, rule_from
from omkl.store import Store

REPS = 6
NOTE = "order=file: arow draws nothing, so its 6 repetitions would be equal: 1 is run"
PAPER = """
title: A paper
cite: by someone
runs:
  both: {words: {algo: [arow, omkc_ss], data: wdbc, order: file, reps: 6, yardsticks: [majority]}}
  few: {words: {algo: [arow], data: wdbc, order: file, reps: 2, yardsticks: []}}
tables:
  "1": {title: "Results on {data}", kind: results, runs: [few, both]}
claims:
  first: {title: one, kind: less, runs: [both], left: "OMKC(S,S)", right: AROW, measure: mistake_pct,
          significant: true}
"""


@pytest.fixture
def words(tmp_path):
    return ["data=wdbc", "order=file", f"reps={REPS}", "yardsticks=[]", f"store={tmp_path}", "exec=serial"]


@pytest.mark.parametrize(
    ("learner", "more", "reps"),
    [
        ("arow", [], 1),
        ("omkc_dd", [], 1),
        ("arow", ["order=permuted"], REPS),
        ("omkc_ss", [], REPS),  # draws
        ("arow", ["data=drift"], REPS),  # generated anew in each repetition
        ("okr", ["data=drift_numbers"], REPS),
        ("arow", ["test=0.2", "rounds=300"], 1),
    ],
)
def test_repetitions_that_would_be_equal_are_one(learner, more, reps, words):
    given = {word.partition("=")[0]: word for word in [*words, *more]}
    made = plan([f"algo={learner}", *given.values()])
    assert [cell.rep for cell in expand(made)] == list(range(reps))
    assert any("order=file" in note for note in made.about_data) == (reps == 1)


def test_of_many_learners_some_are_named():
    made = plan(["algo=arow,perceptron,omkc_dd,alma,norma,avp,omkc_ss", "data=wdbc", "order=file", "reps=2"])
    assert made.about_data[-1].startswith(
        "order=file: arow, perceptron, omkc_dd, alma, norma and 3 more draw nothing, so their 2 repetitions"
    )


def test_another_package_may_draw_what_it_does_not_say():
    assert not learner_spec("arow").draws
    assert learner_spec("omkc_ss").draws
    assert replace(learner_spec("arow"), estimator="package:Class").draws


def test_a_table_says_so_and_tests_nothing(words, capsys):
    assert main(["run", "algo=arow,omkc_ss,perceptron", *words, "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (
        NOTE.replace("arow draws nothing, so its", "arow, perceptron draw nothing, so their") in made["notes"]
    )
    rows = {row["algo"]: row for row in made["summary"]}
    assert {name: (row["reps"], row["asked"], row["complete"]) for name, row in rows.items()} == {
        "arow": (1, 1, True),
        "perceptron": (1, 1, True),
        "omkc_ss": (REPS, REPS, True),
    }
    assert not any(row["marked"] or row["p_value"] for row in rows.values())  # one order: nothing to test
    # nothing is missing, and nothing runs again
    assert main(["run", "algo=arow,omkc_ss,perceptron", *words]) == 0
    shown = capsys.readouterr()
    assert "INCOMPLETE" not in shown.out + shown.err
    assert main(["figure", "curve", "algo=arow,omkc_ss", *words, "--out", f"{words[-2][6:]}/c.svg"]) == 0
    assert "repetitions" not in capsys.readouterr().err
    (row,) = status_of(plan(["algo=arow", *words])).rows
    assert (row["cells"], row["done"]) == (1, 1)


def test_alone_it_is_a_single_pass(words, capsys):
    assert main(["run", "algo=arow", *words]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert NOTE in shown
    assert "· 1 repetition ·" in shown
    assert main(["report", "algo=arow", *words, "--out", words[-2][6:]]) == 0


def test_trials_of_the_tuner_are_one_pass(words):
    (race,) = races(plan(["algo=norma", *words]), rule_from({"trials": 3}))
    both = replace(race.rungs[0], settings=tuple(trial.setting for trial in race.trials[:2]))
    assert (race.rungs[-1].reps, len(expand(both))) == (1, 2)
    drawn, generated = (
        races(plan([f"algo={algo}", f"data={data}", *words[1:]]), rule_from({"trials": 3}))[0]
        for algo, data in (("omkc_ss", "wdbc"), ("norma", "drift"))
    )
    assert drawn.rungs[-1].reps > 1
    assert generated.rungs[-1].reps > 1


def test_a_table_of_a_paper_and_its_claims(tmp_path, monkeypatch):
    (tmp_path / "conf" / "paper").mkdir(parents=True)
    (tmp_path / "conf" / "paper" / "mine.yaml").write_text(PAPER, encoding="utf-8")
    monkeypatch.setenv("OMKL_PATH", str(tmp_path))
    paper, item = find_item("tables", "mine/1")
    work = plans_of(paper, [item], Selection(words=(f"store={tmp_path / 'store'}", "exec=serial")))
    compared = compare_rows(paper, item, work, work.run(progress=False))
    one = "order=file: arow draws nothing, so its 2 repetitions would be equal: 1 is run"
    both = "order=file: arow, majority draw nothing, so their 6 repetitions would be equal: 1 is run"
    about_order = [note for note in compared.expected.about_data if note.startswith("order=file")]
    assert sorted(about_order) == sorted([one, both])
    made = compared.summary
    assert dict(zip(made["algo"], made["asked"], strict=True)) == {"arow": 1, "omkc_ss": 6, "majority": 1}
    assert made["complete"].all()
    assert dict(zip(made["algo"], made["common"], strict=True)) == dict.fromkeys(made["algo"], 1)
    assert len(Store(tmp_path / "store").cells()) == 8
    made = check_claims(
        paper, Selection(words=(f"store={tmp_path / 'store'}", "exec=serial")), progress=False
    )
    assert (made.outcome.ran, made.outcome.reused) == (0, 8)
    (claim,) = json.loads(made.text("json"))
    assert claim["verdict"] == "undecided"  # one permutation is no test
