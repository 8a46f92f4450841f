"""Parsed copies of data sets: a folder of .npy files each, which the workers map.

A copy's name is a hash of its origin (files with sizes and times, preparation, parser), so a copy never
changes. Of two processes that write one at the same time, the second keeps that of the first.

The disk or a person may have changed a copy: its numbers (content hash) are checked when a process first
opens it, or its files have changed since.
"""

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.dataset import Dataset, content_hash
from omkl.data.preparation import Preparation
from omkl.data.reading.numbered import decoding
from omkl.data.registry import Form
from omkl.errors import OmklError
from omkl.paths import cache_folder

PARSER = 17  # raised when parsing or preparing the same file gives another result, or the copy another form
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
    source = _digest([name, [file[0] for file in files]], 8)
    return cache_folder() / "parsed" / f"{name[:80]}-{source}-{_digest([how, files], 16)}"


def path_in_memory(name: str, task: str, dataset: Dataset) -> Path:
    """Return where the copy of data in memory is or would be, by their content and what it is called."""
    content = f"{dataset.content_hash[:16]}{dataset.told}"
    return cache_folder() / "parsed" / f"memory-{_digest([name, task, PARSER], 8)}-{content}"


def _digest(value: object, length: int) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:length]


def write_parsed(dataset: Dataset, path: Path) -> Path | None:
    """Write the parsed copy in one rename; return its path, or None where the folder cannot be written."""
    keys = [field.name for field in dataclasses.fields(Dataset) if field.name not in (*ARRAYS, "path")]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        source = path.name.rpartition("-")[0]
        for old in path.parent.glob(f"{source}-*"):  # unfinished ones, too
            with contextlib.suppress(FileNotFoundError):  # another process removes them, too
                if old != path and time.time() - old.stat().st_mtime > KEEP_SECONDS:
                    shutil.rmtree(old, ignore_errors=True)
        with tempfile.TemporaryDirectory(
            dir=path.parent, prefix=f"{source}-", ignore_cleanup_errors=True
        ) as folder:
            for key, dtype in ARRAYS.items():
                np.save(
                    Path(folder, f"{key}.npy"), np.asarray(getattr(dataset, key), dtype), allow_pickle=False
                )
            text = json.dumps({key: getattr(dataset, key) for key in keys})
            Path(folder, "meta.json").write_text(text, encoding="utf-8")
            os.chmod(folder, 0o755)  # as other folders of the cache
            with contextlib.suppress(FileExistsError):
                os.rename(folder, path)
    except OSError as error:
        return path if path.is_dir() and error.errno == errno.ENOTEMPTY else None
    return path


def read_parsed(path: Path) -> Dataset:
    """Return the data set of a parsed copy, its arrays memory-mapped (copy on write: never changed on disk).

    Raises OmklError when the copy is missing, torn or changed.
    """
    with decoding(path, "not a readable parsed copy", OmklError):
        files = [Path(path, name) for name in ("meta.json", *(f"{key}.npy" for key in ARRAYS))]
        stats = [file.stat() for file in files]
        state = (path, *((stat.st_ino, stat.st_size, stat.st_ctime_ns) for stat in stats))
        meta: dict[str, Any] = json.loads(files[0].read_text(encoding="utf-8"))
        mapped = [np.load(file, mmap_mode="c", allow_pickle=False) for file in files[1:]]
        indptr, indices, values, y = map(np.asarray, mapped)
        if state not in _verified:
            if any(
                one.dtype != kind or one.ndim != 1 for one, kind in zip(mapped, ARRAYS.values(), strict=True)
            ):
                raise ValueError("its arrays are of another kind")
            digest, d = meta["content_hash"], meta["d"]  # of a registered set without d
            if all(digest != content_hash(indptr, indices, values, y, of_hash) for of_hash in (0, d)):
                raise ValueError("its numbers were changed: they have another content hash")
            if indices.max(initial=-1) >= d:  # compiled code does not check
                raise ValueError("it has more columns than it says")
            _verified.add(state)
        meta["notes"] = tuple(meta["notes"])
        for key in ("classes", "values_of_classes", "features"):
            meta[key] = tuple(meta[key]) if meta[key] else None
        return Dataset(indptr=indptr, indices=indices, values=values, y=y, path=path, **meta)


def read_or_none(path: Path) -> Dataset | None:
    """Return the data set of a parsed copy, or None where there is none.

    A damaged copy (by a crash, a full disk or an edit) is deleted, with a warning.
    """
    if not path.is_dir():
        return None
    try:
        return read_parsed(path)
    except OmklError as error:
        warnings.warn(f"{error}; it is deleted and the source is parsed again", stacklevel=2)
        shutil.rmtree(path, ignore_errors=True)  # in a read-only cache the copy is not used either
        return None
