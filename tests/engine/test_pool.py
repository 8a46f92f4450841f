"""Kernel values and their sums, as the expansion gives them, against direct formulas."""

import math

import numpy as np
import pytest
from reference.kernels import cosine, kernel
from support.engine_cases import COSINE, MIXED, csr_of

from omkl.config import pool
from omkl.config.parameters import value_text
from omkl.engine.expansion import add, make_expansion, outputs, reserve
from omkl.engine.kernels import (
    EITHER,
    KINDS,
    MAX_SQUARINGS,
    VALUE_ERROR,
    all_vanish,
    constants,
    decay,
    falls,
    make_pool,
    plain,
    reach,
    values_of_squares,
)
from omkl.engine.open_block import close
from omkl.engine.stream import make_stream
from omkl.errors import UserError

LADDERS = {
    "paper16's Gaussians": [2.0**k for k in range(-6, 7)],
    "ratio of widths 2": [0.5, 1.0],
    "ratio of widths 4": [16.0, 4.0, 1.0, 0.25],
    "ratio of rates 4 in one step less": [0.1, 0.2],
    "twice as many steps as one ladder may have": [3.0 * 2.0**k for k in range(-13, 13)],
    "irregular": [0.7, 1.0, 1.4, 3.0, 1.4142135623730951],
    "the same width twice": [1.0, 1.0, 0.5],
}
RATES = [  # rates 2 and 16 apart, where widths are not
    [0.3, 0.6, 1.2, 19.2],
    [1.0, 2.0, 32.0, 1024.0, 3.0],
]


def expansion(given, X_stored, A, block):
    """An expansion with these stored vectors and coefficients A (m, n), one unused block laid before each."""
    E = make_expansion(make_pool(given["kernels"], given.get("normalise", "none")), X_stored.shape[1], block)
    arrays = csr_of(X_stored)
    E = reserve(E, len(X_stored), arrays[2].size, X_stored.shape[1])
    stream = make_stream(*arrays, np.ones(len(X_stored)), np.arange(len(X_stored)))
    for t in range(len(X_stored)):
        outputs(E, stream, t)
        add(E, stream, t, np.ascontiguousarray(A[:, t]))
    close(E.open)
    return E


def values(E, X):
    """f (T, m) of the rows of X, nothing being stored."""
    arrays = csr_of(X)
    E = reserve(E, 0, 0, X.shape[1])
    stream = make_stream(*arrays, np.ones(len(X)), np.arange(len(X)))
    found = np.array([outputs(E, stream, t).copy() for t in range(len(X))])
    close(E.open)
    return found


def direct(one, X, Z, normalise="none"):
    """Kernel matrix (T, n) by the definition."""
    norms = [(V * V).sum(1) for V in (X, Z)]
    by = {"none": kernel, "cosine": cosine}[normalise]
    return by(one, X @ Z.T, norms[0][:, None], norms[1][None])


@pytest.mark.parametrize(
    "kernels",
    [
        *([{"kind": "gaussian", "sigma": s} for s in widths] for widths in LADDERS.values()),
        *([{"kind": "gaussian", "gamma": g} for g in rates] for rates in RATES),
    ],
)
def test_every_step_of_a_ladder_is_exp_to_its_error_bound(kernels):
    """One vector stored at 0, rows at sqrt(d2): f is the kernel's value, from 1 down to underflow."""
    rng = np.random.default_rng(0)
    rates = [k["gamma"] if "gamma" in k else 1 / (2 * k["sigma"] ** 2) for k in kernels]
    square = np.concatenate([-np.log(rng.random(200)) * rng.integers(1, 300, 200) / r for r in rates])
    X = np.sqrt(square)[:, None]
    E = expansion({"kernels": kernels}, np.zeros((1, 1)), np.ones((len(kernels), 1)), 128)
    found = values(E, X)
    for i, rate in enumerate(rates):
        exact = np.array([math.exp(-rate * v * v) for v in X[:, 0]])
        normal = exact > 1e-290
        assert normal.any()
        assert (np.abs(found[normal, i] / exact[normal] - 1) < VALUE_ERROR).all()
        np.testing.assert_array_equal(found[exact == 0, i], 0)
        np.testing.assert_allclose(found[~normal, i], exact[~normal], rtol=1e-9, atol=5e-323)


