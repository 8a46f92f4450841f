"""What a learner and its kernels ask of the data: no kernel value, nor a sum of them, may overflow."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from omkl.errors import OmklError, Overflow

MOST_DIGITS = 300.0  # before the decimal point, of kernel values summed over the rounds: NaN must never arise
LARGEST_TARGET = 1e150  # of a regression, whose squared errors must be finite

Growth = tuple[tuple[int, float, float], ...]  # (degree, scale, coef0) of each different kernel


def growth(kernels: Sequence[Mapping[str, Any]]) -> Growth:
    """Return how kernel values grow with the features; squared distances grow as (1, 1, 0)."""
    return tuple(sorted({(1, 1.0, 0.0), *map(_of_kernel, kernels)}))


def _of_kernel(kernel: Mapping[str, Any]) -> tuple[int, float, float]:
    if kernel["kind"] != "polynomial":
        return 1, 1.0, 0.0
    return kernel.get("degree", 1), kernel.get("scale", 1.0), kernel.get("coef0", 0.0)


def check_rows(growth: Growth, indptr: np.ndarray, values: np.ndarray, rounds: int = 1) -> None:
    """Raise ValueError for rows (CSR) whose kernel values would overflow when this many are summed."""
    together = float(np.vdot(values, values))
    if math.isnan(together):  # of gaps, which means fill
        values = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
        together = float(np.vdot(values, values))
    if all(_fit(kernel, together, rounds) for kernel in growth):
        return  # all rows together are small enough
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    with np.errstate(over="ignore"):
        square = float(np.bincount(rows, np.square(values)).max(initial=0.0))
    for degree, scale, coef0 in growth:
        if not _fit((degree, scale, coef0), square, rounds):
            kind = f"kernel values of degree {degree}" if degree > 1 else "squared distances"
            kind += f" with coef0 {coef0:g}" if coef0 else ""
            raise ValueError(f"a feature of size {np.abs(values).max(initial=0.0):.3g} makes {kind} overflow")


def check_row(growth: Growth, values: Sequence[float], rounds: int = 1) -> None:
    """Do what `check_rows` does for one row."""
    square = sum(value * value for value in values)
    if not all(_fit(kernel, square, rounds) for kernel in growth):
        check_rows(growth, np.array([0, len(values)]), np.array(values), rounds)


def _fit(kernel: tuple[int, float, float], square: float, rounds: int) -> bool:
    """Whether a kernel's values of rows with at most this squared norm can be summed."""
    degree, scale, coef0 = kernel
    base = square * max(scale, 1.0) + coef0
    return base == 0.0 or degree * math.log10(base) + math.log10(rounds) <= MOST_DIGITS


def check_targets(target: np.ndarray) -> None:
    """Raise ValueError for finite targets (T,) that are too large."""
    largest = np.abs(target).max(initial=0.0)
    if largest > LARGEST_TARGET:
        raise ValueError(f"a target of size {largest:.3g} is too large to be squared; rescale the targets")


def check_scores(score: np.ndarray, first: int = 0, what: str = "round") -> None:
    """Raise Overflow with the first round whose score (T,) is NaN; first: how many rounds came before.

    An infinite score has a sign, which is a prediction.
    """
    check_fits(np.isnan(score), first, what)


def check_error_sums(sums: np.ndarray, first: int = 0) -> None:
    """Raise Overflow with the first round after which a sum (T,) of errors is no finite number."""
    check_fits(~np.isfinite(sums), first)


@contextmanager
def kernel_faults(order: np.ndarray, first: int = 0) -> Iterator[None]:
    """Turn the error for a kernel's value that is not finite into an OmklError, with its round.

    order (T,): the row number of each round; first: how many rounds came before. The round is that of the
    later one of the two rows.
    """
    try:
        yield
    except FloatingPointError as error:
        kind, row, other, value = error.args
        places = np.flatnonzero(np.isin(order, [row, other]))
        where = f"in round {first + int(places[-1]) + 1}" if places.size else "of two stored rows"
        raise OmklError(
            f"the kernel {kind} gives {value:g} {where}: the values must be finite; correct its function"
        ) from error


def check_arrays(arrays: Mapping[str, np.ndarray]) -> None:
    """Raise Overflow where a number of a model's arrays is not finite: a prediction could be NaN."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Overflow(
                f"what the model has learnt overflowed ({name}); rescale the data or reduce the step size"
            )


def check_fits(wrong: np.ndarray, first: int, what: str = "round") -> None:
    if wrong.any():
        t = first + int(np.argmax(wrong)) + 1
        raise Overflow(f"the prediction of {what} {t} overflowed; rescale the data or reduce the step size")
