"""The papers' tables and figures: their conf, selections of them, ours next to the published numbers."""

import csv
import json
import math
from dataclasses import replace

import pytest
from support import ROOT

from omkl import conf
from omkl.cli import main
from omkl.errors import UserError
from omkl.pages.papers import paper_answer
from omkl.paths import extended, published_folder
from omkl.publications import Selection, find_item, paper_names, read_paper
from omkl.publications.compare import Value, compare_rows, published_values
from omkl.publications.selection import plans_of
from omkl.runs.runner import stored_plans

PAPERS = pytest.mark.parametrize("name", paper_names())
GERMAN = pytest.mark.usefixtures("shared_data")


# ------------------------------------------------------------------ the conf


@PAPERS
def test_a_figure_needs_runs(name):
    assert all(item.runs for item in read_paper(name).figures.values())


@PAPERS
def test_claims_and_notes_speak_of_rows_that_their_runs_make(name):
    from omkl.config import learner_spec, learner_specs
    from omkl.publications import claims

    def labels(item):
        known = {spec.label for spec in learner_specs().values() if spec.yardstick}
        for run in item.runs:
            algos = run.words["algo"]
            for learner in [algos] if isinstance(algos, str) else algos:
                known.add(run.labels.get(learner, learner_spec(learner).label))
        return known

    folders = {run["folder"] for run in conf.read("paper", name)["runs"].values() if "folder" in run}
    with extended(ROOT / folder for folder in sorted(folders)):
        paper = read_paper(name)
        for item in paper.claims.values():
            for key in ("left", "right", "label", "order"):
                named = item.options.get(key, [])
                for label in [named] if isinstance(named, str) else named:
                    assert label in labels(item) | {claims.OTHERS}, (item.number, label)
        for item in paper.tables.values():
            for note in item.options.get("notes", []):
                named = note.row or []
                assert ({named} if isinstance(named, str) else set(named)) <= labels(item), note


@PAPERS
def test_the_published_names_of_a_run_are_in_the_published_table(name):
    paper = read_paper(name)
    for item in paper.tables.values():
        if "published" in item.options:
            there = {
                key[2]
                for key in published_values(paper.published)
                if key[0] == str(item.options["published"])
            }
            for run in item.runs:
                assert set(run.published.values()) <= there


