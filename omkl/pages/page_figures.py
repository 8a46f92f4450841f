"""Figures of a page as plain data: panels (of a data set) with views (of a measure) that a script draws.

A view is a dict with ``type`` and ``name``, and by type:
lines  label, digits, kind, x (label), log, points, best, lines: name, x (None: a level), mean, std of each
dots   label, digits, rows: name, line, mean, std, marked of each, best first or in the table's order
heat   label, digits, x, y, columns, rows, mean, std (lists of rows), best (row, column)
confusion  label, classes, shares, counts (lists of rows: of each true class, over the classes predicted)
ranks  label, rows: name, rank and each (rank by data set); cd, groups: first and last row of each

Numbers are rounded to one decimal more than are shown; None takes the place of NaN.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.pages.content import Figure, Panel
from omkl.reports import style
from omkl.reports.captions import basis, caption
from omkl.reports.confusion_figure import confusions
from omkl.reports.curves import ERROR, mean_curves
from omkl.reports.expected import Expected
from omkl.reports.figure_lines import is_log_spaced, names_of
from omkl.reports.grid import axes_of, grid_table, points
from omkl.reports.measures import BY_TASK, MEASURES, learners_of, measure_of
from omkl.reports.pareto import COSTS, front
from omkl.reports.ranks import Ranks
from omkl.reports.rows import Row, line_names
from omkl.reports.sweep_figure import matrix

if TYPE_CHECKING:
    import pandas as pd

View = dict[str, Any]
CURVES = (ERROR, "windowed_pct", "mistakes", "n_sv_sum", "top_weight")
DIGITS = {"rate": 2, "count": 1, "size": 1, "share": 3}
SIGNIFICANT = 6
MOST_CLASSES = 100  # of a confusion matrix
SECONDS = "seconds of one pass"
FRONT = "best for its cost"
_SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"}
_SYMBOLS |= {"P": "cross", "X": "x", "*": "star"}


def looks(names: Sequence[str], yardsticks: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour, dash (in CSS), symbol and kind of each line: those of the printed figures."""
    made, grey = {}, set(yardsticks) - set(names)
    for name, look in style.line_styles(list(names), list(yardsticks)).items():
        parts = () if look["linestyle"] == "-" else look["linestyle"][1]
        dash = ",".join(f"{1.5 * part:g}px" for part in parts) or "solid"
        symbol = _SYMBOLS.get(look.get("marker", ""), "")
        made[name] = {"colour": look["color"], "dash": dash, "symbol": symbol, "yardstick": name in grey}
    return made


def numbers(values: Iterable[Any], places: int | None = None) -> list[float | None]:
    """Return numbers as JSON holds them, with these decimals, else SIGNIFICANT digits."""
    array = np.asarray(list(values), dtype=float).tolist()
    if places is None:
        return [float(f"{v:.{SIGNIFICANT}g}") if math.isfinite(v) else None for v in array]
    return [round(v, places) if math.isfinite(v) else None for v in array]


# -------------------------------------------------------------------- over the examples


def curves(
    cells: "pd.DataFrame",
    stored: Mapping[str, Mapping[str, Any]],
    expected: Expected,
    rows: list[Row],
    summary: "pd.DataFrame",
    *,
    name: str = "curves",
    first: str = ERROR,
) -> Figure | None:
    """Return the learning curves of some rows, a view per measure (``first`` first), and their seconds.

    summary: of the same rows    None where the store holds no curve of theirs
    """
    tables: dict[str, pd.DataFrame] = {}
    for measure in dict.fromkeys((first, *CURVES)):
        try:
            tables[measure] = mean_curves(cells, stored, expected, (measure,), rows)
        except UserError:  # no curve of these cells holds it
            continue
    if not tables:
        return None
    named = list(zip(rows, line_names(rows, expected), strict=True))
    learners = list(dict.fromkeys(line for row, line in named if not row.is_yardstick))
    yardsticks = list(dict.fromkeys(line for row, line in named if row.is_yardstick and line not in learners))
    panels = []
    for data in dict.fromkeys(row.data for row, _ in named):
        views = [_curve_view(table[table["data"] == data], of) for of, table in tables.items()]
        there = [place for place, (row, _) in enumerate(named) if row.data == data and row.cells]
        own = summary.iloc[there]
        seconds = _dots(own, [named[place][1] for place in there], "seconds", SECONDS, 3)
        if any(made := [view for view in views if view]):
            panels.append(Panel(data, [*made, seconds]))
    measure, table = next(iter(tables.items()))
    return Figure(name, panels, looks(learners, yardsticks), caption(table, "bands", [f"{measure}_std"]))


