"""The store: one JSON line per finished cell, append-only, read back as one long DataFrame.

A store is a folder. ``cells/*.jsonl`` holds one line per cell that finished or failed. ``curves/*.jsonl``
holds its learning curve, written first, so that a cell's line implies its curve. Every writer (process) has
files of its own, so that two runs at once never touch each other's lines. While it lives it holds a lock of
the files' name in ``locks/``, so that no prune touches them (see upkeep.py). A line is one ``write``, so a
kill at any moment costs at most the line being written. ``fsync`` follows at most once a second, so a power
cut costs the cells of the last second, or what the system had not written yet. How a line looks, and when it
is believed, is in lines.py.
"""

import contextlib
import errno
import os
import socket
import stat
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, path_error
from omkl.files import Lock, hold_lock, remove_lock, remove_unused, sync_folder
from omkl.store.fields import EXTRA, NAMES, OBJECTS, SHARED, no_collection
from omkl.store.lines import Line, earlier_version, encode_cell, encode_curve, scan

if TYPE_CHECKING:
    import pandas as pd

FOLDERS = ("cells", "curves")  # in the order in which they are read: a cell implies its curve
PARTS = ".*.part"  # files that an interrupted change left
ADVICE = ". The finished cells are safe. {} another folder with store=PATH, and run the same command again"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SYNC_SECONDS = 1.0  # of tiny cells, fsync would take most of the time


_beside: dict[Path, tuple[tempfile.TemporaryDirectory, "Store"]] = {}  # of this process, by folder


class StoreWarning(UserWarning):
    """A line of the store could not be read; it counts as missing."""


