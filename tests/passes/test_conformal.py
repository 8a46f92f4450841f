"""Intervals around any learner for numbers: as a plain twin has them, their coverage, what they may know."""

import copy
import csv
import io
import json
import math

import numpy as np
import pandas as pd
import pytest
import river.conf
from reference import conformal as twin
from sklearn.base import BaseEstimator, RegressorMixin

import omkl
import omkl.river
import omkl.sklearn
from omkl.cli import main
from omkl.config import learner_spec, pool
from omkl.errors import UserError
from omkl.passes.conformal import WINDOW, Conformal, interval_score
from omkl.passes.one_pass import whole_pass
from omkl.passes.said import Said


def stream(T=700, seed=0, drift=350):
    """Predictions, targets and deviations: errors grow fivefold at a drift, and twofold with s."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.5, 2.0, T)
    scale = np.where(np.arange(T) < drift, 1.0, 5.0)
    return rng.normal(size=T), s, scale * s * rng.standard_t(3, T)


def as_twin(deviation):
    return [float(s) if s > 0 else None for s in deviation]


# ------------------------------------------------------------------ the rule


@pytest.mark.parametrize(
    ("told", "level"),
    [("never", 0.5), ("always", 0.9), ("late", 0.99)],
)
@pytest.mark.parametrize("delay", [1, 7, 60])
def test_half_widths_are_those_of_the_twin(level, told, delay):
    f, s, error = stream()
    deviation = s * {"never": 0.0, "always": 1.0, "late": np.arange(len(s)) > 90}[told]
    deviation[[200, 201]] = error[300:480] = 0.0  # also exact predictions, and targets outside right after
    missing = np.zeros(len(s), bool)
    missing[[3, 4, 300]] = True
    expected = twin.half_widths(f, f + error, as_twin(deviation), level, {3, 4, 300}, delay)
    variance = None if told == "never" else np.square(deviation)
    found = Conformal(level).in_turn(Said(f, f + error, variance, missing), delay)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.isfinite(found).sum() > 400


@pytest.mark.parametrize("cuts", [[1], [7, 8, 300], list(range(1, 700))])
def test_a_state_that_was_saved_goes_on_to_the_last_bit(cuts):
    f, s, error = stream()
    whole = Conformal(0.9)
    halves = whole.in_turn(Said(f, f + error, s**2))
    parts, conformal = [], Conformal(0.9)
    for start, stop in zip([0, *cuts], [*cuts, len(f)], strict=True):
        conformal = Conformal.from_json(json.loads(json.dumps(conformal.to_json())))
        parts.append(conformal.in_turn(Said(f[start:stop], (f + error)[start:stop], s[start:stop] ** 2)))
    np.testing.assert_array_equal(np.concatenate(parts), halves)
    assert conformal.to_json() == whole.to_json()
    assert len(whole.to_json()["scores"]) == WINDOW


@pytest.mark.parametrize("at", [0, 5, 50, 650])
def test_rows_changed_later_change_no_earlier_interval(at):
    f, s, error = stream()
    before = Conformal(0.9).in_turn(Said(f, f + error, s**2))
    f[at + 1 :], error[at:], s[at + 1 :] = 1e6, -1e9, 1e3
    after = Conformal(0.9).in_turn(Said(f, f + error, s**2))
    np.testing.assert_array_equal(before[: at + 1], after[: at + 1])
    if at < 600:
        assert (before != after).any()


@pytest.mark.parametrize("delay", [2, 50, 1000])
def test_a_batch_is_predicted_with_what_was_known_before_it(delay):
    f, _, error = stream()
    conformal, quantiles = Conformal(0.9), []
    found = conformal.in_turn(Said(f, f + error), delay)
    state = Conformal(0.9)
    for start in range(0, len(f), delay):
        quantiles += [state.quantile] * len(f[start : start + delay])
        state.in_turn(Said(f[start : start + delay], (f + error)[start : start + delay]), delay)
    np.testing.assert_array_equal(found, quantiles)
    assert len(set(quantiles)) == -(-len(f) // delay) or delay == 2


def test_intervals_begin_when_a_quantile_has_enough_scores():
    for level, least in [(0.5, 1), (0.9, 9), (0.95, 19), (0.99, 99)]:
        halves = Conformal(level).in_turn(Said(np.zeros(200), np.arange(200.0)))
        assert np.isinf(halves[:least]).all()
        assert np.isfinite(halves[least:]).all()


def test_intervals_are_finite_and_soon_wide_enough_when_errors_explode():
    error = np.concatenate([np.ones(100), 10.0 ** np.arange(0, 150, 0.5)])
    halves = Conformal(0.9).in_turn(Said(np.zeros(len(error)), error))
    assert np.isfinite(halves[9:]).all()
    assert (error[200:] <= halves[200:]).mean() > 0.8


def test_exact_predictions_do_not_use_up_the_coverage_of_later_rounds():
    rng = np.random.default_rng(1)
    error = np.concatenate([np.zeros(2000), rng.normal(size=1000)])
    halves = Conformal(0.9).in_turn(Said(np.zeros(3000), error))
    assert (halves[9:2000] == 0).all()
    assert (np.abs(error) <= halves)[2200:].mean() == pytest.approx(0.9, abs=0.02)


def test_overflow_is_no_error():
    huge = np.finfo(float).max
    conformal = Conformal(0.5)
    predictions, targets = np.array([-huge, 0.0, np.nan, 0.0]), np.array([huge, 1.0, 1.0, huge])
    conformal.in_turn(Said(predictions, targets, np.full(4, 1e-200)))
    assert json.dumps(conformal.to_json(), allow_nan=False)
    assert conformal.to_json()["scores"] == pytest.approx([huge, 1e100, huge, huge])
    state = {"level": 0.9, "told": False, "alpha_t": -1e9, "scores": [1.0] * 20}
    assert Conformal.from_json(state).quantile == 2.0**1000


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {},
        {"level": 0.9},
        {"level": 1.0, "told": True, "alpha_t": 0.1, "scores": []},
        {"level": 0.9, "told": 1, "alpha_t": 0.1, "scores": []},
        {"level": 0.9, "told": True, "alpha_t": math.nan, "scores": []},
        {"level": 0.9, "told": True, "alpha_t": 0.1, "scores": [-1.0]},
        {"level": 0.9, "told": True, "alpha_t": 0.1, "scores": ["1"]},
        {"level": 0.9, "told": True, "alpha_t": 0.1, "scores": [1.0] * (WINDOW + 1)},
        {"level": 0.9, "told": True, "alpha_t": True, "scores": []},
    ],
)
def test_another_state_is_refused(state):
    with pytest.raises(ValueError, match="its intervals are not"):
        Conformal.from_json(state)


# ------------------------------------------------------------------ coverage


def streams_with_drift():
    rng = np.random.default_rng(3)
    T = 5000
    t = np.arange(T)
    yield "constant", rng.normal(size=T)
    yield "noise x 5", rng.normal(size=T) * np.where(t < 2500, 1.0, 5.0)
    yield "noise / 20", rng.normal(size=T) * np.where(t < 2500, 1.0, 0.05)
    yield "t of 2 degrees", rng.standard_t(2, T)
    yield "growing", rng.normal(size=T) * 1.001**t
    yield "seasons", rng.normal(size=T) * (1.1 + np.sin(t / 100))
    yield "bias", rng.normal(size=T) + np.where(t < 2500, 0.0, 10.0)


@pytest.mark.parametrize("error", [pytest.param(error, id=name) for name, error in streams_with_drift()])
def test_nine_of_ten_targets_are_inside_and_after_a_drift_again(error):
    inside = np.abs(error) <= Conformal(0.9).in_turn(Said(np.zeros(len(error)), error))
    assert inside[9:].mean() == pytest.approx(0.9, abs=0.01)
    assert inside[2700:3700].mean() == pytest.approx(0.9, abs=0.02)


def test_intervals_follow_the_deviation_that_a_learner_tells():
    _, s, error = stream(T=5000, drift=5000)
    zeros = np.zeros(len(s))
    follows, fixed = (Conformal(0.9).in_turn(Said(zeros, error, variance))[9:] for variance in (s**2, None))
    narrow, wide = s[9:] < 1.0, s[9:] > 1.5
    for part in (narrow, wide):
        assert (np.abs(error[9:]) <= follows)[part].mean() == pytest.approx(0.9, abs=0.025)
    assert (np.abs(error[9:]) <= fixed)[narrow].mean() > 0.94
    scores = [interval_score(np.abs(error[9:]), half, 0.9).mean() for half in (follows, fixed)]
    assert scores[0] < scores[1]


# ------------------------------------------------------------------ runs

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(160, 2))
Y = 20.0 + 5.0 * np.sin(3 * X[:, 0]) + rng.normal(size=160)
NAMES = ("interval_coverage", "interval_width", "interval_score")


@pytest.mark.parametrize("delay", [1, 7])
@pytest.mark.parametrize("name", ["ridge", "krls_t", "raker", "norma_regression"])
def test_a_run_measures_the_intervals_before_each_target(name, delay):
    spec = learner_spec(name)
    data = omkl.data.from_arrays(X, Y, task="regression")
    chosen = pool(spec.usual_pool) if spec.kernels == "pool" else None
    setting = spec.usual("regression"), chosen, data, np.arange(100), 7
    how = {"target": "online", "delay": delay}
    test = (data, np.arange(100, 160))
    figures, _, trace, *_ = whole_pass(spec, *setting, scaling=how | {"interval": 0.8}, test=test)
    conformal = Conformal(0.8)
    variance = trace.further[:, spec.measures.index("variance")] if name == "krls_t" else None
    half = conformal.in_turn(Said(trace.score, Y[:100], variance), delay)
    kept = np.isfinite(half)
    error = np.abs(trace.score - Y[:100])[kept]
    half = half[kept]
    assert figures["interval_coverage"] == pytest.approx(np.mean(error <= half))
    assert figures["interval_width"] == pytest.approx(np.mean(2 * half))
    outside = np.maximum(error - half, 0)
    assert figures["interval_score"] == pytest.approx(np.mean(2 * half + 10 * outside))
    assert figures["curve"]["interval_width"][-1] / 100 == pytest.approx(figures["interval_width"])
    assert 0.5 < figures["test_interval_coverage"] <= 1.0
    plain = whole_pass(spec, *setting, scaling=how, test=test).figures
    assert {*figures} - {*plain} == {*NAMES, *(f"test_{measure}" for measure in NAMES)}
    assert plain["mse"] == figures["mse"]


@pytest.mark.parametrize("name", ["ridge", "krls_t", "norma_regression"])
def test_rows_changed_later_change_no_earlier_measure_of_a_run(name):
    spec, curves = learner_spec(name), []
    for changed in (False, True):
        rows, targets = X[:100].copy(), Y[:100].copy()
        if changed:
            rows[60:], targets[60:] = 3.0 - rows[60:], -5.0 * targets[60:]
        data = omkl.data.from_arrays(rows, targets, task="regression")
        scaling = {"scale": "online", "target": "online", "interval": 0.8}
        setting = spec.usual("regression"), None, data, np.arange(100), 7
        curves.append(whole_pass(spec, *setting, scaling=scaling).figures["curve"])
    assert curves[0]["t"][59] == 60
    for measure in NAMES:
        assert curves[0][measure][:60] == curves[1][measure][:60]
        assert curves[0][measure][99] != curves[1][measure][99]


class Late(RegressorMixin, BaseEstimator):
    """Predicts the mean, from the 40th row on."""

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y):
        self.seen_ = [*getattr(self, "seen_", []), *np.ravel(y)]
        return self

    def predict(self, X):
        return np.full(len(X), np.mean(self.seen_))


def test_estimators_of_other_packages_have_intervals_once_they_predict():
    from sklearn.ensemble import ExtraTreesRegressor

    for model in (Late(), omkl.refit(ExtraTreesRegressor(5, random_state=0))):
        how = {"order": "file", "yardsticks": [], "jobs": 1, "progress": False}
        results = omkl.run((X, Y), algo=[model], interval=0.8, **how)
        cell = results.cells.iloc[0]
        assert 0.6 < cell["interval_coverage"] <= 1.0
        # 20 is far outside: a prediction of 0 before the first fit would make it as wide
        assert cell["interval_width"] < 15


def test_the_table_shows_intervals_where_they_were_asked_for(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=list("ab")).assign(y=Y).to_csv("rows.csv", index=False)
    words = ["data=rows.csv", "algo=ridge", "yardsticks=[]", "reps=2", "store=s", "exec=serial"]
    assert main(["run", *words]) == 0
    assert "interval" not in capsys.readouterr().out
    assert main(["run", *words, "interval=0.9", "test=0.25", "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert 70 < float(row["interval_coverage_pct_mean"]) <= 100
    assert float(row["interval_score_mean"]) > float(row["interval_width_mean"]) > 0
    assert float(row["test_interval_width_mean"]) > 0
    assert main(["run", *words, "interval=0.9", "by=interval_score"]) == 0
    assert "interval score" in capsys.readouterr().out
    assert main(["run", "data=wdbc", "algo=arow", "interval=0.9"]) == 2
    assert "interval=0.9: data=wdbc has no targets" in capsys.readouterr().err
    assert main(["run", *words, "interval=90"]) == 2
    assert "interval=90: must be a number > 0 and ≤ 0.995" in capsys.readouterr().err


def test_a_tuning_chooses_by_the_interval_score(tmp_path):
    how = {"trials": 4, "store": tmp_path, "jobs": 1, "progress": False, "yardsticks": []}
    tuned = omkl.tune((X, Y), algo="krls_t", interval=0.8, by="interval_score", **how)
    assert "interval score" in str(tuned)


# ------------------------------------------------------------------ models


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=list("ab")).assign(y=Y)
    frame[:100].to_csv("rows.csv", index=False)
    frame[100:130].to_csv("more.csv", index=False)
    frame[130:].to_csv("new.csv", index=False)
    return tmp_path


def ends(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return np.array([[float(row["low"] or "nan"), float(row["high"] or "nan")] for row in rows])


@pytest.mark.parametrize("name", ["ridge", "krls_t"])
def test_models_of_the_command_line_have_intervals(folder, capsys, name):
    words = [f"algo={name}", "task=regression", "order=file", "interval=0.8"]
    assert main(["fit", *words, "data=rows.csv", "--out", "m.omkl"]) == 0
    assert main(["update", "m.omkl", "more.csv"]) == 0
    capsys.readouterr()
    assert main(["predict", "m.omkl", "new.csv", "--interval", "0.8"]) == 0
    found = ends(capsys.readouterr().out)
    model = omkl.load_model("m.omkl")
    np.testing.assert_array_equal(model.predict_interval("new.csv"), found)
    np.testing.assert_allclose(found.mean(axis=1), model.predict("new.csv"))
    pd.concat([pd.read_csv("rows.csv"), pd.read_csv("more.csv")]).to_csv("all.csv", index=False)
    assert main(["fit", *words, "data=all.csv", "--out", "whole.omkl"]) == 0
    np.testing.assert_allclose(omkl.load_model("whole.omkl").predict_interval("new.csv"), found)
    assert main(["predict", "m.omkl", "new.csv", "--interval", "0.95"]) == 2
    assert (
        "this model has intervals for 0.8 of the targets, not 0.95; train it with interval=0.95"
        in capsys.readouterr().err
    )


def test_a_model_without_intervals_says_how_to_have_some(folder, capsys):
    assert main(["fit", "algo=ridge", "data=rows.csv", "task=regression", "--out", "m.omkl"]) == 0
    assert main(["predict", "m.omkl", "new.csv", "--interval", "0.8"]) == 2
    assert "or train it with interval=0.8" in capsys.readouterr().err
    with pytest.raises(UserError, match=r"train it with interval=0\.9"):
        omkl.load_model("m.omkl").predict_interval("new.csv")
    model = omkl.fit("krls_t", X, y=Y, task="regression")
    with pytest.raises(UserError, match="give the share"):
        model.predict_interval(X)
    assert model.predict_interval(X[:3], 0.9).shape == (3, 2)


def test_few_rows_give_no_ends(folder, capsys):
    pd.read_csv("rows.csv")[:6].to_csv("few.csv", index=False)
    assert (
        main(["fit", "algo=ridge", "data=few.csv", "task=regression", "interval=0.9", "--out", "m.omkl"]) == 0
    )
    assert main(["predict", "m.omkl", "new.csv", "--interval", "0.9", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert all(row["low"] is None and row["high"] is None for row in rows)
    assert np.isinf(omkl.load_model("m.omkl").predict_interval("new.csv")).all()


@pytest.mark.parametrize("name", ["RidgeRegressor", "KrlsTRegressor"])
def test_estimators_have_intervals_in_any_cut(name, tmp_path):
    make = getattr(omkl.sklearn, name)
    whole = make(interval=0.8, target="online").fit(X[:100], Y[:100])
    found = whole.predict_interval(X[100:])
    inside = (found[:, 0] <= Y[100:]) & (Y[100:] <= found[:, 1])
    assert 0.6 < inside.mean() <= 1.0
    parts = make(interval=0.8, target="online")
    for start, stop in [(0, 5), (5, 6), (6, 60)]:
        parts.partial_fit(X[start:stop], Y[start:stop])
    parts.to_file(tmp_path / "m.omkl")
    again = make.from_file(tmp_path / "m.omkl").partial_fit(X[60:100], Y[60:100])
    assert again.interval == 0.8
    np.testing.assert_array_equal(again.predict_interval(X[100:]), found)
    np.testing.assert_array_equal(copy.deepcopy(whole).predict_interval(X[100:]), found)
    assert not hasattr(make(), "predict_interval")
    for wrong in (0, 1, 90, "a", True):
        with pytest.raises(ValueError, match="interval must be None or a number > 0 and < 1"):
            make(interval=wrong).fit(X, Y)


def test_river_models_have_intervals():
    model, same = omkl.river.RidgeRegressor(interval=0.8), omkl.sklearn.RidgeRegressor(interval=0.8)
    assert model.predict_one({"a": 1.0}, with_interval=True) == river.conf.Interval(-math.inf, math.inf)
    for x, y in zip(X[:100], Y[:100], strict=True):
        model.learn_one(dict(zip("ab", x.tolist(), strict=True)), y)
    found = model.predict_one(dict(zip("ab", X[100].tolist(), strict=True)), with_interval=True)
    low, high = same.fit(X[:100], Y[:100]).predict_interval(X[100:101])[0]
    assert (found.lower, found.upper) == pytest.approx((low, high))
    with pytest.raises(ValueError, match=r"interval=0\.9 makes some"):
        omkl.river.RidgeRegressor().predict_one({"a": 1.0}, with_interval=True)
