"""Saved models: a file with a learner's header and arrays, no pickle, checked before anything is made of it.

omkl model 4\n
sha256 of the rest, in hex\n
length of the header, 8 bytes little-endian
the header, JSON: {"model": as of `pack`, "about": whatever the writer says, "arrays": [...]}
the arrays one after another, little-endian, in the order of the header: [name, type, shape], compressed by
zlib (of a symmetric matrix a learner keeps one half)

"model" says learner, revision, hyperparameters, kernels, number of features and (above two) of classes,
block, scaling, and the state of the random generator. The arrays are those of `omkl.state.state`, those
of the scaling, whose names begin with a point, and those of widths in medians (`omkl.passes.widths`), whose
names begin with @. A stack has the same of each member, whose arrays begin with its number, and "shared", the
scalings of their rows.
"""

import copyreg
import hashlib
import json
import math
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl import conf
from omkl.config import Setting, members_of
from omkl.config.kernel_kinds import PARTS, is_one
from omkl.config.learners import LearnerSpec, learner_names, learner_spec
from omkl.data.dataset import MANY
from omkl.data.preparing.labels import MOST_CLASSES
from omkl.engine.expansion import BLOCK
from omkl.errors import UserError, show, suggest
from omkl.files import replacing
from omkl.passes.learner import Learner
from omkl.passes.model import stored_vectors
from omkl.passes.overflow import check_arrays, check_rows, growth
from omkl.passes.scaling import Scaling
from omkl.passes.source import source
from omkl.passes.stacked import Stack, shared_scalings
from omkl.passes.widths import MARK
from omkl.state.resource import Arrays
from omkl.state.state import add_classes, save


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
    header: dict[str, Any], spec: LearnerSpec, params: dict, d: int, arrays: Arrays, classes: int, **how: Any
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
    return Stack(spec, params, d, 0, members, scalings, shared, classes=classes, saved=rest, **how)


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
    scaling = (
        Scaling.load(header.get("scaling"), of_scaling, d) if of_scaling or "scaling" in header else None
    )
    how: Any = {"block": block, "classes": classes, "scaling": scaling}
    if spec.is_stack:
        learner: Learner = _stack(header, spec, params, d, arrays=state, **how)
    else:
        learner = Learner(spec, params, pool, d, 0, saved=state, **how)
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


def _reduced(learner: Any) -> tuple[Any, ...]:
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
    if header.get("source", "") != source(spec, header.get("params") or {}):
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


MEMBER, SHARED = ":", "shared"  # in the names of arrays: of a stack's members, of the scaling they share
MAGIC = b"omkl model 4\n"
# ------------------------------------------------------------------ the file

_TYPES = ("<f8", "<i8", "<i4", "<u8")
_LONGEST_HEADER = 2**26
MOST_TIMES = 1032  # as many bytes as zlib makes of one


def write_model(path: Path | str, learner: Learner, about: dict[str, Any]) -> None:
    """Save a learner; about: JSON that `read` gives back. The file is replaced in one step.

    Raises Overflow for a learner that the last rounds made useless: `read` would refuse it.
    """
    header, arrays = pack(learner)
    check_arrays(arrays)
    arrays = {
        name: np.ascontiguousarray(array).astype(_little(array), copy=False) for name, array in arrays.items()
    }
    shapes = [[name, _little(array), list(array.shape)] for name, array in arrays.items()]
    text = json.dumps({"model": header, "about": about, "arrays": shapes}, allow_nan=True).encode()
    compressor = zlib.compressobj(1)
    packed = [compressor.compress(array.tobytes()) for array in arrays.values()]
    pieces = [len(text).to_bytes(8, "little"), text, *packed, compressor.flush()]
    digest = hashlib.sha256()
    for part in pieces:
        digest.update(part)
    with replacing(Path(path)) as file:
        file.write(MAGIC + digest.hexdigest().encode() + b"\n")
        for part in pieces:
            file.write(part)


def _little(array: np.ndarray) -> str:
    return array.dtype.newbyteorder("<").str


