"""What a learner that was trained can tell: scores of new rows, its support vectors, its record so far."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from omkl.engine.budget_record import Budget
from omkl.engine.expansion import Expansion
from omkl.engine.stream import Trace, make_stream
from omkl.errors import OmklError
from omkl.learner.learner import Learner

POINTS = 200


def score(learner: Learner, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the scores (n,) of the rows of a CSR matrix, as the next round of a pass would give each.

    A learner that draws a kernel for its prediction draws for every row from the same state of its generator:
    the scores do not depend on what else is scored, and scoring changes nothing.
    """
    T = len(indptr) - 1
    stream = make_stream(indptr, indices, values, np.ones(T), np.arange(T))
    rng = learner.state["rng"].bit_generator
    before = rng.state
    scores = learner.run(stream, learn=False)[0].score
    if rng.state != before:
        for t in range(T):
            rng.state = before
            one = stream._replace(T=1, order=stream.order[t : t + 1], y=stream.y[t : t + 1])
            scores[t] = learner.run(one, learn=False)[0].score[0]
        rng.state = before
    return scores


def stored_vectors(learner: Learner) -> tuple[np.ndarray, sp.csr_array] | None:
    """Return row numbers (n,) and rows (n, d) of what a learner stores, None for one that stores nothing."""
    E = learner.classifiers
    if E is None:
        return None
    if isinstance(E, Expansion):
        n = E.size[0]
        indptr, stop = E.indptr[: n + 1], E.indptr[n]
        parts = (E.values[:stop].copy(), E.indices[:stop].copy(), indptr.copy())
        return E.origin[:n].copy(), sp.csr_array(parts, shape=(n, learner.d))
    kept = _examples(E)
    bounds = [(E.ends[2 * e], E.ends[2 * e + 1]) for e in kept]
    empty = [np.empty(0)]
    values = np.concatenate([E.values[a:b] for a, b in bounds] or empty)
    indices = np.concatenate([E.indices[a:b] for a, b in bounds] or empty).astype(np.int32)
    indptr = np.cumsum([0, *(b - a for a, b in bounds)])
    return E.origin[kept], sp.csr_array((values, indices, indptr), shape=(len(kept), learner.d))


def coefficients(learner: Learner) -> np.ndarray | None:
    """Return the coefficients (m, n) of the stored vectors in each kernel's classifier, None without any."""
    E = learner.classifiers
    if E is None:
        return None
    if isinstance(E, Expansion):
        made = E.A[:, : E.size[0]].copy()
    else:
        kept = _examples(E)
        place = np.zeros(E.norm2.size, np.int64)
        place[kept] = np.arange(len(kept))
        made = np.zeros((len(E.n_sv), len(kept)))
        for i, count in enumerate(E.n_sv):
            np.add.at(made[i], place[E.holds[:count, i]], E.A[:count, i])
    scale = learner.state.get("scale")
    return made if scale is None else made * np.resize(scale, len(made))[:, None]


def _examples(B: Budget) -> np.ndarray:
    """Return the numbers of the examples that a Budget holds, the first that came first."""
    kept = np.flatnonzero(B.users > 0)
    return kept[np.argsort(B.origin[kept], kind="stable")]


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
        """Go on with the trace of these rounds. Raises OmklError where predictions overflowed."""
        if self.task == "regression":
            with np.errstate(over="ignore", invalid="ignore"):
                steps = np.square(trace.score - y)
                totals = np.cumsum(np.concatenate([[self.total], steps]))[1:]
            if not np.isfinite(totals[-1]):
                t = self.rounds + int(np.argmin(np.isfinite(totals))) + 1
                raise OmklError(
                    f"the prediction of round {t} overflowed; rescale the data or reduce the step size"
                )
        else:
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
    def from_json(cls, record: dict[str, Any]) -> "Progress":
        """Return the record of `to_json`. Raises ValueError for anything else."""
        made = cls(str(record.get("task")))
        rounds, stride, points = (record.get(name) for name in ("rounds", "stride", "points"))
        total: Any = record.get("total")
        if type(rounds) is not int or type(stride) is not int or rounds < 0 or stride < 1:
            raise ValueError("the rounds of the record are no whole numbers")
        if type(total) not in (int, float) or not isinstance(points, list) or len(points) > POINTS:
            raise ValueError("the totals of the record are no numbers")
        for point in points:
            if not (
                isinstance(point, list) and len(point) == 2 and all(type(v) in (int, float) for v in point)
            ):
                raise ValueError("the curve of the record is no list of pairs")
        made.rounds, made.stride, made.total = rounds, stride, total
        made.points = [(int(t), value) for t, value in points]
        return made
