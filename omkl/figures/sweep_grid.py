"""What the figures of a sweep share: its names, its points, and what is said of them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from omkl.figures.scales import short_number
from omkl.reports import captions
from omkl.reports.measures import best_first, errors_of, learners_of, measure_of, yardsticks_of
from omkl.reports.symbols import symbol

if TYPE_CHECKING:
    import pandas as pd


POINTS = ("panel", "x", "line", "y_mean", "y_std", "is_yardstick", "reps", "order")  # columns


def names_of_grid(grid: "pd.DataFrame") -> tuple[list[str], list[str]]:
    """Return the names of the learners and those of the yardsticks, in order; a learner is no yardstick."""
    learners = list(dict.fromkeys(learners_of(grid)["line"]))
    return learners, [name for name in dict.fromkeys(grid["line"]) if name not in learners]


def basis_of_grid(grid: "pd.DataFrame") -> str:
    return captions.basis(int(grid["reps"].max()), grid["order"])


def grid_points(grid: "pd.DataFrame", axis: str) -> "pd.DataFrame":
    """Return a ``grid_table`` as points along one axis, for sensitivity: the errors of the tasks."""
    errors: dict[str, Any] = {f"y_{part}": errors_of(grid, part) for part in ("mean", "std")}
    errors["y_label"] = [measure_of(row).title for row in grid.to_dict("records")]
    best = best_first(grid).drop_duplicates(["data", "line", "is_yardstick"]).index
    errors["is_best"] = grid.index.isin(best)
    return grid.assign(panel=grid["data"], x=grid[f"at.{axis}"], x_label=symbol(axis), **errors)


def levels_note(part: "pd.DataFrame", drawn: Iterable[str], named: bool) -> str:
    """Return the errors on a data set of those that have no panel: learners of one setting, yardsticks."""
    single = learners_of(part[~part["line"].isin(drawn)])
    texts = []
    for name, rows in (("one setting", single), ("yardsticks", yardsticks_of(part))):
        if len(rows):
            errors = zip(rows["line"], errors_of(rows), strict=True)
            texts.append(f"{name}: {', '.join(f'{line} {short_number(e)}' for line, e in errors)}")
    on = f"{part['data'].iloc[0]}: " if named and texts and len(part) else ""
    return on + "; ".join(texts)
