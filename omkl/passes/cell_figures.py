"""The figures of a cell: what a pass ends with, and its curve."""

from typing import Any, NamedTuple

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import Stream, Trace, unrecorded
from omkl.errors import OmklError
from omkl.others.estimator import Estimator
from omkl.passes import scores
from omkl.rounds.learner import CURVE_POINTS, Learner
from omkl.rounds.overflow import check_error_sums, check_scores

FEW = 100  # at most 1 round in so many is few


def _check_recorded(score: np.ndarray) -> None:
    """Raise OmklError with the first round of which a learner recorded no score (T,)."""
    if (missing := unrecorded(score)).any():
        t = int(np.argmax(missing)) + 1
        raise OmklError(f"the learner recorded no prediction in round {t}: it must call `record` in each")


class _Measured(NamedTuple):
    """Measures of a pass, sums at the points of its curve, and the values (T,) of each that is a mean."""

    values: dict[str, Any]
    curve: dict[str, Any]
    rounds: scores.Rounds


def figures_of(
    learner: Learner | Estimator,
    stream: Stream,
    trace: Trace,
    seconds: float,
    weights: dict[int, list[float]],
    task: str,
    left_out: np.ndarray | None = None,
    P: np.ndarray | None = None,
    intervals: scores.Intervals | None = None,
) -> dict:
    """Return a cell's figures from the final state and the trace of its rounds.

    learner: a Learner, or an Estimator of another package, which stores and weighs nothing that is counted
    left_out (T,): rounds of a regression that count in no measure    P (T, C): probabilities of the classes
    """
    T = trace.score.size
    _check_recorded(trace.score)
    points = np.unique(np.linspace(1, T, min(T, CURVE_POINTS)).round().astype(int)).tolist()
    if task == "regression":
        measured, curve, rounds = _of_regression(learner.spec, stream, trace, points, left_out, intervals)
    else:
        measured, curve, rounds = _of_mistakes(trace, points)
    if task == "classification":
        values, rounds = scores.of_classes(stream, trace, P)
        measured |= values
    for name, each in rounds.items():
        if (sums := scores.sums_of(each)) is not None:
            check_error_sums(sums)
            measured[name] = float(sums[-1]) / T
            curve[name] = [float(sums[t - 1]) for t in points]
    counts, n_sv = _stored(learner.classifiers, trace)
    for name, value in counts.items():
        sizes = getattr(trace, name)  # before round t's update, hence after round t - 1's
        curve[name] = [int(sizes[t]) if t < T else value for t in points]
    curve |= {"weights_t": list(weights), "weights": list(weights.values()) or None}
    return {
        "T": T,
        "m": learner.m,
        **measured,
        **counts,
        "n_sv_per_kernel": n_sv,
        "weights": None if learner.weights is None else [float(v) for v in learner.weights],
        "pairs": int(trace.n_sv_union.sum()),
        "seconds": seconds,
        "curve": {"t": points, **curve},
    }


def _of_mistakes(trace: Trace, points: list[int]) -> _Measured:
    check_scores(trace.score)
    T, errors = trace.score.size, np.cumsum(trace.mistake)
    mistakes = int(errors[-1])
    curve = {"mistakes": [int(errors[t - 1]) for t in points]}
    return _Measured({"mistakes": mistakes, "mistake_rate": mistakes / T}, curve, {})


def _of_regression(
    spec: LearnerSpec,
    stream: Stream,
    trace: Trace,
    points: list[int],
    left_out: np.ndarray | None,
    intervals: scores.Intervals | None,
) -> _Measured:
    T = trace.score.size
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.square(trace.score - stream.y)
    reported = dict(zip(spec.measures, trace.further.T, strict=True))
    reported.pop("degrees", None)
    variance = reported.pop("variance", None)
    values, rounds = scores.of_numbers(stream.y, trace.score, variance, left_out, intervals)
    rounds = {"loss": errors, **reported, **rounds}
    if left_out is not None:
        rounds = {name: scores.without(each, left_out) for name, each in rounds.items()}
        errors = np.where(left_out, 0.0, errors)
    loss = scores.sums_of(rounds.pop("loss"))
    assert loss is not None  # some rounds always count
    check_error_sums(loss)
    worst, total = int(np.argmax(errors)), np.cumsum(errors)[-1]
    measured = {"mistakes": None, "mistake_rate": None, "mse": float(loss[-1]) / T}
    measured["worst_round"] = worst + 1 if T > 2 and 2 * errors[worst] > total else None
    if left_out is not None and (few := scores.rounds_of_half(errors)) * FEW <= T and few > 1:
        measured["few_rounds"] = few
    return _Measured(measured | values, {"loss": [float(loss[t - 1]) for t in points]}, rounds)


def _stored(store: Any, trace: Trace) -> tuple[dict[str, int], list[int]]:
    """Return the counts of what is stored at the end, by the names of the trace, and those of each kernel."""
    union, total = (int(store.n_sv_union[0]), int(store.n_sv_sum[0])) if store is not None else (0, 0)
    n_sv = [int(n) for n in store.n_sv] if store is not None else []
    all_combined = trace.n_sv_combined[-1] == trace.n_sv_sum[-1]
    combined = total if all_combined else int(trace.n_sv_combined[-1])
    counts = {"n_sv_sum": total, "n_sv_union": union, "n_sv_combined": combined}
    return counts, n_sv if sum(n_sv) == total else [total]  # of kernels that share one list
