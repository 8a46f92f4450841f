"""The measures of a pass, made of its scores when it ends.

The values of a round that a mean is taken of are returned whole (T,), so that they have a curve too.
"""

from typing import NamedTuple

import numpy as np

from omkl.engine.stream import UNRECORDED, Stream, Trace, unrecorded
from omkl.others.estimator import Estimator
from omkl.passes.conformal import interval_score
from omkl.passes.late_labels import labels_known
from omkl.passes.said import are_noted, of_all_classes
from omkl.rounds.learner import Learner
from omkl.tasks import BINS, WITHIN_95

Values = dict[str, float]
Rounds = dict[str, np.ndarray]
LEAST_P = float(np.finfo(np.float64).eps)  # a probability below it counts as this much


def of_classes(stream: Stream, trace: Trace, P: np.ndarray | None) -> tuple[Values, Rounds]:
    """Return the measures of a classification, and those that are means over the rounds.

    P (T, C): probabilities of the classes, None of a learner without. A measure that has no value is left
    out, as an AUC of one class, or of scores that nobody noted.
    """
    scores, label = of_all_classes(stream, trace)
    values: Values = {"kappa_temporal": kappa_temporal(label, trace.mistake)}
    rounds: Rounds = {}
    if are_noted(stream, trace) and (area := auc(label, scores)) is not None:
        values["auc"] = area
    if P is not None:
        rounds["log_loss"] = -np.log(np.clip(P[np.arange(len(label)), label], LEAST_P, 1.0))
        rounds["brier"] = brier(label, P)
        values["ece"] = calibration_error(P.max(axis=1), ~trace.mistake)
    return values, rounds


def probabilities_of(learner: Learner | Estimator, stream: Stream, trace: Trace) -> np.ndarray | None:
    """Return the probabilities (T, C) of the classes in each round, None of a learner without."""
    if isinstance(learner, Estimator):
        return learner.probabilities(trace)
    if not learner.spec.probabilities:
        return None
    if stream.label is None:
        return np.column_stack([0.5 - trace.score, 0.5 + trace.score])
    return trace.class_scores if are_noted(stream, trace) else None


def kappa_temporal(label: np.ndarray, mistake: np.ndarray) -> float:
    """Return (p - p_l) / (1 - p_l): p the share of rounds (T,) without a mistake, p_l that of the last label.

    The last label errs in the first round, so that p_l is never 1.
    """
    last = np.count_nonzero(label[1:] == label[:-1]) / len(label)
    return float((1.0 - np.count_nonzero(mistake) / len(label) - last) / (1.0 - last))


def auc(label: np.ndarray, scores: np.ndarray) -> float | None:
    """Return the area under the ROC curve of scores (T, 1) for class 1, ties half; None for one class alone.

    Of more classes, whose scores are (T, C), it is the mean over those that occur, each against all others.
    """
    if scores.shape[1] == 1:
        return _area(label == 1, scores[:, 0])
    areas = [_area(label == c, scores[:, c]) for c in range(scores.shape[1])]
    defined = [area for area in areas if area is not None]
    return float(np.mean(defined)) if defined else None


def _area(positive: np.ndarray, score: np.ndarray) -> float | None:
    """Return how often a positive scores above another one: (R - P (P + 1) / 2) / (P N), R its ranks' sum."""
    P = int(np.count_nonzero(positive))
    N = len(positive) - P
    if not P or not N:
        return None
    positives, others = np.sort(score[positive]), np.sort(score[~positive])
    below, up_to = (np.searchsorted(others, positives, side=side) for side in ("left", "right"))
    return float((int(below.sum()) + int(up_to.sum())) / (2 * P * N))


