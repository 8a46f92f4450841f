"""By what learners are compared on a data set: the measure of its task."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TaskMeasure:
    """What stands for a learner's error in tables and figures.

    name: of the summary's columns NAME_mean, NAME_std    tested: column of the cells that the t-test takes
    header: in tables    axis: in figures    meaning: in legends    least: what the best has, "" where no
    learner is better than another
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


def measure_of(table: "pd.DataFrame") -> TaskMeasure:
    """Return the measure of a part of a summary or of curves that holds one data set only."""
    return BY_TASK[table["task"].iloc[0]]


def axis_of(table: "pd.DataFrame") -> str:
    """Return what an axis shared by all data sets of the table is called."""
    return " or ".join(BY_TASK[task].axis for task in dict.fromkeys(table["task"]))


def deviations_of(table: "pd.DataFrame") -> list[str]:
    """Return the columns of the standard deviations that figures of a summary draw."""
    return list(dict.fromkeys(f"{BY_TASK[task].name}_std" for task in table["task"]))


def least_of(table: "pd.DataFrame") -> str:
    """Return what the best rows of the table's data sets have."""
    return " or ".join(filter(None, (BY_TASK[task].least for task in dict.fromkeys(table["task"]))))
