"""One pass of a learner over a data set: from hyperparameters and an order to the figures of a cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from omkl import seeds
from omkl.config.kernel_kinds import kernel_pool
from omkl.config.learners import LearnerSpec, check_classes
from omkl.data.dataset import Dataset, compact
from omkl.engine.stream import Stream, Trace, make_stream
from omkl.others.estimator import Estimator
from omkl.others.names import UNNAMED, Names
from omkl.passes import confusion, held_out_rows, scores
from omkl.passes.calibration import Calibration, asked_for, said_in
from omkl.passes.cell_figures import figures_of
from omkl.passes.chosen_kernels import choose_kernels
from omkl.passes.late_labels import run_delayed
from omkl.passes.said import are_noted, true_and_predicted
from omkl.rounds.learner import Learner
from omkl.rounds.needs import asks_ranges, fitted
from omkl.rounds.scaling import Scaling
from omkl.rounds.threads import Threads
from omkl.stacks.new_learner import new_learner
from omkl.stacks.stack import Stack
from omkl.state.cost import held_bytes
from omkl.tasks import for_task


class Ended(NamedTuple):
    """A pass that has ended: the figures of its cell, the learner as it left it, and its rounds.

    left_out (T,): rounds of a regression that count in no measure, None where all count    P (T, C): the
    probabilities of the classes, None without    intervals: around the predictions, None without
    """

    figures: dict[str, Any]
    learner: Learner | Estimator
    trace: Trace
    left_out: np.ndarray | None = None
    P: np.ndarray | None = None
    intervals: "scores.Intervals | None" = None


class How(TypedDict, total=False):
    """How a pass is run, beside its learner, data and order.

    scaling: ``scale`` of the features and ``target`` of a regression (`omkl.rounds.scaling`), ``delay`` of
    the labels (`omkl.passes.late_labels`), ``calibration`` of scores that are no probabilities, and the level
    of an ``interval`` around the predictions of numbers (`omkl.passes.calibration`)
    block: rows computed at once    threads: that share a block's rows; results depend on neither
    on_part: called with the number of rounds done, at most 100 times
    test: a Dataset, and rows of it that are held out
    own: whether targets are the user's own, so that rounds before they have varied count in no measure
    """

    scaling: Mapping[str, Any] | None
    block: int | None
    threads: int
    on_part: Callable[[int], None] | None
    test: tuple[Dataset, np.ndarray] | None
    own: bool


def run_pass(
    spec: LearnerSpec,
    params: dict[str, Any],
    pool: dict[str, Any] | None,
    dataset: Dataset,
    order: np.ndarray,
    permutation_seed: int,
    **how: Unpack[How],
) -> dict[str, Any]:
    """Run a learner once over a data set in this order and return its cell's figures; how: see `How`.

    Keys: T, m, mistakes, mistake_rate (None of a regression, which has ``mse``, the mean squared error of the
    predictions before their updates, ``worst_round``, the round with over half of it, None without one, and
    of the user's own targets ``few_rounds``, how many have over half of it, where these are at most 1 in FEW;
    of a novelty detection the examples flagged as novel), confusion (of a
    classification, see omkl.passes.confusion), reliability (of probabilities, see omkl.passes.scores),
    n_sv_sum, n_sv_union, n_sv_combined, n_sv_per_kernel, weights,
    pairs (stored vectors summed over rounds), seconds, memory (bytes, see omkl.state.cost; not of
    another package's estimator),
    the measures of omkl.passes.scores and those that the learner reports, those of
    what is held out (`omkl.passes.held_out_rows.on_test_rows`), curve (at most 100 points t,
    weights at points weights_t; ``loss``, the squared errors summed, of a regression in place of mistakes;
    the sums of each measure that is a mean over the rounds). Raises Overflow when predictions do, and
    UserError for hyperparameters that the learner does not take, or more classes than it takes.
    """
    return whole_pass(spec, params, pool, dataset, order, permutation_seed, **how).figures


def whole_pass(
    spec: LearnerSpec,
    params: dict[str, Any],
    pool: dict[str, Any] | None,
    dataset: Dataset,
    order: np.ndarray,
    permutation_seed: int,
    **how: Unpack[How],
) -> Ended:
    """Run a learner once over a data set; return the figures of `run_pass`, the learner and its trace.

    spec: LearnerSpec; params: hyperparameters; pool: for learners with ``kernels: pool``; dataset: Dataset;
    order (T,): rows in order of arrival; permutation_seed: of this order, for the learner's own draws.
    """
    words, on_part = how.get("scaling") or {}, how.get("on_part")
    delay = int(words.get("delay", 1))
    plan = _planned(spec, params, pool, compact(dataset), order, words, how.get("test"))
    seed = seeds.learner_seed(permutation_seed, spec.draws_as or spec.name)
    learner = _new_learner(plan, seed, how.get("block"), how.get("threads", 1))
    weights: dict[int, list[float]] = {}

    def note(t: int) -> None:
        if learner.weights is not None:
            weights[t] = [float(f"{v:.4g}") for v in learner.weights]
        if on_part is not None:
            on_part(t)

    stream, task = plan.stream, plan.dataset.task
    trace, seconds = run_delayed(learner, stream, delay, note)
    if isinstance(learner, Estimator | Stack):
        learner.check_spoke()
    left_out = scores.before_variation(stream.y, delay) if how.get("own") else None
    P, intervals, calibration = _calibrated(learner, plan, trace, words, delay)
    figures = figures_of(learner, stream, trace, seconds, weights, task, left_out, P, intervals)
    if task == "classification":
        if P is not None:
            figures["reliability"] = scores.reliability(P.max(axis=1), ~trace.mistake)
        figures["confusion"] = confusion.confusion_counts(
            *true_and_predicted(stream, trace), plan.dataset.n_classes
        )
    if isinstance(learner, Learner):  # another package does not say what it holds
        figures["memory"] = held_bytes(learner.held, stream, trace._replace(class_scores=None))
    if plan.held_out is not None:
        classes = plan.dataset.n_classes
        figures |= held_out_rows.on_test_rows(
            learner, stream, plan.held_out, task, classes, delay, calibration
        )
    return Ended(figures, learner, trace, left_out, P, intervals)


def _calibrated(
    learner: Learner | Estimator, plan: "_Planned", trace: Trace, words: Mapping[str, Any], delay: int
) -> tuple[np.ndarray | None, "scores.Intervals | None", Calibration | None]:
    """Return the probabilities of classes, the intervals of numbers, and what calibrated either of them."""
    stream, task = plan.stream, plan.dataset.task
    P = scores.probabilities_of(learner, stream, trace) if task == "classification" else None
    calibration = asked_for(task, words, plan.dataset.n_classes)
    if P is not None or calibration is None or (task == "classification" and not are_noted(stream, trace)):
        return P, None, None
    told = calibration.in_turn(said_in(learner.spec, task, stream, trace), delay)
    if task == "classification":
        return told, None, calibration
    return None, scores.Intervals(told, calibration.level), calibration


@dataclass(frozen=True)
class _Planned:
    """What a pass is made of, once it has been checked; rows: the stream, scaled where kernels ask for it."""

    spec: LearnerSpec
    params: dict[str, Any]
    pool: dict[str, Any] | None
    dataset: Dataset
    stream: Stream
    rows: Stream
    scaling: Scaling | None
    held_out: Stream | None


def _planned(
    spec: LearnerSpec,
    params: dict[str, Any],
    pool: dict[str, Any] | None,
    dataset: Dataset,
    order: np.ndarray,
    scaling: Mapping[str, Any],
    test: tuple[Dataset, np.ndarray] | None,
) -> _Planned:
    """Check the hyperparameters of a pass against its data, and return what it is made of."""
    params = spec.checked(for_task(params, dataset.task))
    spec.check_values(params, dataset.task, dataset.name)
    check_classes(spec, dataset.name, dataset.n_classes)
    other = None if test is None else compact(test[0])
    pool, scale = kernel_pool(params, pool), Scaling.of(scaling, dataset, also=other)
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, order, dataset.n_classes)
    rows, ranged = stream, (dataset.indices, dataset.values, dataset.T)
    if scale and pool is not None and (spec.setup or asks_ranges(pool)):
        rows = scale.scaled(stream, True)[0]
        if scale.scale:  # else of the values that are there
            ranged = rows.indices, rows.values, rows.T
    pool = fitted(pool, dataset.d, *ranged)
    held_out = None
    if test is not None and other is not None:
        held_out = make_stream(other.indptr, other.indices, other.values, other.y, test[1], dataset.n_classes)
    return _Planned(spec, params, pool, dataset, stream, rows, scale, held_out)


def _new_learner(plan: _Planned, seed: int, block: int | None, threads: int) -> Learner | Estimator:
    """Return the learner of a pass, which has learnt nothing: ours, or an Estimator of another package."""
    spec, dataset, pool = plan.spec, plan.dataset, plan.pool
    names = Names.of(dataset) if spec.estimator or spec.is_stack else UNNAMED
    if spec.setup and pool is not None:
        apart = seeds.derive("apart", dataset.content_hash)
        pool = choose_kernels(spec, plan.params, pool, dataset.d, plan.rows, apart, block, dataset.n_classes)
    if spec.estimator:
        return Estimator(
            spec, plan.params, dataset.d, seed, dataset.task, dataset.n_classes, plan.scaling, names
        )
    looked_up = threads > 1 and not spec.is_stack and bool((plan.stream.values == 1.0).all())
    return new_learner(
        spec,
        plan.params,
        pool,
        dataset.d,
        seed,
        block=block,
        rounds=plan.stream.T,
        classes=dataset.n_classes,
        threads=Threads(threads, looked_up),
        scaling=plan.scaling,
        names=names,
    )
