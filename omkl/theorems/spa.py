"""The theorems of Lu, Hoi, Sahoo, "Budget online multiple kernel learning", on SPA."""

import math

import numpy as np

from omkl.theorems.case import VECTORS, Bound, Case, refused

_KAPPA = "kappa(x, x) = 1, which pool.normalise=cosine makes it"


def bomkc_spa(
    case: Case, alpha: float, beta: float, eta: float, gamma: float, delta: float, discount: str, predict: str
) -> list[Bound]:
    """Theorem 1 (a mistake costs a hinge loss of at least 1) and Theorem 2, summed over the kernels.

    Both need kappa_i(x, x) = 1, or 0 where x is 0 and nothing changes; alpha T / beta of Theorem 2 does not.
    """
    own = (case.batch.own_values(i) for i in range(case.m))
    unit = [bool(np.all((np.abs(values - 1.0) < 1e-9) | (values == 0.0))) for values in own]
    conditions = {
        f"it needs {_KAPPA}": all(unit),
        "it needs discount=hinge": discount == "hinge",
        "it needs predict=current": predict == "current",
        "delta must be above 0": delta > 0.0,
    }
    if wrong := [reason for reason, met in conditions.items() if not met]:
        first = refused("Lu et al., Theorem 1", *wrong)
    else:
        first = _loss(case, alpha, beta, eta, gamma, delta)
    return [first, _vectors(case, alpha, beta, eta, unit)]


def _regret(case: Case, i: int, alpha: float, beta: float, eta: float) -> float:
    """Lemma 1: min_f sum loss + ||f||^2 / (2 eta) + eta beta T / min(alpha, sqrt(beta eta)).

    Its proof bounds E sum_t p_t loss(f_t) by this, p_t <= 1 the probability that the kernel is looked at.
    """
    f = case.fit(i, 1.0 / eta)
    return f.loss + f.norm2 / (2.0 * eta) + eta * beta * case.T / min(alpha, math.sqrt(beta * eta))


def _loss(case: Case, alpha: float, beta: float, eta: float, gamma: float, delta: float) -> Bound:
    """Theorem 1: E sum_t loss(f_t) <= mu (ln(1/gamma) E sum_t loss_i + ln m) / (1 - gamma), p_t >= delta.

    mu = (1 - gamma) L / (1 - gamma^L), L the largest loss: a step tau <= loss adds at most 2 tau - tau^2 to
    ||f||^2, and tau is at most max(eta beta / alpha, sqrt(eta beta)), so ||f||^2 <= T times that, at most T.
    From sum_t p_t (loss(f_t) - loss(f)) <= c the paper concludes delta sum_t (loss(f_t) - loss(f)) <= c,
    which does not follow where terms are negative; delta sum_t loss(f_t) <= c + sum_t loss(f) does.
    """
    step = min(1.0, max(eta * beta / alpha, math.sqrt(eta * beta)))
    L = 1.0 + math.sqrt((2.0 * step - step * step) * case.T)
    mu = (1.0 - gamma) * L / -math.expm1(L * math.log(gamma))

    def total(loss: float) -> float:
        return mu * (math.log(1.0 / gamma) * loss + math.log(case.m)) / (1.0 - gamma)

    regret, i = case.least(lambda i: _regret(case, i, alpha, beta, eta) / delta)
    extra = eta * beta * case.T / (min(alpha, math.sqrt(beta * eta)) * delta)
    fits = [case.fit(i, 1.0 / (eta * delta)) for i in range(case.m)]
    printed = total(min(f.loss + f.norm2 / (2.0 * eta * delta) for f in fits) + extra)
    note = (
        "with the comparator's loss divided by delta, as its proof needs; a mistake costs a loss of 1 or more"
    )
    return Bound("Lu et al., Theorem 1", total(regret), kernel=i, printed=printed, notes=(note,))


def _vectors(case: Case, alpha: float, beta: float, eta: float, unit: list[bool]) -> Bound:
    """Theorem 2: E sum_t Z_i <= min(alpha T / beta, the bound of sum_t p_t loss(f_t) / beta)."""
    most = alpha * case.T / beta
    value = sum(min(most, _regret(case, i, alpha, beta, eta) / beta) for i in range(case.m) if unit[i])
    value += most * unit.count(False)
    notes = ["summed over the kernels"]
    notes += [] if all(unit) else [f"only alpha T / beta for kernels without {_KAPPA}"]
    return Bound("Lu et al., Theorem 2", value, VECTORS, notes=tuple(notes))
