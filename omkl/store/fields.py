"""The fields of a cell: one table, of which its line, its checks, its key, columns and means are made.

Measures come from omkl/tasks.py by themselves; another figure is one entry here, and the function in
omkl/passes/cell_figures.py that computes it. Below: what tables need of stored cells: their measures, and
what follows from their lists and provenance.
"""

import contextlib
import gc
import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.tasks import BINS, MEASURES, STORED, TASKS

if TYPE_CHECKING:
    import pandas as pd


SCALING = 2  # revision of scale=online: raise it when it makes other rows
NOTHING = type(None)
TEXT, WHOLE, NUMBER = (str,), (int,), (int, float)
MAYBE_WHOLE, MAYBE_NUMBER, MAYBE_TEXT = (int, NOTHING), (int, float, NOTHING), (str, NOTHING)


def _only(values: Iterable[Any], *types: type) -> bool:
    return set(map(type, values)) <= set(types)


def _positive(value: int) -> bool:
    return value > 0


def _whole_numbers(values: list) -> bool:
    return _only(values, int)


def _numbers(values: list) -> bool:
    return _only(values, int, float)


def _is_part(value: list | str) -> bool:
    return isinstance(value, str) or (len(value) == 2 and _only(value, int))


def _pool(value: dict) -> bool:
    kernels = value.get("kernels")
    return (
        isinstance(value.get("normalise"), str)
        and isinstance(kernels, list)
        and bool(kernels)
        and all(isinstance(kernel, dict) and isinstance(kernel.get("kind"), str) for kernel in kernels)
    )


def _are_bins(value: list) -> bool:
    """Whether these are bins as of omkl.passes.scores.reliability."""
    if not all(isinstance(one, list) and len(one) == 4 and _only(one, int, float) for one in value):
        return False
    return all(
        type(at) is type(n) is type(right) is int and 0 <= at < BINS and 0 <= right <= n and 0 <= p <= 1
        for at, n, p, right in value
    )


def _is_counts(value: list | dict) -> bool:
    """Whether these are counts as of omkl.passes.confusion."""
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(row, list) and len(row) == len(value) and _only(row, int) for row in value
        )
    C, lists = value.get("classes"), [value.get(name) for name in ("true", "predicted", "counts")]
    counts = [part for part in lists if isinstance(part, list) and _only(part, int)]
    if type(C) is not int or len(counts) < len(lists) or len(set(map(len, counts))) > 1:
        return False
    true, predicted, _ = counts
    return all(0 <= place < C for place in true) and all(-1 <= place < C for place in predicted)  # -1: cut


def _origin(value: dict) -> bool:
    """Whether those parts of a provenance are right that are more than shown."""
    types: dict[str, type | tuple[type, ...]] = {"versions": dict, "jobs": int, "threads": int, "cores": int}
    types |= {"load": (int, float), "time": str}
    return all(value.get(name) is None or isinstance(value[name], kind) for name, kind in types.items())


def is_curve(value: Any) -> bool:
    """Whether this is a curve: lists of numbers at the points ``t``, and of weights at ``weights_t``."""
    if type(value) is not dict or not isinstance(value.get("t"), list):
        return False
    times, weights = value.get("weights_t") or [], value.get("weights") or []
    lists = [series for name, series in value.items() if name not in ("weights_t", "weights")]
    if not (all(isinstance(series, list) for series in (times, weights, *lists)) and _only(weights, list)):
        return False
    return (
        all(len(series) == len(value["t"]) > 0 and _numbers(series) for series in lists)
        and _numbers(times)
        and (not weights or len(weights) == len(times))
        and all(len(row) == len(weights[0]) > 0 and _numbers(row) for row in weights)
    )


@dataclass(frozen=True)
class Field:
    """A field of a cell's line.

    name: in the line, and of the column    types: that its JSON may have; a field that may be null may be
    missing    meaning, unit: for a reader    valid: whether what is inside a value, other than null, is
    right    figure: measured, in place of known before the cell runs
    shared: by the cells of one setting on one data set, which a line says last    key: its name in what the
    cell's key is a hash of, "" where results do not depend on it    mean: what its mean over the repetitions
    is called, and times what it is, or None
    """

    name: str
    types: tuple[type, ...]
    meaning: str
    unit: str = ""
    figure: bool = False
    shared: bool = False
    key: str = ""
    mean: tuple[str, float] | None = None
    valid: Callable[[Any], bool] | None = None

    @property
    def is_object(self) -> bool:
        """Whether its column holds texts, lists and mappings; others hold numbers."""
        return not set(self.types) <= {int, float, NOTHING}


