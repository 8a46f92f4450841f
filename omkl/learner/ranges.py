"""Which features are too large for a learner: no kernel value, nor a sum of them, may overflow."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from omkl.learner.learner import Learner

MOST_DIGITS = 300.0  # before the decimal point, of kernel values summed over the rounds: NaN must never arise
LARGEST_TARGET = 1e150


def overflowing(
    kernels: Sequence[Mapping[str, Any]], largest: float, longest: int, rounds: int
) -> str | None:
    """Return what would overflow, in words, None if nothing does.

    largest: absolute value of a feature; longest: number of non-zeros of a row; rounds: how many are summed
    """
    if largest == 0.0 or longest == 0:
        return None
    degree = max((kernel.get("degree", 1) for kernel in kernels), default=1)
    scale = max((kernel.get("scale", 1.0) for kernel in kernels), default=1.0)
    digits = degree * (2.0 * np.log10(largest) + np.log10(longest * max(scale, 1.0))) + np.log10(rounds)
    if digits <= MOST_DIGITS:
        return None
    what = f"kernel values of degree {degree}" if degree > 1 else "squared distances"
    return f"a feature of size {largest:.3g} makes {what} overflow"


def check_rows(learner: Learner, indptr: np.ndarray, values: np.ndarray, rounds: int = 1) -> None:
    """Raise ValueError for rows that are too large for a learner; rounds: how many it then has learnt."""
    if values.size == 0:
        return
    largest = float(max(values.max(), -values.min()))
    longest = values.size if len(indptr) == 2 else int(np.diff(indptr).max())
    kernels = learner.pool["kernels"] if learner.pool is not None else []
    if fault := overflowing(kernels, largest, longest, max(rounds, 1)):
        raise ValueError(f"{fault}; rescale the features")


def check_targets(target: np.ndarray) -> None:
    """Raise ValueError for targets that no regression learns from: squared errors must be finite."""
    if target.size and not np.abs(target).max() <= LARGEST_TARGET:  # NaN, too
        t = int(np.argmin(np.abs(target) <= LARGEST_TARGET))
        raise ValueError(f"the target {target[t]:.3g} is too large to be squared; rescale the targets")
