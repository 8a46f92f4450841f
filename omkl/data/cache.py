"""Parsed copies of data sets: uncompressed .npz without pickle, memory-mapped by the workers.

A copy's name is a hash of its origin (files with sizes and times, preparation, parser), so a copy
never changes. Two processes that write one at the same time write the same, and the later rename wins.

A copy is not trusted, because the disk or a person may have changed it. The bounds that compiled code relies
on are checked whenever it is opened, the numbers (content hash) when a process first opens it. The seal, a
hash of the rest and of the file name, reveals changed descriptions and swapped copies.
"""

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import struct
import sys
import time
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from omkl.data.dataset import Dataset, content_hash
from omkl.data.parse import array_header, decoding
from omkl.data.preparation import Preparation
from omkl.data.registry import Form
from omkl.errors import OmklError
from omkl.files import replacing
from omkl.paths import cache_folder

PARSER = 10  # raised when parsing or preparing the same file gives another result, or the copy another form
ALIGNMENT = 64
ARRAYS = {"indptr": np.int64, "indices": np.int32, "values": np.float64, "y": np.float64}
KEEP_SECONDS = 86_400.0  # copies of an earlier state of the same file may still be mapped by a run

_verified: set[tuple] = set()  # copies whose numbers this process has hashed


def parsed_path(
    name: str, form: Form | Preparation, paths: Sequence[Path], task: str = "classification"
) -> Path:
    """Return where the parsed copy of these files, prepared in this way, is or would be."""
    files = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    how: dict[str, Any] = {"parser": PARSER, "byteorder": sys.byteorder, "task": task}
    how["form"] = dataclasses.asdict(form)
    if getattr(form, "format", None) == "sklearn":
        import importlib.metadata

        how["sklearn"] = importlib.metadata.version("scikit-learn")
    source = _digest([name, [file[0] for file in files]], 8)
    return cache_folder() / "parsed" / f"{name[:80]}-{source}-{_digest([how, files], 16)}.npz"


def path_in_memory(name: str, task: str, digest: str) -> Path:
    """Return where the copy of data in memory is or would be, by their content hash."""
    return cache_folder() / "parsed" / f"memory-{_digest([name, task, PARSER], 8)}-{digest[:16]}.npz"


def _digest(value: object, length: int) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:length]


def write_parsed(dataset: Dataset, path: Path) -> Path | None:
    """Write the parsed copy in one rename; return its path, or None where the folder cannot be written."""
    meta = {"name": dataset.name, "d": dataset.d, "task": dataset.task, "content_hash": dataset.content_hash}
    meta |= {"notes": list(dataset.notes), "T": dataset.T, "nnz": dataset.nnz, "classes": dataset.classes}
    meta["index_base"] = dataset.index_base
    meta["seal"] = _seal(meta, path)
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            _add(archive, file, "meta", np.array(json.dumps(meta)))
            for key, dtype in ARRAYS.items():
                _add(archive, file, key, np.ascontiguousarray(getattr(dataset, key), dtype=dtype))
    except OSError:
        return None
    source = path.name.rpartition("-")[0]
    for old in path.parent.glob(f"{source}-*.npz"):
        if old != path and time.time() - old.stat().st_mtime > KEEP_SECONDS:
            old.unlink(missing_ok=True)
    return path


def _seal(meta: dict[str, Any], path: Path) -> str:
    """Return the hash of a copy's name and of its description."""
    return _digest([path.name, {key: value for key, value in meta.items() if key != "seal"}], 32)