def _setting(name: str, types: tuple[type, ...], meaning: str, **more: Any) -> Field:
    return Field(name, types, meaning, **{"shared": True, **more})


def _figure(name: str, types: tuple[type, ...], meaning: str, unit: str = "", **more: Any) -> Field:
    return Field(name, types, meaning, unit, **{"figure": True, **more})


FIELDS = (
    Field("key", TEXT, "hash of all that the result depends on"),
    Field("status", TEXT, "ok or failed"),
    _setting("algo", TEXT, "learner", key="algo"),
    _setting("params", (dict,), "its hyperparameters", key="params"),
    _setting("pool", (str, NOTHING), "name of the pool of kernels"),
    _setting(
        "pool_spec", (dict, NOTHING), "its kernels, and how they are normalised", key="pool", valid=_pool
    ),
    _setting("data", TEXT, "name of the data set"),
    _setting("data_hash", TEXT, "hash of its content", key="data"),
    _setting("task", TEXT, "its task", key="task", valid=TASKS.__contains__),
    _setting(
        "own",
        MAYBE_WHOLE,
        "1 of numbers that are the user's own: rounds before they have varied count in no measure",
        key="own",
    ),
    _setting(
        "told",
        MAYBE_TEXT,
        "of a user's own data: a hash of what classes and columns are called, where an estimator of another "
        "package sees it",
        key="told",
    ),
    _setting("order", TEXT, "how its rows are ordered", key="order"),
    Field("rep", WHOLE, "repetition, from 0"),
    _setting("seed", WHOLE, "base seed of the repetitions"),
    Field(
        "permutation_seed",
        TEXT,
        "seed of the permutation, a whole number",
        key="permutation_seed",
        valid=str.isdecimal,
    ),
    _setting("revision", WHOLE, "of the learner", key="revision"),
    _setting("T", WHOLE, "rounds of the pass", figure=True, valid=_positive),
    _figure(
        "mistakes",
        MAYBE_WHOLE,
        "rounds with a mistake; of novelty detection those flagged",
        mean=("mistakes", 1.0),
    ),
    _figure("mistake_rate", MAYBE_NUMBER, "mistakes / T", mean=("mistake_pct", 100.0)),
    _figure("mse", MAYBE_NUMBER, "mean squared error of a regression", mean=("mse_e3", 1000.0)),
    _figure(
        "worst_round", MAYBE_WHOLE, "of a regression: the round, from 1, with over half of the squared error"
    ),
    _figure(
        "few_rounds",
        MAYBE_WHOLE,
        "of such numbers: how many rounds have over half of the squared error, where they are few",
    ),
    _figure("n_sv_sum", WHOLE, "support vectors, summed over the kernels", mean=("n_sv_sum", 1.0)),
    _figure("n_sv_union", WHOLE, "distinct examples stored", mean=("n_sv_union", 1.0)),
    _figure(
        "n_sv_combined",
        MAYBE_WHOLE,
        "support vectors that the last prediction combined",
        mean=("n_sv_combined", 1.0),
    ),
    _figure("n_sv_per_kernel", (list,), "support vectors of each kernel", valid=_whole_numbers),
    _figure("weights", (list, NOTHING), "weight of each kernel after the pass", valid=_numbers),
    _figure("pairs", WHOLE, "stored vectors, summed over the rounds"),
    _setting("m", WHOLE, "kernels", figure=True),
    _figure("seconds", NUMBER, "of the learner, one thread", "s", mean=("seconds", 1.0)),
    _setting(
        "provenance",
        (dict,),
        "what made the cell: versions, commit, machine, workers, time, load",
        valid=_origin,
    ),
    _setting("source", (str, NOTHING), "hash of a folder's learner", key="source"),
    _setting(
        "rounds",
        (list, NOTHING),
        "first round and the one after the last, of a part",
        key="rounds",
        valid=_is_part,
    ),
    _setting("test", (str, NOTHING), "what is held out: a data set, or a share"),
    _setting(
        "held_out",
        (list, str, NOTHING),
        "the first of these rounds and the one after the last, or the hash of the data set",
        key="held_out",
        valid=_is_part,
    ),
    _figure(
        "memory",
        MAYBE_WHOLE,
        "of the learner, its stream and its trace",
        "bytes",
        mean=("memory_mib", 2.0**-20),
    ),
    _figure("confusion", (list, dict, NOTHING), "rounds of each true and predicted class", valid=_is_counts),
    _figure(
        "reliability",
        (list, NOTHING),
        "bins of the ECE: number, rounds, mean probability of the class predicted, rounds without a mistake",
        valid=_are_bins,
    ),
    *(
        _figure(name, MAYBE_NUMBER, own.meaning, own.unit, mean=(own.name, own.scale))
        for name, own in STORED.items()
    ),
)
NAMES = tuple(field.name for field in FIELDS)
SHARED = tuple(field.name for field in FIELDS if field.shared)
OBJECTS = tuple(field.name for field in FIELDS if field.is_object)
KEYED = tuple(field for field in FIELDS if field.key)
AVERAGED = {field.name: field.mean for field in FIELDS if field.mean}


