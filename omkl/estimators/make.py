"""The learner behind an estimator, made from the arguments of its constructor."""

import itertools
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from omkl.config import pool
from omkl.config.kernel_kinds import PARTS, check_kernels, kernel_pool, pool_names
from omkl.config.learners import LearnerSpec
from omkl.engine.stream import Stream, part
from omkl.errors import UserError, outside, show, suggest
from omkl.estimators.arguments import CALIBRATION, CLASS_WEIGHT, INTERVAL, SCALED, argument_name, class_name
from omkl.models.calibrated import calibrate
from omkl.passes.calibration import Calibration
from omkl.passes.chosen_kernels import choose_kernels
from omkl.passes.conformal import Conformal
from omkl.passes.platt import Platt
from omkl.passes.warm import warm_up_once
from omkl.rounds.learner import Learner, cannot_change
from omkl.rounds.record import Progress
from omkl.rounds.scaling import Scaling
from omkl.schema import is_number
from omkl.stacks.new_learner import new_learner

FEW = 100  # rows by which a kernel should not be chosen


def make_learner(
    spec: LearnerSpec,
    task: str,
    given: Mapping[str, Any],
    d: int,
    seed: int,
    stream: Stream,
    classes: int = 2,
) -> Learner:
    """Return the learner of these arguments for d features, compiled.

    given: the arguments by name; seed: of its random numbers; stream: what it is to learn first; classes:
    their number. Raises ValueError that names the estimator and the argument.
    """
    name = class_name(spec.name, task)
    try:
        if seed < 0:
            raise ValueError(f"{'seed' if 'seed' in given else 'random_state'} must be ≥ 0, got {seed}")
        new_calibration(given, classes)
        params = _params(spec, name, given)
        spec.check_data(params, task, "these rows")
        scaling = _scaling({name: value for name, value in given.items() if name not in params}, d)
        chosen = kernel_pool(params, _pool(spec, given.get("pool")))
    except (UserError, ValueError) as error:
        raise ValueError(_named(name, error)) from None
    if spec.setup and chosen is not None:
        if stream.T < FEW:
            warnings.warn(
                f"{name} chooses its kernel by the first rows that it is given, which are {stream.T}; give "
                f"the first partial_fit at least {FEW}",
                UserWarning,
                stacklevel=outside(),
            )
        rows = scaling.scaled(stream, True)[0]
        chosen = choose_kernels(spec, params, chosen, d, rows, seed, classes=classes)
    warm_up_once([(spec, params, classes)])
    rounds = planned_rounds(given, stream.T) or stream.T
    return new_learner(spec, params, chosen, d, seed, rounds=rounds, classes=classes, scaling=scaling)


def _scaling(given: Mapping[str, Any], d: int) -> Scaling:
    scaling = {}
    for name, choices in SCALED.items():
        if (value := given.get(name)) is not None:
            if value not in choices:
                raise ValueError(
                    f"{name} must be None or {' or '.join(map(repr, choices))}, got {show(value)}"
                )
            scaling[name] = value
    return Scaling(d, scaling.get("scale"), scaling.get("target"), gaps=False)


def new_calibration(given: Mapping[str, Any], classes: int) -> Calibration | None:
    """Return what makes probabilities or intervals of scores, None where the arguments ask for none.

    Raises ValueError for other values than None and 'platt', or a share.
    """
    if (level := given.get(INTERVAL)) is not None:
        if not (is_number(level, int | float | np.number) and 0 < level < 1):
            raise ValueError(f"{INTERVAL} must be None or a number > 0 and < 1, got {show(level)}")
        return Conformal(float(level))
    if (asked := given.get(CALIBRATION)) not in (None, "platt"):
        raise ValueError(f"{CALIBRATION} must be None or 'platt', got {asked!r}")
    return Platt(classes) if asked else None


def planned_rounds(given: Mapping[str, Any], first: int) -> int | None:
    """Return the length of the whole stream for a learner that depends on it, None for others.

    given: the arguments by name    first: the rows that are learnt first, all where ``rounds`` is not given
    """
    return given["rounds"] or first if "rounds" in given else None


def warn_of_rounds(estimator: object, planned: int | None, done: int, more: int) -> None:
    """Warn once where a learner that was made for so many rounds is given more."""
    if planned is not None and done <= planned < done + more:
        warnings.warn(
            f"{type(estimator).__name__}: it was made for a stream of {planned} rows, but row {planned + 1} "
            "has arrived; give the length of the whole stream as rounds=",
            UserWarning,
            stacklevel=outside(),
        )


