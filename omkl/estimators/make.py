"""The learner behind an estimator, made from the arguments of its constructor."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from omkl.config import kernel_pools, pool
from omkl.config.domains import check_kernels
from omkl.config.spec import LearnerSpec
from omkl.engine.stream import Stream
from omkl.errors import UserError, suggest
from omkl.estimators.arguments import argument_name, class_name
from omkl.learner.cell import warm_up
from omkl.learner.learner import Learner
from omkl.learner.one_pass import choose_kernels
from omkl.learner.saved import unpack as unpack  # with it come pickles of learners
from omkl.tasks import for_task


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
    their number.
    Raises ValueError that names the estimator and the argument.
    """
    name = class_name(spec.name, task)
    try:
        if seed < 0:
            raise ValueError(f"{'seed' if 'seed' in given else 'random_state'} must be ≥ 0, got {seed}")
        params = _params(spec, task, given)
        chosen = kernel_pools.kernel_pool(params, _pool(spec, given.get("pool")))
    except (UserError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    if spec.setup and chosen is not None:
        chosen = choose_kernels(spec, params, chosen, d, stream, seed, classes=classes)
    warm_up([(spec, params, classes)])
    rounds = planned_rounds(given, stream) or stream.T
    return Learner(spec, params, chosen, d, seed, rounds=rounds, classes=classes)


def planned_rounds(given: Mapping[str, Any], stream: Stream) -> int | None:
    """Return the length of the whole stream for a learner that depends on it, None for others.

    given: the arguments by name; stream: what is learnt first, the whole of it where ``rounds`` is not given.
    """
    return given["rounds"] or stream.T if "rounds" in given else None


def warn_of_rounds(estimator: object, planned: int | None, done: int, more: int) -> None:
    """Warn once where a learner that was made for so many rounds is given more."""
    if planned is not None and done <= planned < done + more:
        warnings.warn(
            f"{type(estimator).__name__}: it was made for a stream of {planned} rows, but row {planned + 1} "
            "has arrived; give the length of the whole stream as rounds=",
            UserWarning,
            stacklevel=4,
        )


def _params(spec: LearnerSpec, task: str, given: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, parameter in spec.hyperparameters.items():
        value = given[argument_name(name)]
        try:
            params[name] = parameter.check(value.item() if isinstance(value, np.generic) else value)
        except ValueError as error:
            raise ValueError(f"{argument_name(name)} {error}") from None
        if name == spec.budget and not isinstance(params[name], int):
            raise ValueError(f"{name} must be a whole number ≥ 1, got {value!r}")
    params = for_task(params, task)
    spec.check_together(params)
    spec.check_data(params, task, "these rows")
    return params


def _pool(spec: LearnerSpec, given: Any) -> dict[str, Any] | None:
    if spec.kernels != "pool":
        return None
    if isinstance(given, str):
        if given not in (names := kernel_pools.pool_names()):
            near = suggest(given, names) or f"; known: {', '.join(names)}"
            raise UserError(f"pool={given!r}: unknown kernel pool{near}")
        chosen = pool(given)
    else:
        parts = (
            {"normalise": "none", **given}
            if isinstance(given, dict)
            else {"normalise": "none", "kernels": given}
        )
        for key in parts.keys() - kernel_pools.PARTS.keys() - {"name", "label"}:
            raise ValueError(f"pool: unknown key '{key}'; a pool has normalise and kernels")
        try:
            kernels = check_kernels(parts.get("kernels"))
            normalise = kernel_pools.PARTS["normalise"](parts["normalise"])
        except ValueError as error:
            raise ValueError(f"pool: {error}") from None
        chosen = {"name": "given", "normalise": normalise, "kernels": kernels}
    spec.check_pool(chosen)
    return {key: chosen[key] for key in kernel_pools.PARTS}
