"""Features scaled while a stream runs: by their deviations (``scale=online``), or as ranks (``scale=ranks``).

Both take a stream cut into `Span`s, in each of which rows are dense or sparse. They see the rows that are
learnt, and scaling a stream leaves them as they are.
"""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from omkl.engine.running_ranks import (
    CHUNK,
    WINDOW,
    Recent,
    columns_of,
    fill_rows,
    normal_scores,
    rank_dense_rows,
    rank_sparse_rows,
    see_columns,
    see_sparse_rows,
)
from omkl.engine.running_scale import scale_rows, see_rows
from omkl.engine.stream import Stream, make_stream, part
from omkl.errors import UserError
from omkl.state.array import padded
from omkl.state.resource import Arrays

LEAST_VALUES, MOST_VALUES = 2**10, 2**20  # that sparse rows' ranks are among: 20 MB at most


class Span(NamedTuple):
    """Rounds start .. stop - 1 of a stream, and whether a 0 is there a value like any other."""

    start: int
    stop: int
    is_dense: bool


class NewRows:
    """The rows of a CSR matrix that is filled from top to bottom, in place of those of a stream."""

    def __init__(self, stream: Stream, most: int) -> None:
        self.stream, self.used = stream, 0
        self.indptr = np.zeros(stream.T + 1, np.int64)
        self.indices, self.values = np.empty(most, np.int32), np.empty(most)
        self.target = self.indptr, self.indices, self.values

    def made(self) -> Stream:
        """Return the stream of these rows, in the order of arrival."""
        T = self.stream.T
        indices, values = self.indices[: self.used], self.values[: self.used]
        made = make_stream(self.indptr, indices, values, np.zeros(T), np.arange(T))
        return made._replace(y=self.stream.y, label=self.stream.label)


def room_for(stream: Stream, spans: Sequence[Span], d: int) -> NewRows:
    """Return rows to be filled: of dense rows d values each, of sparse ones as many as they have."""
    lengths = row_lengths(stream)
    most = sum(
        (stop - start) * d if is_dense else int(lengths[start:stop].sum()) for start, stop, is_dense in spans
    )
    return NewRows(stream, most)


def row_lengths(stream: Stream) -> np.ndarray:
    """Return how many values the rows of a stream have, (T,)."""
    return stream.indptr[stream.order + 1] - stream.indptr[stream.order]


