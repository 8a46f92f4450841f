"""What a trained learner says of new rows: scores, classes, probabilities, intervals."""

import numpy as np

from omkl.config.learners import LearnerSpec, learner_specs
from omkl.engine.stream import MOST_SCORES, Trace, make_stream
from omkl.passes.calibration import Calibration
from omkl.passes.said import Said
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import check_scores
from omkl.rounds.scored import has_std, scored, variance_of
from omkl.tasks import WITHIN_95

CsrArrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # of a CSR matrix: indptr, indices, values


def score(learner: Learner, *rows: np.ndarray) -> np.ndarray:
    """Return the scores (n,) of the rows of a CSR matrix, as the next round of a pass would give each.

    A learner that draws a kernel for its prediction draws for every row from the same state of its generator:
    the scores do not depend on what else is scored, and scoring changes nothing.
    """
    return _scored(learner, rows, np.ones(len(rows[0]) - 1))[0]


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


def interval_ends(
    learner: Learner, intervals: Calibration, *rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends (n,) of the intervals around the predictions of rows.

    They are infinite where there is no interval yet, see `omkl.passes.conformal`.
    """
    prediction, variance = _score_and_variance(learner, rows)
    half = intervals.told(Said(prediction, variance=variance))
    return prediction - half, prediction + half


def _score_and_variance(
    learner: Learner, rows: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray | None]:
    trace = _trace_of(learner, rows, np.zeros(len(rows[0]) - 1))
    return trace.score, variance_of(learner.spec, trace)


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
