"""The naive twins: conventions, special cases that must coincide, and what all of them keep to."""

import numpy as np
import pytest
from reference import (
    TWINS,
    arow,
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
from reference.weights import TINY, hedge
from support.twin_cases import ALL_DRAWN, LINEAR, POOL, QUADRATIC, X4, same, stream

from omkl.config import learner_names, learner_spec
from omkl.errors import UserError


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
    result = arow(X, y, r=10.0, bias=False, full=True)
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
    diagonal, full = (arow(X, y, r=10.0, bias=False, full=c) for c in (False, True))
    np.testing.assert_array_equal(diagonal.scores, full.scores)
    assert diagonal.mistakes.tolist() == full.mistakes.tolist()


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