def brier(label: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return the squared differences (T,) of probabilities (T, C) and the true class: of two that of one."""
    there = np.arange(P.shape[1]) == label[:, None]
    squares = np.square(P - there)
    return squares[:, 1] if P.shape[1] == 2 else squares.sum(axis=1)


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error of BINS equal bins; confidence (T,): of the class predicted."""
    bins = _bins_of(confidence)
    apart = np.bincount(bins, right - confidence, BINS)
    return float(np.abs(apart).sum() / len(bins))


def reliability(confidence: np.ndarray, right: np.ndarray) -> list[list[float]]:
    """Return number, rounds, mean probability and right predictions of each bin that is not empty."""
    bins = _bins_of(confidence)
    counts = np.bincount(bins, minlength=BINS)
    sums, hits = (np.bincount(bins, values, BINS) for values in (confidence, right))
    return [
        [at, int(counts[at]), float(f"{sums[at] / counts[at]:.6g}"), int(hits[at])]
        for at in np.flatnonzero(counts).tolist()
    ]


def _bins_of(confidence: np.ndarray) -> np.ndarray:
    return np.minimum((confidence * BINS).astype(np.int64), BINS - 1)


def sums_of(values: np.ndarray) -> np.ndarray | None:
    """Return the sums (T,) of values of rounds, which divided by t are the means up to round t.

    Rounds whose value is UNRECORDED are left out of the means. None where no round has a value.
    """
    lacking = unrecorded(values)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.cumsum(np.where(lacking, 0.0, values))
        if lacking.any():
            sums *= np.arange(1, len(values) + 1) / np.maximum(np.cumsum(~lacking), 1)
    return None if lacking.all() else sums


def before_variation(target: np.ndarray, delay: int = 1) -> np.ndarray:
    """Return which rounds (T,) are predicted before the targets known have varied; none where they never do.

    delay: labels come in batches of so many rounds
    """
    varied = target != target[0]
    left_out = labels_known(len(target), delay) <= int(np.argmax(varied))
    return left_out if varied.any() and not left_out.all() else np.zeros(len(target), bool)


def without(values: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Return values of rounds (T,), UNRECORDED for those that are left out."""
    kept = values.copy()
    kept[left_out] = UNRECORDED
    return kept


def rounds_of_half(values: np.ndarray) -> int:
    """Return how many of the largest values (T,) it takes for more than half of their sum."""
    sums = np.cumsum(np.sort(values)[::-1])
    return int(np.searchsorted(sums, 0.5 * sums[-1], side="right")) + 1


class Intervals(NamedTuple):
    """Half of the widths (T,) of intervals around predictions, infinite without one, and their level."""

    half: np.ndarray
    level: float

    def measures(self, error: np.ndarray) -> Rounds:
        """Return coverage, width and score (T,) of each round that has an interval; error (T,): absolute."""
        half = np.where(np.isfinite(self.half), self.half, 0.0)
        rounds = {
            "interval_coverage": (error <= half).astype(np.float64),
            "interval_width": 2.0 * half,
            "interval_score": interval_score(error, half, self.level),
        }
        return {name: without(each, ~np.isfinite(self.half)) for name, each in rounds.items()}


def of_numbers(
    target: np.ndarray,
    score: np.ndarray,
    variance: np.ndarray | None,
    left_out: np.ndarray | None = None,
    intervals: Intervals | None = None,
) -> tuple[Values, Rounds]:
    """Return the measures of a regression; variance (T,): of the predictions, None where it is not told.

    left_out (T,): rounds that do not count in the values; None for none
    """
    error = np.abs(score - target)
    kept = slice(None) if left_out is None else ~left_out
    values: Values = {}
    rounds: Rounds = {"mae": error}
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.square(target - target.mean())[kept].sum()
        share = 1.0 - np.square(error)[kept].sum() / whole if whole > 0 else np.nan
        if variance is not None:
            within = (error <= WITHIN_95 * np.sqrt(variance)).astype(np.float64)
            rounds["coverage"] = np.where(unrecorded(variance), UNRECORDED, within)
        if intervals is not None:
            rounds |= intervals.measures(error)
    if np.isfinite(share):
        values["r2"] = float(share)
    return values, rounds
