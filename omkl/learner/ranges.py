"""Which features are too large for a learner: no kernel value, nor a sum of them, may overflow."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from omkl.errors import Overflow

MOST_DIGITS = 300.0  # before the decimal point, of kernel values summed over the rounds: NaN must never arise
LARGEST_TARGET = 1e150  # of a regression, whose squared errors must be finite

Growth = tuple[int, float]  # the largest degree of the kernels, and the largest factor of a dot product


def growth(kernels: Sequence[Mapping[str, Any]]) -> Growth:
    """Return how kernel values grow with the features; squared distances grow as a degree of 1."""
    degree = max((kernel.get("degree", 1) for kernel in kernels), default=1)
    return degree, max((kernel.get("scale", 1.0) for kernel in kernels), default=1.0)


def check_rows(growth: Growth, indptr: np.ndarray, values: np.ndarray, rounds: int = 1) -> None:
    """Raise ValueError for rows (CSR) whose kernel values would overflow when this many are summed."""
    if _fit(growth, float(np.vdot(values, values)), rounds):
        return  # all rows together are small enough
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    with np.errstate(over="ignore"):
        square = float(np.bincount(rows, np.square(values)).max())
    if not _fit(growth, square, rounds):
        kind = f"kernel values of degree {growth[0]}" if growth[0] > 1 else "squared distances"
        raise ValueError(f"a feature of size {np.abs(values).max():.3g} makes {kind} overflow")


def _fit(growth: Growth, square: float, rounds: int) -> bool:
    """Whether kernel values of rows with at most this squared norm can be summed."""
    degree, scale = growth
    return square == 0.0 or degree * math.log10(square * max(scale, 1.0)) + math.log10(rounds) <= MOST_DIGITS


def check_targets(target: np.ndarray) -> None:
    """Raise ValueError for finite targets (T,) that are too large."""
    largest = np.abs(target).max(initial=0.0)
    if largest > LARGEST_TARGET:
        raise ValueError(f"a target of size {largest:.3g} is too large to be squared; rescale the targets")


def check_scores(score: np.ndarray, first: int = 0) -> None:
    """Raise Overflow with the first round whose score (T,) is NaN; first: how many rounds came before.

    An infinite score has a sign, which is a prediction.
    """
    _check(np.isnan(score), first)


def check_sums(sums: np.ndarray, first: int = 0) -> None:
    """Raise Overflow with the first round after which a sum (T,) of errors is no finite number."""
    _check(~np.isfinite(sums), first)


def _check(wrong: np.ndarray, first: int) -> None:
    if wrong.any():
        t = first + int(np.argmax(wrong)) + 1
        raise Overflow(f"the prediction of round {t} overflowed; rescale the data or reduce the step size")
