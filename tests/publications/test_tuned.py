"""Pages whose learners are tuned first: the winners, the rows that follow from them, and what is missing."""

import shutil
from types import SimpleNamespace

import pytest
import yaml

from omkl.cli import main
from omkl.config import learner_spec
from omkl.errors import UserError
from omkl.pages.papers import tuning_text
from omkl.paths import conf_folder
from omkl.publications import Selection, find_item, paper_names, read_paper, tuned
from omkl.publications.claims import check_claims
from omkl.publications.compare import compare_rows
from omkl.publications.paper_tables import make_table
from omkl.publications.selection import plans_of, tuned_plans
from omkl.publications.tuned import older, settings_of, tuned_runs, tuning_rule, tuning_steps, winners_file

PAGE = """
title: A page
cite: by us
runs:
  first:
    words: {algo: [arow, majority], data: [wdbc, drift], reps: 4, rounds: 300, "yardsticks": []}
    tune: {trials: 3, rungs: 2, passes: 1, least: 50, seconds: 1000}
    labels: {arow: "AROW, tuned"}
  elsewhere:
    words: {algo: not_there, data: wdbc, reps: 2}
    tune: {trials: 2}
    folder: somewhere/else
tables:
  "1": {title: "Mistakes on {data}", kind: best, runs: [first, elsewhere]}
  "2": {title: "Mistakes on {data}", kind: best, runs: [elsewhere]}
sets: {error: &e error}
figures:
  "1": {title: "Fronts of {data}", kind: pareto, cost: time, runs: [first]}
claims:
  wins: {title: "it wins", kind: less, runs: [first], left: "AROW, tuned", right: Majority class, measure: *e}
  far: {title: "it wins there", kind: less, runs: [elsewhere], left: There, right: Others, measure: *e}
"""


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """A conf folder of the test's own, with a page ``mine``."""
    folder = shutil.copytree(conf_folder(), tmp_path / "conf")
    (tmp_path / "results" / "mine").mkdir(parents=True)
    monkeypatch.setattr("omkl.conf.conf_folder", lambda: folder)
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))
    (folder / "paper" / "mine.yaml").write_text(PAGE)
    return folder


def text_of(fmt="markdown"):
    made = make_table(*find_item("tables", "mine/1"), Selection(), stored=True)
    return made.text(fmt)


def test_a_page_is_tuned_run_and_shown(conf, tmp_path, capsys, monkeypatch):
    with pytest.raises(UserError, match=r"arow on wdbc is not tuned yet; `omkl tune mine`"):
        text_of()
    assert main(["tune", "mine", "-q"]) == 0
    assert capsys.readouterr().out.startswith("wdbc, first: 2 learners tuned")
    kept = yaml.safe_load(winners_file("mine").read_text())["first"]
    assert kept.keys() == {"wdbc", "drift"}
    assert kept["wdbc"]["arow"].keys() == {"params", "reps", "revision", "ranges", "scaling"}
    assert kept["wdbc"]["arow"]["scaling"] == {"scale": "ranks"}
    text = text_of()
    assert text.count("AROW, tuned") == 2
    assert "\n4 repetitions\n" in text
    assert "NOT TUNED YET" not in text
    assert older(tuned_runs(read_paper("mine"))[0]) == []
    with monkeypatch.context() as changed:
        changed.setattr(tuned, "axes", lambda *_: [])  # nothing was ever searched of majority
        assert older(tuned_runs(read_paper("mine"))[0]) == [("wdbc", "arow"), ("drift", "arow")]
    paper = read_paper("mine")
    assert not any(step.races for step in tuning_steps(paper, tuned_plans(paper, Selection())))
    for file in [*tmp_path.glob("store/*/*.jsonl")]:  # the winners stay
        file.unlink()
    assert main(["tune", "mine", "-q"]) == 0
    assert not capsys.readouterr().out
    assert "\n4 repetitions\n" in text_of()
    assert main(["claims", "mine", "-q"]) == 0
    said = capsys.readouterr().out
    assert "2 of 2" in said
    assert "2. its runs need a folder: add --with somewhere/else" in said
    assert main(["table", "mine/2"]) == 2
    assert "mine/2: its runs need a folder: add --with somewhere/else" in capsys.readouterr().err


def test_winners_are_used_and_those_of_another_revision_are_not(conf):
    revision = learner_spec("arow").revision
    won = {"params": {"r": 0.5}, "reps": 2, "revision": revision}
    majority = {"params": {}, "reps": 9, "revision": 1}
    file = winners_file("mine")
    file.write_text(yaml.safe_dump({"first": {"wdbc": {"arow": won, "majority": majority}}}))
    paper, item = find_item("tables", "mine/1")
    run = tuned_runs(paper)[0]
    assert settings_of(run)["wdbc", "arow"].params == {"r": 0.5}
    work = plans_of(paper, [item], Selection())
    assert {(s.learner, s.params.get("r"), p.reps) for p in work.plans for s in p.settings} == {
        ("arow", 0.5, 2),
        ("majority", None, 4),  # no more than the page reports
    }
    assert {(data, learner) for _, data, learner in work.pending} == {
        ("drift", "arow"),
        ("drift", "majority"),
    }
    assert "NOT TUNED YET, so without rows: drift (all learners)" in text_of("table").replace("\n", " ")
    made = check_claims(read_paper("mine"), Selection(), stored=True)  # nothing has finished
    assert [row["verdict"] for row in made.table.records] == ["undecided", "undecided"]
    assert "drift (all learners)" in made.table.records[0]["incomplete"]
    file.write_text(yaml.safe_dump({"first": {"wdbc": {"arow": won | {"revision": revision + 1}}}}))
    assert not plans_of(paper, [item], Selection()).plans


