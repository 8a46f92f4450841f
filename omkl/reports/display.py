"""A summary as lines of text cells, the same for terminal, Markdown and LaTeX."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omkl.config.settings_text import params_text, value_text
from omkl.reports.measures import BY_TASK
from omkl.reports.summary import MISSING, errors_text

if TYPE_CHECKING:
    import pandas as pd

Side = Literal["left", "right"]
Rule = Literal["data", "yardsticks"]


@dataclass(frozen=True)
class Spread:
    """A mean and a standard deviation, both as text; MISSING where there is none."""

    mean: str
    std: str

    @property
    def varies(self) -> bool:
        """Whether there is a standard deviation to print: one repetition has none."""
        return self.std != MISSING

    def __str__(self) -> str:
        return f"{self.mean} ± {self.std}" if self.varies else self.mean


@dataclass(frozen=True)
class Column:
    """A column of a table: its header and how it is aligned.

    marks: the best are marked in it    meaning: for the legend
    usual: it is shown unless a reader chooses the columns
    """

    name: str
    header: str
    align: Side = "right"
    marks: bool = False
    meaning: str = ""
    usual: bool = True


FURTHER = (  # what some learners report beside their task's error, of omkl.tasks.MEASURES
    Column(
        *("nlpd", "NLPD"),
        meaning="negative log predictive density of the targets, mean over one pass",
    ),
)


@dataclass(frozen=True)
class Line:
    """A line of a table: one cell per column.

    rule: the line drawn above it ("data": a data set begins, "yardsticks": the yardsticks begin)
    marked: best or not significantly worse    complete: every expected repetition has finished
    """

    cells: tuple[str | Spread, ...]
    rule: Rule | None = None
    marked: bool = False
    complete: bool = True
    is_yardstick: bool = False


@dataclass(frozen=True)
class Display:
    """A table's columns and lines.

    chosen: names of the columns that the reader wants    left_out: those for which there is no room, with
    their first cells
    """

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    chosen: tuple[str, ...] = ()
    left_out: tuple[tuple[Column, str | Spread], ...] = ()

    def only(self, places: Sequence[int]) -> "Display":
        """Return the table with the columns at these places."""
        lines = tuple(replace(line, cells=tuple(line.cells[at] for at in places)) for line in self.lines)
        return replace(self, columns=tuple(self.columns[at] for at in places), lines=lines)


def display(summary: "pd.DataFrame", swept: Iterable[str] = ()) -> Display:
    """Lay a summary out in its usual columns; hyperparameters named in ``swept`` get columns of their own.

    Columns without content are left out: pools when there is but one, hyperparameters when all are the
    defaults, the combined count where it is #SV everywhere, a further measure that no learner reports.
    """
    table = everything(summary, swept)
    return table.only([at for at, column in enumerate(table.columns) if column.usual])


def everything(summary: "pd.DataFrame", swept: Iterable[str] = ()) -> Display:
    """As ``display``, with all columns; those that it leaves out are not ``usual``."""
    rows = summary.to_dict("records")
    names = [name for name in swept if any(name in row["params"] for row in rows)]
    above = [None, *rows][: len(rows)]
    parts: list[tuple[Column, Sequence[str | Spread]]] = []

    def add(name: str, header: str, cells: Sequence[str | Spread], side: Side = "right", **more: Any) -> None:
        parts.append((Column(name, header, side, **more), cells))

    same = [up is not None and up["data"] == row["data"] for up, row in zip(above, rows, strict=True)]
    data = ["" if repeated else row["data"] for repeated, row in zip(same, rows, strict=True)]
    add("data", "data", data, "left")
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
    lines = tuple(
        Line(tuple(cells), _rule(up, row), row["marked"], row["complete"], row["is_yardstick"])
        for up, row, *cells in zip(above, rows, *contents, strict=True)
    )
    return Display(columns, lines)


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
