"""What one line of the store looks like, and how 100,000 of them are read in two to three seconds.

A line begins with its key and its seal: a CRC-32 of the key and of all that follows. So a torn or edited line
is known without parsing. Lines without a seal are not read (`omkl results reseal` seals those of old stores).
The cells of one setting on one data set differ in a few fields only. So a line says first what is the cell's
own (status, time, repetition, mistakes, ...) and then, from ``"algo"`` on, what it shares with many others.
A reader parses each distinct shared part once and lets the cells hold the same object.
"""

import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from omkl.store.fields import SHARED
from omkl.store.keys import dumps
from omkl.store.soundness import Shared, is_cell, is_curve, shared_part

LONGEST = 2**26  # bytes of a line that is read
OWN_PROVENANCE = ("time", "load")  # the parts of the provenance that change from cell to cell
_FIRST = ("key", "status", "time")
_HEAD = b'{"key":"'
_OPEN, _CLOSE = len(_HEAD), len(_HEAD) + 64  # where the key's 64 digits are
_KEYED = re.compile(rb'\{"key":".{64}"', re.DOTALL)
_SEAL = re.compile(rb'\{"key":"([0-9a-f]{64})","crc32":"([0-9a-f]{8})",')
_BODY = _CLOSE + len('","crc32":"01234567",')  # where the part begins that the CRC covers beside the key
_SEAM = b',"algo":'
_MEMO = 4096  # shared parts remembered at a time, some 8 kB each
_BUFFER = 2**18
_NOWHERE = ("", 0)

Fields = tuple[dict[str, Any], dict[str, Any]]  # of a cell: its own, and those it shares; not to be changed
Memo = dict[bytes, Shared | None]


class Line(NamedTuple):
    """A complete and sound line: of a cell, or of a curve (status None).

    time (UTC, ISO 8601) is empty where the line does not say.
    """

    key: str
    status: str | None
    time: str
    raw: bytes
    number: int  # in its file, from 1; in a segment of its row
    fields: Fields
    curve: dict[str, Any]
    place: tuple[str, int]  # the name of the file that it was written to, and its number there

    @property
    def rank(self) -> tuple[str, str, int]:
        """Of two lines of one cell the one of the higher rank is newer, wherever they are now."""
        return self.time, *self.place


class Broken(NamedTuple):
    """A line that is not read, by its number; number 0: the file is a FIFO, a device or a folder.

    why: of a segment, which rows are not read
    """

    path: Path
    number: int
    unsealed: bool = False  # it is JSON, but has no seal
    why: str = ""

    def __str__(self) -> str:
        if self.why:
            return f"{self.path} ({self.why})"
        return f"{self.path}:{self.number}" if self.number else f"{self.path} (not a file)"


class Split(NamedTuple):
    """A line in parts: its seal, its text behind the seal, and behind that what it shares (None: no such)."""

    crc: int
    text: bytes
    tail: bytes | None


def encode_cell(line: dict[str, Any]) -> bytes:
    """Return a cell's line as it is in the file.

    Raises as ``dumps`` does, and ValueError for what a reader would not accept.
    """
    own = {name: value for name, value in line.items() if name not in SHARED}
    shared = {name: line[name] for name in SHARED if name in line}
    if isinstance(shared.get("provenance"), dict):
        provenance = dict(shared["provenance"])
        own |= {name: provenance.pop(name) for name in OWN_PROVENANCE if name in provenance}
        shared["provenance"] = provenance
    raw = _sealed({name: own[name] for name in _FIRST if name in own} | own | shared)
    if parse_line(raw, 0, "cells", {}, _NOWHERE) is None:  # only cells get a seal
        raise ValueError("a field is missing, has a wrong type or range, or does not agree with the key")
    return raw


def encode_curve(key: str, time: str, curve: dict[str, Any]) -> bytes:
    """Return a curve's line as it is in the file; raises as ``encode_cell`` does."""
    raw = _sealed({"key": key, "time": time, "curve": curve})
    if parse_line(raw, 0, "curves", {}, _NOWHERE) is None:
        raise ValueError("its curve does not consist of lists of one length over ascending rounds t")
    return raw


def _checksum(raw: bytes) -> int:
    """Return the CRC-32 of a line's key and of what follows its seal, without white space at the end."""
    body = memoryview(raw)[_BODY:-1] if raw.endswith(b"}\n") else raw[_BODY:].rstrip()
    return zlib.crc32(body, zlib.crc32(raw[_OPEN:_CLOSE]))


def _sealed(fields: dict[str, Any]) -> bytes:
    text = dumps(fields).encode()
    key, body = text[_OPEN:_CLOSE], text[_CLOSE + len('",') :]
    return b'%s%s","crc32":"%08x",%s\n' % (_HEAD, key, zlib.crc32(body, zlib.crc32(key)), body)


