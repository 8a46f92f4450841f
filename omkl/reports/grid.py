"""The rows of a summary on the grid of a sweep: their axes, the best points, and those at the grid's edge."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from omkl.config.parameters import params_text, shown_text, value_text
from omkl.reports.measures import learners_of, measure_of, signed_measure
from omkl.reports.rows import ReportPlan
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd
from omkl.reports.summary import FEW, INNER


def flat(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield hyperparameters with those of a kernel as ``kernel.sigma``."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def axes_of(summary: "pd.DataFrame") -> dict[str, list[float]]:
    """Return the swept numbers: hyperparameters of which some learner has several values, all numbers.

    By name, with all values of all learners in ascending order; the longest axis first.
    """
    learners = learners_of(summary)
    values: dict[tuple[str, str], set] = {}
    for learner, params in zip(learners["algo"], learners["params"], strict=True):
        for name, value in flat(params):
            value = value_text(value) if isinstance(value, (list, tuple)) else value
            values.setdefault((learner, name), set()).add(value)
    numbers = [(name, taken) for (_, name), taken in values.items() if all(map(_is_number, taken))]
    axes: dict[str, set] = {name: set() for name, taken in numbers if len(taken) > 1}
    for name, taken in numbers:
        if name in axes:
            axes[name] |= taken
    return {name: sorted(taken) for name, taken in sorted(axes.items(), key=lambda axis: -len(axis[1]))}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def csv_table(summary: "pd.DataFrame", swept: Sequence[str] = ()) -> "pd.DataFrame":
    """Return a summary as its CSV holds it; swept: hyperparameters that get columns of their own.

    Measures on held-out rows, and of intervals, are there where some row has them.
    """
    asked = [measure.name for measure in MEASURES.values() if measure.held_out or measure.of == "intervals"]
    names = [f"{name}_{part}" for name in asked for part in ("mean", "std")]
    flat = summary.drop(columns=[*INNER, *(name for name in names if summary[name].isna().all())])
    for name in swept:
        values = [params.get(name) for params in flat["params"]]
        flat.insert(flat.columns.get_loc("settings"), f"algo.{name}", values)
    flat["params"] = [json.dumps(params, sort_keys=True) for params in flat["params"]]
    return flat


def grid_table(summary: "pd.DataFrame", axes: Iterable[str] = ()) -> "pd.DataFrame":
    """Return the summary with its place on the axes, for figures.

    Adds ``line``, the name in the legend: the learner, its shown hyperparameters that are no axis and not
    chosen per data set (a column ``per_data`` of their names), the pool if there are several; and a column
    ``at.NAME`` per axis, NaN for a learner without that hyperparameter.
    """
    several = summary["pool"].dropna().nunique() > 1
    lines = []
    for row in summary.to_dict("records"):
        shown = {name: row["params"][name] for name in row["shown"] if name not in row.get("per_data", ())}
        if not row["is_yardstick"]:  # which has no place on the axes, so the legend has its settings
            shown = {name: value for name, value in shown.items() if not _covered(name, value, axes)}
        pool = row["pool"] if several else ""
        lines.append(", ".join(filter(None, (row["label"], params_text(shown), pool))))
    columns: dict[str, list[Any]] = {"line": lines}
    for name in axes:
        places = [dict(flat(params)).get(name, float("nan")) for params in summary["params"]]
        columns[f"at.{name}"] = [float(place) if _is_number(place) else float("nan") for place in places]
    return summary.assign(**columns)


def _covered(name: str, value: Any, axes: Iterable[str]) -> bool:
    """Whether the axes show all of a hyperparameter; a kernel's kind, a budget's learner are on none."""
    return name in axes or (
        isinstance(value, Mapping)
        and all(part in (f"{name}.kind", f"{name}.match") or part in axes for part, _ in flat({name: value}))
    )


def at_boundaries(summary: "pd.DataFrame", best: "pd.DataFrame", expected: ReportPlan) -> list[str]:
    """Return a remark for each swept number whose best value is the least or the largest of its grid.

    best: of the summary, as of sweep_table.best_settings. There is no remark where the domain ends
    there, or where a value inside the grid is as good.
    """
    remarks = []
    rows = learners_of(summary[summary["reps"] > 0]).to_dict("records")
    for row in learners_of(best).to_dict("records"):
        if not measure_of(row).better:
            continue
        same = [other for other in rows if (other["data"], other["algo"]) == (row["data"], row["algo"])]
        for axis in axes_of(summary):
            value = dict(flat(row["params"])).get(axis)
            errors: dict[float, float] = {}
            for other in same:
                if (at := dict(flat(other["params"])).get(axis)) is not None:
                    errors[at] = min(signed_measure(other), errors.get(at, float("inf")))
            if value is None or len(errors) < FEW or value not in (min(errors), max(errors)):
                continue
            inside = [error for at, error in errors.items() if min(errors) < at < max(errors)]
            larger = value == max(errors)
            if min(inside) > signed_measure(row) and _continues(expected, row["algo"], axis, value, larger):
                end, others = ("largest", "larger") if larger else ("smallest", "smaller")
                remarks.append(
                    f"{row['label']} on {row['data']}: the best {axis}, {shown_text(value)}, is the {end} of "
                    f"its grid; try {others} values too"
                )
    return remarks


def _continues(expected: ReportPlan, learner: str, axis: str, value: Any, larger: bool) -> bool:
    """Whether the domain of a hyperparameter has values beyond this one."""
    hyperparameters = getattr(expected.specs.get(learner), "hyperparameters", {})
    if axis not in hyperparameters:  # a part of a kernel
        return True
    step = 1 if isinstance(value, int) else 1e-6 * max(1.0, abs(value))
    try:
        hyperparameters[axis].check(value + step if larger else value - step)
    except ValueError:
        return False
    return True
