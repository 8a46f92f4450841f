"""Measures: the error of each task, and what can be drawn against the examples seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omkl.errors import UserError, suggest
from omkl.reports.rows import ReportPlan, Row, line_names, rows_of

if TYPE_CHECKING:
    import pandas as pd

ERROR = "error"  # the measure of the row's task
PAIR = (ERROR, "n_sv_sum")  # what is usually drawn over the examples
WINDOWS = 25  # of a stream, for rates that follow its drift


@dataclass(frozen=True)
class Measure:
    """A measure of a learner: over time, and of those that are a task's error also in tables.

    name: of the summary's columns NAME_mean, NAME_std    label: of its axis
    needs: the list of the curve that it is made from    scale: of a rate
    kind: "rate" (settles; the first examples say nothing), "count" (starts at 0), "size" (a count that some
    learners do not have at all), "share" (between 0 and 1)    windowed: over WINDOWS parts of the stream
    signed: it may be below 0

    tested: column of the cells that the t-test takes    header: in tables    meaning: in legends
    least: of the best, "" where no learner is better than another
    """

    name: str
    label: str
    needs: str
    kind: Literal["rate", "count", "size", "share"] = "count"
    scale: float = 1.0
    windowed: bool = False
    signed: bool = False
    tested: str = ""
    header: str = ""
    meaning: str = ""
    least: str = ""

    @property
    def points(self) -> str:
        """The list of the curve that holds the examples seen."""
        return "weights_t" if self.needs == "weights" else "t"

    def of(self, curve: Mapping[str, Any], points: np.ndarray) -> np.ndarray:
        """Return the values at the points (n,): of a window up to each, of weights the largest at the end."""
        if self.needs == "weights":
            weights = np.abs(np.asarray(curve["weights"], dtype=float))
            weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            top = weights[:, weights[-1].argmax()]
            return np.interp(points, [0, *curve["weights_t"]], [1.0 / weights.shape[1], *top])
        # Nothing is counted before the first example.
        counts = np.interp(points, [0, *curve["t"]], [0, *curve[self.needs]])
        if self.windowed:
            return self.scale * np.diff(counts, prepend=0.0) / np.diff(points, prepend=0.0)
        return self.scale * counts / points if self.kind == "rate" else counts


_MISTAKES = Measure(
    *("mistake_pct", "mistake rate (%)", "mistakes", "rate", 100.0),
    tested="mistakes",
    header="mistake %",
    meaning="mistakes of one pass in percent of the examples",
    least="fewest mistakes",
)
_SQUARES = Measure(
    *("mse_e3", "mean squared error × 1000", "loss", "rate", 1000.0),
    tested="mse",
    header="MSE x 1e3",
    meaning="mean squared error of one pass, each prediction before its update, times 1000",
    least="least MSE",
)
_NOVELTIES = replace(
    _MISTAKES,
    label="flagged as novel (%)",
    header="novel %",
    meaning="examples flagged as novel in percent",
    least="",
)
BY_TASK = {"classification": _MISTAKES, "regression": _SQUARES, "novelty": _NOVELTIES}
MEASURES = {
    measure.name: measure
    for measure in (
        _MISTAKES,
        Measure("windowed_pct", "mistake rate in window (%)", "mistakes", "rate", 100.0, windowed=True),
        _SQUARES,
        Measure("nlpd", "negative log predictive density", "nlpd", "rate", signed=True),
        Measure("mistakes", "mistakes", "mistakes"),
        Measure("n_sv_sum", "support vectors (#SV)", "n_sv_sum", "size"),
        Measure("n_sv_union", "distinct examples stored", "n_sv_union", "size"),
        Measure("n_sv_combined", "support vectors combined", "n_sv_combined", "size"),
        Measure("top_weight", "weight of the best kernel", "weights", "share"),
    )
}


def learners_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a summary or of curves that are no yardsticks."""
    return table[~table["is_yardstick"].astype(bool)]