def _curve_view(table: "pd.DataFrame", name: str) -> View | None:
    """Return a measure of one data set; lines that are 0 throughout where a learner need not have it."""
    measure = MEASURES[BY_TASK[table["task"].iloc[0]].name if name == ERROR else name] if len(table) else None
    if measure is None or (measure.kind == "size" and not table[f"{name}_mean"].any()):
        return None
    lines, digits = [], DIGITS[measure.kind]
    for line, part in table.groupby("line", sort=False):
        if measure.kind != "size" or part[f"{name}_mean"].any():
            lines.append(_line(str(line), part["t"], part[f"{name}_mean"], part[f"{name}_std"], digits + 1))
    label = BY_TASK[table["task"].iloc[0]].axis if name == ERROR else measure.label
    about = {"label": label, "digits": digits, "kind": measure.kind, "x": "examples"}
    return {"type": "lines", "name": name, **about, "log": False, "lines": lines}


def _line(name: str, x: Any, mean: Any, std: Any, places: int | None = None) -> View:
    own = numbers(std, places)
    return {"name": name, "x": numbers(x), "mean": numbers(mean, places), "std": own if any(own) else None}


def _dots(part: "pd.DataFrame", names: Sequence[str], measure: str, label: str, digits: int) -> View:
    means, stds = (numbers(part[f"{measure}_{which}"]) for which in ("mean", "std"))
    marks = part["marked"] & (measure != "seconds")  # marks are of errors
    rows = [
        {"name": name, "line": name, "mean": mean, "std": std, "marked": bool(mark)}
        for name, mean, std, mark in zip(names, means, stds, marks, strict=True)
    ]
    return {"type": "dots", "name": measure, "label": label, "digits": digits, "rows": rows}


def times(summary: "pd.DataFrame", name: str = "times") -> Figure:
    """Return the seconds of each learner, a panel per data set."""
    table = grid_table(summary[summary["reps"] > 0])
    panels = [
        Panel(str(data), [_dots(part, part["line"].tolist(), "seconds", SECONDS, 3)])
        for data, part in table.groupby("data", sort=False)
    ]
    return Figure(name, panels, looks(*names_of(table)), caption(table, "bars", ["seconds_std"]))


def confusion(cells: "pd.DataFrame", expected: Expected, rows: list[Row]) -> Figure | None:
    """Return the confusion matrices of data with three classes and more, as many as a page can hold."""
    made = [one for one in confusions(cells, expected, rows) if 2 < len(one.names) <= MOST_CLASSES]
    panels = []
    for one in made:
        about: View = {"label": "% of the true class's examples", "classes": one.names}
        about["shares"] = [numbers(row, 2) for row in one.shares]
        about["counts"] = [numbers(row) for row in one.counts]
        view = {"type": "confusion", "name": "confusion", **about}
        panels.append(Panel(f"{one.row.data} · {one.line}", [view]))
    if not panels:
        return None
    passes = basis(max(len(one.row.cells) for one in made), [one.row.order for one in made])
    return Figure("confusion", panels, {}, f"numbers: examples of one pass; {passes}")


def pareto(table: "pd.DataFrame", cost: str, name: str) -> Figure:
    """Return error against cost, a point per learner, and the front that none beats.

    table: as of reports.pareto.draw_pareto
    """
    panels = []
    for data, part in table.groupby("data", sort=False):
        error = [BY_TASK[task].name for task in part["task"]]
        stds = [row[f"{own}_std"] for own, row in zip(error, part.to_dict("records"), strict=True)]
        own = zip(part["line"], part["cost"], part["error"], stds, strict=True)
        points = [_line(str(line), [x], [y], [std]) for line, x, y, std in own]
        places = front(part["cost"], part["error"])
        joined = _line(FRONT, part["cost"].iloc[places], part["error"].iloc[places], [math.nan] * len(places))
        about = {"label": measure_of(part).axis, "digits": 2, "kind": "rate", "x": COSTS[cost][1]}
        view = {"type": "lines", "name": cost, **about, "log": True, "best": False, "points": True}
        panels.append(Panel(str(data), [view | {"lines": [joined, *points]}]))
    learners = list(dict.fromkeys(table["line"]))
    text = "joined: no other learner has less error at no more cost"
    return Figure(name, panels, looks(learners, [FRONT]), text)


# -------------------------------------------------------------------- over hyperparameters


def sensitivity(table: "pd.DataFrame", name: str, x_label: str = "", best: bool = False) -> Figure:
    """Return a table of sensitivity.draw_sensitivity as a figure; best: mark each line's lowest point."""
    for column, default in (("x_label", x_label), ("y_label", BY_TASK["classification"].axis)):
        table = table if column in table else table.assign(**{column: default})
    parts = table.groupby("panel", sort=False)
    panels = [Panel(str(panel), [_sensitivity_view(part, best)]) for panel, part in parts]
    return Figure(name, panels, looks(*names_of(table)), caption(table, "bands", ["y_std"]))


