"""What one line of the store looks like, and how 100,000 of them are read in under two seconds.

A line begins with its key and a CRC-32 of the key and of all that follows, so that a torn or edited line is
told without parsing. Cells of one setting on one data set differ in a few fields only, so a line says first
what is the cell's own (status, time, repetition, mistakes, ...) and then, from ``"algo"`` on, what it shares
with many others: a reader parses each distinct shared part once and lets the cells hold the same object.
Lines without a CRC (older stores, or written by hand) are parsed as a whole and count if they are a cell.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import orjson

COLUMNS = (
    *("key", "status", "algo", "params", "pool", "pool_spec", "data", "data_hash", "task", "order", "rep"),
    *("seed", "permutation_seed", "revision", "T", "mistakes", "mistake_rate", "mse", "n_sv_sum"),
    *("n_sv_union", "n_sv_combined", "n_sv_per_kernel", "weights", "pairs", "m", "seconds", "provenance"),
)
SHARED = (
    *("algo", "params", "pool", "pool_spec", "data", "data_hash", "task", "order", "seed", "revision"),
    *("T", "m", "provenance"),
)
OBJECTS = (  # columns of text, lists and dicts; the others hold numbers
    *("key", "status", "algo", "params", "pool", "pool_spec", "data", "data_hash", "order"),
    *("permutation_seed", "n_sv_per_kernel", "weights", "provenance"),
)
_OWN_PROVENANCE = ("time", "load")  # the parts of the provenance that change from cell to cell
_FIRST = ("key", "status", "time")
_HEAD = b'{"key":"'
_OPEN, _CLOSE = len(_HEAD), len(_HEAD) + 64  # where the key's 64 digits are
_SEAL = re.compile(
    rb'\{"key":"([0-9a-f]{64})","crc32":"([0-9a-f]{8})",(?:"status":"(ok|failed)",)?(?:"time":"([^"\\]*)",)?'
)
_BODY = _CLOSE + len('","crc32":"01234567",')  # where what the CRC covers begins, the key apart
_SEAM = b',"algo":'
_MEMO = 4096  # shared parts remembered at a time, some 8 kB each

# What the shared part must hold to be believed; `_cell` says it for the cell's own part.
_SHARED_KINDS = {
    "algo": str,
    "params": dict,
    "data": str,
    "data_hash": str,
    "provenance": dict,
    "revision": int,
}


Cell = tuple[dict[str, Any], dict[str, Any]]  # a line's own fields, and those it shares, not to be changed


class Line(NamedTuple):
    """A whole line: status None for a curve's; time (UTC, ISO 8601) empty where it does not say."""

    key: str
    status: str | None
    time: str
    raw: bytes
    number: int  # in its file, from 1
    cell: Cell | None = None  # where it had to be parsed


class Rows:
    """Cells as columns, filled a few at a time, so that parsed lines do not pile up in memory."""

    def __init__(self) -> None:
        self.count = 0
        self._columns: dict[str, list] = {name: [] for name in COLUMNS}

    def add(self, cells: list[Cell]) -> None:
        """Append one row per cell."""
        found = set().union(*(own for own, _ in cells))
        for name in found.difference(self._columns, _OWN_PROVENANCE, ("crc32",)):
            self._columns[name] = [None] * self.count
        names = [name for name in self._columns if name not in SHARED]
        for parts, some in (([own for own, _ in cells], names), ([shared for _, shared in cells], SHARED)):
            for name, values in zip(some, _fields(parts, some), strict=True):
                usual = "classification" if name == "task" else None  # older lines do not say
                self._columns[name] += [usual if v is None else v for v in values] if usual else values
        self._columns["provenance"][self.count :] = [_provenance(*cell) for cell in cells]
        self.count += len(cells)

    def columns(self, rows: list[int] | None = None) -> dict[str, list]:
        """Return the columns by name, COLUMNS first, with the rows asked for (all when None)."""
        names = [*COLUMNS, *sorted(self._columns.keys() - set(COLUMNS))]
        if rows is None:
            return {name: self._columns[name] for name in names}
        return {name: [self._columns[name][row] for row in rows] for name in names}


def _fields(parts: list[dict[str, Any]], names: Sequence[str]) -> Iterable[Sequence]:
    try:  # twice as fast where every part has all of them
        return list(zip(*map(itemgetter(*names), parts), strict=True)) or [()] * len(names)
    except KeyError:
        return [[part.get(name) for part in parts] for name in names]


def _provenance(own: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    if "time" in own and "load" in own:  # the common case, fast
        return {**shared["provenance"], "time": own["time"], "load": own["load"]}
    return shared["provenance"] | {name: own[name] for name in _OWN_PROVENANCE if name in own}


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """Compact JSON. Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold."""
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, default=_plain)


