"""What one line of the store looks like, and how 100,000 of them are read in two seconds.

Cells of one setting on one data set differ in a few fields only, so a line says first what is the cell's own
(key, repetition, mistakes, ...) and then, from ``"algo"`` on, what it shares with many others. A reader
parses each distinct shared part once and lets the cells hold the same object; a line in another order (edited
by hand, say) is parsed as a whole and means the same.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLUMNS = (
    *("key", "status", "algo", "params", "pool", "pool_spec", "data", "data_hash", "task", "order", "rep"),
    *("seed", "permutation_seed", "revision", "T", "mistakes", "mistake_rate", "mse", "n_sv_sum"),
    *("n_sv_union", "n_sv_combined", "n_sv_per_kernel", "weights", "pairs", "m", "seconds", "provenance"),
)
SHARED = (
    *("algo", "params", "pool", "pool_spec", "data", "data_hash", "task", "order", "seed", "revision"),
    *("T", "m", "provenance"),
)
_SEAM = b',"algo":'
_OWN_PROVENANCE = ("time", "load")  # the parts of the provenance that change from cell to cell
_HEAD = b'{"key":"'
_OPEN, _CLOSE = len(_HEAD), len(_HEAD) + 64  # where the key's 64 digits are
_MEMO = 4096  # shared parts remembered at a time, some 8 kB each

# What the shared part must hold to be believed; `_cell` says it for the cell's own part.
_SHARED_KINDS = {"algo": str, "params": dict, "data": str, "data_hash": str, "provenance": dict}


@dataclass(slots=True)
class Cell:
    """One line: the cell's own fields, and those that it shares (not to be changed in place)."""

    own: dict[str, Any]
    shared: dict[str, Any]

    @property
    def time(self) -> str:
        """When it was stored (UTC, ISO 8601), the empty string if the line does not say."""
        return str(self.own.get("time", ""))

    @property
    def provenance(self) -> dict[str, Any]:
        """Where and when the cell ran, put together again."""
        own = {name: self.own[name] for name in _OWN_PROVENANCE if name in self.own}
        return self.shared["provenance"] | own


def columns(cells: list[Cell]) -> dict[str, list]:
    """Return the cells as columns by name: COLUMNS first, then whatever else the lines hold."""
    others = set().union(*(cell.own for cell in cells)).difference(COLUMNS, _OWN_PROVENANCE)
    table = {}
    for name in (*COLUMNS, *sorted(others)):
        if name == "provenance":
            table[name] = [cell.provenance for cell in cells]
        elif name in SHARED:
            usual = "classification" if name == "task" else None  # older lines do not say
            table[name] = [cell.shared.get(name, usual) for cell in cells]
        else:
            table[name] = [cell.own.get(name) for cell in cells]
    return table


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """Compact JSON. Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold."""
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, default=_plain)


def encode_cell(line: dict[str, Any]) -> bytes:
    """Return a cell's line as it stands in the file; raises as ``dumps`` does."""
    own = {"key": line["key"], **{name: value for name, value in line.items() if name not in SHARED}}
    shared = {name: line[name] for name in SHARED if name in line}
    if "provenance" in shared:
        provenance = dict(shared["provenance"])
        own |= {name: provenance.pop(name) for name in _OWN_PROVENANCE if name in provenance}
        shared["provenance"] = provenance
    return (dumps(own | shared) + "\n").encode()


def read_cells(
    path: Path, wanted: set[str] | None, broken: list[str], status: str
) -> Iterator[tuple[str, Cell]]:
    """Yield key and cell of one file's lines, of the wanted keys (all when None) and the status.

    Lines that cannot be read are left out and noted in ``broken`` as "file:line".
    """
    memo: dict[bytes, dict | None] = {}
    for line in _read(path, wanted, broken, lambda raw: _decode_cell(raw, memo)):
        if line.own["status"] == status and (wanted is None or line.own["key"] in wanted):
            yield line.own["key"], line


def read_curves(path: Path, wanted: set[str] | None, broken: list[str]) -> Iterator[tuple[str, dict]]:
    """Yield key and ``{"key", "time", "curve"}`` line of one file, as ``read_cells`` does."""
    for line in _read(path, wanted, broken, _decode_curve):
        if wanted is None or line["key"] in wanted:
            yield line["key"], line


def _read(
    path: Path, wanted: set[str] | None, broken: list[str], decode: Callable[[bytes], Any]
) -> Iterator[Any]:
    with open(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            # the lines of other cells are told by their first bytes and never parsed
            keyed = wanted is not None and raw[:_OPEN] == _HEAD and raw[_CLOSE : _CLOSE + 1] == b'"'
            if keyed and str(raw[_OPEN:_CLOSE], "latin-1") not in wanted:
                continue
            try:
                line = decode(raw)
            except (ValueError, RecursionError):
                line = None
            if line is not None:
                yield line
            elif not raw.isspace():
                broken.append(f"{path}:{number}")


def _decode_cell(raw: bytes, memo: dict[bytes, dict | None]) -> Cell | None:
    """Return the line's cell, None if it is JSON but not a cell. Raises ValueError if it is not JSON."""
    seam = raw.find(_SEAM)
    if seam > 0:
        tail = raw[seam + 1 :]
        try:
            if tail not in memo:
                if len(memo) >= _MEMO:
                    memo.clear()
                memo[tail] = _shared(_DECODER.decode("{" + tail.decode()))
            head = raw[:seam].decode() + "}"
            own, end = _DECODER.raw_decode(head)
            if end == len(head):
                return _cell(own, memo[tail])
        except ValueError:
            pass  # the seam was inside another object, or the line is broken: parsing all of it tells which
    line = _DECODER.decode(raw.decode())
    if not isinstance(line, dict):
        return None
    shared = {name: line.pop(name) for name in SHARED if name in line}
    return _cell(line, _shared(shared))


def _shared(part: dict) -> dict | None:
    return part if all(isinstance(part.get(name), kind) for name, kind in _SHARED_KINDS.items()) else None


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
    return Cell(own, shared)


def _decode_curve(raw: bytes) -> dict | None:
    line = _DECODER.decode(raw.decode())
    good = isinstance(line, dict) and isinstance(line.get("key"), str) and isinstance(line.get("curve"), dict)
    return line if good else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _plain(value: Any) -> Any:
    """Turn numpy arrays and scalars into lists and numbers; anything else is refused."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a line of the store cannot hold {type(value).__name__}")
