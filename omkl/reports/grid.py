"""The grid of a sweep: its axes, and the rows of the summary placed on them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from omkl.config.settings_text import params_text, value_text
from omkl.reports.measures import errors_of, learners_of

if TYPE_CHECKING:
    import pandas as pd


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


def grid_table(summary: "pd.DataFrame", axes: Iterable[str] = ()) -> "pd.DataFrame":
    """Return the summary with its place on the axes, for figures.

    Adds ``line``, the name in the legend: the learner, its shown hyperparameters that are no axis and not
    chosen per data set (a column ``per_data`` of their names), the pool if there are several; and a column
    ``at.NAME`` per axis, NaN for a learner without that hyperparameter.
    """
    several = summary["pool"].dropna().nunique() > 1
    table = summary.copy()
    lines = []
    for row in summary.to_dict("records"):
        shown = {name: row["params"][name] for name in row["shown"] if name not in row.get("per_data", ())}
        if not row["is_yardstick"]:  # which has no place on the axes, so the legend has its settings
            shown = {name: value for name, value in shown.items() if not _covered(name, value, axes)}
        pool = row["pool"] if several else ""
        lines.append(", ".join(filter(None, (row["label"], params_text(shown), pool))))
    table["line"] = lines
    for name in axes:
        places = [dict(flat(params)).get(name, float("nan")) for params in summary["params"]]
        table[f"at.{name}"] = [float(place) if _is_number(place) else float("nan") for place in places]
    return table


def points(table: "pd.DataFrame", axis: str) -> "pd.DataFrame":
    """Return a ``grid_table`` as points along one axis, for sensitivity.draw_sensitivity: task errors."""
    errors = {f"y_{part}": errors_of(table, part) for part in ("mean", "std")}
    return table.assign(panel=table["data"], x=table[f"at.{axis}"], **errors)


def _covered(name: str, value: Any, axes: Iterable[str]) -> bool:
    """Whether the axes show all of a hyperparameter; a kernel's kind is never on an axis."""
    return name in axes or (
        isinstance(value, Mapping)
        and all(part == f"{name}.kind" or part in axes for part, _ in flat({name: value}))
    )
