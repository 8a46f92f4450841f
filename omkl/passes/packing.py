"""A learner as a header and arrays: what its copies, its pickles and model files hold."""

import copyreg
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from omkl import conf
from omkl.config import Setting, members_of
from omkl.config.kernel_kinds import PARTS, is_one
from omkl.config.learners import LearnerSpec, learner_names, learner_spec
from omkl.data.dataset import MANY
from omkl.data.preparing.labels import MOST_CLASSES
from omkl.engine.expansion import BLOCK
from omkl.errors import UserError, show, suggest
from omkl.passes.source import source
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import check_rows, growth
from omkl.rounds.scaling import Scaling
from omkl.rounds.steps import Step
from omkl.rounds.support_vectors import stored_vectors
from omkl.rounds.widths import MARK
from omkl.stacks.stack import Members, Stack, shared_scalings
from omkl.state.resource import Arrays
from omkl.state.saved import add_classes, save

MEMBER, SHARED = ":", "shared"  # in the names of arrays: of a stack's members, of the scaling they share


def pack(learner: Learner) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a learner; the arrays may be views of its own."""
    members, arrays = _packed_members(learner)
    arrays |= learner.widths.arrays() if learner.widths else {}
    return {
        "learner": learner.spec.name,
        "revision": learner.spec.revision,
        **({"source": text} if (text := source(learner.spec, learner.params)) else {}),
        "params": learner.params,
        "pool": learner.pool and {part: learner.pool[part] for part in PARTS},
        "d": learner.d,
        **({"classes": learner.classes} if learner.classes > 2 else {}),
        "block": learner.block,
        "rng": learner.state["rng"].bit_generator.state,
        **({"scaling": learner.scaling.header()} if learner.scaling else {}),
        **members,
    }, save(learner.resources, learner.state) | (learner.scaling.arrays() if learner.scaling else {}) | arrays


def _packed_members(learner: Learner) -> tuple[dict[str, Any], Arrays]:
    """Return what the header says of a stack's members and of the scaling that they share, and the arrays."""
    if not isinstance(learner, Stack):
        return {}, {}
    headers: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for number, member in enumerate(learner.members):
        if not isinstance(member, Learner):
            raise not_to_be_saved(member.spec)
        header, packed = pack(member)
        headers.append(header)
        arrays |= {f"{number}{MEMBER}{name}": array for name, array in packed.items()}
    for word, scaling in learner.shared.items():
        arrays |= {f"{SHARED}{word}{name}": array for name, array in scaling.arrays().items()}
    shared = [scaling.header() for scaling in learner.shared.values()]
    return {"members": headers, "shared": shared}, arrays


def not_to_be_saved(member: LearnerSpec) -> UserError:
    """Return the error for a stack's member of another package."""
    return UserError(
        f"a model with the member {member.name} cannot be saved, as its package does not say what it has "
        "learnt; omkl.fit(...) trains and uses one in Python"
    )


