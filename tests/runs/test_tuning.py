"""Races of settings: which go on, on what, and that a race continues where it was. Learners are faked."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.runner_plans import write_data

import omkl.data
from omkl.api.call import Call
from omkl.api.tune import Study
from omkl.cli import main
from omkl.config import learner_specs
from omkl.config import plan as make_plan
from omkl.errors import Overflow, UserError
from omkl.runs import runner, tuning
from omkl.runs.runner import run_plan
from omkl.runs.search import STEP, searched_scaling
from omkl.runs.tuning import Score, _State, assumed, parts, races, rule_of, run_races
from omkl.seeds import tuning_seed

T = 90


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """The jobs that ran. AROW errs least where r is near 30, its AUC is largest near 0.3; below 0.1 it
    overflows.
    """
    jobs = []

    def run_cell(job):
        jobs.append(job)
        r = job.params.get("r", 1.0)
        if r < 0.1:
            raise Overflow("the prediction of round 3 overflowed")
        rounds = job.rounds[1] - job.rounds[0] if job.rounds else T
        mistakes = min(rounds, round(rounds * (0.1 + 0.2 * abs(math.log10(r / 30)))))
        counts = dict.fromkeys(("n_sv_sum", "n_sv_union", "n_sv_combined", "pairs", "m"), 0)
        figures = {
            "T": rounds,
            "mistakes": mistakes,
            "mistake_rate": mistakes / rounds,
            "auc": 1 - abs(math.log10(r / 0.3)) / 10,
            "seconds": rounds / 1e3,
        }
        curve = {"t": [rounds], "mistakes": [mistakes]}
        return {**figures, **counts, "n_sv_per_kernel": [], "weights": None, "curve": curve}

    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(runner, "run_cell", run_cell)
    monkeypatch.setattr(runner, "warm_up_once", lambda specs: None)
    return jobs


@pytest.fixture
def words(tmp_path):
    """A command on a file of 90 rows, 9 trials, prefixes of 10, 30 and 90; the learner is the first word."""
    data = write_data(tmp_path / "own.libsvm", T)
    return [
        "algo=arow",
        f"data={data}",
        "reps=4",
        "trials=9",
        "passes=2",
        "least=10",
        "small=0",
        "scale=none",
    ]


def started(words):
    rule, rest = rule_of(words)
    return races(make_plan(rest), rule, ["scale"] if "scale=none" in words else []), rule


def test_fewer_settings_run_on_longer_prefixes_of_permutations_that_are_not_reported(ran, words):
    (race,), _ = started(words)
    (end,), broken = run_races([race], jobs=1, progress=False)
    assert not broken
    count = Counter((job.rounds, job.rep) for job in ran)
    assert {rounds: own for (rounds, rep), own in count.items() if rep == 0} == {
        (0, 10): 5,
        (0, 30): 1,
        None: 1 + 4 + 1,  # the best of these, the others near it, and the default
    }
    assert count[None, 1] == 2  # one in nine, and the default
    assert {job.rep for job in ran} == {0, 1}
    assert {job.seed for job in ran} == {tuning_seed(1)}
    reported = {omkl.data.order_seed(race.held.data[0], "permuted", 1, rep) for rep in range(4)}
    assert not reported & {job.permutation_seed for job in ran}
    tried = {job.params["r"] for job in ran}
    assert end.setting.params["r"] == min(tried, key=lambda r: abs(math.log10(r / 30)))
    assert (end.trials, len(tried), len(race.trials)) == (9, 9, 5)
    assert end.failed == sum(r < 0.1 for r in tried) > 0
    assert race.trials[0].setting.params["r"] == 1.0


def test_a_trial_that_lost_a_permutation_is_not_judged(ran, words, monkeypatch):
    (race,), _ = started(words)
    honest = runner.run_cell

    def run_cell(job):
        if job.params["r"] != 1.0 and job.rep == 1:
            raise Overflow("the prediction of round 3 overflowed")
        return honest(job)

    monkeypatch.setattr(runner, "run_cell", run_cell)
    (end,), _ = run_races([race], jobs=1, progress=False)
    assert end.setting == race.first  # the default, which alone runs beside the best on the last rung
    assert end.failed == 1 + len({job.params["r"] for job in ran if job.params["r"] < 0.1})


def test_half_of_the_trials_are_drawn_near_the_best(ran, words):
    """A sixth three times, in turn near the three that are best by then: on the stream, then on prefixes."""
    state = _State(started([*words[:2], "trials=18", "least=10", "small=0"])[0][0])
    waves, shown, parents = [], 9, []
    while state.places:
        waves.append((state.race.lengths[state.rung], state.plan.reps, len(state.places)))
        for at, place in enumerate(state.places if state.places[0] >= shown else []):
            a, b = state.trials[place].point, parents[at % 3]
            assert a != b
            assert max(abs(x - y) for x, y in zip(a, b, strict=True)) < 5 * STEP
        shown = len(state.trials)
        # the given settings are the best, but nowhere in the cube; then those at the end of it
        points = {place: trial.point for place, trial in enumerate(state.trials)}
        errors = {place: sum(abs(x - 0.9) for x in point or ()) for place, point in points.items()}
        state.advance({place: Score(errors[place], 1.0) for place in state.places})
        ran = [place for rung in sorted(state.scores, reverse=True)
               for place in sorted(state.scores[rung], key=errors.get)]  # fmt: skip
        parents = [points[place] for place in dict.fromkeys(ran) if points[place]][:3]
    assert waves == [(10, 1, 9), (30, 1, 3), (90, 1, 1), *[(90, 1, 3)] * 3, (90, 3, 2 + 2)]
    assert len({trial.setting.identity for trial in state.trials}) == 18


@pytest.mark.parametrize(("rows", "budgets"), [(250, (100, 250)), (249, (100,))])  # not 600 of either
def test_each_size_races_with_the_given_setting_and_runs_on_the_whole_stream(ran, tmp_path, rows, budgets):
    data = write_data(tmp_path / "own.libsvm", rows)
    (race,), _ = started(["algo=krls_t", f"data={data}", "trials=30", "least=10", "small=0"])
    given = race.space.given
    assert [(own.params["budget"], own.scaling.get("scale")) for own in given] == [
        (budget, scale) for budget in budgets for scale in (None, "online", "ranks")
    ]
    assert all(own.params == {**given[0].params, "budget": own.params["budget"]} for own in given)
    state, last = _State(race), []
    while state.places:
        last = state.places if state.places[0] < 30 else last
        state.advance({place: Score(-float(place), 1.0) for place in state.places})
    assert last[: len(given)] == list(range(len(given)))


def test_the_best_runs_in_each_other_size_at_the_end(ran, tmp_path):
    """Of what was drawn a budget of 250 is best, but 600 is better still; 100 costs too much."""
    data = write_data(tmp_path / "own.libsvm", 700)
    (race,), _ = started(["algo=krls_t", f"data={data}", "trials=30", "least=10", "small=0", "cost=1.5"])
    state, waves = _State(race), []

    def score(place):
        budget = state.trials[place].setting.params["budget"]
        if place >= 30:
            return Score(-2.0, 1.0) if budget == 600 else Score(-3.0, 2.0)
        return Score(-1.0 if budget == 250 and state.trials[place].point else 0.0, 1.0)

    while state.places:
        waves.append((state.rung, state.places))
        state.advance({place: score(place) for place in state.places}, 1.0)
    assert waves[-1] == (len(race.rungs) - 1, [30, 31])
    best = next(place for place in waves[-2][1] if score(place).error == -1.0)
    params = state.trials[best].setting.params
    assert [state.trials[place].setting.params for place in (30, 31)] == [
        {**params, "budget": budget} for budget in (100, 600)
    ]
    assert state.end().setting == state.trials[31].setting
    assert state.end().trials == 32


def test_what_is_drawn_near_the_best_goes_from_the_look_at_its_cost_to_the_whole_stream(
    ran, words, monkeypatch
):
    monkeypatch.setattr(tuning, "FIRST_LOOK", 5)
    state = _State(started([*words, "cost=1.5"])[0][0])
    waves = []
    while state.places:
        waves.append((state.race.lengths[state.rung], state.places))
        dear = {3: 4.0, 7: 5.0, 8: 1.6}  # below, beyond three times the limit; beyond it, on the stream
        state.advance({at: Score(-float(at), dear.get(at, 1.0)) for at in state.places}, 1.0)
    near = [(5, [5, 6]), (90, [5, 6]), (5, [7]), (90, [0]), (5, [8]), (90, [8])]
    assert waves == [(5, [0, 1, 2, 3, 4]), (10, [0, 1, 2, 3, 4]), (30, [4]), (90, [4]), *near, (90, [0, 6])]


def test_where_every_trial_failed_none_is_drawn_near_the_best(ran, words):
    state = _State(started(words)[0][0])
    while state.places:
        state.advance({place: Score(math.inf, 1.0) for place in state.places})
    end = state.end()
    assert (end.found, end.trials, end.failed, end.setting) == (False, 5, 5, state.race.first)


def test_scaling_is_searched_with_the_rest_unless_it_is_given(ran, words, tmp_path, capsys):
    """The fake errors do not know of scaling: the given one wins ties."""
    (race,), _ = started(words[:-1])
    drawn = [trial.setting for trial in race.trials]
    assert [own.scaling for own in drawn[:3]] == [{}, {"scale": "online"}, {"scale": "ranks"}]
    assert drawn[0].params == drawn[1].params
    assert {own.scaling.get("scale") for own in drawn[3:]} <= {None, "online", "ranks"}
    assert len({own.identity for own in drawn}) == 5
    assert main(["tune", *words[:-1], "--out", str(tmp_path / "best.yaml"), "-q"]) == 0
    text = capsys.readouterr().out
    best = (tmp_path / "best.yaml").read_text()
    for scale in ("online", "ranks"):
        assert (f"scale={scale}" in best) == (f" scale={scale}" in text)
    assert re.search(r"arow\(r=[\d.]+, scale=(none|online|ranks), data=", best)
    done = len(ran)
    assert main(["run", f"settings={tmp_path / 'best.yaml'}", "yardsticks=[]", "-q"]) == 0
    assert len(ran) == done  # the cells of the best setting are there


@pytest.mark.parametrize(
    ("words", "scalings"),
    [
        (["algo=auto"], [{}]),  # scales by itself
        (["algo=majority"], [{}]),
        (["algo=perceptron_u"], [{}, {"scale": "online"}, {"scale": "ranks"}]),  # nothing else is searched
        (["algo=alma", "algo.kernel={kind:chi2}"], [{}]),  # for features that are not negative
        (["algo=arow(scale=online)"], [{"scale": "online"}]),
        (["algo=arow", "scale=online"], [{"scale": "online"}]),
        (
            ["algo=ridge", "task=regression"],
            [
                *({"target": "online"} | own for own in ({}, {"scale": "online"}, {"scale": "ranks"})),
                *({}, {"scale": "online"}, {"scale": "ranks"}),
            ],
        ),
        (["algo=ridge", "task=regression", "target=none"], [{}, {"scale": "online"}, {"scale": "ranks"}]),
    ],
)
def test_what_of_scaling_is_searched(words, scalings, tmp_path):
    data = write_data(tmp_path / "own.libsvm", T)
    study = Study.of(Call.of(" ".join([*words, f"data={data}", "trials=4"])))
    assert list(study.races[0].space.scalings) == scalings


def test_a_race_continues_and_overflows_are_not_tried_again(ran, words):
    (race,), _ = started(words)
    first = run_races([race], jobs=1, progress=False)
    done = len(ran)
    assert run_races([race], jobs=1, progress=False) == first
    assert len(ran) == done
    (more,), _ = started([word.replace("trials=9", "trials=12") for word in words])
    assert more.trials[: len(race.trials)] == race.trials
    (end,), _ = run_races([more], jobs=1, progress=False)
    assert end.trials == 12
    assert sum(job.rounds == (0, 10) for job in ran) == 6  # half of twelve: five of them were there
    assert not list((race.held.store / "curves").glob("*"))  # of trials only the error counts


def test_slow_settings_do_not_go_on(ran, words):
    rule, rest = rule_of([*words, "longest=0.05"])  # a pass of 30 takes 0.03 s, one of 90 up to 9 times that
    (end,), _ = run_races(races(make_plan(rest), rule, ["scale"]), jobs=1, progress=False)
    assert end.rung == 0  # 0.01 s * 9 is too long, too
    assert {job.rounds for job in ran} == {(0, 10)}


@pytest.mark.parametrize("look", [90, 5], ids=["none", "few rows"])
def test_settings_that_cost_more_than_allowed_neither_go_on_nor_win(ran, words, monkeypatch, look):
    """The better a setting, the longer its pass: at most 1.5 times the reference's is that of r = 10."""
    monkeypatch.setattr(tuning, "FIRST_LOOK", look)
    honest = runner.run_cell

    def run_cell(job):
        line, r = honest(job), job.params.get("r", 1.0)
        seconds = line["T"] * (2.0 if job.spec.name == "auto" else 0.3 * r)
        return line | {"seconds": seconds}

    monkeypatch.setattr(runner, "run_cell", run_cell)
    (race,), _ = started([*words, "cost=1.5"])
    (end,), _ = run_races([race], jobs=1, progress=False)
    rungs = {rounds: {job.params["r"] for job in ran if job.spec.name == "arow" and job.rounds == rounds}
             for rounds in ((0, 5), (0, 10), (0, 30), None)}  # fmt: skip
    seen = rungs[0, 5] or rungs[0, 10]
    assert max(seen) > 30
    far = 30 if look == 5 else math.inf  # three times the limit
    assert max(rungs[0, 10]) <= far
    assert max(rungs[0, 30]) <= 10
    assert end.setting.params["r"] == max(r for r in rungs[None] if r <= 10)
    lengths = [(0, 5), (0, 10), (0, 30), None][look != 5 :]
    assert [job.rounds for job in ran if job.spec.name == "auto"][: len(lengths)] == lengths
    dry = Counter(plan.rounds for plan in assumed([race]) if plan.settings[0].learner == "auto")
    assert dry.keys() == {f"0:{stop}" for _, stop in [rounds or (0, 90) for rounds in lengths]}


