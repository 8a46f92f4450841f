"""Widths in medians: ``0.5 median`` is half the median distance of the rows that a learner has seen.

The learner begins with a distance of 1. When as many rows have come as STEPS say, it is made again with the
median distance of their pairs, as it sees them (scaled, where its rows are), and learns them once more, in
their order. From the last step on the width stays. So no row is looked at before its round, and the rows
between two steps are predicted by a learner of one width that has learnt all rows before.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from omkl.config.kernel_kinds import in_medians, with_median
from omkl.engine.stream import Stream, Trace, make_stream
from omkl.rounds.steps import ALL, Rounds, Step, Stepping
from omkl.state.resource import Arrays

STEPS = (2, 5, 10, 20, 50, 100, 300)  # rows
MARK = "@"  # before the names of its arrays in a saved model
_ARRAYS = {
    "distance": np.float64,
    "seen": np.int64,
    "origin": np.int64,
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float64,
    "y": np.float64,
}


class Widths(Step):
    """The median distance that a learner's widths are multiples of, and the rows that it is taken from.

    classes: of the rows, whose labels y are their numbers where there are more than two
    """

    def __init__(self, classes: int = 2) -> None:
        self.classes = classes
        self.distance, self.seen = np.ones(1), np.zeros(1, np.int64)
        self._forget()

    @classmethod
    def of(cls, pool: dict[str, Any] | None, classes: int) -> "Widths | None":
        """Return those of a learner with this pool, None where it has no width in medians."""
        return cls(classes) if pool is not None and in_medians(pool["kernels"]) else None

    def _forget(self) -> None:
        self.origin, self.indptr = np.zeros(0, np.int64), np.zeros(1, np.int64)
        self.indices, self.values, self.y = np.zeros(0, np.int32), np.zeros(0), np.zeros(0)

    @property
    def left(self) -> int:
        """How many rows are to come until the next step; 0 where the width stays."""
        seen = int(self.seen[0])
        return next((step - seen for step in STEPS if step > seen), 0) if seen < STEPS[-1] else 0

    def most(self, learn: bool) -> int:
        """Return how many rows are left until the next step."""
        return (self.left if learn else 0) or ALL

    def after(self, learner: Stepping, rounds: Rounds, trace: Trace) -> None:
        """Keep the rows; at a step the learner begins again, and learns them with the widths of now."""
        if rounds.learn and self.left and self.keep(rounds.stream, rounds.first):
            learner.begin_again(self.stream(), self.origin)
            self.forget_if_last()

    def pool(self, pool: dict[str, Any]) -> dict[str, Any]:
        """Return a pool with widths of now."""
        return with_median(pool, float(self.distance[0]))

    def keep(self, rounds: Stream, first: int) -> bool:
        """Keep the rows of these rounds, at most `left`; return whether they make a step.

        first: what is added to the numbers of the rows
        """
        lengths, at = _places(rounds)
        self.indptr = np.append(self.indptr, self.indptr[-1] + np.cumsum(lengths))
        self.indices = np.append(self.indices, rounds.indices[at])
        self.values = np.append(self.values, rounds.values[at])
        self.y = np.append(self.y, rounds.y if rounds.label is None else rounds.label)
        self.origin = np.append(self.origin, rounds.order + first)
        self.seen[0] += rounds.T
        if self.seen[0] not in STEPS:
            return False
        self.distance[0] = median_distance(self.stream())
        return True

    def stream(self) -> Stream:
        """Return the rows that are kept, in their order."""
        return make_stream(
            self.indptr, self.indices, self.values, self.y, np.arange(self.y.size), self.classes
        )

    def forget_if_last(self) -> None:
        """Let go of the rows where no step is to come."""
        if not self.left:
            self._forget()

    def arrays(self) -> Arrays:
        """Return its arrays by name."""
        return {f"{MARK}{name}": getattr(self, name) for name in _ARRAYS}

    def load(self, arrays: Arrays, d: int) -> Arrays:
        """Take the arrays of `arrays` from those of a saved state; return the others.

        Raises ValueError for anything else.
        """
        for name, kind in _ARRAYS.items():
            given = arrays.get(f"{MARK}{name}")
            if given is None or given.dtype != kind or given.ndim != 1:
                raise ValueError(f"the rows that its widths are taken from have no right array '{name}'")
            setattr(self, name, given.copy())
        self._check_counts()
        self._check_rows(d)
        return {name: array for name, array in arrays.items() if not name.startswith(MARK)}

    def _check_counts(self) -> None:
        seen = int(self.seen[0]) if self.seen.size == 1 else -1
        if seen < 0 or self.y.size != (seen if self.left else 0):
            raise ValueError("its widths are of other rows than there are")
        if self.distance.size != 1 or not self.distance > 0:
            raise ValueError("its widths are of other rows than there are")

    def _check_rows(self, d: int) -> None:
        n = self.y.size
        is_row = self.origin.size == n and self.indptr.size == n + 1 and self.indptr[0] == 0
        if not is_row or (np.diff(self.indptr) < 0).any() or self.indptr[-1] != self.indices.size:
            raise ValueError("the bounds of the rows that its widths are taken from are broken")
        is_finite = np.isfinite(self.values).all() and self.distance[0] < np.inf
        if self.indices.size != self.values.size or not is_finite:
            raise ValueError("the rows that its widths are taken from are not finite")
        if ((self.indices < 0) | (self.indices >= d)).any():
            raise ValueError("the rows that its widths are taken from have other columns")
        if self.classes > 2 and not np.isin(self.y, np.arange(self.classes)).all():
            raise ValueError("the rows that its widths are taken from have other classes")


def median_distance(rows: Stream) -> float:
    """Return the median distance of all pairs of these rows, 1 where it is 0.

    Distances are computed as the engine does, from the dot products, and once for all members of a stack that
    see the same rows.
    """
    lengths, at = _places(rows)
    return _median(lengths.tobytes(), rows.indices[at].tobytes(), rows.values[at].tobytes())


def _places(rows: Stream) -> tuple[np.ndarray, np.ndarray]:
    """Return how many non-zeros each of these rows has, and the places of all of them."""
    starts = rows.indptr[rows.order]
    lengths = rows.indptr[rows.order + 1] - starts
    ends = np.cumsum(lengths)
    return lengths, np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if ends.size else 0)


@lru_cache(maxsize=16)
def _median(lengths: bytes, indices: bytes, values: bytes) -> float:
    """Return the median distance of CSR rows, given as the bytes of int64, int32 and float64."""
    columns, indptr = np.frombuffer(indices, np.int32), np.cumsum([0, *np.frombuffer(lengths, np.int64)])
    shape = len(indptr) - 1, int(columns.max(initial=0)) + 1
    X = csr_array((np.frombuffer(values), columns, indptr), shape=shape)
    dots = (X @ X.T).toarray()
    norm2 = dots.diagonal()
    pairs = np.triu_indices(len(dots), 1)
    with np.errstate(over="ignore", invalid="ignore"):  # of rows whose squares overflow
        square = (norm2[:, None] + norm2 - 2.0 * dots)[pairs]
    middle = float(np.median(np.sqrt(np.maximum(square, 0.0)))) if square.size else 0.0
    return middle if 0.0 < middle < np.inf else 1.0
