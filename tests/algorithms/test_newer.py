"""Learners beyond the five papers: special cases that are known otherwise."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge
from support.engine_cases import case_stream, clouds, dataset, matrix_of, one_pass, traced

from omkl.config import learner_spec
from omkl.errors import OmklError
from omkl.passes import Learner, run_pass
from omkl.stacks.new_learner import new_learner

GAUSSIAN = {"kind": "gaussian", "sigma": 1.3}
ONE = {"normalise": "none", "kernels": [GAUSSIAN]}
D = 30


def targets(T=150, d=3):
    """A smooth function with noise."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(T, d))
    return dataset(X, np.sin(X.sum(1)) + 0.1 * rng.normal(size=T))


def on_features(name, data, kernels=1, **over):
    """A learner after a pass over the data on known random features, its trace, and features Z (T, 2D)."""
    V = np.random.default_rng(0).normal(size=(kernels, D, data.d))
    spec = learner_spec(name)
    params = {**spec.usual("regression"), "D": D, **over}
    pool = {"normalise": "none", "kernels": [GAUSSIAN] * kernels}
    learner = Learner(spec, params, pool, data.d, 1, frequencies=V)
    p = matrix_of(data) @ V[0].T
    return learner, learner.run(case_stream(data))[0], np.concatenate([np.sin(p), np.cos(p)], 1) / np.sqrt(D)


def kernel_matrix(data, kernel):
    X = matrix_of(data)
    gamma = kernel.get("gamma") or 0.5 / kernel["sigma"] ** 2
    return np.exp(-gamma * np.square(X[:, None] - X[None]).sum(-1))


def test_one_gaussian_process_is_bayesian_linear_regression():
    """Its mean is ridge regression's; its densities multiply to the marginal likelihood of all targets."""
    nu, tau, data = 0.7, 0.2, targets()
    learner, trace, Z = on_features("iegp", data, nu=nu, tau=tau, drift=0.0)
    expected = Ridge(alpha=tau / nu, fit_intercept=False, solver="cholesky").fit(Z, data.y).coef_
    np.testing.assert_allclose(learner.state["theta"][0], expected, atol=1e-8)
    for t in (1, 50, 149):
        earlier = Ridge(alpha=tau / nu, fit_intercept=False, solver="cholesky").fit(Z[:t], data.y[:t]).coef_
        assert trace.score[t] == pytest.approx(Z[t] @ earlier, abs=1e-8)
    likelihood = multivariate_normal(cov=nu * Z @ Z.T + tau * np.eye(data.T)).logpdf(data.y)
    assert trace.further[:, 0].sum() == pytest.approx(-likelihood, rel=1e-8)


def test_the_second_measure_is_a_figure_of_the_cell_and_a_list_of_its_curve():
    data = targets()
    data = dataclasses.replace(data, task="regression")
    spec = learner_spec("iegp")
    figures = run_pass(spec, {**spec.defaults, "D": D}, ONE, data, np.arange(data.T), 1)
    assert figures["curve"]["nlpd"][-1] == pytest.approx(data.T * figures["nlpd"])
    assert len(figures["curve"]["nlpd"]) == len(figures["curve"]["t"])
    assert "nlpd" not in run_pass(learner_spec("running_mean"), {}, None, data, np.arange(data.T), 1)
    data.y[20] = 1e200
    with pytest.raises(OmklError, match="the prediction of round 21 overflowed"):
        run_pass(spec, {**spec.defaults, "D": D}, ONE, data, np.arange(data.T), 1)


def test_equal_gaussian_processes_are_one_and_drift_forgets():
    data = targets()
    single = on_features("iegp", data)[1]
    V = np.random.default_rng(0).normal(size=(1, D, data.d))
    spec, pool = learner_spec("iegp"), {"normalise": "none", "kernels": [GAUSSIAN] * 3}
    learner = Learner(spec, {**spec.defaults, "D": D}, pool, data.d, 1, frequencies=np.repeat(V, 3, axis=0))
    several, _ = learner.run(case_stream(data))
    np.testing.assert_allclose(several.score, single.score, atol=1e-10)
    np.testing.assert_allclose(several.further, single.further, atol=1e-10)
    data.y[75:] *= -1  # the function turns over
    late = [np.square(on_features("iegp", data, drift=s)[1].score - data.y)[-40:].mean() for s in (0.0, 0.01)]
    assert late[1] < 0.5 * late[0]


def test_two_levels_of_one_kernel_are_two_forecasters():
    """The second gives the first a single weight; without lam2 it takes back what the first shrinks."""
    data = targets()
    _, trace, Z = on_features("vaw2", data, lam1=0.3, lam2=1e-12)
    first = np.empty(data.T)
    for t in range(data.T):
        A = 0.3 * np.eye(2 * D) + Z[: t + 1].T @ Z[: t + 1]
        first[t] = Z[t] @ np.linalg.solve(A, Z[:t].T @ data.y[:t])
    slopes = np.append(0.0, np.cumsum(first * data.y)[:-1]) / (1e-12 + np.cumsum(first**2))
    np.testing.assert_allclose(trace.score[1:], (slopes * first)[1:], atol=1e-8)
    assert slopes[-1] > 1.0


