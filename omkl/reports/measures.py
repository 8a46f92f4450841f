"""By what learners are compared on a data set: the measure of its task."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """What stands for a learner's error in tables and figures.

    name: of the summary's columns NAME_mean and NAME_std    cell, factor: of the cells, times this
    tested: column of the cells whose differences the t-test takes    curve: key of a learning curve
    header: in tables    axis: in figures    meaning: in legends    least: what the best has, "" where no
    learner is better than another
    """

    name: str
    cell: str
    factor: float
    tested: str
    curve: str
    header: str
    axis: str
    meaning: str
    least: str


MEASURES = {
    "classification": Measure(
        *("mistake_pct", "mistake_rate", 100.0, "mistakes", "mistakes", "mistake %", "mistake rate (%)"),
        meaning="mistakes of one pass in percent of the examples",
        least="fewest mistakes",
    ),
    "regression": Measure(
        *("mse_e3", "mse", 1000.0, "mse", "loss", "MSE x 1e3", "mean squared error × 1000"),
        meaning="mean squared error of one pass, each prediction before its update, times 1000",
        least="least MSE",
    ),
    "novelty": Measure(
        *("mistake_pct", "mistake_rate", 100.0, "mistakes", "mistakes", "novel %", "flagged as novel (%)"),
        meaning="examples flagged as novel in percent",
        least="",
    ),
}


def measure_of(table: "pd.DataFrame") -> Measure:
    """Return the measure of a part of a summary or of curves that holds one data set only."""
    return MEASURES[table["task"].iloc[0]]


def axis_of(table: "pd.DataFrame") -> str:
    """Return what an axis shared by all data sets of the table is called."""
    return " or ".join(MEASURES[task].axis for task in dict.fromkeys(table["task"]))


def least_of(table: "pd.DataFrame") -> str:
    """Return what the best rows of the table's data sets have."""
    return " or ".join(filter(None, (MEASURES[task].least for task in dict.fromkeys(table["task"]))))
