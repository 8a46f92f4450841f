"""The naive twins of the OMKC learners against numbers worked out by hand."""

import math

import numpy as np
import pytest
from reference import omkc_dd, omkc_ddpa, omkc_ds, omkc_sd, omkc_ss, omkc_u
from reference.omkc import smooth
from support.twin_cases import ALL_DRAWN, LINEAR, POOL, QUADRATIC, SS, X4, Y4, Script, expect, stream


def test_omkc_dd_by_hand():
    """Linear f_1 and square f_2, beta = 1/2.

    t=0: f = (0, 0), both vote +1, score 1, right; both err (f = 0); w = (1/2, 1/2); store (+1, +1).
    t=1: x = -1, f = (-1, 1), score -1/2 + 1/2 = 0: a mistake; y = -1: z = (0, 1);
         w = (1/2, 1/4) / (3/4) = (2/3, 1/3); store (0, -1).
    t=2: x = 2, f = (2, 4 - 4 = 0), score 2/3 + 1/3 = 1, right; z = (0, 1);
         w = (2/3, 1/6) / (5/6) = (4/5, 1/5); store (0, +1).
    t=3: x = -1, f = (-1, 1 - 1 + 4 = 4), score -4/5 + 1/5 = -3/5, y = +1: mistake; z = (1, 0);
         w = (2/5, 1/5) / (3/5) = (2/3, 1/3); store (+1, 0).
    """
    result = omkc_dd(X4, Y4, [LINEAR, QUADRATIC], beta=0.5)
    coefficients = [[1, 0, 0, 1], [1, -1, 1, 0]]
    expect(result, [0, 1, 0, 1], [1, 0, 1, -0.6], [0, 2, 3, 4], [0, 1, 2, 3], coefficients, [2, 3])
    np.testing.assert_allclose(result.weights, [2 / 3, 1 / 3], rtol=1e-15)


def test_omkc_u_by_hand():
    """As above with equal votes: scores 1, 0, 1, 0; the classifiers are the same."""
    result = omkc_u(X4, Y4, [LINEAR, QUADRATIC])
    coefficients = [[1, 0, 0, 1], [1, -1, 1, 0]]
    expect(result, [0, 1, 0, 1], [1, 0, 1, 0], [0, 2, 3, 4], [0, 1, 2, 3], coefficients, [2, 3])
    assert result.weights.tolist() == [0.5, 0.5]


def test_omkc_ds_by_hand():
    """The classifiers and weights of dd; q = w / max w = (1, 1), (1, 1), (1, 1/2), (1, 1/4).

    t=2: draws (.9, .5): .5 < 1/2 is false, only f_1 is combined: score 2/3, one vector combined.
    t=3: draws (.9, .2): both, as in dd.
    """
    rng = Script(0.5, 0.99, 0.5, 0.99, 0.9, 0.5, 0.9, 0.2)
    result = omkc_ds(X4, Y4, [LINEAR, QUADRATIC], beta=0.5, sampling="max", rng=rng)
    coefficients = [[1, 0, 0, 1], [1, -1, 1, 0]]
    expect(result, [0, 1, 0, 1], [1, 0, 2 / 3, -0.6], [0, 2, 1, 4], [0, 1, 2, 3], coefficients, [2, 3])
    assert rng.left == []
    np.testing.assert_allclose(result.weights, [2 / 3, 1 / 3], rtol=1e-15)


def test_omkc_ds_with_sum_by_hand():
    """q = w = (1/2, 1/2) at t=0: draws (.6, .6) combine nobody, score 0, a mistake where 'max' is right."""
    for sampling, score in (("sum", 0), ("max", 1)):
        rng = Script(0.6, 0.6)
        result = omkc_ds(X4[:1], Y4[:1], [LINEAR, QUADRATIC], beta=0.5, sampling=sampling, rng=rng)
        assert result.scores.tolist() == [score]
        assert result.mistakes.tolist() == [score == 0]
        assert result.n_sv_per_kernel.tolist() == [1, 1]


SS_DRAWS = (0.95, 0.5, 0.95, 0.6, 0.1, 0.1, 0.1, 0.95)


def test_omkc_ss_by_hand():
    """delta = 1/5, m = 2: p = 4/5 q + 1/10.

    t=0: p = (.9, .9), draws (.95, .5): m = (0, 1). f = (0, 0), score 1/2, right. z = (0, 1):
         w = (1/2, 1/4) / (3/4) = (2/3, 1/3); store (0, +1).
    t=1: q = (1, 1/2), p = (.9, .5), draws (.95, .6): nobody; score 0, a mistake; nothing changes.
    t=2: x = 2, draws (.1, .1): both. f = (0, 4), score 1, right; one vector combined. z = (1, 0):
         w = (1/3, 1/3) / (2/3) = (1/2, 1/2); store (+1, 0).
    t=3: x = -1, p = (.9, .9), draws (.1, .95): m = (1, 0). f = (-2, 1), score -1/2, y = +1: mistake;
         z = (1, 0): w = (1/4, 1/2) / (3/4) = (1/3, 2/3); store (+1, 0).
    """
    rng = Script(*SS_DRAWS)
    result = omkc_ss(X4, Y4, [LINEAR, QUADRATIC], **SS, rng=rng)
    expect(
        result,
        [0, 1, 0, 1],
        [0.5, 0, 1, -0.5],
        [0, 0, 1, 1],
        [0, 2, 3],
        [[0, 1, 1], [1, 0, 0]],
        [2, 1],
    )
    assert rng.left == []
    np.testing.assert_allclose(result.weights, [1 / 3, 2 / 3], rtol=1e-15)


