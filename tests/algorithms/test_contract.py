"""What every learner of conf/algo keeps to: seeds, inputs, blocks, cuts, scoring, and staying finite."""

import copy
import dataclasses
import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_cases import (
    COSINE,
    MIXED,
    assert_same,
    clouds,
    dataset,
    fitting,
    new_learner,
    one_pass,
    sparse,
    state,
    stream_of,
    ties,
    traced,
    wdbc,
)

from omkl.config import learner_names, learner_spec
from omkl.data import order as data_order
from omkl.engine.stream import make_stream
from omkl.learner import run_pass

EVERY = pytest.mark.parametrize("name", learner_names())
STOCHASTIC = [n for n in learner_names() if learner_spec(n).stochastic]
# Learners to which the perceptron's rule for f = 0 does not apply, and why.
NOT_PERCEPTRONS = {
    "alma": "stores by its margin, with steps that shrink",
    "alma0": "with steps that shrink",
    "bomkc_bogd": "stores by its margin, with coefficients that shrink",
    "bomkc_bpas": "stores by its hinge loss",
    "bomkc_nogd": "stores by its hinge loss",
    "bomkc_projectron": "stores no example twice",
    "bomkc_projectronpp": "stores no example twice",
    "bomkc_spa": "stores at random, by its hinge loss",
    "norma": "stores by its margin, with coefficients that shrink",
    "norma_novelty": "reads no labels",
    "norma_nu": "stores by a margin that adapts",
    "omklo_da": "stores on mistakes of the ensemble",
    "omklo_sua": "stores on mistakes of the ensemble, one sampled kernel",
    "omklp_sua": "updates one sampled kernel a round",
}
# Options under which 300 examples are enough to tell two runs apart: budgets that overflow, a random removal.
DRAWS = {
    "bomkc_bogd": {"budget": 5, "removal": "uniform"},  # the default, fifo, draws nothing
    "bomkc_rbp": {"budget": 5},
    "norma_novelty": {"nu": 0.3},  # at the default two orders differ in few novelties or none
}
CLASSIFIERS = [
    n
    for n in learner_names()
    if learner_spec(n).kernels != "none" and "classification" in learner_spec(n).tasks
]
REGRESSION = [n for n in learner_names() if "regression" in learner_spec(n).tasks]
FEATURES = [n for n in learner_names() if "F" in learner_spec(n).state]  # random ones, no stored vectors
CHEAP = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": s} for s in (0.1, 0.2, 1.0)]}
STREAMS = {"wdbc": wdbc, "ties": ties, "clouds": clouds}
POOLS = {"mixed": MIXED, "cosine": COSINE, "paper16": "paper16"}


def kernel_of(name):
    """Hyperparameters under which a learner with a kernel of its own uses a narrow Gaussian."""
    return {"kernel": {"kind": "gaussian", "sigma": 0.5}} if learner_spec(name).kernels == "own" else {}


@EVERY
def test_same_seed_same_result(name):
    data = clouds()
    learner, trace = one_pass(name, data, seed=5)
    again, trace_again = one_pass(name, data, seed=5)
    assert_same(traced(trace), traced(trace_again))
    assert_same(state(learner), state(again))


@pytest.mark.parametrize("name", STOCHASTIC)
def test_another_seed_draws_otherwise(name):
    data = clouds()
    _, trace = one_pass(name, data, seed=5, **DRAWS.get(name, {}))
    _, other = one_pass(name, data, seed=6, **DRAWS.get(name, {}))
    assert not np.array_equal(trace.score, other.score)


@pytest.mark.parametrize("name", [n for n in learner_names() if n not in STOCHASTIC])
def test_a_deterministic_learner_ignores_the_seed(name):
    data = clouds()
    assert_same(traced(one_pass(name, data, seed=5)[1]), traced(one_pass(name, data, seed=6)[1]))


@EVERY
def test_repetitions_differ_by_order_and_draws(name):
    data, spec = clouds(), learner_spec(name)
    given_pool = fitting(spec, MIXED) if spec.kernels == "pool" else None
    params = {**spec.defaults, **DRAWS.get(name, {})}
    runs = [run_pass(spec, params, given_pool, data, *data_order(data, "permuted", 1, r)) for r in (0, 1, 0)]
    for run in runs:
        del run["seconds"]
    assert runs[0] == runs[2]
    assert runs[0]["curve"] != runs[1]["curve"]
    # the same order, so that only the learner's own draws are left to differ
    same_order = [run_pass(spec, params, given_pool, data, np.arange(data.T), s)["curve"] for s in (1, 2)]
    assert (same_order[0] != same_order[1]) == spec.stochastic


