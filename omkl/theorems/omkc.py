"""Online multiple kernel classification: theorems of Hoi, Jin, Zhao, Yang (Machine Learning 90, 2013).

Equations (3) to (5) are lost from the text. F(kappa, l, L) is taken for g(kappa, l) of Jin et al. (2010):
with it the closed form that Theorem 1 prints for beta = sqrt(T) / (sqrt(T) + sqrt(ln m)) follows from
M <= (2 ln(1/beta) g + 2 ln m) / (1 - beta) by ln(1/beta) <= 1/beta - 1. These functions take any beta.
"""

import math

from omkl.theorems.case import Bound, Case, refused


def hedge(beta: float, loss: float, m: int) -> float:
    """Bound of Hedge's sum_t q_t . z_t by the best kernel's loss: (loss ln(1/beta) + ln m) / (1 - beta)."""
    return (loss * math.log(1.0 / beta) + math.log(m)) / (1.0 - beta)


def drawn(case: Case, theorem: str, beta: float, least: float, *notes: str) -> list[Bound]:
    """Theorem 1 divided by ``least``, for a learner that draws each kernel with at least this probability."""
    if least == 0.0:
        return [refused(theorem, "delta must be above 0")]
    g, i = case.least(case.g)
    value = 2.0 * hedge(beta, g, case.m) / least
    return [Bound(theorem, value, kernel=i, notes=(*case.rescaled(i), *notes))]


def omkc_dd(case: Case, beta: float) -> list[Bound]:
    """Theorem 1, the same as Theorem 2 of Jin et al. (2010): M <= 2 sum_t q_t . z_t."""
    return drawn(case, "Hoi et al. (2013), Theorem 1; Jin et al. (2010), Theorem 2", beta, 1.0)


def omkc_ds(case: Case, beta: float, sampling: str) -> list[Bound]:
    """Theorem 2, printed with the factor 2 of Theorem 1, whose proof it refers to.

    That proof does not carry over: a sampled majority can err with more than twice the probability q . z
    (w = 1 and errs, fifteen kernels with w = 0.2 do not: about 0.94 against 0.25). What holds with
    q_i = w_i / max_j w_j, W = sum_j w_j / max_j w_j <= m: the heaviest kernel is always combined. Where it
    errs, W q . z >= 1. Where it does not, the others must outweigh it, which has at most the probability
    sum_i (w_i / max w)^2 z_i <= W q . z. So E[M] <= m sum_t q_t . z_t.
    """
    theorem = "Hoi et al. (2013), Theorem 2"
    if sampling != "max":
        return [refused(theorem, "an empty combination errs; sampling=max has none")]
    g, i = case.least(case.g)
    once = hedge(beta, g, case.m)
    notes = (*case.rescaled(i), "with the factor m, which holds for q_i = w_i / max w; printed with 2")
    return [Bound(theorem, max(2, case.m) * once, kernel=i, printed=2.0 * once, notes=notes)]


def omkc_sd(case: Case, beta: float, delta: float, floor: str, variant: str) -> list[Bound]:
    """Theorem 3: as Theorem 1, with sum_t q_t . z_t at most 1 / min p times that of the kernels drawn."""
    theorem = "Hoi et al. (2013), Theorem 3"
    if variant != "standard":
        return [refused(theorem, f"variant={variant} does not run one perceptron per kernel")]
    if floor == "delta":
        return drawn(case, theorem, beta, delta, "floor=delta: delta in place of the printed delta / m")
    return drawn(case, theorem, beta, delta / case.m)