def yardsticks_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a summary or of curves that are yardsticks."""
    return table[table["is_yardstick"].astype(bool)]


def measure_of(table: "pd.DataFrame") -> Measure:
    """Return the measure of a part of a summary or of curves that holds one data set only."""
    return BY_TASK[table["task"].iloc[0]]


def errors_of(table: "pd.DataFrame", part: str = "mean") -> list[float]:
    """Return the error of each row of a summary, by its task; part: "std" for the standard deviations."""
    return [row[f"{BY_TASK[row['task']].name}_{part}"] for row in table.to_dict("records")]


def least_of(table: "pd.DataFrame") -> str:
    """Return what the best rows of the table have: ``fewest mistakes``, ``least MSE``, or both."""
    return " or ".join(filter(None, (BY_TASK[task].least for task in dict.fromkeys(table["task"]))))


# -------------------------------------------------------------------- over time


def measure_named(name: str) -> Measure:
    """Return the measure. Raises UserError for an unknown name."""
    if name not in MEASURES:
        raise UserError(f"no measure '{name}'{suggest(name, MEASURES)}: choose one of {', '.join(MEASURES)}")
    return MEASURES[name]


def average(curves: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return ``t`` and, for each measure, mean and sample standard deviation (NaN for one) of the curves.

    Where the repetitions' points differ, all are taken at those of the longest list. The measures must have
    the same points.
    """
    measures = [MEASURES[name] for name in names]
    points = measures[0].points
    end = min(curve[points][-1] for curve in curves)
    grid = np.asarray(max((curve[points] for curve in curves), key=len), dtype=float)
    grid = np.unique(np.append(grid[grid < end], end))
    if any(measure.windowed for measure in measures):
        grid = grid[:: -max(1, grid.size // WINDOWS)][::-1]  # the last window ends with the stream
    if points == "weights_t":
        grid = np.append(0.0, grid)  # where all kernels weigh the same
    result = {"t": grid}
    for name, measure in zip(names, measures, strict=True):
        values = np.array([measure.of(curve, grid) for curve in curves])
        result[f"{name}_mean"] = values.mean(axis=0)
        several = len(values) > 1
        result[f"{name}_std"] = values.std(axis=0, ddof=1) if several else np.full(grid.size, np.nan)
    return result


def mean_curves(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan | None = None,
    names: Sequence[str] = PAIR,
    rows: list[Row] | None = None,
) -> "pd.DataFrame":
    """Average the curves of the cells' repetitions.

    curves: by cell key, with lists of one length: ``t`` and ``mistakes``, ``n_sv_sum`` or what else the
    measures need. names: of measures (MEASURES) that have the same points, or ERROR. rows: those to
    draw; all when None. Curves whose points differ are interpolated, see `average`.

    Returns a long table: data, task, order, algo, line (legend text), is_yardstick, reps, asked (repetitions
    expected), t, and of each measure the mean ``NAME_mean`` and the sample standard deviation ``NAME_std``
    (NaN for one repetition). Rows without such a curve are left out; UserError when that leaves none.
    """
    import pandas as pd

    expected = expected or ReportPlan()
    rows = rows_of(cells, expected) if rows is None else rows
    keys = cells["key"].tolist() if len(cells) else []
    parts = []
    for row, line in zip(rows, line_names(rows, expected), strict=True):
        own = [BY_TASK[row.task].name if name == ERROR else name for name in names]
        needs = [measure_named(name).needs for name in own]
        stored = [curves[keys[cell]] for cell in row.cells if keys[cell] in curves]
        if complete := [curve for curve in stored if all(curve.get(need) for need in needs)]:
            points, *values = average(complete, own).values()
            shown = [f"{name}_{part}" for name in names for part in ("mean", "std")]
            about: dict[str, Any] = {"data": row.data, "task": row.task, "order": row.order}
            about |= {"algo": row.learner, "line": line, "is_yardstick": row.is_yardstick}
            about |= {"reps": len(complete), "asked": row.planned}
            parts.append(pd.DataFrame({"t": points, **dict(zip(shown, values, strict=True)), **about}))
    if not parts and any(key in curves for key in keys):
        raise UserError(f"no curve of these cells holds {' and '.join(names)}: nothing to draw")
    if not parts:
        raise UserError(
            "the store has no learning curve of these cells; run them, with --fresh if they are in the store"
        )
    return pd.concat(parts, ignore_index=True)
