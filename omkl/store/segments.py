"""Segments: finished lines of a store, sealed in one Parquet file that is read by column.

A row holds a line byte for byte: its key and CRC, its text up to what it shares with other lines, and that
``tail``, of which each distinct one is stored once. ``file`` and ``number`` say where the line was. Beside
them are its fields (NUMBERS, TEXTS, WORDS, and some made from others, EXTRA), so that tables are made without
parsing any line. A column that cannot hold its values exactly is left out; they are then read from the lines.

The footer names what the segment stands for: ``covers``, by line file, how many of its first bytes and lines
are in segments, with their CRC-32; ``replaces``, segments. It also has the CRC-32 of every column of every
group of rows; the file's name has the footer's. So every byte is checked that is used, and no other is read.
A segment never changes. pyarrow is needed to read one, and nothing else of omkl needs it.
"""

import contextlib
import json
import mmap
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.errors import UserError
from omkl.store.fields import FIELDS, SHARED
from omkl.store.keys import dumps
from omkl.store.lines import Broken, Line, Memo, joined_line, parse_line

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = ".parquet"
GROUP = 2**13  # rows that are read together
NUMBERS = (*(field.name for field in FIELDS if not (field.shared or field.is_object)), "load")
TEXTS = (*(name for name in SHARED if name != "provenance"), "origin")  # as JSON
WORDS = ("status", "date", "permutation_seed")
PLACES = ("n_weights", "heaviest")
# made from other columns, and cheaper than these: `frames.extra`
EXTRA = ("origin", "load", "date", *PLACES, "hits")
CODED = (*TEXTS, *WORDS, "tail", "file")  # of which each distinct value is stored once
RANK = ("time", "file", "number")
_RAW = ("crc", "text", "tail", "file", "number")
_WHOLE = ("key", "crc", "text", "time", "file", "number", "status")  # columns in which no value is missing
# what the reading of JSON, and pyarrow beside its own errors, raise for wrong content
_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
    *(NotImplementedError, MemoryError),
)
FORM = "omkl segment 1"

_KEY = re.compile("[0-9a-f]{64}")


class Cover(NamedTuple):
    """The beginning of a line file that is in segments: bytes, their CRC-32, lines, and which are broken."""

    size: int
    crc: int
    lines: int
    broken: list[int]


class Damaged(Exception):
    """A segment, or some rows of it, that cannot be read."""


class About(NamedTuple):
    """What a segment's footer says of it."""

    covers: dict[str, Cover]
    replaces: tuple[str, ...]