def test_a_setting_that_two_runs_label_differently_has_two_rows(conf):
    page = yaml.safe_load(PAGE)
    page["runs"] |= {
        "again": page["runs"]["first"] | {"labels": {"arow": "AROW, again"}},
        "usual": {"words": page["runs"]["first"]["words"] | {"algo": "majority", "yardsticks": ["arow"]}},
    }
    page["tables"]["1"]["runs"] = ["first", "again", "usual"]
    (conf / "paper" / "mine.yaml").write_text(yaml.safe_dump(page))
    won = {name: {"params": {}, "revision": learner_spec(name).revision} for name in ("arow", "majority")}
    file = winners_file("mine")
    file.write_text(yaml.safe_dump({run: {"wdbc": won, "drift": won} for run in ("first", "again")}))
    paper, item = find_item("tables", "mine/1")
    work = plans_of(paper, [item], Selection())
    compared = compare_rows(paper, item, work, work.run(jobs=1, progress=False), "")
    rows = [row for row in compared.summary.to_dict("records") if row["data"] == "wdbc"]
    assert [row["label"] for row in rows] == ["AROW, tuned", "Majority class", "AROW, again"]
    assert len({row["mistake_pct_mean"] for row in rows if row["algo"] == "arow"}) == 1


def test_a_run_without_its_folder_is_left_out(conf):
    assert [run.name for run in find_item("tables", "mine/1")[1].runs] == ["first"]


def test_a_run_of_one_trial_has_no_race_and_its_labels_have_the_given_scaling(conf):
    words = '{algo: [arow, majority], data: wdbc, reps: 4, rounds: 300, scale: online, "yardsticks": []}'
    given = f"\n  given:\n    words: {words}\n    tune: {{trials: 1}}"
    page = PAGE.replace("\nruns:", f"\nruns:{given}").replace("runs: [first, elsewhere]", "runs: [given]")
    (conf / "paper" / "mine.yaml").write_text(page)
    assert main(["tune", "mine", "-q"]) == 0
    assert "given" not in yaml.safe_load(winners_file("mine").read_text())
    text = text_of()
    assert "NOT TUNED YET" not in text
    assert "AROW, scale=online" in text
    assert not tuning_text(read_paper("mine"))[1]  # the rule is that of the races


def test_the_rule_is_stated(conf):
    points, exceptions = tuning_text(read_paper("mine"))
    text = " ".join(points)
    assert "Each learner has 3 trials" in text
    assert "The first 300 examples of each permutation are run, and 4 passes are reported (fewer" in text
    assert "1000 s" in text
    assert not exceptions


def test_a_page_says_which_learners_were_tuned_in_other_ranges(conf):
    own = {"params": {}, "revision": learner_spec("arow").revision, "ranges": "00000000"}
    old = {name: value for name, value in own.items() if name != "ranges"}
    kept = {"first": {"wdbc": {"arow": own, "gone": own}, "drift": {"arow": old}}}
    winners_file("mine").write_text(yaml.safe_dump(kept))
    said = "have changed since they were tuned: arow on wdbc. `omkl tune mine --fresh` tunes all again."
    assert said in " ".join(tuning_text(read_paper("mine"))[1])


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("{trails: 3}", "unknown key 'trails' (did you mean 'trials'?)"),
        ("{trials: 0}", "trials=0: must be a whole number"),
        ("{fewest: x}", "must be a whole number"),
    ],
)
def test_a_faulty_rule_names_the_run(conf, rule, says, capsys):
    text = PAGE.replace("{trials: 3, rungs: 2, passes: 1, least: 50, seconds: 1000}", rule)
    (conf / "paper" / "mine.yaml").write_text(text)
    assert main(["tune", "mine", "-q"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "runs.first.tune" in error


@pytest.mark.parametrize("name", [name for name in paper_names() if tuned_runs(read_paper(name))])
def test_the_committed_winners_are_of_runs_and_learners_that_the_page_has(name):
    for run in tuned_runs(read_paper(name)):
        tuning_rule(run)
        for (data, learner), won in settings_of(run).items():
            spec = learner_spec(learner)
            assert data in run.data
            assert {
                key: spec.hyperparameters[key].check(own) for key, own in won.params.items()
            } == won.params


@pytest.mark.parametrize(("trials", "reps"), [(5, 2), (1, 10)])
def test_the_seconds_of_a_rule_cut_the_repetitions_of_what_was_tuned(trials, reps):
    race = SimpleNamespace(held=SimpleNamespace(reps=10))
    end = SimpleNamespace(race=race, pass_seconds=2.0, trials=trials)
    assert tuned._reps(end, tuned.Cuts(seconds=4.0)) == reps