def read_model(path: Path | str) -> tuple[Learner, dict[str, Any]]:
    """Return the learner of a saved model and what its writer said about it.

    Raises UserError, with the file's name, for a file that cannot be read, is damaged, or is no model.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if not content.startswith(MAGIC):
        is_model = content.startswith(b"omkl model ")
        what = "a model of another version of omkl" if is_model else "not a model of omkl"
        raise UserError(f"{path} is {what}; name a file that `omkl fit` saved")
    start = len(MAGIC) + 65
    if hashlib.sha256(content[start:]).hexdigest().encode() + b"\n" != content[len(MAGIC) : start]:
        raise UserError(f"{path} is damaged: its content does not match its hash; save the model again")
    try:
        header, arrays = _parsed(memoryview(content)[start:])
        model, about = header.get("model"), header.get("about")
        if not isinstance(model, dict) or not isinstance(about, dict):
            raise ValueError("the header has no model")
        _check_about(about, model)
        learner = unpack(model, arrays)
    except MemoryError:
        raise UserError(f"{path} is not a valid model: it needs more memory than there is") from None
    except (ValueError, OverflowError, RecursionError) as error:
        raise UserError(f"{path} is not a valid model: {error}") from None
    return learner, about


def _check_about(about: dict[str, Any], model: dict[str, Any]) -> None:
    """Raise ValueError where what is said of the data does not fit the learner's header.

    The room that a learner needs for more than two classes is bounded by the names that the file has of them.
    """
    task, classes, features = (about.get(name) for name in ("task", "classes", "features"))
    count = model.get("classes", 2)
    if classes is None and (task == "classification" or count != 2):
        raise ValueError("the names of its classes are missing")
    if classes is not None and not (_are_names(classes, (str, int, float, bool)) and len(classes) == count):
        raise ValueError(f"its classes are not {show(count)} different names")
    if features is not None and not (_are_names(features, (str,)) and len(features) == model.get("d")):
        raise ValueError(f"its features are not {show(model.get('d'))} different names")


def _are_names(values: Any, kinds: tuple[type, ...]) -> bool:
    return (
        isinstance(values, list)
        and all(type(value) in kinds and value == value for value in values)
        and len(set(values)) == len(values)
    )


def _parsed(content: memoryview) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(len(content) - 8, _LONGEST_HEADER):
        raise ValueError("the header is longer than the file")
    header = json.loads(bytes(content[8 : 8 + length]))
    shapes = header.get("arrays") if isinstance(header, dict) else None
    if not isinstance(shapes, list):
        raise ValueError("the header has no table of arrays")
    sizes: dict[str, int] = {}
    for entry in shapes:
        name, kind, shape = entry if isinstance(entry, list) and len(entry) == 3 else (None, None, None)
        sides = shape if isinstance(shape, list) and len(shape) <= 4 else [-1]
        if (
            not isinstance(name, str)
            or kind not in _TYPES
            or not all(type(n) is int and n >= 0 for n in sides)
        ):
            raise ValueError("an array has no name, type or shape")
        if name in sizes:
            raise ValueError(f"the array '{name}' is given twice")
        sizes[name] = math.prod(sides) * np.dtype(kind).itemsize
    unpacked = _unpacked(content[8 + length :], sum(sizes.values()))
    arrays, at = {}, 0
    for name, kind, sides in shapes:
        array = np.frombuffer(unpacked, kind, math.prod(sides), at)
        arrays[name] = array.reshape(sides).astype(np.dtype(kind).newbyteorder("="))
        at += sizes[name]
    return header, arrays


def _unpacked(packed: memoryview, size: int) -> bytes:
    """Return so many bytes that zlib packed. Raises ValueError where they are fewer, or more."""
    unpacked = b""
    if size <= MOST_TIMES * len(packed):
        try:
            unpacked = zlib.decompressobj().decompress(packed, size + 1)
        except zlib.error:
            raise ValueError("its arrays are broken") from None
    if len(unpacked) != size:
        raise ValueError("its arrays are longer or shorter than its header says")
    return unpacked
