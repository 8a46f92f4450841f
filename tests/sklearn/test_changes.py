"""Estimators whose arguments are set in mid-stream, or come from a file, or whose labels are missing."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import omkl.sklearn

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


def begun(name, **given):
    estimator = getattr(omkl.sklearn, name)(random_state=0, **given)
    return estimator.partial_fit(X, target(estimator))


def target(estimator):
    return {"classification": y, "regression": X[:, 0]}.get(estimator.task)


@pytest.mark.parametrize(
    ("name", "given", "change"),
    [
        ("OmkcDdClassifier", {}, {"beta": 0.3}),
        ("NormaClassifier", {}, {"eta": 0.1, "lam": 0.01}),
        ("RakerRegressor", {"D": 10}, {"eta": np.float64(0.01)}),
        ("NormaNoveltyDetector", {}, {"nu": 0.5}),
    ],
)
def test_a_number_set_in_mid_stream_takes_effect_and_is_saved(name, given, change, tmp_path):
    set_later, other = begun(name, **given), begun(name, **given)
    set_later.set_params(**change).partial_fit(X, target(other))
    other.partial_fit(X, target(other))
    assert not np.array_equal(scores(set_later), scores(other))
    changed = other.set_params(**change)  # saved before it learns once more
    changed.to_file(tmp_path / "model")
    again = type(changed).from_file(tmp_path / "model")
    assert {key: again.get_params()[key] for key in change} == change
    for copied in (changed, again, pickle.loads(pickle.dumps(changed)), copy.deepcopy(changed)):
        copied.partial_fit(X, target(changed))
        np.testing.assert_array_equal(scores(copied), scores(changed))
    assert clone(again).get_params()["random_state"] is None
    fresh = getattr(omkl.sklearn, name)(random_state=0, **{**given, **change}).fit(X, target(other))
    np.testing.assert_array_equal(
        scores(set_later.set_params(random_state=0).fit(X, target(other))), scores(fresh)
    )


def scores(estimator):
    return getattr(estimator, "decision_function", estimator.predict)(X)


@pytest.mark.parametrize(
    ("name", "given", "change", "said"),
    [
        (
            "BomkcRbpClassifier",
            {"budget": 5},
            {"budget": 9},
            "budget cannot change after learning has begun with 5",
        ),
        ("NormaClassifier", {}, {"kernel": "linear"}, "kernel cannot change"),
        ("NormaClassifier", {"tau": 9}, {"eta": 0.1}, "eta cannot change"),
        ("RakerRegressor", {"D": 5}, {"D": 6}, "D cannot change"),
        ("RidgeFeaturesRegressor", {"D": 5}, {"lam": 0.5}, "lam cannot change"),
        ("BomkcSpaClassifier", {}, {"predict_by": "averaged"}, "predict_by cannot change"),
        ("OmkcDdClassifier", {}, {"pool": "gauss3"}, "pool cannot change .* begun with 'paper16'"),
        ("OmkcSsClassifier", {}, {"random_state": 1}, "random_state cannot change"),
        ("OkrRegressor", {"rounds": 500}, {"rounds": 600}, "rounds cannot change"),
        ("OmkcDdClassifier", {}, {"beta": 7}, "beta must be a number > 0 and ≤ 1, got 7"),
    ],
)
def test_what_has_made_the_state_is_refused_until_fit(name, given, change, said, tmp_path):
    estimator = begun(name, **given)
    before = pickle.dumps(estimator)
    (key,), known = change, estimator.get_params()
    for ask in (
        lambda: estimator.partial_fit(X, target(estimator)),
        lambda: estimator.predict(X),
        lambda: estimator.to_file(tmp_path / "model"),
    ):
        estimator.set_params(**change)
        with pytest.raises(ValueError, match=f"^{name}: {said}"):
            ask()
        assert not (tmp_path / "model").exists()
        estimator.set_params(**{key: known[key]})  # set back
        assert pickle.dumps(estimator) == before
    estimator.predict(X)
    if "must be" not in said:
        estimator.set_params(**change).fit(X, target(estimator)).partial_fit(X, target(estimator))


def test_a_seed_that_is_not_used_may_change():
    begun("OmkcDdClassifier").set_params(random_state=5).partial_fit(X, y)


def test_an_estimator_of_a_file_has_its_arguments(tmp_path):
    kernels = [{"kind": "gaussian", "sigma": 2.0}, {"kind": "linear"}]
    for name, given in (
        ("OmkcDdClassifier", {"beta": 0.25, "pool": {"normalise": "cosine", "kernels": kernels}}),
        ("BomkcSpaClassifier", {"predict_by": "votes", "delta": 0.5}),
        ("NormaClassifier", {"kernel": {"kind": "gaussian", "sigma": 3.0}, "tau": 7, "offset": True}),
    ):
        begun(name, **given).to_file(tmp_path / "model")
        again = getattr(omkl.sklearn, name).from_file(tmp_path / "model")
        copied = clone(again)
        for key, value in given.items():
            assert again.get_params()[key] == value
            assert copied.get_params()[key] == value
        expected = getattr(omkl.sklearn, name)(random_state=0, **given).fit(X, y)
        np.testing.assert_array_equal(scores(copied.set_params(random_state=0).fit(X, y)), scores(expected))


# ------------------------------------------------------------------ missing labels and targets

MISSING = [
    np.array(["no", "yes", np.nan, "yes"], dtype=object),
    np.array(["no", "yes", None, "yes"], dtype=object),
    ["no", "yes", None, "yes"],
    pd.Series(["no", "yes", pd.NA, "yes"], dtype="string"),
    pd.Series(["no", "yes", None, "yes"], dtype="category"),
    np.array([0, 1, np.nan, 1]),
    np.array([0, 1, np.nan, 1], dtype=object),
    pd.Series([0, 1, None, 1], dtype="Int64"),
]
SAID = r"^Input contains NaN: y\[2\] is (nan|None|<NA>), not a {}; leave out such rows$"


@pytest.mark.parametrize("missing", MISSING, ids=[f"{type(y).__name__}-{n}" for n, y in enumerate(MISSING)])
def test_a_missing_label_is_named_in_the_words_of_scikit_learn(missing):
    known = [0, 1] if 1 in list(missing)[1:2] else ["no", "yes"]
    rows = np.eye(4)

    def made():
        return omkl.sklearn.OmkcDdClassifier()

    learnt = made().fit(rows, known * 2)
    for ask in (
        lambda: made().fit(rows, missing),
        lambda: made().partial_fit(rows, missing, classes=known),
        lambda: learnt.partial_fit(rows, missing),
        lambda: learnt.score(rows, missing),
    ):
        with pytest.raises(ValueError, match=SAID.format("label")):
            ask()
    assert learnt.score(rows, known * 2) >= 0


@pytest.mark.parametrize("missing", MISSING[5:])
def test_a_missing_target_is_named_too(missing):
    rows = np.eye(4)
    learnt = omkl.sklearn.OkrRegressor(rounds=8).fit(rows, np.arange(4))
    for ask in (
        lambda: omkl.sklearn.OkrRegressor().fit(rows, missing),
        lambda: learnt.partial_fit(rows, missing),
        lambda: learnt.score(rows, missing),
    ):
        with pytest.raises(ValueError, match=SAID.format("target")):
            ask()
    with pytest.raises(ValueError, match=r"Input y contains infinity: row 1 has the target inf"):
        learnt.partial_fit(rows, [0, np.inf, 1, 2])
    assert learnt.score(rows, np.arange(4)) <= 1


@pytest.mark.parametrize("name", ["OmkcDdClassifier", "OkrRegressor"])
def test_rows_are_not_learnt_without_labels(name):
    learnt = begun(name)
    for rows in (X[:1], X, pd.DataFrame(X)):
        with pytest.raises(ValueError, match=f"{name} requires y to be passed, but the target y is None"):
            learnt.partial_fit(rows, None)
    np.testing.assert_array_equal(scores(learnt), scores(begun(name)))


def test_infinite_values_of_rows_are_named_by_scikit_learn():
    learnt = omkl.sklearn.OmkcDdClassifier().fit(np.eye(4), [0, 1, 0, 1])
    rows = np.eye(4).astype(object)
    rows[1, 1] = np.inf
    for ask in (learnt.predict, learnt.decision_function, lambda X: learnt.partial_fit(X, [0, 1, 0, 1])):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            ask(rows)