def _add(archive: zipfile.ZipFile, file: IO[bytes], key: str, array: np.ndarray) -> None:
    """Add an array whose numbers begin at a multiple of ALIGNMENT: mapped arrays are aligned then."""
    member = zipfile.ZipInfo(f"{key}.npy")
    member.file_size = array.nbytes + 1024  # lets zipfile choose its 64-bit form beforehand
    zip64 = 20 if member.file_size * 1.05 > zipfile.ZIP64_LIMIT else 0
    padding = -(file.tell() + 30 + len(member.filename) + zip64 + 4) % ALIGNMENT
    member.extra = struct.pack("<HH", 0xD935, padding) + b"\0" * padding  # the field zipalign uses
    with archive.open(member, "w") as stream:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def read_parsed(path: Path) -> Dataset:
    """Return the data set of a parsed copy, its arrays memory-mapped (copy on write: never changed on disk).

    Raises OmklError when the file is missing, torn, changed, or not the copy that its name says it is.
    """
    fault = decoding(path, "not a readable parsed copy", OmklError)
    with fault, open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        state = os.fstat(file.fileno())
        with archive.open("meta.npy") as stream:
            meta = json.loads(str(np.lib.format.read_array(stream, allow_pickle=False)))
        if meta.get("seal") != _seal(meta, path):
            raise ValueError("its description was changed, or it is the copy of another file")
        arrays = [_map(file, archive.getinfo(f"{key}.npy"), state.st_size) for key in ARRAYS]
        lengths = (meta["T"] + 1, meta["nnz"], meta["nnz"], meta["T"])
        for (key, dtype), array, length in zip(ARRAYS.items(), arrays, lengths, strict=True):
            if array.dtype != dtype or array.shape != (length,):
                raise ValueError(f"{key} is {array.dtype} {array.shape}")
        indptr, indices, values, y = arrays
        _check_bounds(indptr, indices, meta["d"])
        opened = (str(path), state.st_dev, state.st_ino, state.st_size, state.st_ctime_ns)
        if opened not in _verified:
            known = meta["content_hash"]  # of a registered set without d
            if all(known != content_hash(indptr, indices, values, y, d) for d in (0, meta["d"])):
                raise ValueError("its numbers were changed: they have another content hash")
            _verified.add(opened)
        classes = tuple(meta["classes"]) if meta["classes"] else None
        about = (meta["d"], meta["task"], meta["content_hash"], path, tuple(meta["notes"]), classes)
        return Dataset(meta["name"], indptr, indices, values, y, *about, meta["index_base"])


def _check_bounds(indptr: np.ndarray, indices: np.ndarray, d: int) -> None:
    """Raise ValueError for rows or columns out of bounds: compiled code does not check before it reads."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("indptr does not fit")
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError(f"an index lies outside 0..{d - 1}")


def read_or_none(path: Path) -> Dataset | None:
    """Return the data set of a parsed copy, or None where there is none.

    A damaged copy (by a crash, a full disk or an edit) is deleted, with a warning.
    """
    if not path.is_file():
        return None
    try:
        return read_parsed(path)
    except OmklError as error:
        warnings.warn(f"{error}; it is deleted and the source is parsed again", stacklevel=2)
        with contextlib.suppress(OSError):  # a read-only cache: the copy is not used either
            path.unlink()
        return None


def _map(file: IO[bytes], member: zipfile.ZipInfo, size: int) -> np.ndarray:
    """Map one stored member: its place follows from the zip's local header and the .npy header."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{member.filename} is compressed")
    file.seek(member.header_offset)
    header = file.read(30)
    if header[:4] != b"PK\x03\x04":
        raise ValueError(f"{member.filename}: no local header")
    name, extra = struct.unpack("<HH", header[26:30])
    file.seek(member.header_offset + 30 + name + extra)
    shape, dtype = array_header(file)
    start, count = file.tell(), math.prod(shape)
    if dtype.hasobject or start + count * dtype.itemsize > size:
        raise ValueError(f"{member.filename} reaches beyond the file")
    if count == 0:
        return np.empty(shape, dtype)
    mapped = np.asarray(np.memmap(file, dtype=dtype, mode="c", offset=start, shape=shape))
    return mapped if start % ALIGNMENT == 0 else mapped.copy()
