"""What a bound is computed from, and what it says."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from omkl.bounds.svm import MEAN, Batch, Fit

MISTAKES, VECTORS = "mistakes", "vectors"


@dataclass(frozen=True)
class Bound:
    """One theorem's right-hand side for one run.

    theorem: paper and number    value: what the proof gives for the run, None where it does not apply
    counts: what is bounded, mistakes or (stored) vectors    kernel: number of the kernel in the minimum
    printed: the paper's own formula, where the value differs from it
    notes: conditions that fail, and why the value differs
    """

    theorem: str
    value: float | None
    counts: str = MISTAKES
    kernel: int | None = None
    printed: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A data set and the kernels of a run. Every bound holds for every order of the examples.

    T, m: numbers of examples and kernels    used: the batch solutions asked for
    """

    batch: Batch
    used: list[Fit] = field(default_factory=list)

    @property
    def largest(self) -> np.ndarray:
        """max_t kappa_i(x_t, x_t) (m,)."""
        return self.batch.own.max(axis=1)

    @property
    def gap(self) -> float | None:
        """The largest relative duality gap of the solutions used, None where it is not known."""
        gaps = [fit.gap for fit in self.used if fit.gap is not None]
        return max(gaps) if gaps and len(gaps) == len(self.used) else None

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

    def too_large(self) -> tuple[str, ...]:
        """Why a theorem that needs kappa(x, x) <= 1 of all kernels does not apply; empty where it does."""
        if (self.largest <= 1.0 + 1e-9).all():
            return ()
        return (
            f"does not apply: kappa(x, x) is up to {self.largest.max():.4g} and must be at most 1, "
            "which pool.normalise=cosine makes it",
        )


__all__ = ["MEAN", "MISTAKES", "VECTORS", "Bound", "Case"]
