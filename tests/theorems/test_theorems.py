"""The theorems' right-hand sides and the batch solutions in them, against formulas written out."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from reference.kernels import pool_rows
from reference.norma import theorem_6
from support.engine_cases import dataset

from omkl.algorithms import function
from omkl.config import kernel_pools
from omkl.theorems.batch import MEAN, Batch
from omkl.theorems.case import Case
from omkl.theorems.mistakes import (
    bomkc_spa,
    omkc_dd,
    omkc_ds,
    omkc_sd,
    omklo_da,
    omklo_sua,
    omklp_da1,
    omklp_da2,
    omklp_sua,
)
from omkl.theorems.norma import _slow, _target, h, margin_errors, norma, norma_growing, norma_logistic, tuned

GAUSSIAN = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]}
SPA = {"alpha": 1.0, "beta": 3.0, "eta": 0.1, "gamma": 0.99, "discount": "hinge", "predict": "current"}


def sample(T=60, d=3, seed=1, scale=1.0):
    """Return two noisy classes of two features each, as a data set."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(T) < 0.4, 1.0, -1.0)
    return dataset(scale * (rng.normal(size=(T, d)) + 0.7 * y[:, None]), y)


def case(data, pool="paper16_cosine", **more):
    pool = kernel_pools([pool])[0] if isinstance(pool, str) else pool
    return Case(Batch(data, pool, **more))


# ------------------------------------------------------------------ g and the batch solver


def dual_optimum(K, y, gap=1e-7):
    """min_f ||f||^2 + 2 sum loss by its dual, max 2 sum a - (a y)' K (a y) over 0 <= a <= 1.

    Exact steps in one coordinate after the other, until the primal value of the f that belongs to a is within
    this share of the dual one. The dual value of any such a is at most the minimum: a certificate that holds
    on every machine, where a solver's stopping rule does not.
    """
    Q = K * np.outer(y, y)
    a = np.full(len(y), 0.5)
    for _ in range(1000):
        margins = Q @ a
        for _ in range(50):
            for t in range(len(y)):
                new = min(max(a[t] + (1.0 - margins[t]) / Q[t, t], 0.0), 1.0)
                margins += (new - a[t]) * Q[t]
                a[t] = new
        margins = Q @ a
        norm2 = a @ margins
        dual, primal = 2.0 * a.sum() - norm2, norm2 + 2.0 * np.maximum(0.0, 1.0 - margins).sum()
        if primal - dual <= gap * dual:
            return dual
    raise AssertionError(f"the gap is still {primal - dual:g} of {dual:g}")


@pytest.mark.parametrize("pool", ["paper16_cosine", "paper16"])
def test_g_is_the_minimum(pool):
    data = sample()
    spec, run = kernel_pools([pool])[0], case(data, pool)
    rows = pool_rows(data.values.reshape(-1, 3), spec["kernels"], spec["normalise"])
    K = np.array([rows(t) for t in range(data.T)]).transpose(1, 0, 2)
    optimum = []
    for i in range(run.m):
        scale = max(1.0, np.diag(K[i]).max())
        assert run.square(i) == pytest.approx(np.diag(K[i]).max(), rel=1e-12)
        optimum.append(dual_optimum(K[i] / scale, data.y))
        assert run.g(i) == pytest.approx(optimum[i], rel=1e-5)
        assert run.g(i) >= optimum[i] * (1.0 - 1e-12)  # any f gives an upper bound, any a a lower one
    assert run.gap < 1e-5
    best = int(np.argmin(optimum))
    bound, _ = omkc_dd(run, beta=0.8)
    assert bound.kernel == best
    by_hand = (2.0 * math.log(1.25) * optimum[best] + 2.0 * math.log(16)) / 0.2
    assert bound.value == pytest.approx(by_hand, rel=1e-5)
    assert optimum[best] < 0.8 * min(data.T, np.median(optimum))  # f = 0 gives 2 T, narrow kernels about T


THREE = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": s} for s in (0.7, 2.0, 6.0)]}