def test_published_numbers_have_every_metric_of_every_cell():
    with open(published_folder() / "bomkl.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    cells = {(line["table"], line["data"], line["algorithm"]) for line in lines}
    assert len(lines) == 3 * len(cells)
    assert len(cells) == 5 * 6 + 5 * 6


# ------------------------------------------------------------------ published values


@pytest.mark.parametrize(
    ("value", "ours", "difference", "agrees"),
    [
        (Value(35.37, 1.17, 0.01), 36.54, 1.0, True),
        (Value(35.37, 1.17, 0.01), 32.0, -2.88, False),
        (Value(50.0, 0.0, 0.01), 50.01, None, True),  # printed as 0: no unit, but a last printed digit
        (Value(50.0, 0.0, 0.01), 50.02, None, False),
        (Value(50.0, 0.0, 0.01), 47.93, None, False),
        (Value(7088.0, 0.0, 1.0), 7088, None, True),
        (Value(22.1, None, 0.1), 0.8, None, None),
    ],
)
def test_a_difference_is_counted_in_published_standard_deviations(value, ours, difference, agrees):
    assert value.difference(ours) == (None if difference is None else pytest.approx(difference, abs=0.005))
    assert value.is_near(ours) is agrees


@pytest.mark.parametrize(
    ("value", "ours", "p"),
    [
        (Value(16.10, 0.12, 0.01), (16.31, 0.08, 10, 10), 0.00031),  # within two sd, but another mean
        (Value(34.80, 1.25, 0.01), (34.80, 2.0, 3, 10), 1.0),
        (Value(7088.0, 0.0, 1.0), (7088.0, 0.0, 10, 10), 1.0),  # neither varies
        (Value(7088.0, 0.0, 1.0), (7090.0, 0.0, 10, 10), 0.0),
        (Value(34.80, 1.25, 0.01), (34.80, math.nan, 1, 10), math.nan),
        (Value(34.80, 1.25, 0.01), (34.80, 2.0, 10, 0), math.nan),  # the paper does not say how many
        (Value(22.1, None, 0.1), (0.8, 0.1, 10, 10), math.nan),
    ],
)
def test_welchs_test_takes_both_standard_deviations_and_repetitions(value, ours, p):
    assert value.welch_p(*ours) == pytest.approx(p, rel=0.02, nan_ok=True)


@pytest.mark.parametrize(
    ("value", "ours", "verdict"),
    [
        (Value(16.10, 0.12, 0.01), (16.12, 0.08, 10, 10), "agrees"),
        (Value(16.10, 0.12, 0.01), (16.31, 0.08, 10, 10), "close"),  # never "agrees" where Welch rejects
        (Value(16.10, 0.12, 0.01), (16.31, math.nan, 1, 10), "agrees"),  # without a test
        (Value(16.10, 0.12, 0.01), (16.35, 0.08, 10, 10), "differs"),
        (Value(16.10, 0.12, 0.01), (16.35, 9.00, 10, 10), "differs"),  # although Welch does not reject
    ],
)
def test_a_published_value_has_one_verdict(value, ours, verdict):
    assert value.verdict(*ours) == verdict


# ------------------------------------------------------------------ selection


def test_data_and_repetitions_are_cut():
    paper, item = find_item("tables", "omkc/3")
    work = plans_of(paper, [item], Selection(reps=3, data=("wdbc",)))
    assert [(part.run.name, str(part.plan.data[0]), part.plan.reps) for part in work.parts] == [
        ("dd", "wdbc", 3),
        ("rivals", "wdbc", 3),
    ]
    assert plans_of(paper, [item], Selection(reps=99, data=("wdbc",))).plans[0].reps == 20


def test_full_repeats_what_takes_long_as_often_as_the_rest(monkeypatch):
    monkeypatch.setattr("omkl.publications.selection._reason", lambda *_: "")  # as if the data were there
    paper, item = find_item("tables", "bomkl/1")
    for full, reps in ((False, {1, 10}), (True, {10})):
        work = plans_of(paper, [item], Selection(data=("ijcnn1", "codrna"), full=full))
        assert {plan.reps for plan in work.plans} == reps
    assert Selection(full=True, data=("codrna",)).command("table", "bomkl/1") == (
        "omkl table bomkl/1 --full data=codrna"
    )


def test_a_figure_of_a_page_has_its_learners_in_the_order_of_its_own_runs(monkeypatch):
    """A learner has one colour in all figures of a page."""
    monkeypatch.setattr("omkl.publications.selection._reason", lambda *_: "")  # as if the data were there
    monkeypatch.setattr("omkl.data.registered_data.Registered.state", "file")
    paper = read_paper("omkc")
    work = plans_of(paper, [*paper.tables.values(), *paper.figures.values()], Selection())
    runs = [part.run.name for part in work.of(paper.figures["1"]).parts]
    assert list(dict.fromkeys(runs)) == ["dd", "stochastic", "rivals"]


def test_a_command_names_the_folders_of_its_learners_and_data():
    batch = "docs/examples/batch"
    with extended([ROOT / batch]):
        _, item = find_item("tables", "auto/held_out")
        assert Selection().command("table", item.name, item) == f"omkl table auto/held_out --with {batch}"
        assert {tuple(run.commands) for run in item.runs} == {(f"omkl tune auto --with {batch}",)}
    with extended([ROOT / "docs/examples/ablations"]):
        _, item = find_item("tables", "auto/time")
        plain, *others = (run.commands for run in item.runs)
        own = "omkl run data={} order=file reps=3 algo=auto rounds={}"  # words of one data set
        assert plain == [own.format("weather", "6053:"), own.format("elec2", "15104:")]
        assert all(two.endswith(" --with docs/examples/ablations") for both in others for two in both)


def test_other_data_and_learners_next_to_the_papers():
    paper, item = find_item("tables", "bomkl/1")
    work = plans_of(paper, [item], Selection(data=("wdbc",), learners=("omkc_ss",), reps=1))
    assert work.data == ["wdbc"]
    assert [s.learner for s in work.parts[-1].plan.settings] == ["omkc_ss"]


def test_unavailable_data_are_reported_and_a_file_can_stand_in(tmp_path):
    paper, item = find_item("tables", "bomkl/1")
    work = plans_of(paper, [item], Selection(data=("kdd08",)))
    assert not work.parts
    assert "registered users" in work.how["kdd08"]
    file = tmp_path / "mine.libsvm"
    file.write_text("+1 1:1\n-1 1:-1\n")
    work = plans_of(paper, [item], Selection(data=(f"kdd08={file}",), reps=1))
    assert not work.missing
    assert {str(ref) for part in work.parts for ref in part.plan.data} == {str(file)}
    with pytest.raises(UserError, match="no file can be given for it, but for kdd08"):
        plans_of(paper, [item], Selection(data=(f"german={file}",)))
    with pytest.raises(UserError, match=r"data=kdd_08=.*no file can be given for it, but for kdd08"):
        plans_of(paper, [item], Selection(data=(f"kdd_08={file}",)))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table", "bomkl/7"], "no such table"),
        (["table", "bomkl"], "no such table; known: bomkl/1"),
        (["figure", "omkc/9"], "no such figure"),
        (["claims", "omck"], "unknown paper"),
        (["table", "bomkl/1", "pool=paper16"], "the paper's conf sets this"),
        (["table", "bomkl/1", "data=wdcb"], "neither a registered data set nor a file"),
        (["table", "bomkl/1", "algo=omkc_dx"], "unknown learner"),
        (["table", "bomkl/1", "reps=0"], "whole number from 1 to 999999"),
        (["table", "bomkl/1", "data=kdd08"], "are not available"),
        (["figure", "curve", "--quick"], "for a paper's figure"),
    ],
)
def test_a_mistake_ends_with_one_line(words, message, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("verb", [["table", "bomkl/1"], ["table", "bomkl/2"], ["figure", "bomkl/1"]])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["algo=omkc_dx"], "unknown learner"),
        (["data=kdd08", "algo=omkc_dx"], "unknown learner"),
        (["exec=lokky"], "did you mean 'loky'"),
        (["seed=-1"], "seed=-1"),
    ],
)
def test_words_are_checked_before_the_data_are_looked_for(verb, words, message, monkeypatch, capsys):
    looked_for = []
    monkeypatch.setattr("omkl.data.registered_data.Registered.load", looked_for.append)
    assert main([*verb, *words]) == 2
    out, err = capsys.readouterr()
    assert (out, looked_for) == ("", [])
    assert message in err
    assert err.count("\n") == 1


