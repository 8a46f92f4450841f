"""The naive twins against numbers worked out by hand, special cases that must coincide, and conventions."""

import math

import numpy as np
import pytest
from reference import (
    TWINS,
    arow,
    majority,
    omkc_dd,
    omkc_ddpa,
    omkc_ds,
    omkc_sd,
    omkc_ss,
    omkc_u,
    perceptron,
    perceptron_star,
    perceptron_u,
)
from reference.kernels import mean_rows, pool_rows
from reference.omkc import smooth
from reference.weights import TINY, hedge

from omkl.config import learner_names, learner_spec

LINEAR = {"kind": "linear"}
QUADRATIC = {"kind": "polynomial", "degree": 2, "scale": 1.0, "coef0": 0.0}
POOL = [
    *({"kind": "gaussian", "sigma": s} for s in (0.25, 0.5, 1.0, 2.0)),
    *({"kind": "polynomial", "degree": p, "scale": 1.0, "coef0": 0.0} for p in (1, 2, 3)),
    {"kind": "laplacian", "sigma": 1.5},
]
SS = {"beta": 0.5, "delta": 0.2, "sampling": "max", "floor": "delta/m"}
ALL_DRAWN = {"delta": 1.0, "sampling": "max", "floor": "delta"}  # p_i = 1


class Script:
    """Uniform numbers given one by one; `left` must be empty in the end."""

    def __init__(self, *numbers):
        self.left = list(numbers)

    def random(self):
        return self.left.pop(0)


