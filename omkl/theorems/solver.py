"""Batch solvers: the support vector machine in the theorems, and batch multiple kernel learning.

Both minimise lam ||f||^2 + 2 sum_t c loss(y_t f(x_t)), c the weight of an example, and hold a_t, f the sum of
a_t y_t kappa(x_t, .) / lam. The theorems' f has no constant term, scikit-learn's always has one. So it is
given every example twice, as (phi(x), y) and (-phi(x), -y) with half the weight: on this stream the best
constant is 0, since the mean of the hinge losses at y f + b and y f - b is at least the loss at y f, and this
leaves the problem above.
"""

import warnings
from typing import NamedTuple

import numpy as np

_MOST_STEPS = 1_000_000
_MOST_MACHINES = 60  # support vector machines of one multiple kernel learning
_LEAST = 0.01  # weight of a kernel
_GAP = 1e-3  # between its objective and the lower bound, relative


def machine(K: np.ndarray, y: np.ndarray, c: float) -> np.ndarray:
    """Return a (n,) in [0, c] for the kernel values K (n, n), divided by lam, and labels y (n,)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    n = len(y)
    solver = SVC(C=0.5 * c, kernel="precomputed", tol=1e-6, max_iter=_MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap shows how far it came
        solver.fit(np.block([[K, -K], [-K, K]]), np.concatenate([y, -y]))
    twice = np.zeros(2 * n)
    twice[solver.support_] = np.abs(solver.dual_coef_[0])
    return twice[:n] + twice[n:]


class Mixture(NamedTuple):
    """A solution of batch multiple kernel learning: f = sum_i u_i f_i, f_i = sum_t a_t y_t kappa_i(x_t, .).

    u (m,): weights of the kernels    a (n,)    norms2 (m,): ||f_i||^2    low: at most the minimum
    """

    u: np.ndarray
    a: np.ndarray
    norms2: np.ndarray
    low: float


def mixture(K: np.ndarray, y: np.ndarray, c: float, lam: float, start: np.ndarray | None = None) -> Mixture:
    """Minimise over u in the simplex and f in the space of kappa_u = sum_i u_i kappa_i.

    K (m, n, n)    start (m,): the first u, None for the same weight of all. For a fixed u the machine's a
    gives the objective 2 sum a - sum_i u_i q_i(a), which bounds the minimum over f, as a function of any u,
    from below. A linear programme minimises the largest of these cuts; the next u is half way to its
    solution. It ends where the two are close.
    """
    from scipy.optimize import linprog

    m = len(K)
    u = np.full(m, 1.0 / m) if start is None else start
    cuts: list[np.ndarray] = []
    best, least, low = None, np.inf, -np.inf
    for _ in range(_MOST_MACHINES):
        Ku = np.tensordot(u, K, 1) / lam
        a = machine(Ku, y, c)
        signed = a * y
        q = np.array([signed @ (own @ signed) for own in K]) / lam
        primal = float(u @ q) + 2.0 * c * float(np.maximum(0.0, 1.0 - y * (Ku @ signed)).sum())
        cuts.append(np.append(2.0 * a.sum(), q))
        if primal < least:
            best, least = (u, a, q), primal
        A = np.array([np.append(-cut[1:], -1.0) for cut in cuts])
        sums = {"A_eq": [np.append(np.ones(m), 0.0)], "b_eq": [1.0]}
        limits = [(0.0, None)] * m + [(None, None)]
        found = linprog(np.append(np.zeros(m), 1.0), A, [-cut[0] for cut in cuts], **sums, bounds=limits)
        low = float(found.fun)
        if least - low <= _GAP * abs(low):
            break
        u = 0.5 * u + 0.5 * np.maximum(found.x[:-1], 0.0) / np.maximum(found.x[:-1], 0.0).sum()
    assert best is not None
    u, a, q = best
    kept = np.where(u >= _LEAST, u, 0.0)  # the norm of a kernel that u has nearly left would count in full
    kept /= kept.sum()
    f = np.tensordot(kept, K, 1) @ (a * y) / lam
    if float(kept @ q) + 2.0 * c * float(np.maximum(0.0, 1.0 - y * f).sum()) <= least * (1.0 + _GAP):
        u = kept
    return Mixture(u, a / lam, q / lam, low)