@EVERY
def test_inputs_are_untouched_and_may_be_memory_mapped(name, tmp_path):
    data = wdbc()
    fields = ("indptr", "indices", "values", "y")
    before = {f: getattr(data, f).copy() for f in fields}
    order = np.random.default_rng(0).permutation(data.T)
    learner, trace = one_pass(name, data, "paper16", order)
    assert_same(before, {f: getattr(data, f) for f in fields})
    for f in fields:
        np.save(tmp_path / f, getattr(data, f))
    mapped = dataclasses.replace(data, **{f: np.load(tmp_path / f"{f}.npy", mmap_mode="r") for f in fields})
    learner_mapped, trace_mapped = one_pass(name, mapped, "paper16", order)
    assert_same(traced(trace), traced(trace_mapped))
    assert_same(state(learner), state(learner_mapped))


@EVERY
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("stream", STREAMS)
def test_block_size_changes_no_bit(stream, pool, name):
    if pool != "mixed" and learner_spec(name).usual_pool:
        pytest.skip("takes the Gaussians of a pool only, which mixed has")
    data = STREAMS[stream]()
    for own in ({}, kernel_of(name)) if kernel_of(name) else ({},):
        learner, trace = one_pass(name, data, POOLS[pool], block=256, **own)
        for block in (1, 3, 16, 64):
            other, trace_other = one_pass(name, data, POOLS[pool], block=block, **own)
            assert_same(traced(trace), traced(trace_other), f"block {block}")
            assert_same(state(learner), state(other), f"block {block}")


@EVERY
def test_block_size_where_a_kernel_is_narrow_in_some_blocks_only(name):
    """Outputs near 1e-13 beside stored vectors: whether they pass for doubtful may depend on the block."""
    T = 400
    x = -2.55 - 0.3 * np.random.default_rng(0).random(T)
    x[0], x[5::9] = 2.9, 4.0
    data = dataset(x[:, None], np.ones(T))
    pool = {"normalise": "none", "kernels": [{"kind": "gaussian", "gamma": 1.0}]}
    own = {"kernel": pool["kernels"][0]} if kernel_of(name) else {}
    learner, trace = one_pass(name, data, pool, block=256, **own)
    for block in (1, 3, 16, 64):
        other, trace_other = one_pass(name, data, pool, block=block, **own)
        assert_same(state(learner), state(other), f"block {block}")
        np.testing.assert_array_equal(trace.mistake, trace_other.mistake)
        np.testing.assert_allclose(trace.score, trace_other.score, rtol=1e-15)


@EVERY
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    cuts=st.lists(st.integers(0, 300), max_size=6),
    block=st.sampled_from([1, 16, 128]),
    stream=st.sampled_from(["ties", "clouds"]),
)
def test_a_pass_cut_anywhere_equals_one_pass(name, cuts, block, stream):
    data = STREAMS[stream]()
    learner, trace = one_pass(name, data, **kernel_of(name))
    parts = new_learner(name, MIXED, data.d, block=block, rounds=data.T, **kernel_of(name))
    ends = [0, *sorted(cuts), data.T]
    traces = []
    for start, stop in itertools.pairwise(ends):
        fresh = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(start, stop))
        traces.append(traced(parts.run(fresh)[0]))
    assert_same(
        traced(trace), {k: np.concatenate([t[k] for t in traces]) for k in traces[0]}, f"cut at {ends}"
    )
    assert_same(state(learner), state(parts), f"cut at {ends}")


@EVERY
def test_scoring_changes_no_state_and_predicts_as_learning_would(name):
    data, new = clouds(), clouds(T=40, seed=9)
    learner, _ = one_pass(name, data, **kernel_of(name))
    before = state(learner)
    scorer = copy.deepcopy(learner)
    scored = scorer.run(stream_of(new), learn=False)[0]
    assert_same(before, state(scorer))
    learnt = copy.deepcopy(learner).run(stream_of(new))[0]
    assert not np.array_equal(scored.score, learnt.score)  # learning on the new data goes on to differ
    for k in range(0, new.T, 3):
        one = copy.deepcopy(learner)
        one.run(stream_of(new, np.arange(k)), learn=False)  # moves nothing but the generator
        trace, _ = one.run(stream_of(new, np.arange(k, k + 1)))
        assert_same(traced(trace), {n: v[k : k + 1] for n, v in traced(scored).items()}, f"example {k}")


@pytest.mark.parametrize("name", [n for n in learner_names() if n not in STOCHASTIC])
def test_learning_goes_on_after_scoring(name):
    """Scoring other data in the middle leaves the pass as it was (a stochastic learner's draws move on)."""
    data = clouds()
    learner, trace = one_pass(name, data, **kernel_of(name))
    other = new_learner(name, MIXED, data.d, rounds=data.T, **kernel_of(name))
    first, _ = other.run(stream_of(data, np.arange(130)))
    other.run(stream_of(clouds(T=77, seed=3)), learn=False)
    second, _ = other.run(stream_of(data, np.arange(130, data.T)))
    assert_same(traced(trace), {k: np.concatenate([v, traced(second)[k]]) for k, v in traced(first).items()})
    assert_same(state(learner), state(other))