def _parts(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _stack(
    header: dict[str, Any],
    spec: LearnerSpec,
    params: dict,
    d: int,
    arrays: Arrays,
    block: int,
    classes: int,
    steps: Sequence[Step],
) -> Stack:
    """Return the stack of a header and arrays, as `unpack`."""
    headers, known = header.get("members"), iter(members_of(spec, params))
    if not isinstance(headers, list) or not headers:
        raise ValueError("its members are not those of its hyperparameters")
    members, settings = [], []
    for number, head in enumerate(headers):
        if not isinstance(head, dict) or "members" in head:
            raise ValueError("a member of a stack is no learner")
        member = unpack(head, _parts(arrays, f"{number}{MEMBER}"))
        if (member.d, member.classes) != (d, classes):
            raise ValueError(f"its member {number + 1} is of other columns or classes")
        setting = next((setting for setting in known if _is_of(member, setting)), None)
        if setting is None:
            raise ValueError(f"its member {number + 1} is not the one of its hyperparameters")
        members.append(member)
        settings.append(setting)
    scalings, of_rows = [setting.scaling.get("scale") for setting in settings], header.get("shared")
    if not isinstance(of_rows, list) or not all(isinstance(head, dict) for head in of_rows):
        raise ValueError("the scalings of its members are broken")
    words = [head.get("scale") for head in of_rows]
    if words != shared_scalings(spec, scalings, of_rows[0].get("gaps") if of_rows else None):
        raise ValueError("the scalings of its members are others")
    shared = {
        word: Scaling.load(head, _parts(arrays, f"{SHARED}{word}"), d)
        for word, head in zip(words, of_rows, strict=True)
    }
    rest = {
        name: array for name, array in arrays.items() if MEMBER not in name and not name.startswith(SHARED)
    }
    of_members = Members(members, scalings, shared, 1)
    return Stack(spec, params, d, 0, of_members, block=block, classes=classes, saved=rest, steps=steps)


def _is_of(member: Learner, setting: Setting) -> bool:
    """Whether a learner is the member of a stack that a setting says; large ones may have been left out."""
    kernels = setting.kernel_pool and {part: setting.kernel_pool[part] for part in PARTS}
    return (member.spec.name, member.params, member.pool) == (setting.learner, setting.params, kernels)


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
    of_scaling, state = _beside(arrays, ".")
    steps = []
    if of_scaling or "scaling" in header:
        steps.append(Scaling.load(header.get("scaling"), of_scaling, d))
    if spec.is_stack:
        learner: Learner = _stack(header, spec, params, d, state, block, classes, steps)
    else:
        learner = Learner(spec, params, pool, d, 0, block, classes=classes, saved=state, steps=steps)
    learner.state["rng"].bit_generator.state = rng
    if (stored := stored_vectors(learner)) is not None:
        check_rows(growth(pool["kernels"] if pool else []), stored[1].indptr, stored[1].data)
    if learner.widths is not None:
        check_rows(growth(pool["kernels"] if pool else []), learner.widths.indptr, learner.widths.values)
    return learner


def _beside(arrays: Arrays, *marks: str) -> tuple[Arrays, Arrays]:
    """Return the arrays whose names begin with a mark, those of a scaling or of widths, and the others."""
    beside = {name: array for name, array in arrays.items() if name.startswith(marks)}
    return beside, {name: array for name, array in arrays.items() if name not in beside}


def snapshot(learner: Learner) -> tuple[dict[str, Any], Arrays]:
    """Return what `pack` does, with arrays of its own: the learner may go on in another thread."""
    with learner.lock:
        header, arrays = pack(learner)
        return header, {name: array.copy() for name, array in arrays.items()}


# Pickles (and deep copies) of a learner hold the same: whoever can hold one imports this module.
def _reduced(learner: Learner) -> tuple[Any, ...]:
    return unpack, snapshot(learner)


copyreg.pickle(Learner, _reduced)


copyreg.pickle(Stack, _reduced)


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
            f"the model is of revision {revision!r} of {name}, but this omkl has revision {spec.revision}; "
            "train it again"
        )
    if spec.estimator:
        raise ValueError(f"{name} is an estimator of another package, which no model holds")
    params = _params(header, spec) if spec.is_stack else None  # they name its members
    if header.get("source", "") != source(spec, params):
        raise UserError(
            f"the model was made with another source of {name} than {conf.file('algo', name)}; train it again"
        )
    return spec


def _params(header: dict[str, Any], spec: LearnerSpec) -> dict[str, Any]:
    params = header.get("params")
    if not isinstance(params, dict) or params.keys() != spec.hyperparameters.keys():
        raise ValueError(f"the hyperparameters are not those of {spec.name}")
    return spec.checked(params)


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
    if not all(map(is_one, pool["kernels"])):
        raise ValueError("the kernels must be a list of kernels")
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


def with_classes(learner: Learner, classes: int) -> Learner:
    """Return a learner of more than two classes with room for further ones, which begin where all began.

    Their numbers are those after the known ones. The state of the learner given is not used further.
    """
    header, arrays = snapshot(learner)
    return unpack(*_widened(learner, header, arrays, classes))


def _widened(
    learner: Learner, header: dict[str, Any], arrays: Arrays, classes: int
) -> tuple[dict[str, Any], Arrays]:
    setup = replace(learner.setup(learner.state["rng"]), classes=classes)
    inner = {name: array for name, array in arrays.items() if MEMBER in name or name.startswith(SHARED)}
    beside, state = _beside({name: array for name, array in arrays.items() if name not in inner}, ".", MARK)
    headers = []
    for number, member in enumerate(learner.members):
        prefix = f"{number}{MEMBER}"
        more = _widened(member, header["members"][number], _parts(inner, prefix), classes)
        headers.append(more[0])
        inner |= {f"{prefix}{name}": array for name, array in more[1].items()}
    members = {"members": headers} if headers else {}
    return {**header, "classes": classes, **members}, add_classes(
        learner.resources, state, setup
    ) | beside | inner