class Segment:
    """An open segment. Raises FileNotFoundError, OSError, Damaged, and UserError where pyarrow is missing.

    broken: what of it could not be read so far, added to by the methods, which leave such rows out
    """

    def __init__(self, path: Path) -> None:
        self.path, self.broken = path, list[Broken]()
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < 12:
                raise Damaged("is too short")
            # where a mapped file could not be removed, the whole is read
            posix = os.name == "posix"
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if posix else file.read()
        if f"{zlib.crc32(footer(self._map)):08x}" != path.stem.rpartition("-")[2]:
            raise Damaged("its footer does not fit the checksum in its name")
        pa, pq = _pyarrow(path)
        source = pa.BufferReader(pa.py_buffer(self._map))
        with _damaged("is not a segment"):
            self._file = pq.ParquetFile(source)
            self._meta = self._file.metadata
            known = json.loads(self._meta.metadata[b"omkl"])
            form = known.get("form")
        if form != FORM and str(form).startswith(FORM[:-1]):
            raise UserError(f"{path}: a segment of a newer version of omkl; update omkl to read this store")
        with _damaged("is not a segment"):
            self._take(known, self._file.schema_arrow, pa)

    def _take(self, known: dict[str, Any], schema: "pa.Schema", pa: Any) -> None:
        """Take over what the footer says. Raises ValueError, or another of _FAULTS, where it is wrong."""
        covers = {name: Cover(*of) for name, of in known["covers"].items()}
        self.about = About(covers, tuple(known["replaces"]))
        self.names = schema.names
        self.rows, self.groups = self._meta.num_rows, self._meta.num_row_groups
        self._folder, self._crcs = known["folder"], known["crc"]
        sizes = [min(GROUP, self.rows - start) for start in range(0, self.rows, GROUP)]
        numbers = [
            n for cover in covers.values() for n in (cover.size, cover.crc, cover.lines, *cover.broken)
        ]
        if known["form"] != FORM or self._folder != self.path.parent.name:
            raise ValueError(f"it says that it is of {self._folder}")
        if not all(type(n) is int and n >= 0 for n in numbers) or not all(map(_is_text, self.about.replaces)):
            raise ValueError("what it stands for is not said")
        if sizes != [self._meta.row_group(group).num_rows for group in range(self.groups)]:
            raise ValueError("its rows are not in the usual groups")
        if any(len(crcs) != len(self.names) for crcs in self._crcs) or len(self._crcs) != self.groups:
            raise ValueError("checksums are missing")
        kinds = column_kinds(pa)
        needed = {"key", *_RAW, "time", *(("status",) if self._folder == "cells" else ())}
        wrong = [name for name in self.names if schema.field(name).type not in kinds.get(name, ())]
        if wrong or not needed <= set(self.names) or len(set(self.names)) < len(self.names):
            raise ValueError(f"a column is missing, or of another type: {', '.join(wrong)}")

    def read(self, group: int, columns: Sequence[str]) -> "pa.Table":
        """Return columns of a group of rows, in the order given. Raises Damaged."""
        for name in columns:
            if name not in self.names:
                raise Damaged(f"has no column {name}")
            at = self.names.index(name)
            start, end = place(self._meta, group, at)
            with memoryview(self._map) as content:
                good = zlib.crc32(content[start:end]) == self._crcs[group][at]
            if not good:
                last = min((group + 1) * GROUP, self.rows)
                raise Damaged(f"rows {group * GROUP + 1} to {last} are damaged")
        with _damaged(f"rows {group * GROUP + 1} and further"):
            # without threads, which now and then abort the interpreter's exit (apache/arrow issue 34314)
            table = self._file.read_row_group(group, list(columns), use_threads=False).select(list(columns))
            table.validate(full=True)
            if any(table.column(name).null_count for name in columns if name in _WHOLE):
                raise ValueError("a value is missing")
        return table

    def check(self) -> None:
        """Raise Damaged unless every row can be read."""
        for group in range(self.groups):
            self.read(group, self.names)

    def unread(self) -> set[int]:
        """Return the numbers of the rows, from 1, that cannot be read."""
        return set(range(1, self.rows + 1)) - {line.number for line in self.lines(Select())}

    def tables(
        self, select: "Select", columns: Sequence[str]
    ) -> "Iterator[tuple[int, np.ndarray, pa.Table]]":
        """Yield columns of the rows that are selected: the group, numbers of the rows in it, the columns."""
        for group in range(self.groups):
            try:
                places = select.of(self, group)
                if len(places):
                    table = self.read(group, columns)
                    yield group, places, table if len(places) == len(table) else table.take(places)
            except Damaged as error:
                self.note(error, group)

    def raw_lines(self, select: "Select") -> Iterator[tuple[int, bytes, tuple[str, int]]]:
        """Yield the number from 1 of each row that is selected, its line as it was sealed, and its place."""
        for group, places, table in self.tables(select, ("key", *_RAW)):
            columns = [column.to_pylist() for column in table.columns]
            for at, key, crc, text, tail, file, number in zip(places.tolist(), *columns, strict=True):
                yield group * GROUP + at + 1, joined_line(key.hex(), crc, text, tail), (file, number)

    def lines(self, select: "Select") -> Iterator[Line]:
        """Yield the lines of the rows that are selected."""
        memo: Memo = {}
        for row, raw, place in self.raw_lines(select):
            line = parse_line(raw, row, self._folder, memo, place)
            if line is not None and b"\n" not in raw[:-1]:
                yield line
            else:
                self.note(Damaged(f"row {row} holds no line of {self._folder}"), 0, row)

    def note(self, error: Damaged, group: int, row: int = 1) -> None:
        """Remember that rows of a group cannot be read; row: the first of them, from 1."""
        broken = Broken(self.path, group * GROUP + row, why=str(error))
        if broken not in self.broken:
            self.broken.append(broken)


@contextlib.contextmanager
def _damaged(what: str) -> Iterator[None]:
    """Raise Damaged for whatever the content of a segment may lead to."""
    try:
        yield
    except (*_FAULTS, _arrow_errors()) as error:
        raise Damaged(f"{what} ({type(error).__name__}: {error})".replace("\n", " ")) from error


