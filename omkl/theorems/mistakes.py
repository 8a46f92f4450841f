"""Bounds of mistakes: perceptrons, online multiple kernel learning and classification, SPA.

Perceptrons are NORMA with rho = lam = 0 (Kivinen, Smola, Williamson 2004).

OMKC: Hoi, Jin, Zhao, Yang (Machine Learning 90, 2013). The text at hand lacks equations (3) to (5).
F(kappa, l, L) is taken for g(kappa, l) of Jin et al. (2010): with it the closed form that Theorem 1 prints
for beta = sqrt(T) / (sqrt(T) + sqrt(ln m)) follows from M <= (2 ln(1/beta) g + 2 ln m) / (1 - beta) by
ln(1/beta) <= 1/beta - 1. These functions take any beta.

OMKL: Jin, Hoi, Yang (Algorithmic Learning Theory, 2010). Theorem 2 and Corollary 4 are omkc_dd's. Theorem 1
says that batch multiple kernel learning (1) and the minimum over kernels' weights and functions in Theorem 8
are one problem: Corollary 9.

SPA: Lu, Hoi, Sahoo, "Budget online multiple kernel learning". All need kappa_i(x, x) = 1, or 0 where x is 0
and nothing changes; alpha T / beta of Theorem 2 does not. Their second forms set eta = ||f|| sqrt(alpha /
(2 beta T)): for a run's eta they speak of the f of this norm, and of smaller ones. alpha^3 <= beta ||f||^2 /
(2 T), which they need, is alpha <= sqrt(beta eta) then.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from omkl.theorems.batch import MEAN
from omkl.theorems.case import MISTAKES, REGRET, VECTORS, Bound, Case, refused
from omkl.theorems.norma import tuned

_THEOREM = "Kivinen et al. (2004), Theorem 3"


def perceptron(case: Case) -> list[Bound]:
    """Theorem 3 with rho = lam = 0."""
    return [Bound(_THEOREM, tuned(case, 0), kernel=0, notes=("rho = lam = 0",))]


def perceptron_u(case: Case) -> list[Bound]:
    """Theorem 3 with rho = lam = 0 and the mean kernel."""
    return [Bound(_THEOREM, tuned(case, MEAN), kernel=MEAN, notes=("rho = lam = 0",))]


# ------------------------------------------------------------------ OMKC


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


# ------------------------------------------------------------------ OMKL


def omklp_da2(case: Case, beta: float, gamma: float) -> list[Bound]:
    """Theorem 3, from sum_t nu_i <= g(kappa_i) / 2 and M <= 4 sum_t q_t . nu_t.

    The first needs kappa_i(x, x) <= 1 and, unlike a mistake, nu changes with the kernel's scale. Where
    X^2 > 1, only nu <= (1/2 + gamma) z holds: sum_t nu_i <= (1/2 + gamma) g(kappa_i / X^2).
    """
    top = 0.5 + gamma  # largest nu
    nu, i = case.least(lambda i: case.g(i) * (0.5 if case.square(i) <= 1.0 else top))
    value = 4.0 * top * hedge(beta**top, nu / top, case.m)
    notes = (*case.rescaled(i), "and nu_i is then at most 1/2 + gamma") if case.square(i) > 1.0 else ()
    return [Bound("Jin et al. (2010), Theorem 3", value, kernel=i, notes=notes, objective=case.g(i))]


def omklp_da1(case: Case, beta: float | None) -> list[Bound]:
    """Theorem 2 and Corollary 4; with beta by doubling Theorem 5."""
    return _doubling(case) if beta is None else omkc_dd(case, beta)


def _doubling(case: Case) -> list[Bound]:
    """Theorem 5: M <= 2 sum_k (L_k + ln m + 2 sqrt(ln m) 2^(k/2)) over segments k = 0 .. s - 1.

    L = sum_k L_k <= g and 2^(s-1) - 1 <= g, so s <= 1 + log2(g + 1) and the last terms sum to
    2 (2^(s/2) - 1) / (sqrt 2 - 1) sqrt(ln m), where 2^(s/2) <= sqrt(2 (g + 1)). The theorem prints
    2 sqrt(g) / (sqrt 2 - 1) there, which can be less than its proof gives.
    """
    g, i = case.least(case.g)
    log_m = math.log(case.m)
    share = 2.0 / (math.sqrt(2.0) - 1.0)
    segments = 1 + math.floor(math.log2(g + 1.0))
    value = 2.0 * (g + segments * log_m + share * (2.0 ** (segments / 2.0) - 1.0) * math.sqrt(log_m))
    printed = 2.0 * (g + (1 + math.ceil(math.log2(g))) * log_m + share * math.sqrt(g * log_m))
    notes = (*case.rescaled(i), "with what the proof gives in place of the printed 2 sqrt(g) / (sqrt 2 - 1)")
    return [Bound("Jin et al. (2010), Theorem 5", value, kernel=i, printed=printed, notes=notes, objective=g)]


def omklp_sua(case: Case, beta: float, delta: float) -> list[Bound]:
    """Theorem 6: a kernel is drawn with probability at least delta / m. Its remark bounds the updates.

    E sum p . z <= (1 - delta) E sum q . z + delta T, and E sum q . z is half of Theorem 6's right-hand side.
    """
    mistakes = drawn(case, "Jin et al. (2010), Theorem 6", beta, delta / case.m)
    theorem = "Jin et al. (2010), Theorem 6, updates"
    return [*mistakes, updates(theorem, mistakes[0], delta, delta * case.T)]


def omklp_mua(case: Case, beta: float, delta: float) -> list[Bound]:
    """Theorem 7: a kernel is drawn with probability at least delta. Its remark bounds the updates.

    As of Theorem 6 with delta m T; in round 1 all kernels err and are drawn, (1 - delta) (m - 1) more.
    """
    mistakes = drawn(case, "Jin et al. (2010), Theorem 7", beta, delta)
    theorem = "Jin et al. (2010), Theorem 7, updates"
    first = (1.0 - delta) * (case.m - 1)
    return [*mistakes, updates(theorem, mistakes[0], delta, delta * case.m * case.T, first=first)]


def omklo_da(case: Case, beta: float, R: float) -> list[Bound]:
    """Theorem 8, with u at one kernel: (g + 2 ln m / ln(1/beta)) / (1 - R^2 ln(1/beta)), ||f|| <= R.

    Corollary 9, with the f and u of batch multiple kernel learning, ||f_i|| <= R for its kernels.
    """
    paper, rate = "Jin et al. (2010), ", math.log(1.0 / beta)
    theorems = f"{paper}Theorem 8", f"{paper}Theorem 1 and Corollary 9"
    wrong = [f"R^2 ln(1/beta) = {R * R * rate:.4g} must be below 1"] if R * R * rate >= 1.0 else []
    if wrong := [*wrong, *case.too_large()]:
        return [refused(theorem, *wrong) for theorem in theorems]

    def value(g: float) -> float:
        return (g + 2.0 * math.log(case.m) / rate) / (1.0 - R * R * rate)

    g, i = case.least(lambda i: case.within(i, R, 1.0))
    mixed, u = min(case.mixed_within(R), (g, tuple(float(j == i) for j in range(case.m))))
    return [
        Bound(theorems[0], value(g), kernel=i, objective=g),
        Bound(theorems[1], value(mixed), objective=mixed, mixture=u),
    ]


def omklo_sua(case: Case, beta: float, R: float, delta: float, eta: float | None) -> list[Bound]:
    """Theorem 10, from its proof for any eta: E[M] <= min sum loss + a / eta + eta b E[M].

    With E[M] <= T and eta = sqrt(a / (b T)) this is the printed right-hand side. The printed eta,
    sqrt(a / b), belongs to T = 1. Where eta b < 1 the last term can also be taken to the left.
    (The proof prints eta^2 where its second sum has eta.)
    """
    theorem, rate, m = "Jin et al. (2010), Theorem 10", math.log(1.0 / beta), case.m
    if wrong := case.too_large():
        return [refused(theorem, *wrong)]
    a = R * R / 2.0 + math.log(m) / rate
    b = rate * (R * m / delta) ** 2 / 2.0 + m / (2.0 * delta)
    step = math.sqrt(a / b) if eta is None else eta
    loss, i = case.least(lambda i: case.within(i, R, 0.0) / 2.0)
    value = loss + a / step + step * b * case.T
    if step * b < 1.0:
        value = min(value, (loss + a / step) / (1.0 - step * b))
    note = "for this run's eta; printed for sqrt(a / (b T)), where algo.eta=null is sqrt(a / b)"
    return [Bound(theorem, value, kernel=i, notes=(note,), objective=loss)]


# ------------------------------------------------------------------ SPA

_KAPPA = "kappa(x, x) = 1, which pool.normalise=cosine makes it"


def bomkc_spa(
    case: Case, alpha: float, beta: float, eta: float, gamma: float, delta: float, discount: str, predict: str
) -> list[Bound]:
    """Lemma 1 for one kernel, Theorem 1 (a mistake costs a loss of at least 1), Theorem 2 over kernels."""
    self_kernels = (case.batch.own_values(i) for i in range(case.m))
    unit = [bool(np.all((np.abs(values - 1.0) < 1e-9) | (values == 0.0))) for values in self_kernels]
    spa, root = _Spa(case, alpha, beta, eta), math.sqrt(beta * eta)
    both = {f"it needs {_KAPPA}": all(unit), "it needs predict=current": predict == "current"}
    one = {f"it is about the classifier of one kernel, and the pool has {case.m}": case.m == 1}
    hedge = {"it needs discount=hinge": discount == "hinge", "delta must be above 0": delta > 0.0}
    small = {f"alpha must be at most sqrt(beta eta) = {root:.4g}": alpha <= root}

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
        bound(f"{paper}Lemma 1, second form", both | one | small, REGRET, regret(spa.tuned)),
        bound(f"{paper}Theorem 1", both | hedge, MISTAKES, loss(spa.usual)),
        bound(f"{paper}Theorem 1, second form", both | hedge | small, MISTAKES, loss(spa.tuned)),
        bound(f"{paper}Theorem 2", {}, VECTORS, vectors(spa.usual)),
        bound(f"{paper}Theorem 2, second form", small, VECTORS, vectors(spa.tuned)),
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


def _one_kernel(theorem: str, spa: _Spa, bound_terms: Callable[..., tuple[float, float]]) -> Bound:
    """Lemma 1: E sum_t (loss(f_t) - loss(f)), f with the least of the right-hand side and sum loss.

    The one kernel has the largest weight, so that it is looked at in every round.
    """
    loss, rest = bound_terms(0)
    observed = tuple(run.hinge_loss - loss for run in spa.case.runs)
    return Bound(theorem, rest, REGRET, kernel=0, objective=loss, observed=observed)


def _loss(
    theorem: str, spa: _Spa, bound_terms: Callable[..., tuple[float, float]], gamma: float, delta: float
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

    regret, i = case.least(lambda i: sum(bound_terms(i)) / delta)
    printed, _ = case.least(lambda i: bound_terms(i, delta)[0] + bound_terms(i, delta)[1] / delta)
    note = (
        "with the comparator's loss divided by delta, as its proof needs; a mistake costs a loss of 1 or more"
    )
    return Bound(
        theorem, total(regret), kernel=i, printed=total(printed), notes=(note,), objective=bound_terms(i)[0]
    )


def _vectors(
    theorem: str, spa: _Spa, bound_terms: Callable[..., tuple[float, float]], unit: list[bool]
) -> Bound:
    """Theorem 2: E sum_t Z_i <= min(alpha T / beta, the bound of sum_t p_t loss(f_t) / beta)."""
    most = spa.alpha * spa.case.T / spa.beta
    value = sum(min(most, sum(bound_terms(i)) / spa.beta) for i in range(spa.case.m) if unit[i])
    value += most * unit.count(False)
    notes = ["summed over the kernels"]
    notes += [] if all(unit) else [f"only alpha T / beta for kernels without {_KAPPA}"]
    return Bound(theorem, value, VECTORS, notes=tuple(notes))
