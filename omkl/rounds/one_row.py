"""A stream of one row, made once and written anew for each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from omkl.engine.stream import Stream, make_stream


class OneRow(NamedTuple):
    """A stream of one round, and the arrays that hold what it reads: made once, written for each row."""

    stream: Stream
    indices: np.ndarray
    values: np.ndarray
    target: np.ndarray

    def write(
        self, indices: Sequence[int] | np.ndarray, values: Sequence[float] | np.ndarray, y: float
    ) -> None:
        """Make this row the stream's; y: its label or target, of more than two classes its number."""
        self.indices[:], self.values[:], self.target[0] = indices, values, y


def one_row(n: int, classes: int) -> OneRow:
    """Return a stream of a row of n non-zeros; classes: as of `make_stream`."""
    indices, values, many = np.zeros(n, np.int32), np.zeros(n), classes > 2
    target = np.zeros(1, np.int64 if many else np.float64)
    stream = make_stream(np.array([0, n]), indices, values, np.zeros(1), np.zeros(1), classes)
    read = target.view()
    read.flags.writeable = False
    stream = stream._replace(**{"label" if many else "y": read})
    return OneRow(stream, indices, values, target)
