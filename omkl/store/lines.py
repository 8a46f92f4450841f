"""What one line of the store looks like, and how 100,000 of them are read in two seconds.

A line begins with its checksum, the CRC-32 of all that follows, and its key. A line whose checksum is missing
or another is not believed: it was torn or edited. The cells of one setting on one data set differ in a few
fields only. So a line says first what is the cell's own (status, time, repetition, mistakes, ...) and then,
from ``"algo"`` on, what it shares with many others. A reader parses each distinct shared part once and lets
the cells hold the same object.
"""

import re
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from omkl.errors import UserError
from omkl.store.fields import FIELDS, MAYBE_NUMBER, NOTHING, SHARED, TEXT, Field, dumps, is_curve

OWN_PROVENANCE = ("time", "load")  # the parts of the provenance that change from cell to cell
_FIRST = ("key", "status", "time")
_HEAD = b'{"crc32":"'
_BODY = len(_HEAD) + len('01234567",')  # where what the checksum covers begins
_START = re.compile(rb'\{"crc32":"[0-9a-f]{8}","key":"([0-9a-f]{64})","(?:status":"(\w+)")?')
_EARLIER = re.compile(rb'\{"key":"[0-9a-f]{64}","crc32":"')  # how lines began before omkl 1.0
_SEAM = b',"algo":'

Memo = dict[tuple[str, bytes], dict[str, Any]]


def _fields(shared: bool, figures: bool) -> list[Field]:
    fields = [field for field in FIELDS if field.shared == shared and (figures or not field.figure)]
    when = Field("time", (str, NOTHING), "when the cell was made")
    return fields if shared else [*fields, when, Field("load", MAYBE_NUMBER, "of the machine then")]


# the fields that are a cell's own, and those that it shares, by its status
_OWN = {
    "ok": _fields(False, True),
    "failed": [*_fields(False, False), Field("error", TEXT, "why the cell failed")],
}
_SHARED = {"ok": _fields(True, True), "failed": _fields(True, False)}


class Line(NamedTuple):
    """A complete and sound line, of a cell or of a curve.

    status: None for a curve    time: UTC, ISO 8601, empty where the line does not say
    own, shared: the fields of a cell that are its own, and those that it has in common with others, whose
    dict is the same object in many lines; of a curve all are its own. Neither may be changed.
    file, number: the name of its file, its number there from 1
    """

    key: str
    status: str | None
    time: str
    own: dict[str, Any]
    shared: dict[str, Any]
    file: str
    number: int

    @property
    def rank(self) -> tuple[bool, str, str, int]:
        """Of two lines of one cell the one of the higher rank counts: a finished one, then the newer one."""
        return self.status != "failed", self.time, self.file, self.number

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the cell comes from, with its own time and load."""
        moved = {name: self.own[name] for name in OWN_PROVENANCE if name in self.own}
        return self.shared["provenance"] | moved


def encode_cell(line: dict[str, Any]) -> bytes:
    """Return a cell's line as it is in the file.

    Raises ValueError for NaN, infinity, or a field that is missing or of another type than its table says,
    TypeError for what JSON cannot hold.
    """
    fields = {name: value for name, value in line.items() if name not in SHARED}
    shared = {name: line[name] for name in SHARED if name in line}
    provenance = dict(shared.get("provenance", {}))
    fields |= {name: provenance.pop(name) for name in OWN_PROVENANCE if name in provenance}
    shared["provenance"] = provenance
    if (status := fields.get("status")) not in _OWN:
        raise ValueError(f"status must be ok or failed, got {status!r}")
    if wrong := wrong_field(fields, _OWN[status]) or wrong_field(shared, _SHARED[status]):
        raise ValueError(wrong)
    return _sealed({name: fields[name] for name in _FIRST if name in fields} | fields | shared)


def encode_curve(key: str, time: str, curve: dict[str, Any]) -> bytes:
    """Return a curve's line as it is in the file; raises as ``encode_cell`` does."""
    return _sealed({"key": key, "time": time, "curve": curve})


def _sealed(fields: dict[str, Any]) -> bytes:
    body = dumps(fields).encode()[1:]
    return b'%s%08x",%s\n' % (_HEAD, zlib.crc32(body), body)


def wrong_field(part: dict[str, Any], fields: list[Field]) -> str:
    """Return what is wrong with the fields of a part of a line, empty where nothing is."""
    for field in fields:
        value = part.get(field.name)
        if type(value) not in field.types:
            names = " or ".join(kind.__name__ for kind in field.types if kind is not NOTHING)
            return f"{field.name} must be {names}, got {value!r}"[:200]
        if value is not None and field.valid is not None and not field.valid(value):
            return f"{field.name} must be {field.meaning}, got {value!r}"[:200]
    return ""


# -------------------------------------------------------------------- reading


def scan(
    path: Path, kind: str, keys: Collection[bytes] | None, status: str | None, broken: list[int]
) -> Iterator[tuple[bytes, Line]]:
    """Yield the sound lines of a file of "cells" or "curves", each also as it is in the file.

    keys, status: those of the lines to yield, all when None; the others are known by their first bytes and
    not looked at. Adds to ``broken`` the numbers of the lines that are not believed. Raises OSError, and
    UserError for a file of an earlier version.
    """
    memo: Memo = {}
    wanted = status and status.encode()
    with path.open("rb", buffering=2**18) as file:
        for number, raw in enumerate(file, 1):
            start = _START.match(raw)
            if start is not None and (
                (keys is not None and start[1] not in keys) or (wanted and start[2] != wanted)
            ):
                continue
            line = parse_line(raw, kind, memo, path.name, number)
            if line is not None:
                yield raw, line
            elif _EARLIER.match(raw):
                raise UserError(earlier_version(path))
            elif not raw.isspace():
                broken.append(number)


def earlier_version(path: Path) -> str:
    """Return what to say of a file of an earlier version."""
    return (
        f"{path} was written by an earlier version of omkl, whose results this one does not read: "
        f"choose another folder with store=PATH, or delete {path.parent.parent}"
    )


def parse_line(raw: bytes, kind: str, memo: Memo, file: str = "", number: int = 0) -> Line | None:
    """Return a line of "cells" or "curves", None unless its checksum and the types of its fields are right.

    memo: shared parts of lines that were parsed before; file, number: where the line is
    """
    body = raw[_BODY:].rstrip()
    if raw[: len(_HEAD)] != _HEAD or raw[len(_HEAD) : _BODY - 2] != b"%08x" % zlib.crc32(body):
        return None
    try:
        if kind == "curves":
            line = orjson.loads(raw)
            good = type(line["time"]) is str and is_curve(line["curve"])
            return Line(line["key"], None, line["time"], line, {}, file, number) if good else None
        first, seam, tail = body.partition(_SEAM)
        fields = orjson.loads(b"{" + first + (b"}" if seam else b""))
        status = fields["status"]
        shared = memo.get((status, tail))
        if shared is None:
            shared = orjson.loads(b'{"algo":' + tail)
            if wrong_field(shared, _SHARED[status]):
                return None
            memo[status, tail] = shared
        if wrong_field(fields, _OWN[status]):
            return None
        return Line(fields["key"], status, fields.get("time") or "", fields, shared, file, number)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # no line of ours, although its checksum is right