def encode_cell(line: dict[str, Any]) -> bytes:
    """Return a cell's line as it stands in the file; raises as ``dumps`` does, ValueError for no cell."""
    own = {name: value for name, value in line.items() if name not in SHARED}
    shared = {name: line[name] for name in SHARED if name in line}
    if "provenance" in shared:
        provenance = dict(shared["provenance"])
        own |= {name: provenance.pop(name) for name in _OWN_PROVENANCE if name in provenance}
        shared["provenance"] = provenance
    if _cell(own, _shared(shared)) is None:  # what has a seal is a cell
        raise ValueError("a field that every cell has is missing or of another type")
    return _sealed({name: own[name] for name in _FIRST if name in own} | own | shared)


def encode_curve(key: str, time: str, curve: dict[str, Any]) -> bytes:
    """Return a curve's line as it stands in the file; raises as ``dumps`` does."""
    return _sealed({"key": key, "time": time, "curve": curve})


def _sealed(fields: dict[str, Any]) -> bytes:
    text = dumps(fields).encode()
    key, body = text[_OPEN:_CLOSE], text[_CLOSE + len('",') :]
    return b'%s%s","crc32":"%08x",%s\n' % (_HEAD, key, zlib.crc32(body, zlib.crc32(key)), body)


def scan(path: Path, folder: str, wanted: set[str] | None, broken: list[str]) -> Iterator[Line]:
    """Yield the whole lines of one file of "cells" or "curves" that are of the wanted keys (all when None).

    Lines that cannot be read, are not as they were written, or belong into the other folder, are noted in
    ``broken`` as "file:line".
    """
    keys = None if wanted is None else {key.encode() for key in wanted}
    memo: dict[bytes, dict | None] = {}
    with open(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            # the lines of other cells are told by their first bytes and never looked at
            keyed = keys is not None and raw[:_OPEN] == _HEAD and raw[_CLOSE : _CLOSE + 1] == b'"'
            if keyed and raw[_OPEN:_CLOSE] not in keys:
                continue
            line = _line(raw, number, memo)
            if line is None or (line.status is None) is not (folder == "curves"):
                if not raw.isspace():
                    broken.append(f"{path}:{number}")
            elif wanted is None or line.key in wanted:
                yield line


def _line(raw: bytes, number: int, memo: dict[bytes, dict | None]) -> Line | None:
    if b"\\ud" in raw or b"\\uD" in raw:  # half a character cannot be printed or put into a table
        try:
            json.dumps(json.loads(raw), ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
    if found := _SEAL.match(raw):
        key, seal, status, time = found.groups()
        if zlib.crc32(raw[_BODY:].rstrip(), zlib.crc32(key)) != int(seal, 16):
            return None
        return Line(key.decode(), status and status.decode(), time.decode() if time else "", raw, number)
    try:
        cell = decode_cell(raw, memo)
        if cell is not None:
            own, _ = cell
            if "crc32" in own:
                return None
            return Line(own["key"], own["status"], str(own.get("time", "")), raw, number, cell)
        line = _DECODER.decode(raw.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not isinstance(line.get("curve"), dict) or "crc32" in line:
        return None
    key = line.get("key")
    return Line(key, None, str(line.get("time", "")), raw, number) if isinstance(key, str) else None


def decode_curve(raw: bytes) -> dict[str, Any]:
    """Return the curve of a line that ``scan`` found whole."""
    return _DECODER.decode(raw.decode())["curve"]


def decode_cell(raw: bytes, memo: dict[bytes, dict | None]) -> Cell | None:
    """Return the line's cell, None if it is JSON but not a cell. Raises ValueError if it is not JSON.

    memo: shared parts parsed before, to be given again with the next line.
    """
    seam = raw.find(_SEAM)
    if seam > 0:
        tail = raw[seam + 1 :]
        try:
            if tail not in memo:
                if len(memo) >= _MEMO:
                    memo.clear()
                memo[tail] = _shared(_DECODER.decode("{" + tail.decode()))
            return _cell(orjson.loads(raw[:seam] + b"}"), memo[tail])
        except ValueError:
            pass  # the seam was inside another object, or the line is broken: parsing all of it tells which
    line = _DECODER.decode(raw.decode())
    if not isinstance(line, dict):
        return None
    shared = {name: line.pop(name) for name in SHARED if name in line}
    return _cell(line, _shared(shared))


def _shared(part: dict) -> dict | None:
    pool = part.get("pool_spec")
    good = pool is None or (isinstance(pool, dict) and {"normalise", "kernels"} <= pool.keys())
    kinds = _SHARED_KINDS.items()
    return part if good and all(isinstance(part.get(name), kind) for name, kind in kinds) else None


def _cell(own: Any, shared: dict | None) -> Cell | None:
    """Return the cell if its own fields are there and of their types, else None."""
    get = own.get
    if shared is None or not isinstance(get("key"), str) or not isinstance(get("rep"), int):
        return None
    if get("status") == "ok":
        if not (isinstance(get("seconds"), (int, float)) and isinstance(get("permutation_seed"), str)):
            return None
    elif get("status") != "failed":
        return None
    return own, shared


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _plain(value: Any) -> Any:
    """Turn numpy arrays and scalars into lists and numbers; anything else is refused."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a line of the store cannot hold {type(value).__name__}")
