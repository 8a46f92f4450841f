"""The store: one JSON line per finished cell, append-only, read back as one long DataFrame.

A store is a folder. ``cells/*.jsonl`` holds one line per cell that finished or failed, ``curves/*.jsonl``
its learning curve, written first, so that a cell's line implies its curve. Every writer (process) has
files of its own, so that two runs at once never touch each other's lines, and a lock of the files' name in
``locks/`` while it lives, so that no prune touches them (see rewrite.py). A line is one ``write``, so that a
kill at any moment costs at most the line being written; ``fsync`` follows at most once a second, so that a
power cut costs the tiny cells of the last second, or what the system still held. What a line must say to be
read is in lines.py and sound.py.
"""

import contextlib
import gc
import os
import socket
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError
from omkl.files import Lock, hold
from omkl.store.lines import OBJECTS, Broken, Line, Rows, encode_cell, encode_curve, scan

if TYPE_CHECKING:
    import pandas as pd

SYNC_SECONDS = 1.0  # of tiny cells, fsync would take most of the time
_BATCH = 50  # lines parsed at a time: few, so that they stay in the processor's cache


class StoreWarning(UserWarning):
    """A line of the store could not be read; it counts as not there."""


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
        self._lock: Lock | None = None
        self._synced = 0.0  # when the files were last made durable
        self._told: set[Broken] = set()  # broken lines that were warned of

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- writing

    def append(self, line: dict[str, Any], curve: dict[str, Any] | None = None) -> None:
        """Write a cell's curve, then its line; both outlive this process when this returns."""
        cell = encode_cell(line)  # before anything is written: it may be refused
        if curve is not None:
            when = line.get("provenance", {}).get("time", "")
            self._write("curves", encode_curve(line["key"], when, curve))
        self._write("cells", cell)
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self._sync()

    def open(self) -> None:
        """Open this process's files now, so that an unwritable store is known before any work."""
        if self._files and self._owner == os.getpid():
            return
        self._files, self._lock, self._owner = {}, None, os.getpid()
        host = "".join(c if c.isalnum() else "-" for c in socket.gethostname())[:40]
        self._name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            for folder in ("locks", "curves", "cells"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):  # without locks nothing can be pruned, but all be written
                self._lock = hold(writer_lock(self.path, self._name))
            for folder in ("curves", "cells"):
                self._files[folder] = os.open(self.path / folder / self._name, flags, 0o644)
                sync_folder(self.path / folder)
        except OSError as error:
            self._shut()
            raise self.refused(error) from error

    def close(self) -> None:
        """Make all lines durable, close this process's files and remove those that stayed empty."""
        if self._owner == os.getpid():
            self._sync()
        self._shut()

    def _sync(self) -> None:
        self._synced = time.monotonic()
        try:
            for file in self._files.values():  # curves first
                os.fsync(file)
        except OSError as error:
            self._shut()
            raise self.refused(error) from error

    def _shut(self) -> None:
        files, self._files = self._files, {}
        for folder, file in files.items():
            empty = os.fstat(file).st_size == 0
            os.close(file)
            if empty and self._owner == os.getpid():
                (self.path / folder / self._name).unlink(missing_ok=True)
        lock, self._lock = self._lock, None
        if lock is not None and self._owner == os.getpid():
            lock.release()
            writer_lock(self.path, self._name).unlink(missing_ok=True)

    def _write(self, folder: str, line: bytes) -> None:
        self.open()
        file = self._files[folder]
        size = os.fstat(file).st_size
        rest = memoryview(line)
        try:
            while rest:  # a short write happens when the disk fills up
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            self._heal(file, size)
            raise self.refused(error) from error
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
        self._shut()

    def refused(self, error: OSError) -> OmklError:
        """Return what to raise when the store cannot be written."""
        return OmklError(
            f"cannot write to the store {self.path}: {error.strerror}. "
            "What was finished before is safe. Make room, or choose another folder with store=PATH, "
            "and run the same command again"
        )

    # ---------------------------------------------------------------- reading

    def done(self, keys: Iterable[str]) -> set[str]:
        """Return those of the keys that have finished. A failed cell is not done."""
        with _no_collection():
            return {line.key for line in self.lines("cells", keys) if line.status == "ok"}

    def failed(self, keys: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Return the newest failed line of each key that has no finished line."""
        done: set[str] = set()
        newest: dict[str, Line] = {}
        for line in self.lines("cells", keys):
            if line.status == "ok":
                done.add(line.key)
            elif line.key not in newest or line.time >= newest[line.key].time:
                newest[line.key] = line
        rows = Rows()
        rows.add([line.cell for key, line in newest.items() if key not in done])
        table = rows.columns()
        return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]

    def cells(self, keys: Iterable[str] | None = None) -> "pd.DataFrame":
        """Return the newest finished line of each key (all keys when None), one row each.

        The columns are COLUMNS and whatever else the lines hold. ``params``, ``pool_spec`` and the lists in
        a row may be the same objects as in other rows: do not change them in place.
        """
        import pandas as pd

        rows = Rows()
        newest: dict[str, tuple[str, int]] = {}  # of each key its time and row
        with _no_collection():
            finished = (line for line in self.lines("cells", keys) if line.status == "ok")
            while some := list(islice(finished, _BATCH)):
                for row, line in enumerate(some, rows.count):
                    if line.key not in newest or line.time >= newest[line.key][0]:
                        newest[line.key] = line.time, row
                rows.add([line.cell for line in some])
            chosen = [row for _, row in newest.values()]
            columns = rows.columns(None if len(chosen) == rows.count else chosen)
            # pandas need not look for types where there are only objects
            objects = {name: pd.Series(columns[name], dtype=object, copy=False) for name in OBJECTS}
            return pd.DataFrame(columns | objects, copy=False)

    def curves(self, keys: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the newest curve of each key that has one."""
        newest: dict[str, Line] = {}
        for line in self.lines("curves", keys):
            if line.key not in newest or line.time >= newest[line.key].time:
                newest[line.key] = line
        return {key: line.curve for key, line in newest.items()}

    def lines(self, folder: str, keys: Iterable[str] | None = None) -> Iterator[Line]:
        """Yield the whole lines of "cells" or "curves" that are of the keys (all when None), file by file.

        Raises OmklError when the store cannot be read. Of broken lines each is warned of once.
        """
        wanted = None if keys is None else set(keys)
        broken: list[Broken] = []
        try:
            for path in self.files(folder):
                with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                    yield from scan(path, folder, wanted, broken)
        except OSError as error:
            raise OmklError(f"cannot read the store {self.path}: {error.strerror}") from error
        new = [place for place in broken if place not in self._told]
        if new:
            self._told.update(new)
            warnings.warn(f"unreadable lines of the store skipped: {listed(new)}", StoreWarning, stacklevel=3)

    def files(self, folder: str) -> list[Path]:
        """Return the files of "cells" or "curves", by name."""
        try:
            return sorted(path for path in (self.path / folder).iterdir() if path.suffix == ".jsonl")
        except FileNotFoundError:
            return []


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Hold off the cyclic garbage collector: it takes most of the time of reading many lines."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if (
                not gc.get_freeze_count()
            ):  # what is new counts as old, or all of it would be looked through now
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def sync_folder(path: Path) -> None:
    """Make a new file's name durable (POSIX; other systems have no such call)."""
    if os.name == "posix":
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def writer_lock(store: Path, name: str) -> Path:
    """Return the lock file that the writer of ``cells/NAME`` and ``curves/NAME`` holds."""
    return store / "locks" / f"{name}.lock"


def listed(broken: list[Broken]) -> str:
    """Return which lines are not read, the first three by file and number, and what can be done."""
    more = f" and {len(broken) - 3} more" if len(broken) > 3 else ""
    unsealed = sum(line.unsealed for line in broken)
    seal = f"; {unsealed} without a seal, see `omkl results reseal`" if unsealed else ""
    return ", ".join(map(str, broken[:3])) + more + seal
