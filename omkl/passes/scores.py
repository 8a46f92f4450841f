"""The measures of a pass: those made of its scores when it ends, and those on rows that were not learnt.

The values of a round that a mean is taken of are returned whole (T,), so that they have a curve too.
"""

from typing import Any, NamedTuple

import numpy as np

from omkl.data.confusion import confusion_counts
from omkl.engine.stream import UNRECORDED, Stream, Trace, unrecorded
from omkl.passes.conformal import Conformal, interval_score
from omkl.passes.learner import Learner
from omkl.passes.model import scored
from omkl.passes.model_file import pack, unpack
from omkl.passes.overflow import check_error_sums, check_scores
from omkl.passes.platt import Platt
from omkl.passes.scaling import Scaling
from omkl.store.fields import hits_of, of_counts
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


def of_all_classes(stream: Stream, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (T, C) of the classes, of two that of +1 (T, 1), and the true ones (T,) from 0."""
    if stream.label is None:
        return trace.score[:, None], (stream.y > 0).astype(np.int64)
    return trace.class_scores, stream.label


def are_noted(stream: Stream, trace: Trace) -> bool:
    """Whether a pass has noted the scores of all classes in each round."""
    scores, label = of_all_classes(stream, trace)
    return len(scores) == len(label) and not unrecorded(scores[:, -1]).any()


def true_and_predicted(stream: Stream, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the true and the predicted class (T,) of each round; of two classes -1 is 0 and +1 is 1."""
    if stream.label is not None:
        return stream.label, trace.predicted
    positive = stream.y > 0
    return positive, positive ^ trace.mistake  # a score of 0 is a mistake, so it speaks for the other one


def probabilities_of(learner: Any, stream: Stream, trace: Trace) -> np.ndarray | None:
    """Return the probabilities (T, C) of the classes in each round, None of a learner without."""
    if not isinstance(learner, Learner):
        found: np.ndarray | None = learner.probabilities(trace)
        return found
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
    last_labelled = np.arange(len(target)) // delay * delay
    left_out = last_labelled <= int(np.argmax(varied))
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


# ------------------------------------------------------------------ on rows that were not learnt
# The averaged hypothesis is (1/T) sum_t f_t, f_t that which predicts in round t (online-to-batch conversion:
# section 6 of Hoi et al. 2013, Corollary 5 of Kivinen et al. 2004). It is known for learners whose
# classifiers are expansions of terms a_r kappa(x_r, .) that never change (``average: fixed`` in conf/algo),
# or that shrink by 1 - eta_t lam in every round t (``average: shrunk``). So it is the same expansion with
# other coefficients, which the learner's own rule combines, with its last weights.

_LEAST_LOG = -650.0  # of what is left of the oldest term: below it, coefficients underflow


def on_test_rows(
    learner: Any,
    learnt: Stream,
    test: Stream,
    task: str,
    classes: int,
    delay: int = 1,
    calibration: Platt | Conformal | None = None,
) -> Values:
    """Return the measures of the last hypothesis on test rows, and of the averaged one, where it is known.

    learner: a Learner, or an Estimator of another package, after it has learnt a whole stream, whose labels
    came in batches of ``delay`` rounds
    calibration: what makes probabilities or intervals of the last hypothesis' scores, None for nothing
    Keys: test_NAME and averaged_NAME for rate (the share of mistakes) or, of a regression, rmse, and for
    each measure of a pass that has a value there. Raises Overflow where predictions do.
    """
    found = {"test": learner}
    if isinstance(learner, Learner) and (other := averaged_hypothesis(learner, learnt, delay)) is not None:
        found["averaged"] = other
    return {
        f"{kind}_{name}": value
        for kind, hypothesis in found.items()
        for name, value in _measured(
            hypothesis, test, task, classes, calibration if kind == "test" else None
        ).items()
    }


def averaged_hypothesis(learner: Learner, learnt: Stream, delay: int = 1) -> Learner | None:
    """Return a learner with the averaged coefficients, None where they are not known.

    They are not where terms leave (a window), where an offset is learnt beside them, and where the oldest
    terms have shrunk to nothing. Where targets are scaled online, f_t is in the targets' units, those before
    round t: place_t + width_t times what the learner computes. Where labels come in batches, f_t is what was
    learnt before the batch of round t.
    """
    kind, name = learner.spec.average, learner.stores
    if kind is None or name is None or learner.resources[name].record != "Expansion":
        return None
    if learner.params.get("offset"):
        return None
    header, arrays = pack(learner)
    born, width = arrays[f"{name}.origin"], np.ones(learnt.T)
    predicted_by = np.arange(learnt.T) // delay * delay  # the round before which f_t was learnt
    scaling = learner.scaling
    if scaling is None or not scaling.renews:  # else rows are numbered by their rounds
        place = np.zeros(int(learnt.order.max(initial=0)) + 1, np.int64)
        place[learnt.order] = np.arange(learnt.T)
        born = place[born]
    if scaling is not None and scaling.target == "online":
        units = Scaling(0, target="online").scaled(learnt, True)[1]
        assert units is not None
        width = units.width[predicted_by]
        header = header | {"scaling": scaling.header() | {"target": "standard"}}  # whose units are fixed
        arrays = arrays | {".targets": np.array([1.0, units.place[predicted_by].mean(), 1.0])}
    width = np.bincount(predicted_by, width, learnt.T)  # of all rounds that a hypothesis predicted
    # the hypotheses that have the term of a round, weighed: those of the rounds after it
    counted = np.append(np.cumsum(width[:0:-1])[::-1], 0.0)
    A = arrays[f"{name}.A"]
    if kind == "shrunk":
        shrink = _shrinkage(learner.params, learnt.T)
        if not (shrink > 0.0).all():
            return None
        logs = np.cumsum(np.log(shrink))
        left = logs[-1] - logs  # the logarithm of what is left of the term of each round
        if left[born].min(initial=0.0) < _LEAST_LOG:
            return None
        for r in range(learnt.T - 1, 0, -1):
            counted[r - 1] = width[r] + shrink[r] * counted[r]
        A = A * np.resize(arrays["scale."], len(A))[:, None] / np.exp(left[born])
        arrays = arrays | {"scale.": np.ones_like(arrays["scale."])}
    A = A * (counted[born] / learnt.T)
    averaged = {f"{name}.A": A, f"{name}.max_abs_coefficient": np.abs(A).max(axis=1, initial=0.0)}
    return unpack(header, arrays | averaged)


def _shrinkage(params: dict[str, Any], T: int) -> np.ndarray:
    """Return 1 - eta_t lam (T,) of the rounds of a pass."""
    eta, falls = params["eta"], params["step"] == "sqrt"
    if eta is None:  # as omkl.engine.losses.rate_of_pass
        eta = 1.0 if falls else 1.0 / np.sqrt(T)
    return 1.0 - params["lam"] * eta / (np.sqrt(np.arange(1.0, T + 1.0)) if falls else np.ones(T))


def _measured(
    learner: Any, test: Stream, task: str, classes: int, calibration: Platt | Conformal | None
) -> Values:
    """Return the measures on rows of which nothing is learnt, those of an order left out."""
    trace = scored(learner, test) if isinstance(learner, Learner) else learner.run(test, learn=False)[0]
    check_scores(trace.score, what="held-out row")
    if task == "classification":
        P = probabilities_of(learner, test, trace)
        if isinstance(calibration, Platt) and are_noted(test, trace):
            P = calibration.probabilities(of_all_classes(test, trace)[0])
        values, rounds = of_classes(test, trace, P)
        del values["kappa_temporal"]
        values["rate"] = float(np.count_nonzero(trace.mistake) / test.T)
        hits = hits_of(confusion_counts(*true_and_predicted(test, trace), classes))
        counts = np.frombuffer(hits or b"", "<i8").reshape(1, 3, -1)
        values |= {name.removesuffix("_pct"): float(rates[0]) for name, rates in of_counts(counts).items()}
    else:
        with np.errstate(over="ignore"):
            squares = np.square(trace.score - test.y)
        check_error_sums(np.cumsum(squares))
        told = dict(zip(learner.spec.measures, trace.further.T, strict=True))
        told.pop("degrees", None)
        variance, intervals = told.pop("variance", None), None
        if isinstance(calibration, Conformal):
            intervals = Intervals(calibration.half_widths(test.T, variance), calibration.level)
        values, rounds = of_numbers(test.y, trace.score, variance, None, intervals)
        rounds |= told
        values["rmse"] = float(np.sqrt(squares.mean()))
    for name, of_measure in rounds.items():
        if (sums := sums_of(of_measure)) is not None:
            values[name] = float(sums[-1]) / test.T
    return {name: value for name, value in values.items() if np.isfinite(value)}