def test_a_dictionary_of_everything_interpolates():
    data = targets(T=60)
    kernel = {"kind": "gaussian", "gamma": 2.0}
    learner, _ = one_pass("krls_ald", data, kernel=kernel, nu=0.0)
    B = learner.state["B"]
    assert B.n_sv[0] == data.T
    np.testing.assert_array_equal(B.origin[B.holds[:60, 0]], np.arange(60))
    np.testing.assert_allclose(
        B.A[:60, 0, 0], np.linalg.solve(kernel_matrix(data, kernel), data.y), atol=1e-8
    )


def test_a_sparse_dictionary_is_least_squares_on_its_span():
    """K a = (sum beta beta')^-1 sum beta y, with the betas of the dictionary of their time."""
    data = targets(T=120)
    learner, _ = one_pass("krls_ald", data, kernel={"kind": "gaussian", "gamma": 0.1}, nu=0.05)
    n = learner.state["B"].n_sv[0]
    assert 5 < n < 60
    assert np.linalg.eigvalsh(learner.state["P"][:n, :n]).min() > 0.0


@pytest.mark.parametrize("degree", [2, 3])
def test_a_tracker_of_a_polynomial_is_the_one_of_its_monomials(degree):
    """With values of 10^5 a matrix of stored vectors must stay positive: as many as monomials are stored."""
    rng = np.random.default_rng(degree)
    X = 3.0 * rng.normal(size=(900, 4))
    data, noise, lam = dataset(X, np.sin(X.sum(1))), 0.02, 0.9999
    kernel = {"kind": "polynomial", "degree": degree}
    learner, trace = one_pass("krls_t", data, kernel=kernel, noise=noise, lam=lam, budget=100)
    monomials = list(itertools.combinations_with_replacement(range(4), degree))
    counts = [[math.factorial(places.count(j)) for j in range(4)] for places in monomials]
    root = [math.sqrt(math.factorial(degree) / math.prod(own)) for own in counts]
    Z = np.stack([X[:, places].prod(1) for places in monomials], 1) * root
    mean, covariance, expected = np.zeros(len(root)), np.eye(len(root)), []
    for z, y in zip(Z, data.y, strict=True):
        expected.append(z @ mean)
        h = covariance @ z
        variance = noise + z @ h
        mean = math.sqrt(lam) * (mean + h * (y - expected[-1]) / variance)
        covariance = lam * (covariance - np.outer(h, h) / variance) + (1 - lam) * np.eye(len(root))
    assert np.abs(trace.score - expected).mean() < 0.01 * np.std(expected)
    assert learner.state["B"].n_sv[0] < 2 * len(root)


@pytest.mark.parametrize("budget", [16, 400])
def test_avp_is_ahpatron_whose_budget_is_never_full(budget):
    data = clouds()
    how = {"kernel": {"kind": "gaussian", "sigma": 1.0}}
    short = 40 if budget == 16 else data.T
    order = np.arange(short)
    _, free = one_pass("avp", data, order=order, U=np.sqrt(budget) / 2, **how)
    learner, limited = one_pass("ahpatron", data, order=order, budget=budget, **how)
    full = np.argmax(limited.n_sv_sum == budget) or short
    np.testing.assert_allclose(limited.score[:full], free.score[:full], atol=1e-10)
    np.testing.assert_array_equal(limited.mistake[:full], free.mistake[:full])
    assert learner.state["norm2"][0] <= budget / 4 * (1 + 1e-12)
    assert (full < short) == (budget == 16)


def test_folding_keeps_half_of_the_vectors_and_the_norm():
    data, kernel = clouds(), {"kind": "gaussian", "sigma": 2.0}
    learner, trace = one_pass("ahpatron", data, kernel=kernel, budget=30)
    assert {30 - 14} <= set(trace.n_sv_sum[np.flatnonzero(np.diff(trace.n_sv_sum) < 0) + 1])
    B = learner.state["B"]
    n = B.n_sv[0]
    K, a = kernel_matrix(data, kernel), np.zeros(data.T)
    a[B.origin[B.holds[:n, 0]]] = B.A[:n, 0, 0]
    assert learner.state["norm2"][0] == pytest.approx(a @ K @ a, rel=1e-9)


