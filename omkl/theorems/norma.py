"""NORMA: theorems of Kivinen, Smola, Williamson (2004).

Theorems 2 and 3 are printed for the eta and rho that are best for a comparator. For any eta, rho and lam the
proof gives, before that choice, (45) with eta' = eta / (1 - eta lam): for every mu and g_1 .. g_T
    L_rho(f) + M_rho (mu - rho - eta' X^2 / 2) <= L_mu(g) + Q,
    Q = (||g_T||^2 + (D_2 / (eta' lam) + 2 B D_1 + T eta' lam B^2) / 2) / (2 eta'),
L the cumulative soft margin loss, M_rho margin errors, X^2 = max kappa(x, x); D_1 and D_2 sum the norms of
g_t - g_{t+1} and their squares, B is the largest norm. Where g does not move, Q is ||g||^2 (1 / (2 eta') +
T lam / 4). So, as L_rho(f) >= rho M,
    M_rho <= rhs / (mu - rho - eta' X^2 / 2),   M <= rhs / (mu - eta' X^2 / 2) where M_rho's factor is >= 0.

Where a stream's two mixtures of Gaussians are known in every round (drift and switch in file order), the
comparator moves: g_t is the sum of kappa(c, .) over the means c of the class +1, less that over those of -1:
in the kernel's space for every kernel, and with the sign of the Bayes rule where the kernel is as wide as the
mixtures' components.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omkl.engine.kernels import Pool, form_of
from omkl.engine.slot_values import slot_values
from omkl.theorems.batch import Fit, matrix_of_rows
from omkl.theorems.case import MISTAKES, SHARE, TRUNCATION, VECTORS, Bound, Case, refused
from omkl.theorems.rerun import Repetition

_MOST = 4000  # terms whose norm is computed; older ones have shrunk further
_ROUNDS = 4  # of choosing mu for g, then g for mu
_DELTA = 0.05  # of Corollary 5
_SIZES = np.logspace(-3.0, 3.0, 121)  # of a comparator, relative to one whose mean margin is 1
_PAPER = "Kivinen et al. (2004), "


def norma(
    case: Case, lam: float, rho: float, eta: float, step: str, tau: int | None, offset: bool
) -> list[Bound]:
    """Theorems 2 and 3 and Proposition 1 with a constant step; 4 (or, with tau terms, 6) and Corollary 5 with
    eta / sqrt(t). Theorems 2 and 3 for a moving target, too, where it is known.
    """
    kept = tau is None or tau >= case.T
    wrong = _wrong(case, lam, rho, eta, step, tau if not kept else None, offset)
    if step == "sqrt":
        theorem = f"{_PAPER}Theorem {4 if kept else 6}"
        if wrong:
            return [refused(theorem, wrong)]
        value = _risk(case, lam, rho, eta, 2.0 if kept else 10.0)
        bounds = [Bound(theorem, value, kernel=0)]
        if kept:
            bounds.append(_of_new_rows(case, value, 2.5 * case.square(0) / lam / rho))
        return bounds
    bounds = []
    targets = [] if wrong else targets_of(case)
    for theorem, counts in ((f"{_PAPER}Theorem 2", VECTORS), (f"{_PAPER}Theorem 3", MISTAKES)):
        if wrong:
            bounds.append(refused(theorem, wrong, counts=counts))
            continue
        value = margin_errors(case, lam, rho, eta, errors=counts == VECTORS)
        notes = ["a vector is a margin error"] if counts == VECTORS else []
        notes.append("for this run's eta, rho and lam, by the proof before they are chosen")
        bounds.append(Bound(theorem, value, counts, kernel=0, notes=tuple(notes)))
        if targets:
            bounds.append(_moving(case, targets, f"{theorem}, moving target", counts, notes, lam, rho, eta))
    if tau is not None:
        bounds.append(_truncation(case, lam, eta, tau, lambda y, score: eta * y * (y * score <= rho)))
    return bounds


def norma_growing(case: Case, lam: float, rho: float, eta: float, eps: float, t0: int | None) -> list[Bound]:
    """Theorem 6."""
    from omkl.algorithms import function

    theorem = f"{_PAPER}Theorem 6"
    if wrong := _wrong(case, lam, rho, eta, "sqrt", None, False):
        return [refused(theorem, wrong)]
    first_truncated, kept_terms = function("first_truncated"), function("kept_terms")
    until = first_truncated(eta * lam, eps) if t0 is None else float(t0)
    t = np.arange(1, case.T + 1)
    first = t - np.array([kept_terms(float(s + 1), eps, until) for s in t])  # the round that leaves after t
    leaves = first >= 1
    if t0 is not None and not _small(case.T, lam, eta, t[leaves], first[leaves].astype(int)):
        reason = f"t0 = {t0} drops terms before they are below 2 eta_t^2 lam, as the proof needs (t0=null)"
        return [refused(theorem, reason)]
    notes = () if leaves.any() else ("no term is dropped in this many rounds",)
    return [Bound(theorem, _risk(case, lam, rho, eta, 10.0), kernel=0, notes=notes)]


def norma_logistic(
    case: Case, lam: float, eta: float, step: str, tau: int | None, offset: bool
) -> list[Bound]:
    """Theorem 4 (or 6) and Corollary 5 for the logistic loss, which is at least ln 2 in a mistake.

    g is a batch solution for the hinge loss, at the size that is best here.
    """
    kept = tau is None or tau >= case.T
    if step == "constant":
        bounds = [refused(f"{_PAPER}Theorem 4", "the step must fall as eta / sqrt(t) (step=sqrt)")]
        if tau is not None:
            bounds.append(_truncation(case, lam, eta, tau, lambda y, score: eta * y * (0.5 - y * score)))
        return bounds
    theorem = f"{_PAPER}Theorem {4 if kept else 6}"
    if wrong := _wrong(case, lam, 1.0, eta, step, tau if not kept else None, offset):
        return [refused(theorem, wrong)]
    fixed = _constants(case, lam, eta, 2.0 if kept else 10.0)
    value = (_least_logistic(case.fit(0, case.T * lam), case.T * lam) + fixed) / math.log(2.0)
    notes = ("by the logistic loss of a mistake, at least ln 2",)
    bounds = [Bound(theorem, value, kernel=0, notes=notes)]
    if kept:
        largest = 1.0 + 1.5 * case.square(0) / lam / math.log(2.0)  # |f| <= X^2 / lam
        bounds.append(_of_new_rows(case, value, largest))
    return bounds


def _least_logistic(g: Fit, lam: float) -> float:
    """The least of sum_t ln(1 + exp(-y s g(x))) + lam ||s g||^2 / 2 over sizes s."""
    sizes = np.append(0.0, _SIZES)
    loss = np.logaddexp(0.0, -sizes[:, None] * g.margins).sum(axis=1)
    return float((loss + 0.5 * lam * sizes**2 * g.norm2).min())


def _of_new_rows(case: Case, value: float, largest: float) -> Bound:
    """Corollary 5: what mistakes <= value says of the averaged hypothesis; largest: L over the same loss.

    The paper averages T - 1 hypotheses and divides by T; here it is the mean of all T, as in its source.
    """
    more = largest * math.sqrt(2.0 * math.log(1.0 / _DELTA) / case.T)
    chance = f"with probability {1.0 - _DELTA:g} over rows drawn independently; observed with test=SET"
    return Bound(f"{_PAPER}Corollary 5", value / case.T + more, SHARE, kernel=0, notes=(chance,))


def _truncation(case: Case, lam: float, eta: float, tau: int, steps: Callable) -> Bound:
    """Proposition 1 after the last round, ||f - f_trunc|| <= (1 - lam eta)^tau C X / lam with C = 1.

    steps: from labels and scores (T,) the terms' coefficients when they were new
    """
    theorem = f"{_PAPER}Proposition 1"
    if lam == 0.0:
        return refused(theorem, "lam must be above 0", counts=TRUNCATION)
    value = (1.0 - lam * eta) ** tau * math.sqrt(case.square(0)) / lam
    observed = tuple(truncated_norm(case, run, 1.0 - lam * eta, tau, steps) for run in case.runs)
    return Bound(theorem, value, TRUNCATION, observed=observed, notes=("the norm in the kernel's space",))


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
    """The right-hand side for margin errors, or for mistakes, minimised over mu and g that does not move.

    With g = mu g~ it is (mu L + c mu^2 N) / (mu - a), L the hinge loss and N the squared norm of g~.
    """
    prime = eta / (1.0 - eta * lam)
    c = 1.0 / (2.0 * prime) + case.T * lam / 4.0
    half = prime * case.square(kernel) / 2.0
    a, least = (half + rho, 0.0) if errors else (half, rho)  # mu >= a + least
    best, mu = math.inf, 2.0 * half + rho
    for _ in range(_ROUNDS):
        g = case.fit(kernel, 2.0 * c * mu)
        found, mu = _at_best_margin(g.loss, c * g.norm2, a, least, mu)
        best = min(best, found)
    return best


def _at_best_margin(loss: float, Q: float, a: float, least: float, mu: float) -> tuple[float, float]:
    """The least (mu loss + mu^2 Q) / (mu - a) over mu >= a + least, and mu; the given mu where Q is 0."""
    if Q > 0.0:  # at the minimum over mu - a
        mu = a + max(least, math.sqrt((a * loss + a * a * Q) / Q))
    return (mu * loss + mu * mu * Q) / (mu - a), mu


def _moving(
    case: Case,
    targets: list["Target"],
    theorem: str,
    counts: str,
    notes: list[str],
    lam: float,
    rho: float,
    eta: float,
) -> Bound:
    """The same for the moving targets of the repetitions, at the best size of each."""
    if lam == 0.0:
        return refused(theorem, "the target moves, and lam = 0 forgets nothing", counts=counts)
    prime = eta / (1.0 - eta * lam)
    half = prime * case.square(0) / 2.0
    a, least = (half + rho, 0.0) if counts == VECTORS else (half, rho)
    values, sizes = [], []
    for g in targets:
        Q = g.last2 + (g.D2 / (prime * lam) + 2.0 * g.B * g.D1 + case.T * prime * lam * g.B**2) / 2.0
        found = []
        for s in _SIZES / max(g.margins.mean(), 1e-12):
            loss = float(np.maximum(0.0, 1.0 - s * g.margins).sum())
            value, mu = _at_best_margin(loss, s * s * Q / (2.0 * prime), a, least, 2.0 * half + rho)
            found.append((value, s * mu))
        values.append(min(found)[0])
        sizes.append(min(found)[1])
    D1, D2 = (
        float(np.mean([s**p * getattr(g, d) for s, g in zip(sizes, targets, strict=True)]))
        for p, d in ((1, "D1"), (2, "D2"))
    )
    moves = f"g_t = Gaussians of the kernel at the stream's means: D_1 = {D1:.4g}, D_2 = {D2:.4g} (means)"
    value = float(np.mean(values))
    return Bound(theorem, value, counts, kernel=0, values=tuple(values), notes=(*notes, moves))


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

    With g = rho g~ the first term is rho / 2 (T lam rho ||g~||^2 + 2 sum loss). The constants are as printed.
    Theorem 6's proof has ||f_t|| <= 3 U, too large for its a; the sum of |coefficients| obeys ||f_t|| <= U
    whatever is dropped.
    """
    g = case.fit(0, case.T * lam * rho)
    return g.loss + case.T * lam * rho * g.norm2 / 2.0 + _constants(case, lam, eta, factor) / rho


