"""From a summary to a table: its columns and cells, and what a reader wants of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import params_text, value_text
from omkl.errors import UserError, suggest
from omkl.reports.measures import BY_TASK, errors_of
from omkl.reports.summary import errors_text
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING, Column, Rule, Spread, TableRow

if TYPE_CHECKING:
    import pandas as pd

WRAPPED = ("learner", "pool", "settings", "kernel", "verdict")  # columns whose text may take several lines
LEAST = (  # columns that are left out where there is no room, the first of them first
    *("n_sv_combined", "n_sv_union", "seconds_ratio", "seconds_published", "n_sv_sum_diff"),
    *("mistake_pct_diff", "mse_e3_diff", "seconds", "n_sv_sum_published", "n_sv_sum"),
)
_WORDS = {"mistake_pct": "mistakes", "mse_e3": "mistakes"} | {
    f"n_sv_{part}": word for part, word in (("sum", "sv"), ("union", "union"), ("combined", "combined"))
}
FURTHER = (  # what some learners report beside their task's error, of omkl.tasks.MEASURES
    Column(
        *("nlpd", "NLPD"),
        meaning="negative log predictive density of the targets, mean over one pass",
    ),
)


def usual_table(summary: "pd.DataFrame", swept: Iterable[str] = ()) -> Table:
    """Lay a summary out in its usual columns; hyperparameters named in ``swept`` get columns of their own.

    Columns without content are left out: pools when there is but one, hyperparameters when all are the
    defaults, the combined count where it is #SV everywhere, a further measure that no learner reports.
    """
    table = full_table(summary, swept)
    return table.only([at for at, column in enumerate(table.columns) if column.usual])


def full_table(summary: "pd.DataFrame", swept: Iterable[str] = ()) -> Table:
    """As ``usual_table``, with all columns; those that it leaves out are not ``usual``."""
    rows = summary.to_dict("records")
    names = [name for name in swept if any(name in row["params"] for row in rows)]
    above = [None, *rows][: len(rows)]
    parts: list[tuple[Column, Sequence[str | Spread]]] = []

    def add(name: str, header: str, cells: Sequence[str | Spread], side: Any = "right", **more: Any) -> None:
        wraps = name in WRAPPED
        parts.append((Column(name, header, side, wraps=wraps, **more), cells))

    add("data", "data", [row["data"] for row in rows], "left")
    pools = [row["pool"] if isinstance(row["pool"], str) else MISSING for row in rows]
    add("pool", "pool", pools, "left", usual=len(set(pools) - {MISSING}) > 1)
    add("learner", "learner", [row["label"] for row in rows], "left")
    add("algo", "algo", [row["algo"] for row in rows], "left", usual=False)
    for name in names:
        values = [value_text(row["params"][name]) if name in row["params"] else MISSING for row in rows]
        add(f"algo.{name}", name, values)
    settings = [_settings(row, names) for row in rows]
    add("settings", "settings", settings, "left", usual=any(settings))
    for task in dict.fromkeys(summary["task"]):
        measure = BY_TASK[task]
        own = summary[[f"{measure.name}_mean", f"{measure.name}_std"]].where(summary["task"] == task)
        errors = _spreads(own, measure.name, 2)
        add(measure.name, measure.header, errors, marks=True, meaning=measure.meaning)
    for further in FURTHER:
        if summary[f"{further.name}_mean"].notna().any():
            parts.append((further, _spreads(summary, further.name, 3)))
    # A learner without kernels, or that runs on random features, has no support vectors to count.
    no_vectors = (summary["n_sv_sum_mean"] == 0) | (summary["m"] == 0)
    counts = summary[[name for name in summary.columns if name.startswith("n_sv_")]].mask(no_vectors)
    stored = bool(counts["n_sv_sum_mean"].notna().any() or (summary["task"] == "classification").all())
    spreads = counts["n_sv_sum_std"].astype(float).max() > 0
    places = 1 if spreads else _places(counts["n_sv_sum_mean"])
    add("n_sv_sum", "#SV", _spreads(counts, "n_sv_sum", places), usual=stored)
    add("n_sv_union", "union", _counts(counts["n_sv_union_mean"]), usual=stored)
    differ = bool((counts["n_sv_combined_mean"] - counts["n_sv_sum_mean"]).abs().max() > 0)
    add("n_sv_combined", "combined", _counts(counts["n_sv_combined_mean"]), usual=differ)
    header = "largest weight" if "kernel" in names else "kernel"
    add("kernel", header, [row["kernel"] for row in rows], "left", usual=False)
    shares = [errors_text(row["classes"], row["class_errors"]) or MISSING for row in rows]
    add("class_errors", "class errors %", shares, "left", usual=False)
    add("seconds", "seconds", _seconds(summary["seconds_mean"].astype(float)))
    memory = [number(value, 1) for value in summary["memory_mib_mean"].astype(float)]
    add("memory", "MiB", memory, usual=False)
    add("reps", "reps", [f"{'' if row['complete'] else '! '}{row['reps']}/{row['asked']}" for row in rows])
    for name in ("T", "m"):
        add(name, name, [MISSING if row[name] is None else str(row[name]) for row in rows], usual=False)
    add("p", "p", [number(row["p_value"], 4) for row in rows], usual=False)
    columns, contents = zip(*parts, strict=True)
    lines = [
        TableRow(cells, row["data"], _rule(up, row), row["marked"], row["complete"], row["is_yardstick"])
        for up, row, *cells in zip(above, rows, *contents, strict=True)
    ]
    return Table(columns, lines, least=LEAST, records={})


def _rule(above: dict | None, row: dict) -> Rule | None:
    if above is not None and above["data"] != row["data"]:
        return "data"
    return "yardsticks" if above is not None and row["is_yardstick"] > above["is_yardstick"] else None


def _settings(row: dict[str, Any], swept: Sequence[str]) -> str:
    """Return the text of the hyperparameters that have no column of their own."""
    rest = {name: row["params"][name] for name in row["shown"] if name not in swept}
    return params_text(rest) if swept else row["settings"]


def _spreads(table: "pd.DataFrame", name: str, places: int) -> list[Spread]:
    pairs = table[[f"{name}_mean", f"{name}_std"]].astype(float).itertuples(index=False, name=None)
    return [Spread(number(mean, places), number(std, places)) for mean, std in pairs]


def _places(values: "pd.Series") -> int:
    """Return the decimals of a column of counts: none where all are whole numbers."""
    known = values.astype(float).dropna()
    return 0 if (known == known.round()).all() else 1


def _counts(values: "pd.Series") -> list[str]:
    return [number(value, _places(values)) for value in values.astype(float)]


def _seconds(values: "pd.Series") -> list[str]:
    """Return seconds with the decimals that the column's largest needs; 0.000 becomes ``<0.001``."""
    largest = values.max()
    places = 3 if not largest >= 10 else 2 if largest < 1000 else 1
    least = 10.0**-places
    return [f"<{least:.{places}f}" if 0 <= v < least / 2 else number(v, places) for v in values]


