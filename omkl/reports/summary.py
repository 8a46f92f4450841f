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
from omkl.reports.winner import WEIGHED, winner

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
    records = [_averages(row, some, cells, expected) for row, some in zip(rows, shown, strict=True)]
    for name in dict.fromkeys(row.data for row in rows):
        _mark([(row, record) for row, record in zip(rows, records, strict=True) if row.data == name], cells)
    summary = pd.DataFrame(records, columns=list(COLUMNS)).astype(dict.fromkeys(_FLAGS, bool))
    for name in (
        "T",
        "m",
        "pool",
        "classes",
        "class_errors",
    ):  # whole numbers and None, which pandas would turn into floats and NaN
        summary[name] = pd.Series([record[name] for record in records], dtype=object)
    return summary


def _averages(row: Row, shown: dict[str, Any], cells: "pd.DataFrame", expected: Expected) -> dict[str, Any]:
    columns = ("T", "m", "provenance", "confusion", *(column for column, _, _ in MEASURES))
    own = {column: cells[column].to_numpy()[row.cells] for column in columns}
    reps = len(row.cells)
    same = ("data", "task", "order", "pool", "params", "is_yardstick")
    record: dict[str, Any] = {key: getattr(row, key) for key in same}
    record |= {"algo": row.learner, "label": row.label or expected.label(row.learner)}
    if row.label:  # which says all
        shown = {}
    record |= {"shown": list(shown), "settings": params_text(shown)}
    record |= {"T": int(own["T"][0]) if reps else None, "m": int(own["m"].max()) if reps else None}
    record |= {"reps": reps, "asked": row.planned, "complete": reps >= row.planned}
    weighed = ({name: cells[name].iat[at] for name in WEIGHED} for at in row.cells)
    record |= {"kernel": winner(weighed)}
    record |= {"marked": False, "best": False, "p_value": np.nan, "common": 0}
    errors = mean_errors(own["confusion"])
    names = None
    if errors is not None:
        name, content = (str(cells[column].iat[row.cells[0]]) for column in ("data", "data_hash"))
        names = class_names(name, content, len(errors), expected)
    record |= {"classes": names, "class_errors": errors}
    for column, name, factor in MEASURES:
        values = own[column].astype(float) * factor
        record[f"{name}_mean"] = float(values.mean()) if reps else np.nan
        record[f"{name}_std"] = float(values.std(ddof=1)) if reps > 1 else np.nan
    return record | origin.columns(own["provenance"])


def _mark(rows: list[tuple[Row, dict[str, Any]]], cells: "pd.DataFrame") -> None:
    """Mark the best rows of one data set in their records."""
    rows = [(row, record) for row, record in rows if record["reps"]]
    if not rows or not BY_TASK[rows[0][0].task].least:
        return
    mean = f"{BY_TASK[rows[0][0].task].name}_mean"
    lowest = min(record[mean] for _, record in rows)
    # Of rows with equal means, the one with most repetitions is tested against.
    best, _ = max((pair for pair in rows if pair[1][mean] == lowest), key=lambda pair: pair[1]["reps"])
    differences = [difference(row, best, cells) for row, _ in rows]
    for (_, record), own, p in zip(rows, differences, paired_ps(differences), strict=True):
        record |= {"best": record[mean] == lowest, "common": own.size, "p_value": p}
        record["marked"] = record["best"] or not_worse(own, p)


def difference(one: Row, other: Row, cells: "pd.DataFrame") -> np.ndarray:
    """Return the errors of one row minus those of another, (n,), over the permutations both have run."""
    # Counts, not rates: their differences are exact, so that equal is equal.
    tested, seeds = cells[BY_TASK[one.task].tested].to_numpy(), cells["permutation_seed"].to_numpy()
    ours, theirs = (
        dict(zip(map(str, seeds[row.cells]), tested[row.cells].astype(float), strict=True))
        for row in (one, other)
    )
    return np.array([ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())])


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
