"""A pass and a learner from Python: what they refuse, what may change in mid-stream, what they count."""

import dataclasses

import numpy as np
import pytest

import omkl.data
from omkl.config import learner_spec, learner_specs, pool
from omkl.errors import OmklError, UserError
from omkl.passes import Learner, run_pass
from omkl.stacks.new_learner import new_learner as of_omkl
from omkl.state.state import parse
from omkl.testing.cases import case_stream, fresh_learner, pool_for

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
TWO = omkl.data.from_arrays(X, np.where(X[:, 0] + X[:, 1] > 0.5, 1, -1))
THREE = omkl.data.from_arrays(X, np.where(X[:, 0] > 0.5, "a", np.where(X[:, 1] > 0, "b", "c")))
GAUSS3 = pool("gauss3")


def usual(name, **changes):
    return {**learner_spec(name).usual("classification"), **changes}


WRONG = [
    ("omkc_dd", {"betta": 0.5}, r"algo=omkc_dd has no hyperparameter 'betta' .did you mean 'beta'"),
    ("omkc_dd", {"slots": 5}, r"algo=omkc_dd has no hyperparameter 'slots'; it has beta"),
    ("omkc_dd", {"beta": 7}, r"algo=omkc_dd: beta must be a number > 0 and ≤ 1, got 7"),
    ("omkc_dd", {"beta": "0.5"}, "beta must be a number"),
    ("bomkc_spa", {"alpha": 4, "beta": 3}, "alpha must be at most beta"),
    ("bomkc_rbp", {"budget": {"match": "bomkc_spa"}}, "budget must be a whole number"),
    (
        "perceptron",
        {"kernel": {"kind": "gaussian", "sigma": -1}},
        "kernel sigma of a gaussian kernel must be",
    ),
]


@pytest.mark.parametrize(("name", "changes", "said"), WRONG)
def test_hyperparameters_that_a_learner_does_not_take(name, changes, said):
    spec, given = learner_spec(name), usual(name, **changes)
    with pytest.raises(UserError, match=said):
        run_pass(spec, given, GAUSS3, TWO, np.arange(60), 0)
    with pytest.raises(UserError, match=said):
        Learner(spec, given, GAUSS3, 3, seed=0)


def test_all_hyperparameters_are_given():
    with pytest.raises(
        UserError, match=r"algo=omkc_dd: beta is missing; spec.usual\(task\) has all defaults"
    ):
        run_pass(learner_spec("omkc_dd"), {}, GAUSS3, TWO, np.arange(60), 0)
    with pytest.raises(OmklError, match=r"lam depends on the task; use spec.usual\(task\)"):
        Learner(learner_spec("raker"), learner_spec("raker").defaults, GAUSS3, 3, seed=0)


def test_a_number_may_be_numpy_s_and_a_kernel_a_word():
    given = usual("bomkc_rbp", budget=np.int64(5), gamma=np.float64(0.5))
    assert Learner(learner_spec("bomkc_rbp"), given, GAUSS3, 3, 0).params == {"budget": 5, "gamma": 0.5}
    words, written = usual("perceptron", kernel="linear"), usual("perceptron", kernel={"kind": "linear"})
    one, other = (
        run_pass(learner_spec("perceptron"), k, None, TWO, np.arange(60), 0) for k in (words, written)
    )
    assert one["mistakes"] == other["mistakes"]


def test_more_classes_than_a_learner_takes_and_values_that_are_not_for_a_task():
    with pytest.raises(UserError, match=r"algo=alma is for two classes, data=.* has 3"):
        run_pass(learner_spec("alma"), usual("alma"), None, THREE, np.arange(60), 0)
    target = dataclasses.replace(TWO, y=X[:, 0], task="regression")
    spec = learner_spec("raker")
    wrong = {**spec.usual("regression"), "loss": "logistic"}
    with pytest.raises(UserError, match="loss=logistic is not for regression"):
        run_pass(spec, wrong, GAUSS3, target, np.arange(60), 0)


# ------------------------------------------------------------------ what may change in mid-stream

MAY_CHANGE = {  # of some learners; all others of theirs may not
    "omkc_dd": {"beta"},
    "omkc_ss": {"beta", "delta"},
    "raker": {"eta", "lam"},
    "ridge_features": set(),  # lam is in the inverse matrix from the beginning
    "bomkc_bogd": {"gamma", "eta", "lam", "clip"},
    "bomkc_nogd": {"gamma", "eta"},  # rank decides the maps
    "bomkc_spa": {"alpha", "beta", "eta", "gamma", "delta"},  # predict: whether means are kept
    "iegp": {"tau", "drift"},
    "norma": {"eta", "lam", "rho"},
    "norma_novelty": {"eta", "lam", "nu"},  # start is where rho began
    "perceptron_star": set(),
    "dualsgd": {"k", "lam"},
}
OTHER = {"bool": [True, False], "budget": [5, 9], "kernel": [{"kind": "gaussian", "sigma": 3.0}]}


