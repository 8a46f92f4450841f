"""Each kind of a paper's table in each format, complete or not; kinds and titles that conf/paper names."""

import csv
import dataclasses
import io
import json
import shutil
import sys
import warnings

import numpy as np
import pytest
from scipy.stats import ttest_rel

from omkl.cli import main
from omkl.errors import UserError
from omkl.paths import conf_folder
from omkl.publications import Selection, digest, find_item, paper_names, paper_tables, read_paper
from omkl.publications.claims import check_claims
from omkl.publications.compare import compare_rows
from omkl.publications.paper import KINDS, Item
from omkl.publications.paper_figures import draw_item, figure_of
from omkl.publications.paper_tables import make_table
from omkl.publications.selection import PaperPlans, plans_of
from omkl.reports.table import FORMATS

PAPER = """
title: A paper
cite: by someone
published: null
unavailable: {lost: {title: lost data, how: "ask the authors"}}
runs:
  two: {words: {algo: [omkc_dd, omkc_ss], data: [wdbc, lost], reps: 3}}
  swept: {words: {algo: omkc_dd, data: wdbc, reps: 3, algo.beta: [0.5, 0.8]}}
  budgets:
    words: {algo: [bomkc_rbp, bomkc_bogd], data: [wdbc, drift], reps: 2, algo.budget: 40}
    per_data: {wdbc: {algo.budget: 30}}
  cheap:
    words: {algo: [arow, perceptron, majority, alma], data: [wdbc, drift], reps: 2, rounds: 300}
tables:
  "1": {title: "Results on {data}", kind: results, runs: [two]}
  "2": {title: "Times on {data}", kind: times, runs: [two], base: "OMKC(D,D)"}
  "3": {title: "Tuned on {data}", kind: tuning, runs: [swept]}
  "4": {title: "Sizes of {data}", kind: sizes, data: [wdbc, lost]}
  "5": {title: "The best on {data}", kind: best, runs: [two]}
  "wide": {title: "More of {data}", kind: results, runs: [two], columns: [kappa]}
  "auc": {title: "AUC on {data}", kind: best, runs: [two], by: auc, columns: [f1, kappa]}
  "matrix": {title: "Learners on {data}", kind: matrix, runs: [two, cheap]}
  "digest":
    title: What to take
    kind: digest
    lines:
    - {problem: anything, runs: [two]}
    - {problem: two classes, runs: [cheap]}
figures:
  "1": {title: "Mistakes on {data}", kind: curves, runs: [two], measure: mistake_pct}
  "ranks": {title: "Ranks over {data}", kind: ranks, runs: [budgets]}
  "auc": {title: "Fronts of {data}", kind: pareto, cost: memory, by: auc, runs: [two]}
  "ranks_auc": {title: "Ranks over {data}", kind: ranks, by: auc, runs: [budgets]}
claims:
  first: {title: "one", kind: less, runs: [two], left: "OMKC(D,D)", right: "OMKC(S,S)", measure: mistake_pct}
"""
ITEMS = {"results": "mine/1", "times": "mine/2", "tuning": "mine/3", "sizes": "mine/4", "best": "mine/5"}
ITEMS |= {"digest": "mine/digest", "matrix": "mine/matrix"}


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """A conf folder of the test's own, with a paper ``mine``."""
    folder = shutil.copytree(conf_folder(), tmp_path / "conf")
    monkeypatch.setattr("omkl.conf.conf_folder", lambda: folder)
    (folder / "paper" / "mine.yaml").write_text(PAPER)
    return folder


