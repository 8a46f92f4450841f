"""The naive twins against numbers worked out by hand, and what all of them keep to."""

import math

import numpy as np
import pytest
from reference import (
    TWINS,
    arow,
    omkc_ds,
    perceptron,
    perceptron_star,
)
from reference.kernels import pool_rows
from reference.weights import TINY, hedge
from support.twin_cases import LINEAR, POOL, QUADRATIC, same, stream

from omkl.config import learner_names, learner_spec
from omkl.errors import UserError
from omkl.passes.chosen_kernels import choose_kernels
from omkl.testing.cases import case_stream, dataset


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


# --- worked by hand --------------------------------------------------------------------------------------


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


def test_perceptron_star_in_hindsight_does_not_know_the_order():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    data = dataset(X, np.where(X[:, 0] + X[:, 1] ** 2 / 2 + rng.normal(size=60) > 0, 1.0, -1.0))
    spec = learner_spec("perceptron_star")
    kernels = [{"kind": "gaussian", "sigma": sigma} for sigma in (0.5, 1.0, 2.0)]
    params, given = {**spec.defaults, "select": "hindsight"}, {"normalise": "none", "kernels": kernels}
    streams = [case_stream(data, rng.permutation(60)) for _ in range(5)]
    [first, *others] = [choose_kernels(spec, params, given, 2, each, 7)["kernels"] for each in streams]
    assert all(chosen == first for chosen in others)


def test_perceptron_star_prefix_length():
    """Linear errs on every example after the second, square never: T = 21 sees the third, T = 20 does not."""
    X, y = np.array([[1.0], [1.0], [-1.0]] + [[1.0]] * 18), np.ones(21)
    spec, kernels = learner_spec("perceptron_star"), [LINEAR, QUADRATIC]
    params, given = {**spec.defaults, "select": "prefix"}, {"normalise": "none", "kernels": kernels}
    for T, best in ((21, 1), (20, 0)):
        assert perceptron_star(X[:T], y[:T], kernels, select="prefix").chosen == best
        data = dataset(X[:T], y[:T])
        assert choose_kernels(spec, params, given, 1, case_stream(data), 0)["kernels"] == [kernels[best]]


def test_perceptron_star_hindsight():
    X, y = stream()
    separate = np.random.default_rng(9).permutation(len(y))
    counts = [perceptron(X[separate], y[separate], [k]).mistakes.sum() for k in POOL]
    result = perceptron_star(X, y, POOL, select="hindsight", separate=separate)
    assert result.chosen == int(np.argmin(counts))
    assert min(counts) < max(counts)
    same(result, perceptron(X, y, [POOL[result.chosen]]))


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


def test_weights_never_reach_zero_or_nan():
    w = np.array([0.5, 0.5])
    for _ in range(3000):
        w = hedge(w, 0.5, [True, False])
    assert w.tolist() == [TINY, 1.0]
    assert hedge(np.array([TINY, 2.0]), 0.5, [False, False]).tolist() == [TINY, 1.0]
    assert hedge(np.array([1.0]), 5e-324, [True]).tolist() == [1.0]
    assert hedge(np.array([0.25, 0.75]), 5e-324, [True, True]).tolist() == [0.5, 0.5]


def test_arow_full_equals_the_batch_form():
    """Over the updated rounds S^-1 = I + sum x x' / r and mu = S (sum y x) / r: ridge regression on y."""
    X = stream(T=80)[0] * 3
    y = np.where(X[:, 0] + X[:, 1] > 0.5, 1.0, -1.0)
    result = arow(X, y, r=10.0, bias=False, full=True, squares=False)
    precision, moment = np.eye(4), np.zeros(4)
    for t in range(80):
        score = X[t] @ np.linalg.solve(precision, moment)
        assert result.scores[t] == pytest.approx(score, abs=1e-10)
        if y[t] * score < 1:
            precision += np.outer(X[t], X[t]) / 10
            moment += y[t] * X[t] / 10
    assert 10 < (y * result.scores >= 1).sum() < 70  # both branches were taken


def test_every_twin_leaves_its_inputs_alone_and_reports_consistently():
    X, y = stream(T=40)
    X0, y0 = X.copy(), y.copy()
    for name, twin in TWINS.items():
        spec = learner_spec(name) if name in learner_names() else learner_spec("omkc_dd")
        pool, usual = POOL, spec.usual("classification")
        if spec.kernels == "own" or spec.usual_pool:
            pool = POOL[:1] if name == "perceptron" else [{"kind": "gaussian", "sigma": 1.0}]
        short = {"budget": 7} if "budget" in usual else {}
        params = {key: value for key, value in {**usual, **short}.items() if key not in ("kernel", "prefix")}
        run = [twin(X, y, pool, **params, rng=np.random.default_rng(7)) for _ in range(2)]
        same(*run)
        result = run[0]
        if "novelty" not in spec.tasks:  # which has no labels to err on
            np.testing.assert_array_equal(result.mistakes, y * result.scores <= 0)
        assert result.coefficients.shape == (len(result.n_sv_per_kernel), len(result.stored))
        counts_all = ("bomkc_nogd", "bomkc_projectron", "bomkc_projectronpp")  # and coefficients may be 0
        if "regression" not in spec.tasks and name not in counts_all:
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
    with pytest.raises(UserError, match="the kernel triangular has no function"):
        perceptron(X, y, [{"kind": "triangular"}])
    with pytest.raises(ValueError, match="unknown select 'first'"):
        perceptron_star(X, y, POOL, select="first")
    with pytest.raises(KeyError, match="mean"):
        omkc_ds(X, y, POOL, beta=0.8, sampling="mean", rng=np.random.default_rng(0))
