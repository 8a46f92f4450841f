"""The naive twins against numbers worked out by hand: kernels, perceptrons, yardsticks."""

import math

import numpy as np
import pytest
from reference import arow, majority, omkc_ddpa, perceptron, perceptron_star, perceptron_u
from reference.kernels import mean_rows, pool_rows
from support.twin_cases import LINEAR, POOL, QUADRATIC, expect, same, stream


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


def test_majority_by_hand():
    # sums of the earlier labels 0, 1, 0, -1, -2, -1: mistakes at 0 (tie), 1 (score 1, y -1), 2 (tie), 4
    result = majority(np.zeros((6, 1)), np.array([1.0, -1, -1, -1, 1, -1]))
    assert result.scores.tolist() == [0, 1, 0, -1, -2, -1]
    assert result.mistakes.astype(int).tolist() == [1, 1, 1, 0, 1, 0]
    assert result.coefficients.shape == (0, 0)


@pytest.mark.parametrize("full", [False, True])
def test_arow_by_hand(full):
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
    result = arow(X, y, r=10.0, bias=False, full=full)
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
