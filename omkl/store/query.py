"""Reading a store: its line files, and a copy of the cells as columns, which is read much faster.

The lines are the truth. The copy is one file in the user's cache folder, so that nothing in a store has to be
believed. It is made when much of a store had to be read anyhow, and says of each line file how much of its
beginning it holds. A file that has grown is read from there on; where the beginning has changed, the copy of
it is not used. What cannot be read or written of a copy only costs time.
"""

import contextlib
import hashlib
import io
import json
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from omkl.files import replacing
from omkl.paths import cache_folder
from omkl.store import old_segments
from omkl.store.columns import PLACE, RANK, Coded, Column, among, columns_of, has_any, joined, taken
from omkl.store.lines import LONGEST, Extent, Line, Memo, open_regular, parse_line, scan, state_of

LINES = ".jsonl"
FORM = 2  # of the copy
WORTH = 2**23  # bytes of lines: fewer are parsed each time
_PART = 16  # a copy grows by at least this part of it, so that copying takes little beside parsing
_CHECKED = 8  # bytes whose checksum is made in the time in which one is parsed
_SKIPPED = 2**14  # bytes of other lines that are skipped in the time in which one line is parsed
_TICK = 10**9  # ns after which a file system gives a change another time
_CODED = ("codes", "texts", "ends")  # the arrays of a column of texts
_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, struct.error),
)


class Stale(Exception):
    """The copy cannot be read."""


class Copy:
    """The copy of a store's cells: arrays in a zip file, whose checksums are compared as they are read.

    files: how much of each line file it holds    made: when, ns
    """

    def __init__(self, store: Path) -> None:
        self._store = os.path.realpath(store)
        name = hashlib.sha256(os.fsencode(self._store)).hexdigest()[:24]
        self._path = cache_folder() / "stores" / f"{name}.npz"
        self.files: dict[str, Extent] = {}
        self.made = 0
        with contextlib.suppress(*_FAULTS):
            self._file = zipfile.ZipFile(self._path)
            about = _about(self._file)
            if (about["form"], about["store"]) == (FORM, self._store):
                self.made = int(about["made"])
                self.files = {name: Extent(**held) for name, held in about["files"].items()}

    def __getitem__(self, name: str) -> Column:
        """Return a column. Raises Stale."""
        try:
            if f"{name}.npy" in self._file.namelist():
                return _array(self._file, name)
            codes, texts, ends = (_array(self._file, f"{name}.{part}") for part in _CODED)
            blob, places = texts.tobytes(), [0, *ends.tolist()]
            return Coded(codes, [blob[start:end] for start, end in pairwise(places)])
        except _FAULTS as error:
            raise Stale from error

    def write(self, files: dict[str, Extent], columns: dict[str, Column], made: int) -> None:
        """Replace the copy, and remove those of stores that are gone; nothing where that cannot be."""
        held = {name: asdict(known) for name, known in files.items()}
        about = {"form": FORM, "store": self._store, "made": made, "files": held}
        arrays: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
        for name, column in columns.items():
            if isinstance(column, Coded):
                blob = np.frombuffer(b"".join(column.texts), np.uint8)
                parts = column.codes, blob, np.cumsum([len(text) for text in column.texts])
                arrays |= {f"{name}.{part}": array for part, array in zip(_CODED, parts, strict=True)}
            else:
                arrays[name] = column
        with contextlib.suppress(OSError):  # the next reading takes as long as this one
            if self.made:
                self._file.close()  # some systems cannot replace an open file
            with replacing(self._path) as file:
                np.savez(file, **arrays)
            for path in self._path.parent.glob("*.npz"):
                if not os.path.isdir(_store_of(path)):
                    path.unlink()


def _array(file: zipfile.ZipFile, name: str) -> np.ndarray:
    return np.load(io.BytesIO(file.read(f"{name}.npy")))


def _about(file: zipfile.ZipFile) -> dict[str, Any]:
    return json.loads(_array(file, "about").tobytes())


def _store_of(path: Path) -> str:
    with contextlib.suppress(*_FAULTS), zipfile.ZipFile(path) as file:
        return _about(file)["store"]
    return ""