# ------------------------------------------------------------------ tables and pages


@GERMAN
def test_a_table_shows_ours_next_to_the_published(tmp_path, capsys):
    words = ["data=german,kdd08", "reps=2", "--format", "json", f"store={tmp_path}", "-j", "1"]
    assert main(["table", "bomkl/1", *words]) == 0
    rows = {(row["data"], row["label"]): row for row in json.loads(capsys.readouterr().out)["summary"]}
    u = rows["german", "OMKC(U)"]
    assert u["mistake_pct_published"] == 35.37
    assert u["n_sv_sum_published_std"] == 87.7
    assert math.isclose(u["mistake_pct_difference"], (u["mistake_pct_mean"] - 35.37) / 1.17)
    assert u["verdict"] == "agrees"
    assert u["reps"] == u["asked"] == 2
    sd = rows["german", "OMKC(S,D)"]
    assert "differ" in sd["verdict"]
    assert sd["note"]
    assert rows["german", "OMKC(S,D), variant=published"]["verdict"] == "agrees"
    assert rows["german", "OMKC(S,D)"]["mistake_pct_welch_p"] < u["mistake_pct_welch_p"] <= 1.0
    assert rows["german", "AROW"]["is_yardstick"]
    assert main(["table", "bomkl/1", *[word.replace("json", "markdown") for word in words]]) == 0
    text = capsys.readouterr().out
    for printed in (
        "35.37 ± 1.17",
        "6912.4 ± 87.7",
        "[1] the authors' code adds",
        "lie within two published",
        "By Welch's t-test (5 %, not corrected) ",
    ):
        assert printed in text
    lost = rows["kdd08", "OMKC(U)"]
    assert lost["verdict"] == "no data"
    assert lost["mistake_pct_published"] == 0.66
    assert lost["mistake_pct_mean"] is None
    assert "registered users" in lost["missing"]


