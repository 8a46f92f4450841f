"""What a learner that was trained can tell: scores of new rows, its support vectors, its record so far."""

import math
import threading
from typing import Any

import numpy as np
import scipy.sparse as sp

from omkl.config.learners import LearnerSpec, learner_specs
from omkl.engine.stream import MOST_SCORES, Stream, Trace, make_stream, part
from omkl.passes.conformal import Conformal
from omkl.passes.learner import Learner
from omkl.passes.overflow import check_error_sums, check_scores
from omkl.tasks import WITHIN_95

POINTS = 200
MOST_ROUNDS = 2**40  # more than anyone will stream
_of_thread = threading.local()  # a generator, which takes longer to make than to set


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # of a CSR matrix: indptr, indices, values


def score(learner: Learner, *rows: np.ndarray) -> np.ndarray:
    """Return the scores (n,) of the rows of a CSR matrix, as the next round of a pass would give each.

    A learner that draws a kernel for its prediction draws for every row from the same state of its generator:
    the scores do not depend on what else is scored, and scoring changes nothing.
    """
    return _scored(learner, rows, np.ones(len(rows[0]) - 1))[0]


def has_std(spec: LearnerSpec) -> bool:
    """Whether a learner says how uncertain its predictions of numbers are."""
    return "variance" in spec.measures


def check_std(spec: LearnerSpec) -> None:
    """Raise ValueError for a learner that does not know the variance of a target."""
    if not has_std(spec):
        able = ", ".join(spec.label for spec in learner_specs().values() if has_std(spec))
        raise ValueError(f"{spec.label} does not say how uncertain a prediction is; {able} do")


