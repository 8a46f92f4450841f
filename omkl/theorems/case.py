"""The inputs of a bound, and its value: batch solutions of a data set and a pool's kernels."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omkl.theorems.batch import Batch, Fit

if TYPE_CHECKING:
    from omkl.theorems.rerun import Repetition

MISTAKES, VECTORS, REGRET = "mistakes", "vectors", "regret"
SHARE, TRUNCATION = "share of new rows", "truncation error"
_HALVINGS = 3  # of a factor of 4 between two lam


@dataclass(frozen=True)
class Bound:
    """One theorem's right-hand side for one run.

    theorem: paper and number    value: of the proof for the run, None where the theorem does not apply
    counts: what is bounded, mistakes, (stored) vectors or the regret
    kernel: number of the kernel in the minimum
    printed: the paper's own formula, where the value differs from it
    objective: the minimum of the batch problem in it    mixture (m,): the kernels' weights in the minimum
    observed (reps,): of each repetition, where its line in the store does not have it
    values (reps,): of each repetition, where they differ; ``value`` is their mean
    notes: conditions that fail, and why the value differs
    """

    theorem: str
    value: float | None
    counts: str = MISTAKES
    kernel: int | None = None
    printed: float | None = None
    notes: tuple[str, ...] = ()
    objective: float | None = None
    mixture: tuple[float, ...] | None = None
    observed: tuple[float, ...] | None = None
    values: tuple[float, ...] | None = None


def refused(theorem: str, *reasons: str, counts: str = MISTAKES) -> Bound:
    """Return the bound of a theorem that does not apply, with the reasons."""
    return Bound(theorem, None, counts, notes=tuple(f"does not apply: {reason}" for reason in reasons))


@dataclass(frozen=True)
class Case:
    """A data set and the kernels of a run. The bounds of mistakes hold for every order of the examples.

    used: the batch solutions that the run's bounds are made of
    n_sv: of each repetition that is known, the vectors of each kernel    runs: these repetitions
    """

    batch: Batch
    used: list[Fit] = field(default_factory=list)
    n_sv: tuple[list[int], ...] = ()
    runs: "tuple[Repetition, ...]" = ()

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

    def least_mistakes(self, otherwise: float) -> float:
        """The mistakes of the best perceptron, the most over the repetitions: each stores a vector."""
        fewest = [min(counts) for counts in self.n_sv if len(counts) == self.m]
        return float(max(fewest)) if fewest else otherwise

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

    def within(self, i: int, R: float, norm: float) -> float:
        """The least norm ||f||^2 + 2 sum loss of batch solutions, shrunk to ||f|| <= R; norm is 0 or 1."""

        def f_of(lam: float) -> tuple[float, Fit]:
            f = self.fit(i, lam)
            return f.norm2, f

        return _in_ball(f_of, R, norm)[0]

    def mixed_within(self, R: float) -> tuple[float, tuple[float, ...]]:
        """The least ||f||^2 + 2 sum loss of batch multiple kernel learning, and the weights u there.

        All ||f_i|| with u_i > 0 are shrunk to at most R, and so is ||f||, ||f||^2 = sum_i u_i ||f_i||^2.
        """

        def f_of(lam: float) -> tuple[float, Fit]:
            f, mixed = self.batch.mixed(lam)
            self.used.append(f)
            return float(mixed.norms2[mixed.u > 0.0].max()), f

        value, lam = _in_ball(f_of, R, 1.0)
        return value, tuple(self.batch.mixed(lam)[1].u.tolist())

    def least(self, value: Callable[[int], float]) -> tuple[float, int]:
        """Return the smallest value over the kernels i, and its i."""
        return min((value(i), i) for i in range(self.m))

    def of_part(self) -> tuple[str, ...]:
        """The note that f is of a part of the examples, where it is."""
        picked = self.batch.picked.size
        return () if picked == self.T else (f"f from {picked} of {self.T} examples (--rows)",)

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


def _in_ball(f_of: Callable[[float], tuple[float, Fit]], R: float, norm: float) -> tuple[float, float]:
    """Return the least norm ||f||^2 + 2 sum loss within a ball of radius R, and the lam of its f.

    f_of: the squared norm that is to be at most R^2, and f, for a lam. A lam above 1 makes f smaller.
    """
    best, chosen = math.inf, 0.0

    def is_inside(lam: float) -> bool:
        nonlocal best, chosen
        largest, f = f_of(lam)
        s = min(1.0, R / math.sqrt(largest)) if largest > 0.0 else 1.0
        best, chosen = min((best, chosen), (norm * s * s * f.norm2 + 2.0 * f.scaled_loss(s), lam))
        return s == 1.0

    lam = 1.0 if norm else 1.0 / 16.0
    if is_inside(lam):
        return best, chosen
    while not is_inside(4.0 * lam) and lam < 1e3:
        lam *= 4.0
    factor = 2.0
    for _ in range(_HALVINGS):  # towards the largest f inside
        if not is_inside(lam * factor):
            lam *= factor
        factor = math.sqrt(factor)
    return best, chosen
