"""What every learner of conf/algo keeps to: seeds, inputs, blocks, cuts and scoring."""

import copy
import dataclasses
import itertools

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
    kernel_of,
    new_learner,
    one_pass,
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
# Options under which 300 examples are enough to tell two runs apart: budgets that overflow, a random removal.
DRAWS = {
    "bomkc_bogd": {"budget": 5, "removal": "uniform"},  # the default, fifo, draws nothing
    "bomkc_rbp": {"budget": 5},
    "norma_novelty": {"nu": 0.3},  # at the default two orders differ in few novelties or none
}
STREAMS = {"wdbc": wdbc, "ties": ties, "clouds": clouds}
POOLS = {"mixed": MIXED, "cosine": COSINE, "paper16": "paper16"}


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
    assert not np.array_equal(scored.score, learnt.score)  # learning changes later predictions
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