@pytest.mark.parametrize("lam", [1.0, 0.1])
def test_batch_multiple_kernel_learning_is_the_least_of_all_mixtures(lam):
    """Theorem 1 of Jin et al. (2010): problems (1) and (3) have one minimum, here twice theirs for C = 1."""
    data = sample(T=30)
    batch = case(data, THREE).batch
    rows = pool_rows(data.values.reshape(-1, 3), THREE["kernels"], "none")
    K = np.array([rows(t) for t in range(data.T)]).transpose(1, 0, 2)
    f, mixed = batch.mixed(lam)
    found = lam * f.norm2 + 2.0 * f.loss
    steps = np.linspace(0.0, 1.0, 11)
    grid = [np.array([a, b, 1.0 - a - b]) for a in steps for b in steps if a + b <= 1.0 + 1e-9]
    each = [dual_optimum(np.tensordot(u, K, 1) / lam, data.y, gap=1e-5) for u in grid]
    assert found <= min(each) * (1.0 + 1.5e-3)
    assert found == pytest.approx(min(each), rel=0.02)  # of a grid
    assert found < 0.99 * np.median(each)
    assert mixed.low <= min(each) * (1.0 + 1e-6)
    assert f.gap < 2e-3
    # (1), in the space of kappa_u
    u, signed = mixed.u, mixed.a * data.y
    values = np.tensordot(u, K, 1) @ signed
    one = lam * signed @ values + 2.0 * np.maximum(0.0, 1.0 - data.y * values).sum()
    # (3), with u and one function for each kernel
    own = [k @ signed for k in K]
    penalty = sum(share * signed @ f_i for share, f_i in zip(u, own, strict=True))
    three = lam * penalty + 2.0 * np.maximum(0.0, 1.0 - data.y * (u @ np.array(own))).sum()
    assert found == pytest.approx(one, rel=1e-9)
    assert one == pytest.approx(three, rel=1e-12)
    assert u.sum() == pytest.approx(1.0)
    assert mixed.norms2 == pytest.approx([signed @ f_i for f_i in own])


def test_a_mixture_within_a_ball():
    run = case(sample())
    for R in (0.3, 1.5, 100.0):
        value, u = run.mixed_within(R)
        assert sum(u) == pytest.approx(1.0)
        assert value <= min(run.within(i, R, 1.0) for i in range(16)) * 1.01
        single, mixed = omklo_da(run, 0.99, R) if R < 10.0 else (None, None)
        if mixed:
            assert mixed.value <= single.value
    assert value == pytest.approx(run.batch.mixed(1.0)[0].norm2 + 2.0 * run.batch.mixed(1.0)[0].loss)
    part = case(sample(T=200), rows=40)
    assert part.batch.mixed(1.0)[0].margins.size == 200
    assert part.batch.mixed(1.0)[0].gap is None


def test_the_mean_kernel_is_the_mean():
    data = sample()
    run = case(data)
    rows = pool_rows(data.values.reshape(-1, 3), kernel_pools(["paper16_cosine"])[0]["kernels"], "cosine")
    K = np.array([rows(t).mean(axis=0) for t in range(data.T)])
    assert run.g(MEAN) == pytest.approx(dual_optimum(K, data.y), rel=1e-5)


def test_a_part_of_the_examples_gives_a_larger_bound():
    data = sample(T=200)
    whole, part = case(data), case(data, rows=40)
    assert part.batch.picked.size == 40
    values = np.array([(whole.g(i), part.g(i)) for i in range(16)])
    assert (values[:, 1] >= values[:, 0] * (1.0 - 1e-3)).all()
    assert values[:, 1].min() < 1.5 * values[:, 0].min()
    assert part.gap is None
    assert part.fit(12, 1.0).margins.size == 200


def test_a_kernel_above_one_is_rescaled():
    linear = {"normalise": "none", "kernels": [{"kind": "linear"}]}
    one, ten = case(sample(scale=3.0), linear), case(sample(scale=30.0), linear)
    assert ten.square(0) == pytest.approx(100.0 * one.square(0))
    assert ten.g(0) == pytest.approx(one.g(0), rel=1e-3)
    assert tuned(ten, 0) == pytest.approx(tuned(one, 0), rel=1e-3)
    assert one.rescaled(0)
    assert not case(sample()).rescaled(0)


# ------------------------------------------------------------------ the theorems


