"""Figures as the JSON that the page's scripts draw.

A view is a dict with ``type``, ``name``, ``label`` and, by type:
lines  digits, kind, x (label), log, points, best, lines: name, x (None: a level), mean, std of each
dots   digits, rows: name, line, mean, std, marked of each
heat   digits, x, y, columns, rows, mean, std (lists of rows), best (row, column)
confusion  classes, shares, counts (lists of rows: of each true class, over the classes predicted)
ranks  rows: name, rank and each (rank by data set); cd, groups: first and last row of each

Numbers are rounded to one decimal more than are shown; None takes the place of NaN.
"""

import math
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np

from omkl.reports.figures import Confusion, Dots, Figure, HeatMap, Line, Lines, LineStyle
from omkl.reports.ranks import Ranks

SIGNIFICANT = 6
_COUNTS = "numbers: examples of one pass; "
_SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"}
_SYMBOLS |= {"P": "cross", "X": "x", "*": "star"}


def as_json(figure: Figure) -> dict[str, Any]:
    """Return a figure as its scripts take it."""
    matrices, dots = (any(isinstance(v, kind) for v in figure.views()) for kind in (Confusion, Dots))
    notes = [f"{group}: {text}" for group, text in figure.notes.items() if text]
    return {
        "name": figure.name,
        "panels": [{"name": panel.name, "views": list(map(_view, panel.views))} for panel in figure.panels],
        "lines": {name: _style(style) for name, style in figure.styles.items()},
        "caption": ". ".join([f"{_COUNTS * matrices}{figure.text('bars' if dots else 'bands')}", *notes]),
    }


def _style(style: LineStyle) -> dict[str, Any]:
    """Return colour, dash (in CSS), symbol and kind of a line: those of the printed figures."""
    dash = ",".join(f"{1.5 * part:g}px" for part in style.dashes) or "solid"
    symbol = _SYMBOLS.get(style.marker, "")
    return {"colour": style.colour, "dash": dash, "symbol": symbol, "yardstick": style.is_yardstick}


def numbers(values: Iterable[Any], places: int | None = None) -> list[float | None]:
    """Return numbers as JSON holds them, with these decimals, else SIGNIFICANT digits."""
    array = np.asarray(list(values), dtype=float).tolist()
    if places is None:
        return [float(f"{v:.{SIGNIFICANT}g}") if math.isfinite(v) else None for v in array]
    return [round(v, places) if math.isfinite(v) else None for v in array]


@singledispatch
def _view(view: Any) -> dict[str, Any]:
    raise TypeError(f"the page has no {type(view).__name__}")


@_view.register
def _(view: Lines) -> dict[str, Any]:
    places = None if view.points else view.digits + 1
    about = {
        "type": "lines",
        "name": view.name,
        "label": view.label,
        "digits": view.digits,
        "x": view.x_label,
    }
    about |= {"kind": "rate" if view.points else view.kind, "log": view.log_x, "best": bool(view.ring)}
    return about | {"points": view.points, "lines": [_line(line, places) for line in view.lines]}


def _line(line: Line, places: int | None) -> dict[str, Any]:
    std = numbers(line.std, places)
    x = None if line.is_level else numbers(line.x)
    return {"name": line.name, "x": x, "mean": numbers(line.mean, places), "std": std if any(std) else None}


@_view.register
def _(view: Dots) -> dict[str, Any]:
    columns = (view.names, view.lines, numbers(view.mean), numbers(view.std), map(bool, view.marked))
    keys = ("name", "line", "mean", "std", "marked")
    rows = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    return {"type": "dots", "name": view.name, "label": view.label, "digits": view.digits, "rows": rows}


@_view.register
def _(view: HeatMap) -> dict[str, Any]:
    about = {"type": "heat", "name": view.name, "label": view.label, "digits": view.digits}
    about |= {"x": view.x_label, "y": view.y_label, "columns": view.columns, "rows": view.rows}
    grids = {name: list(map(numbers, getattr(view, name))) for name in ("mean", "std")}
    return about | grids | {"best": list(view.best)}


@_view.register
def _(view: Confusion) -> dict[str, Any]:
    about: dict[str, Any] = {
        "type": "confusion",
        "name": view.name,
        "label": view.label,
        "classes": list(view.classes),
    }
    about |= {"shares": [numbers(row, 2) for row in view.shares]}
    return about | {"counts": list(map(numbers, view.counts))}


@_view.register
def _(view: Ranks) -> dict[str, Any]:
    order = list(view.average)
    rows = [
        {
            "name": line,
            "rank": numbers([view.average[line]])[0],
            "each": dict(zip(map(str, view.each.index), numbers(view.each[line]), strict=True)),
        }
        for line in order
    ]
    groups = [[order.index(group[0]), order.index(group[-1])] for group in view.groups]
    about = {"type": "ranks", "name": view.name, "label": "average rank", "digits": 2, "rows": rows}
    return about | {"cd": numbers([view.cd])[0], "groups": groups}