@GERMAN
def test_a_row_without_a_repetition_agrees_with_nothing(tmp_path):
    assert main(["run", "algo=arow", "data=german", "reps=2", "yardsticks=[]", f"store={tmp_path}"]) == 0
    (paper, item), words = find_item("tables", "bomkl/1"), (f"store={tmp_path}",)
    work = plans_of(paper, [item], Selection(data=("german",), reps=2, words=words))
    rows = compare_rows(paper, item, work, stored_plans(work.plans)[0], "").summary.set_index("label")
    assert (rows["reps"]["OMKC(U)"], rows["verdict"]["OMKC(U)"]) == (0, "")
    assert rows["mistake_pct_published"]["OMKC(U)"] == 35.37


def test_sizes_that_are_not_known_are_dashes_and_empty_in_csv(capsys):
    for fmt, unknown in (("table", ["–"] * 3), ("csv", [",,,,"])):
        assert main(["table", "bomkl/3", "data=kdd08", "--format", fmt]) == 0
        out = capsys.readouterr().out
        assert "none" not in out
        assert all(text in out.replace("kdd08", "", 1) for text in unknown)


# ------------------------------------------------------------------ what a page begins with


def claim(text, verdict):
    return {"text": text, "verdict": verdict}


@pytest.mark.parametrize(
    ("changes", "verdicts", "claims", "answer"),
    [
        (
            {"answer": ("The pool.", "The seed.")},
            ["agrees", "close", "differs"],
            [claim("a", "holds"), claim("b", "no difference"), claim("beyond the paper: c", "undecided")],
            [
                "2 of 3 published values (mistakes and #SV) lie within two published standard deviations (1 "
                "agree by Welch's t-test, 5 %, not corrected), 1 of 2 claims hold, 0 of 1 beyond the paper "
                "(1 undecided). The values further away have two reasons:",
                "The pool.",
                "The seed.",
            ],
        ),
        (
            {"instead": "It prints curves."},
            [],
            [claim("a", "holds"), claim("as printed: a", "does not hold"), claim("b: c", "holds")],
            ["2 of 2 claims hold, 0 of 1 as printed. It prints curves."],
        ),
        ({"answer": ("A surprise.",)}, [], [], ["A surprise."]),
    ],
)
def test_a_page_begins_with_what_was_counted_and_why(changes, verdicts, claims, answer):
    paper = replace(read_paper("omkl"), **{"answer": (), "instead": "", **changes})
    assert paper_answer(paper, verdicts, claims) == answer


@PAPERS
def test_a_paper_says_what_a_reader_takes_home_and_what_stands_in_for_numbers(name):
    paper = read_paper(name)
    assert 1 <= len(paper.answer) <= 5
    assert bool(paper.instead) is (name in ("adaraker", "norma", "omkc", "omkl"))