def _constants(case: Case, lam: float, eta: float, factor: float) -> float:
    """a sqrt(T) + b, a = 2 lam U^2 (factor eta lam + 1 / (eta lam)), b = U^2 / (2 eta); factor is 2 or 10."""
    U2 = case.square(0) / lam**2
    a = 2.0 * lam * U2 * (factor * eta * lam + 1.0 / (eta * lam))
    return a * math.sqrt(case.T) + U2 / (2.0 * eta)


def _slow(T: int, lam: float, eta: float, tau: int) -> bool:
    """Whether every term that a constant tau drops, of round t - tau, is small by round t: see `_small`."""
    t = np.arange(tau + 1, T + 1)
    return _small(T, lam, eta, t, t - tau)


def _small(T: int, lam: float, eta: float, t: np.ndarray, first: np.ndarray) -> bool:
    """Whether the terms of rounds ``first`` have shrunk to at most 2 eta_t^2 lam by the rounds t, from 1.

    Theorem 6 lets the number of terms grow so that this holds.
    """
    rate = eta / np.sqrt(np.arange(1.0, T + 1.0))
    shrunk = np.concatenate([[0.0], np.cumsum(np.log1p(-rate * lam))])  # log of the product up to round t
    left = np.log(rate[first - 1]) + shrunk[t] - shrunk[first]
    return bool(np.all(left <= np.log(2.0 * rate[t - 1] ** 2 * lam)))


