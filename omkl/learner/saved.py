"""A learner as a header and arrays, and the learner made of them again: what saved models and pickles hold.

The header is JSON: learner, revision, hyperparameters, kernels, number of features and (above two) of
classes, block, and the state of the random generator. The arrays are those of `omkl.engine.saved_arrays`,
named ``RESOURCE.ARRAY``.
"""

import copyreg
from typing import Any

import numpy as np

from omkl.config import compose
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import learner_names, learner_spec
from omkl.config.spec import LearnerSpec
from omkl.config.state import ArrayForm, dictionaries, follows
from omkl.data.dataset import MANY
from omkl.data.labels import MOST_CLASSES
from omkl.engine.budget_record import Budget
from omkl.engine.saved_arrays import Arrays, from_arrays, to_arrays
from omkl.errors import UserError, show, suggest
from omkl.learner.learner import Learner
from omkl.learner.resources import Setup, bytes_needed, memory
from omkl.learner.source import source


def pack(learner: Learner) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a learner; the arrays may be views of its own."""
    arrays: Arrays = {}
    for name, resource in learner.state.items():
        if name != "rng":
            arrays |= {f"{name}.{part}": array for part, array in to_arrays(resource).items()}
    return {
        "learner": learner.spec.name,
        "revision": learner.spec.revision,
        **({"source": own} if (own := source(learner.spec)) else {}),
        "params": learner.params,
        "pool": learner.pool and {part: learner.pool[part] for part in PARTS},
        "d": learner.d,
        **({"classes": learner.classes} if learner.classes > 2 else {}),
        "block": learner.block,
        "rng": learner.state["rng"].bit_generator.state,
    }, arrays


def unpack(header: dict[str, Any], arrays: Arrays) -> Learner:
    """Return the learner of a header and arrays, which may come from a file that somebody else wrote.

    Raises ValueError for anything that `pack` would not have written, UserError for a learner that is not
    known here, and for one of another revision.
    """
    spec = _spec(header)
    params, pool, d = _params(header, spec), _pool(header, spec), header.get("d")
    if type(d) is not int or not 0 <= d <= MANY:
        raise ValueError(f"d must be a whole number in [0, {MANY}], got {d!r}")
    block = header.get("block")
    if type(block) is not int or not 1 <= block <= 65536:
        raise ValueError(f"block must be a whole number in [1, 65536], got {block!r}")
    classes = header.get("classes", 2)
    if type(classes) is not int or not 2 <= classes <= MOST_CLASSES or not spec.takes(classes):
        raise ValueError(f"classes must be a number that {spec.name} takes, got {classes!r}")
    if sum(bytes_needed(spec.state, Setup(params, pool, d, classes=classes)).values()) > memory():
        raise ValueError("the learner's state is larger than this machine's memory")
    learner = Learner(spec, params, pool, d, 0, block, classes=classes)
    learner.state["rng"].bit_generator.state = _generator(header.get("rng"))
    parts: dict[str, Arrays] = {name: {} for name in learner.state}
    for name, array in arrays.items():
        resource, _, part = name.partition(".")
        if resource == "rng" or resource not in parts:
            raise ValueError(f"{spec.name} has no array '{name}'")
        parts[resource][part] = array
    growing = dictionaries(spec.state)
    for name in sorted(parts, key=lambda name: name not in growing):  # their sizes are those of others
        given, form = parts[name], spec.state.get(name)
        if name == "rng":
            continue
        fresh = learner.state[name]
        if isinstance(form, ArrayForm) and follows(form, spec.state):
            slots = {other: len(learner.state[other].A) for other in growing}
            shape = Setup(params, pool, d, slots=slots, classes=classes).shape(form)
            fresh = np.broadcast_to(np.zeros((), fresh.dtype), shape)  # of no size in memory
        if isinstance(form, ArrayForm) and form.grows:
            most = Setup(params, pool, d).length(form.shape[-1])
            fresh = np.zeros((*fresh.shape[:-1], min(most, given[""].shape[-1] if "" in given else 0)))
        learner.state[name] = from_arrays(fresh, given, name)
    for name, form in spec.state.items():
        terms = learner.classifiers
        if isinstance(form, ArrayForm) and form.grows and isinstance(terms, Budget):
            _check_window(learner.state[name], learner.state[form.grows], int(terms.n_sv.max()))
    return learner


def snapshot(learner: Learner) -> tuple[dict[str, Any], Arrays]:
    """Return what `pack` does, with arrays of its own: the learner may go on in another thread."""
    with learner.lock:
        header, arrays = pack(learner)
        return header, {name: array.copy() for name, array in arrays.items()}


# Pickles (and deep copies) of a learner hold the same: whoever can hold one imports this module.
copyreg.pickle(Learner, lambda learner: (unpack, snapshot(learner)))


def _spec(header: dict[str, Any]) -> LearnerSpec:
    name, revision = header.get("learner"), header.get("revision")
    if not isinstance(name, str):
        raise ValueError("the learner's name is missing")
    if name not in learner_names():
        hint = suggest(name, learner_names())
        unknown = f"the unknown learner {show(name)}{hint}"
        raise UserError(f"the model needs {unknown}; name its folder with --with DIR")
    spec = learner_spec(name)
    if revision != spec.revision:
        raise UserError(
            f"the model is of revision {revision!r} of {name}, this omkl has revision {spec.revision}; "
            "train it again"
        )
    if spec.estimator:
        raise ValueError(f"{name} is an estimator of another package, which no model holds")
    if header.get("source", "") != source(spec):
        raise UserError(
            f"the model is of another source of {name} than {compose.file('algo', name)}; train it again"
        )
    return spec


def _params(header: dict[str, Any], spec: LearnerSpec) -> dict[str, Any]:
    params = header.get("params")
    if not isinstance(params, dict) or params.keys() != spec.hyperparameters.keys():
        raise ValueError(f"the hyperparameters are not those of {spec.name}")
    checked = {}
    for name, parameter in spec.hyperparameters.items():
        try:
            checked[name] = parameter.check(params[name])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if name == spec.budget and not isinstance(checked[name], int):
            raise ValueError(f"{name}: must be a whole number")
    spec.check_together(checked)
    return checked


def _pool(header: dict[str, Any], spec: LearnerSpec) -> dict[str, Any] | None:
    pool = header.get("pool")
    if spec.kernels == "none":
        if pool is not None:
            raise ValueError(f"{spec.name} has no kernels")
        return None
    if not isinstance(pool, dict) or pool.keys() != PARTS.keys():
        raise ValueError("the kernels must be a mapping of normalise and kernels")
    checked = {part: check(pool[part]) for part, check in PARTS.items()}
    spec.check_pool({"name": "of the model", **checked})
    return checked


def _generator(state: Any) -> dict[str, Any]:
    """Return the state of a PCG64, checked."""
    fields = {"state": 2**128, "inc": 2**128}
    rest = {"has_uint32": 2, "uinteger": 2**32}

    def numbers(part: Any, limits: dict[str, int]) -> bool:
        return isinstance(part, dict) and all(
            type(part.get(name)) is int and 0 <= part[name] < limit for name, limit in limits.items()
        )

    if (
        not numbers(state, rest)
        or state.get("bit_generator") != "PCG64"
        or not numbers(state.get("state"), fields)
    ):
        raise ValueError("the state of the random generator is not that of a PCG64")
    return {
        "bit_generator": "PCG64",
        "state": {name: state["state"][name] for name in fields},
        **{name: state[name] for name in rest},
    }


def _check_window(window: np.ndarray, now: np.ndarray, used: int) -> None:
    """Check the rounds in which the terms of a window were born: NORMA looks up powers by their age."""
    born, width = window[0, :used], window.shape[-1]
    whole = (born == np.floor(born)) & (now[0] - width <= born) & (born >= 0) & (born < now[0])
    if used > width or not 0 <= now[1] <= now[0] or not whole.all():
        raise ValueError("the rounds of the window's terms do not fit the rounds learnt")