class Deviations:
    """Means and deviations of features (``scale=online``): see `omkl.engine.running_scale`."""

    def __init__(self, d: int) -> None:
        self.rows, self.begun = np.zeros((2, 4, d)), np.zeros(2, np.int64)

    def scaled(self, stream: Stream, spans: Sequence[Span], seen: int, learn: bool) -> Stream:
        """Return a stream scaled. Raises UserError for numbers whose squares overflow."""
        new, stats, begun = room_for(stream, spans, self.rows.shape[2]), self.rows.copy(), self.begun.copy()
        for start, stop, is_dense in spans:
            rows, n = csr_arrays(part(stream, start, stop)), seen + start
            new.used = scale_rows(*rows, is_dense, learn, stats, begun, n, *new.target, start, new.used)
        if not np.isfinite(stats).all():
            largest = np.abs(stream.values).max(initial=0.0)
            raise UserError(f"a feature of size {largest:.3g} is too large to be scaled; correct the value")
        return new.made()

    def see(self, stream: Stream, spans: Sequence[Span], seen: int) -> None:
        """Count the rows of a stream as seen."""
        for start, stop, is_dense in spans:
            rows = csr_arrays(part(stream, start, stop))
            see_rows(*rows, is_dense, self.rows, self.begun, seen + start)

    def add_features(self, d: int) -> None:
        """Go on with d features; the new ones were 0 so far."""
        self.rows = padded(self.rows, (2, 4, d))

    def arrays(self) -> Arrays:
        """Return its arrays by name."""
        return {"rows": self.rows, "begun": self.begun}

    def load(self, arrays: Arrays, seen: int, is_dense: bool) -> None:
        """Take a saved model's arrays. Raises ValueError for counts and spreads that no stream leaves."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
        counts = self.rows[:, [0, 3]]
        most = (seen - self.begun)[:, None, None]
        if (self.begun < 0).any() or (self.begun > seen).any() or (counts < 0).any() or (counts > most).any():
            raise ValueError("its scaling counts rows that cannot be")
        if (self.rows[:, 2] < 0.0).any():
            raise ValueError("its scaling has a negative spread")


class Ranks:
    """Ranks of features among the last rows (``scale=ranks``): see `omkl.engine.running_ranks`.

    The last rows are held as a ring for each column where they are dense, else as lists of what is not 0, of
    MOST_VALUES at most: among fewer rows than WINDOW where these hold more.
    """

    def __init__(self, d: int) -> None:
        self.d, self.count = d, 0  # rows that the ring has seen
        self.window: np.ndarray | None = None  # (d, WINDOW), of dense rows
        self.recent = _lists(d, LEAST_VALUES)

    def scaled(self, stream: Stream, spans: Sequence[Span], seen: int, learn: bool) -> Stream:
        """Return a stream as ranks."""
        new, goes_on = room_for(stream, spans, self.d), learn and stream.T > 1
        held = self._copy() if goes_on else self
        for start, stop, is_dense in spans:
            held._hold(is_dense)
            for first in range(start, stop, CHUNK):
                held._append(part(stream, first, min(first + CHUNK, stop)), goes_on, new, first)
        return new.made()

    def see(self, stream: Stream, spans: Sequence[Span], seen: int) -> None:
        """Count the rows of a stream as seen."""
        for start, stop, is_dense in spans:
            self._hold(is_dense)
            for first in range(start, stop, CHUNK):
                self._see(part(stream, first, min(first + CHUNK, stop)))

    def _append(self, rows: Stream, goes_on: bool, new: NewRows, first: int) -> None:
        """Append ranks of CHUNK rows at most to new ones, of which ``first`` are filled, and see them."""
        scores = normal_scores()
        if self.window is None:
            self._make_room(rows)
            new.used = rank_sparse_rows(
                *csr_arrays(rows), goes_on, self.recent, *new.target, first, new.used, scores
            )
            return
        X = _columns(rows, self.d)
        ranks = X.copy() if goes_on else X
        rank_dense_rows(ranks, goes_on, self.window, self.count, scores)
        new.used = fill_rows(ranks, *new.target, first, new.used)
        if goes_on:
            see_columns(X, self.window, self.count)
            self.count += rows.T

    def _see(self, rows: Stream) -> None:
        if self.window is None:
            self._make_room(rows)
            see_sparse_rows(*csr_arrays(rows), self.recent)
        else:
            see_columns(_columns(rows, self.d), self.window, self.count)
            self.count += rows.T

    def _make_room(self, rows: Stream) -> None:
        """Let the lists hold these rows, too, and all of WINDOW, as far as MOST_VALUES allow."""
        _, begin, (end, _, first) = self.recent.value, self.recent.begin, self.recent.counts
        held = end - begin[first % WINDOW] if self.recent.counts[1] > first else 0
        needed, there = min(held + int(row_lengths(rows).sum()), MOST_VALUES), self.recent.value.size
        if needed > there:
            numbers = np.arange(end - held, end)
            larger = _lists(self.d, 2 ** int(needed - 1).bit_length())
            for old, new in zip(self.recent[1:4], larger[1:4], strict=True):
                new[numbers % new.size] = old[numbers % there]
            self.recent = self.recent._replace(
                previous=larger.previous, column=larger.column, value=larger.value
            )

    def _hold(self, is_dense: bool) -> None:
        """Hold the last rows as a ring, or as lists."""
        if is_dense != (self.window is not None):
            self._begin(is_dense, *self._kept())

    def _begin(self, is_dense: bool, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> None:
        """Hold these rows alone."""
        n = len(indptr) - 1
        self.count, self.window = 0, np.zeros((self.d, WINDOW)) if is_dense else None
        self.recent = _lists(self.d, LEAST_VALUES)
        self._see(make_stream(indptr, indices, values, np.zeros(n), np.arange(n)))

    def _kept(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows that are held, as a CSR matrix."""
        if self.window is not None:
            numbers = np.arange(max(0, self.count - WINDOW), self.count)
            rows = self.window[:, numbers % WINDOW].T
            at, indices = np.nonzero(rows)
            return np.searchsorted(at, np.arange(len(rows) + 1)), indices, rows[at, indices]
        end, row, first = self.recent.counts
        begin = np.append(self.recent.begin[np.arange(first, row) % WINDOW], end)
        at = np.arange(begin[0], end) % self.recent.value.size
        return begin - begin[0], self.recent.column[at], self.recent.value[at]

    def _copy(self) -> "Ranks":
        copied = copy.copy(self)
        copied.window = None if self.window is None else self.window.copy()
        copied.recent = Recent(*(array.copy() for array in self.recent))
        return copied

    def add_features(self, d: int) -> None:
        """Go on with d features; the new ones were 0 so far."""
        self.d = d
        if self.window is not None:
            self.window = padded(self.window, (d, WINDOW))
        self.recent = self.recent._replace(head=padded(self.recent.head, (d,), -1))

    def arrays(self) -> Arrays:
        """Return the rows that are held, as a CSR matrix whose stored zeros are gaps."""
        indptr, indices, values = self._kept()
        return {
            "indptr": indptr.astype(np.int64),
            "indices": indices.astype(np.int32),
            "values": np.nan_to_num(values, nan=0.0),
        }

    def load(self, arrays: Arrays, seen: int, is_dense: bool) -> None:
        """Hold the rows of a saved model. Raises ValueError for rows that no stream leaves."""
        indptr, indices, values = (arrays[name] for name in ("indptr", "indices", "values"))
        n = len(indptr) - 1
        if not 0 <= n <= min(WINDOW, seen) or indptr[0] != 0 or (np.diff(indptr) < 0).any():
            raise ValueError("its ranks are among rows that cannot be")
        if not indptr[-1] == indices.size == values.size or values.size > MOST_VALUES:
            raise ValueError("its ranks are among rows that cannot be")
        in_row = np.repeat(np.arange(n), np.diff(indptr))
        places = in_row * np.int64(self.d) + indices
        if ((indices < 0) | (indices >= self.d)).any() or (np.diff(places) <= 0).any():
            raise ValueError("its ranks are among rows of other columns")
        self._begin(is_dense, indptr, indices, np.where(values == 0.0, np.nan, values))


def _lists(d: int, most: int) -> Recent:
    previous, column, value = np.zeros(most, np.int64), np.zeros(most, np.int32), np.zeros(most)
    return Recent(
        np.full(d, -1, np.int64), previous, column, value, np.zeros(WINDOW, np.int64), np.zeros(3, np.int64)
    )


def csr_arrays(rows: Stream) -> tuple[np.ndarray, ...]:
    """Return the arrays of a stream's rows as compiled code takes them."""
    return rows.order, rows.indptr, rows.indices, rows.values


def _columns(rows: Stream, d: int) -> np.ndarray:
    X = np.empty((d, rows.T))
    columns_of(*csr_arrays(rows), X)
    return X
