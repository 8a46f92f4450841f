"""Measures: the error of each task, and what can be drawn against the examples seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omkl.errors import UserError, suggest

if TYPE_CHECKING:
    import pandas as pd

WINDOWS = 25  # of a stream, for rates that follow its drift


@dataclass(frozen=True)
class TaskMeasure:
    """How a learner's error is measured in tables and figures.

    name: of the summary's columns NAME_mean, NAME_std    tested: column of the cells that the t-test takes
    header: in tables    axis: in figures    meaning: in legends    least: of the best, "" where no learner
    is better than another
    """

    name: str
    tested: str
    header: str
    axis: str
    meaning: str
    least: str


BY_TASK = {
    "classification": TaskMeasure(
        *("mistake_pct", "mistakes", "mistake %", "mistake rate (%)"),
        meaning="mistakes of one pass in percent of the examples",
        least="fewest mistakes",
    ),
    "regression": TaskMeasure(
        *("mse_e3", "mse", "MSE x 1e3", "mean squared error × 1000"),
        meaning="mean squared error of one pass, each prediction before its update, times 1000",
        least="least MSE",
    ),
    "novelty": TaskMeasure(
        *("mistake_pct", "mistakes", "novel %", "flagged as novel (%)"),
        meaning="examples flagged as novel in percent",
        least="",
    ),
}


def learners_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a summary or of curves that are no yardsticks."""
    return table[~table["is_yardstick"].astype(bool)]


def yardsticks_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a summary or of curves that are yardsticks."""
    return table[table["is_yardstick"].astype(bool)]


def measure_of(table: "pd.DataFrame") -> TaskMeasure:
    """Return the measure of a part of a summary or of curves that holds one data set only."""
    return BY_TASK[table["task"].iloc[0]]


def axis_of(table: "pd.DataFrame") -> str:
    """Return the label of an axis that all data sets of the table share."""
    return " or ".join(BY_TASK[task].axis for task in dict.fromkeys(table["task"]))


def deviations_of(table: "pd.DataFrame") -> list[str]:
    """Return the columns of the standard deviations that figures of a summary draw."""
    return list(dict.fromkeys(f"{BY_TASK[task].name}_std" for task in table["task"]))


def errors_of(table: "pd.DataFrame", part: str = "mean") -> list[float]:
    """Return the error of each row of a summary, by its task; part: "std" for the standard deviations."""
    return [row[f"{BY_TASK[row['task']].name}_{part}"] for row in table.to_dict("records")]


def least_of(table: "pd.DataFrame") -> str:
    """Return what the best rows of the table have: ``fewest mistakes``, ``least MSE``, or both."""
    return " or ".join(filter(None, (BY_TASK[task].least for task in dict.fromkeys(table["task"]))))


# -------------------------------------------------------------------- over time


@dataclass(frozen=True)
class Measure:
    """A measure over time.

    label: of its axis    needs: the list of the curve that it is made from    scale: of a rate
    kind: "rate" (settles; the first examples say nothing), "count" (starts at 0), "size" (a count that some
    learners do not have at all), "share" (between 0 and 1)    windowed: over WINDOWS parts of the stream
    signed: it may be below 0
    """

    label: str
    needs: str
    kind: Literal["rate", "count", "size", "share"] = "count"
    scale: float = 1.0
    windowed: bool = False
    signed: bool = False

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


MEASURES = {
    "mistake_pct": Measure("mistake rate (%)", "mistakes", "rate", 100.0),
    "windowed_pct": Measure("mistake rate in window (%)", "mistakes", "rate", 100.0, windowed=True),
    "mse_e3": Measure("mean squared error × 1000", "loss", "rate", 1000.0),
    "nlpd": Measure("negative log predictive density", "nlpd", "rate", signed=True),
    "mistakes": Measure("mistakes", "mistakes"),
    "n_sv_sum": Measure("support vectors (#SV)", "n_sv_sum", "size"),
    "n_sv_union": Measure("distinct examples stored", "n_sv_union", "size"),
    "n_sv_combined": Measure("support vectors combined", "n_sv_combined", "size"),
    "top_weight": Measure("weight of the best kernel", "weights", "share"),
}


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
