"""A summary as lines of text cells, the same for terminal, Markdown and LaTeX."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omkl.config.settings_text import params_text, value_text
from omkl.reports.measures import BY_TASK

if TYPE_CHECKING:
    import pandas as pd

MISSING = "–"


@dataclass(frozen=True)
class Spread:
    """A mean and a standard deviation, both as text."""

    mean: str
    std: str


@dataclass(frozen=True)
class Column:
    """A column of a table: its header and how it is aligned.

    spread: it holds Spread cells    marks: the best are marked in it    meaning: what the legend says of it
    """

    name: str
    header: str
    align: Literal["left", "right"] = "right"
    spread: bool = False
    marks: bool = False
    meaning: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a table: one cell per column.

    rule: what is drawn above it ("data": another data set begins, "yardsticks": the yardsticks begin)
    marked: best or not worse    complete: every repetition asked for has finished
    """

    cells: tuple[str | Spread, ...]
    rule: Literal["data", "yardsticks"] | None = None
    marked: bool = False
    complete: bool = True
    is_yardstick: bool = False


@dataclass(frozen=True)
class Display:
    """A table's columns and lines."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]

    def has(self, name: str) -> bool:
        """Return whether the table has this column."""
        return any(column.name == name for column in self.columns)


def display(summary: "pd.DataFrame", swept: Iterable[str] = ()) -> Display:
    """Lay a summary out; hyperparameters named in ``swept`` get columns of their own.

    Columns without content are left out: pools when there is but one, hyperparameters when all are the
    defaults, the combined count where it is #SV everywhere.
    """
    rows = summary.to_dict("records")
    swept = [name for name in swept if any(name in row["params"] for row in rows)]
    parts: list[tuple[Column, list[str | Spread]]] = [
        (Column("data", "data", "left"), _once([row["data"] for row in rows])),
    ]
    pools = [row["pool"] if isinstance(row["pool"], str) else None for row in rows]
    if len(set(pools) - {None}) > 1:
        parts.append((Column("pool", "pool", "left"), [pool or MISSING for pool in pools]))
    parts.append((Column("learner", "learner", "left"), [row["label"] for row in rows]))
    for name in swept:
        texts = [value_text(row["params"][name]) if name in row["params"] else MISSING for row in rows]
        parts.append((Column(f"algo.{name}", name), texts))
    settings = [_without(row, swept) for row in rows]
    if any(settings):
        parts.append((Column("settings", "settings", "left"), list(settings)))
    for task in dict.fromkeys(summary["task"]):
        measure = BY_TASK[task]
        own = summary[f"{measure.name}_mean"].where(summary["task"] == task)
        column = Column(measure.name, measure.header, spread=True, marks=True, meaning=measure.meaning)
        parts.append((column, _spreads(summary.assign(**{f"{measure.name}_mean": own}), measure.name, 2)))
    summary = _without_kernels_blank(summary)
    if summary["n_sv_sum_mean"].notna().any() or (summary["task"] == "classification").all():
        sums = _spreads(summary, "n_sv_sum", _count_places(summary))
        parts.append((Column("n_sv_sum", "#SV", spread=True), sums))
        parts.append((Column("n_sv_union", "union"), _counts(summary, "n_sv_union_mean")))
    if (summary["n_sv_combined_mean"] - summary["n_sv_sum_mean"]).abs().max() > 0:
        parts.append((Column("n_sv_combined", "combined"), _counts(summary, "n_sv_combined_mean")))
    parts.append((Column("seconds", "seconds"), _seconds(summary["seconds_mean"])))
    parts.append((Column("reps", "reps"), [_reps(row) for row in rows]))
    columns, contents = zip(*parts, strict=True)
    lines = []
    for number, row in enumerate(rows):
        cells = tuple(content[number] for content in contents)
        above = rows[number - 1] if number else None
        lines.append(Line(cells, _rule(above, row), row["marked"], row["complete"], row["is_yardstick"]))
    return Display(tuple(columns), tuple(lines))


def _without_kernels_blank(summary: "pd.DataFrame") -> "pd.DataFrame":
    """A learner without kernels, or that runs on random features, has no support vectors to count."""
    summary = summary.copy()
    counts = [name for name in summary.columns if name.startswith("n_sv_")]
    features = summary["n_sv_sum_mean"] == 0
    summary.loc[features | np.array([m == 0 for m in summary["m"]], bool), counts] = np.nan
    return summary


def _rule(above: dict | None, row: dict) -> Literal["data", "yardsticks"] | None:
    if above is None:
        return None
    if above["data"] != row["data"]:
        return "data"
    return "yardsticks" if row["is_yardstick"] and not above["is_yardstick"] else None


def _once(names: list[str]) -> list[str | Spread]:
    """Blank a name that repeats the one above."""
    return [name if number == 0 or names[number - 1] != name else "" for number, name in enumerate(names)]


def _without(row: dict[str, Any], swept: list[str]) -> str:
    if not swept:
        return row["settings"]
    return params_text({k: row["params"][k] for k in row["shown"] if k not in swept})


def _reps(row: dict[str, Any]) -> str:
    return f"{'' if row['complete'] else '! '}{row['reps']}/{row['asked']}"


def _spreads(summary: "pd.DataFrame", name: str, places: int) -> list[str | Spread]:
    means, stds = summary[f"{name}_mean"].astype(float), summary[f"{name}_std"].astype(float)
    return [Spread(number(m, places), number(s, places)) for m, s in zip(means, stds, strict=True)]


def _count_places(summary: "pd.DataFrame") -> int:
    """Decimals of a column of counts: none where all means are whole numbers and nothing spreads."""
    means = summary["n_sv_sum_mean"].astype(float).dropna()
    whole = bool((means == means.round()).all()) and not summary["n_sv_sum_std"].astype(float).max() > 0
    return 0 if whole else 1


def _counts(summary: "pd.DataFrame", name: str) -> list[str | Spread]:
    values = summary[name].astype(float)
    places = 0 if (values.dropna() == values.dropna().round()).all() else 1
    return [number(value, places) for value in values]


def _seconds(values: "pd.Series") -> list[str | Spread]:
    """Seconds with the decimals that the column's largest needs; what would read 0 as ``<0.001``."""
    values = values.astype(float)
    largest = values.max()
    places = 3 if not largest >= 10 else 2 if largest < 1000 else 1
    least = 10.0**-places
    return [f"<{least:.{places}f}" if 0 <= v < least / 2 else number(v, places) for v in values]


def number(value: float, places: int) -> str:
    """Return a number with fixed decimals, a dash for NaN."""
    return MISSING if np.isnan(value) else f"{value:.{places}f}"
