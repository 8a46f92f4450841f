"""Online multiple kernel learning: theorems of Jin, Hoi, Yang (Algorithmic Learning Theory, 2010).

Theorem 2 and Corollary 4 are omkc_dd's in omkc.py. Theorem 1 says that batch multiple kernel learning (1) and
the minimum over kernels' weights and functions in Theorem 8 are one problem: Corollary 9.
"""

import math

from omkl.theorems.case import Bound, Case, refused
from omkl.theorems.omkc import drawn, hedge, updates


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


def omklp_da1_doubling(case: Case) -> list[Bound]:
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
