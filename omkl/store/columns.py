"""Cells as columns: what tables are made of, without an object for each cell.

A column is an array of numbers, or codes: of each row the number of its text among the distinct ones. A text
is JSON, so that a column can be kept in a file as it is; it becomes an object when a table is made, one for
all cells that share it.
"""

import contextlib
import gc
import json
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from omkl.store.fields import FIELDS, NAMES, OBJECTS, SHARED
from omkl.store.keys import dumps
from omkl.store.lines import OWN_PROVENANCE, Line

if TYPE_CHECKING:
    import pandas as pd

EXTRA = ("origin", "load", "date", "n_weights", "heaviest", "hits")  # made of other fields: `extra`
_OF_SHARED = (*(name for name in SHARED if name != "provenance"), "origin")
_TEXTS = ("status", "permutation_seed", "date", "file")
_NUMBERS = tuple(field.name for field in FIELDS if not (field.shared or field.is_object))
_WHOLE = {*(field.name for field in FIELDS if float not in field.types), "n_weights", "heaviest"}
_OBJECTS = {*OBJECTS, "origin", "date", "hits"}
RANK = ("time", "file", "number")  # `Line.rank`
PLACE = ("file", "number", "start")  # where the line is
KEPT = ("key", *RANK, "start", *_OF_SHARED, "status", "permutation_seed", *_NUMBERS, *EXTRA[1:])

_BATCH = 2**8  # lines parsed at a time: few, so that they stay in the processor's cache
_NULL = b"null"


class Coded(NamedTuple):
    """A column of texts: of each row its number among the distinct ones."""

    codes: np.ndarray
    texts: list[bytes]


Column = Any  # an array of numbers, or Coded
Columns = Mapping[str, Column]


def text_of(value: Any) -> bytes:
    """Return a value as JSON."""
    try:
        return bytes(memoryview(orjson.dumps(value)))  # a copy is smaller: orjson reserves 4 kB
    except TypeError:  # a number beyond 64 bits
        return dumps(value).encode()


