"""More than two classes in scikit-learn's estimators: classes, scores, chunks, saved models."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import omkl.data
import omkl.sklearn
from omkl.config import learner_spec, pool
from omkl.estimators.arguments import estimator_specs
from omkl.passes import run_pass

MANY = [
    name for name, (spec, task) in estimator_specs().items() if task == "classification" and spec.takes(3)
]
WORDS = np.array(["nought", "one", "two", "three", "four"])


@pytest.fixture(scope="module")
def rows():
    """120 digits of five classes, under words."""
    X, y = load_digits(return_X_y=True)
    kept = np.flatnonzero(y < 5)[:120]
    return X[kept] / 16, WORDS[y[kept]]


def seeded(name, rounds):
    estimator = getattr(omkl.sklearn, name)(random_state=7)
    return estimator.set_params(rounds=rounds) if "rounds" in estimator.get_params() else estimator


@pytest.mark.parametrize("name", MANY)
def test_chunks_scores_and_saved_models(name, rows, tmp_path):
    X, y = rows
    whole, parts = seeded(name, len(X)), seeded(name, len(X))
    first = 50
    whole.partial_fit(X[:first], y[:first], classes=WORDS).partial_fit(X[first:], y[first:])
    parts.partial_fit(X[:first], y[:first], classes=WORDS)
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[first : first + 7], y[first : first + 7])
    parts.to_file(tmp_path / "model")
    parts = type(parts).from_file(tmp_path / "model").partial_fit(X[first + 7 :], y[first + 7 :])
    scores = whole.decision_function(X)
    np.testing.assert_array_equal(parts.decision_function(X), scores)
    assert parts.mistakes_ == whole.mistakes_
    assert whole.classes_.tolist() == sorted(WORDS)
    assert scores.shape == (len(X), 5)
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-9 * np.abs(scores).max())
    np.testing.assert_array_equal(whole.classes_[scores.argmax(axis=1)], whole.predict(X))
    with pytest.raises(ValueError, match="'six', which is not in classes_"):
        whole.partial_fit(X[:1], ["six"])


def test_mistakes_are_those_of_a_run_and_coefficients_give_the_scores():
    data = omkl.data.find("iris").load()
    order = np.random.default_rng(0).permutation(data.T)
    X, y = load_iris(return_X_y=True)
    X, y = X[order], np.array(data.classes)[y[order]]
    spec = learner_spec("omkc_dd")
    figures = run_pass(spec, spec.usual("classification"), pool("paper16"), data, order, 1)
    estimator = omkl.sklearn.OmkcDdClassifier().fit(X, y)
    assert estimator.mistakes_ == figures["mistakes"]
    assert np.sum(figures["confusion"]) == data.T
    single = omkl.sklearn.PerceptronClassifier(kernel="gaussian(sigma=1)").fit(X, y)
    square = np.square(X[:, None] - single.support_vectors_.toarray()).sum(2)
    scores = np.exp(-square / 2) @ single.dual_coef_[0]
    np.testing.assert_allclose(single.decision_function(X), scores, rtol=1e-7, atol=1e-12)
