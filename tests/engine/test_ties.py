"""Outputs in which stored vectors cancel: their sign is that of the plain sum, not of rounding."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_cases import case_stream, dataset, fresh_learner
from support.whole_numbers import KERNELS, NEVER, engine_outputs


def kernel_value(kernel, dot, square):
    """One kernel by its definition, with Python's own exp, which is the C library's."""
    if kernel["kind"] == "gaussian":
        rate = kernel["gamma"] if "gamma" in kernel else 1 / (2 * kernel["sigma"] ** 2)
        return math.exp(-rate * square)
    if kernel["kind"] == "laplacian":
        return math.exp(-(1 / kernel["sigma"]) * math.sqrt(square))
    return dot ** kernel.get("degree", 1)


def plain_outputs(X, y, steps, kernels):
    """The same in pure Python: every output one sum from left to right. Also the sums of absolute terms."""
    rows = [[int(v) for v in x] for x in X]
    norms = [sum(v * v for v in x) for x in rows]
    F, G = np.zeros((len(y), len(kernels))), np.zeros((len(y), len(kernels)))
    lists = [[] for _ in kernels]
    for t, x in enumerate(rows):
        dots = [sum(u * v for u, v in zip(x, z, strict=True)) for z in rows[:t]]
        for i, kernel in enumerate(kernels):
            total = absolute = 0.0
            for j, a in lists[i]:
                term = a * kernel_value(kernel, float(dots[j]), float(norms[j] + norms[t] - 2 * dots[j]))
                total += term
                absolute += abs(term)
            F[t, i], G[t, i] = total, absolute
            if y[t] * total <= 0:
                lists[i].append((t, steps[t] * y[t]))
    return F, G


def assert_settled(X, y, steps, block):
    F, E = engine_outputs(X, y, steps, KERNELS, block)
    computed, _ = engine_outputs(X, y, steps, KERNELS, block, NEVER)
    np.testing.assert_array_equal(F, computed)
    plain, absolute = plain_outputs(X, y, steps, KERNELS)
    np.testing.assert_array_equal(np.sign(F), np.sign(plain))
    doubtful = (np.abs(plain) <= 1e-13 * absolute) & (absolute > 0)
    np.testing.assert_array_equal(F[doubtful], plain[doubtful])
    np.testing.assert_allclose(F, plain, rtol=0, atol=1e-11 * max(1.0, absolute.max()))
    np.testing.assert_array_equal(E.n_sv, (y[:, None] * plain <= 0).sum(0))
    return int(doubtful.sum()), int((doubtful & (plain != 0)).sum())


def integer_stream(seed, T, d, span):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, span + 1, (T, d)) * (rng.random((T, d)) < rng.choice([0.3, 0.7, 1.0]))
    return X, rng.choice([-1.0, 1.0], T), rng


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    T=st.integers(1, 70),
    d=st.integers(1, 6),
    span=st.integers(1, 12),
    block=st.sampled_from([1, 8, 24, 128]),
)
def test_signs_are_those_of_the_plain_sum_on_whole_numbers(seed, T, d, span, block):
    X, y, _ = integer_stream(seed, T, d, span)
    assert_settled(X, y, np.ones(T), block)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), span=st.integers(1, 4), block=st.sampled_from([1, 24, 128]))
def test_and_with_steps_that_are_no_whole_numbers(seed, span, block):
    """Steps of 0.1 as a passive-aggressive component makes: the products round as well."""
    X, y, rng = integer_stream(seed, 60, 3, span)
    assert_settled(X, y, rng.choice([0.1, 0.3, 1.0], 60), block)


def test_the_streams_above_hold_ties_of_both_kinds():
    """Exact cancellation, and a residue of rounding that decides the sign: else they would prove little."""
    found = np.zeros(2, int)
    for seed in range(20):
        X, y, _ = integer_stream(seed, 60, 3, 3)
        found += assert_settled(X, y, np.ones(60), 24)
    assert found[0] - found[1] > 100  # exactly 0
    assert found[1] > 50  # a residue


def test_a_long_stream_of_few_distinct_rows():
    """Thousands of stored vectors at few distances: the error bound grows with their number."""
    X, y, _ = integer_stream(0, 900, 2, 2)
    doubtful, residues = assert_settled(X, y, np.ones(900), 128)
    assert doubtful > 100
    assert residues > 20


@pytest.mark.parametrize("block", [1, 128])
def test_far_terms_that_underflow_still_decide(block):
    """All terms in the subnormals or near them, where relative errors mean nothing."""
    x = np.array([0, 38, 19, 27, 11, 38, 0, 19, 37, 26, 38, 1])[:, None]
    y = np.array([1.0, -1, 1, -1, -1, 1, -1, 1, -1, 1, 1, -1])
    assert_settled(x, y, np.ones(len(y)), block)


def test_duplicates_with_opposite_labels_give_exactly_zero():
    X = np.repeat([[1, 2, 0], [3, 0, 1], [0, 0, 7]], 2, axis=0)
    y = np.tile([1.0, -1.0], 3)
    learner = fresh_learner("omkc_u", {"normalise": "none", "kernels": KERNELS}, 3)
    data = dataset(np.vstack([X, X]), np.concatenate([y, y]))
    learner.run(case_stream(data))
    E = learner.state["E"]
    narrow = (
        3  # rows this far apart do not see each other: f is 0 before each first copy, +-1 before the second
    )
    assert E.n_sv[narrow] == data.T
    assert E.A[narrow, : data.T].tolist() == data.y.tolist()


@pytest.mark.timeout(300)
def test_a_block_may_have_more_doubtful_rows_than_a_tile():
    """All outputs of a second half orthogonal to the first are 0, and so is the tile's number of vectors."""
    X, block = np.repeat(np.eye(2) * 1.5, 600, axis=0), 600
    pool = {"normalise": "cosine", "kernels": [{"kind": "linear"}, {"kind": "polynomial", "degree": 2}]}
    learner = fresh_learner("omkc_dd", pool, 2, block=block)
    learner.run(case_stream(dataset(X, np.ones(2 * block))))
    assert learner.state["E"].n_sv.tolist() == [2, 2]  # the first row of each half alone


def test_the_error_bound_grows_with_the_coefficients():
    for seed in range(12):
        X, y, _ = integer_stream(seed, 60, 3, 3)
        assert_settled(X, y, np.full(60, 1e9 / 7), 24)