def follow(estimator: Any, model: Learner) -> None:
    """Let a learner go on with the arguments that its estimator has been given since it was made.

    ``estimator._given`` holds those that it was made with. Raises ValueError for what cannot change in
    mid-stream.
    """
    given = estimator._given
    changed = {
        name: value
        for name, before in given.items()
        if (value := getattr(estimator, name)) is not before and value != before
    }
    if not changed:
        return
    spec, name = model.spec, type(estimator).__name__
    hyperparameters = {argument_name(word) for word in spec.hyperparameters}
    for word in changed.keys() - hyperparameters - {CLASS_WEIGHT}:
        if spec.stochastic or word not in ("random_state", "seed"):  # else it is not used
            raise ValueError(str(cannot_change(name, word, given[word])))
    now = {**given, **changed}
    try:
        model.change({word: now[argument_name(word)] for word in spec.hyperparameters}, name, argument_name)
    except UserError as error:
        raise ValueError(_named(name, error)) from None
    estimator._given = now


def row_weights(weights: Any, n: int, name: str) -> np.ndarray:
    """Return the weights (n,) of rows. Raises ValueError, with the estimator's name, for what cannot be."""
    values = np.asarray(weights, dtype=np.float64)
    values = np.full(n, values) if values.ndim == 0 else values
    if values.shape != (n,):
        raise ValueError(f"{name}: sample_weight.shape == {values.shape}, expected ({n},)")
    if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise ValueError(f"{name}: each sample_weight must be a number ≥ 0, and not all of them zero")
    return values


def check_weights(
    spec: LearnerSpec,
    given: Mapping[str, Any],
    weights: np.ndarray,
    name: str,
    what: str,
    rounds: int | None,
) -> None:
    """Raise ValueError for weights with which a hyperparameter of the learner leaves its domain.

    given: the arguments of its estimator    name: the estimator's    what: what is weighted by, such as ``w``
    rounds: as of `planned_rounds`
    """
    try:
        for weight in np.unique(weights).tolist():
            spec.weighted(_params(spec, name, given), weight, rounds)
    except UserError as error:
        raise ValueError(f"{_named(name, error)} ({what}={weight:g})") from None


def learn(
    model: Learner,
    stream: Stream,
    weights: np.ndarray | None,
    calibration: Calibration | None,
    progress: Progress | None = None,
) -> None:
    """Let a learner and its calibration learn a stream; weights (n,) of its rows, None where all are 1."""
    params, rounds = model.params, model.planned_rounds
    for rows, weight in _of_equal_weight(stream, weights):
        if weight is not None:
            model.change(model.spec.weighted(params, weight, rounds))
        try:
            trace, _ = model.run(rows, progress=progress)
        finally:
            if weight is not None:
                model.change(params)
        calibrate(calibration, model, rows, trace)


def learn_one_row(
    model: Learner,
    indices: Any,
    values: Any,
    y: float,
    calibration: Calibration | None,
    progress: Progress,
) -> None:
    """Do what `learn` does with a stream of one row of weight 1, as of `Learner.run_row`."""
    stream, trace = model.run_row(indices, values, y, progress=progress)
    calibrate(calibration, model, stream, trace)


def _of_equal_weight(stream: Stream, weights: np.ndarray | None) -> Iterator[tuple[Stream, float | None]]:
    """Yield the parts of a stream whose rows have one weight, and this weight; all of it without weights."""
    if weights is None:
        yield stream, None
        return
    ends = [0, *(np.flatnonzero(np.diff(weights)) + 1).tolist(), stream.T]
    for start, stop in itertools.pairwise(ends):
        yield part(stream, start, stop), float(weights[start])


def _params(spec: LearnerSpec, where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    params = {name: given[argument_name(name)] for name in spec.hyperparameters}
    return spec.checked(params, where, argument_name)


def _named(name: str, error: Exception) -> str:
    """Return what an error says, beginning with the estimator's name."""
    return str(error) if str(error).startswith(name) else f"{name}: {error}"


def _pool(spec: LearnerSpec, given: Any) -> dict[str, Any] | None:
    if spec.kernels != "pool":
        return None
    if isinstance(given, str):
        if given not in (names := pool_names()):
            near = suggest(given, names) or f"; known: {', '.join(names)}"
            raise UserError(f"pool={given!r}: unknown kernel pool{near}")
        chosen = pool(given)
    else:
        given_parts = (
            {"normalise": "none", **given}
            if isinstance(given, dict)
            else {"normalise": "none", "kernels": given}
        )
        for key in given_parts.keys() - PARTS.keys() - {"name", "label"}:
            raise ValueError(f"pool: unknown key '{key}'; a pool has normalise and kernels")
        try:
            kernels = check_kernels(given_parts.get("kernels"))
            normalise = PARTS["normalise"](given_parts["normalise"])
        except ValueError as error:
            raise ValueError(f"pool: {error}") from None
        chosen = {"name": "given", "normalise": normalise, "kernels": kernels}
    spec.check_pool(chosen)
    return {key: chosen[key] for key in PARTS}
