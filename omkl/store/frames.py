"""Cells as columns: a table in memory, filled from lines and from segments.

Some columns of a million cells are made from segments without an object for each cell: cells share the
objects of what they share, and numbers stay in arrays.
"""

import contextlib
import gc
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from omkl.store.fields import NAMES, OBJECTS, SHARED
from omkl.store.lines import OWN_PROVENANCE, Fields, Line
from omkl.store.segments import (
    EXTRA,
    GROUP,
    NUMBERS,
    PLACES,
    RANK,
    TEXTS,
    Damaged,
    Segment,
    Select,
    raw_keys,
)
from omkl.store.soundness import is_shared

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BATCH = 50  # lines parsed at a time: few, so that they stay in the processor's cache

_INTEGERS = ("seed", "revision", "T", "m")  # of TEXTS
_OTHERS = {"provenance", *EXTRA, *TEXTS}  # what the text of a line's own fields does not say
_NO_COLUMN = (*OWN_PROVENANCE, "crc32")


class Columns(dict[str, list[Any]]):
    """Cells as columns, filled a few at a time, so that parsed lines do not pile up in memory."""

    def __init__(self) -> None:
        super().__init__({name: [] for name in NAMES})

    def add(self, cells: list[Fields]) -> None:
        """Append the fields of some cells."""
        count = len(self["key"])
        owns, shares = [own for own, _ in cells], [shared for _, shared in cells]
        for name in set().union(*owns).difference(self, _NO_COLUMN):
            self[name] = [None] * count
        for parts, names in ((owns, [name for name in self if name not in SHARED]), (shares, SHARED)):
            for name, values in zip(names, _values(parts, names), strict=True):
                self[name] += values
        if None in (tasks := self["task"][count:]):  # older lines do not say
            self["task"][count:] = [task or "classification" for task in tasks]
        self["provenance"][count:] = [_provenance(*fields) for fields in cells]


def _values(parts: list[dict[str, Any]], names: Sequence[str]) -> Iterable[Sequence[Any]]:
    try:  # twice as fast where every part has all of them
        return list(zip(*map(itemgetter(*names), parts), strict=True)) or [()] * len(names)
    except KeyError:
        return [[part.get(name) for part in parts] for name in names]