def test_a_ladder_starts_afresh_after_so_many_squarings_and_at_irregular_widths():
    def chains(widths):
        plan = make_pool([{"kind": "gaussian", "sigma": s} for s in widths])
        assert (np.diff(plan.rate[plan.order]) >= 0).all()
        return plan.chain.tolist()

    assert chains([2.0**k for k in range(-6, 7)]) == [-1, *[2] * 6, -1, *[2] * 5]
    assert MAX_SQUARINGS == 12
    assert chains([0.7, 1.0, 1.4]) == [-1, -1, -1]
    assert chains([0.7, 1.0, 2.0]) == [-1, 2, -1]
    assert chains([1.0, 4.0, 4.0]) == [-1, 0, 4]
    assert chains([1.0, 16.0]) == [-1, -1]  # eight squarings would cost more than an exp


@pytest.mark.parametrize("normalise", ["none", "cosine"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 17, 37, 300])
@pytest.mark.parametrize("block", [1, 8, 100, 256])
def test_sums_over_stored_vectors_equal_the_formula(block, n, normalise):
    rng = np.random.default_rng(n)
    given = {"kernels": MIXED["kernels"], "normalise": normalise}
    m = len(given["kernels"])
    Z, X = (rng.normal(size=(k, 6)) * (rng.random((k, 6)) < 0.7) for k in (n, 45))
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.5)
    found = values(expansion(given, Z, A, block), X)
    for i, one in enumerate(given["kernels"]):
        K = direct(one, X, Z, normalise)
        error = np.abs(found[:, i] - K @ A[i])
        assert (error <= 3e-12 * (np.abs(K) @ np.abs(A[i])) + 1e-300).all(), one


@pytest.mark.parametrize("name", ["paper16", "paper16_cosine", "laplace13", "gauss3", "matern7", "rational7"])
def test_the_pools_of_conf_equal_the_formula(name):
    rng = np.random.default_rng(0)
    given = pool(name)
    m = len(given["kernels"])
    Z, X = rng.normal(size=(60, 5)) * 3, rng.normal(size=(150, 5)) * 3
    A = rng.choice([-1.0, 0.0, 1.0], (m, 60))
    found = values(expansion(given, Z, A, 128), X)
    for i, one in enumerate(given["kernels"]):
        K = direct(one, X, Z, given["normalise"])
        # d2 is a difference of norms: at the narrowest width its rounding is multiplied by 2048
        bound = 1e-10 * (np.abs(K) @ np.abs(A[i])) + 1e-300
        assert (np.abs(found[:, i] - K @ A[i]) <= bound).all(), one