def test_where_all_settings_are_far_beyond_the_limit_the_given_one_runs(ran, words, monkeypatch):
    monkeypatch.setattr(tuning, "FIRST_LOOK", 5)
    state = _State(started([*words, "cost=1.5"])[0][0])
    rungs = []
    while state.places:
        rungs.append((state.race.lengths[state.rung], state.places))
        state.advance({at: Score(-float(at), 5.0) for at in state.places}, 1.0)
    given = list(range(len(state.race.space.given)))
    assert rungs == [(5, list(range(5))), (10, given)]
    assert state.end().setting in state.race.space.given


def test_a_setting_that_costs_too_much_on_the_last_rung_does_not_win(ran, words):
    state = _State(started([*words, "cost=1.5"])[0][0])
    while state.places:
        best = max(state.places)
        seconds = {best: 2.0} if len(state.places) == 2 and 0 in state.places else {}
        state.advance({at: Score(-float(at), seconds.get(at, 1.0)) for at in state.places}, 1.0)
    end = state.end()
    assert (best, end.setting) == (8, state.race.first)
    assert end.seconds == 5.0 + 1.0 + (1.0 + 4.0) + 2 * (1.0 + 2.0)  # two passes decide


def test_of_few_rows_trials_see_one_half_and_the_other_is_reported(ran, words, tmp_path, capsys):
    best = tmp_path / "best.yaml"
    few = [word for word in words if word != "small=0"]
    assert main(["tune", *few, "--out", str(best), "-q"]) == 0
    assert {(job.order, job.rounds) for job in ran} == {("halves", (0, 45)), ("halves", (45, 90))}
    text = capsys.readouterr().out
    assert "9 trials of 4 passes of one half of the rows" in text
    assert "The errors are those on rows that no trial has seen." in text
    assert "order=halves rounds=0.5:" in text
    done = len(ran)
    other_half = ["order=halves", "rounds=0.5:"]
    for more, orders in ((other_half, {("halves", (45, 90))}), ([], {("permuted", None)})):
        assert main(["run", f"settings={best}", *more, "--fresh", "-q"]) == 0
        assert {(job.order, job.rounds) for job in ran[done:]} == orders
        done = len(ran)
    capsys.readouterr()
    other = write_data(tmp_path / "other.libsvm", 70)
    both = [few[0], f"{few[1]},{other}", *few[2:], "small=80"]
    assert main(["tune", *both, "--out", str(tmp_path / "both.yaml"), "-q"]) == 0
    assert f"is for all rows: the trials knew half of the rows of {other}" in capsys.readouterr().err
    assert "halves" not in (tmp_path / "both.yaml").read_text()


