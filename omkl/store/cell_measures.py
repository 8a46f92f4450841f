"""What tables need of stored cells: their measures, and what follows from their lists and provenance."""

import contextlib
import gc
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.tasks import MEASURES, STORED

if TYPE_CHECKING:
    import pandas as pd

_TOGETHER = 2**20  # counts in memory at once
_MEASURED = {"mistake_pct": "mistake_rate", "mse_e3": "mse"} | {
    own.name: name for name, own in STORED.items()
}


class CellMeasures:
    """The measures of cells, each made once; cells: with the columns that tables read."""

    def __init__(self, cells: "pd.DataFrame") -> None:
        self._cells = cells
        self._made: dict[str, np.ndarray] = {}

    def of(self, name: str) -> np.ndarray:
        """Return a measure of omkl.tasks of each cell, NaN where it has none."""
        scale = MEASURES[name].scale
        return self.unscaled(name) if scale == 1.0 else scale * self.unscaled(name)

    def unscaled(self, name: str) -> np.ndarray:
        """Return a measure without its scale: of a rate the share, not the percentage."""
        if name not in self._made:
            if MEASURES[name].of == "counts" and not MEASURES[name].field:
                self._made |= self._of_counts()
            else:
                own = self.column(_MEASURED.get(name, "mse"))
                self._made[name] = np.sqrt(own) if MEASURES[name].root else own
        return self._made[name]

    def column(self, name: str) -> np.ndarray:
        """Return a field of each cell as a number, NaN where it has none."""
        known = name in self._cells and self._cells[name].notna().any()
        return self._cells[name].to_numpy().astype(float) if known else np.full(len(self._cells), np.nan)

    def _of_counts(self) -> dict[str, np.ndarray]:
        made = {name: np.full(len(self._cells), np.nan) for name in ("balanced_pct", "kappa", "macro_f1")}
        for places, counts in _counts(self._cells["hits"].to_numpy()):
            for name, own in of_counts(counts).items():
                made[name][places] = own
        return made


def of_counts(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return the measures (n,) of counts (n, 3, C) as of `hits_of`, NaN where they have no value."""
    right, whole, taken = counts.transpose(1, 0, 2).astype(float)
    T = whole.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        taken = np.where(taken[:, :1] < 0, np.nan, taken)  # a matrix that was cut
        chance = (whole * taken).sum(axis=1) / T**2
        made = {
            "balanced_pct": 1.0 - mean_there(right / whole),
            "kappa": (right.sum(axis=1) / T - chance) / (1.0 - chance),
            "macro_f1": mean_there(2.0 * right / (whole + taken)),
        }
    return {name: np.where(np.isfinite(own), own, np.nan) for name, own in made.items()}


def mean_there(values: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis of what is there, NaN where nothing is."""
    there = ~np.isnan(values)
    return np.where(there, values, 0.0).sum(axis=-1) / there.sum(axis=-1)


def _counts(hits: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield places (n,) of cells with as many classes, and their counts (n, 3, C)."""
    sizes = np.array([len(one) if isinstance(one, bytes) else 0 for one in hits.tolist()])
    for size in np.unique(sizes[sizes > 0]).tolist():
        places = np.flatnonzero(sizes == size)
        for some in np.array_split(places, len(places) * size // (8 * _TOGETHER) + 1):
            yield some, np.frombuffer(b"".join(hits[some]), "<i8").reshape(len(some), 3, -1)


# -------------------------------------------------------------------- of lists and provenance


def hits_of(stored: Any) -> bytes | None:
    """Return (3, C) int64: of each class how many of its examples are taken for it, how many it has, and how
    many are taken for it; of the last -1 where the matrix was cut. None without a matrix.

    That is all that tables need of a confusion matrix (omkl.data.confusion).
    """
    if isinstance(stored, dict):
        right, whole, taken = ([0] * stored["classes"] for _ in range(3))
        for true, predicted, count in zip(stored["true"], stored["predicted"], stored["counts"], strict=True):
            whole[true] += count
            right[true] += count if true == predicted else 0
            taken[predicted] += count
        taken = [-1] * len(taken) if -1 in stored["predicted"] else taken
    elif isinstance(stored, list):
        right, whole = [row[at] for at, row in enumerate(stored)], [sum(row) for row in stored]
        taken = [sum(column) for column in zip(*stored, strict=True)]
    else:
        return None
    return struct.pack(f"<{3 * len(right)}q", *right, *whole, *taken)


def _heaviest(weights: Any) -> int | None:
    """Return the place of the first of the largest weights, None without weights."""
    sizes = list(map(abs, weights)) if isinstance(weights, list) else None
    return sizes.index(max(sizes)) if sizes else None


def _part(name: str) -> Callable[[Any], Any]:
    return lambda provenance: provenance.get(name) if isinstance(provenance, dict) else None


# columns that are made of one field of a cell: the field, and the function of its value
EXTRA: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "origin": ("provenance", lambda provenance: provenance if isinstance(provenance, dict) else None),
    "load": ("provenance", _part("load")),
    "date": ("provenance", lambda provenance: str(_part("time")(provenance) or "")[:10]),
    "n_weights": ("weights", lambda weights: len(weights) if isinstance(weights, list) else None),
    "heaviest": ("weights", _heaviest),
    "hits": ("confusion", hits_of),
}


def with_extra(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Return cells with all columns, as of `Store.cells` without ``columns``, with those of EXTRA too."""
    if not set(EXTRA).isdisjoint(cells):
        return cells
    none = [None] * len(cells)
    made = {
        name: np.fromiter(map(make, cells.get(field, none)), object, len(cells))
        for name, (field, make) in EXTRA.items()
    }
    return cells.assign(**made)


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Stop the cyclic garbage collector: it would take much of the time of making many objects."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