def others(parameter, value):
    """Values of a hyperparameter's domain that are not this one."""
    domain = parameter.domain
    some = domain if isinstance(domain, list) else OTHER.get(domain, [0.25, 0.75, 1.5, 2, 3, 50])
    for one in some:
        try:
            if parameter.check(one) != value:
                yield parameter.check(one)
        except ValueError:
            pass


def changes(learner):
    """The hyperparameters of which a change is taken, and those of which it is refused."""
    taken, refused = set(), set()
    for name, parameter in learner.spec.hyperparameters.items():
        for value in others(parameter, learner.params[name]):
            before = dict(learner.params)
            try:
                learner.change({**before, name: value})
            except UserError as error:
                assert learner.params == before
                if f"{name} cannot change after learning has begun" in str(error):
                    refused.add(name)
            else:
                assert learner.params[name] == value
                taken.add(name)
    return taken, refused


@pytest.mark.parametrize("name", MAY_CHANGE)
def test_numbers_that_no_part_of_the_state_holds_may_change(name):
    spec = learner_spec(name)
    params = spec.usual(spec.tasks[0])
    learner = Learner(spec, params, pool_for(spec, params, GAUSS3), 3, seed=0, rounds=60)
    taken, refused = changes(learner)
    assert taken == MAY_CHANGE[name]
    assert refused == spec.hyperparameters.keys() - taken


def test_a_window_holds_powers_of_the_step_size():
    taken, refused = changes(fresh_learner("norma", None, 3, tau=20))
    assert taken == {"rho"}
    assert {"eta", "lam", "tau", "step", "offset", "kernel"} == refused


def test_what_decides_the_size_of_a_state_never_changes():
    for spec in learner_specs().values():
        if spec.estimator:
            continue
        params = spec.usual(spec.tasks[0])
        learner = of_omkl(spec, params, pool_for(spec, params, GAUSS3), 3, seed=0, rounds=60)
        before = {name: getattr(array, "shape", None) for name, array in learner.state.items()}
        taken, _ = changes(learner)
        fresh = of_omkl(spec, learner.params, pool_for(spec, params, GAUSS3), 3, seed=0, rounds=60)
        assert {name: getattr(array, "shape", None) for name, array in fresh.state.items()} == before, taken
        assert not taken & {"budget", "D", "kernel", "features", "tau", "levels"} or spec.name in (
            "iegp",
            "edoebe",
        )


def test_a_change_takes_effect_from_the_next_round_on():
    """OMKC's classifiers do not depend on its discount: a kernel's weight is a power for each part."""
    learner, first = (fresh_learner("omkc_dd", GAUSS3, 3, beta=0.9) for _ in range(2))
    half, stream = case_stream(TWO, np.arange(30)), case_stream(TWO, np.arange(30, 60))
    learner.run(half)
    first.run(half)
    learner.change({"beta": 0.3})
    learner.run(stream)
    first.run(stream)
    before, whole = fresh_learner("omkc_dd", GAUSS3, 3, beta=0.9), first.weights
    before.run(half)
    mistakes = np.log(whole / before.weights) / np.log(
        0.9
    )  # of each kernel in the second part, but for one number
    expected = before.weights * 0.3**mistakes
    np.testing.assert_allclose(learner.weights, expected / expected.sum(), rtol=1e-9)
    assert not np.allclose(learner.weights, whole)


def test_made_with_names_hyperparameters():
    for wrong, said in (
        ({"made_with": ["lamb"]}, "'lamb' is not a hyperparameter"),
        ({"made_with": "lam"}, "list"),
    ):
        with pytest.raises(ValueError, match=said):
            parse({"a": {"shape": [2], **wrong}}, {"lam": 0.1})


# ------------------------------------------------------------------ what is counted


def test_the_rows_of_a_confusion_matrix_are_the_classes():
    for name, data in (("omkc_dd", TWO), ("omkc_dd", THREE), ("majority", TWO), ("arow", THREE)):
        figures = run_pass(learner_spec(name), usual(name), GAUSS3, data, np.arange(60), 0)
        counts = np.array(figures["confusion"])
        sizes = np.unique(data.y, return_counts=True)[1]
        assert len(set(sizes.tolist())) == len(sizes) > 1
        np.testing.assert_array_equal(counts.sum(axis=1), sizes)
        if data is TWO:
            assert counts.sum() - counts.trace() == figures["mistakes"]
