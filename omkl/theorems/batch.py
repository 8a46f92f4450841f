"""Batch solutions of a data set and a pool's kernels, which the bounds compare a pass with."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.theorems import solver

if TYPE_CHECKING:
    from omkl.data import Dataset

ROWS = 2000  # examples that a batch solution is made of: kernel values of 4 ROWS^2 pairs, 128 MB
MEAN = -1  # in place of a kernel's number: the mean of the pool's kernels
_HALVINGS = 3  # of a factor of 4 between two lam


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


class Batch:
    """A data set and a pool of kernels, with the batch solutions computed so far.

    rows: at most this many examples make f, evenly spaced over the file; all examples are in its loss.
    """

    def __init__(self, dataset: "Dataset", pool: dict[str, Any], rows: int = ROWS) -> None:
        from scipy.sparse import csr_matrix

        from omkl.data import compact
        from omkl.engine.kernel_matrix import self_values
        from omkl.engine.pool import make_pool

        dataset = compact(dataset)
        self.content, self.spec, self.kernels = dataset.content_hash, pool, pool["kernels"]
        self.T, self.y = dataset.T, np.asarray(dataset.y)
        self.pool, self.m = make_pool(pool["kernels"], pool["normalise"]), len(pool["kernels"])
        shape = (dataset.T, dataset.d)
        self.X = csr_matrix((dataset.values, dataset.indices, dataset.indptr), shape=shape)
        self.own = self_values(self.pool, self.X)
        self.picked = np.unique(np.linspace(0, self.T - 1, min(rows, self.T)).round().astype(int))
        self._fits: dict[tuple[int, float], Fit] = {}
        self._mixtures: dict[float, tuple[Fit, solver.Mixture]] = {}
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
        alpha = solver.machine(K, y, self.T / n)
        f = K @ (alpha * y)
        penalty = max(float((alpha * y) @ f), 0.0)  # lam ||f||^2
        if n == self.T:
            dual = 2.0 * alpha.sum() - penalty
            primal = penalty + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
            return Fit(penalty / lam, y * f, float((primal - dual) / dual))
        f = np.concatenate([self.kernel(i, part) @ (alpha * y) / lam for part in self._parts()])
        return Fit(penalty / lam, self.y * f, None)

    def mixture(self, lam: float) -> tuple[Fit, solver.Mixture]:
        """Return the f of batch multiple kernel learning, and the weights of its kernels."""
        if lam not in self._mixtures:
            self._mixtures[lam] = self._mix(lam)
        return self._mixtures[lam]

    def _mix(self, lam: float) -> tuple[Fit, solver.Mixture]:
        if self._all is None:
            self._all = np.stack([self.kernel(i, self.picked) for i in range(self.m)])
        y, n = self.y[self.picked], len(self.picked)
        last = next(reversed(self._mixtures.values()), None)
        found = solver.mixture(self._all, y, self.T / n, lam, last and last[1].u)
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
        from omkl.engine.kernel_matrix import kernel_matrix

        kernels = range(self.m) if i == MEAN else [i]
        K: Any = sum(kernel_matrix(self.pool, k, self.X, rows, self.picked) for k in kernels)
        return K / self.m if i == MEAN else K