def test_one_kernel_of_the_hedge_is_ahpatron():
    data = clouds()
    _, alone = one_pass("ahpatron", data, kernel=GAUSSIAN, budget=40)
    _, votes = one_pass("bomkc_ahpatron", data, ONE, budget=40)
    np.testing.assert_array_equal(alone.mistake[1:], votes.mistake[1:])  # f = 0 votes +1
    np.testing.assert_array_equal(alone.n_sv_sum, votes.n_sv_sum)


def test_lasvm_after_many_passes_solves_the_dual_problem():
    """max y'a - a'Ka / 2 with 0 <= y_s a_s <= C, on 100 rows; a step of less than 1e-3 is not taken."""
    data, C = clouds(T=100), 0.7
    learner, _ = one_pass("lasvm", data, order=np.tile(np.arange(100), 60), kernel=GAUSSIAN, C=C)
    K, B = kernel_matrix(data, GAUSSIAN), learner.state["B"]
    a, n = np.zeros(100), B.n_sv[0]
    a[B.origin[B.holds[:n, 0]]] = B.A[:n, 0, 0]
    assert (np.unique(B.origin[B.holds[:n, 0]]).size, (data.y * a).min() >= 0) == (n, True)
    bounds = [(0.0, C) if y > 0 else (-C, 0.0) for y in data.y]
    found = minimize(
        lambda a: 0.5 * a @ K @ a - data.y @ a,
        np.zeros(100),
        jac=lambda a: K @ a - data.y,
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )
    np.testing.assert_allclose(K @ a, K @ found.x, atol=3e-3)
    assert 0.5 * a @ K @ a - data.y @ a == pytest.approx(found.fun, abs=1e-4)
    np.testing.assert_allclose(learner.state["g"][:n], (data.y - K @ a)[B.origin[B.holds[:n, 0]]], atol=1e-10)


def test_avp_projects_what_is_near_the_span_only():
    data = clouds(T=300, d=2)
    wide, narrow = ({"kind": "gaussian", "sigma": s} for s in (3.0, 0.05))
    few = one_pass("avp_ogs", data, kernel=wide)[0].state["B"].n_sv[0]
    every = one_pass("avp_ogs", data, kernel=narrow)[0].state["B"].n_sv[0]
    assert few < 10
    assert every > 0.9 * data.T  # 100 / T = 1 / 3 of the squared norm away from each other


def test_all_kernels_drawn_are_raker():
    data, how = targets(), {"kernels": 2, "lam": 0.0, "features": "iid"}
    drawn = on_features("omkl_gf", data, draws=5000, **how)
    raker = on_features("raker", data, eta=1.0, step="sqrt", **how)
    np.testing.assert_allclose(drawn[1].score, raker[1].score, atol=1e-10)
    np.testing.assert_allclose(drawn[0].weights, raker[0].weights, rtol=1e-9)


def test_the_authors_draws_leave_out_the_first_kernel_and_stop():
    data = targets()
    data.y[100] = 0.0
    data.y[:] *= 1e-3  # an error below 1e-4 at once
    learner = on_features("omkl_gf", data, kernels=4, draws=2, variant="authors")[0]
    assert learner.state["settled"][0] == 1
    assert not learner.state["theta"][0].any()
    assert learner.state["theta"].any(axis=1).sum() == learner.state["chosen"].sum() <= 2


def test_dual_space_with_room_for_all_is_pegasos_and_features_come_near():
    data, kernel = clouds(T=80, d=2), {"kind": "gaussian", "gamma": 0.3}
    learner, trace = one_pass("dualsgd", data, kernel=kernel, budget=80, lam=2.0)
    K, a = kernel_matrix(data, kernel), np.zeros(80)
    for t in range(80):
        f = K[t] @ a / max(t, 1)
        assert trace.score[t] == pytest.approx(f, rel=1e-9)
        a[t] = data.y[t] / (1 + np.exp(data.y[t] * f)) * 80 / 2.0
    np.testing.assert_allclose(learner.state["B"].A[:80, 0, 0], a / 80, rtol=1e-9)
    moved, near = one_pass("dualsgd", data, kernel=kernel, budget=10, k=3, lam=2.0, D=20_000)
    np.testing.assert_allclose(near.score, trace.score, atol=0.3)
    assert moved.state["B"].n_sv[0] <= 10
    assert traced(near)["n_sv_sum"].max() == 10


@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1e5), (300.0, 1e-5)])
def test_auto_follows_the_units_of_the_targets(shift, factor):
    """But for the first prediction, which is 0, other units of the targets give the same in these units."""
    data = targets()
    changed, spec = dataclasses.replace(data, y=factor * (data.y + shift)), learner_spec("auto_regression")
    scores = [
        new_learner(spec, {}, None, data.d, 1).run(case_stream(own))[0].score for own in (data, changed)
    ]
    np.testing.assert_allclose(scores[1][1:], factor * (scores[0][1:] + shift), rtol=1e-6)
    assert np.square(scores[0] - data.y)[50:].mean() < 0.5 * data.y.var()