def test_more_kernels_than_bits_of_a_set():
    """70 kernels: kernels 64 apart share a bit, and neither may take or lose the other's vectors."""
    rng = np.random.default_rng(0)
    kernels = [{"kind": "gaussian", "gamma": 0.01 * 1.1**i} for i in range(70)]
    Z, X = rng.normal(size=(40, 4)), rng.normal(size=(50, 4))
    A = np.zeros((70, 40))
    A[66, ::3], A[2, 1::3], A[69, 5:9] = 1.0, -1.0, 2.0
    E = expansion({"kernels": kernels}, Z, A, 16)
    found = values(E, X)
    for i in range(70):
        np.testing.assert_allclose(found[:, i], direct(kernels[i], X, Z) @ A[i], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(E.n_sv, np.count_nonzero(A, axis=1))
    assert (E.n_sv_union[0], E.n_sv_sum[0]) == (40, np.count_nonzero(A))


def test_cosine_of_a_zero_vector_is_zero_and_of_equal_vectors_one():
    given = {"normalise": "cosine", "kernels": [{"kind": "polynomial", "degree": p} for p in (1, 2, 3)]}
    Z = np.array([[0.0, 0.0], [3.0, 4.0]])
    found = values(expansion(given, Z, np.ones((3, 2)), 8), np.array([[0.0, 0.0], [3.0, 4.0], [-6.0, -8.0]]))
    np.testing.assert_array_equal(found[0], 0)
    np.testing.assert_allclose(found[1], 1, rtol=1e-15)
    np.testing.assert_allclose(found[2], [-1, 1, -1], rtol=1e-15)


@pytest.mark.parametrize("given", [MIXED, COSINE], ids=("none", "cosine"))
def test_a_plan_evaluates_every_kernel_once(given):
    plan = make_pool(given["kernels"], given["normalise"])
    m = len(given["kernels"])
    assert sorted(plan.order) == list(range(m))
    assert plan.cosine[0] == (given["normalise"] == "cosine")
    assert (plan.group_end > np.arange(m)).all()
    with pytest.raises(UserError, match="the kernel rbf has no function"):
        make_pool([{"kind": "rbf"}])


def test_room_grows_without_losing_what_is_stored():
    rng = np.random.default_rng(0)
    Z, A = rng.normal(size=(30, 4)), rng.normal(size=(len(MIXED["kernels"]), 30))
    E = expansion(MIXED, Z, A, 16)
    X = rng.normal(size=(20, 4))
    before = values(E, X)
    n, nnz = E.n_sv_union[0], E.indptr[E.n_sv_union[0]]
    larger = reserve(E, 1000, 5000, 4)
    assert larger.A.shape[1] == n + 1000
    assert larger.norm2.size == larger.kernel_mask.size == larger.indptr.size - 1 == n + 1000
    assert larger.indices.size == larger.values.size == nnz + 5000
    for field in ("A", "kernel_mask", "indptr", "norm2", "indices", "values"):
        old, new = getattr(E, field), getattr(larger, field)
        np.testing.assert_array_equal(new[..., : old.shape[-1]][..., :n], old[..., :n])
    np.testing.assert_array_equal(values(larger, X), before)
    assert reserve(larger, 1000, 5000, 4) is larger  # room enough: nothing is copied


def of_distance():
    """A narrower and a wider kernel of every kind that is a function of the squared distance."""
    for kind, parameters in KINDS.items():
        if kind not in ("linear", "polynomial"):
            names = [name for name in parameters if name not in EITHER.get(kind, [])[1:]]
            yield from ({"kind": kind, **dict.fromkeys(names, value)} for value in (0.6, 1.7))


@pytest.mark.parametrize("one", list(of_distance()), ids=value_text)
def test_a_kernel_of_the_distance_by_its_five_functions(one):
    """The definition, the fast values, the decay and its inverse agree from distance 0 to underflow."""
    form = (*constants(one), False)
    square = np.concatenate([[0.0], np.geomspace(1e-12, 1e9, 2000), [1e300]])
    exact = kernel(one, 0.0, square, 0.0)
    found = np.array([plain(form, s) for s in square])
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-300)  # rate s is rounded otherwise
    assert (found[0], np.isfinite(found).all()) == (1.0, True)
    fast = np.empty(square.size)
    values_of_squares(form, np.inf, square, square.size, fast)
    np.testing.assert_allclose(fast, exact, rtol=VALUE_ERROR, atol=1e-300)
    normal = exact > 1e-290
    decays = np.array([decay(form, s) for s in square])
    np.testing.assert_allclose(decays[normal], -np.log(exact[normal]), rtol=1e-9, atol=1e-12)
    for level in (0.5, 5.0, 38.0, 700.0):
        far = reach(form, level)
        assert np.isinf(far) or decay(form, far) >= level * (1 - 1e-9)
    for first in range(0, square.size, 8):
        part = square[first : first + 8].copy()
        if not falls(form[0]):
            assert not all_vanish(form, part.max(), part, part.size)
            continue
        skipped = all_vanish(form, part.max(), part, part.size)
        assert skipped == (reach(form, 746.0) <= part.min())
        assert not (skipped and exact[first : first + 8].any())
    assert not all_vanish(form, 1e300, np.array([1e9, 0.0, 1e9]), 3)