def stream(T=150, d=4, seed=0):
    """Two noisy classes with ten duplicated examples, every second one under the opposite label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=T) > 0, 1.0, -1.0)
    X[-10:] = X[:10]
    y[-10:] = y[:10] * np.tile([1.0, -1.0], 5)
    return X, y


def same(a, b):
    """Same classifiers, round by round."""
    np.testing.assert_array_equal(a.mistakes, b.mistakes)
    np.testing.assert_array_equal(a.stored, b.stored)
    np.testing.assert_array_equal(a.coefficients, b.coefficients)
    np.testing.assert_array_equal(a.combined, b.combined)
    np.testing.assert_allclose(a.scores, b.scores, rtol=0, atol=1e-12)


def expect(result, mistakes, scores, combined, stored, coefficients, n_sv):
    assert result.mistakes.dtype == bool
    assert result.mistakes.astype(int).tolist() == mistakes
    np.testing.assert_allclose(result.scores, scores, rtol=0, atol=1e-15)
    assert result.combined.tolist() == combined
    assert result.stored.tolist() == stored
    assert result.coefficients.tolist() == coefficients
    assert result.n_sv_per_kernel.tolist() == n_sv


# --- kernels ---------------------------------------------------------------------------------------------


def test_kernels_by_hand():
    # x = (1, 2), x' = (3, -1): x.x' = 3 - 2 = 1, ||x||^2 = 5, ||x'||^2 = 10, ||x - x'||^2 = 4 + 9 = 13
    X = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]])
    pool = [
        {"kind": "gaussian", "sigma": 2.0},
        {"kind": "gaussian", "gamma": 0.1},
        {"kind": "laplacian", "sigma": 2.0},
        {"kind": "linear"},
        {"kind": "polynomial", "degree": 3, "scale": 1.0, "coef0": 0.0},
        {"kind": "polynomial", "degree": 3, "scale": 2.0, "coef0": 1.0},
    ]
    k = pool_rows(X, pool)(0)
    expected = [math.exp(-13 / 8), math.exp(-1.3), math.exp(-math.sqrt(13) / 2), 1, 1, 27]
    np.testing.assert_allclose(k[:, 1], expected, rtol=1e-15)
    np.testing.assert_allclose(k[:, 0], [1, 1, 1, 5, 125, 11**3], rtol=0)
    # against the zero vector: distance^2 5, inner product 0
    np.testing.assert_allclose(
        k[:, 2], [math.exp(-5 / 8), math.exp(-0.5), math.exp(-math.sqrt(5) / 2), 0, 0, 1], rtol=1e-15
    )


def test_cosine_by_hand():
    # self-kernels of (x.x')^3: 125 and 1000, kernel 1; for 2 x.x' + 1 cubed: 11^3, 21^3, 3^3; zero vector: 1
    X = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]])
    pool = [POOL[6], {"kind": "polynomial", "degree": 3, "scale": 2.0, "coef0": 1.0}, POOL[3]]
    k = pool_rows(X, pool, "cosine")
    np.testing.assert_allclose(k(0)[0], [1, 1 / math.sqrt(125000), 0], rtol=1e-15)
    np.testing.assert_allclose(
        k(0)[1], [1, 27 / math.sqrt(11**3 * 21**3), math.sqrt(11**3) / 11**3], rtol=1e-15
    )
    np.testing.assert_array_equal(k(0)[2], pool_rows(X, pool)(0)[2])  # a Gaussian is its own cosine
    np.testing.assert_array_equal(k(2)[0], [0, 0, 0])  # self-kernel 0


def test_mean_kernel_by_hand():
    # x = 2, x' = 3: linear 6, square 36, mean 21
    assert mean_rows(np.array([[2.0], [3.0]]), [LINEAR, QUADRATIC])(0).tolist() == [[(4 + 16) / 2, 21]]


def test_kernel_rows_equal_direct_formulas():
    X, _ = stream(T=20)
    for t in range(20):
        k = pool_rows(X, POOL)(t)
        for s in range(20):
            d2 = sum((X[t, j] - X[s, j]) ** 2 for j in range(4))
            dot = sum(X[t, j] * X[s, j] for j in range(4))
            direct = [math.exp(-d2 / (2 * g["sigma"] ** 2)) for g in POOL[:4]] + [dot, dot**2, dot**3]
            np.testing.assert_allclose(k[:7, s], direct, rtol=1e-12, atol=1e-14)
            assert k[7, s] == pytest.approx(math.exp(-math.sqrt(d2) / 1.5), abs=1e-7)


def test_equal_vectors_have_distance_exactly_zero():
    X = np.random.default_rng(3).normal(size=(50, 30)) * 1000
    twice = np.vstack([X, X])
    for kernel in ({"kind": "gaussian", "sigma": 2.0**-6}, {"kind": "laplacian", "sigma": 2.0**-6}):
        for t in range(50):
            assert pool_rows(twice, [kernel])(t)[0, t + 50] == 1.0


def test_exp_underflows_to_exactly_zero():
    # gamma d^2 = 745: the smallest positive number; 746: exactly 0
    X = np.array([[0.0], [math.sqrt(745)], [math.sqrt(746)], [1e150]])
    assert pool_rows(X, [{"kind": "gaussian", "gamma": 1.0}])(0).tolist() == [[1.0, 5e-324, 0.0, 0.0]]


@pytest.mark.parametrize("kernel", POOL)
def test_outputs_are_the_sums_over_the_stored_vectors(kernel):
    """f(x_t) rebuilt from the returned coefficients by a double loop in storage order; steps from f."""
    X, y = stream(T=60)
    k = pool_rows(X, [kernel])
    plain, aggressive = perceptron(X, y, [kernel]), omkc_ddpa(X, y, [kernel], beta=0.8, C=0.9)
    steps = set()
    for t in range(60):
        f, g = 0.0, 0.0
        for j, s in enumerate(plain.stored[plain.stored < t]):
            f += plain.coefficients[0, j] * k(s)[0, t]
        for j, s in enumerate(aggressive.stored[aggressive.stored < t]):
            g += aggressive.coefficients[0, j] * k(s)[0, t]
        assert plain.scores[t] == f
        assert (t in plain.stored) == (y[t] * f <= 0)
        assert aggressive.scores[t] == (1 if g >= 0 else -1)
        assert (t in aggressive.stored) == (y[t] * g < 1)
        if t in aggressive.stored:
            steps.add(step := min(0.9, 1 - y[t] * g))
            assert aggressive.coefficients[0, aggressive.stored == t] == [y[t] * step]
    assert len(steps) > 1  # full steps and partial ones


# --- worked by hand --------------------------------------------------------------------------------------


def test_perceptron_by_hand():
    """Linear kernel: x = 1, 2, -1, 0.

    t=0: f = 0, mistake, store +1. t=1: f = 2, right. t=2: f = -1, y = -1, right.
    t=3: f = 1*0 = 0, mistake, store +1.
    """
    result = perceptron(np.array([[1.0], [2.0], [-1.0], [0.0]]), np.array([1.0, 1, -1, 1]), [LINEAR])
    expect(result, [1, 0, 0, 1], [0, 2, -1, 0], [0, 1, 1, 1], [0, 3], [[1, 1]], [2])
    assert result.weights is None


def test_perceptron_u_by_hand():
    """Mean of x x' and (x x')^2 on x = 1, 2, -2, -1.

    t=0: f = 0, mistake, store +1. t=1: f = (2 + 4)/2 = 3, right.
    t=2: f = (-2 + 4)/2 = 1, y = -1, mistake, store -1.
    t=3: f = (-1 + 1)/2 - (2 + 4)/2 = -3, y = -1, right.
    """
    result = perceptron_u(
        np.array([[1.0], [2.0], [-2.0], [-1.0]]), np.array([1.0, 1, -1, -1]), [LINEAR, QUADRATIC]
    )
    expect(result, [1, 0, 1, 0], [0, 3, 1, -3], [0, 1, 1, 2], [0, 2], [[1, -1]], [2])


X4, Y4 = np.array([[1.0], [-1.0], [2.0], [-1.0]]), np.array([1.0, -1, 1, 1])


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


def test_majority_by_hand():
    # sums of the earlier labels 0, 1, 0, -1, -2, -1: mistakes at 0 (tie), 1 (score 1, y -1), 2 (tie), 4
    result = majority(np.zeros((6, 1)), np.array([1.0, -1, -1, -1, 1, -1]))
    assert result.scores.tolist() == [0, 1, 0, -1, -2, -1]
    assert result.mistakes.astype(int).tolist() == [1, 1, 1, 0, 1, 0]
    assert result.coefficients.shape == (0, 0)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_arow_by_hand(covariance):
    """r = 10, one feature.

    t=0: f = 0, mistake; v = 1, b = a = 1/11; mu = 1/11, S = 1 - 1/11 = 10/11.
    t=1: x = 1, y = -1: f = 1/11, mistake; v = 10/11, b = 1/(10/11 + 10) = 11/120, a = 12/11 * 11/120 = 1/10;
         mu = 1/11 - 1/10 * 10/11 = 0, S = 10/11 - 11/120 * 100/121 = 5/6.
    t=2: x = 2, y = +1: f = 0; v = 10/3, b = a = 3/40; mu = 3/40 * 5/6 * 2 = 1/8, S = 5/6 - 3/40 * 25/9 = 5/8.
    t=3: x = 10, y = +1: f = 10/8 >= 1: no update.
    t=4: x = 1, y = -1: f = 1/8, mistake; v = 5/8, b = 8/85, a = 9/85; mu = 1/8 - 9/85 * 5/8 = 1/17.
    t=5: x = 34: f = 2.
    """
    X, y = np.array([[1.0], [1.0], [2.0], [10.0], [1.0], [34.0]]), np.array([1.0, -1, 1, 1, -1, 1])
    result = arow(X, y, r=10.0, covariance=covariance)
    np.testing.assert_allclose(result.scores, [0, 1 / 11, 0, 1.25, 1 / 8, 2], rtol=1e-13, atol=1e-15)
    assert result.mistakes[[0, 1, 3, 4, 5]].tolist() == [True, True, False, True, False]


def test_perceptron_star_prefix_by_hand():
    """T = 20: the trial is the first 2 examples. Linear: f = 0, then f = -1 with y = -1: 1 mistake.
    Square: f = 0, then f = 1 with y = -1: 2 mistakes. T = 3: the trial is one example, a tie."""
    X, y = np.tile([[1.0], [-1.0]], (11, 1)), np.tile([1.0, -1.0], 11)
    for pool in ([QUADRATIC, LINEAR], [LINEAR, QUADRATIC]):
        result = perceptron_star(X[:20], y[:20], pool, select="prefix")
        assert pool[result.chosen] is LINEAR
        same(result, perceptron(X[:20], y[:20], [LINEAR]))
        assert perceptron_star(X[:3], y[:3], pool, select="prefix").chosen == 0


def test_perceptron_star_takes_the_first_on_ties():
    """x = 1, 1, 1 with labels +, -, +: every kernel sees f = 0, 1, 1 - 1 = 0, three mistakes of three."""
    X, y = np.array([[1.0], [1.0], [1.0]] + [[-1.0]] * 18), np.array([1.0, -1, 1] + [1.0] * 18)
    for pool in ([QUADRATIC, LINEAR, POOL[0]], [POOL[0], QUADRATIC, LINEAR]):
        assert perceptron_star(X, y, pool, select="prefix").chosen == 0


def test_perceptron_star_prefix_length():
    """Linear errs on every example after the second, square never: T = 21 sees the third, T = 20 does not."""
    X, y = np.array([[1.0], [1.0], [-1.0]] + [[1.0]] * 18), np.ones(21)
    assert perceptron_star(X, y, [LINEAR, QUADRATIC], select="prefix").chosen == 1
    assert perceptron_star(X[:20], y[:20], [LINEAR, QUADRATIC], select="prefix").chosen == 0


def test_perceptron_star_hindsight():
    X, y = stream()
    separate = np.random.default_rng(9).permutation(len(y))
    counts = [perceptron(X[separate], y[separate], [k]).mistakes.sum() for k in POOL]
    result = perceptron_star(X, y, POOL, select="hindsight", separate=separate)
    assert result.chosen == int(np.argmin(counts))
    assert min(counts) < max(counts)
    same(result, perceptron(X, y, [POOL[result.chosen]]))


# --- conventions -----------------------------------------------------------------------------------------


def test_duplicates_with_opposite_labels_cancel_exactly():
    """f after +x and -x is exactly 0, whatever the other vectors' rounding: a mistake, and stored again."""
    x = np.random.default_rng(5).normal(size=(1, 30)) * 100
    X, y = np.vstack([x, x, x]), np.array([1.0, -1, 1])
    for kernel in [*POOL, {"kind": "gaussian", "sigma": 2.0**-6}]:
        for normalise in ("none", "cosine"):
            result = perceptron(X, y, [kernel], normalise=normalise)
            assert result.mistakes.all()
            assert result.scores[2] == 0.0
            assert result.coefficients.tolist() == [[1, -1, 1]]


