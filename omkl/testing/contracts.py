"""What every learner keeps to, one function each: seeds, inputs, blocks, cuts, scoring, extreme numbers.

A contract takes the name of a learner and raises AssertionError where the learner breaks it. `CONTRACTS` has
those that need nothing but the name, with a line about each.
"""

import copy
import dataclasses
import itertools
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from omkl.config import learner_spec
from omkl.data.dataset import Dataset
from omkl.data.orders import order as data_order
from omkl.engine.conventions import are_mistakes, are_novel
from omkl.engine.stream import make_stream
from omkl.passes import packing as packing  # with it come copies of learners
from omkl.passes import run_pass
from omkl.testing.cases import (
    COSINE,
    MIXED,
    assert_same,
    case_stream,
    clouds,
    dataset,
    fitting,
    fresh_learner,
    kernel_of,
    one_pass,
    state,
    ties,
    traced,
    wdbc,
)

# Options under which 300 examples are enough to tell two runs apart: budgets that overflow, a random removal.
DRAWS: dict[str, dict[str, Any]] = {
    "bomkc_bogd": {"budget": 5, "removal": "uniform"},  # the default, fifo, draws nothing
    "bomkc_rbp": {"budget": 5},
    "stack_regression": {"members": ["iegp(pool=gauss3, D=1)"]},
    "norma_novelty": {"nu": 0.3},  # at the default two orders differ in few novelties or none
}
STREAMS: dict[str, Callable[[], Dataset]] = {"wdbc": wdbc, "ties": ties, "clouds": clouds}
POOLS: dict[str, Any] = {"mixed": MIXED, "cosine": COSINE, "paper16": "paper16"}
CHEAP = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": s} for s in (0.1, 0.2, 1.0)]}


def same_seed_same_result(name: str) -> None:
    """The same seed gives the same trace and state."""
    data = clouds()
    learner, trace = one_pass(name, data, seed=5)
    again, trace_again = one_pass(name, data, seed=5)
    assert_same(traced(trace), traced(trace_again), "with the same seed")
    assert_same(state(learner), state(again), "with the same seed")


def another_seed(name: str) -> None:
    """Another seed changes the scores of a stochastic learner, and of no other."""
    data, options = clouds(), DRAWS.get(name, {})
    _, trace = one_pass(name, data, seed=5, **options)
    _, other = one_pass(name, data, seed=6, **options)
    if not learner_spec(name).stochastic:
        assert_same(traced(trace), traced(other), "with another seed, but about.stochastic is not true")
    else:
        same = np.array_equal(trace.score, other.score)
        assert not same, "two seeds give the same scores, but about.stochastic is true"


def repetitions_differ(name: str) -> None:
    """A repetition is its order and its draws: the same twice, another than the next."""
    data, spec = clouds(), learner_spec(name)
    given = fitting(spec, MIXED) if spec.kernels == "pool" else None
    few = {"D": 2} if "D" in spec.defaults else {}  # with many features, draws differ little
    params = {**spec.defaults, **few, **DRAWS.get(name, {})}
    runs = [run_pass(spec, params, given, data, *data_order(data, "permuted", 1, r)) for r in (0, 1, 0)]
    for run in runs:
        del run["seconds"]
    assert runs[0] == runs[2], "the same repetition gives other figures"
    assert runs[0]["curve"] != runs[1]["curve"], "two repetitions give the same curve"
    # the same order, so that only the learner's own draws are left to differ
    curves = [run_pass(spec, params, given, data, np.arange(data.T), s)["curve"] for s in (1, 2)]
    assert (curves[0] != curves[1]) == spec.stochastic, "its draws do not fit about.stochastic"