@pytest.mark.parametrize(
    ("name", "over"),
    [
        (name, {"beta": beta} if beta else {})
        for name in learner_names()
        for beta in ([1e-300, 0.5, 1 - 1e-15] if "beta" in learner_spec(name).defaults else [None])
    ],
)
def test_finite_after_ten_thousand_rounds(name, over):
    rng = np.random.default_rng(1)
    T = 10_000
    X = rng.random((T, 2)) * 4
    data = dataset(X, np.where(np.sin(3 * X[:, 0]) + rng.normal(size=T) * 0.1 > 0, 1.0, -1.0))
    learner, trace = one_pass(name, data, CHEAP, **over)
    for what, array in {**traced(trace), **state(learner)}.items():
        assert np.isfinite(array).all(), what
    assert trace.score.size == T
    w = learner.weights
    if w is not None:
        assert (w > 0).all()
        assert w.sum() == pytest.approx(1.0, rel=1e-12)


@EVERY
@pytest.mark.parametrize("size", [1e-160, 1e-150, 1e60, 1e150, 1e160])
@pytest.mark.parametrize("pool", ["paper16", "paper16_cosine", "laplace13"])
def test_extreme_features_leave_no_nan_and_an_overflow_is_a_mistake(name, pool, size):
    """Squares and cubes of such features leave the range of a double; a score that is no number errs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[10:50:4] *= size
    data = dataset(X, rng.choice([-1.0, 1.0], 60))
    learner, trace = one_pass(name, data, pool)
    check_finite(name, data, learner, trace)


def check_finite(name, data, learner, trace):
    """Weights are positive with sum 1, and a score that is no number is a mistake."""
    if learner.weights is not None:
        assert np.isfinite(learner.weights).all()
        assert (learner.weights > 0).all()
        assert learner.weights.sum() == pytest.approx(1.0)
    right = trace.score >= 0 if "novelty" in learner_spec(name).tasks else data.y * trace.score > 0
    np.testing.assert_array_equal(trace.mistake, ~right)


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
    assert B.n_sv.max() == 6
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


@pytest.mark.parametrize("name", [n for n in CLASSIFIERS if n not in {*REGRESSION, *FEATURES}])
def test_exact_zero_is_a_mistake_and_is_stored(name):
    """x with both labels cancels to f = 0 exactly; then x is stored again, whatever its label."""
    X = np.tile([[0.3, -1.7, 2.2]], (9, 1))
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0])
    own = {"kernel": {"kind": "gaussian", "sigma": 0.7}} if kernel_of(name) else {}
    over = {"C": 100.0} if "C" in learner_spec(name).defaults else {}
    if "delta" in learner_spec(name).defaults:
        over |= {"delta": 1.0, "floor": "delta"}  # every kernel is updated
    learner, trace = one_pass(name, dataset(X, y), MIXED, **own, **over)
    if name == "omkc_ddpa":  # its steps end at y f = 1, not at 0
        assert (learner.state["E"].n_sv[:2] == 1 + np.count_nonzero(np.diff(y))).all()
        return
    if name in NOT_PERCEPTRONS:
        pytest.skip(NOT_PERCEPTRONS[name])
    # f before round t, in kernels where k(x, x) = 1: the sum of the stored labels
    f, kept = 0.0, 0
    for label in y:
        if label * f <= 0:
            f += label
            kept += 1
    assert learner.classifiers.size[0] == kept
    assert (learner.classifiers.n_sv[learner.classifiers.n_sv > 0] == kept).all()
    if learner_spec(name).function.startswith("perceptron"):
        assert trace.score[2] == 0.0
        assert trace.mistake[2]


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


@pytest.mark.parametrize("name", [n for n in learner_names() if n not in FEATURES])  # d frequencies a feature
def test_many_columns_cost_what_their_non_zeros_cost(name):
    """d = 100000: dense rows would take 1.6 GB, and the same columns renumbered give the same bits."""
    data = sparse(T=2000, d=100_000, per_row=20)
    tracemalloc.start()
    learner, trace = one_pass(name, data, CHEAP)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6
    used, renumbered = np.unique(data.indices, return_inverse=True)
    small = dataclasses.replace(data, indices=renumbered.astype(np.int32).reshape(-1), d=used.size)
    other, trace_small = one_pass(name, small, CHEAP)
    assert_same(traced(trace), traced(trace_small))
    if learner.classifiers is not None:
        np.testing.assert_array_equal(state(learner)["A"], state(other)["A"])
