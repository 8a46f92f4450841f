"""A learner as a header and arrays, and the learner made of them again: what saved models and pickles hold.

The header is JSON: learner, revision, hyperparameters, kernels, number of features and (above two) of
classes, block, and the state of the random generator. The arrays are those of `omkl.engine.saved_arrays`,
named ``RESOURCE.ARRAY``.
"""

import copyreg
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from omkl.config import compose
from omkl.config.domains import interval
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import learner_names, learner_spec
from omkl.config.spec import LearnerSpec
from omkl.config.state import ArrayForm, ExpansionForm, FeaturesForm, Form, RoundsForm, dictionaries
from omkl.data.dataset import MANY
from omkl.data.labels import MOST_CLASSES
from omkl.engine.budget_record import Budget
from omkl.engine.expansion_record import BLOCK
from omkl.engine.saved_arrays import Arrays, from_arrays, to_arrays
from omkl.errors import UserError, show, suggest
from omkl.learner.learner import Learner
from omkl.learner.model import stored_vectors
from omkl.learner.ranges import check_rows
from omkl.learner.resources import Setup, absent, bytes_needed, make_one, memory
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
    setup = Setup(params, pool, d, block=block, classes=classes)
    state = _state(spec, setup, arrays)
    learner = Learner(spec, params, pool, d, 0, block, classes=classes, state=state)
    learner.state["rng"].bit_generator.state = _generator(header.get("rng"))
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


def _state(spec: LearnerSpec, setup: Setup, arrays: Arrays) -> dict[str, Any]:
    """Return the resources that these arrays are of. Nothing is made that is larger than the arrays are.

    The plain arrays come first, since they have as many numbers as there are kernels, features and slots.
    """
    forms, left_out = spec.state, absent(spec.state, setup.params)
    parts: dict[str, Arrays] = {name: {} for name in forms if name not in left_out}
    for name, array in arrays.items():
        resource, _, part = name.partition(".")
        if resource not in parts:
            raise ValueError(f"{spec.name} has no array '{name}'")
        parts[resource][part] = array
    setup = replace(setup, slots={name: _rows(parts[name], "A") for name in dictionaries(forms)})
    state: dict[str, Any] = {}
    for name, given in parts.items():
        if isinstance(form := forms[name], ArrayForm | RoundsForm):
            shape = _shape(form, setup, given)
            number = np.zeros((), np.int64 if isinstance(form, RoundsForm) or form.dtype == "int" else float)
            state[name] = from_arrays(np.broadcast_to(number, shape), given, name)
    if sum(bytes_needed(forms, setup).values()) > memory():
        raise ValueError("the learner's state is larger than this machine's memory")
    for name, given in parts.items():
        if name not in state:
            state[name] = from_arrays(_fresh(forms[name], setup, given, name), given, name)
    for name in state:
        if isinstance(form := forms[name], ArrayForm):
            _check_numbers(name, form, state)
    return {name: state[name] for name in forms if name in state}


def _shape(form: ArrayForm | RoundsForm, setup: Setup, given: Arrays) -> tuple[int, ...]:
    """Return the shape that an array must have; one that grows has the room of the array given."""
    if isinstance(form, RoundsForm):
        return (1,)
    shape = setup.shape(form)
    if form.grows and "" in given and given[""].ndim:
        return (*shape[:-1], min(setup.length(form.shape[-1]), given[""].shape[-1]))
    return shape


def _rows(given: Arrays, part: str) -> int:
    return len(given[part]) if part in given and given[part].ndim else 0


def _fresh(form: Form, setup: Setup, given: Arrays, name: str) -> Any:
    """Return an Expansion, a Budget or Features as it begins, if the arrays are for as many kernels."""
    if isinstance(form, FeaturesForm):
        D, V = setup.length(form.features), given.get("V")
        if V is None or V.shape != (setup.d, setup.m * D):
            raise ValueError(f"{name}: the array 'V' is not of shape {(setup.d, setup.m * D)}")
        setup = replace(setup, frequencies=V.T.reshape(setup.m, D, setup.d))
    else:
        copies = setup.length(form.copies) if isinstance(form, ExpansionForm) and form.copies else 1
        if _rows(given, "n_sv") != copies * setup.m:
            raise ValueError(f"{name}: the array 'n_sv' is not of shape {(copies * setup.m,)}")
    return make_one(form, setup)


def _check_numbers(name: str, form: ArrayForm, state: Mapping[str, Any]) -> None:
    """Raise ValueError where the numbers of an array are not what its form says of them."""
    array = state[name]
    try:
        if form.domain is not None and array.size:
            check = interval(form.domain)
            check(array.min().item())
            check(array.max().item())
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if form.gram is not None:
        matrices, counts = array.reshape(-1, *array.shape[-2:]), state[form.gram].n_sv
        if any((np.diag(G)[:n] <= 0.0).any() for G, n in zip(matrices, counts, strict=True)):
            raise ValueError(f"{name}: a factored Gram matrix has a diagonal that is not positive")
    if form.grows is not None:
        terms = next((part for part in state.values() if isinstance(part, Budget)), None)
        if terms is not None:
            _check_window(array, state[form.grows], int(terms.n_sv.max()), int(terms.limit[0]))


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


def _check_window(window: np.ndarray, now: np.ndarray, used: int, tau: int) -> None:
    """Check the rounds in which the terms of a window were born: NORMA looks up powers by their age."""
    born, width = window[0, :used], window.shape[-1]
    whole = (born == np.floor(born)) & (now[0] - width <= born) & (born >= 0) & (born < now[0])
    fits = used <= width and width >= min(tau, now[0]) and now[1] <= now[0]
    if not fits or not whole.all() or np.unique(born).size < born.size:
        raise ValueError("the rounds of the window's terms do not fit the rounds learnt")