def test_in_file_order_trials_see_the_first_third_only(ran, words, tmp_path):
    (race,), _ = started([*words[:2], "trials=9", "least=5", "small=0", "order=file"])
    (end,), _ = run_races([race], jobs=1, progress=False)
    assert {job.rounds for job in ran} == {(0, 5), (0, 10), (0, 30)}
    assert {job.rep for job in ran} == {0}  # it is not stochastic: one pass says all
    assert end.held().rounds == "30:90"
    plan = make_plan([word for word in words if "=" in word and word[:4] in ("algo", "data")])
    odd = make_plan(["algo=arow", f"data={write_data(tmp_path / 'odd.libsvm', 9)}"])
    assert parts(odd, odd.data[0], 80) == ((0, 4), "4:9", "halves")
    file = ["least=5", "small=0", "passes=2", "trials=9", "reps=1", "order=file"]
    (race,), rule = started(["algo=krls_t", words[1], *file])
    assert rule.lengths(31) == [5, 11, 31]
    assert all(trial.setting.params["budget"] <= T for trial in race.trials[len(race.space.given) :])
    (race,), _ = started(["algo=omkc_ss", words[1], *file])
    assert race.rungs[-1].reps == 2  # it draws
    assert parts(replace(plan, order="file", rounds="60:"), plan.data[0], 0) == ((60, 70), "70:90", "file")


