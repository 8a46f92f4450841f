"""NORMA: theorems of Kivinen, Smola, Williamson (2004), with a comparator that does not move (D_1 = D_2 = 0).

Theorems 2 and 3 are printed for the eta and rho that are best for a comparator. For any eta, rho and lam the
proof gives, before that choice, (45) with eta' = eta / (1 - eta lam), for every g and every mu,
    L_rho(f) + M_rho (mu - rho - eta' X^2 / 2) <= L_mu(g) + ||g||^2 (1 / (2 eta') + T lam / 4),
L the cumulative soft margin loss, M_rho margin errors, X^2 = max kappa(x, x). So, as L_rho(f) >= rho M,
    M_rho <= rhs / (mu - rho - eta' X^2 / 2),   M <= rhs / (mu - eta' X^2 / 2) where M_rho's factor is >= 0.
"""

import math

import numpy as np

from omkl.theorems.case import MISTAKES, VECTORS, Bound, Case, refused

_ROUNDS = 4  # of choosing mu for g, then g for mu


def norma(
    case: Case, lam: float, rho: float, eta: float, step: str, tau: int | None, offset: bool
) -> list[Bound]:
    """Theorems 2 and 3 with a constant step, 4 (all terms kept) or 6 (tau terms) with eta / sqrt(t)."""
    paper = "Kivinen et al. (2004), Theorem"
    kept = tau is None or tau >= case.T
    wrong = _wrong(case, lam, rho, eta, step, tau if not kept else None, offset)
    if step == "sqrt":
        theorem = f"{paper} {4 if kept else 6}"
        if wrong:
            return [refused(theorem, wrong)]
        return [Bound(theorem, _risk(case, lam, rho, eta, 2.0 if kept else 10.0), kernel=0)]
    bounds = []
    for theorem, counts in ((f"{paper} 2", VECTORS), (f"{paper} 3", MISTAKES)):
        if wrong:
            bounds.append(refused(theorem, wrong, counts=counts))
            continue
        value = margin_errors(case, lam, rho, eta, errors=counts == VECTORS)
        notes = ["a vector is a margin error"] if counts == VECTORS else []
        notes.append("for this run's eta, rho and lam, by the proof before they are chosen")
        bounds.append(Bound(theorem, value, counts, kernel=0, notes=tuple(notes)))
    return bounds


def _wrong(case: Case, lam: float, rho: float, eta: float, step: str, tau: int | None, offset: bool) -> str:
    """Return the condition of the theorems that fails, "" for none; tau is None where all terms are kept."""
    if offset:
        return "the theorems have no offset"
    if step == "constant":
        return "" if tau is None else f"tau = {tau} drops terms and T is {case.T}"
    if not 0.0 < lam < 1.0 / eta:
        return "lam must be above 0 and below 1 / eta"
    if rho == 0.0:
        return "with rho = 0 it bounds no mistakes, only the risk"
    if tau is not None and not _slow(case.T, lam, eta, tau):
        return f"tau = {tau} drops terms before they are below 2 eta_t^2 lam, as the proof needs"
    return ""


def margin_errors(case: Case, lam: float, rho: float, eta: float, *, errors: bool, kernel: int = 0) -> float:
    """The right-hand side for margin errors, or for mistakes, minimised over mu and g.

    With g = mu g~ it is (mu L + c mu^2 N) / (mu - a), L the hinge loss and N the squared norm of g~.
    """
    prime = eta / (1.0 - eta * lam)
    c = 1.0 / (2.0 * prime) + case.T * lam / 4.0
    half = prime * case.square(kernel) / 2.0
    a, least = (half + rho, 0.0) if errors else (half, rho)  # mu >= a + least
    best, mu = math.inf, 2.0 * half + rho
    for _ in range(_ROUNDS):
        g = case.fit(kernel, 2.0 * c * mu)
        if g.norm2 > 0.0:  # at the minimum over mu - a
            mu = a + max(least, math.sqrt((a * g.loss + c * a * a * g.norm2) / (c * g.norm2)))
        best = min(best, (mu * g.loss + c * mu * mu * g.norm2) / (mu - a))
    return best


def tuned(case: Case, kernel: int) -> float:
    """Theorem 3 as printed, K / mu + 2 C / mu^2 + 2 sqrt(C / mu^2 (K / mu + C / mu^2)), at mu = 1.

    K the hinge loss of g and C = X^2 ||g||^2 / 4. A perceptron (rho = lam = 0) makes the same mistakes for
    every eta, so that the best one may be chosen afterwards.
    """
    square = case.square(kernel)
    best, lam = math.inf, max(square, 1e-300)
    for _ in range(_ROUNDS):
        g = case.fit(kernel, lam)
        K, C = g.loss, square * g.norm2 / 4.0
        best = min(best, K + 2.0 * C + 2.0 * math.sqrt(C * (K + C)))
        if C == 0.0:
            break
        lam = square / (2.0 * h(1.0, K, C))  # 1 / eta'
    return best


def h(x: float, K: float, C: float) -> float:
    """Equation (30)."""
    return math.sqrt(C / K * (x + C / K)) - C / K if K > 0.0 else x / 2.0


def _risk(case: Case, lam: float, rho: float, eta: float, factor: float) -> float:
    """Theorems 4 and 6: rho M <= sum_t R_inst[f_t] <= T R_reg[g] + a sqrt(T) + U^2 / (2 eta), U = X / lam.

    a = 2 lam U^2 (factor eta lam + 1 / (eta lam)). With g = rho g~ the first term is
    rho / 2 (T lam rho ||g~||^2 + 2 sum loss). The constants are as printed. Theorem 6's proof has
    ||f_t|| <= 3 U, too large for its a; the sum of |coefficients| obeys ||f_t|| <= U whatever is dropped.
    """
    U2, T = case.square(0) / lam**2, case.T
    a = 2.0 * lam * U2 * (factor * eta * lam + 1.0 / (eta * lam))
    g = case.fit(0, T * lam * rho)
    return g.loss + T * lam * rho * g.norm2 / 2.0 + (a * math.sqrt(T) + U2 / (2.0 * eta)) / rho


def _slow(T: int, lam: float, eta: float, tau: int) -> bool:
    """Whether every dropped term, of round t - tau, has shrunk to at most 2 eta_t^2 lam by round t.

    Theorem 6 lets the number of terms grow with t so that this holds; a constant tau is checked in every
    round.
    """
    rate = eta / np.sqrt(np.arange(1.0, T + 1.0))
    shrunk = np.concatenate([[0.0], np.cumsum(np.log1p(-rate * lam))])  # log of the product up to round t
    t = np.arange(tau + 1, T + 1)
    left = np.log(rate[t - tau - 1]) + shrunk[t] - shrunk[t - tau]
    return bool(np.all(left <= np.log(2.0 * rate[t - 1] ** 2 * lam)))
