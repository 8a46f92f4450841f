"""A best setting at the edge of its grid: a better one may be outside."""

from typing import TYPE_CHECKING, Any

from omkl.config.settings_text import value_text
from omkl.reports.expected import Expected
from omkl.reports.grid import axes_of, flat
from omkl.reports.measures import BY_TASK, learners_of

if TYPE_CHECKING:
    import pandas as pd

FEW = 3  # values: of fewer, each is an edge


def at_edges(summary: "pd.DataFrame", best: "pd.DataFrame", expected: Expected) -> list[str]:
    """Return a remark for each swept number whose best value is the least or the largest of its grid.

    best: the rows of the summary that are best (report.best_settings). There is none where the domain ends
    there, or where a value inside the grid is as good.
    """
    remarks = []
    rows = learners_of(summary[summary["reps"] > 0]).to_dict("records")
    for row in learners_of(best).to_dict("records"):
        if not BY_TASK[row["task"]].least:
            continue
        error = f"{BY_TASK[row['task']].name}_mean"
        same = [other for other in rows if (other["data"], other["algo"]) == (row["data"], row["algo"])]
        for axis in axes_of(summary):
            value = dict(flat(row["params"])).get(axis)
            errors: dict[float, float] = {}
            for other in same:
                if (at := dict(flat(other["params"])).get(axis)) is not None:
                    errors[at] = min(other[error], errors.get(at, float("inf")))
            if value is None or len(errors) < FEW or value not in (min(errors), max(errors)):
                continue
            inside = [own for at, own in errors.items() if min(errors) < at < max(errors)]
            larger = value == max(errors)
            if min(inside) > row[error] and _goes_on(expected, row["algo"], axis, value, larger):
                end, others = ("largest", "larger") if larger else ("smallest", "smaller")
                remarks.append(
                    f"{row['label']} on {row['data']}: the best {axis}, {value_text(value)}, is the {end} of "
                    f"its grid; try {others} values too"
                )
    return remarks


def _goes_on(expected: Expected, learner: str, axis: str, value: Any, larger: bool) -> bool:
    """Whether the domain of a hyperparameter has values beyond this one."""
    known = getattr(expected.specs.get(learner), "hyperparameters", {})
    if axis not in known:  # a part of a kernel
        return True
    step = 1 if isinstance(value, int) else 1e-6 * max(1.0, abs(value))
    try:
        known[axis].check(value + step if larger else value - step)
    except ValueError:
        return False
    return True
