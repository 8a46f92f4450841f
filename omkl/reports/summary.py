"""The summary: one row per data set, learner, pool and hyperparameters, averaged over the repetitions."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports.asked import Asked
from omkl.reports.measures import MEASURES as BY_TASK
from omkl.reports.rows import Row, params_text, rows_of, shown_params

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
# column of the cells, name of the columns made from it, times what
MEASURES = (
    ("mistakes", "mistakes", 1.0),
    ("mistake_rate", "mistake_pct", 100.0),
    ("mse", "mse_e3", 1000.0),
    ("n_sv_sum", "n_sv_sum", 1.0),
    ("n_sv_union", "n_sv_union", 1.0),
    ("n_sv_combined", "n_sv_combined", 1.0),
    ("seconds", "seconds", 1.0),
)
COLUMNS = (
    *(
        "data",
        "task",
        "order",
        "T",
        "m",
        "pool",
        "algo",
        "label",
        "is_yardstick",
        "settings",
        "shown",
        "params",
    ),
    *("reps", "asked", "complete", "marked", "best", "p_value", "common"),
    *(f"{name}_{part}" for _, name, _ in MEASURES for part in ("mean", "std")),
)


def summarise(
    cells: "pd.DataFrame",
    asked_reps: int | None = None,
    yardsticks: Iterable[Any] = (),
    *,
    settings: Iterable[Any] = (),
    data: Iterable[str] = (),
    specs: Mapping[str, Any] | None = None,
) -> "pd.DataFrame":
    """Average the cells over their repetitions; the arguments are those of ``Asked``.

    Columns (COLUMNS): ``mistake_pct_mean`` and so on are means over the repetitions, ``..._std`` sample
    standard deviations (ddof 1, NaN for one repetition); rates in percent, ``mse_e3`` the mean squared error
    of a regression times 1000, seconds of the learner.
    ``m`` is the number of kernels, 0 for a kernel-free learner. ``settings`` is the text of the
    hyperparameters worth showing (``shown``), ``params`` all of them. ``reps`` have finished,
    ``asked`` were asked for (the most that any row has, if not told), ``complete`` when these agree.

    ``best``: the lowest mean mistake rate of the data set, of a regression the lowest mean squared error, of
    a novelty detection none. ``marked``: the best and every row not worse than
    it by a two-sided paired t-test at 0.05 over the permutations that both have run (``common``,
    ``p_value``); fewer than two in common is no test and no mark. Learners and yardsticks compete with one
    another, so that a reader sees where a yardstick wins. Rows compete within one data set and order, over
    all pools and hyperparameters.
    """
    asked = Asked(asked_reps, tuple(settings), tuple(yardsticks), tuple(data), specs or {})
    return summary_of(cells, asked)


def summary_of(cells: "pd.DataFrame", asked: Asked) -> "pd.DataFrame":
    """As ``summarise``, with the arguments in one object."""
    import pandas as pd

    rows = rows_of(cells, asked)
    most = max((len(row.cells) for row in rows), default=0)
    shown = shown_params(rows, asked)
    records = [
        _record(row, some, cells, asked, most if asked.reps is None else asked.reps)
        for row, some in zip(rows, shown, strict=True)
    ]
    for name in dict.fromkeys(row.data for row in rows):
        _mark([(row, record) for row, record in zip(rows, records, strict=True) if row.data == name], cells)
    summary = pd.DataFrame(records, columns=list(COLUMNS))
    for name in ("T", "m", "pool"):  # whole numbers and None, which pandas would turn into floats and NaN
        summary[name] = pd.Series([record[name] for record in records], dtype=object)
    return summary


def _record(row: Row, shown: dict, cells: "pd.DataFrame", asked: Asked, reps: int) -> dict[str, Any]:
    own = cells.iloc[row.cells]
    record = {
        "data": row.data,
        "task": row.task,
        "order": row.order,
        "T": int(own["T"].iloc[0]) if len(own) else None,
        "m": int(own["m"].max()) if len(own) else None,
        "pool": row.pool,
        "algo": row.algo,
        "label": asked.label(row.algo),
        "is_yardstick": row.is_yardstick,
        "settings": params_text(shown),
        "shown": list(shown),
        "params": row.params,
        "reps": len(own),
        "asked": reps,
        "complete": len(own) >= reps,
        "marked": False,
        "best": False,
        "p_value": np.nan,
        "common": 0,
    }
    for column, name, factor in MEASURES:
        values = own[column].to_numpy(dtype=float) * factor
        record[f"{name}_mean"] = float(values.mean()) if len(values) else np.nan
        record[f"{name}_std"] = float(values.std(ddof=1)) if len(values) > 1 else np.nan
    return record


def _mark(rows: list[tuple[Row, dict]], cells: "pd.DataFrame") -> None:
    """Mark the best rows of one data set in their records."""
    found = [(row, record) for row, record in rows if record["reps"]]
    if not found or not BY_TASK[found[0][0].task].least:
        return
    mean = f"{BY_TASK[found[0][0].task].name}_mean"
    lowest = min(record[mean] for _, record in found)
    # Of rows with equal means, the one with most repetitions is tested against.
    best, _ = max((pair for pair in found if pair[1][mean] == lowest), key=lambda pair: pair[1]["reps"])
    reference = _by_permutation(best, cells)
    for row, record in found:
        other = _by_permutation(row, cells)
        common = sorted(reference.keys() & other.keys())
        record["best"] = record[mean] == lowest
        record["common"] = len(common)
        difference = np.array([other[p] - reference[p] for p in common])
        record["p_value"] = paired_p(difference)
        record["marked"] = record["best"] or not_worse(difference)


def _by_permutation(row: Row, cells: "pd.DataFrame") -> dict[str, float]:
    own = cells.iloc[row.cells]
    # Counts, not rates: their differences are exact, so that equal is equal.
    tested = own[BY_TASK[row.task].tested].astype(float)
    return dict(zip(own["permutation_seed"].astype(str), tested, strict=True))


def paired_p(difference: np.ndarray) -> float:
    """Return the two-sided p-value of the paired t-test of differences (n,); NaN for n < 2.

    Differences that are all equal leave the test without variance: p is 1 where they are 0, else 0.
    """
    if difference.size < 2:
        return float("nan")
    if np.ptp(difference) == 0:
        return 1.0 if difference[0] == 0 else 0.0
    from scipy.stats import ttest_rel

    return float(ttest_rel(difference, np.zeros_like(difference)).pvalue)


def not_worse(difference: np.ndarray) -> bool:
    """Return whether errors minus the best's errors (n,) show no significantly higher mean."""
    if difference.size < 2:
        return False
    return bool(difference.mean() <= 0 or paired_p(difference) >= ALPHA)