def score_and_std(learner: Learner, *rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions (n,) of rows, and the standard deviations (n,) of their targets around them.

    Raises ValueError for a learner that has none.
    """
    check_std(learner.spec)
    prediction, variance = _score_and_variance(learner, rows)
    assert variance is not None
    return prediction, np.sqrt(np.maximum(variance, 0.0))


def interval_ends(learner: Learner, intervals: Conformal, *rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends (n,) of the intervals around the predictions of rows.

    They are infinite where there is no interval yet, see `omkl.passes.conformal`.
    """
    prediction, variance = _score_and_variance(learner, rows)
    half = intervals.half_widths(len(prediction), variance)
    return prediction - half, prediction + half


def _score_and_variance(
    learner: Learner, rows: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray | None]:
    trace = _trace_of(learner, rows, np.zeros(len(rows[0]) - 1))
    return trace.score, variance_of(learner.spec, trace)


def variance_of(spec: LearnerSpec, trace: Trace) -> np.ndarray | None:
    """Return the variances (T,) of a trace's targets, None of a learner that does not tell them."""
    return trace.further[:, spec.measures.index("variance")] if has_std(spec) else None


def density_interval(learner: Learner, share: float, *rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (n,) of the intervals around rows' predictions that hold this share of the density.

    Raises ValueError for a learner that knows no density.
    """
    from scipy import special

    check_std(learner.spec)
    trace = _trace_of(learner, rows, np.zeros(len(rows[0]) - 1))
    told = dict(zip(learner.spec.measures, trace.further.T, strict=True))
    upper, half = 0.5 + share / 2.0, np.sqrt(np.maximum(told["variance"], 0.0))
    if (degrees := told.get("degrees")) is None:
        half = half * special.ndtri(upper)
    else:  # of the same 95 % interval as the normal density
        half = half * WITHIN_95 * special.stdtrit(degrees, upper) / special.stdtrit(degrees, 0.975)
    return trace.score - half, trace.score + half


def classify(learner: Learner, *rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes predicted (n,) for rows, where there are more than two, and their margins (n,).

    A margin is the score of the class predicted less that of the next one.
    """
    predicted = predicted_classes(learner, *rows)
    return predicted, _scored(learner, rows, predicted)[0]


def predicted_classes(learner: Learner, *rows: np.ndarray) -> np.ndarray:
    """Return the classes predicted (n,) for rows, where there are more than two."""
    return _scored(learner, rows, np.zeros(len(rows[0]) - 1))[1]


def class_scores(learner: Learner, *rows: np.ndarray) -> np.ndarray:
    """Return the scores (n, C) of all classes, where there are more than two; each row's sum is 0."""
    scores, predicted = noted_scores(learner, *rows)
    scores[np.arange(len(scores)), predicted] = scores.max(axis=1, initial=-np.inf)  # but for rounding it is
    return scores - scores.mean(axis=1, keepdims=True)


def probabilities(learner: Learner, *rows: np.ndarray) -> np.ndarray:
    """Return the probabilities (n, C) of all classes, of a learner whose scores are probabilities.

    Its spec says so (``probabilities``). Each row's sum is 1, and of two classes the second is +1.
    """
    assert learner.spec.probabilities
    if learner.classes == 2:
        positive = 0.5 + score(learner, *rows)
        return np.column_stack([1.0 - positive, positive])
    P, _ = noted_scores(learner, *rows)
    return P / P.sum(axis=1, keepdims=True)


def noted_scores(learner: Learner, *rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (n, C) of more than two classes as they are combined, and those predicted (n,)."""
    indptr, indices, values = rows
    n, most = len(indptr) - 1, max(1, MOST_SCORES // learner.classes)
    scores, predicted = np.zeros((n, learner.classes)), np.zeros(n, np.int64)
    for start in range(0, n, most):
        stop = min(start + most, n)
        span = slice(indptr[start], indptr[stop])
        part_rows = indptr[start : stop + 1] - indptr[start], indices[span], values[span]
        trace = _trace_of(learner, part_rows, np.zeros(stop - start))
        scores[start:stop], predicted[start:stop] = trace.class_scores, trace.predicted
    return scores, predicted


def _scored(learner: Learner, rows: tuple[np.ndarray, ...], y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and predicted classes (n,) of rows with these labels; for two classes, no classes."""
    trace = _trace_of(learner, rows, y)
    return trace.score, trace.predicted


def scored(learner: Learner, stream: Stream) -> Trace:
    """Return the trace of rows that are scored, each as the next round of a pass would score it."""
    return learner.run(stream, learn=False)[0] if "rng" not in learner.names else _drawn(learner, stream)


def _trace_of(learner: Learner, rows: tuple[np.ndarray, ...], y: np.ndarray) -> Trace:
    """Return the trace of rows with these labels. Raises Overflow for a score that is no number."""
    indptr, indices, values = rows
    if len(y) == 1 and "rng" not in learner.names:
        with learner.lock:
            trace = learner.run_row(indices, values, y[0], learn=False)[1]
            trace = Trace(*(None if array is None else array.copy() for array in trace))
    else:
        trace = scored(learner, make_stream(indptr, indices, values, y, np.arange(len(y)), learner.classes))
    check_scores(trace.score, what="row")
    return trace


def _drawn(learner: Learner, stream: Stream) -> Trace:
    """Return the trace of rows that each draw from the generator as it is now; it stays as it is."""
    if "rng" not in _of_thread.__dict__:
        _of_thread.rng = np.random.Generator(np.random.PCG64(0))
    rng = _of_thread.rng  # in place of the learner's, which so stays as it is
    with learner.lock:
        rng.bit_generator.state = before = learner.state["rng"].bit_generator.state
        trace = learner.run(stream, learn=False, rng=rng)[0]
        if rng.bit_generator.state != before:
            for t in range(1, stream.T):  # the first row was scored from that state
                rng.bit_generator.state = before
                one = learner.run(part(stream, t, t + 1), learn=False, rng=rng)[0]
                trace.score[t], trace.mistake[t] = one.score[0], one.mistake[0]
                trace.further[t] = one.further[0]
                if trace.predicted is not None:
                    trace.predicted[t] = one.predicted[0]
                    trace.class_scores[t : t + 1] = one.class_scores
    return trace


def stored_vectors(learner: Learner) -> tuple[np.ndarray, sp.csr_array] | None:
    """Return row numbers (n,) and rows (n, d) of what a learner stores, None for one that stores nothing."""
    with learner.lock:
        name = learner.stores
        return None if name is None else learner.resources[name].vectors(learner.state[name], learner.d)


def expansion_coefficients(learner: Learner) -> np.ndarray | None:
    """Return the coefficients (m, n) of the stored vectors in each kernel's classifier, None without any.

    With more than two classes they are (m, n, C), one for each class.
    """
    with learner.lock:
        return _coefficients(learner)


def vectors_of_kernels(learner: Learner) -> np.ndarray | None:
    """Return how many of the stored vectors each kernel uses (m,), None for one that stores nothing."""
    with learner.lock:
        E = learner.classifiers
        return None if E is None else E.n_sv.copy()


def _coefficients(learner: Learner) -> np.ndarray | None:
    name = learner.stores
    if name is None:
        return None
    A, scale = learner.resources[name].coefficients(learner.state[name]), learner.state.get("scale")
    return A if scale is None else A * np.resize(scale, len(A)).reshape(-1, *[1] * (A.ndim - 1))


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