def test_theorem_3_of_norma_is_the_printed_one_where_its_parameters_are_tuned():
    run = case(sample(), GAUSSIAN)
    assert tuned(run, 0) <= run.g(0)  # eta = 1 / X^2
    eta = 1.0
    for _ in range(20):  # a fixed point: g for eta, eta for g
        g = run.fit(0, 1.0 / eta)
        K, C = g.loss, g.norm2 / 4.0
        eta = 2.0 * h(1.0, K, C)
    printed = K + 2.0 * C + 2.0 * math.sqrt(C * (K + C))
    assert tuned(run, 0) == pytest.approx(printed, rel=1e-3)
    for rho in (0.0, 1.0 - eta / 2.0):
        assert margin_errors(run, 0.0, rho, eta, errors=False) == pytest.approx(printed, rel=1e-3)
    # in Theorem 2 mu - rho takes the place of mu
    assert margin_errors(run, 0.0, 0.0, eta, errors=True) == pytest.approx(printed, rel=1e-3)
    assert margin_errors(run, 0.0, 1.0, eta, errors=True) > printed


def test_lemma_7():
    for K, C in ((3.0, 2.0), (0.0, 1.0), (10.0, 0.1)):
        z = np.linspace(1e-4, 1.0 - 1e-4, 100_001)
        least = K / (1.0 - z) + C / (z * (1.0 - z))
        assert h(1.0, K, C) == pytest.approx(z[least.argmin()], abs=2e-5)
        assert least.min() == pytest.approx(K + 2.0 * C + 2.0 * math.sqrt((K + C) * C), rel=1e-6)


@pytest.mark.parametrize(
    ("lam", "eta", "tau"), [(1.0, 0.5, 90), (1.0, 0.5, 60), (0.5, 1.0, 20), (2.0, 0.4, 110)]
)
def test_theorem_6_checks_every_dropped_term(lam, eta, tau):
    a, fits = {}, []
    for t in range(1, 151):
        step = eta / math.sqrt(t)
        a = {s: value * (1.0 - step * lam) for s, value in a.items()}
        if t - tau in a:
            fits.append(a.pop(t - tau) <= 2.0 * step**2 * lam)
        a[t] = step
    assert len(fits) == 150 - tau
    assert _slow(150, lam, eta, tau) is all(fits)


def test_theorem_4_is_the_papers_formula():
    run = case(sample(), GAUSSIAN)
    bound, corollary = norma(run, lam=0.5, rho=0.8, eta=0.7, step="sqrt", tau=None, offset=False)
    T, U2 = 60, 4.0
    a = 2.0 * 0.5 * U2 * (2.0 * 0.35 + 1.0 / 0.35)
    rest = (a * math.sqrt(T) + U2 / 1.4) / 0.8
    g = run.fit(0, T * 0.5 * 0.8)  # times rho it is the minimum of the regularised risk
    risk = np.maximum(0.0, 0.8 - 0.8 * g.margins).sum() + T * 0.25 * 0.64 * g.norm2
    assert bound.value == pytest.approx(risk / 0.8 + rest)
    largest = 5.0 / (2.0 * 0.5)  # L of the soft margin loss, X = 1
    chance = largest * math.sqrt(2.0 * math.log(20.0)) / math.sqrt(T)
    assert corollary.value == pytest.approx((risk / T + (a * math.sqrt(T) + U2 / 1.4) / T + chance) / 0.8)


def test_theorem_4_for_the_logistic_loss():
    run, lam, eta = case(sample(), GAUSSIAN), 0.3, 0.7
    bound, _ = norma_logistic(run, lam, eta, "sqrt", None, False)
    T, U2 = 60, 1.0 / lam**2
    rest = 2.0 * lam * U2 * (2.0 * lam * eta + 1.0 / (lam * eta)) * math.sqrt(T) + U2 / (2.0 * eta)
    g = run.fit(0, T * lam)
    risks = [
        np.log1p(np.exp(-s * g.margins)).sum() + T * lam / 2.0 * s**2 * g.norm2
        for s in np.append(0.0, np.logspace(-3, 3, 121))
    ]
    assert min(risks) < T * math.log(2.0)  # better than g = 0
    assert bound.value == pytest.approx((min(risks) + rest) / math.log(2.0))


@pytest.mark.parametrize(("a", "eps"), [(0.9, 0.45), (0.5, 0.4), (0.99, 0.3), (0.8, 0.35), (0.9, 0.2)])
def test_t0_of_theorem_6_is_the_first_from_which_all_hold(a, eps):
    assert function("first_truncated").py_func(a, eps) == theorem_6(a, eps, 500_000)


def test_theorem_6_holds_from_the_start_only_where_its_terms_are_small():
    run = case(sample(T=400), GAUSSIAN)
    (from_t0,) = norma_growing(run, lam=0.9, rho=1.0, eta=1.0, eps=0.45, t0=None)
    (from_1,) = norma_growing(run, lam=0.9, rho=1.0, eta=1.0, eps=0.01, t0=1)
    assert from_t0.value is not None
    assert from_1.value is None
    assert theorem_6(0.9, 0.45) < 400  # so that terms are dropped