def test_omkc_sd_by_hand():
    """The same draws update the same kernels as in ss, but all are combined.

    t=0: score 1. t=1: f = (0, 1), both vote +1, score 1, y = -1: mistake (unsampled: no update).
    t=2: f = (0, 4), score 1. t=3: f = (-2, 1), w = (1/2, 1/2), score 0: mistake.
    """
    rng = Script(*SS_DRAWS)
    result = omkc_sd(X4, Y4, [LINEAR, QUADRATIC], **SS, variant="standard", rng=rng)
    expect(
        result,
        [0, 1, 0, 1],
        [1, 1, 1, 0],
        [0, 1, 1, 2],
        [0, 2, 3],
        [[0, 1, 1], [1, 0, 0]],
        [2, 1],
    )
    assert rng.left == []
    np.testing.assert_allclose(result.weights, [1 / 3, 2 / 3], rtol=1e-15)


def test_floors_by_hand():
    # delta = 1/5, m = 4: 4/5 q + 1/20, or + 1/5
    np.testing.assert_allclose(smooth(np.array([1, 0.5, 0, 0]), 0.2, "delta/m"), [0.85, 0.45, 0.05, 0.05])
    np.testing.assert_allclose(smooth(np.array([1, 0.5, 0, 0]), 0.2, "delta"), [1.0, 0.6, 0.2, 0.2])


def test_omkc_sd_published_by_hand():
    """exp(-ln2 d^2) = 2^(-d^2) and a linear kernel whose vectors the Gaussian receives; everybody sampled.

    t=0: x = 1, y = +1: f = (0, 0), score 1, right; both err, the Gaussian lists x twice; w = (1/2, 1/2).
    t=1: x = 2, y = +1: f = (2 * 1/2 = 1, 0); only the linear kernel errs; w = (2/3, 1/3); Gaussian + 1.
    t=2: x = 2, y = -1: f = (2 * 1/2 + 1 = 2, 0), score 1, mistake; both err; Gaussian - 2.
    """
    X, y = np.array([[1.0], [2.0], [2.0]]), np.array([1.0, 1, -1])
    for first in (LINEAR, {"kind": "polynomial", "degree": 1, "scale": 1.0, "coef0": 0.0}):
        pool = [{"kind": "gaussian", "gamma": math.log(2)}, first]
        rng = np.random.default_rng(0)
        result = omkc_sd(X, y, pool, beta=0.5, **ALL_DRAWN, variant="published", rng=rng)
        expect(result, [0, 0, 1], [1, 1, 1], [0, 2, 3], [0, 1, 2], [[2, 1, -2], [0, 0, 0]], [5, 0])
        np.testing.assert_allclose(result.weights, [2 / 3, 1 / 3], rtol=1e-15)


def test_omkc_sd_published_pairs_polynomials_with_gaussians_in_pool_order():
    """POOL: Gaussians 0-3, polynomials 4-6, Laplacian 7. First round, all err: lists of 2, 2, 2, 1 and 1."""
    rng = np.random.default_rng(0)
    X, y = stream(T=150)
    for order in (list(range(8)), [4, 5, 6, 0, 1, 2, 3, 7], [4, 0, 5, 1, 6, 2, 7, 3]):
        pool = [POOL[i] for i in order]
        one = omkc_sd(X[:1], y[:1], pool, beta=0.5, **ALL_DRAWN, variant="published", rng=rng)
        assert [int(one.n_sv_per_kernel[order.index(i)]) for i in range(8)] == [2, 2, 2, 1, 0, 0, 0, 1]
    result = omkc_sd(X, y, POOL, beta=0.5, **ALL_DRAWN, variant="published", rng=rng)
    assert (result.coefficients[4:7] == 0).all()
    assert result.weights[4:7] == pytest.approx(0, abs=1e-9)
    assert result.n_sv_per_kernel.tolist()[4:7] == [0, 0, 0]


def test_omkc_ddpa_by_hand():
    """One linear kernel, C = 1/10.

    t=0: x = 1: f = 0 < 1: add min(.1, 1) = .1. t=1: x = 1: f = .1: add .1; no Hedge mistake.
    t=2: x = 4.75: f = .2 * 4.75 = .95: add min(.1, .05) = .05. t=3: x = 5: f = (.2 + .05 * 4.75) * 5 =
    2.1875 >= 1, nothing. t=4: the same, y = -1: mistake, add -.1.
    """
    X, y = np.array([[1.0], [1.0], [4.75], [5.0], [5.0]]), np.array([1.0, 1, 1, 1, -1])
    result = omkc_ddpa(X, y, [LINEAR], beta=0.5, C=0.1)
    assert result.mistakes.astype(int).tolist() == [0, 0, 0, 0, 1]
    assert result.scores.tolist() == [1, 1, 1, 1, 1]
    assert result.stored.tolist() == [0, 1, 2, 4]
    np.testing.assert_allclose(result.coefficients, [[0.1, 0.1, 0.05, -0.1]], rtol=1e-14)
    assert result.combined.tolist() == [0, 1, 2, 3, 3]
    assert result.n_sv_per_kernel.tolist() == [4]


def test_omkc_ddpa_weights_fall_only_on_component_mistakes():
    """Square errs at t=1 (f = (-.1, .1), y = -1), linear only has y f < 1: w = (2/3, 1/3) as in dd."""
    result = omkc_ddpa(X4[:2], Y4[:2], [LINEAR, QUADRATIC], beta=0.5, C=0.1)
    np.testing.assert_allclose(result.weights, [2 / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_allclose(result.coefficients, [[0.1, -0.1], [0.1, -0.1]], rtol=1e-15)
