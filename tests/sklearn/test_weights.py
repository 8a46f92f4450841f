"""sample_weight: what a row's weight is, for each family of learners that has one."""

import inspect

import numpy as np
import pytest

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
