"""Cells as columns: a table in memory, filled from lines and from segments.

Some columns of a million cells are made from segments without an object for each cell: cells share the
objects of what they share, and numbers stay in arrays.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.store.lines import COLUMNS, OBJECTS, OWN_PROVENANCE, SHARED, Fields, Line
from omkl.store.segments import EXTRA, NUMBERS, PLACES, RANK, TEXTS, Segment, Select, raw_keys

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BATCH = 50  # lines parsed at a time: few, so that they stay in the processor's cache

_NO_COLUMN = (*OWN_PROVENANCE, "crc32")


class Columns(dict[str, list[Any]]):
    """Cells as columns, filled a few at a time, so that parsed lines do not pile up in memory."""

    def __init__(self) -> None:
        super().__init__({name: [] for name in COLUMNS})

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
    """Return a cell's fields as one dict, COLUMNS first; what the line does not say is None."""
    row = {**dict.fromkeys(COLUMNS), "task": "classification", **shared, **own}
    row["provenance"] = _provenance(own, shared)
    return {name: value for name, value in row.items() if name not in _NO_COLUMN}


def extra(own: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return what tables need of a cell's lists and provenance, without holding these: segments.EXTRA.

    date: of its time    origin: the provenance without time and load    n_weights, heaviest: the number of
    its weights and the place of the first of the largest size, None without weights
    """
    weights = own.get("weights")
    time = own.get("time", shared["provenance"].get("time", ""))
    best = max(range(len(weights)), key=lambda i: abs(weights[i])) if weights else None
    load = own.get("load", shared["provenance"].get("load"))
    count = len(weights) if type(weights) is list else None
    values = (shared["provenance"], load, time[:10], count, best)
    return dict(zip(EXTRA, values, strict=True))


class Frame:
    """Some columns of finished cells, the newest of each key, gathered piece by piece.

    names: of COLUMNS and EXTRA, or any field that a line may have
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
        if not set(self._names) - {"key"} <= set(segment.names):  # some column cannot hold its values
            return self.add_lines(segment.lines(select))
        for _, _, table in segment.tables(select, list(dict.fromkeys((*self._names, "key", *RANK)))):
            self._keys.append(raw_keys(table.column("key")).copy())
            self._ranks.append(partial(_ranks, table.select(RANK)))
            for name in self._names:
                self._pieces[name].append(self._decoded(name, table.column(name).combine_chunks()))

    def _decoded(self, name: str, column: "pa.Array") -> np.ndarray:
        if name == "key":
            return _objects([raw.hex() for raw in column.to_pylist()])
        if name in NUMBERS or name in PLACES:
            if column.null_count == len(column):
                return np.full(len(column), None, object)
            return column.to_numpy(zero_copy_only=False)  # float64 with NaN where some are missing
        memo, texts = self._memo[name], [*column.dictionary.to_pylist(), None]
        for text in texts:
            if text not in memo:
                memo[text] = json.loads(text) if name in TEXTS else text
        values = _objects([memo[text] for text in texts])
        return values[column.indices.fill_null(len(texts) - 1).to_numpy()]

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
            objects = name in (*OBJECTS, "origin", "date")
            values = _joined(self._pieces.pop(name), objects)
            values = values if kept is None else values[kept]
            made[name] = pd.Series(values, dtype=object, copy=False) if objects else values
        return pd.DataFrame(made, columns=self._names, copy=False)

    def _newest(self) -> np.ndarray | None:
        """Return which rows are the newest of their key, None where all are."""
        keys = np.concatenate([np.empty((0, 32), np.uint8), *self._keys])
        _, of, counts = np.unique(
            np.ascontiguousarray(keys[:, :8]).view(np.uint64)[:, 0], return_inverse=True, return_counts=True
        )
        several = np.flatnonzero(counts[of] > 1)
        if not len(several):
            return None
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


def _ranks(table: "pa.Table") -> list[tuple]:
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
        pieces = [pd.Series(p.tolist()).to_numpy() if p.dtype == object else p for p in pieces]
        kinds = {piece.dtype.kind for piece in pieces if pd.notna(piece).any()}
        if kinds and kinds <= {"i", "f"}:
            pieces = [piece.astype(float) if piece.dtype == object else piece for piece in pieces]
        elif kinds:
            pieces = [pd.Series([value for piece in pieces for value in piece.tolist()]).to_numpy()]
    return np.concatenate(pieces) if pieces else np.empty(0, object)
