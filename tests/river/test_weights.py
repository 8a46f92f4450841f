"""Weights of rows, and predictions with their distributions."""

import math

import numpy as np
import pytest

pytest.importorskip("river")

from river import linear_model, preprocessing

import omkl.river
import omkl.sklearn

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
W = rng.choice([0.0, 0.5, 1.0, 2.0], size=40)
MANY = np.array(["a", "b", "c"])[np.r_[np.arange(12) % 2, np.arange(28) % 3]]
TARGETS = {
    "NormaClassifier": X[:, 0] * X[:, 1] > 0,
    "NormaLogisticClassifier": X[:, 0] * X[:, 1] > 0,
    "ArowClassifier": MANY,  # the third label comes when twelve rows have been learnt
    "NormaRegressor": X[:, 0],
}
ROWS = [dict(zip("abc", row, strict=True)) for row in X.tolist()]


@pytest.mark.parametrize("name", TARGETS)
def test_weights_are_those_of_scikit_learn_s_estimators(name):
    y = TARGETS[name]
    model, estimator = getattr(omkl.river, name)(seed=0), getattr(omkl.sklearn, name)(random_state=0)
    for x, target, w in zip(ROWS, y.tolist(), W.tolist(), strict=True):
        model.learn_one(x, target, w=w)
    estimator.fit(X, y, sample_weight=W)
    made = [model.predict_one(x) for x in ROWS]
    assert made == (
        pytest.approx(estimator.predict(X)) if "Regressor" in name else estimator.predict(X).tolist()
    )
    scores = [model._score(x) for x in ROWS] if len({*y.tolist()}) != 3 else None
    assert scores is None or scores == pytest.approx(
        getattr(estimator, "decision_function", estimator.predict)(X)
    )
    plain = getattr(omkl.river, name)(seed=0)
    for x, target in zip(ROWS, y.tolist(), strict=True):
        plain.learn_one(x, target)
    assert [plain._score(x) for x in ROWS] != [model._score(x) for x in ROWS]


def test_a_pipeline_hands_weights_on():
    model = preprocessing.StandardScaler() | omkl.river.NormaClassifier()
    model.learn_one({"a": 1.0}, True, w=2.0)
    assert model.predict_one({"a": 1.0}) is True


@pytest.mark.parametrize(
    ("name", "w", "said"),
    [
        ("OmkcDdClassifier", 2, "OmkcDdClassifier takes no weight, w=2: its step has no size"),
        ("OkrRegressor", 0.5, "OkrRegressor takes no weight, w=0.5: its step has no size"),
        ("NormaClassifier", -1, "w must be a number ≥ 0, got -1"),
        ("NormaClassifier", math.nan, "w must be a number ≥ 0, got"),
        ("NormaClassifier", "2", "w must be a number ≥ 0, got '2'"),
        ("RffClassifier", 4.5, r"eta .*\(w=4.5\)"),
    ],
)
def test_what_is_no_weight_is_refused_and_changes_nothing(name, w, said):
    model = getattr(omkl.river, name)(seed=0)
    with pytest.raises(ValueError, match=said):
        model.learn_one(ROWS[0], True, w=w)
    assert model.__dict__.keys() == getattr(omkl.river, name)(seed=0).__dict__.keys()
    model.learn_one(ROWS[0], True, w=1)


@pytest.mark.parametrize("name", ["KrlsTRegressor", "AutoRegressor", "IegpRegressor"])
def test_a_prediction_comes_with_its_distribution_as_river_s_own_does(name):
    model, estimator = getattr(omkl.river, name)(seed=0), getattr(omkl.sklearn, name)(random_state=0)
    before = model.predict_one(ROWS[0], with_dist=True)
    assert (before.mu, before.sigma) == (0.0, math.inf)
    for x, target in zip(ROWS, X[:, 0].tolist(), strict=True):
        model.learn_one(x, target)
    mean, std = estimator.fit(X, X[:, 0]).predict(X[:1], return_std=True)
    made = model.predict_one(ROWS[0], with_dist=True)
    assert type(made) is type(linear_model.BayesianLinearRegression().predict_one(ROWS[0], with_dist=True))
    assert (made.mu, made.sigma) == pytest.approx((mean[0], std[0]))
    assert made.mu == model.predict_one(ROWS[0])
    assert 0.5 < made.cdf(made.mu + made.sigma) < 1


def test_who_does_not_know_a_distribution_says_so():
    model = omkl.river.NormaRegressor()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"does not say how uncertain a prediction is; .* do"):
            model.predict_one(ROWS[0], with_dist=True)
        model.learn_one(ROWS[0], 1.0)
