"""A learner as a header and arrays, and the learner made of them again: what saved models and pickles hold.

The header is JSON: learner, revision, hyperparameters, kernels, number of features and (above two) of
classes, block, and the state of the random generator. The arrays are those of `omkl.resources.saved_state`.
"""

import copyreg
from typing import Any

from omkl.config import compose
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import LearnerSpec, learner_names, learner_spec
from omkl.data.dataset import MANY
from omkl.data.labels import MOST_CLASSES
from omkl.engine.expansion_record import BLOCK
from omkl.errors import UserError, show, suggest
from omkl.learner.learner import Learner
from omkl.learner.model import stored_vectors
from omkl.learner.ranges import check_rows
from omkl.learner.source import source
from omkl.resources.resource import Arrays, Setup
from omkl.resources.saved_state import add_classes, save


def pack(learner: Learner) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a learner; the arrays may be views of its own."""
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
    }, save(learner.resources, learner.state)


def unpack(header: dict[str, Any], arrays: Arrays) -> Learner:
    """Return the learner of a header and arrays, which may come from a file that somebody else wrote.

    Raises ValueError for anything that `pack` would not have written, UserError for a learner that is not
    known here, and for one of another revision.
    """
    spec = _spec(header)
    numbers = sum(array.size for array in arrays.values())  # a learner has at least one for each kernel
    params, pool, d = _params(header, spec), _pool(header, spec, numbers), header.get("d")
    if type(d) is not int or not 0 <= d <= MANY:
        raise ValueError(f"d must be a whole number in [0, {MANY}], got {d!r}")
    block = header.get("block")
    if type(block) is not int or not 1 <= block <= 65536:
        raise ValueError(f"block must be a whole number in [1, 65536], got {block!r}")
    classes = header.get("classes", 2)
    if type(classes) is not int or not 2 <= classes <= MOST_CLASSES or not spec.takes(classes):
        raise ValueError(f"classes must be a number that {spec.name} takes, got {classes!r}")
    block = min(block, BLOCK)  # it never changes a result, and larger ones take memory
    rng = _generator(header.get("rng"))
    learner = Learner(spec, params, pool, d, 0, block, classes=classes, saved=arrays)
    learner.state["rng"].bit_generator.state = rng
    if (stored := stored_vectors(learner)) is not None:
        check_rows(learner.growth, stored[1].indptr, stored[1].data)
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


def _pool(header: dict[str, Any], spec: LearnerSpec, most: int) -> dict[str, Any] | None:
    """Return the kernels, checked; most: how many there can be."""
    pool = header.get("pool")
    if spec.kernels == "none":
        if pool is not None:
            raise ValueError(f"{spec.name} has no kernels")
        return None
    if not isinstance(pool, dict) or pool.keys() != PARTS.keys():
        raise ValueError("the kernels must be a mapping of normalise and kernels")
    if not isinstance(pool["kernels"], list) or len(pool["kernels"]) > most:
        raise ValueError("the kernels must be a list, and not more than the arrays have numbers")
    if not all(map(_is_one, pool["kernels"])):
        raise ValueError("the kernels must be a list of kernels")
    checked = {part: check(pool[part]) for part, check in PARTS.items()}
    spec.check_pool({"name": "of the model", **checked})
    return checked


def _is_one(kernel: Any) -> bool:
    """Whether this is one kernel: a list in place of a number would stand for many."""
    return isinstance(kernel, dict) and not any(isinstance(value, list) for value in kernel.values())


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


def with_classes(learner: Learner, classes: int) -> Learner:
    """Return a learner of more than two classes with room for further ones, which begin where all began.

    Their numbers are those after the known ones. The state of the learner given is not used further.
    """
    header, arrays = snapshot(learner)
    setup = Setup(learner.params, learner.pool, learner.d, classes=classes)
    return unpack({**header, "classes": classes}, add_classes(learner.resources, arrays, setup))