def _arrow_errors() -> type[Exception]:
    import pyarrow

    return pyarrow.ArrowException


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def column_kinds(pa: Any) -> dict[str, tuple[Any, ...]]:
    """Return the types that each column may have."""
    words = pa.dictionary(pa.int32(), pa.string())
    return {
        "key": (pa.binary(32),),
        "crc": (pa.uint32(),),
        "text": (pa.binary(),),
        "tail": (pa.dictionary(pa.int32(), pa.binary()),),
        "time": (pa.string(),),
        "file": (words,),
        "number": (pa.int32(),),
        "hits": (pa.binary(),),
        **dict.fromkeys((*TEXTS, *WORDS), (words,)),
        **dict.fromkeys(NUMBERS, (pa.int64(), pa.float64())),
        **dict.fromkeys(PLACES, (pa.int32(),)),
    }


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            f"{path}: this store was compacted, so that pyarrow must read it: pip install 'omkl[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


class Keys:
    """Keys to look for among many."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.hex = frozenset(keys)
        known = (bytes.fromhex(key) for key in self.hex if _KEY.fullmatch(key))
        self._raw = frozenset(known)
        self._starts = np.unique(np.frombuffer(b"".join(raw[:8] for raw in self._raw), np.uint64))

    def among(self, raw: np.ndarray) -> np.ndarray:
        """Return which of the keys (n, 32) of bytes are among these."""
        if not len(self._starts):
            return np.zeros(len(raw), bool)
        starts = raw[:, :8].copy().view(np.uint64)[:, 0]
        good = self._starts[np.searchsorted(self._starts[:-1], starts)] == starts
        for at in np.flatnonzero(good):
            good[at] = raw[at].tobytes() in self._raw
        return good


class Select(NamedTuple):
    """Which rows of a segment: those that fulfil all that is given.

    status: of the cells    where: values by column of TEXTS
    since: of these files the lines of higher numbers, and of others none
    """

    keys: Keys | None = None
    status: str | None = None
    where: Mapping[str, Collection[str]] = {}
    since: Mapping[str, int] | None = None

    def of(self, segment: Segment, group: int) -> np.ndarray:
        """Return the numbers of the rows in a group, ascending. Raises Damaged."""
        good = np.ones(min(GROUP, segment.rows - group * GROUP), bool)
        if self.status is not None:
            good &= _where(segment, group, "status", lambda status: status == self.status)
        for name, values in self.where.items():
            texts = set(map(dumps, values))
            good &= _where(segment, group, name, texts.__contains__)
        if (since := self.since) is not None:
            good &= _where(segment, group, "file", lambda file: file in since)
            if good.any():
                places = zip(*(column.to_pylist() for column in segment.read(group, RANK[1:])), strict=True)
                good &= [number > since.get(file, number) for file, number in places]
        if self.keys is not None and good.any():
            good &= self.keys.among(raw_keys(segment.read(group, ("key",)).column(0)))
        return np.flatnonzero(good)

    def takes(self, line: Line) -> bool:
        """Whether a line of a line file is among the selected; its key has been looked at."""
        if self.status is not None and line.status != self.status:
            return False
        return all(line.fields[1].get(name) in values for name, values in self.where.items())


def _where(segment: Segment, group: int, name: str, fits: Callable[[Any], bool]) -> np.ndarray:
    column = segment.read(group, (name,)).column(0).combine_chunks()
    known = np.array([*map(fits, column.dictionary.to_pylist()), False])
    return known[column.indices.fill_null(len(known) - 1).to_numpy()]


def raw_keys(column: "pa.ChunkedArray") -> np.ndarray:
    """Return a column of keys as bytes (n, 32)."""
    array = column.combine_chunks()
    return np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, 32)[array.offset :][: len(array)]


def footer(content: Any) -> bytes:
    size = int.from_bytes(content[-8:-4], "little")
    return bytes(content[-8 - size :]) if size < len(content) - 8 else b""


def place(meta: Any, group: int, column: int) -> tuple[int, int]:
    """Return where a column of a group of rows is in the file: first byte, byte after the last."""
    chunk = meta.row_group(group).column(column)
    starts = (chunk.dictionary_page_offset, chunk.data_page_offset)
    start = min(at for at in starts if at is not None)
    return start, start + chunk.total_compressed_size