class Reading:
    """One reading of "cells" or "curves" of a store, as its files are now.

    broken: what cannot be read, added to by the methods
    """

    def __init__(self, store: Path, kind: str) -> None:
        self._kind, self._began = kind, time.time_ns()
        self.broken: list[str] = []
        old = old_segments.restored_lines(store, kind, self.broken)  # before the files are listed
        self._paths = line_files(store / kind)
        converted = {path.stem for path in self._paths}  # by another process, meanwhile
        self._old = [line for line in old if Path(line.file).stem not in converted]
        self._copy = Copy(store) if kind == "cells" and self._paths else None
        self._held: dict[str, Extent] = {}  # what holds of the copy
        self._rest = self._checked = 0  # bytes
        for path in self._paths:
            with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
                self._hold(path)

    def _hold(self, path: Path) -> None:
        """Find out whether what the copy holds of a file is still its beginning."""
        state, known = state_of(os.stat(path)), self._copy and self._copy.files.get(path.name)
        self._rest += state[1]
        if known and state[1] >= known.size:
            assert self._copy is not None
            if state != known.state or state[2] > self._copy.made - _TICK:
                self._checked += known.size
                if _crc_of(path, known.size) != known.crc:
                    return
            self._held[path.name] = replace(known, state=state)
            self._rest -= known.size

    def _scanned(self, keys: Collection[str] | None, found: dict[str, Extent]) -> Iterator[Line]:
        """Yield the lines that are not held; found: how much of each file has then been read."""
        yield from (line for line in self._old if keys is None or line.key in keys)
        for path in self._paths:
            held = self._held.get(path.name, Extent())
            extent = replace(held, broken=[*held.broken])
            if not held.state or held.size < held.state[1]:
                with contextlib.suppress(FileNotFoundError):
                    yield from scan(path, self._kind, keys, extent)
            if held.state and extent.state[0] != held.state[0]:  # it has just been replaced
                del self._held[path.name]
            self.broken += [f"{path}:{line}" if line else f"{path} (not a file)" for line in extent.broken]
            extent.broken = [line for line in extent.broken if line <= extent.lines]
            found[path.name] = extent

    def columns(self, names: Collection[str], keys: Collection[str] | None = None) -> dict[str, Column]:
        """Return columns, of KEPT, of all cells; keys: those of other cells may be missing."""
        names = {"key", "status", *RANK, *names}
        try:
            return self._columns(names, keys)
        except Stale:
            self._drop()
            return self._columns(names, keys)

    def _drop(self) -> None:
        """Do without the copy."""
        self._rest += sum(held.size for held in self._held.values())
        self._held = {}
        self.broken.clear()

    def _columns(self, names: Collection[str], keys: Collection[str] | None) -> dict[str, Column]:
        few = keys is not None and len(keys) * _SKIPPED < self._rest
        copied = sum(held.size for held in self._held.values())
        effort = self._rest + self._checked // _CHECKED
        if self._copy is None or few or effort < max(WORTH, copied // _PART):
            return self._joined(columns_of(self._scanned(keys, {}), names))
        found: dict[str, Extent] = {}
        columns = self._joined(columns_of(self._scanned(None, found)))
        self._copy.write(found, columns, self._began)
        return columns

    def _joined(self, new: dict[str, Column]) -> dict[str, Column]:
        """Return what is held of the copy, and columns that are new. Raises Stale."""
        if self._copy is None or not self._held:
            return new
        copy, good = self._copy, has_any(self._copy["file"], self._held)
        if good.all():
            return {name: joined([copy[name], column]) for name, column in new.items()}
        places = np.flatnonzero(good)
        return {name: joined([taken(copy[name], places), column]) for name, column in new.items()}

    def lines(self, keys: Collection[str] | None, status: str | None) -> Iterator[Line]:
        """Yield the sound lines that have these keys and this status (all when None)."""
        chosen: dict[str, list[tuple[int, int]]] = {}
        if keys is None and status != "failed":
            self._held = {}  # nearly all are parsed
        elif self._held:
            try:
                chosen = self._chosen(keys, status)
            except Stale:
                self._drop()
        for path in self._paths:
            if path.name in chosen:
                yield from self._copied(path, chosen[path.name])
        for line in self._scanned(keys, {}):
            if status is None or line.status == status:
                yield line

    def _chosen(self, keys: Collection[str] | None, status: str | None) -> dict[str, list[tuple[int, int]]]:
        """Return where the copy says that such lines are: number and first byte, by name of the file."""
        assert self._copy is not None
        good = has_any(self._copy["file"], self._held)
        if status is not None:
            good &= has_any(self._copy["status"], [status])
        if keys is not None:
            good &= among(self._copy["key"], keys)
        file, number, start = (taken(self._copy[name], np.flatnonzero(good)) for name in PLACE)
        names = list(map(json.loads, file.texts))
        chosen: dict[str, list[tuple[int, int]]] = {}
        for code, *place in zip(file.codes.tolist(), number.tolist(), start.tolist(), strict=True):
            chosen.setdefault(names[code], []).append(tuple(place))
        return chosen

    def _copied(self, path: Path, places: list[tuple[int, int]]) -> Iterator[Line]:
        """Yield lines of a file by their places. Where it is another by now, all of it will be scanned."""
        memo: Memo = {}
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
            if state_of(os.fstat(file.fileno()))[0] == self._held[path.name].state[0]:
                for number, start in sorted(places):
                    file.seek(start)
                    raw = file.readline(LONGEST + 1)
                    if line := parse_line(raw, self._kind, memo, path.name, number, start):
                        yield line
                return
        del self._held[path.name]


def line_files(folder: Path) -> list[Path]:
    """Return the line files of a folder, by name."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == LINES and path.name[0] != ".")
    except FileNotFoundError:
        return []


def _crc_of(path: Path, size: int) -> int:
    """Return the CRC-32 of a file's first bytes, -1 where it is no file of that size."""
    crc, file = 0, open_regular(path)
    if file is None:
        return -1
    with file:
        while size and (piece := file.read(min(size, 2**20))):
            size, crc = size - len(piece), zlib.crc32(piece, crc)
    return -1 if size else crc
