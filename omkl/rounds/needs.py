"""What a learner's kernels ask of rows: features, row numbers, ranges."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.kernel_kinds import AUTO, PRECOMPUTED, kernel_kind
from omkl.errors import UserError, counted, with_article

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


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