class Store:
    """The cells and curves in one folder; the first write makes the folder.

    ``append`` raises OmklError when the disk is full or the folder read-only (earlier lines stay intact), and
    ValueError or TypeError when the line itself cannot be written, for example because it holds NaN.
    Reading skips lines that are torn or were edited, with one StoreWarning that names file and line.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._files: dict[str, int] = {}
        self._name, self._owner = "", 0
        self._lock: Lock | None = None
        self._synced = 0.0  # when the files were last made durable
        self._reported: set[str] = set()  # broken lines that a warning has named

    def __repr__(self) -> str:
        files = self.files("cells")
        size = 0
        for path in files:
            with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
                size += path.stat().st_size
        return f"Store({str(self.path)!r}, {len(files)} files of cells, {size / 2**20:.1f} MiB)"

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- writing

    def append(self, line: dict[str, Any], curve: dict[str, Any] | None = None) -> None:
        """Write a cell's curve, then its line; both outlive this process when this returns."""
        raw = encode_cell(line)  # before anything is written: it may be refused
        if curve is not None:
            when = line.get("provenance", {}).get("time", "")
            self._write("curves", encode_curve(line["key"], when, curve))
        self._write("cells", raw)
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self._sync()

    def beside(self) -> "Store":
        """Return a store that this process alone reads, with this one, and that goes with the process."""
        place = self.path.resolve()
        if place not in _beside:
            folder = tempfile.TemporaryDirectory(prefix="omkl-", ignore_cleanup_errors=True)
            _beside[place] = folder, Store(folder.name)
        return _beside[place][1]

    @property
    def name(self) -> str:
        """The name of the files that this process writes to, once they are open."""
        return self._name

    def open(self) -> None:
        """Open this process's files now, so that an unwritable store is noticed before any work.

        What killed processes left is removed.
        """
        if self._files and self._owner == os.getpid():
            return
        self._files, self._lock, self._owner = {}, None, os.getpid()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with self.writing():
            for folder in ("locks", "curves", "cells"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
            remove_ownerless(self.path)
            self._take_name()
            for folder in ("curves", "cells"):
                self._files[folder] = os.open(self.path / folder / self._name, flags, 0o644)
                sync_folder(self.path / folder)

    def _take_name(self) -> None:
        """Choose a name for this process's files, and hold its lock."""
        host = "".join(c if c.isalnum() else "-" for c in socket.gethostname())[:40]
        while True:
            self._name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
            path = writer_lock(self.path, self._name)
            try:
                self._lock = hold_lock(path)
            except OSError:
                return  # without locks a store can be written, not pruned
            if self._lock is not None and path.exists():
                return  # else another process took it for one that nobody holds

    def close(self) -> None:
        """Make all lines durable, close this process's files and remove those that stayed empty."""
        if self._owner == os.getpid():
            self._sync()
        self._shut()

    def _sync(self) -> None:
        self._synced = time.monotonic()
        with self.writing():
            for file in self._files.values():  # curves first
                os.fsync(file)

    def _shut(self) -> None:
        files, self._files = self._files, {}
        for folder, file in files.items():
            empty = os.fstat(file).st_size == 0
            os.close(file)
            if empty and self._owner == os.getpid():
                (self.path / folder / self._name).unlink(missing_ok=True)
        lock, self._lock = self._lock, None
        if lock is not None and self._owner == os.getpid():
            remove_lock(writer_lock(self.path, self._name), lock)

    def _write(self, folder: str, line: bytes) -> None:
        self.open()
        file = self._files[folder]
        size = os.fstat(file).st_size
        rest = memoryview(line)
        with self.writing():
            try:
                while rest:  # a short write happens when the disk fills up
                    rest = rest[os.write(file, rest) :]
            except BaseException:  # a full disk, or Ctrl-C, after which a whole line stays
                if os.fstat(file).st_size != size + len(line):
                    self._heal(file, size)
                raise

    def _heal(self, file: int, size: int) -> None:
        """Remove a half-written line; the next append starts a new file whether or not that worked."""
        try:
            os.ftruncate(file, size)
        except OSError as error:
            text = f"{self.path}: cannot remove a half-written line ({error.strerror})"
            warnings.warn(text, StoreWarning, stacklevel=5)
        self._shut()

    @contextlib.contextmanager
    def writing(self, advice: str = ADVICE) -> Iterator[None]:
        """Turn an OSError into an OmklError that says what to do; this process then starts new files."""
        try:
            yield
        except OSError as error:
            self._shut()
            advice = advice.format("Make room, or choose" if error.errno in FULL else "Choose")
            raise path_error(f"write to the store {self.path}", error, advice) from error

    # ---------------------------------------------------------------- reading

    def done(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have finished. A failed cell is not done."""
        keys = set(keys)
        return {line.key for line in self.lines("cells", keys, "ok")} if keys else set()

    def failed(self, keys: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Return the newest failed line of each key that has no finished line."""
        failed = newest_lines(self.lines("cells", keys, "failed"))
        done = self.done(failed)
        empty = dict.fromkeys(NAMES)
        return [
            {**empty, **line.shared, **line.own, "provenance": line.provenance}
            for key, line in failed.items()
            if key not in done
        ]

    def cells(
        self,
        keys: Iterable[str] | None = None,
        columns: Sequence[str] | None = None,
        where: Mapping[str, Collection[str]] = {},
    ) -> "pd.DataFrame":
        """Return the newest finished line of each key (all keys when None), one row each.

        columns: names of columns, of NAMES (all of these when None) and EXTRA; few take less time and memory.
        where: the values to keep, by column, of those that cells share, such as "algo" and "data".
        ``params``, ``pool_spec`` and the lists in a row may be the same objects as in other rows: do not
        change them in place.
        """
        names = list(dict.fromkeys(NAMES if columns is None else columns))
        values_of: dict[str, list[Any]] = {name: [] for name in names}
        latest: dict[str, tuple[tuple, int]] = {}  # rank and row of each key
        lines: Iterator[Line] = self.lines("cells", keys, "ok")
        if where:
            chosen = where.items()
            lines = (line for line in lines if all(line.shared[name] in values for name, values in chosen))
        count = 0
        with no_collection():
            while batch := list(islice(lines, _BATCH)):
                for row, line in enumerate(batch, count):
                    rank, earlier = line.rank, latest.get(line.key)
                    if earlier is None or rank >= earlier[0]:
                        latest[line.key] = rank, row
                for name, values in values_of.items():
                    values += _GETTERS[name](batch)
                count += len(batch)
            if len(latest) < count:
                rows = [row for _, row in latest.values()]
                values_of = {name: [values[row] for row in rows] for name, values in values_of.items()}
            return _table(values_of)

    def curves(self, keys: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the newest curve of each key that has one."""
        return {key: line.own["curve"] for key, line in newest_lines(self.lines("curves", keys)).items()}

    def lines(
        self, folder: str, keys: Iterable[str] | None = None, status: str | None = None
    ) -> Iterator[Line]:
        """Yield the sound lines of "cells" or "curves" that have these keys (all when None).

        status: "ok" or "failed", of the cells; None for both. Raises as ``raw_lines`` does.
        """
        return (line for _, line in self.raw_lines(folder, keys, status))

    def raw_lines(
        self, folder: str, keys: Iterable[str] | None = None, status: str | None = None
    ) -> Iterator[tuple[bytes, Line]]:
        """As ``lines``, each line also as it is in its file.

        Raises OmklError when the store cannot be read, UserError when an earlier version wrote it. Warns of
        each line that is not believed, once.
        """
        wanted = None if keys is None else {key.encode() for key in keys}
        new: list[str] = []
        try:
            for path in self.files(folder):
                broken: list[int] = []
                with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
                    yield from scan(path, folder, wanted, status, broken)
                new += [f"{path}:{number}" for number in broken]
        except OSError as error:
            raise path_error(f"read the store {self.path}", error) from error
        new = [place for place in new if place not in self._reported]
        if new:
            self._reported.update(new)
            more = f" and {len(new) - 3} more" if len(new) > 3 else ""
            text = f"unreadable lines of the store skipped: {', '.join(new[:3])}{more}"
            warnings.warn(text, StoreWarning, stacklevel=4)

    def files(self, folder: str) -> list[Path]:
        """Return the line files of "cells" or "curves", by name; UserError for an earlier version's."""
        beside = _beside.get(self.path.resolve())
        more = beside[1].files(folder) if beside else []
        try:
            paths = sorted(path for path in (self.path / folder).iterdir() if path.name[0] != ".")
        except FileNotFoundError:
            return more
        if segment := next((path for path in paths if path.suffix == ".parquet"), None):
            raise UserError(earlier_version(segment))
        return [path for path in paths if path.suffix == ".jsonl" and path.is_file()] + more


def _getter(name: str) -> Callable[[list[Line]], list[Any]]:
    """Return what makes the values of a column, of NAMES or EXTRA, of some lines."""
    if name in SHARED:
        return lambda lines: [line.shared.get(name) for line in lines]
    if name in EXTRA:
        field, make = EXTRA[name]
        return lambda lines: [make(line.own.get(field)) for line in lines]
    return lambda lines: [line.own.get(name) for line in lines]


_GETTERS: dict[str, Callable[[list[Line]], list[Any]]] = {
    **{name: _getter(name) for name in (*NAMES, *EXTRA)},
    "provenance": lambda lines: [line.provenance for line in lines],
    "origin": lambda lines: [line.shared["provenance"] for line in lines],  # the same object in many rows
    "load": lambda lines: [line.own.get("load") for line in lines],
    "date": lambda lines: [line.time[:10] for line in lines],
}
_OBJECTS = {*OBJECTS, "origin", "date", "hits"}
_BATCH = 2**10  # lines held at a time, beside the values of their columns


def _table(columns: dict[str, list[Any]]) -> "pd.DataFrame":
    import pandas as pd

    series: dict[str, Any] = {}
    for name, values in columns.items():
        if name in _OBJECTS:  # pandas need not look for types where there are only objects
            series[name] = pd.Series(values, dtype=object)
        else:
            array = np.array(values)
            series[name] = values if array.dtype == object else array
    return pd.DataFrame(series, columns=list(columns), copy=False)


def newest_lines(lines: Iterable[Line]) -> dict[str, Line]:
    """Return the newest line of each key."""
    latest: dict[str, Line] = {}
    for line in lines:
        if line.key not in latest or line.rank >= latest[line.key].rank:
            latest[line.key] = line
    return latest


def writer_lock(store_path: Path, name: str) -> Path:
    """Return the lock file that the writer of ``cells/NAME`` and ``curves/NAME`` holds."""
    return store_path / "locks" / f"{name}.lock"


def writers(store_path: Path) -> list[str]:
    """Return the names of the files that runs write to, or did when they were killed."""
    return [path.name.removesuffix(".lock") for path in (store_path / "locks").glob("*.jsonl.lock")]


def remove_ownerless(store_path: Path) -> None:
    """Remove what killed processes left in a store: lock files and half-written files that nobody holds."""
    for path in (store_path / "locks").glob("*.jsonl.lock"):
        with contextlib.suppress(FileNotFoundError):  # another process removed it, or its writer ended
            if stat.S_ISREG(path.lstat().st_mode) and (lock := hold_lock(path)):
                remove_lock(path, lock)
    for folder in FOLDERS:
        for path in (store_path / folder).glob(PARTS):
            remove_unused(path)
