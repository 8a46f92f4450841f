"""A comparator that moves with a generated stream, and the norm of what a window of NORMA drops.

Where a stream's two mixtures of Gaussians are known in every round (drift and switch in file order), g_t is
the sum of kappa(c, .) over the means c of the class +1, less that over those of -1: in the kernel's space for
every kernel, and with the sign of the Bayes rule where the kernel is as wide as the mixtures' components.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omkl.engine.pool import Pool, form_of
from omkl.engine.slot_values import slot_values
from omkl.theorems.case import Case
from omkl.theorems.rerun import Repetition

_MOST = 4000  # terms whose norm is computed; older ones have shrunk further


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
    from omkl.data.orders import known_centres

    known = [known_centres(run.cell.data, run.cell.order, run.cell.rep) for run in case.runs]
    return [_target(case, run, *own) for run, own in zip(case.runs, known, strict=True) if own]


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
        margins.append(run.y[part] * (kernel_values(pool, X[part], points[s]) @ signs))
        for k in range(min(2, S - s)):  # with itself, and with the next one
            products[s, k] = signs @ kernel_values(pool, points[s], points[s + k]) @ signs
    norms2 = products[:, 0]
    moved2 = np.maximum(norms2[:-1] + norms2[1:] - 2.0 * products[:-1, 1], 0.0)
    B, D1, D2 = np.sqrt(norms2.max()), np.sqrt(moved2).sum(), moved2.sum()
    return Target(np.concatenate(margins), float(norms2[-1]), float(B), float(D1), float(D2))


def truncated_norm(case: Case, run: Repetition, shrink: float, tau: int, steps: Callable) -> float:
    """Return the norm of the terms that a window of tau rounds has dropped by the end of a pass.

    shrink: what is left of a coefficient after each round    steps: of labels and scores (T,) the
    coefficients when they were new. Of more than _MOST terms the newest count.
    """
    from scipy.sparse import csr_matrix

    dataset, order = run.stream
    age = np.arange(order.size)[::-1]
    left = steps(run.y, run.scores) * shrink ** age.astype(float)
    dropped = np.flatnonzero((age >= tau) & (left != 0.0))[-_MOST:]
    X = csr_matrix((dataset.values, dataset.indices, dataset.indptr), shape=(dataset.T, dataset.d))
    X = X[order[dropped]]
    norm2 = left[dropped] @ kernel_values(case.batch.pool, X, X) @ left[dropped]
    return float(np.sqrt(max(norm2, 0.0)))


def kernel_values(pool: Pool, A: Any, B: Any) -> np.ndarray:
    """Return kappa_0 (n, m) of the rows of two matrices, dense or sparse, by the engine's definition."""
    dots = np.asarray((A @ B.T).todense() if hasattr(A, "todense") else A @ B.T, float)
    a, b = (
        np.asarray((M.multiply(M) if hasattr(M, "multiply") else M * M).sum(axis=1)).ravel() for M in (A, B)
    )
    values, squares, form = np.empty(dots.shape), np.empty(b.size), form_of.py_func(pool, 0)
    for r in range(len(dots)):
        slot_values(form, a[r], b, np.ascontiguousarray(dots[r]), b.size, squares, values[r])
    return values
