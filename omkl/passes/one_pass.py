"""One pass of a learner over a data set: from hyperparameters and an order to the figures of a cell."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omkl import seeds
from omkl.algorithms import function
from omkl.config.kernel_kinds import in_medians, kernel_pool, with_median
from omkl.config.learners import LearnerSpec, check_classes
from omkl.data import confusion
from omkl.data.dataset import compact
from omkl.engine.expansion import BLOCK, make_expansion, reserve
from omkl.engine.kernels import make_pool
from omkl.engine.stream import Stream, Trace, make_stream, part, unrecorded
from omkl.errors import OmklError
from omkl.passes import scores
from omkl.passes.adapters import UNNAMED, Names
from omkl.passes.conformal import Conformal
from omkl.passes.learner import CURVE_POINTS, Threads
from omkl.passes.model import variance_of
from omkl.passes.overflow import asks_ranges, check_error_sums, check_scores, fitted
from omkl.passes.platt import Platt
from omkl.passes.scaling import Scaling
from omkl.passes.stacked import new_learner
from omkl.passes.third_party import Estimator
from omkl.passes.widths import STEPS, median_distance
from omkl.state.state import held_bytes
from omkl.tasks import for_task

FEW = 100  # at most 1 round in so many is few


class Ended(NamedTuple):
    """A pass that has ended: the figures of its cell, the learner as it left it, and its rounds.

    left_out (T,): rounds of a regression that count in no measure, None where all count    P (T, C): the
    probabilities of the classes, None without    intervals: around the predictions, None without
    """

    figures: dict[str, Any]
    learner: Any
    trace: Trace
    left_out: np.ndarray | None = None
    P: np.ndarray | None = None
    intervals: "scores.Intervals | None" = None


def run_pass(
    spec: Any,
    params: dict,
    pool: dict | None,
    dataset: Any,
    order: np.ndarray,
    permutation_seed: int,
    **how: Any,
) -> dict:
    """Run a learner once over a data set in this order and return its cell's figures; how: see `whole_pass`.

    Keys: T, m, mistakes, mistake_rate (None of a regression, which has ``mse``, the mean squared error of the
    predictions before their updates, ``worst_round``, the round with over half of it, None without one, and
    of the user's own targets ``few_rounds``, how many have over half of it, where these are at most 1 in FEW;
    of a novelty detection the examples flagged as novel), confusion (of a
    classification, see omkl.data.confusion), reliability (of probabilities, see omkl.passes.scores),
    n_sv_sum, n_sv_union, n_sv_combined, n_sv_per_kernel, weights,
    pairs (stored vectors summed over rounds), seconds, memory (bytes, see omkl.state.state; not of
    another package's estimator),
    the measures of omkl.passes.scores and those that the learner reports, those of
    what is held out (`omkl.passes.scores.on_test_rows`), curve (at most 100 points t,
    weights at points weights_t; ``loss``, the squared errors summed, of a regression in place of mistakes;
    the sums of each measure that is a mean over the rounds). Raises Overflow when predictions do, and
    UserError for hyperparameters that the learner does not take, or more classes than it takes.
    """
    return whole_pass(spec, params, pool, dataset, order, permutation_seed, **how).figures


def whole_pass(
    spec: Any,
    params: dict,
    pool: dict | None,
    dataset: Any,
    order: np.ndarray,
    permutation_seed: int,
    *,
    scaling: Mapping[str, Any] | None = None,
    block: int | None = None,
    threads: int = 1,
    on_part: Callable[[int], None] | None = None,
    test: tuple[Any, np.ndarray] | None = None,
    own: bool = False,
) -> Ended:
    """Run a learner once over a data set; return the figures of `run_pass`, the learner and its trace.

    spec: LearnerSpec; params: hyperparameters; pool: for learners with ``kernels: pool``; dataset: Dataset;
    order (T,): rows in order of arrival; permutation_seed: of this order, for the learner's own draws.
    scaling: ``scale`` of the features and ``target`` of a regression, see `omkl.passes.scaling`, and
    ``delay`` of the labels, see `run_delayed`, ``calibration`` of scores that are no probabilities, and the
    level of an ``interval`` around the predictions of numbers
    threads: that share a block's rows (see `omkl.passes.learner`); nothing but the time depends on it.
    on_part: called with the number of rounds done, at most 100 times. test: a Dataset, and rows of it that
    are held out. own: whether targets are the user's own, so that rounds before they have varied count in no
    measure.
    """
    delay = int((scaling or {}).get("delay", 1))
    plan = _planned(spec, params, pool, compact(dataset), order, scaling or {}, test)
    learner = _new_learner(
        plan, seeds.learner_seed(permutation_seed, spec.draws_as or spec.name), block, threads
    )
    weights: dict[int, list[float]] = {}

    def note(t: int) -> None:
        if learner.weights is not None:
            weights[t] = [float(f"{v:.4g}") for v in learner.weights]
        if on_part is not None:
            on_part(t)

    stream, task = plan.stream, plan.dataset.task
    if delay > 1:
        trace, seconds = run_delayed(learner, stream, delay, note)
    else:
        trace, seconds = learner.run(stream, on_part=note)
    if spec.estimator or spec.is_stack:
        learner.check_spoke()
    left_out = scores.before_variation(stream.y, delay) if own else None
    P, intervals, calibration = _calibrated(learner, plan, trace, scaling or {}, delay)
    figures = _figures(learner, stream, trace, seconds, weights, task, left_out, P, intervals)
    if task == "classification":
        if P is not None:
            figures["reliability"] = scores.reliability(P.max(axis=1), ~trace.mistake)
        figures["confusion"] = confusion.confusion_counts(
            *scores.true_and_predicted(stream, trace), plan.dataset.n_classes
        )
    if not spec.estimator:  # another package does not say what it holds
        figures["memory"] = held_bytes(learner.held, stream, trace._replace(class_scores=None))
    if plan.held_out is not None:
        classes = plan.dataset.n_classes
        figures |= scores.on_test_rows(learner, stream, plan.held_out, task, classes, delay, calibration)
    return Ended(figures, learner, trace, left_out, P, intervals)


def _calibrated(
    learner: Any, plan: "_Planned", trace: Trace, scaling: Mapping[str, Any], delay: int
) -> tuple[np.ndarray | None, "scores.Intervals | None", "Platt | Conformal | None"]:
    """Return the probabilities of classes, the intervals of numbers, and what calibrated either of them."""
    stream, task = plan.stream, plan.dataset.task
    if task == "classification":
        P = scores.probabilities_of(learner, stream, trace)
        if P is not None or not scaling.get("calibration") or not scores.are_noted(stream, trace):
            return P, None, None
        platt = Platt(plan.dataset.n_classes)
        return platt.in_turn(*scores.of_all_classes(stream, trace), delay), None, platt
    if task != "regression" or not (level := scaling.get("interval")):
        return None, None, None
    conformal, variance = Conformal(level), variance_of(learner.spec, trace)
    missing = trace.mistake if learner.spec.estimator else None
    half = conformal.in_turn(trace.score, stream.y, variance, delay, missing)
    return None, scores.Intervals(half, level), conformal


@dataclass(frozen=True)
class _Planned:
    """What a pass is made of, once it has been checked; rows: the stream, scaled where kernels ask for it."""

    spec: LearnerSpec
    params: dict[str, Any]
    pool: dict[str, Any] | None
    dataset: Any
    stream: Stream
    rows: Stream
    scaling: Scaling | None
    held_out: Stream | None


def _planned(
    spec: Any,
    params: dict,
    pool: dict | None,
    dataset: Any,
    order: np.ndarray,
    scaling: Mapping[str, str],
    test: tuple[Any, np.ndarray] | None,
) -> _Planned:
    """Check the hyperparameters of a pass against its data, and return what it is made of."""
    params = spec.checked(for_task(params, dataset.task))
    spec.check_values(params, dataset.task, dataset.name)
    check_classes(spec, dataset.name, dataset.n_classes)
    other = None if test is None else compact(test[0])
    pool, scale = kernel_pool(params, pool), Scaling.of(scaling, dataset, also=other)
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, order, dataset.n_classes)
    rows, ranged = stream, dataset
    if scale and pool is not None and (spec.setup or asks_ranges(pool)):
        rows = scale.scaled(stream, True)[0]
        ranged = rows if scale.scale else dataset  # else of the values that are there
    pool = fitted(pool, dataset.d, ranged.indices, ranged.values, ranged.T)
    held_out = None
    if test is not None and other is not None:
        held_out = make_stream(other.indptr, other.indices, other.values, other.y, test[1], dataset.n_classes)
    return _Planned(spec, params, pool, dataset, stream, rows, scale, held_out)


def _new_learner(plan: _Planned, seed: int, block: int | None, threads: int) -> Any:
    """Return the learner of a pass, which has learnt nothing: ours, or an Estimator of another package."""
    spec, dataset, pool = plan.spec, plan.dataset, plan.pool
    names = Names.of(dataset) if spec.estimator or spec.is_stack else UNNAMED
    if spec.setup and pool is not None:
        apart = seeds.derive("apart", dataset.content_hash)
        pool = choose_kernels(spec, plan.params, pool, dataset.d, plan.rows, apart, block, dataset.n_classes)
    if spec.estimator:
        own = dataset.n_classes, plan.scaling, names
        return Estimator(spec, plan.params, dataset.d, seed, dataset.task, *own)
    how: Any = {"threads": threads, "classes": dataset.n_classes, "scaling": plan.scaling, "names": names}
    if threads > 1 and not spec.is_stack:
        how["threads"] = Threads(threads, looked_up=bool((plan.stream.values == 1.0).all()))
    how |= {"block": block, "rounds": plan.stream.T}
    return new_learner(spec, plan.params, pool, dataset.d, seed, **how)


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


def _figures(
    learner: Any,
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


def choose_kernels(
    spec: LearnerSpec,
    params: dict,
    pool: dict,
    d: int,
    stream: Stream,
    seed: int,
    block: int | None = None,
    classes: int = 2,
) -> dict:
    """Let the learner's setup function choose its kernels by this stream; its time is not the learner's.

    seed: of the permutation, apart from the stream's order, that it may choose by. Widths in medians are
    those of the stream's first rows.
    """
    if in_medians(pool["kernels"]):
        pool = with_median(pool, median_distance(part(stream, 0, min(STEPS[-1], stream.T))))

    def run(compiled: Any, state: dict, stop: int, apart: bool) -> None:
        rows = part(_permuted(stream, seed) if apart else stream, 0, min(stop, stream.T))
        lengths = np.diff(rows.indptr)[rows.order]
        many = classes if classes > 2 else None
        E = make_expansion(make_pool(pool["kernels"], pool["normalise"]), d, block or BLOCK, many)
        E = reserve(E, rows.T, int(lengths.sum()), int(lengths.max(initial=0)))
        given = {"stream": _frozen(rows), "E": E, "learn": True, **state}
        compiled(*(given[name] for name in inspect.signature(compiled.py_func).parameters))

    return function(str(spec.setup), False)(run, pool, params, stream.T)


def _permuted(stream: Stream, seed: int) -> Stream:
    """Return the rows of a stream in another order."""
    order = np.sort(stream.order)[np.random.default_rng(seed).permutation(stream.T)]
    place = np.empty(stream.indptr.size - 1, np.int64)
    place[stream.order] = np.arange(stream.T)
    label = None if stream.label is None else stream.label[place[order]]
    return stream._replace(order=order, y=stream.y[place[order]], label=label)


def _frozen(rows: Stream) -> Stream:
    """Return a stream whose arrays are read-only, as `make_stream` makes them: one compiled version."""
    for array in (rows.order, rows.y, rows.label):
        if array is not None:
            array.flags.writeable = False
    return rows


# ------------------------------------------------------------------ labels that come late
# In batches of N rounds: rounds kN + 1 to (k + 1)N are predicted with what was learnt before them; then all
# of them are learnt, in their order. With N = 1 that is the usual protocol.

PREDICTED = ("score", "mistake", "further", "predicted", "class_scores")  # before the labels of a batch come
MOST_NOTES = 100


def run_delayed(
    learner: Any, stream: Stream, delay: int, on_part: Callable[[int], None]
) -> tuple[Trace, float]:
    """Run a learner over a stream whose labels come in batches; return the trace, and CPU seconds.

    Scores and mistakes are those before a batch is learnt, sizes those of each round while it is.
    on_part: called with the number of rounds done, at most about 100 times
    """
    traces, seconds, noted = [], 0.0, 0
    for start in range(0, stream.T, delay):
        stop = min(start + delay, stream.T)
        batch = part(stream, start, stop)
        before, scoring = learner.run(batch, learn=False)
        learnt, learning = learner.run(batch)
        traces.append(learnt._replace(**{name: getattr(before, name) for name in PREDICTED}))
        seconds += scoring + learning
        if (share := stop * MOST_NOTES // stream.T) > noted or stop == stream.T:
            noted = share
            on_part(stop)
    columns = zip(*traces, strict=True)
    return Trace(*(None if arrays[0] is None else np.concatenate(arrays) for arrays in columns)), seconds