# ------------------------------------------------------------------ a moving target, and what a window drops


@dataclass(frozen=True)
class Target:
    """g_1 .. g_T of a repetition. margins (T,): y_t g_t(x_t)    last2: ||g_T||^2    B: the largest norm

    D1, D2: the sums of ||g_t - g_{t+1}|| and of their squares
    """

    margins: np.ndarray
    last2: float
    B: float
    D1: float
    D2: float


def targets_of(case: Case) -> list[Target]:
    """Return the moving target of each repetition, none where the stream's means are not known."""
    from omkl.theorems.known_streams import known_centres

    centres = [known_centres(run.cell.data, run.cell.order, run.cell.rep) for run in case.runs]
    return [_target(case, run, *steps) for run, steps in zip(case.runs, centres, strict=True) if steps]


def _target(case: Case, run: Repetition, every: int, centres: np.ndarray) -> Target:
    S, C, K, d = centres.shape
    points, signs = centres.reshape(S, C * K, d), np.repeat([-1.0, 1.0], K)
    dataset, order = run.stream
    X = np.zeros((dataset.T, d))
    X[np.repeat(np.arange(dataset.T), np.diff(dataset.indptr)), dataset.indices] = dataset.values
    X, pool = X[order], case.batch.pool
    margins, products = [], np.empty((S, 2))
    for s in range(S):
        part = slice(s * every, (s + 1) * every)
        margins.append(run.y[part] * (values_between(pool, X[part], points[s]) @ signs))
        for k in range(min(2, S - s)):  # with itself, and with the next one
            products[s, k] = signs @ values_between(pool, points[s], points[s + k]) @ signs
    norms2 = products[:, 0]
    moved2 = np.maximum(norms2[:-1] + norms2[1:] - 2.0 * products[:-1, 1], 0.0)
    B, D1, D2 = np.sqrt(norms2.max()), np.sqrt(moved2).sum(), moved2.sum()
    return Target(np.concatenate(margins), float(norms2[-1]), float(B), float(D1), float(D2))


