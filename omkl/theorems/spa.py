"""The theorems of Lu, Hoi, Sahoo, "Budget online multiple kernel learning", on SPA.

All need kappa_i(x, x) = 1, or 0 where x is 0 and nothing changes; alpha T / beta of Theorem 2 does not. Their
second forms set eta = ||f|| sqrt(alpha / (2 beta T)): for a run's eta they speak of the f of this norm, and
of smaller ones. alpha^3 <= beta ||f||^2 / (2 T), which they need, is alpha <= sqrt(beta eta) then.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from omkl.theorems.case import MISTAKES, REGRET, VECTORS, Bound, Case, refused

_KAPPA = "kappa(x, x) = 1, which pool.normalise=cosine makes it"


def bomkc_spa(
    case: Case, alpha: float, beta: float, eta: float, gamma: float, delta: float, discount: str, predict: str
) -> list[Bound]:
    """Lemma 1 for one kernel, Theorem 1 (a mistake costs a loss of at least 1), Theorem 2 over kernels."""
    own = (case.batch.own_values(i) for i in range(case.m))
    unit = [bool(np.all((np.abs(values - 1.0) < 1e-9) | (values == 0.0))) for values in own]
    spa, root = _Spa(case, alpha, beta, eta), math.sqrt(beta * eta)
    both = {f"it needs {_KAPPA}": all(unit), "it needs predict=current": predict == "current"}
    one = {f"it is about the classifier of one kernel, and the pool has {case.m}": case.m == 1}
    hedge = {"it needs discount=hinge": discount == "hinge", "delta must be above 0": delta > 0.0}
    tuned = {f"alpha must be at most sqrt(beta eta) = {root:.4g}": alpha <= root}

    def bound(theorem: str, conditions: dict[str, bool], counts: str, of: Callable[..., Bound]) -> Bound:
        wrong = [reason for reason, met in conditions.items() if not met]
        return refused(theorem, *wrong, counts=counts) if wrong else of(theorem)

    def regret(f_loss: Callable[[int], tuple[float, float]]) -> Callable[[str], Bound]:
        return lambda theorem: _one_kernel(theorem, spa, f_loss)

    def loss(f_loss: Callable[[int], tuple[float, float]]) -> Callable[[str], Bound]:
        return lambda theorem: _loss(theorem, spa, f_loss, gamma, delta)

    def vectors(f_loss: Callable[[int], tuple[float, float]]) -> Callable[[str], Bound]:
        return lambda theorem: _vectors(theorem, spa, f_loss, unit)

    paper = "Lu et al., "
    return [
        bound(f"{paper}Lemma 1", both | one, REGRET, regret(spa.usual)),
        bound(f"{paper}Lemma 1, second form", both | one | tuned, REGRET, regret(spa.tuned)),
        bound(f"{paper}Theorem 1", both | hedge, MISTAKES, loss(spa.usual)),
        bound(f"{paper}Theorem 1, second form", both | hedge | tuned, MISTAKES, loss(spa.tuned)),
        bound(f"{paper}Theorem 2", {}, VECTORS, vectors(spa.usual)),
        bound(f"{paper}Theorem 2, second form", tuned, VECTORS, vectors(spa.tuned)),
    ]


class _Spa(NamedTuple):
    """A run's alpha, beta and eta, and the right-hand sides of Lemma 1 for them.

    Lemma 1's proof bounds E sum_t p_t loss(f_t) by sum_t loss(f) and more, p_t <= 1 the probability that the
    kernel is looked at. The functions below return these two parts for kernel i.
    """

    case: Case
    alpha: float
    beta: float
    eta: float

    def usual(self, i: int, share: float = 1.0) -> tuple[float, float]:
        """min_f sum loss + (||f||^2 / (2 eta) + eta beta T / min(alpha, sqrt(beta eta))) / share."""
        f, most = self.case.fit(i, 1.0 / (self.eta * share)), min(self.alpha, math.sqrt(self.beta * self.eta))
        return f.loss, f.norm2 / (2.0 * self.eta) + self.eta * self.beta * self.case.T / most

    def tuned(self, i: int, share: float = 1.0) -> tuple[float, float]:
        """min_f sum loss + U sqrt(2 beta T / alpha) for ||f|| <= U = eta sqrt(2 beta T / alpha)."""
        root = math.sqrt(2.0 * self.beta * self.case.T / self.alpha)
        return self.case.within(i, self.eta * root, 0.0) / 2.0, self.eta * root * root


def _one_kernel(theorem: str, spa: _Spa, parts: Callable[..., tuple[float, float]]) -> Bound:
    """Lemma 1: E sum_t (loss(f_t) - loss(f)), f with the least of the right-hand side and sum loss.

    The one kernel has the largest weight, so that it is looked at in every round.
    """
    loss, rest = parts(0)
    observed = tuple(run.hinge_loss - loss for run in spa.case.runs)
    return Bound(theorem, rest, REGRET, kernel=0, objective=loss, observed=observed)


def _loss(
    theorem: str, spa: _Spa, parts: Callable[..., tuple[float, float]], gamma: float, delta: float
) -> Bound:
    """Theorem 1: E sum_t loss(f_t) <= mu (ln(1/gamma) E sum_t loss_i + ln m) / (1 - gamma), p_t >= delta.

    mu = (1 - gamma) L / (1 - gamma^L), L the largest loss: a step tau <= loss adds at most 2 tau - tau^2 to
    ||f||^2, and tau is at most max(eta beta / alpha, sqrt(eta beta)), so ||f||^2 <= T times that, at most T.
    From sum_t p_t (loss(f_t) - loss(f)) <= c the paper concludes delta sum_t (loss(f_t) - loss(f)) <= c,
    which does not follow where terms are negative; delta sum_t loss(f_t) <= c + sum_t loss(f) does.
    """
    case = spa.case
    step = min(1.0, max(spa.eta * spa.beta / spa.alpha, math.sqrt(spa.eta * spa.beta)))
    L = 1.0 + math.sqrt((2.0 * step - step * step) * case.T)
    mu = (1.0 - gamma) * L / -math.expm1(L * math.log(gamma))

    def total(loss: float) -> float:
        return mu * (math.log(1.0 / gamma) * loss + math.log(case.m)) / (1.0 - gamma)

    regret, i = case.least(lambda i: sum(parts(i)) / delta)
    printed, _ = case.least(lambda i: parts(i, delta)[0] + parts(i, delta)[1] / delta)
    note = (
        "with the comparator's loss divided by delta, as its proof needs; a mistake costs a loss of 1 or more"
    )
    return Bound(
        theorem, total(regret), kernel=i, printed=total(printed), notes=(note,), objective=parts(i)[0]
    )


def _vectors(theorem: str, spa: _Spa, parts: Callable[..., tuple[float, float]], unit: list[bool]) -> Bound:
    """Theorem 2: E sum_t Z_i <= min(alpha T / beta, the bound of sum_t p_t loss(f_t) / beta)."""
    most = spa.alpha * spa.case.T / spa.beta
    value = sum(min(most, sum(parts(i)) / spa.beta) for i in range(spa.case.m) if unit[i])
    value += most * unit.count(False)
    notes = ["summed over the kernels"]
    notes += [] if all(unit) else [f"only alpha T / beta for kernels without {_KAPPA}"]
    return Bound(theorem, value, VECTORS, notes=tuple(notes))