def test_a_moving_target_travels_as_its_centres_do():
    """g_t of two centres for each class; a Gaussian's products are written out."""
    run = case(sample(), GAUSSIAN)
    rng = np.random.default_rng(4)
    centres, X = rng.normal(size=(5, 2, 2, 3)), rng.normal(size=(50, 3))
    y, signs = rng.choice([-1.0, 1.0], 50), np.array([-1.0, -1.0, 1.0, 1.0])
    data = dataset(X, y)
    target = _target(run, SimpleNamespace(stream=(data, np.arange(50)), y=y), 10, centres)

    def kappa(a, b):
        return math.exp(-((a - b) ** 2).sum() / 2.0)

    points = centres.reshape(5, 4, 3)

    def inner(P, Q):
        return sum(s * r * kappa(p, q) for s, p in zip(signs, P) for r, q in zip(signs, Q))  # noqa: B905

    product = [[inner(P, Q) for Q in points] for P in points]
    moves = [product[k][k] + product[k + 1][k + 1] - 2.0 * product[k][k + 1] for k in range(4)]
    assert pytest.approx(sum(moves)) == target.D2
    assert pytest.approx(sum(map(math.sqrt, moves))) == target.D1
    assert target.last2 == pytest.approx(product[4][4])
    assert pytest.approx(math.sqrt(max(product[k][k] for k in range(5)))) == target.B
    margins = [
        y[t] * sum(s * kappa(X[t], p) for s, p in zip(signs, points[t // 10], strict=True)) for t in range(50)
    ]
    np.testing.assert_allclose(target.margins, margins)


def test_theorem_5_adds_up_its_segments():
    run = case(sample())
    (bound,) = omklp_da1(run, None)
    g = min(run.g(i) for i in range(16))
    k, left, total = 0, g, 0.0
    while True:  # a best kernel with g mistakes in all, 2^k of them in segment k
        total += 2.0 * (min(left, 2.0**k) + math.log(16) + 2.0 * math.sqrt(math.log(16)) * 2.0 ** (k / 2))
        if left <= 2.0**k:
            break
        left, k = left - 2.0**k, k + 1
    assert total * (1.0 - 1e-9) <= bound.value <= 1.2 * total


def test_a_theorem_that_does_not_apply_gives_its_reasons():
    raw, cosine = case(sample(), "paper16"), case(sample())
    spa = bomkc_spa(raw, delta=0.5, **SPA)
    refused = [
        omkc_ds(raw, 0.8, "sum"),
        omkc_sd(raw, 0.8, 0.1, "delta/m", "published", "max"),
        omkc_sd(raw, 0.8, 0.0, "delta/m", "standard", "max"),
        omklp_sua(raw, 0.8, 0.0),
        omklo_da(cosine, 0.8, 10.0),
        omklo_da(raw, 0.8, 1.0),
        omklo_sua(raw, 0.8, 1.0, 0.5, None),
        spa[:4],
        bomkc_spa(cosine, delta=0.5, **{**SPA, "discount": "zero_one"})[:4],
        norma(raw, 0.0, 1.0, 0.5, "sqrt", None, False),
        norma(raw, 0.1, 1.0, 0.5, "constant", 10, False)[:2],
        norma_logistic(raw, 0.1, 0.5, "constant", None, False),
        norma_growing(raw, 0.1, 0.0, 0.5, 0.3, 1),
        norma(raw, 0.1, 1.0, 0.5, "constant", None, True),
    ]
    for bounds in refused:
        for bound in bounds:
            assert bound.value is None
            assert bound.notes[0].startswith("does not apply: "), bound
    most = 60 / 3
    assert 13 * most / 2 < spa[4].value <= 16 * most  # alpha T / beta for the three raw polynomials at least


def test_a_degree_of_misclassification_grows_with_the_kernel():
    run = case(sample(scale=4.0), {"normalise": "none", "kernels": [{"kind": "linear"}]})
    assert run.square(0) > 10.0
    (bound,) = omklp_da2(run, 0.8, 0.3)
    top = 0.8
    by_hand = 4.0 * top * (run.g(0) * top * math.log(1.25)) / (1.0 - 0.8**top)
    assert bound.value == pytest.approx(by_hand)  # m = 1