def test_zero_output_is_a_component_mistake_but_a_vote_for_plus():
    """First round: every f = 0, all vote +1. y = +1 is predicted rightly and still every kernel stores it."""
    for label in (1.0, -1.0):
        for result in (
            omkc_dd(X4[:1], np.array([label]), POOL, beta=0.8),
            omkc_u(X4[:1], np.array([label]), POOL),
        ):
            assert result.scores == pytest.approx([1.0])
            assert result.mistakes.tolist() == [label < 0]
            assert result.n_sv_per_kernel.tolist() == [1] * 8
            assert result.coefficients.tolist() == [[label]] * 8


@pytest.mark.parametrize("m", [2, 6, 10, 14, 16, 22])
def test_even_split_of_omkc_u_is_a_tie_for_every_m(m):
    """Half linear (f = -1), half square (f = 1) at t=1: score exactly 0, a mistake for both labels."""
    for label in (1.0, -1.0):
        for pool in ([LINEAR] * (m // 2) + [QUADRATIC] * (m // 2), [LINEAR, QUADRATIC] * (m // 2)):
            result = omkc_u(X4[:2], np.array([1.0, label]), pool)
            assert result.scores[1] == 0.0
            assert result.mistakes[1]


def test_weights_never_reach_zero_or_nan():
    w = np.array([0.5, 0.5])
    for _ in range(3000):
        w = hedge(w, 0.5, [True, False])
    assert w.tolist() == [TINY, 1.0]
    assert hedge(np.array([TINY, 2.0]), 0.5, [False, False]).tolist() == [TINY, 1.0]
    assert hedge(np.array([1.0]), 5e-324, [True]).tolist() == [1.0]
    assert hedge(np.array([0.25, 0.75]), 5e-324, [True, True]).tolist() == [0.5, 0.5]


def test_hedge_by_hand():
    # (.2, .3, .5) with beta .5 on the last two: (.2, .15, .25) / .6
    w = hedge(np.array([0.2, 0.3, 0.5]), 0.5, [False, True, True])
    np.testing.assert_allclose(w, [1 / 3, 1 / 4, 5 / 12], rtol=1e-15)


@pytest.mark.parametrize("twin", [omkc_ds, omkc_sd, omkc_ss])
def test_exactly_m_uniforms_per_round(twin):
    extra = {omkc_ds: {}, omkc_sd: {"delta": 0.1, "floor": "delta/m", "variant": "standard"}}
    extra[omkc_ss] = {"delta": 0.1, "floor": "delta/m"}
    X, y = stream(T=30)
    used, fresh = np.random.default_rng(4), np.random.default_rng(4)
    twin(X, y, POOL, beta=0.8, sampling="max", **extra[twin], rng=used)
    fresh.random(30 * len(POOL))
    assert used.random() == fresh.random()


# --- special cases that must coincide --------------------------------------------------------------------


def test_one_kernel_dd_is_the_perceptron():
    """Same classifier; the ensemble differs only where f = 0 and y = +1, which the vote counts as right."""
    X, y = stream()
    for kernel in POOL:
        one, other = omkc_dd(X, y, [kernel], beta=0.8), perceptron(X, y, [kernel])
        np.testing.assert_array_equal(one.stored, other.stored)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        np.testing.assert_array_equal(one.combined, other.combined)
        np.testing.assert_array_equal(one.scores, np.where(other.scores >= 0, 1.0, -1.0))
        differ = np.flatnonzero(one.mistakes != other.mistakes)
        assert (other.scores[differ] == 0).all()
        assert (y[differ] == 1).all()
        assert one.weights.tolist() == [1.0]


def test_mean_of_one_kernel_and_star_of_one_kernel_are_the_perceptron():
    X, y = stream()
    same(perceptron_u(X, y, POOL[2:3]), perceptron(X, y, POOL[2:3]))
    same(perceptron_u(X, y, POOL[2:3] * 4), perceptron(X, y, POOL[2:3]))
    same(perceptron_star(X, y, POOL[2:3], select="prefix"), perceptron(X, y, POOL[2:3]))


@pytest.mark.parametrize("sampling", ["max", "sum"])
def test_everybody_sampled_sd_and_ss_are_dd(sampling):
    X, y = stream()
    draws = {**ALL_DRAWN, "sampling": sampling}
    dd = omkc_dd(X, y, POOL, beta=0.8)
    sd = omkc_sd(X, y, POOL, beta=0.8, **draws, variant="standard", rng=np.random.default_rng(1))
    ss = omkc_ss(X, y, POOL, beta=0.8, **draws, rng=np.random.default_rng(2))
    for other in (sd, ss):
        same(dd, other)
        np.testing.assert_array_equal(dd.weights, other.weights)


def test_equal_weights_ds_is_dd_is_u():
    """beta = 1: the weights stay 1/m (m = 8, exact), q = 1."""
    X, y = stream()
    ds = omkc_ds(X, y, POOL, beta=1.0, sampling="max", rng=np.random.default_rng(1))
    dd, u = omkc_dd(X, y, POOL, beta=1.0), omkc_u(X, y, POOL)
    same(ds, dd)
    same(dd, u)
    assert ds.weights.tolist() == dd.weights.tolist() == u.weights.tolist() == [1 / 8] * 8


def test_one_kernel_is_always_sampled():
    """m = 1: q = w / max w = 1 and p = (1 - delta) + delta / 1 = 1."""
    X, y = stream()
    rng = np.random.default_rng(1)
    dd = omkc_dd(X, y, POOL[:1], beta=0.8)
    draws = {"beta": 0.8, "delta": 0.01, "sampling": "max", "floor": "delta/m", "rng": rng}
    same(dd, omkc_sd(X, y, POOL[:1], **draws, variant="standard"))
    same(dd, omkc_ss(X, y, POOL[:1], **draws))
    same(dd, omkc_ds(X, y, POOL[:1], beta=0.8, sampling="max", rng=rng))


def test_ds_has_the_classifiers_and_weights_of_dd():
    X, y = stream()
    ds = omkc_ds(X, y, POOL, beta=0.8, sampling="max", rng=np.random.default_rng(1))
    dd = omkc_dd(X, y, POOL, beta=0.8)
    np.testing.assert_array_equal(ds.coefficients, dd.coefficients)
    np.testing.assert_array_equal(ds.weights, dd.weights)
    assert (ds.combined <= dd.combined).all()
    assert ds.combined.sum() < dd.combined.sum()


def test_published_sd_without_polynomials_is_sd():
    X, y = stream()
    draws = {"beta": 0.8, "delta": 0.05, "sampling": "max", "floor": "delta"}
    pool = [POOL[0], POOL[2], POOL[7]]
    one = omkc_sd(X, y, pool, **draws, variant="published", rng=np.random.default_rng(1))
    same(one, omkc_sd(X, y, pool, **draws, variant="standard", rng=np.random.default_rng(1)))


def test_ddpa_on_examples_that_do_not_touch_is_dd():
    """Kernel values between the points underflow to exactly 0: f = 0 and the step is min(1, 1 - 0)."""
    X = np.arange(20.0)[:, None] * 1000
    y = np.tile([1.0, -1.0], 10)
    same(omkc_ddpa(X, y, POOL[:4], beta=0.8, C=1.0), omkc_dd(X, y, POOL[:4], beta=0.8))


def test_dd_does_not_depend_on_kernel_scale():
    """Votes and mistakes are signs: scaling a linear kernel by 4 (exact) changes nothing."""
    X, y = stream()
    scaled = [{"kind": "polynomial", "degree": 1, "scale": 4.0, "coef0": 0.0}, POOL[0]]
    same(omkc_dd(X, y, scaled, beta=0.8), omkc_dd(X, y, [LINEAR, POOL[0]], beta=0.8))


def test_arow_full_equals_the_batch_form():
    """Over the updated rounds S^-1 = I + sum x x' / r and mu = S (sum y x) / r: ridge regression on y."""
    X = stream(T=80)[0] * 3
    y = np.where(X[:, 0] + X[:, 1] > 0.5, 1.0, -1.0)
    result = arow(X, y, r=10.0, covariance="full")
    precision, moment = np.eye(4), np.zeros(4)
    for t in range(80):
        score = X[t] @ np.linalg.solve(precision, moment)
        assert result.scores[t] == pytest.approx(score, abs=1e-10)
        if y[t] * score < 1:
            precision += np.outer(X[t], X[t]) / 10
            moment += y[t] * X[t] / 10
    assert 10 < (y * result.scores >= 1).sum() < 70  # both branches were taken


def test_arow_diagonal_is_full_where_features_do_not_meet():
    X, y = np.eye(5)[np.random.default_rng(0).integers(0, 5, 60)] * 3, stream(T=60)[1]
    diagonal, full = (arow(X, y, r=10.0, covariance=c) for c in ("diagonal", "full"))
    np.testing.assert_array_equal(diagonal.scores, full.scores)
    assert diagonal.mistakes.tolist() == full.mistakes.tolist()


def test_every_twin_leaves_its_inputs_alone_and_reports_consistently():
    X, y = stream(T=60)
    X0, y0 = X.copy(), y.copy()
    draws = {"beta": 0.8, "delta": 0.1, "sampling": "max", "floor": "delta/m"}
    hedge = {"budget": 7, "gamma": 0.99}
    settings = {
        "omkc_dd": {"beta": 0.8},
        "omkc_ds": {"beta": 0.8, "sampling": "max"},
        "omkc_sd": {**draws, "variant": "standard"},
        "omkc_ss": draws,
        "omkc_ddpa": {"beta": 0.8, "C": 0.1},
        "omklp_da1": {"beta": 0.8},
        "omklp_da2": {"beta": 0.8, "gamma": 0.5},
        "omklp_sua": {"beta": 0.8, "delta": 0.1},
        "omklp_mua": {"beta": 0.8, "delta": 0.1},
        "omklo_da": {"beta": 0.8, "R": 2.0},
        "omklo_sua": {"beta": 0.8, "R": 2.0, "delta": 0.1, "eta": None},
        "om2": {"p": None, "aggressive": True},
        "bomkc_spa": {
            "alpha": 1.0,
            "beta": 3.0,
            "eta": 0.1,
            "gamma": 0.99,
            "delta": 0.001,
            "discount": "hinge",
            "predict": "averaged",
            "normalise": True,
        },
        "perceptron_star": {"select": "prefix"},
        "bomkc_rbp": hedge,
        "bomkc_forgetron": hedge,
        "bomkc_bogd": {**hedge, "eta": 0.1, "lam": 0.1, "removal": "uniform", "clip": 10.0},
        "bomkc_bpas": {**hedge, "C": 0.1, "normalise": False},
        "arow": {"r": 10.0, "covariance": "full"},
    }
    regression = [
        name for name in TWINS if name in learner_names() and "regression" in learner_spec(name).tasks
    ]
    for name, twin in TWINS.items():
        pool = POOL[:1] if name == "perceptron" else POOL
        if (
            name in learner_names()
            and name not in settings
            and (spec := learner_spec(name)).kernels != "none"
        ):
            if spec.pool == "gaussian" or spec.usual_pool or (spec.kernels == "own" and name != "perceptron"):
                pool = [{"kind": "gaussian", "sigma": 1.0}]
            usual = spec.usual("classification")
            settings[name] = {key: value for key, value in usual.items() if key != "kernel"}
        run = [twin(X, y, pool, **settings.get(name, {}), rng=np.random.default_rng(7)) for _ in range(2)]
        same(*run)
        result = run[0]
        if name != "norma_novelty":  # which has no labels to err on
            np.testing.assert_array_equal(result.mistakes, y * result.scores <= 0)
        assert result.coefficients.shape == (len(result.n_sv_per_kernel), len(result.stored))
        if name not in (
            *regression,
            "bomkc_nogd",
            "bomkc_projectron",
            "bomkc_projectronpp",
        ):  # they count every example as stored
            assert (result.n_sv_per_kernel == (result.coefficients != 0).sum(axis=1)).all(), name
        assert (np.diff(result.stored) > 0).all()
        assert result.combined[0] == 0
        if result.weights is not None:
            assert result.weights.sum() == pytest.approx(1)
    np.testing.assert_array_equal(X, X0)
    np.testing.assert_array_equal(y, y0)


def test_twins_refuse_unknown_options():
    X, y = stream(T=20)
    with pytest.raises(ValueError, match="takes one kernel, not 8"):
        perceptron(X, y, POOL)
    with pytest.raises(ValueError, match="unknown kernel kind 'sigmoid'"):
        perceptron(X, y, [{"kind": "sigmoid"}])
    with pytest.raises(ValueError, match="unknown select 'first'"):
        perceptron_star(X, y, POOL, select="first")
    with pytest.raises(KeyError, match="mean"):
        omkc_ds(X, y, POOL, beta=0.8, sampling="mean", rng=np.random.default_rng(0))