def test_a_learner_with_nothing_to_tune_runs_on_the_last_rung_alone(ran, words):
    file = ["small=0", "least=5", "order=file", "reps=1"]
    for more in ([], file):
        (race,), _ = started(["algo=majority", words[1], *(more or words[2:])])
        (end,), _ = run_races([race], jobs=1, progress=False)
        assert (end.trials, end.rung, end.setting) == (1, len(race.rungs) - 1, race.first)
    assert {job.rounds for job in ran} == {None, (0, 30)}


def test_the_plans_that_a_dry_run_counts_are_as_many_as_run(ran, words):
    (race,), _ = started(words)
    for reported in (1, 2):
        cells = sum(len(plan.settings) * plan.reps for plan in assumed([race], reported))
        assert cells == 4 * reported + 5 + 1 + (1 + 4) + 2 * 1  # the default and the best are one here


def test_the_command_prints_the_best_settings_and_how_to_run_them(ran, words, capsys):
    assert main(["tune", *words, "--format", "json", "-q"]) == 0
    made = json.loads(capsys.readouterr().out)
    (row,) = made["tuned"]
    assert made["rule"]["trials"] == 9
    assert row["tuned_mean"] < row["default_mean"]
    assert (row["reps"], row["trials"]) == (4, 9)
    assert f"algo.r={row['params']['r']}" in row["command"]
    shown = run_plan(make_plan([*row["command"].split()[2:], "yardsticks=[]"]), progress=False)
    assert shown.ran == 0  # the cells of the printed command are there
    assert 100 * shown.cells["mistake_rate"].astype(float).mean() == pytest.approx(row["tuned_mean"])
    assert main(["tune", "algo=arow,omkc_u", *words[1:], "-q"]) == 0  # of which one has a pool
    text = capsys.readouterr().out
    assert f"{row['tuned_mean']:.2f} ± 0.00" in text
    assert "failed" not in text.replace("(1 failed)", "").replace(f"({row['failed']} failed)", "")
    assert row["command"] in text


