"""What every learner keeps to with extreme numbers: it stays finite, and many columns cost nothing."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from support.engine_cases import assert_same, clouds, dataset, kernel_of, one_pass, sparse, state, traced

from omkl.config import learner_names, learner_spec
from omkl.testing import contracts
from omkl.testing.contracts import CHEAP, check_finite

CLASSIFIERS = [
    n
    for n in learner_names()
    if learner_spec(n).kernels != "none" and "classification" in learner_spec(n).tasks
]
REGRESSION = [n for n in learner_names() if "regression" in learner_spec(n).tasks]
FEATURES = [n for n in learner_names() if "F" in learner_spec(n).state]  # random ones, no stored vectors
FREEING = ("ahpatron", "bomkc_ahpatron", "dualsgd")  # a full budget loses several vectors at once


def extremes():
    """(learner, pool, size): every size with every learner; the pools in turn where it takes one."""
    pools = ["paper16", "paper16_cosine", "laplace13"]
    for at, name in enumerate(learner_names()):
        own = pools if learner_spec(name).kernels == "pool" else pools[:1]
        for number, size in enumerate([1e-160, 1e-150, 1e60, 1e150, 1e160]):
            yield name, own[(at + number) % len(own)], size


@pytest.mark.parametrize(
    ("name", "over"),
    [
        (name, dict.fromkeys({"alpha", "beta"} & learner_spec(name).defaults.keys(), beta) if beta else {})
        for name in learner_names()
        for beta in ([1e-300, 1 - 1e-15] if "beta" in learner_spec(name).defaults else [None])
    ],
)
def test_finite_after_ten_thousand_rounds(name, over):
    contracts.finite_after_many_rounds(name, **over)


@pytest.mark.parametrize(("name", "pool", "size"), list(extremes()))
def test_extreme_features_leave_no_nan_and_an_overflow_is_a_mistake(name, pool, size):
    contracts.extreme_features(name, size, pool)


@pytest.mark.parametrize("size", [1e60, 1e150, 1e-160])
@pytest.mark.parametrize("pool", ["paper16", "paper16_cosine"])
@pytest.mark.parametrize(
    ("name", "over"),
    [
        *((name, {}) for name in learner_names() if "budget" in learner_spec(name).defaults),
        ("bomkc_bogd", {"removal": "uniform"}),
        ("bomkc_bogd", {"removal": "nonuniform"}),
        ("bomkc_bpas", {"normalise": True}),
    ],
)
def test_extreme_features_leave_every_coefficient_of_a_full_budget_finite(name, over, pool, size):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    X[5::4] *= size
    data = dataset(X, rng.choice([-1.0, 1.0], 120))
    learner, trace = one_pass(name, data, pool, budget=6, **over)
    check_finite(name, data, learner, trace)
    B = learner.state["B"]
    assert (1 if name in FREEING else 6) <= B.n_sv.max() <= 6
    for what, array in {"A": B.A, **{k: learner.state[k] for k in ("Q", "M") if k in learner.state}}.items():
        assert np.isfinite(array).all(), what


def test_a_kernel_that_overflows_is_not_rewarded():
    """inf - inf is no output: the kernel errs on it, as on any sum without a sign."""
    X = np.array([[1e60], [-1e60]] * 20)
    data = dataset(X, np.tile([1.0, 1.0, -1.0, -1.0], 10))
    pool = {
        "normalise": "none",
        "kernels": [{"kind": "polynomial", "degree": 6}, {"kind": "gaussian", "sigma": 1.0}],
    }
    learner, _ = one_pass("omkc_dd", data, pool)
    assert learner.state["E"].n_sv[0] >= data.T - 2  # the first sums are inf, not NaN


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_stores_one_sign_and_is_learnt(name):
    data = dataclasses.replace(clouds(), y=np.ones(300))
    own = kernel_of(name)
    if own and name in FEATURES:  # features of a narrow kernel are noise here
        own["kernel"]["sigma"] = 5.0
    learner, trace = one_pass(name, data, CHEAP, **own)
    if name not in {*REGRESSION, *FEATURES, "bomkc_nogd"}:  # coefficients of any sign
        assert (state(learner)["A"] >= 0).all()
    assert trace.mistake[150:].sum() <= 0.1 * 150


WITHOUT_FEATURES = [
    n for n in learner_names() if n not in {*FEATURES, "stack", "auto"}
]  # others have d frequencies each


@pytest.mark.parametrize("name", WITHOUT_FEATURES)
def test_many_columns_cost_what_their_non_zeros_cost(name):
    """d = 100000: dense rows would take 0.6 GB, and the same columns renumbered give the same bits."""
    data = sparse(T=800, d=100_000, per_row=20)
    tracemalloc.start()
    learner, trace = one_pass(name, data, CHEAP)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    squares = [array for array in learner.state.values() if isinstance(array, np.ndarray) and array.ndim == 2]
    assert peak < 60e6 + 3 * sum(array.nbytes for array in squares)  # the Gram matrix of all that was stored
    used, renumbered = np.unique(data.indices, return_inverse=True)
    small = dataclasses.replace(data, indices=renumbered.astype(np.int32).reshape(-1), d=used.size)
    other, trace_small = one_pass(name, small, CHEAP)
    assert_same(traced(trace), traced(trace_small))
    if learner.classifiers is not None:
        np.testing.assert_array_equal(state(learner)["A"], state(other)["A"])