def number(value: float, places: int) -> str:
    """Return a number with fixed decimals, a dash for NaN."""
    return MISSING if np.isnan(value) else f"{value:.{places}f}"


# -------------------------------------------------------------------- what a reader wants


@dataclass(frozen=True)
class TableOptions:
    """The reader's wishes.

    sort: mistakes, seconds or sv, None for the plan's order    columns: names, or +NAME and -NAME to change
    the usual ones
    """

    sort: str | None = None
    columns: tuple[str, ...] = ()

    def sorted(self, summary: "pd.DataFrame") -> "pd.DataFrame":
        """Return a summary with the rows of each data set in this order, the yardsticks still below.

        ``mistakes`` is the error of the data's task; rows without a value come last.
        """
        if self.sort is None or summary.empty:
            return summary
        seconds, sizes = summary["seconds_mean"], summary["n_sv_sum_mean"]
        keys = {"mistakes": errors_of(summary), "seconds": seconds, "sv": sizes}
        places = {name: place for place, name in enumerate(dict.fromkeys(summary["data"]))}
        order = summary.assign(place=summary["data"].map(places), by=keys[self.sort])
        order = order.sort_values(["place", "is_yardstick", "by"], kind="stable", na_position="last")
        return summary.loc[order.index].reset_index(drop=True)

    def check(self, names: Sequence[str]) -> None:
        """Raise UserError for a wanted column that is not among these names."""
        for word in self.columns:
            if (name := word.lstrip("+-")) not in names:
                known = ", ".join(dict.fromkeys(names))
                raise UserError(f"--columns {word}: no such column{suggest(name, names)}; there are {known}")

    def chosen(self, table: Table) -> Table:
        """Return a table with the columns that are wanted. Raises UserError for a name that it lacks."""
        names = [word_of(column.name) for column in table.columns]
        self.check(names)
        wanted = [word for word in self.columns if word[0] not in "+-"]
        wanted = wanted or [name for name, own in zip(names, table.columns, strict=True) if own.usual]
        wanted += [word[1:] for word in self.columns if word[0] == "+" and word[1:] not in wanted]
        wanted = [name for name in wanted if f"-{name}" not in self.columns]
        named = {word.lstrip("+") for word in self.columns}
        kept = [
            at
            for name in dict.fromkeys(wanted)
            for at, own in enumerate(names)
            if own == name and (table.columns[at].usual or name in named)  # two columns may be "kernel"
        ]
        if not self.columns:
            kept = sorted(kept)
        chosen = tuple(table.columns[at].name for at in kept if names[at] in named)
        return replace(table.only(kept), chosen=chosen)


USUAL = TableOptions()


def word_of(column: str) -> str:
    """Return what a reader calls a column: ``sv`` for n_sv_sum, ``beta`` for algo.beta."""
    return _WORDS.get(column, column.removeprefix("algo."))
