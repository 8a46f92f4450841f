"""Online multiple kernel classification: theorems of Hoi, Jin, Zhao, Yang (Machine Learning 90, 2013).

Equations (3) to (5) are lost from the text. F(kappa, l, L) is taken for g(kappa, l) of Jin et al. (2010):
with it the closed form that Theorem 1 prints for beta = sqrt(T) / (sqrt(T) + sqrt(ln m)) follows from
M <= (2 ln(1/beta) g + 2 ln m) / (1 - beta) by ln(1/beta) <= 1/beta - 1. These functions take any beta.
"""

import math
from dataclasses import replace

from omkl.theorems.case import VECTORS, Bound, Case, refused


def hedge(beta: float, loss: float, m: int) -> float:
    """Bound of Hedge's sum_t q_t . z_t by the best kernel's loss: (loss ln(1/beta) + ln m) / (1 - beta)."""
    return (loss * math.log(1.0 / beta) + math.log(m)) / (1.0 - beta)


def drawn(case: Case, theorem: str, beta: float, least: float, *notes: str) -> list[Bound]:
    """Theorem 1 divided by ``least``, for a learner that draws each kernel with at least this probability."""
    if least == 0.0:
        return [refused(theorem, "delta must be above 0")]
    g, i = case.least(case.g)
    value = 2.0 * hedge(beta, g, case.m) / least
    return [Bound(theorem, value, kernel=i, notes=(*case.rescaled(i), *notes), objective=g)]


def updates(
    theorem: str, mistakes: Bound, delta: float, rest: float, *, times: int = 1, first: float = 0.0
) -> Bound:
    """Return the bound of the expected updates, each of which stores a vector.

    (1 - delta) E sum q . z + rest: the sum is half of the mistakes' right-hand side    rest: of what is drawn
    beside q    times: how often q the kernels are drawn    first: updates that the paper leaves out
    """
    if mistakes.value is None:
        return replace(mistakes, theorem=theorem, counts=VECTORS)
    once = (1.0 - delta) * mistakes.value / 2.0
    value, printed = times * once + rest + first, once + rest
    notes = (*mistakes.notes, *(("with the factor m for q_i = w_i / max w",) if times > 1 else ()))
    notes += ("with the first round, in which all kernels are updated",) if first else ()
    changed = printed if value != printed else None
    return replace(mistakes, theorem=theorem, counts=VECTORS, value=value, printed=changed, notes=notes)


def omkc_dd(case: Case, beta: float) -> list[Bound]:
    """Theorem 1, the same as Theorem 2 of Jin et al. (2010): M <= 2 sum_t q_t . z_t. And its Corollary 4."""
    first = drawn(case, "Hoi et al. (2013), Theorem 1; Jin et al. (2010), Theorem 2", beta, 1.0)
    return [*first, _hindsight(case, beta)]


def _hindsight(case: Case, beta: float) -> Bound:
    """Corollary 4: M <= 2 (g + ln m + 2 sqrt(g ln m)) for beta = sqrt(z) / (sqrt(z) + sqrt(ln m)).

    z the mistakes of the best kernel. With g in place of these, known before the run, beta gives the same
    right-hand side, 2 g / beta + 2 ln m / (1 - beta). By Theorem 2 it holds for a beta near that one too.
    """
    theorem, log_m = "Jin et al. (2010), Corollary 4", math.log(case.m)
    g, i = case.least(case.g)
    value = 2.0 * (math.sqrt(g) + math.sqrt(log_m)) ** 2
    best = math.sqrt(g) / (math.sqrt(g) + math.sqrt(log_m))
    if case.m > 1 and 2.0 * hedge(beta, min(g, case.least_mistakes(g)), case.m) > value * (1.0 + 1e-12):
        return refused(theorem, f"beta = {beta:.4g} is too far from that of hindsight, {best:.4g}")
    notes = (*case.rescaled(i), f"for the beta of hindsight, {best:.4g}, and those near it")
    return Bound(theorem, value, kernel=i, notes=notes, objective=g)


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
    return [Bound(theorem, max(2, case.m) * once, kernel=i, printed=2.0 * once, notes=notes, objective=g)]


def omkc_sd(case: Case, beta: float, delta: float, floor: str, variant: str, sampling: str) -> list[Bound]:
    """Theorem 3: as Theorem 1, with sum_t q_t . z_t at most 1 / min p times that of the kernels drawn.

    Corollary 1: E sum p . z <= (1 - delta) E sum q . z + delta T, each p at most (1 - delta) q + delta / m.
    Printed with the q of sum 1; w_i / max w is up to m times that.
    """
    theorem, corollary = "Hoi et al. (2013), Theorem 3", "Hoi et al. (2013), Corollary 1"
    if variant != "standard":
        reason = f"variant={variant} does not run one perceptron per kernel"
        return [refused(theorem, reason), refused(corollary, reason, counts=VECTORS)]
    notes = ("floor=delta: delta in place of the printed delta / m",) if floor == "delta" else ()
    share = delta if floor == "delta" else delta / case.m
    (mistakes,) = drawn(case, theorem, beta, share, *notes)
    times = case.m if sampling == "max" else 1
    return [mistakes, updates(corollary, mistakes, delta, case.m * share * case.T, times=times)]