def cell_key(setting: Mapping[str, Any]) -> str:
    """Return a cell's key: the hex sha256 of canonical JSON of the fields that its result depends on.

    setting: those fields, by their names in a line; null where one is missing. Where a cell ran never counts,
    nor do the names of its pool and its data. Canonical: keys sorted, no white space, floats as ``repr``
    prints them. A float and an int of the same value differ (1.0, 1): the configuration has already given
    every value its declared type. Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold.
    """
    identity = {field.key: setting.get(field.name) for field in KEYED}
    for name in ("own", "told"):  # null of registered data, of other tasks, of learners of omkl
        if identity[name] is None:
            del identity[name]
    if "scale" in (identity["params"] or {}):
        identity["scaling"] = SCALING
    if pool := identity["pool"]:
        identity["pool"] = {"normalise": pool["normalise"], "kernels": pool["kernels"]}
    return hashlib.sha256(dumps(identity, sort_keys=True).encode()).hexdigest()


def dumps(value: Any, sort_keys: bool = False) -> str:
    """Return compact JSON. Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold."""
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)


# ------------------------------------------------------------------ of stored cells

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
                values = self.column(_MEASURED.get(name, "mse"))
                self._made[name] = np.sqrt(values) if MEASURES[name].root else values
        return self._made[name]

    def column(self, name: str) -> np.ndarray:
        """Return a field of each cell as a number, NaN where it has none."""
        has_values = name in self._cells and self._cells[name].notna().any()
        return self._cells[name].to_numpy().astype(float) if has_values else np.full(len(self._cells), np.nan)

    def _of_counts(self) -> dict[str, np.ndarray]:
        measures = {name: np.full(len(self._cells), np.nan) for name in ("balanced_pct", "kappa", "macro_f1")}
        for places, counts in _counts(self._cells["hits"].to_numpy()):
            for name, rates in of_counts(counts).items():
                measures[name][places] = rates
        return measures


def of_counts(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return the measures (n,) of counts (n, 3, C) as of `hits_of`, NaN where they have no value."""
    right, whole, taken = counts.transpose(1, 0, 2).astype(float)
    T = whole.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        taken = np.where(taken[:, :1] < 0, np.nan, taken)  # a matrix that was cut
        chance = (whole * taken).sum(axis=1) / T**2
        measures = {
            "balanced_pct": 1.0 - mean_there(right / whole),
            "kappa": (right.sum(axis=1) / T - chance) / (1.0 - chance),
            "macro_f1": mean_there(2.0 * right / (whole + taken)),
        }
    return {name: np.where(np.isfinite(rates), rates, np.nan) for name, rates in measures.items()}


def mean_there(values: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis of what is there, NaN where nothing is."""
    there = ~np.isnan(values)
    return np.where(there, values, 0.0).sum(axis=-1) / there.sum(axis=-1)


def _counts(hits: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield places (n,) of cells with as many classes, and their counts (n, 3, C)."""
    sizes = np.array([len(one) if isinstance(one, bytes) else 0 for one in hits.tolist()])
    for size in np.unique(sizes[sizes > 0]).tolist():
        places = np.flatnonzero(sizes == size)
        for chunk in np.array_split(places, len(places) * size // (8 * _TOGETHER) + 1):
            yield chunk, np.frombuffer(b"".join(hits[chunk]), "<i8").reshape(len(chunk), 3, -1)


# -------------------------------------------------------------------- of lists and provenance


def hits_of(stored: Any) -> bytes | None:
    """Return (3, C) int64: of each class how many of its examples are taken for it, how many it has, and how
    many are taken for it; of the last -1 where the matrix was cut. None without a matrix.

    That is all that tables need of a confusion matrix (omkl.passes.confusion).
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
    columns = {
        name: np.fromiter(map(make, cells.get(field, none)), object, len(cells))
        for name, (field, make) in EXTRA.items()
    }
    return cells.assign(**columns)


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
