"""What one line of the store looks like, and how 100,000 of them are read in two seconds.

A line begins with its key and a checksum, the CRC-32 of the key and of all that follows. So a torn or edited
line is known without parsing. The lines of omkl 0.1 have no checksum.
The cells of one setting on one data set differ in a few fields only. So a line says first what is the cell's
own (status, time, repetition, mistakes, ...) and then, from ``"algo"`` on, what it shares with many others.
A reader parses each distinct shared part once and lets the cells hold the same object.
"""

import json
import os
import re
import stat
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from omkl.store.fields import SHARED
from omkl.store.keys import dumps
from omkl.store.validation import Shared, is_cell, is_curve, shared_part

LONGEST = 2**26  # bytes of a line that is read
OWN_PROVENANCE = ("time", "load")  # the parts of the provenance that change from cell to cell
_FIRST = ("key", "status", "time")
_HEAD = b'{"key":"'
_OPEN, _CLOSE = len(_HEAD), len(_HEAD) + 64  # where the key's 64 digits are
_KEYED = re.compile(rb'\{"key":".{64}"', re.DOTALL)
_CHECKSUM = re.compile(rb'\{"key":"([0-9a-f]{64})","crc32":"([0-9a-f]{8})",')
_BODY = _CLOSE + len('","crc32":"01234567",')  # where what the CRC covers beside the key begins
_SEAM = b',"algo":'
_MEMO = 4096  # shared parts remembered at a time, some 8 kB each
_BUFFER = 2**18

Memo = dict[bytes, Shared | None]


class Line(NamedTuple):
    """A complete and sound line, of a cell or of a curve.

    status: None for a curve    time: UTC, ISO 8601, empty where the line does not say
    own, shared: the fields of a cell that are its own, and those that it has in common with others, whose
    dict is the same object in many lines; of a curve all are its own. Neither may be changed.
    raw: its bytes    file, number, start: the name of its file, its number there from 1, its first byte
    """

    key: str
    status: str | None
    time: str
    own: dict[str, Any]
    shared: dict[str, Any]
    raw: bytes
    file: str = ""
    number: int = 0
    start: int = 0

    @property
    def rank(self) -> tuple[str, str, int]:
        """Of two lines of one cell the one of the higher rank is newer."""
        return self.time, self.file, self.number


@dataclass
class Extent:
    """What has been read of a line file: its beginning, of whole lines, in bytes and lines, and its CRC-32.

    broken: numbers of lines that are not read, 0 where the file is a FIFO, a device or a folder
    state: `state_of` the file when it was opened
    """

    size: int = 0
    lines: int = 0
    crc: int = 0
    broken: list[int] = field(default_factory=list)
    state: list[int] = field(default_factory=list)


def state_of(status: os.stat_result) -> list[int]:
    """Return what changes when a file or its content does, first its number, then its size."""
    return [status.st_ino, status.st_size, status.st_mtime_ns]


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
    raw = _with_checksum({name: own[name] for name in _FIRST if name in own} | own | shared)
    if parse_line(raw, "cells", {}) is None:
        raise ValueError("a field is missing, has a wrong type or range, or does not agree with the key")
    return raw


def encode_curve(key: str, time: str, curve: dict[str, Any]) -> bytes:
    """Return a curve's line as it is in the file; raises as ``encode_cell`` does."""
    raw = _with_checksum({"key": key, "time": time, "curve": curve})
    if parse_line(raw, "curves", {}) is None:
        raise ValueError("its curve does not consist of lists of one length over ascending rounds t")
    return raw


def _checksum(raw: bytes) -> int:
    """Return the CRC-32 of a line's key and of what follows it, without white space at the end."""
    body = memoryview(raw)[_BODY:-1] if raw.endswith(b"}\n") else raw[_BODY:].rstrip()
    return zlib.crc32(body, zlib.crc32(raw[_OPEN:_CLOSE]))


def _with_checksum(fields: dict[str, Any]) -> bytes:
    text = dumps(fields).encode()
    key, body = text[_OPEN:_CLOSE], text[_CLOSE + len('",') :]
    return b'%s%s","crc32":"%08x",%s\n' % (_HEAD, key, zlib.crc32(body, zlib.crc32(key)), body)


def scan(path: Path, kind: str, keys: Collection[str] | None, extent: Extent) -> Iterator[Line]:
    """Yield the sound lines of a file of "cells" or "curves" that have these keys (all when None).

    What ``extent`` says has been read is left out, unless the file has been replaced since; where no keys are
    given, it grows with what is read. Broken are lines that cannot be read, were changed after writing, are
    longer than LONGEST, belong in the other folder, or say what no cell or curve can say. Raises OSError.
    """
    if (file := open_regular(path)) is None:
        extent.broken.append(0)
        return
    raw_keys = None if keys is None else {key.encode() for key in keys}
    memo: Memo = {}
    with file:
        state = state_of(os.fstat(file.fileno()))
        if extent.state and extent.state[0] != state[0]:
            extent.size, extent.lines, extent.crc, extent.broken = 0, 0, 0, []
        extent.state = state
        long, end, crc = 0, extent.size, extent.crc
        file.seek(end)
        for number, raw in pieces(file, extent.lines):
            start, end = end, end + len(raw)
            if raw_keys is None:
                crc = zlib.crc32(raw, crc)
                if raw.endswith(b"\n"):
                    extent.size, extent.lines, extent.crc = end, number, crc
            if len(raw) > LONGEST or number == long:
                if number != long:
                    extent.broken.append(number)
                long = number
                continue
            # the lines of other cells are known by their first bytes and not looked at
            if raw_keys is not None and raw[_OPEN:_CLOSE] not in raw_keys and _KEYED.match(raw):
                continue
            line = parse_line(raw, kind, memo, path.name, number, start)
            if line is None:
                if not raw.isspace():
                    extent.broken.append(number)
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


def parse_line(
    raw: bytes, kind: str, memo: Memo, file: str = "", number: int = 0, start: int = 0
) -> Line | None:
    """Return a line of "cells" or "curves", None unless it is sound.

    memo: shared parts of lines that were parsed before; the further arguments are kept in the line.
    """
    checksum = _CHECKSUM.match(raw)
    if checksum is None:
        if b'"crc32"' in raw:  # of omkl 0.1 lines have none
            return None
    elif _checksum(raw) != int(checksum[2], 16):
        return None
    try:
        if kind == "curves":
            line = decoded(raw)
            key, time = line["key"], line.get("time", "")
            good = type(key) is type(time) is str and is_curve(line["curve"])
            return Line(key, None, time, line, {}, raw, file, number, start) if good else None
        own, shared = _parts(raw, memo)
        if shared is None or not is_cell(own, shared):
            return None
    except (ValueError, KeyError, RecursionError):
        return None
    own.pop("crc32", None)
    return Line(own["key"], own["status"], own.get("time", ""), own, shared[0], raw, file, number, start)


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