def truncated_norm(case: Case, run: Repetition, shrink: float, tau: int, steps: Callable) -> float:
    """Return the norm of the terms that a window of tau rounds has dropped by the end of a pass.

    shrink: what is left of a coefficient after each round    steps: of labels and scores (T,) the
    coefficients when they were new. Of more than _MOST terms the newest count.
    """
    dataset, order = run.stream
    age = np.arange(order.size)[::-1]
    left = steps(run.y, run.scores) * shrink ** age.astype(float)
    dropped = np.flatnonzero((age >= tau) & (left != 0.0))[-_MOST:]
    X = matrix_of_rows(dataset)[order[dropped]]
    norm2 = left[dropped] @ values_between(case.batch.pool, X, X) @ left[dropped]
    return float(np.sqrt(max(norm2, 0.0)))


def values_between(pool: Pool, A: Any, B: Any) -> np.ndarray:
    """Return kappa_0 (n, m) of the rows of two matrices, dense or sparse, by the engine's definition."""
    dots = np.asarray((A @ B.T).todense() if hasattr(A, "todense") else A @ B.T, float)
    a, b = (
        np.asarray((M.multiply(M) if hasattr(M, "multiply") else M * M).sum(axis=1)).ravel() for M in (A, B)
    )
    values, squares, form = np.empty(dots.shape), np.empty(b.size), form_of.py_func(pool, 0)
    for r in range(len(dots)):
        slot_values(form, a[r], b, np.ascontiguousarray(dots[r]), b.size, squares, values[r])
    return values
