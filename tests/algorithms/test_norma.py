"""NORMA and ALMA: special cases, the window of rounds, the truncation error, the share of margin errors."""

import numpy as np
import pytest
from support.engine_cases import (
    MIXED,
    case_stream,
    clouds,
    one_pass,
    state,
    ties,
    wdbc,
)

from omkl.config import plan
from omkl.data.dataset import Dataset
from omkl.errors import UserError

STREAMS = pytest.mark.parametrize("stream", [wdbc, ties, clouds], ids=lambda f: f.__name__)
KERNEL = {"kind": "gaussian", "sigma": 2.0}


def gram(data: Dataset, rows, columns):
    """The Gaussian kernel of KERNEL between two sets of rows, by its definition."""
    X = np.zeros((data.T, data.d))
    X[np.repeat(np.arange(data.T), np.diff(data.indptr)), data.indices] = data.values
    square = ((X[rows][:, None] - X[columns][None]) ** 2).sum(-1)
    return np.exp(-square / (2 * KERNEL["sigma"] ** 2))


@STREAMS
@pytest.mark.parametrize("kernel", MIXED["kernels"][:7], ids=lambda k: "-".join(map(str, k.values())))
def test_norma_without_margin_and_regularisation_is_the_perceptron(stream, kernel):
    data = stream()
    theirs, perceptron = one_pass("perceptron", data, kernel=kernel)
    ours, trace = one_pass("norma", data, kernel=kernel, rho=0.0, lam=0.0, eta=1.0)
    np.testing.assert_array_equal(trace.mistake, perceptron.mistake)
    np.testing.assert_array_equal(trace.n_sv_sum, perceptron.n_sv_sum)
    near = 0.0 if kernel["kind"] != "linear" else 1e-13 * np.abs(trace.score).max()  # summed by weights
    np.testing.assert_allclose(trace.score, perceptron.score, rtol=0.0, atol=near)
    B = one_pass("norma", data, kernel=kernel, rho=0.0, lam=0.0, eta=1.0, tau=data.T)[0]
    for name, array in state(theirs).items():
        np.testing.assert_array_equal(state(ours)[name], array, name)
        if name != "kernel_mask":
            np.testing.assert_array_equal(state(B)[name], array, name)


