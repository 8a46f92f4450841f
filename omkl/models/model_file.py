"""Saved models: a file with a learner's header and arrays, no pickle, checked before anything is made of it.

omkl model 4\n
sha256 of the rest, in hex\n
length of the header, 8 bytes little-endian
the header, JSON: {"model": as of `pack`, "about": whatever the writer says, "arrays": [...]}
the arrays one after another, little-endian, in the order of the header: [name, type, shape], compressed by
zlib (of a symmetric matrix a learner keeps one half)

"model" says learner, revision, hyperparameters, kernels, number of features and (above two) of classes,
block, scaling, and the state of the random generator. The arrays are those of `omkl.state.saved`, those
of the scaling, whose names begin with a point, and those of widths in medians (`omkl.rounds.widths`), whose
names begin with @. A stack has the same of each member, whose arrays begin with its number, and "shared", the
scalings of their rows.
"""

import hashlib
import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from omkl.errors import UserError, show
from omkl.files import replacing
from omkl.passes.packing import pack, unpack
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import check_arrays

MAGIC = b"omkl model 4\n"
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
