"""The summary: one row per data set, learner, pool and hyperparameters, averaged over the repetitions."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl import tasks
from omkl.config.settings_text import params_text
from omkl.reports import origin
from omkl.reports.confusions import class_names, mean_errors
from omkl.reports.expected import Expected
from omkl.reports.measures import BY_TASK
from omkl.reports.rows import Row, rows_of, shown_params
from omkl.reports.winner import Winners

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
MEASURES = (  # column of the cells, name of the columns made from it, times what
    ("mistakes", "mistakes", 1.0),
    ("mistake_rate", "mistake_pct", 100.0),
    ("mse", "mse_e3", 1000.0),
    *((name, name, 1.0) for name in tasks.MEASURES),
    ("n_sv_sum", "n_sv_sum", 1.0),
    ("n_sv_union", "n_sv_union", 1.0),
    ("n_sv_combined", "n_sv_combined", 1.0),
    ("seconds", "seconds", 1.0),
    ("memory", "memory_mib", 2.0**-20),
)
READ = (  # the columns of cells that a table needs, and of its notes
    *("key", "status", "data", "data_hash", "order", "algo", "params", "pool", "pool_spec", "task", "seed"),
    *("permutation_seed", "T", "m", "rounds", "confusion", "origin", "load", "n_weights", "heaviest"),
    *(column for column, _, _ in MEASURES),
)
_FLAGS = ("is_yardstick", "complete", "marked", "best")
COLUMNS = (
    *("data", "task", "order", "T", "m", "pool", "kernel", "algo", "label", "is_yardstick", "settings"),
    "shown",
    *("params", "reps", "asked", "complete", "marked", "best", "p_value", "common"),
    *("classes", "class_errors"),
    *(f"{name}_{part}" for _, name, _ in MEASURES for part in ("mean", "std")),
    *origin.COLUMNS,
)


def summary_of(cells: "pd.DataFrame", expected: Expected) -> "pd.DataFrame":
    """Average the cells over their repetitions.

    Columns (COLUMNS): ``mistake_pct_mean`` and so on are means over the repetitions, ``..._std`` sample
    standard deviations (ddof 1, NaN for one repetition); rates in percent, ``mse_e3`` the mean squared error
    of a regression times 1000, ``nlpd`` NaN for a learner that does not report it, seconds of the learner.
    ``m`` is the number of kernels, 0 for a kernel-free learner, ``kernel`` the one that wins (winner.winner).
    ``settings`` is the text of the hyperparameters to show (``shown``), ``params`` all of them. ``reps``
    repetitions have finished, ``asked`` are expected; ``complete`` when these agree. ``class_errors`` are the
    mean errors of the ``classes`` in percent, None of cells without them. The last columns are those of
    origin.columns.

    ``best``: the lowest mean mistake rate of the data set, of a regression the lowest mean squared error, of
    a novelty detection none. ``marked``: the best, and every row not worse than it by a two-sided paired
    t-test at 0.05 over the permutations that both have run (``common``, ``p_value``); fewer than two in
    common is no test and no mark. Learners and yardsticks compete, so that a reader sees where a yardstick
    wins. Rows compete within one data set and order, over all pools and hyperparameters.
    """
    return summary_of_rows(rows_of(cells, expected), cells, expected)


def summary_of_rows(rows: list[Row], cells: "pd.DataFrame", expected: Expected) -> "pd.DataFrame":
    """As ``summary_of``, of rows that are chosen already."""
    import pandas as pd

    shown = shown_params(rows, expected)
    records = _records(rows, shown, cells, expected)
    by_data: dict[str, list[tuple[Row, dict[str, Any]]]] = {}
    for row, record in zip(rows, records, strict=True):
        by_data.setdefault(row.data, []).append((row, record))
    tested = Tested(cells)
    for own in by_data.values():
        _mark(own, tested)
    summary = pd.DataFrame(records, columns=list(COLUMNS)).astype(dict.fromkeys(_FLAGS, bool))
    for name in ("T", "m", "pool", "classes", "class_errors"):  # pandas would turn None into NaN
        summary[name] = pd.Series([record[name] for record in records], dtype=object)
    return summary


def _records(
    rows: list[Row], shown: list[dict[str, Any]], cells: "pd.DataFrame", expected: Expected
) -> list[dict[str, Any]]:
    means, winners, origins = _means(rows, cells), Winners(cells), origin.Origins(cells)
    T, m = (cells[name].to_numpy() for name in ("T", "m"))
    records = []
    for at, (row, own) in enumerate(zip(rows, shown, strict=True)):
        reps = len(row.cells)
        same = ("data", "task", "order", "pool", "params", "is_yardstick")
        record: dict[str, Any] = {key: getattr(row, key) for key in same}
        record |= {"algo": row.learner, "label": row.label or expected.label(row.learner)}
        if row.label:  # which says all
            own = {}
        record |= {"shown": list(own), "settings": params_text(own)}
        record |= {
            "T": int(T[row.cells[0]]) if reps else None,
            "m": int(m[row.cells].max()) if reps else None,
        }
        record |= {"reps": reps, "asked": row.planned, "complete": reps >= row.planned}
        record |= {"kernel": winners.of(row.cells)}
        record |= {"marked": False, "best": False, "p_value": np.nan, "common": 0}
        record |= _class_errors(row, cells, expected)
        record |= {name: values[at] for name, values in means.items()}
        records.append(record | origins.columns(row.cells))
    return records


def _class_errors(row: Row, cells: "pd.DataFrame", expected: Expected) -> dict[str, Any]:
    errors = mean_errors(cells["confusion"].to_numpy()[row.cells]) if "confusion" in cells else None
    names = None
    if errors is not None:
        name, content = (str(cells[column].iat[row.cells[0]]) for column in ("data", "data_hash"))
        names = class_names(name, content, len(errors), expected)
    return {"classes": names, "class_errors": errors}


def _means(rows: list[Row], cells: "pd.DataFrame") -> dict[str, list[float]]:
    """Return the means and standard deviations of the rows, by the names of their columns."""
    by_size: dict[int, list[int]] = {}  # rows with the same number of cells are averaged together
    for at, row in enumerate(rows):
        by_size.setdefault(len(row.cells), []).append(at)
    by_size.pop(0, None)
    places = {size: np.array([rows[at].cells for at in own]) for size, own in by_size.items()}
    means: dict[str, list[float]] = {}
    for column, name, factor in MEASURES:
        values = cells[column].to_numpy().astype(float) * factor
        mean, std = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        for size, own in by_size.items():
            each = values[places[size]]
            mean[own] = each.mean(axis=1)
            if size > 1:
                std[own] = each.std(axis=1, ddof=1)
        means |= {f"{name}_mean": mean.tolist(), f"{name}_std": std.tolist()}
    return means


def _mark(rows: list[tuple[Row, dict[str, Any]]], tested: "Tested") -> None:
    """Mark the best rows of one data set in their records."""
    rows = [(row, record) for row, record in rows if record["reps"]]
    if not rows or not BY_TASK[rows[0][0].task].least:
        return
    mean = f"{BY_TASK[rows[0][0].task].name}_mean"
    lowest = min(record[mean] for _, record in rows)
    # Of rows with equal means, the one with most repetitions is tested against.
    best, _ = max((pair for pair in rows if pair[1][mean] == lowest), key=lambda pair: pair[1]["reps"])
    differences = [tested.difference(row, best) for row, _ in rows]
    for (_, record), own, p in zip(rows, differences, paired_ps(differences), strict=True):
        record |= {"best": record[mean] == lowest, "common": own.size, "p_value": p}
        record["marked"] = record["best"] or not_worse(own, p)


class Tested:
    """The errors of cells by permutation."""

    def __init__(self, cells: "pd.DataFrame") -> None:
        import pandas as pd

        self._cells = cells
        known, texts = pd.factorize(cells["permutation_seed"].to_numpy())
        names = [str(text) for text in texts]
        # by name; a cell without a seed has that of number -1, the last
        ranks = np.array([*np.argsort(np.argsort(np.array(names, str))), len(names)], int)
        self._seeds = ranks[known]
        self._errors: dict[str, np.ndarray] = {}

    def _of(self, row: Row) -> tuple[np.ndarray, np.ndarray]:
        """Return the permutations of a row, ascending, and its errors in them."""
        column = BY_TASK[row.task].tested  # counts, not rates: their differences are exact, equal is equal
        if column not in self._errors:
            self._errors[column] = self._cells[column].to_numpy().astype(float)
        seeds, errors = self._seeds[row.cells], self._errors[column][row.cells]
        order = np.argsort(seeds, kind="stable")
        last = np.append(np.diff(seeds[order]) != 0, True)  # of two cells of one permutation the later
        return seeds[order][last], errors[order][last]

    def difference(self, one: Row, other: Row) -> np.ndarray:
        """Return the errors of one row minus those of another, (n,), over the permutations both have run."""
        (own, ours), (others, theirs) = self._of(one), self._of(other)
        if np.array_equal(own, others):
            return ours - theirs
        _, a, b = np.intersect1d(own, others, assume_unique=True, return_indices=True)
        return ours[a] - theirs[b]


def paired_ps(differences: Sequence[np.ndarray]) -> list[float]:
    """Return the two-sided p-values of the paired t-tests of differences (n,) each; NaN for n < 2.

    Differences that are all equal leave the test without variance: p is 1 where they are 0, else 0.
    """
    p_values = [math.nan if d.size < 2 else float(d[0] == 0) for d in differences]
    varied = [place for place, d in enumerate(differences) if d.size > 1 and np.ptp(d) != 0]
    if varied:
        from scipy.special import stdtr  # scipy.stats would do all of this, but takes a second to import

        for place in varied:
            d = differences[place]
            t = d.mean() / math.sqrt(d.var(ddof=1) / d.size)
            p_values[place] = float(2.0 * stdtr(d.size - 1, -abs(t)))
    return p_values


def not_worse(difference: np.ndarray, p: float) -> bool:
    """Return whether errors minus the best's errors (n,), of p-value p, show no significantly higher mean."""
    return difference.size >= 2 and bool(difference.mean() <= 0 or p >= ALPHA)