def done(paper, item, chosen):
    """The work of the last run of an item, and its outcome."""
    work = plans_of(paper, [dataclasses.replace(item, runs=item.runs[1:])], chosen)
    return work, work.run(progress=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


def selection(store, **more) -> Selection:
    return Selection(data=("wdbc",), words=(f"store={store}", "exec=serial"), **more)


def lose_a_repetition(monkeypatch):
    """Let every run lose the last of three repetitions of OMKC(D,D)."""
    run = PaperPlans.run

    def partly(work, **how):
        outcome = run(work, **how)
        lost = outcome.cells[(outcome.cells["algo"] == "omkc_dd") & (outcome.cells["rep"] == 2)].index
        return dataclasses.replace(outcome, cells=outcome.cells.drop(lost).reset_index(drop=True))

    monkeypatch.setattr(PaperPlans, "run", partly)


def test_every_kind_is_tried_here():
    assert ITEMS.keys() == KINDS["tables"].keys()


@pytest.mark.parametrize("kind", ITEMS)
def test_every_kind_of_table_takes_every_format(conf, store, kind):
    made = make_table(*find_item("tables", ITEMS[kind]), selection(store), progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a crowded machine
        texts = {fmt: made.text(fmt) for fmt in FORMATS}
    content = json.loads(texts.pop("json"))
    assert "wdbc" in json.dumps(content)
    assert kind == "sizes" or "notes" in content
    lines = list(csv.DictReader(io.StringIO(texts.pop("csv"))))
    assert {line["data"] for line in lines} == {"wdbc"} if "data" in lines[0] else "wdbc" in lines[0]
    for text in texts.values():
        assert text.endswith("\n")
        assert "wdbc" in text
        assert made.title in text
    with pytest.raises(UserError, match="unknown format 'xml'"):
        made.text("xml")


@pytest.mark.parametrize("kind", [kind for kind in ITEMS if kind != "sizes"])
def test_every_kind_of_table_says_that_it_is_incomplete(conf, store, kind, monkeypatch):
    lose_a_repetition(monkeypatch)
    made = make_table(*find_item("tables", ITEMS[kind]), selection(store), progress=False)
    for fmt in FORMATS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            text = made.text(fmt)
        if fmt == "csv":
            text = " ".join(str(warning.message) for warning in caught)
        assert "INCOMPLETE: OMKC(D,D)" in " ".join(text.replace("\\", "").split()), fmt
        assert "on wdbc 2 of 3" in " ".join(text.replace("\n%", "").split()), fmt


def test_sizes_say_how_to_obtain_unavailable_data(conf):
    made = make_table(*find_item("tables", "mine/4"), Selection())
    assert all("ask the authors" in made.text(fmt) for fmt in FORMATS)


def test_claims_say_that_they_are_incomplete(conf, store, monkeypatch):
    complete = check_claims(read_paper("mine"), selection(store), progress=False)
    assert "INCOMPLETE" not in "".join(complete.text(fmt) for fmt in FORMATS)
    lose_a_repetition(monkeypatch)
    made = check_claims(read_paper("mine"), selection(store), progress=False)
    for fmt in FORMATS:
        assert "INCOMPLETE: OMKC(D,D) on wdbc 2 of 3" in " ".join(made.text(fmt).split())


FURTHER_CLAIMS = """
  second: {title: "two", kind: less, runs: [cheap], left: AROW, right: ALMA, measure: mistake_pct}
  third: {title: "3", kind: less, runs: [cheap], data: wdbc, left: AROW, right: ALMA, measure: mistake_pct}
  fourth: {title: "four", kind: within, runs: [rare], left: NORMA, measure: mistake_pct, low: 0}
"""


def test_a_claim_s_runs_are_made_on_the_data_that_are_named_or_it_is_not_about_them(conf, store):
    """drift is listed by the runs of the second claim only; the fourth is about novelties."""
    rare = "runs:\n  rare: {words: {algo: norma_novelty, data: usps_train, order: file, reps: 1}}"
    text = PAPER.replace("runs:", rare, 1) + FURTHER_CLAIMS.lstrip("\n")
    (conf / "paper" / "mine.yaml").write_text(text)
    chosen = dataclasses.replace(selection(store), data=("drift",))
    made = check_claims(read_paper("mine"), chosen, progress=False)
    first, second, third, fourth = made.table.records
    assert [row["of"] for row in (first, second)] == [1, 1]
    assert third["numbers"] == "not about drift, but about wdbc"
    assert fourth["numbers"] == "not about drift, but about usps_train"
    assert made.outcome.ran == made.outcome.requested == (2 + 3) * 3 + 4 * 2  # with the yardsticks
    assert "INCOMPLETE" not in made.text("table")


@pytest.mark.parametrize(
    ("old", "new", "words", "where"),
    [
        ("kind: results", "kind: result", ["table", "mine/1"], "tables.1.kind: unknown kind 'result'"),
        ("kind: curves", "kind: curve", ["figure", "mine/1"], "figures.1.kind: unknown kind 'curve'"),
        ("kind: less", "kind: lesser", ["claims", "mine"], "claims.first.kind: unknown kind 'lesser'"),
    ],
)
def test_an_unknown_kind_is_reported_with_file_key_and_the_known_kinds(conf, old, new, words, where, capsys):
    (conf / "paper" / "mine.yaml").write_text(PAPER.replace(old, new))
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert f"conf/paper/mine.yaml: {where}" in err
    assert "did you mean" in err
    assert "; known: " in err
    assert err.count("\n") == 1


def test_a_digest_has_the_least_error_over_the_best_and_what_is_level_with_it(conf, store, monkeypatch):
    paper, item = find_item("tables", "mine/digest")
    every = dataclasses.replace(selection(store), data=("wdbc", "drift"))
    rows = compare_rows(paper, Item("", "", "", "best", item.runs[1:], {}), *done(paper, item, every)).summary
    rows = rows[~rows["is_yardstick"]]
    logs = np.log(rows.pivot(index="data", columns="label", values="mistake_pct_mean"))
    over = np.exp((logs - logs.min(axis=1).to_numpy()[:, None]).mean()).sort_values()
    named = [f"{name} {error:.2f}" for name, error in over.items()]

    def answer():
        return make_table(paper, item, every, progress=False).table.flat().to_dict("records")[1]

    assert answer()["take"] == "not decided"  # of two data sets
    assert answer()["level with it"] == "; ".join(named)
    assert float(answer()["error"]) == pytest.approx(over.iloc[0], abs=5e-4)
    assert float(answer()["µs"]) > 0.0
    monkeypatch.setattr(digest, "ENOUGH", 2)
    p = {name: ttest_rel(logs[over.index[0]], logs[name]).pvalue for name in over.index[1:]}
    assert answer()["take"] == "not decided"
    level = [name for name in named if not p.get(name.rpartition(" ")[0], 1) < 0.05]
    assert answer()["level with it"] == "; ".join(level)
    monkeypatch.setattr(digest, "ALPHA", 1.0)  # all that differ at all
    assert answer()["take"] == over.index[0]
    assert answer()["level with it"] == ""


def test_a_matrix_has_the_learners_by_rank_then_the_yardsticks(conf, store):
    paper, item = find_item("tables", "mine/matrix")
    item = dataclasses.replace(item, runs=item.runs[1:])
    every = dataclasses.replace(selection(store), data=("wdbc", "drift"))
    made = make_table(paper, item, every, progress=False).table
    assert [column.name for column in made.columns] == ["learner", "rank", "wdbc", "drift"]
    rows = [[str(cell) for cell in row.cells] for row in made.rows]
    assert [row[0] for row in rows] == ["ALMA", "AROW", "Perceptron", "Majority class"]
    assert sorted(float(row[1]) for row in rows) == [1.0, 2.5, 2.8, 3.8]
    assert [row.rule for row in made.rows] == [None, "yardsticks", None, None]
    every = list(csv.DictReader(io.StringIO(made.render("csv"))))
    assert [(row["learner"], f"{float(row['rank']):.1f}") for row in every] == sorted(
        ((row[0], row[1]) for row in rows), key=lambda own: float(own[1])
    )
    assert {row["sets"] for row in every} == {"2"}


def test_by_is_the_measure_that_marks_a_table_and_columns_are_further_ones(conf, store):
    paper, item = find_item("tables", "mine/auc")
    made = make_table(paper, item, selection(store), progress=False)
    names = [column.name for column in made.table.columns]
    assert names[:6] == ["data", "learner", "mistake_pct", "kappa", "auc", "n_sv_sum"]
    assert "f1" in names
    assert [column.name for column in made.table.columns if column.marks] == ["auc"]
    best = json.loads(made.text("json"))["best"]
    largest = max(row["auc_mean"] for row in best)
    assert [row["auc_mean"] for row in best if row["best"]] == [largest]
    wide = make_table(*find_item("tables", "mine/wide"), selection(store), progress=False)
    assert "kappa" in [column.name for column in wide.table.columns]


def test_by_is_the_measure_of_fronts_and_ranks(conf, store):
    chosen = Selection(words=(f"store={store}", "exec=serial"))
    front, _, _ = figure_of(*find_item("figures", "mine/auc"), selection(store), progress=False)
    (axes,) = front.draw().axes
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("AUC", "memory of one pass (MiB)")
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # more is better
    ranked, _, _ = figure_of(*find_item("figures", "mine/ranks_auc"), chosen, progress=False)
    assert "1: largest AUC" in ranked.ranks.caption()


# ------------------------------------------------------------------ titles


def test_a_title_names_the_data_that_are_shown(conf, store, tmp_path):
    from PIL import Image

    paper, item = find_item("figures", "mine/1")
    drawn = draw_item(paper, item, selection(store), str(tmp_path / "one.png"), progress=False)
    assert drawn.title == "Mistakes on wdbc"
    with Image.open(drawn.files[0]) as picture:
        assert picture.text["Title"] == "Mistakes on wdbc"
        assert picture.text["Description"] == "omkl figure mine/1 data=wdbc"
    assert item.titled(["a", "b"]) == "Mistakes on a and b"
    assert item.titled(["a", "b", "c"]) == "Mistakes on a, b and c"
    assert item.titled("abcd") == "Mistakes on 4 data sets"
    assert item.titled() == "Mistakes on wdbc and lost"


def test_the_seed_is_part_of_the_command(conf, store, tmp_path):
    from PIL import Image

    chosen = Selection(reps=1, data=("wdbc",), words=(f"store={store}", "exec=serial", "seed=7"))
    drawn = draw_item(*find_item("figures", "mine/1"), chosen, str(tmp_path / "one.png"), progress=False)
    with Image.open(drawn.files[0]) as picture:
        assert picture.text["Description"] == "omkl figure mine/1 reps=1 data=wdbc seed=7"


@pytest.mark.parametrize("name", paper_names())
def test_no_title_of_a_paper_counts_or_names_data_by_hand(name):
    paper = read_paper(name)
    for item in (*paper.tables.values(), *paper.figures.values()):
        known = {data for run in item.runs for data in run.words.get("data", ())}
        words = item.title.replace(",", " ").split()
        assert not known & set(words), item.name
        assert "sets" not in words or not item.runs or item.kind == "sizes", item.name


def test_a_budget_per_data_set_is_one_learner_of_the_ranks(conf, store, tmp_path):
    paper, item = find_item("figures", "mine/ranks")
    chosen = Selection(words=(f"store={store}", "exec=serial"))
    drawn = draw_item(paper, item, chosen, str(tmp_path / "ranks.svg"), progress=False)
    assert drawn.title == "Ranks over wdbc and drift"
    assert "BOMKC(RBP)" in drawn.figure.ranks.average
    assert drawn.figure.instead  # two data sets are too few for a diagram
    assert drawn.files == []


def test_the_ranks_of_bomkl_compare_five_budget_learners():
    _, item = find_item("figures", "bomkl/ranks")
    assert [run.per_data_params for run in item.runs] == [("budget",), ("beta",)]


# ------------------------------------------------------------------ a published deviation of 0


def test_a_difference_without_a_published_deviation_has_a_word(conf, store, tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text(
        "table,data,algorithm,metric,mean,std\n"
        "1,wdbc,DD,mistake_percent,50.00,0.00\n1,wdbc,DD,n_sv,100,1\n1,wdbc,DD,seconds,1.00,\n"
    )
    monkeypatch.setattr(sys.modules["omkl.publications.compare"], "published_folder", lambda: tmp_path)
    text = PAPER.replace("published: null", "published: mine", 1)
    text = text.replace("kind: results,", 'kind: results, published: "1",')
    text = text.replace("reps: 3}}\n  swept", "reps: 3}, published: {omkc_dd: DD}}\n  swept")
    (conf / "paper" / "mine.yaml").write_text(text)
    paper, item = find_item("tables", "mine/1")
    work = plans_of(paper, [item], selection(store))
    compared = compare_rows(paper, item, work, work.run(progress=False))
    shown = paper_tables.KINDS["results"](compared)
    place = [column.name for column in shown.columns].index("mistake_pct_diff")
    ours = compared.summary["mistake_pct_mean"].iloc[0]
    assert shown.rows[0].cells[place] == f"{ours - 50:+.2f} no sd"
    assert "the published standard deviation is 0" in dict(shown.terms)["no sd"]
    assert "mistakes" in compared.summary["verdict"].iloc[0]
    assert compared.summary["mistake_pct_difference"].isna().all()
