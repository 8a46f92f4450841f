"""Random features: their accuracy, their distribution, and frequencies that are given."""

import math

import numpy as np
import pytest
from numba import njit
from reference.kernels import kernel
from support.engine_cases import case_stream, clouds, fresh_learner

from omkl.config import learner_spec, pool
from omkl.engine.features import further_frequencies, lift, make_features
from omkl.engine.lanes import sincos
from omkl.errors import UserError
from omkl.passes import Learner

KERNELS = [{"kind": "gaussian", "sigma": 0.7}, {"kind": "gaussian", "gamma": 0.05}]


@njit
def _all(x, sines, cosines):
    for j in range(x.size):
        sines[j], cosines[j] = sincos(x[j])


def test_sincos_is_the_c_librarys():
    rng = np.random.default_rng(0)
    near = np.arange(-60_000, 60_000) * (math.pi / 2)  # next to the zeros
    x = np.concatenate(
        [rng.normal(size=50_000) * 9, rng.uniform(-1e5, 1e5, 50_000), near, [0.0, -0.0, 1e-300]]
    )
    found = np.empty((2, x.size))
    _all(x, *found)
    for values, function in zip(found, (math.sin, math.cos), strict=True):
        np.testing.assert_allclose(values, [function(v) for v in x], rtol=1e-15, atol=0)


def test_features_are_sines_and_cosines_of_any_size():
    data = clouds(T=40)
    for size in (1.0, 1e4, 1e6, 1e9, 1e12, 1e15, 1e160):
        V = np.random.default_rng(1).normal(size=(2, 6, data.d)) * size
        F = make_features(KERNELS, data.d, 6, "iid", None, V)
        stream = case_stream(data)
        for t in range(data.T):
            x = np.zeros(data.d)
            at = slice(*data.indptr[t : t + 2])
            x[data.indices[at]] = data.values[at]
            z, p = lift(F, stream, t).copy(), F.p.reshape(2, 6)
            np.testing.assert_allclose(p, V @ x, rtol=1e-12, atol=1e-12 * size)
            np.testing.assert_allclose(z[:, :6], np.sin(p) / math.sqrt(6), rtol=2e-15, atol=0)
            np.testing.assert_allclose(z[:, 6:], np.cos(p) / math.sqrt(6), rtol=2e-15, atol=0)


@pytest.mark.parametrize("kind", ["iid", "orthogonal"])
@pytest.mark.parametrize("d", [3, 8])
def test_features_approximate_their_kernels(kind, d):
    rng = np.random.default_rng(3)
    D, x = 4000, rng.normal(size=d) * 0.4
    F = make_features(KERNELS, d, D, kind, rng)
    V = F.V.T.reshape(2, D, d)
    for frequencies, rate in zip(V, (1 / (2 * 0.7**2), 0.05), strict=True):
        assert np.cos(frequencies @ x).mean() == pytest.approx(math.exp(-rate * x @ x), abs=5 / math.sqrt(D))


@pytest.mark.parametrize(("kind", "degrees"), [("orthogonal", 8), ("authors", 1)])
def test_frequencies_are_orthogonal_in_blocks_with_chi_lengths(kind, degrees):
    d, D = 8, 1004  # the last block has four rows
    F = make_features(KERNELS, d, D, kind, np.random.default_rng(0))
    for V, sigma2 in zip(F.V.T.reshape(2, D, d), (0.49, 10.0), strict=True):
        for start in range(0, D, d):
            G = V[start : start + d] @ V[start : start + d].T
            np.testing.assert_allclose(G - np.diag(np.diag(G)), 0, atol=1e-12 * G.max())
        squares = (V**2).sum(axis=1) * sigma2 if kind == "orthogonal" else (V**2).sum(axis=1) / sigma2**2
        assert squares.mean() == pytest.approx(degrees, rel=0.15)
        assert squares.var() == pytest.approx(2 * degrees, rel=0.35)
    assert F.scale == (1.0 if kind == "authors" else pytest.approx(D**-0.5))


def test_frequencies_may_be_given_and_must_fit():
    data, spec, given = clouds(T=20), learner_spec("raker"), pool("gauss3")
    V = np.random.default_rng(0).normal(size=(3, 50, data.d))
    first, second = (
        Learner(spec, spec.usual(data.task), given, data.d, seed, frequencies=V).run(case_stream(data))[0]
        for seed in (1, 2)
    )
    np.testing.assert_array_equal(first.score, second.score)
    with pytest.raises(UserError, match=r"shape \(3, 50, 4\); 3 kernels, D=50 and d=5 need \(3, 50, 5\)"):
        Learner(spec, spec.usual(data.task), given, data.d, 1, frequencies=V[:, :, :4])


def test_a_pass_of_known_length_may_come_in_parts():
    data = clouds(T=60)
    whole = fresh_learner("rff", "gauss3", data.d).run(case_stream(data))[0].score
    parts = fresh_learner("rff", "gauss3", data.d, rounds=data.T)
    scores = [parts.run(case_stream(data, np.arange(a, b)))[0].score for a, b in ((0, 25), (25, 60))]
    np.testing.assert_array_equal(whole, np.concatenate(scores))


@pytest.mark.parametrize("how", ["iid", "orthogonal"])
@pytest.mark.parametrize(
    "one",
    [
        {"kind": "laplacian", "sigma": 1.5},
        {"kind": "matern32", "sigma": 1.5},
        {"kind": "rational_quadratic", "sigma": 1.5, "alpha": 0.7},
        {"kind": "ard", "sigma": 1.5, "scales": [0.5, 1.0, 4.0]},
        {"kind": "periodic_each", "period": 2.0, "length": 0.8},
    ],
    ids=lambda one: one["kind"],
)
def test_features_of_other_kernels_are_close_to_them(one, how):
    """The mean of 60,000 cosines has a standard error below 0.003."""
    X = np.random.default_rng(1).normal(size=(30, 3))
    V = make_features([one], 3, 60000, how, np.random.default_rng(2)).V
    found = np.cos(X @ V - X[:1] @ V).mean(axis=1)
    expected = kernel(one, X @ X[0], (X * X).sum(1), (X[0] * X[0]).sum(), X, X[0])
    np.testing.assert_allclose(found, expected, atol=0.015)
    with pytest.raises(UserError, match="cannot go on with new columns"):
        further_frequencies([one], make_features([one], 3, 5, how, np.random.default_rng(2)), 4, how, None)
