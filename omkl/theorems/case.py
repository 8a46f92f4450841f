"""The inputs of a bound, and its value: batch solutions of a data set and a pool's kernels.

The batch problem is min_f lam ||f||^2 + 2 sum_t max(0, 1 - y_t f(x_t)), solved by scikit-learn's SVC. The
theorems' f has no constant term, scikit-learn's always has one. So it is given every example twice, as
(phi(x), y) and (-phi(x), -y) with half the weight: on this stream the best constant is 0, since the mean of
the hinge losses at y f + b and y f - b is at least the loss at y f, and this leaves the problem above.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from omkl.data import Dataset

MISTAKES, VECTORS = "mistakes", "vectors"
ROWS = 2000  # examples that a batch solution is made of: kernel values of 4 ROWS^2 pairs, 128 MB
MEAN = -1  # in place of a kernel's number: the mean of the pool's kernels
_MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Bound:
    """One theorem's right-hand side for one run.

    theorem: paper and number    value: of the proof for the run, None where the theorem does not apply
    counts: the bounded count, mistakes or (stored) vectors    kernel: number of the kernel in the minimum
    printed: the paper's own formula, where the value differs from it
    notes: conditions that fail, and why the value differs
    """

    theorem: str
    value: float | None
    counts: str = MISTAKES
    kernel: int | None = None
    printed: float | None = None
    notes: tuple[str, ...] = ()


def refused(theorem: str, *reasons: str, counts: str = MISTAKES) -> Bound:
    """Return the bound of a theorem that does not apply, with the reasons."""
    return Bound(theorem, None, counts, notes=tuple(f"does not apply: {reason}" for reason in reasons))


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
        self.T, self.y = dataset.T, np.asarray(dataset.y)
        self.pool, self.m = make_pool(pool["kernels"], pool["normalise"]), len(pool["kernels"])
        shape = (dataset.T, dataset.d)
        self.X = csr_matrix((dataset.values, dataset.indices, dataset.indptr), shape=shape)
        self.own = self_values(self.pool, self.X)
        self.picked = np.unique(np.linspace(0, self.T - 1, min(rows, self.T)).round().astype(int))
        self._fits: dict[tuple[int, float], Fit] = {}
        self._last: tuple[int, np.ndarray] = (self.m, np.empty(0))

    def own_values(self, i: int) -> np.ndarray:
        """kappa_i(x_t, x_t) (T,)."""
        return self.own.mean(axis=0) if i == MEAN else self.own[i]

    def fit(self, i: int, lam: float) -> Fit:
        """Return the f of kernel i (or MEAN) that a batch solver finds for this lam > 0."""
        if (i, lam) not in self._fits:
            self._fits[i, lam] = self._solve(i, lam)
        return self._fits[i, lam]

    def _solve(self, i: int, lam: float) -> Fit:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        if self._last[0] != i:
            self._last = (i, self._kernel(i, self.picked))
        K, y, n = self._last[1] / lam, self.y[self.picked], len(self.picked)
        solver = SVC(C=0.5 * self.T / n, kernel="precomputed", tol=1e-6, max_iter=_MOST_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the gap shows how far it came
            solver.fit(np.block([[K, -K], [-K, K]]), np.concatenate([y, -y]))
        twice = np.zeros(2 * n)
        twice[solver.support_] = np.abs(solver.dual_coef_[0])
        alpha = twice[:n] + twice[n:]
        f = K @ (alpha * y)
        penalty = max(float((alpha * y) @ f), 0.0)  # lam ||f||^2
        if n == self.T:
            dual = 2.0 * alpha.sum() - penalty
            primal = penalty + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
            return Fit(penalty / lam, y * f, float((primal - dual) / dual))
        parts = [np.arange(start, min(start + n, self.T)) for start in range(0, self.T, n)]
        f = np.concatenate([self._kernel(i, part) @ (alpha * y) / lam for part in parts])
        return Fit(penalty / lam, self.y * f, None)

    def _kernel(self, i: int, rows: np.ndarray) -> np.ndarray:
        """kappa_i of these rows (r,) with the picked ones (n,), shape (r, n), by the engine's definition."""
        from omkl.engine.kernel_matrix import kernel_matrix

        kernels = range(self.m) if i == MEAN else [i]
        K: Any = sum(kernel_matrix(self.pool, k, self.X, rows, self.picked) for k in kernels)
        return K / self.m if i == MEAN else K


@dataclass(frozen=True)
class Case:
    """A data set and the kernels of a run. Every bound holds for every order of the examples.

    used: the batch solutions that the run's bounds are made of
    """

    batch: Batch
    used: list[Fit] = field(default_factory=list)

    @property
    def gap(self) -> float | None:
        """The largest relative duality gap of the solutions used, None where it is not known."""
        return max((fit.gap for fit in self.used if fit.gap is not None), default=None)

    @property
    def T(self) -> int:
        """Number of examples."""
        return self.batch.T

    @property
    def m(self) -> int:
        """Number of kernels."""
        return self.batch.m

    def square(self, i: int) -> float:
        """X^2 of kernel i (or MEAN), max_t kappa_i(x_t, x_t)."""
        return float(self.batch.own_values(i).max())

    def fit(self, i: int, lam: float) -> Fit:
        """Return the batch solution f of min lam ||f||^2 + 2 sum loss with kernel i (or MEAN)."""
        self.used.append(self.batch.fit(i, lam))
        return self.used[-1]

    def g(self, i: int) -> float:
        """g(kappa_i) = min_f ||f||^2 + 2 sum loss of the papers, at the batch solution.

        The theorems assume kappa_i(x, x) <= 1. A perceptron errs on the same examples with kappa / X^2, so
        where X^2 = max_t kappa_i(x_t, x_t) > 1 this is g of that kernel, min_f X^2 ||f||^2 + 2 sum loss.
        """
        lam = max(1.0, self.square(i))
        f = self.fit(i, lam)
        return lam * f.norm2 + 2.0 * f.loss

    def least(self, value: Callable[[int], float]) -> tuple[float, int]:
        """Return the smallest value over the kernels i, and its i."""
        return min((value(i), i) for i in range(self.m))

    def rescaled(self, i: int) -> tuple[str, ...]:
        """The note that g is that of a rescaled kernel, where it is."""
        if self.square(i) <= 1.0:
            return ()
        return ("the kernel in the minimum is divided by its largest kappa(x, x), which changes no mistake",)

    def too_large(self) -> list[str]:
        """Why a theorem that needs kappa(x, x) <= 1 of all kernels does not apply; empty where it does."""
        largest = self.batch.own.max()
        if largest <= 1.0 + 1e-9:
            return []
        return [
            f"kappa(x, x) is up to {largest:.4g} and must be at most 1, which pool.normalise=cosine makes it"
        ]
