"""One measure against the examples seen: a panel per data set, a line per learner."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import captions, strokes, style
from omkl.reports.curves import (
    FIRST,
    SETTLED,
    count_panel,
    draw_lines,
    explain,
    is_wide,
    line_names,
    mean_curves,
    rate_panel,
    thousands,
    with_any,
)
from omkl.reports.expected import Expected
from omkl.reports.measures import measure_named
from omkl.reports.rows import rows_of
from omkl.reports.ticks import plain_log

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omkl.reports.rows import Row

FEW = 12  # points up to which each is marked: between them nothing is known


def draw_measure(
    table: "pd.DataFrame",
    name: str,
    *,
    title: str = "",
    log: bool | None = None,
    log_x: bool = False,
    palette: Iterable[str] = (),
    warnings: Sequence[str] | None = None,
) -> "Figure":
    """Draw a measure of the table of ``mean_curves(..., names=(name,))``.

    log: a log axis for the measure; None chooses it for sizes that differ widely. log_x: for the examples.
    palette: as in style.line_styles. warnings: as in curves.draw_curves.

    Raises UserError for an unknown measure, or sizes of which there are none.
    """
    measure = measure_named(name)
    yardstick = table["is_yardstick"].astype(bool)
    learners = list(dict.fromkeys(table.loc[~yardstick, "line"]))
    yardsticks = [line for line in dict.fromkeys(table.loc[yardstick, "line"]) if line not in learners]
    styles = style.line_styles(learners, yardsticks, palette)
    if measure.kind == "size":  # after the styles: a learner's colour is not to depend on the measure
        table = with_any(table, name)
        if table.empty:
            raise UserError(f"no {measure.label} to draw: these learners store none")
    data = list(dict.fromkeys(table["data"]))
    log = is_wide(table, name) if log is None and measure.kind == "size" else bool(log)
    with style.looks():
        figure, panels = style.panels(len(data), 3.0, 2.5, len(styles))
        columns = style.grid_shape(len(data))[1]
        for place, (axes, which) in enumerate(zip(panels, data, strict=True)):
            part = table[table["data"] == which]
            if measure.kind in ("count", "size"):
                count_panel(axes, part, name, styles, log)
            elif measure.kind == "share":
                _share_panel(axes, part, name, styles)
            elif log:
                _log_panel(axes, part, name, styles)
            else:
                rate_panel(axes, part, name, styles)
            _examples(axes, part["t"].to_numpy(dtype=float), log_x)
            axes.set_title(which)
            if place + columns >= len(data):
                axes.set_xlabel("examples")
            if place % columns == 0:
                axes.set_ylabel(measure.label)
        best = "; best: the kernel that ends with the largest weight" if measure.kind == "share" else ""
        explain(figure, table, styles, warnings, best)
        if title:
            figure.suptitle(title, fontsize=11)
    return figure


def _share_panel(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict) -> None:
    draw_lines(axes, part, name, styles)
    for line in axes.get_lines():
        if len(line.get_xdata()) <= FEW:
            marker = "o" if line.get_marker() == "None" else line.get_marker()
            line.set(marker=marker, markersize=3.5, markevery=None, clip_on=False)
    axes.set_ylim(-0.02, 1.02)
    strokes.part_lines(axes)


def _log_panel(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict) -> None:
    """Draw a rate on a log axis, which must show every mean but those of the start."""
    draw_lines(axes, part[part["t"] >= min(FIRST, part["t"].max())], name, styles)
    means = part.loc[part["t"] >= SETTLED * part["t"].max(), f"{name}_mean"]
    axes.set_yscale("log")
    plain_log(axes.yaxis)
    if (means > 0).any():
        axes.set_ylim(0.8 * means[means > 0].min(), 1.25 * means.max())
    strokes.part_lines(axes)


def _examples(axes: "Axes", t: np.ndarray, log: bool) -> None:
    if log:
        axes.set_xscale("log")
        plain_log(axes.xaxis)
        # A curve has evenly spaced points: between the first two, a log axis would show a straight line.
        axes.set_xlim(np.unique(t)[:2].max() if t.max() > t.min() else 0.5 * t.max(), t.max())
    else:
        thousands(axes.xaxis)


def measure_figure(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    name: str,
    out: str | Path,
    *,
    expected: Expected | None = None,
    rows: "list[Row] | None" = None,
    title: str = "",
    log: bool | None = None,
    log_x: bool = False,
    palette: Iterable[str] = (),
) -> list[Path]:
    """Draw a measure of the cells' curves to files and return these.

    cells, curves, expected, rows: as in curves.mean_curves; name: of measures.MEASURES; out: as in
    curves.curve_figure; the rest as in draw_measure. Without a palette, colours are those of all learners of
    the cells, also of those that lack the measure. Raises UserError when no cell has such a curve.
    """
    expected = expected or Expected()
    rows = rows_of(cells, expected) if rows is None else rows
    names = line_names(rows, expected)
    palette = tuple(palette) or [
        line for row, line in zip(rows, names, strict=True) if row.cells and not row.is_yardstick
    ]
    table = mean_curves(cells, curves, expected, (name,), rows)
    warnings = captions.shortfall_of_rows(rows, names, expected)
    figure = draw_measure(table, name, title=title, log=log, log_x=log_x, palette=palette, warnings=warnings)
    learners = table.loc[~table["is_yardstick"].astype(bool), "algo"].tolist() or table["algo"].tolist()
    out = style.target(out, name, learners, table["data"].tolist())
    return style.save(figure, out, title or measure_named(name).label, expected.command)
