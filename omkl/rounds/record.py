"""The record of what a model has learnt so far."""

import math
from typing import Any

import numpy as np

from omkl.engine.stream import Trace
from omkl.rounds.overflow import check_error_sums, check_scores

POINTS = 200
MOST_ROUNDS = 2**40  # more than anyone will stream


class Progress:
    """The record of a stream that comes in parts: rounds, the total, and a curve of at most 200 points.

    The total counts mistakes, or examples flagged as novel; of a regression it is the sum of squared errors.
    The points of the curve depend on the number of rounds alone, never on the parts.
    """

    def __init__(self, task: str) -> None:
        self.task, self.rounds, self.stride = task, 0, 1
        self.total: float = 0.0 if task == "regression" else 0
        self.points: list[tuple[int, float]] = []

    def add(self, trace: Trace, y: np.ndarray) -> None:
        """Go on with the trace of these rounds. Raises Overflow where predictions did."""
        if self.task == "regression":
            with np.errstate(over="ignore", invalid="ignore"):
                steps = np.square(trace.score - y)
                totals = np.cumsum(np.concatenate([[self.total], steps]))[1:]
            check_error_sums(totals, self.rounds)
        else:
            check_scores(trace.score, self.rounds)
            totals = self.total + np.cumsum(trace.mistake)
        first = self.rounds
        self.rounds += len(totals)
        self.total = totals[-1].item()
        while self.rounds // self.stride > POINTS:
            self.stride *= 2
        self.points = [point for point in self.points if point[0] % self.stride == 0]
        start = (first // self.stride + 1) * self.stride
        rounds = range(start, self.rounds + 1, self.stride)
        self.points += [(t, totals[t - first - 1].item()) for t in rounds]

    def add_row(self, score: float, mistake: bool, y: float) -> None:
        """Do what `add` does with the trace of one round."""
        if self.task == "regression":
            with np.errstate(over="ignore", invalid="ignore"):
                total = self.total + float(np.square(score - y))
            if not math.isfinite(total):
                check_error_sums(np.array([total]), self.rounds)
        else:
            if math.isnan(score):
                check_scores(np.array([score]), self.rounds)
            total = self.total + mistake
        self.rounds, self.total = self.rounds + 1, total
        if self.rounds // self.stride > POINTS:
            self.stride *= 2
            self.points = [point for point in self.points if point[0] % self.stride == 0]
        if self.rounds % self.stride == 0:
            self.points.append((self.rounds, total))

    def curve(self) -> dict[str, np.ndarray]:
        """Return ``t`` and the totals after these rounds, the last round among them."""
        points = [*self.points, *([(self.rounds, self.total)] if self.rounds % self.stride else [])]
        t, totals = zip(*points, strict=True) if points else ((), ())
        measure = {"regression": "loss", "novelty": "flagged"}.get(self.task, "mistakes")
        return {"t": np.array(t, np.int64), measure: np.array(totals)}

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON holds it."""
        return {name: getattr(self, name) for name in ("task", "rounds", "stride", "total", "points")}

    @classmethod
    def from_json(cls, record: Any) -> "Progress":
        """Return the record of `to_json`. Raises ValueError for anything else."""
        if not isinstance(record, dict):
            raise ValueError("it has no record of its rounds")
        progress = cls(str(record.get("task")))
        values: list[Any] = [record.get(name) for name in ("rounds", "stride", "total", "points")]
        rounds, stride, total, points = values
        if not (_is_count(rounds, MOST_ROUNDS) and _is_count(stride, MOST_ROUNDS) and stride > 0):
            raise ValueError("the rounds of the record are not whole numbers")
        if not progress._is_total(total, rounds) or not isinstance(points, list) or len(points) > POINTS:
            raise ValueError("the totals of the record are not numbers")
        last = 0
        t: Any
        for point in points:
            t, value = point if isinstance(point, list) and len(point) == 2 else (None, None)
            if not _is_count(t, rounds) or not last < t or not progress._is_total(value, t):
                raise ValueError("the curve of the record is not a list of rounds and totals")
            last = t
        progress.rounds, progress.stride, progress.total = rounds, stride, total
        progress.points = [(t, value) for t, value in points]
        return progress

    def _is_total(self, value: Any, rounds: int) -> bool:
        """Whether this can be the total after these rounds."""
        if self.task == "regression":
            return type(value) in (int, float) and 0 <= value < math.inf
        return _is_count(value, rounds)


def _is_count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most
