"""The store: one JSON line per finished cell, append-only, read back as one long DataFrame.

A store is a folder. ``cells/*.jsonl`` holds one line per cell that finished or failed, ``curves/*.jsonl``
its learning curve, written first, so that a cell's line implies its curve. Every writer (process) has
files of its own, so that two runs at once never touch each other's lines; a line is one ``write`` followed
by ``fsync``, so that a kill at any moment costs at most the line being written.
"""

import contextlib
import gc
import hashlib
import os
import socket
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError
from omkl.lines import Cell, columns, dumps, encode_cell, read_cells, read_curves

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1


class StoreWarning(UserWarning):
    """A line of the store could not be read; it counts as not there."""


def cell_key(
    *,
    algo: str,
    params: dict[str, Any],
    pool: dict[str, Any] | None,
    data_hash: str,
    order: str,
    permutation_seed: int,
    revision: int,
    task: str = "classification",
) -> str:
    """Return the cell's name: hex sha256 of the canonical JSON of everything its result depends on.

    Canonical: keys sorted, no white space, floats as ``repr`` prints them. A float and an int of the same
    value differ (1.0, 1): the configuration has already turned every value into its declared type. Of the
    pool only ``normalise`` and ``kernels`` count, not its name or label; where a cell ran never counts.

    The task counts where it is not classification: the same numbers may be classes or targets.

    Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold.
    """
    parts = {
        "schema": SCHEMA,
        "algo": algo,
        "params": params,
        "pool": pool and {"normalise": pool["normalise"], "kernels": pool["kernels"]},
        "data": data_hash,
        "order": order,
        "permutation_seed": str(permutation_seed),
        "revision": revision,
    }
    if task != "classification":
        parts["task"] = task
    return hashlib.sha256(dumps(parts, sort_keys=True).encode()).hexdigest()


class Store:
    """The cells and curves below one folder; the folder is made by the first write.

    ``append`` raises OmklError when the disk is full or the folder read-only (earlier lines stay intact) and
    ValueError or TypeError when the line itself cannot be written, such as one that holds NaN.
    Reading skips lines that are torn or broken by hand, with one StoreWarning that names file and line.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._files: dict[str, int] = {}
        self._name, self._owner = "", 0

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- writing

    def append(self, line: dict[str, Any], curve: dict[str, Any] | None = None) -> None:
        """Write a cell's curve, then its line, each durable when this returns."""
        cell = encode_cell(line)  # before anything is written: it may be refused
        if curve is not None:
            time = line.get("provenance", {}).get("time", "")
            self._write("curves", (dumps({"key": line["key"], "time": time, "curve": curve}) + "\n").encode())
        self._write("cells", cell)

    def open(self) -> None:
        """Open this process's files now, so that an unwritable store is known before any work."""
        if self._files and self._owner == os.getpid():
            return
        self._files, self._owner = {}, os.getpid()
        host = "".join(c if c.isalnum() else "-" for c in socket.gethostname())[:40]
        self._name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        try:
            for folder in ("curves", "cells"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
                self._files[folder] = os.open(self.path / folder / self._name, flags, 0o644)
                _sync_folder(self.path / folder)
        except OSError as error:
            self.close()
            raise self._refused(error) from error

    def close(self) -> None:
        """Close this process's files and remove those that stayed empty."""
        files, self._files = self._files, {}
        for folder, file in files.items():
            empty = os.fstat(file).st_size == 0
            os.close(file)
            if empty and self._owner == os.getpid():
                (self.path / folder / self._name).unlink(missing_ok=True)

    def _write(self, folder: str, line: bytes) -> None:
        self.open()
        file = self._files[folder]
        size = os.fstat(file).st_size
        rest = memoryview(line)
        try:
            while rest:  # a short write happens when the disk fills up
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
        except OSError as error:
            self._heal(file, size)
            raise self._refused(error) from error
        except BaseException:  # Ctrl-C: a line that is whole stays
            if os.fstat(file).st_size != size + len(line):
                self._heal(file, size)
            raise

    def _heal(self, file: int, size: int) -> None:
        """Take back a half-written line; the next append starts a new file whether or not that worked."""
        try:
            os.ftruncate(file, size)
        except OSError as error:
            warnings.warn(
                f"{self.path}: a half-written line stays ({error.strerror})", StoreWarning, stacklevel=4
            )
        self.close()

    def _refused(self, error: OSError) -> OmklError:
        return OmklError(
            f"cannot write to the store {self.path}: {error.strerror}. "
            "What was finished before is safe. Make room, or choose another folder with store=PATH, "
            "and run the same command again"
        )

    # ---------------------------------------------------------------- reading

    def done(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have finished. A failed cell is not done."""
        return set(self._cells("ok", keys))

    def failed(self, keys: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Return the newest failed line of each key that has no finished line."""
        keys = None if keys is None else set(keys)
        done, failed = self._cells("ok", keys), self._cells("failed", keys)
        table = columns([cell for key, cell in failed.items() if key not in done])
        return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]

    def cells(self, keys: Iterable[str] | None = None) -> "pd.DataFrame":
        """Return the newest finished line of each key (all keys when None), one row each.

        The columns are COLUMNS and whatever else the lines hold. ``params``, ``pool_spec`` and the lists in
        a row may be the same objects as in other rows: do not change them in place.
        """
        import pandas as pd

        with _no_collection():
            return pd.DataFrame(columns(list(self._cells("ok", keys).values())))

    def curves(self, keys: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the newest curve of each key that has one."""
        found = self._newest("curves", read_curves, keys, lambda line: str(line.get("time", "")))
        return {key: line["curve"] for key, line in found.items()}

    def _cells(self, status: str, keys: Iterable[str] | None) -> dict[str, Cell]:
        return self._newest("cells", partial(read_cells, status=status), keys, attrgetter("time"))

    def _newest(
        self, folder: str, read: Callable, keys: Iterable[str] | None, time: Callable[[Any], str]
    ) -> dict[str, Any]:
        wanted = None if keys is None else set(keys)
        found: dict[str, Any] = {}
        broken: list[str] = []
        try:
            with _no_collection():
                for path in self._paths(folder):
                    for key, line in read(path, wanted, broken):
                        if key not in found or time(line) >= time(found[key]):
                            found[key] = line
        except OSError as error:
            raise OmklError(f"cannot read the store {self.path}: {error.strerror}") from error
        if broken:
            more = f" and {len(broken) - 3} more" if len(broken) > 3 else ""
            text = f"unreadable lines of the store skipped: {', '.join(broken[:3])}{more}"
            warnings.warn(text, StoreWarning, stacklevel=4)
        return found

    def _paths(self, folder: str) -> list[Path]:
        try:
            return sorted(path for path in (self.path / folder).iterdir() if path.suffix == ".jsonl")
        except FileNotFoundError:
            return []


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Hold off the cyclic garbage collector: it takes three quarters of the time of reading many lines."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _sync_folder(path: Path) -> None:
    """Make a new file's name durable (POSIX; other systems have no such call)."""
    if os.name == "posix":
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
