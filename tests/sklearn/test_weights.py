"""sample_weight: what a row's weight is, for each family of learners that has one."""

import inspect

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

import omkl.river
import omkl.sklearn
from omkl.estimators.arguments import argument_name, estimator_specs

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
W = rng.choice([0.5, 1.0, 2.0], size=40)
WEIGHTED = {name: spec for name, (spec, task) in estimator_specs().items() if spec.weight}


def made(name):
    given = {"eta": 0.1} if "eta" in inspect.signature(getattr(omkl.sklearn, name)).parameters else {}
    if "budget" in inspect.signature(getattr(omkl.sklearn, name)).parameters:
        given["budget"] = 20
    return getattr(omkl.sklearn, name)(random_state=0, **given)


def scores(model):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weighted_row_has_a_longer_step_or_less_noise(name):
    spec, y = WEIGHTED[name], (X[:, 0] if "Regressor" in name else Y)
    first = {"classes": [0, 1]} if "Classifier" in name else {}
    weighted = made(name).partial_fit(X[:1], y[:1], **first).partial_fit(X, y, sample_weight=W)
    by_hand = made(name).partial_fit(X[:1], y[:1], **first)
    key = argument_name(spec.weight.removeprefix("1 / "))
    usual = getattr(by_hand, key)
    for t in range(len(y)):
        by_hand.set_params(**{key: usual / W[t] if "/" in spec.weight else usual * W[t]})
        by_hand.partial_fit(X[t : t + 1], y[t : t + 1])
    assert scores(weighted).tolist() == scores(by_hand.set_params(**{key: usual})).tolist()
    assert getattr(weighted, key) == usual
    plain = made(name).fit(X, y)
    some = made(name).fit(X, y, sample_weight=np.arange(40) % 3 > 0)  # a row of weight 0 is none
    assert (
        scores(some).tolist()
        == scores(made(name).fit(X[np.arange(40) % 3 > 0], y[np.arange(40) % 3 > 0])).tolist()
    )
    assert scores(made(name).fit(X, y, sample_weight=np.ones(40))).tolist() == scores(plain).tolist()
    assert scores(made(name).fit(X, y, sample_weight=W)).tolist() != scores(plain).tolist()


def test_a_step_size_of_null_is_that_of_the_stream_s_length():
    y, T = X[:, 0], len(X)
    usual, said = omkl.sklearn.RffRegressor(random_state=0), omkl.sklearn.RffRegressor(random_state=0)
    said.set_params(eta=1 / np.sqrt(T), rounds=T)
    assert (
        scores(usual.fit(X, y, sample_weight=W)).tolist() == scores(said.fit(X, y, sample_weight=W)).tolist()
    )
    parts = omkl.sklearn.RffRegressor(random_state=0, rounds=T)
    for start in range(0, T, 8):
        parts.partial_fit(X[start : start + 8], y[start : start + 8], sample_weight=W[start : start + 8])
    assert scores(parts).tolist() == scores(said).tolist()
    model = omkl.river.RffRegressor(seed=0, rounds=T)
    for x, target, w in zip(X.tolist(), y, W, strict=True):
        model.learn_one(dict(enumerate(x)), target, w=w)
    assert [model.predict_one(dict(enumerate(x))) for x in X.tolist()] == pytest.approx(scores(said))
    with pytest.raises(ValueError, match=r"eta must be a number > 0 and ≤ 1, got 1.1.* \(sample_weight=7\)"):
        usual.fit(X, y, sample_weight=7 * np.ones(T))


def test_arow_knows_after_a_row_of_weight_2_what_it_knows_after_two_rows():
    x, y = np.array([[0.1, 0.0]]), [1]
    once = omkl.sklearn.ArowClassifier().partial_fit(x, y, classes=[0, 1], sample_weight=[2.0])
    twice = omkl.sklearn.ArowClassifier().partial_fit(x, y, classes=[0, 1]).partial_fit(x, y)
    assert once._model.state["P"] == pytest.approx(twice._model.state["P"])


@pytest.mark.parametrize(
    ("name", "weights", "said"),
    [
        ("OmkcDdClassifier", W, "takes no sample_weight: its step has no size that a weight could multiply"),
        ("NormaClassifier", W[:3], r"sample_weight.shape == \(3,\), expected \(40,\)"),
        ("NormaClassifier", 0 * W, "must be a number ≥ 0, and not all of them zero"),
        ("RffClassifier", 9 * W, r"eta .*\(sample_weight=4.5\)"),
    ],
)
def test_what_is_no_weight_is_refused(name, weights, said):
    model = getattr(omkl.sklearn, name)()
    with pytest.raises((TypeError, ValueError), match=said):
        model.fit(X, Y, sample_weight=weights)
    assert "_model" not in vars(model)