def _coded(values: Iterable[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return of each value its number among the distinct ones, and these."""
    index: dict[Any, int] = {}
    codes = np.array([index.setdefault(value, len(index)) for value in values], np.int32)
    return codes, list(index)


def joined(columns: Sequence[Column]) -> Column:
    """Return columns one after the other as one."""
    columns = [column for column in columns if size_of(column)] or columns[:1]
    if len(columns) == 1:
        return columns[0]
    if not isinstance(columns[0], Coded):
        return np.concatenate(columns)
    codes, texts = _coded(text for column in columns for text in column.texts)
    ends = np.cumsum([len(column.texts) for column in columns])
    parts = zip(np.split(codes, ends), columns, strict=False)
    return Coded(np.concatenate([of[column.codes] for of, column in parts]), texts)


def size_of(column: Column) -> int:
    """Return the number of rows."""
    return len(column.codes if isinstance(column, Coded) else column)


def taken(column: Column, places: np.ndarray) -> Column:
    """Return some rows of a column."""
    if isinstance(column, Coded):
        return Coded(column.codes[places], column.texts)
    return column[places]


# -------------------------------------------------------------------- from lines


def columns_of(lines: Iterator[Line], names: Collection[str] = KEPT) -> dict[str, Column]:
    """Return columns, of KEPT, of the lines of cells."""
    batches = [_columns_of([], names)]
    while some := list(islice(lines, _BATCH)):
        batches.append(_columns_of(some, names))
    return {name: joined([batch[name] for batch in batches]) for name in names}


def _columns_of(lines: list[Line], names: Collection[str]) -> dict[str, Column]:
    owns = [line.own for line in lines]
    distinct = {id(line.shared): line.shared for line in lines}
    place = {of: at for at, of in enumerate(distinct)}
    rows = np.array([place[id(line.shared)] for line in lines], int)
    values: dict[str, Sequence[Any]] = {
        "file": [line.file for line in lines],
        "number": [line.number for line in lines],
        "start": [line.start for line in lines],
    }
    if not set(EXTRA[1:]).isdisjoint(names):
        made = [extra(line.own, line.shared) for line in lines]
        values |= zip(EXTRA, zip(*made, strict=True), strict=True) if made else dict.fromkeys(EXTRA, ())
    columns: dict[str, Column] = {}
    for name in names:
        if name == "key":
            keys = bytes.fromhex("".join(line.key for line in lines))
            columns[name] = np.frombuffer(keys, np.uint8).reshape(-1, 32)
        elif name == "time":
            columns[name] = np.array([line.time.encode() for line in lines], "S")
        elif name in _OF_SHARED:
            field = "provenance" if name == "origin" else name
            codes, texts = _coded(text_of(shared.get(field)) for shared in distinct.values())
            columns[name] = Coded(codes[rows], texts)
        elif name == "hits":
            columns[name] = Coded(*_coded(hits or _NULL for hits in values[name]))
        else:
            column = values[name] if name in values else [own.get(name) for own in owns]
            if name in _TEXTS:
                codes, distinct_ones = _coded(column)
                columns[name] = Coded(codes, list(map(text_of, distinct_ones)))
            else:
                columns[name] = _numbers(column)
    return columns


def _numbers(values: Sequence[Any]) -> np.ndarray:
    """Return numbers as an array, with NaN where there is none."""
    array = np.array(values)
    return np.array(values, float) if array.dtype == object else array


def extra(own: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tables need of a cell's lists and provenance, without holding these: EXTRA.

    date: of its time    origin: the provenance without time and load    n_weights, heaviest: the number of
    its weights and the place of the first of the largest size, None without weights    hits: of its confusion
    matrix (`hits_of`), None without
    """
    weights, origin = own.get("weights"), shared["provenance"] or {}
    time = own.get("time", origin.get("time", ""))
    sizes = list(map(abs, weights)) if weights else None
    count = len(weights) if type(weights) is list else None
    hits = None
    if stored := own.get("confusion"):
        with contextlib.suppress(struct.error):  # counts beyond 64 bits
            hits = hits_of(stored)
    heaviest = sizes and sizes.index(max(sizes))
    return shared["provenance"], own.get("load", origin.get("load")), time[:10], count, heaviest, hits


def hits_of(stored: Any) -> bytes:
    """Return (3, C) int64: of each class how many of its examples are taken for it, how many it has, and how
    many are taken for it; of the last -1 where the matrix was cut.

    That is all that tables need of a confusion matrix (omkl.data.confusion). Raises struct.error beyond 64
    bits.
    """
    if isinstance(stored, dict):
        right, whole, taken = ([0] * stored["classes"] for _ in range(3))
        for true, predicted, count in zip(stored["true"], stored["predicted"], stored["counts"], strict=True):
            whole[true] += count
            right[true] += count if true == predicted else 0
            taken[predicted] += count
        taken = [-1] * len(taken) if -1 in stored["predicted"] else taken
    else:
        right, whole = [row[at] for at, row in enumerate(stored)], [sum(row) for row in stored]
        taken = [sum(column) for column in zip(*stored, strict=True)]
    return struct.pack(f"<{3 * len(right)}q", *right, *whole, *taken)


# -------------------------------------------------------------------- which rows


def among(keys: np.ndarray, wanted: Iterable[str]) -> np.ndarray:
    """Return which of the keys (n, 32) of bytes are wanted ones, which are given as text."""
    known = set()
    for key in wanted:
        with contextlib.suppress(ValueError):  # it is the key of no cell
            known.add(bytes.fromhex(key))
    starts = np.frombuffer(b"".join(key[:8] for key in known if len(key) == 32), np.uint64)
    good = np.isin(_starts(keys), starts)
    good[good] = [key.tobytes() in known for key in keys[good]]
    return good


def has_any(column: Column, values: Iterable[Any]) -> np.ndarray:
    """Return which rows of a coded column have one of the values."""
    texts = set(map(text_of, values))
    return np.array([text in texts for text in column.texts], bool)[column.codes]


def newest(columns: Columns, places: np.ndarray) -> np.ndarray:
    """Return those of the rows that are the newest of their key, in their order."""
    keys = columns["key"][places]
    _, of, counts = np.unique(_starts(keys), return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts[of] > 1)
    if not len(several):
        return places
    time, file, number = (taken(columns[name], places[several]) for name in RANK)
    names = np.argsort(np.argsort(file.texts)) if file.texts else np.empty(0, int)
    whole = np.ascontiguousarray(keys[several]).view("S32")[:, 0]
    order = several[np.lexsort((number, names[file.codes], time, whole))]
    ordered = keys[order]
    last = np.append((ordered[1:] != ordered[:-1]).any(axis=1), True)
    kept = counts[of] == 1
    kept[order[last]] = True
    return places[kept]


def _starts(keys: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(keys[:, :8]).view(np.uint64)[:, 0]


# -------------------------------------------------------------------- tables


def table_of_rows(columns: Columns, places: np.ndarray, names: Sequence[str]) -> "pd.DataFrame":
    """Return some rows as a table, with the columns of these names, of KEPT."""
    import pandas as pd

    made = {}
    for name in names:
        values = _values(name, taken(columns[name], places))
        made[name] = pd.Series(values, dtype=object, copy=False) if name in _OBJECTS else values
    return pd.DataFrame(made, columns=list(names), copy=False)


def _values(name: str, column: Column) -> np.ndarray:
    """Return a column as pandas would make it of all values in a list: None where no row has a number."""
    if name == "key":
        text = column.tobytes().hex()
        return _objects([text[at : at + 64] for at in range(0, len(text), 64)])
    if isinstance(column, Coded):
        used = np.zeros(len(column.texts), bool)
        used[column.codes] = True
        texts = [text for text, is_used in zip(column.texts, used, strict=True) if is_used]
        known: list[Any] = [None if text == _NULL else text for text in texts]
        if name != "hits":
            known = list(map(json.loads, texts))
        if name == "task":  # older lines do not say
            known = [task or "classification" for task in known]
        values = _objects(known) if name in _OBJECTS else np.array(known)
        return values[(np.cumsum(used) - 1)[column.codes]]
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        if missing.all():
            return np.full(len(column), None)
        if name in _WHOLE and (column < 2**63).all():
            return column.astype(int)
    return column


def _objects(values: Sequence[Any]) -> np.ndarray:
    return np.fromiter(values, object, len(values))  # lists stay objects


def whole_table(lines: Iterable[Line]) -> "pd.DataFrame":
    """Return the newest of finished lines as a table, with NAMES and whatever else the lines hold."""
    import pandas as pd

    columns: dict[str, list[Any]] = {name: [] for name in NAMES}
    latest: dict[str, tuple[tuple, int]] = {}  # rank and place of each key
    for place, line in enumerate(lines):
        if line.key not in latest or line.rank >= latest[line.key][0]:
            latest[line.key] = line.rank, place
        row = as_row(line)
        for name in row.keys() - columns.keys():
            columns[name] = [None] * place
        for name, values in columns.items():
            values.append(row.get(name))
    if len(latest) < len(columns["key"]):
        for name, values in columns.items():
            columns[name] = [values[place] for _, place in latest.values()]
    # pandas need not look for types where there are only objects
    objects = {name: pd.Series(columns[name], dtype=object, copy=False) for name in OBJECTS}
    names = [*NAMES, *sorted(columns.keys() - set(NAMES))]
    return pd.DataFrame(columns | objects, columns=names, copy=False)


def as_row(line: Line) -> dict[str, Any]:
    """Return a cell's fields as one dict, NAMES first; what the line does not say is None."""
    row = {**_EMPTY, **line.shared, **line.own}
    moved = {name: row.pop(name) for name in OWN_PROVENANCE if name in row}
    row["provenance"] = line.shared["provenance"] | moved
    return row


_EMPTY = dict.fromkeys(NAMES) | {"task": "classification"}


def with_extra(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Return cells with all columns, as of `Store.cells` without ``columns``, with those of EXTRA too."""
    if not set(EXTRA).isdisjoint(cells):
        return cells
    kinds: dict[str, Any] = {"weights": list, "confusion": (list, dict), "provenance": dict}  # else None, NaN
    parts = (cells[name] if name in cells else [None] * len(cells) for name in kinds)
    made = []
    for values in zip(*parts, strict=True):
        one = {k: v if isinstance(v, kinds[k]) else None for k, v in zip(kinds, values, strict=True)}
        made.append(extra(one, one))
    return cells.assign(**{name: _objects([one[at] for one in made]) for at, name in enumerate(EXTRA)})


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Stop the cyclic garbage collector: it would take much of the time of making many objects."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if not gc.get_freeze_count():  # count new objects as old, else all would be searched now
                gc.freeze()
                gc.unfreeze()
            gc.enable()