def split_line(raw: bytes) -> Split:
    """Return the parts of a sound line; `joined_line` makes it of them and its key, with a newline."""
    body = raw[_BODY:].rstrip()
    seam = body.find(_SEAM)
    text, tail = (body[:seam], body[seam + 1 :]) if seam > 0 else (body, None)
    return Split(int(raw[_BODY - 10 : _BODY - 2], 16), text, tail)


def joined_line(key: str, crc: int, text: bytes, tail: bytes | None) -> bytes:
    """Return the line of which `split_line` made these parts."""
    parts = [b'%s%s","crc32":"%08x"' % (_HEAD, key.encode(), crc), text]
    return b",".join(parts if tail is None else [*parts, tail]) + b"\n"


def scan(
    path: Path, folder: str, keys: set[str] | None, broken: list[Broken], start: tuple[int, int] = (0, 0)
) -> Iterator[Line]:
    """Yield the sound lines of one file of "cells" or "curves" that have these keys (all when None).

    start: bytes and lines at the file's beginning that are left out. Adds to ``broken`` the lines that cannot
    be read, were changed after writing, are longer than LONGEST, belong in the other folder, or say what no
    cell or curve can say. Raises OSError.
    """
    raw_keys = None if keys is None else {key.encode() for key in keys}
    memo: Memo = {}
    file = open_regular(path)
    if file is None:
        broken.append(Broken(path, 0))
        return
    with file:
        long = 0
        file.seek(start[0])
        for number, raw in pieces(file, start[1]):
            if len(raw) > LONGEST or number == long:
                if number != long:
                    broken.append(Broken(path, number))
                long = number
                continue
            # the lines of other cells are known by their first bytes and not looked at
            if raw_keys is not None and raw[_OPEN:_CLOSE] not in raw_keys and _KEYED.match(raw):
                continue
            line = parse_line(raw, number, folder, memo, (path.name, number))
            if line is None:
                if not raw.isspace():
                    broken.append(Broken(path, number, _is_unsealed(raw)))
            elif keys is None or line.key in keys:
                yield line


def pieces(file: BinaryIO, before: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield a file's lines with their numbers from 1; a line longer than LONGEST comes in several pieces.

    before: lines that have been read
    """
    number = before + 1
    while piece := file.readline(LONGEST + 1):
        yield number, piece
        number += piece.endswith(b"\n")


def open_regular(path: Path) -> BinaryIO | None:
    """Open a file for reading; return None, at once, for a FIFO, a device or a folder. Raises OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # merely opening some devices has an effect
        return None
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb", _BUFFER)
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    return None


def _is_unsealed(raw: bytes) -> bool:
    """Return whether a line that is not read is a JSON object without a seal, as old stores have them."""
    if not raw.startswith(b"{") or b'"crc32"' in raw[: _BODY + 2]:
        return False
    try:
        line = decoded(raw)
    except (ValueError, RecursionError):
        return False
    return "key" in line and "crc32" not in line


def parse_line(raw: bytes, number: int, folder: str, memo: Memo, place: tuple[str, int]) -> Line | None:
    """Return a line of "cells" or "curves", None unless it is sound.

    memo: shared parts of lines that were parsed before; the other arguments are kept in the line.
    """
    seal = _SEAL.match(raw)
    if seal is None or _checksum(raw) != int(seal[2], 16):
        return None
    try:
        if folder == "curves":
            line = orjson.loads(raw)
            curve, time = line["curve"], line.get("time", "")
            good = type(time) is str and is_curve(curve)
            return Line(line["key"], None, time, raw, number, ({}, {}), curve, place) if good else None
        own, shared = _parts(raw, memo)
        if shared is None or not is_cell(own, shared):
            return None
    except (ValueError, KeyError, RecursionError):
        return None
    return Line(own["key"], own["status"], own.get("time", ""), raw, number, (own, shared[0]), {}, place)


def _parts(raw: bytes, memo: Memo) -> tuple[dict[str, Any], Shared | None]:
    """Return a cell's own fields, and what it shares. Raises ValueError if the line is not JSON.

    memo: shared parts that were parsed before, to be used again for the next line.
    """
    seam = raw.find(_SEAM)
    if seam > 0:
        tail = raw[seam + 1 :]
        try:
            if tail not in memo:
                if len(memo) >= _MEMO:
                    memo.clear()
                memo[tail] = shared_part(decoded(b"{" + tail))
            return orjson.loads(raw[:seam] + b"}"), memo[tail]
        except ValueError:
            pass  # the seam was inside another object, or the line is broken: parse all of it
    line = decoded(raw)
    shared = {name: line.pop(name) for name in SHARED if name in line}
    return line, shared_part(shared)


def decoded(raw: bytes) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError if it is none or holds NaN, infinity or half a character."""
    line = orjson.loads(raw)
    if not isinstance(line, dict):
        raise ValueError("not an object")
    return json.loads(raw) if type(line.get("seed")) is float else line  # orjson rounds beyond 64 bits