# ------------------------------------------------------------------ weights of classes

BY_CLASS = [name for name in WEIGHTED if "Classifier" in name]
OF_CLASSES = {0: 0.5, 1: 2.0}


@pytest.mark.parametrize("name", BY_CLASS)
def test_the_weight_of_a_class_multiplies_those_of_its_rows(name):
    own = np.where(Y == 1, 2.0, 0.5)
    plain = made(name)
    for weights in (None, W):
        by_class = made(name).set_params(class_weight=OF_CLASSES).fit(X, Y, sample_weight=weights)
        by_row = plain.fit(X, Y, sample_weight=own if weights is None else own * W)
        assert scores(by_class).tolist() == scores(by_row).tolist()
    parts = made(name).set_params(class_weight=OF_CLASSES)
    for start in range(0, 40, 8):
        parts.partial_fit(X[start : start + 8], Y[start : start + 8], classes=[0, 1])
    assert scores(parts).tolist() == scores(plain.fit(X, Y, sample_weight=own)).tolist()
    y = np.where(np.arange(40) % 7 == 0, "rare", "usual")
    shares = compute_class_weight("balanced", classes=np.array(["rare", "usual"]), y=y)
    balanced = made(name).set_params(class_weight="balanced").fit(X, y)
    by_row = plain.fit(X, y, sample_weight=np.where(y == "rare", *shares))
    assert scores(balanced).tolist() == scores(by_row).tolist()


def test_more_classes_have_weights_and_a_file_and_set_params_keep_them(tmp_path):
    y = np.array(["a", "b", "c"])[np.arange(40) % 3]
    weights = {"a": 3.0, "c": 0.5}
    model = omkl.sklearn.NormaClassifier(class_weight=weights, random_state=0).fit(X, y)
    by_row = omkl.sklearn.NormaClassifier(random_state=0)
    by_row.fit(X, y, sample_weight=[weights.get(label, 1.0) for label in y])
    assert scores(model).tolist() == scores(by_row).tolist()
    model.to_file(tmp_path / "own.omkl")
    loaded = omkl.sklearn.NormaClassifier.from_file(tmp_path / "own.omkl")
    assert loaded.class_weight == {"a": 3.0, "b": 1.0, "c": 0.5}
    assert scores(loaded.partial_fit(X, y)).tolist() == scores(model.partial_fit(X, y)).tolist()
    model.set_params(class_weight=None).partial_fit(X, y)
    assert scores(model).tolist() != scores(loaded.partial_fit(X, y)).tolist()


@pytest.mark.parametrize(
    ("name", "given", "method", "said"),
    [
        (
            "NormaClassifier",
            "balanced",
            "partial_fit",
            "class_weight 'balanced' is not supported for partial_fit",
        ),
        (
            "NormaClassifier",
            "equal",
            "fit",
            "must be None, 'balanced' or a mapping of classes to weights, got",
        ),
        ("NormaClassifier", {0: 0}, "fit", "each weight of class_weight must be a number > 0"),
        ("NormaClassifier", {0: "much"}, "fit", "each weight of class_weight must be a number > 0"),
        ("NormaClassifier", {"1": 2}, "fit", r"class_weight has the class '1', but the classes are \[0, 1\]"),
        ("RffClassifier", {1: 4.5}, "fit", r"eta .*\(class_weight={1: 4.5}: weight=4.5\)"),
    ],
)
def test_what_is_no_weight_of_a_class_is_refused(name, given, method, said):
    model = getattr(omkl.sklearn, name)(class_weight=given)
    with pytest.raises(ValueError, match=said):
        getattr(model, method)(X, Y)
    assert "_model" not in vars(model)


def test_a_class_that_these_rows_lack_may_have_a_weight():
    assert omkl.sklearn.NormaClassifier(class_weight={0: 1, 1: 2, 2: 3}).fit(X, Y).n_features_in_ == 3


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (omkl.sklearn.OmkcDdClassifier, "no argument 'class_weight': its step has no size that a weight"),
        (omkl.river.OmkcDdClassifier, "no argument 'class_weight': its step has no size that a weight"),
        (omkl.river.NormaClassifier, "no argument 'class_weight': learn_one takes the weight of a row, w="),
        (omkl.sklearn.NormaRegressor, "no argument 'class_weight'$"),
    ],
)
def test_who_has_no_weights_of_classes_says_so(kind, said):
    with pytest.raises(TypeError, match=said):
        kind(class_weight="balanced")
