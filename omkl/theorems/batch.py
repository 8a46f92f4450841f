"""Batch solutions that the bounds compare a pass with: support vector machines, and a mixture of kernels.

The support vector machine in the theorems, and batch multiple kernel learning, minimise lam ||f||^2 + 2
sum_t c loss(y_t f(x_t)), c the weight of an example, and hold a_t, f the sum of a_t y_t kappa(x_t, .) / lam.
The theorems' f has no constant term, scikit-learn's always has one. So it is given every example twice, as
(phi(x), y) and (-phi(x), -y) with half the weight: on this stream the best constant is 0, since the mean of
the hinge losses at y f + b and y f - b is at least the loss at y f, and this leaves the problem above.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from omkl.data import Dataset

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
        q = np.array([signed @ (gram @ signed) for gram in K]) / lam
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


ROWS = 2000  # examples that a batch solution is made of: kernel values of 4 ROWS^2 pairs, 128 MB
MEAN = -1  # in place of a kernel's number: the mean of the pool's kernels


@dataclass(frozen=True, eq=False)
class Fit:
    """One f and its quality: any f gives an upper bound of the minimum.

    norm2: ||f||^2 in the kernel's own space    margins (T,): y_t f(x_t), in the order of the file
    gap: (primal - dual) / dual of the batch problem, None where f comes from a part of the examples
    """

    norm2: float
    margins: np.ndarray
    gap: float | None

    @cached_property
    def loss(self) -> float:
        """The sum of the hinge losses of f."""
        return self.scaled_loss(1.0)

    def scaled_loss(self, s: float) -> float:
        """The sum of the hinge losses of s f."""
        return float(np.maximum(0.0, 1.0 - s * self.margins).sum())


def matrix_of_rows(dataset: "Dataset") -> "csr_matrix":
    """Return the rows of a data set as a matrix (T, d)."""
    from scipy.sparse import csr_matrix

    return csr_matrix((dataset.values, dataset.indices, dataset.indptr), shape=(dataset.T, dataset.d))


class Batch:
    """A data set and a pool of kernels, with the batch solutions computed so far.

    rows: at most this many examples make f, evenly spaced over the file; all examples are in its loss.
    """

    def __init__(self, dataset: "Dataset", pool: dict[str, Any], rows: int = ROWS) -> None:
        from omkl.data import compact
        from omkl.engine.kernels import make_pool
        from omkl.engine.slot_values import self_values

        dataset = compact(dataset)
        self.content, self.spec, self.kernels = dataset.content_hash, pool, pool["kernels"]
        self.T, self.y = dataset.T, np.asarray(dataset.y)
        self.pool, self.m = make_pool(pool["kernels"], pool["normalise"]), len(pool["kernels"])
        self.X = matrix_of_rows(dataset)
        self.own = self_values(self.pool, self.X)
        self.picked = np.unique(np.linspace(0, self.T - 1, min(rows, self.T)).round().astype(int))
        self._fits: dict[tuple[int, float], Fit] = {}
        self._mixtures: dict[float, tuple[Fit, Mixture]] = {}
        self._last: tuple[int, np.ndarray] = (self.m, np.empty(0))
        self._all: np.ndarray | None = None

    @cached_property
    def norm2(self) -> np.ndarray:
        """||x_t||^2 (T,)."""
        return np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()

    def own_values(self, i: int) -> np.ndarray:
        """kappa_i(x_t, x_t) (T,)."""
        return self.own.mean(axis=0) if i == MEAN else self.own[i]

    def fit(self, i: int, lam: float) -> Fit:
        """Return the f of kernel i (or MEAN) that a batch solver finds for this lam > 0."""
        if (i, lam) not in self._fits:
            self._fits[i, lam] = self._solve(i, lam)
        return self._fits[i, lam]

    def _solve(self, i: int, lam: float) -> Fit:
        if self._last[0] != i:
            self._last = (i, self.kernel(i, self.picked))
        K, y, n = self._last[1] / lam, self.y[self.picked], len(self.picked)
        alpha = machine(K, y, self.T / n)
        f = K @ (alpha * y)
        penalty = max(float((alpha * y) @ f), 0.0)  # lam ||f||^2
        if n == self.T:
            dual = 2.0 * alpha.sum() - penalty
            primal = penalty + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
            return Fit(penalty / lam, y * f, float((primal - dual) / dual))
        f = np.concatenate([self.kernel(i, part) @ (alpha * y) / lam for part in self._parts()])
        return Fit(penalty / lam, self.y * f, None)

    def mixed(self, lam: float) -> tuple[Fit, Mixture]:
        """Return the f of batch multiple kernel learning, and the weights of its kernels."""
        if lam not in self._mixtures:
            self._mixtures[lam] = self._mix(lam)
        return self._mixtures[lam]

    def _mix(self, lam: float) -> tuple[Fit, Mixture]:
        if self._all is None:
            self._all = np.stack([self.kernel(i, self.picked) for i in range(self.m)])
        y, n = self.y[self.picked], len(self.picked)
        last = next(reversed(self._mixtures.values()), None)
        found = mixture(self._all, y, self.T / n, lam, last and last[1].u)
        signed, norm2 = found.a * y, float(found.u @ found.norms2)
        if n == self.T:
            f = np.tensordot(found.u, self._all, 1) @ signed
            primal = lam * norm2 + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
            return Fit(norm2, y * f, float((primal - found.low) / abs(found.low))), found
        used = np.flatnonzero(found.u)
        f = [sum(found.u[i] * (self.kernel(int(i), part) @ signed) for i in used) for part in self._parts()]
        return Fit(norm2, self.y * np.concatenate(f), None), found

    def _parts(self) -> list[np.ndarray]:
        """The rows, as many at a time as f is made of."""
        n = len(self.picked)
        return [np.arange(start, min(start + n, self.T)) for start in range(0, self.T, n)]

    def kernel(self, i: int, rows: np.ndarray) -> np.ndarray:
        """kappa_i of these rows (r,) with the picked ones (n,), shape (r, n), by the engine's definition."""
        from omkl.engine.slot_values import kernel_matrix

        kernels = range(self.m) if i == MEAN else [i]
        K: Any = sum(kernel_matrix(self.pool, k, self.X, rows, self.picked) for k in kernels)
        return K / self.m if i == MEAN else K