def test_a_learner_whose_hyperparameters_are_all_given_is_compared_with_none(ran, words, capsys):
    assert main(["tune", *words, "algo.r=5", "-q"]) == 0
    text = capsys.readouterr().out
    assert "given" in text
    assert "default" not in text
    assert "nothing to tune for AROW\n" in text
    assert "rule:" not in text
    assert main(["tune", "algo=arow,omkc_dd", *words[1:], "algo.r=5", "-q"]) == 0
    assert (
        "rule: 9 trials; one in 3 goes on to a prefix 3 times as long, 3 in all; 2 passes of one in 9 decide"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("trials=0", "trials=0: must be a whole number ≥ 1"),
        ("eta=1", "eta=1: must be a whole number ≥ 2"),
        ("rungs=2,3", "rungs takes one value"),
        ("trails=3", "did you mean"),
        (
            "by=rmse",
            "rmse is a measure of a regression, and the task is classification: choose one of mistakes,",
        ),
        ("by=acc", "no measure 'acc'"),
        ("algo.r=1,2", "algo.r=1,2: tune keeps one value of algo.r; leave it out"),
    ],
)
@pytest.mark.usefixtures("ran")
def test_mistakes_end_with_one_line(words, word, says, capsys):
    assert main(["tune", *words[:3], word]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_too_few_rounds_for_file_order(words):
    with pytest.raises(UserError, match="too few"):
        started([*words, "order=file", "rounds=2"])


def test_trials_are_judged_by_another_measure(ran, words, capsys):
    assert main(["tune", *words, "by=auc", "--format", "json", "-q"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["tuned"]
    assert (row["measure"], row["by"]) == ("AUC", "auc")
    assert row["tuned_mean"] > row["default_mean"]  # more of it is better
    tried = {job.params["r"] for job in ran if "r" in job.params}
    auc = {r: 1 - abs(math.log10(r / 0.3)) / 10 for r in tried if r <= 100}
    assert row["params"]["r"] == max(auc, key=auc.get)
    assert main(["tune", *words, "by=auc", "-q"]) == 0
    assert f"{row['tuned_mean']:.4f} ± 0.0000" in capsys.readouterr().out


def test_targets_are_scaled_where_it_matters():
    """Not where they are classes, nor for a learner for which unit and offset do not matter."""
    specs = learner_specs().values()
    both = {task: [own for own in specs if task in own.tasks] for task in ("classification", "regression")}
    for spec in both["classification"]:
        assert "target" not in searched_scaling(spec, "classification")
    equivariant = {
        own.name for own in both["regression"] if "target" not in searched_scaling(own, "regression")
    }
    assert {"running_mean", "last_value", "auto_regression"} <= equivariant
    assert not {"ridge", "krls_t", "norma", "iegp"} & equivariant


def test_on_the_last_rung_the_best_and_the_given_settings_run_and_the_least_error_there_wins():
    """Nine trials, of which the first two are given, on prefixes of 100, 300 and 900 rounds."""
    rule = SimpleNamespace(eta=3, cost=None, longest=None, trials_of=lambda dimensions: 9)
    settings = [SimpleNamespace(identity=f"trial {place}") for place in range(9)]
    trials = [SimpleNamespace(setting=setting, point=None) for setting in settings]
    rungs = tuple(SimpleNamespace(reps=reps) for reps in (1, 1, 2))
    space = SimpleNamespace(given=("unscaled", "scaled"), dimensions=1, in_other_sizes=lambda setting: [])
    race = SimpleNamespace(
        trials=trials,
        rungs=rungs,
        lengths=(100, 300, 900),
        looks=0,
        whole=2,
        rule=rule,
        space=space,
        first="",
    )
    state = _State(race)
    assert state.places == list(range(9))
    state.advance({place: Score(9.0 - place, 1.0) for place in range(9)})
    assert (state.rung, state.places) == (1, [6, 7, 8])
    state.advance({6: Score(3.0, 1.0), 7: Score(1.0, 1.0), 8: Score(2.0, 1.0)})
    assert (state.rung, state.places) == (2, [0, 1, 7])  # the best of nine / 3 ** 2, and those given
    state.advance({0: Score(0.5, 2.0), 1: Score(0.7, 2.0), 7: Score(0.6, 3.0)})
    assert (state.rung, state.places) == (2, [])
    end = state.end()
    assert (end.setting.identity, end.error, end.rung, end.pass_seconds) == ("trial 0", 0.5, 2, 2.0)
    assert (end.trials, end.failed, end.seconds) == (9, 0, 9 * 1.0 + 3 * 1.0 + 2 * 7.0)