def _provenance(own: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    if "time" in own and "load" in own:  # the common case, fast
        return {**shared["provenance"], "time": own["time"], "load": own["load"]}
    return shared["provenance"] | {name: own[name] for name in OWN_PROVENANCE if name in own}


def as_row(own: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return a cell's fields as one dict, NAMES first; what the line does not say is None."""
    row = {**dict.fromkeys(NAMES), "task": "classification", **shared, **own}
    row["provenance"] = _provenance(own, shared)
    return {name: value for name, value in row.items() if name not in _NO_COLUMN}


def extra(own: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tables need of a cell's lists and provenance, without holding these: segments.EXTRA.

    date: of its time    origin: the provenance without time and load    n_weights, heaviest: the number of
    its weights and the place of the first of the largest size, None without weights    hits: of its confusion
    matrix (`hits_of`), None without
    """
    weights, origin = own.get("weights"), shared["provenance"] or {}
    time = own.get("time", origin.get("time", ""))
    best = max(range(len(weights)), key=lambda i: abs(weights[i])) if weights else None
    load = own.get("load", origin.get("load"))
    count = len(weights) if type(weights) is list else None
    hits = None
    if stored := own.get("confusion"):
        with contextlib.suppress(struct.error):  # counts beyond 64 bits
            hits = hits_of(stored)
    values = (shared["provenance"], load, time[:10], count, best, hits)
    return dict(zip(EXTRA, values, strict=True))


def hits_of(stored: Any) -> bytes:
    """Return of each class how many of its examples are taken for it, then how many it has: (2, C) int64.

    That is all that the classes' errors need of a confusion matrix (omkl.data.confusion). Raises struct.error
    beyond 64 bits.
    """
    if isinstance(stored, dict):
        right, whole = [0] * stored["classes"], [0] * stored["classes"]
        for true, predicted, count in zip(stored["true"], stored["predicted"], stored["counts"], strict=True):
            whole[true] += count
            right[true] += count if true == predicted else 0
    else:
        right, whole = [row[at] for at, row in enumerate(stored)], [sum(row) for row in stored]
    return struct.pack(f"<{2 * len(right)}q", *right, *whole)


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
    return cells.assign(**{name: _objects([one[name] for one in made]) for name in EXTRA})


class Frame:
    """Some columns of finished cells, the newest of each key, gathered piece by piece.

    names: of NAMES and EXTRA, or any field that a line may have
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._pieces: dict[str, list[np.ndarray]] = {name: [] for name in self._names}
        self._keys: list[np.ndarray] = []
        self._ranks: list[Callable[[], list[tuple]]] = []  # of each piece
        self._extra = not set(EXTRA).isdisjoint(names)
        self._memo: dict[str, dict[str | None, Any]] = {name: {None: None} for name in self._names}
        self._memo.get("task", {})[None] = "classification"  # older lines do not say

    def add_segment(self, segment: Segment, select: Select) -> None:
        """Append the rows that are selected."""
        missing = [name for name in self._names if name != "key" and name not in segment.names]
        if not _OTHERS.isdisjoint(missing):
            return self.add_lines(segment.lines(select))
        marks = [f'"{name}":'.encode() for name in missing]
        known = [name for name in self._names if name not in missing]
        columns = dict.fromkeys((*known, "key", *(("text",) if missing else ())))
        for group, places, table in segment.tables(select, list(columns)):
            try:
                pieces = self._pieces_of(table, known, missing, marks)
            except (ValueError, TypeError, RecursionError, AttributeError) as error:
                segment.note(Damaged(f"rows {group * GROUP + 1} and further hold no cells ({error})"), group)
                continue
            self._keys.append(raw_keys(table.column("key")).copy())
            self._ranks.append(partial(_ranks, segment, group, places))
            for name, piece in pieces.items():
                self._pieces[name].append(piece)

    def _pieces_of(
        self, table: "pa.Table", known: Sequence[str], missing: Sequence[str], marks: Sequence[bytes]
    ) -> dict[str, np.ndarray]:
        """Return the columns of some rows. Raises ValueError, or a like error, for what no cell holds.

        known: in columns of their own    missing: to be looked for in the lines, after these marks
        """
        pieces = {name: self._decoded(name, table.column(name).combine_chunks()) for name in known}
        if not set(PLACES).isdisjoint(known) and not _are_places(table):
            raise ValueError("the heaviest weight is none of the weights")
        if missing:  # fields that few lines have, or that no column holds exactly
            texts = table.column("text").to_pylist()
            owns = [orjson.loads(b"{%s}" % t) if any(m in t for m in marks) else {} for t in texts]
            pieces |= {name: _objects([own.get(name) for own in owns]) for name in missing}
        return pieces

    def _decoded(self, name: str, column: "pa.Array") -> np.ndarray:
        if name == "key":
            return _objects([raw.hex() for raw in column.to_pylist()])
        if name in NUMBERS or name in PLACES or name == "hits":
            if column.null_count == len(column):
                return np.full(len(column), None, object)
            values = column.to_numpy(zero_copy_only=False)  # float64 with NaN where some are missing
            if name == "hits" and any(value and len(value) % 16 for value in values):
                raise ValueError("hits of no number of classes")
            return values
        memo, texts = self._memo[name], [*column.dictionary.to_pylist(), None]
        for text in texts:
            if text not in memo:
                memo[text] = _value(name, text)
        known = [memo[text] for text in texts]
        of = column.indices.fill_null(len(known) - 1) if column.null_count else column.indices
        if name in _INTEGERS and not column.null_count:
            with contextlib.suppress(OverflowError):
                return np.array([*known[:-1], 0], np.int64)[of.to_numpy()]
        return _objects(known)[of.to_numpy()]

    def add_lines(self, lines: Iterator[Line]) -> None:
        """Append the cells of lines."""
        gathered: dict[str, list[Any]] = {name: [] for name in self._names}
        keys, ranks = bytearray(), []
        while some := list(islice(lines, BATCH)):
            columns = Columns()
            columns.add([line.fields for line in some])
            made = [extra(*line.fields) for line in some] if self._extra else []
            for name, values in gathered.items():
                more = [one[name] for one in made] if name in EXTRA else columns.get(name)
                values += more or [None] * len(some)
            keys += bytes.fromhex("".join(line.key for line in some))
            ranks += [line.rank for line in some]
        self._keys.append(np.frombuffer(bytes(keys), np.uint8).reshape(-1, 32))
        self._ranks.append(lambda: ranks)
        for name, values in gathered.items():
            self._pieces[name].append(_objects(values))

    def table(self) -> "pd.DataFrame":
        """Return the newest cell of each key, one row each, with the columns in the order of the names."""
        import pandas as pd

        kept = self._newest()
        made = {}
        for name in self._names:
            objects = name in (*OBJECTS, "origin", "date", "hits")
            values = _joined(self._pieces.pop(name), objects)
            values = values if kept is None else values[kept]
            made[name] = pd.Series(values, dtype=object, copy=False) if objects else values
        return pd.DataFrame(made, columns=self._names, copy=False)

    def _newest(self) -> np.ndarray | None:
        """Return which rows are the newest of their key, None where all are."""
        keys = np.concatenate([np.empty((0, 32), np.uint8), *self._keys])
        starts = np.ascontiguousarray(keys[:, :8]).view(np.uint64)[:, 0]
        ordered = np.sort(starts)
        if (ordered[1:] != ordered[:-1]).all():
            return None
        _, of, counts = np.unique(starts, return_inverse=True, return_counts=True)
        several = np.flatnonzero(counts[of] > 1)
        ends = np.cumsum([len(own) for own in self._keys])
        best: dict[bytes, tuple[tuple, int]] = {}
        ranks: dict[int, list[tuple]] = {}
        for at in several.tolist():
            piece = int(np.searchsorted(ends, at, "right"))
            if piece not in ranks:
                ranks[piece] = self._ranks[piece]()
            mine = ranks[piece][at - ends[piece]], at
            key = keys[at].tobytes()
            best[key] = max(mine, best.get(key, mine))
        kept = counts[of] == 1
        kept[[at for _, at in best.values()]] = True
        return kept


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


def _value(name: str, text: str) -> Any:
    """Return a value of a dictionary column. Raises ValueError for what no cell has there."""
    if name not in TEXTS:
        if name == "permutation_seed" and not (text.isascii() and text.isdecimal()):
            raise ValueError("a permutation seed is no number")
        return text
    value = json.loads(text)
    if not is_shared("provenance" if name == "origin" else name, value):
        raise ValueError(f"a value of {name} is of another type")
    return value


def _are_places(table: "pa.Table") -> bool:
    """Whether the place of the heaviest weight is that of a weight, where both are there."""
    if not set(PLACES) <= set(table.column_names):
        return True
    counts, best = (table.column(name).to_numpy() for name in PLACES)
    there = ~np.isnan(best.astype(float))
    return bool(((best[there] >= 0) & (best[there] < counts[there])).all())


def _ranks(segment: Segment, group: int, places: np.ndarray) -> list[tuple]:
    try:
        table = segment.read(group, RANK).take(places)
    except Damaged as error:
        segment.note(error, group)
        return [("", "", 0)] * len(places)  # any other cell of the key is newer
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _objects(values: Sequence[Any]) -> np.ndarray:
    return np.fromiter(values, object, len(values))  # lists stay objects


def _joined(pieces: list[np.ndarray], objects: bool) -> np.ndarray:
    """Return the pieces of a column as one, as pandas would make it of all the values in a list.

    objects: the column holds other things than numbers
    """
    import pandas as pd

    pieces = [piece for piece in pieces if len(piece)]
    if not objects and any(piece.dtype == object for piece in pieces):
        pieces = [_inferred(piece) if piece.dtype == object else piece for piece in pieces]
        kinds = {piece.dtype.kind for piece in pieces if pd.notna(piece).any()}
        if kinds and kinds <= {"i", "f"}:
            pieces = [piece.astype(float) if piece.dtype == object else piece for piece in pieces]
        elif kinds:
            pieces = [pd.Series([value for piece in pieces for value in piece.tolist()]).to_numpy()]
    return np.concatenate(pieces) if pieces else np.empty(0, object)


def _inferred(piece: np.ndarray) -> np.ndarray:
    import pandas as pd

    values = piece.tolist()
    return piece if values.count(None) == len(values) else pd.Series(values).to_numpy()
