"""What a learner and its kernels ask of the data: no kernel value, nor a sum of them, may overflow."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.kernel_kinds import AUTO, PRECOMPUTED, kernel_kind
from omkl.errors import OmklError, Overflow, UserError, counted, with_article

if TYPE_CHECKING:
    from omkl.engine.stream import Stream

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
    _check(np.isnan(score), first, what)


def check_error_sums(sums: np.ndarray, first: int = 0) -> None:
    """Raise Overflow with the first round after which a sum (T,) of errors is no finite number."""
    _check(~np.isfinite(sums), first)


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


def _check(wrong: np.ndarray, first: int, what: str = "round") -> None:
    if wrong.any():
        t = first + int(np.argmax(wrong)) + 1
        raise Overflow(f"the prediction of {what} {t} overflowed; rescale the data or reduce the step size")


# ------------------------------------------------------------------ of features, row numbers and ranges


class Needs:
    """What the kernels of a learner need of its rows.

    signless: a kind that is for features ≥ 0    grams: files of Gram matrices
    """

    def __init__(self, kernels: list[dict], d: int) -> None:
        kinds = {kernel["kind"] for kernel in kernels} - {PRECOMPUTED}
        self.signless = next((kind for kind in sorted(kinds) if not kernel_kind(kind).negative), None)
        self.grams = {kernel["file"] for kernel in kernels if kernel["kind"] == PRECOMPUTED}
        for kernel in kernels:
            lists = [] if kernel["kind"] == PRECOMPUTED else kernel_kind(kernel["kind"]).lists
            for name in lists:
                if kernel[name] == AUTO:
                    raise UserError(
                        f"{name}=auto of {with_article(kernel['kind'])} kernel is set from a whole data set, "
                        f"which `omkl run` has; give {name} as a list here"
                    )
                if len(kernel[name]) != d:
                    count = counted(len(kernel[name]), "number")
                    raise UserError(
                        f"{with_article(kernel['kind'])} kernel has {count} in {name}, "
                        f"but the data have {counted(d, 'feature')}"
                    )

    def check(self, stream: "Stream", continues: bool) -> None:
        """Raise UserError for rows that the kernels are not for; continues: the stream is a part of one."""
        if self.signless and stream.values.size and stream.values.min() < 0:
            raise UserError(
                f"the {self.signless} kernel is for features that are not negative, but one is "
                f"{stream.values.min():g}; scale them to [0, 1], or choose another kernel"
            )
        for file in self.grams:
            from omkl.engine.called_kernels import gram_matrix

            n, rows = len(gram_matrix(file)), stream.indptr.size - 1
            if continues:
                raise UserError(
                    "a precomputed kernel knows the rows of one data set by their numbers: `omkl run`, "
                    "`sweep` and `tune` take it, without scaling and without gaps; a saved model does not"
                )
            if n != rows:
                raise UserError(f"{file} is a Gram matrix of {counted(n, 'row')}, but the data have {rows}")


def asks_ranges(pool: dict[str, Any]) -> bool:
    """Whether a kernel of a pool has scales that are ``auto``."""
    return any(AUTO in kernel.values() for kernel in pool["kernels"])


def fitted(pool: dict[str, Any] | None, d: int, indices: np.ndarray, values: np.ndarray, T: int) -> Any:
    """Return a pool whose kernels have scales set from the ranges of the data where they are ``auto``.

    A feature's scale is its largest value less its smallest; 1 of one that is constant. indices, values: of
    the T rows as the learner reads them
    """
    if pool is None or not asks_ranges(pool):
        return pool
    counts = np.bincount(indices, minlength=d)
    low, high = np.where(counts < T, 0.0, np.inf), np.where(counts < T, 0.0, -np.inf)
    np.fmin.at(low, indices, values)  # a gap has no value
    np.fmax.at(high, indices, values)
    ranges = np.where(high > low, high - low, 1.0).tolist()

    def of(kernel: Mapping[str, Any]) -> dict[str, Any]:
        return {name: ranges if value == AUTO else value for name, value in kernel.items()}

    return {**pool, "kernels": [of(kernel) for kernel in pool["kernels"]]}