@STREAMS
@pytest.mark.parametrize("name", ["norma", "norma_nu"])
def test_a_window_over_the_whole_stream_drops_nothing(stream, name):
    data = stream()
    learner, trace = one_pass(name, data, kernel=KERNEL)
    other, same = one_pass(name, data, kernel=KERNEL, tau=data.T + 1)
    for field in ("mistake", "n_sv_sum"):
        np.testing.assert_array_equal(getattr(trace, field), getattr(same, field))
    np.testing.assert_allclose(trace.score, same.score, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(state(learner)["A"], state(other)["A"])


@pytest.mark.parametrize("tau", [1, 7, 100])
def test_the_terms_kept_are_the_margin_errors_of_the_last_tau_rounds(tau):
    data = clouds()
    learner, trace = one_pass("norma", data, kernel=KERNEL, rho=1.0, tau=tau)
    errors = np.concatenate([[0], np.cumsum(data.y * trace.score <= 1.0)])
    rounds = np.arange(data.T)
    np.testing.assert_array_equal(trace.n_sv_sum, errors[rounds] - errors[np.maximum(0, rounds - tau)])
    assert learner.state["B"].A.size <= tau


@pytest.mark.parametrize("lam", [0.0, 0.003, 0.5, 3.3])  # the last shrinks by 100 in every round
@pytest.mark.parametrize("tau", [1, 7, 100])
def test_with_a_window_and_a_constant_step_every_coefficient_is_picked_from_the_cache_of_powers(lam, tau):
    """alpha_i (1 - lam eta)^(t - i - 1) of Fig. 1, as exact after many rounds as after tau of them."""
    data, eta = clouds(T=3000), 0.3
    learner, trace = one_pass("norma", data, kernel=KERNEL, rho=1.0, lam=lam, eta=eta, tau=tau)
    B, scale, (born, _, powers) = (learner.state[name] for name in ("B", "scale", "window"))
    born = born[: B.n_sv[0]].astype(int)
    beta = np.cumprod([1.0] + [1.0 - eta * lam] * (tau - 1))
    assert sorted(born) == [t for t in range(3000 - tau, 3000) if data.y[t] * trace.score[t] <= 1.0]
    np.testing.assert_array_equal(powers, beta)
    np.testing.assert_allclose(
        scale[0] * B.A[: born.size, 0, 0], eta * data.y[born] * beta[2999 - born], rtol=3e-16 * (tau + 5)
    )


@pytest.mark.parametrize("lam", [0.05, 0.5])
@pytest.mark.parametrize("tau", [1, 5, 20, 60])
def test_truncation_error_obeys_proposition_1(lam, tau):
    """||f - f_trunc|| <= sum_{i dropped} eta (1 - lam eta)^(age) < (1 - lam eta)^tau / lam: C = X = 1.

    f is the expansion of every coefficient that the truncated learner ever made.
    """
    data, eta = clouds(T=400), 0.3
    learner, trace = one_pass("norma", data, kernel=KERNEL, rho=1.0, lam=lam, eta=eta, tau=tau)
    truncated = learner.run(case_stream(data), learn=False)[0].score
    sigma = data.y * trace.score <= 1.0
    age = np.arange(data.T)[::-1]  # factors that a coefficient has been multiplied by
    alpha = eta * sigma * data.y * (1 - lam * eta) ** age
    K = gram(data, np.arange(data.T), np.arange(data.T))
    dropped = np.where(age >= tau, alpha, 0.0)
    error = np.abs(K @ alpha - truncated)
    np.testing.assert_allclose(error, np.abs(K @ dropped), atol=1e-12)
    in_norm = np.sqrt(dropped @ K @ dropped)
    middle = (eta * (1 - lam * eta) ** age[age >= tau]).sum()
    assert 0 < error.max() <= in_norm * (1 + 1e-9)
    assert in_norm <= middle <= (1 - lam * eta) ** tau / lam * (1 + 1e-9)


@pytest.mark.parametrize("step", ["constant", "sqrt"])
@pytest.mark.parametrize("nu", [0.1, 0.4])
def test_the_share_of_margin_errors_approaches_nu(nu, step):
    """rho moves by eta_t (nu - sigma_t), so that what it has moved is what the share is away from nu."""
    data = clouds(T=3000)
    learner, trace = one_pass("norma_nu", data, kernel=KERNEL, nu=nu, step=step, eta=0.2)
    eta = 0.2 / np.sqrt(np.arange(data.T) + 1) if step == "sqrt" else np.full(data.T, 0.2)
    rho = np.concatenate([[0.0], np.cumsum(eta * nu)])
    sigma = np.zeros(data.T)
    for t in range(data.T):  # rho_t = nu sum eta - what the errors so far took off
        sigma[t] = data.y[t] * trace.score[t] <= rho[t] - (eta[:t] * sigma[:t]).sum()
    assert sigma.sum() == learner.state["E"].n_sv[0]
    assert (eta * (nu - sigma)).sum() == pytest.approx(learner.state["rho"][0], abs=1e-9)
    assert np.average(sigma, weights=eta) == pytest.approx(nu, abs=0.02)


@STREAMS
def test_hubers_loss_within_a_wide_sigma_is_the_squared_loss(stream):
    data = stream()
    _, squared = one_pass("norma_regression", data, kernel=KERNEL, eta=0.5, lam=0.0)
    wide = {"loss": "huber", "start": 64.0, "nu": None, "eta": 32.0}
    _, huber = one_pass("norma_regression", data, kernel=KERNEL, lam=0.0, **wide)
    np.testing.assert_allclose(huber.score, squared.score, rtol=1e-12, atol=1e-12)
    _, narrow = one_pass("norma_regression", data, kernel=KERNEL, **{**wide, "start": 1e-9, "eta": 0.1})
    _, eps = one_pass("norma_regression", data, kernel=KERNEL, loss="eps", start=1e-9, nu=None, eta=0.1)
    np.testing.assert_allclose(narrow.score, eps.score, atol=1e-9)


@pytest.mark.parametrize(("name", "over"), [("norma_regression", {"loss": "eps"}), ("norma_novelty", {})])
@pytest.mark.parametrize("nu", [0.1, 0.4])
def test_the_share_beyond_the_width_or_threshold_approaches_nu(name, over, nu):
    data = clouds(T=3000)
    learner, trace = one_pass(name, data, kernel=KERNEL, nu=nu, step="sqrt", **over)
    stored = np.diff(np.append(trace.n_sv_sum, learner.state["E"].n_sv_union[0]))
    if name == "norma_novelty":
        np.testing.assert_array_equal(stored, trace.mistake)
        eta = 1 / np.sqrt(np.arange(data.T) + 1)
        assert (eta * (nu - stored)).sum() == pytest.approx(learner.state["rho"][0] - 1.0)
    assert stored.mean() == pytest.approx(nu, abs=0.04)


@pytest.mark.parametrize("alpha", [0.9, 1.0])
@STREAMS
def test_alma_stays_in_the_unit_ball(stream, alpha):
    learner, trace = one_pass("alma", stream(), kernel=KERNEL, alpha=alpha)
    assert learner.state["norm2"][0] <= 1 + 1e-12
    assert np.abs(trace.score).max() <= 1 + 1e-9


def test_alma_without_a_margin_stores_its_mistakes():
    _, trace = one_pass("alma", clouds(), kernel=KERNEL, alpha=1.0)
    assert trace.n_sv_sum[-1] == trace.mistake[:-1].sum()


def test_a_step_that_turns_f_around_is_refused():
    with pytest.raises(UserError, match=r"algo=norma: eta must be below 1 / lam, got 2.0 with lam=0.5"):
        plan(["algo=norma", "algo.eta=2", "algo.lam=0.5"])


def test_a_scale_that_shrinks_for_thousands_of_rounds_stays_exact():
    """0.9 per round falls below the smallest double after 7,000 rounds; the scale must not."""
    T, c, last = 9000, 0.9, 400
    x = np.random.default_rng(5).normal(size=T)
    y = np.where(np.sin(3 * x) > 0, 1.0, -1.0)
    data = Dataset("line", np.arange(T + 1), np.zeros(T, np.int32), x, y, 1, "classification", "line")
    kernel = {"kind": "gaussian", "sigma": 0.5}
    _, trace = one_pass("norma", data, order=np.arange(T), kernel=kernel, rho=0.5, lam=0.1, eta=1.0)
    a, scores = np.zeros(T), np.zeros(T)
    for t in range(T):
        kept = slice(max(0, t - last), t)  # older terms are below 0.9 ** 400 = 5e-19 of a new one
        scores[t] = a[kept] @ np.exp(-2.0 * (x[kept] - x[t]) ** 2)
        a[kept] *= c
        a[t] = y[t] if y[t] * scores[t] <= 0.5 else 0.0
    np.testing.assert_allclose(trace.score, scores, rtol=1e-9, atol=1e-12)