def inputs_are_untouched(name: str) -> None:
    """The data stay as they were, and may be mapped from a file."""
    data = wdbc()
    fields = ("indptr", "indices", "values", "y")
    before = {f: getattr(data, f).copy() for f in fields}
    order = np.random.default_rng(0).permutation(data.T)
    learner, trace = one_pass(name, data, "paper16", order)
    assert_same(before, {f: getattr(data, f) for f in fields}, "after the pass")
    with tempfile.TemporaryDirectory() as folder:
        mapped_arrays: dict[str, Any] = {}
        for f in fields:
            np.save(Path(folder, f), getattr(data, f))
            mapped_arrays[f] = np.load(Path(folder, f"{f}.npy"), mmap_mode="r")
        mapped, trace_mapped = one_pass(name, dataclasses.replace(data, **mapped_arrays), "paper16", order)
        assert_same(traced(trace), traced(trace_mapped), "of mapped data")
        assert_same(state(learner), state(mapped), "of mapped data")
        del mapped_arrays, mapped, trace_mapped


def block_size_changes_no_bit(
    name: str, stream: str | None = None, pool: str | None = None, **over: Any
) -> None:
    """The number of rows computed at once changes no bit; on all streams and pools, or one of each."""
    takes_any = learner_spec(name).usual_pool is None  # else the Gaussians of a pool only, which mixed has
    for at, kernels in itertools.product([stream] if stream else STREAMS, [pool] if pool else POOLS):
        if kernels != "mixed" and not takes_any:
            continue
        data = STREAMS[at]()
        for options in ({}, kernel_of(name)) if kernel_of(name) else ({},):
            learner, trace = one_pass(name, data, POOLS[kernels], block=256, **{**options, **over})
            for block in (1, 3, 64):
                other, trace_other = one_pass(name, data, POOLS[kernels], block=block, **{**options, **over})
                what = f"(blocks of 256, of {block}; {at}, {kernels})"
                assert_same(traced(trace), traced(trace_other), what)
                assert_same(state(learner), state(other), what)


def block_size_where_a_kernel_is_narrow(name: str) -> None:
    """Outputs near 1e-13 beside stored vectors: whether they pass for doubtful may depend on the block."""
    T = 400
    x = -2.55 - 0.3 * np.random.default_rng(0).random(T)
    x[0], x[5::9] = 2.9, 4.0
    data = dataset(x[:, None], np.ones(T))
    kernel = {"kind": "gaussian", "gamma": 1.0}
    pool = {"normalise": "none", "kernels": [kernel]}
    options: dict[str, Any] = {"kernel": kernel} if kernel_of(name) else {}
    learner, trace = one_pass(name, data, pool, block=256, **options)
    for block in (1, 3, 16, 64):
        other, trace_other = one_pass(name, data, pool, block=block, **options)
        assert_same(state(learner), state(other), f"block {block}")
        assert_same({"mistake": trace.mistake}, {"mistake": trace_other.mistake}, f"block {block}")
        np.testing.assert_allclose(trace.score, trace_other.score, rtol=1e-15)


def a_cut_pass_equals_one_pass(
    name: str,
    cuts: Iterable[int] = (0, 1, 130, 131, 300),
    block: int = 16,
    stream: str = "ties",
    scored: bool = False,
    **over: Any,
) -> None:
    """A pass cut anywhere, learnt in parts, equals one pass; scored: each part is scored before."""
    data, over = STREAMS[stream](), {**kernel_of(name), **over}
    learner, trace = one_pass(name, data, **over)
    cut_learner = fresh_learner(name, MIXED, data.d, block=block, rounds=data.T, **over)
    ends = [0, *sorted(cuts), data.T]
    traces = []
    for start, stop in itertools.pairwise(ends):
        fresh = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(start, stop))
        if scored:
            cut_learner.run(fresh, learn=False)
        traces.append(traced(cut_learner.run(fresh)[0]))
    joined = {k: np.concatenate([t[k] for t in traces]) for k in traces[0]}
    assert_same(traced(trace), joined, f"cut at {ends}")
    assert_same(state(learner), state(cut_learner), f"cut at {ends}")