def _sensitivity_view(part: "pd.DataFrame", best: bool) -> View:
    lines = []
    for line, own in part.sort_values("x").groupby("line", sort=False):
        level = own["x"].isna().all()
        made = _line(str(line), own["x"], own["y_mean"], own["y_std"])
        lines.append(made | {"x": None} if level else made)
    y, x = (str(part[f"{axis}_label"].iloc[0]) for axis in "yx")
    log = is_log_spaced(part["x"].dropna().tolist())
    about = {"label": y, "digits": 2, "kind": "rate", "x": x, "log": log, "best": best}
    return {"type": "lines", "name": y, **about, "points": True, "lines": lines}


def sweep(summary: "pd.DataFrame", name: str = "sweep") -> Figure | None:
    """Return the error over what was swept: lines for one number, heat maps for two, else sorted dots."""
    axes = axes_of(summary)
    table = grid_table(summary[summary["reps"] > 0], axes)
    if learners_of(table).empty:
        return None
    if len(axes) == 1:
        (axis,) = axes
        own = points(table, axis)
        labels = own["task"].map(lambda task: BY_TASK[task].axis)
        return sensitivity(own.assign(y_label=labels), name, style.symbol(axis), best=True)
    own = learners_of(table)
    if len(axes) == 2:
        panels = [
            Panel(f"{data} · {line}", [_map(part, axes)])
            for (data, line), part in own.groupby(["data", "line"], sort=False)
        ]
        drawn = any(view["type"] == "lines" for panel in panels for view in panel.views)
        of = [f"{measure_of(own).name}_std"] if drawn else []
        return Figure(name, panels, looks(*names_of(own)), caption(own, "bands", of))
    panels = []
    for data, part in own.groupby("data", sort=False):
        measure = measure_of(part)
        part = part.sort_values(f"{measure.name}_mean", kind="stable")
        names = [", ".join(filter(None, pair)) for pair in zip(part["label"], part["settings"], strict=True)]
        view = _dots(part, names, measure.name, measure.axis, 2)
        for row, label in zip(view["rows"], part["label"], strict=True):
            row["line"] = label
        panels.append(Panel(str(data), [view]))
    return Figure(name, panels, looks(list(dict.fromkeys(own["label"])), []), caption(own, "bars"))


def _map(part: "pd.DataFrame", axes: Mapping[str, list[float]]) -> View:
    """Return one learner's errors over both axes; as a line where it has one of them."""
    several = [name for name in axes if part[f"at.{name}"].nunique() > 1]
    if len(several) != 1:
        return _heat(part, axes)
    (axis,) = several
    labels = {"x_label": style.symbol(axis), "y_label": measure_of(part).axis}
    return _sensitivity_view(points(part, axis).assign(**labels), best=True)


def _heat(part: "pd.DataFrame", axes: Mapping[str, list[float]]) -> View:
    measure = measure_of(part)
    mean, rows, columns = matrix(part, axes)
    std, _, _ = matrix(part.assign(**{f"{measure.name}_mean": part[f"{measure.name}_std"]}), axes)
    across, down = (style.symbol(axis) for axis in axes)
    best = [int(place) for place in np.unravel_index(np.nanargmin(mean), mean.shape)]
    about = {"label": measure.axis, "digits": 2, "x": across, "y": down, "columns": columns, "rows": rows}
    grids = {"mean": [numbers(row) for row in mean], "std": [numbers(row) for row in std]}
    return {"type": "heat", "name": measure.name, **about, **grids, "best": best}


# -------------------------------------------------------------------- ranks


def ranks(made: Ranks, name: str = "ranks") -> Figure:
    """Return the diagram of average ranks: best first, with what does not differ significantly."""
    order = list(made.average)
    rows = [
        {
            "name": line,
            "rank": numbers([made.average[line]])[0],
            "each": dict(zip(map(str, made.each.index), numbers(made.each[line]), strict=True)),
        }
        for line in order
    ]
    groups = [[order.index(group[0]), order.index(group[-1])] for group in made.groups]
    view = {"type": "ranks", "name": "ranks", "label": "average rank", "digits": 2, "rows": rows}
    view |= {"cd": numbers([made.cd])[0], "groups": groups}
    learners = [line for line in made.each if line not in made.yardsticks]
    text = made.caption() + (f" · left out: {'; '.join(made.left_out)}" if made.left_out else "")
    return Figure(name, [Panel("all data sets", [view])], looks(learners, made.yardsticks), text)