def scoring_changes_nothing(name: str) -> None:
    """learn=False changes no state, and predicts as learning would."""
    data, new = clouds(), clouds(T=40, seed=9)
    learner, _ = one_pass(name, data, **kernel_of(name))
    before = state(learner)
    scorer = copy.deepcopy(learner)
    scored = scorer.run(case_stream(new), learn=False)[0]
    assert_same(before, state(scorer), "after scoring")
    learnt = copy.deepcopy(learner).run(case_stream(new))[0]
    assert not np.array_equal(scored.score, learnt.score), "learning changes no later prediction"
    for k in range(0, new.T, 3):
        one = copy.deepcopy(learner)
        one.run(case_stream(new, np.arange(k)), learn=False)  # moves nothing but the generator
        trace, _ = one.run(case_stream(new, np.arange(k, k + 1)))
        assert_same(traced(trace), {n: v[k : k + 1] for n, v in traced(scored).items()}, f"example {k}")


def learning_after_scoring(name: str) -> None:
    """Scoring other data in the middle leaves the pass as it was (a stochastic learner's draws move on)."""
    if learner_spec(name).stochastic:
        return
    data = clouds()
    learner, trace = one_pass(name, data, **kernel_of(name))
    other = fresh_learner(name, MIXED, data.d, rounds=data.T, **kernel_of(name))
    first, _ = other.run(case_stream(data, np.arange(130)))
    other.run(case_stream(clouds(T=77, seed=3)), learn=False)
    second, _ = other.run(case_stream(data, np.arange(130, data.T)))
    joined = {k: np.concatenate([v, traced(second)[k]]) for k, v in traced(first).items()}
    assert_same(traced(trace), joined, "with scoring after round 130")
    assert_same(state(learner), state(other), "with scoring after round 130")


def finite_after_many_rounds(name: str, **over: Any) -> None:
    """After ten thousand rounds all numbers are finite, and weights are positive with sum 1."""
    rng = np.random.default_rng(1)
    T = 10_000
    X = rng.random((T, 2)) * 4
    data = dataset(X, np.where(np.sin(3 * X[:, 0]) + rng.normal(size=T) * 0.1 > 0, 1.0, -1.0))
    learner, trace = one_pass(name, data, CHEAP, **over)
    for what, array in {**traced(trace), **state(learner)}.items():
        assert np.isfinite(array).all(), f"{what} is not finite"
    _check_weights(learner)


def extreme_features(name: str, size: float | None = None, pool: str | None = None) -> None:
    """Features whose powers overflow or underflow leave no NaN; a score that is no number is a mistake."""
    sizes = [1e-160, 1e-150, 1e60, 1e150, 1e160] if size is None else [size]
    for each, kernels in itertools.product(sizes, [pool] if pool else ["paper16", "laplace13"]):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        X[10:50:4] *= each
        data = dataset(X, rng.choice([-1.0, 1.0], 60))
        check_finite(name, data, *one_pass(name, data, kernels))


def check_finite(name: str, data: Dataset, learner: Any, trace: Any) -> None:
    """Weights are positive with sum 1, and a score that is no number is a mistake."""
    _check_weights(learner)
    is_novelty = "novelty" in learner_spec(name).tasks
    wrong = are_novel(trace.score) if is_novelty else are_mistakes(data.y, trace.score)
    assert_same({"mistake": trace.mistake}, {"mistake": wrong}, "by the score")


def _check_weights(learner: Any) -> None:
    w = learner.weights
    if w is not None:
        assert np.isfinite(w).all(), "a weight is not finite"
        assert (w > 0).all(), "a weight is not above 0"
        assert abs(w.sum() - 1.0) < 1e-9, f"the weights have the sum {w.sum()}"


CONTRACTS: dict[str, Callable[[str], None]] = {
    "same seed, same result": same_seed_same_result,
    "another seed": another_seed,
    "repetitions": repetitions_differ,
    "inputs untouched": inputs_are_untouched,
    "block size": block_size_changes_no_bit,
    "block size, narrow kernel": block_size_where_a_kernel_is_narrow,
    "a pass in parts": a_cut_pass_equals_one_pass,
    "scoring": scoring_changes_nothing,
    "learning after scoring": learning_after_scoring,
    "10,000 rounds": finite_after_many_rounds,
    "extreme features": extreme_features,
}
