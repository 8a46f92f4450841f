"""A measure over hyperparameters: lines over one number, heat maps over two, else a dot for each setting."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.heat_maps import map_figure
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.figures.scales import axis_limits, beyond
from omkl.figures.sensitivity import sensitivity
from omkl.figures.sweep_grid import basis_of_grid, grid_points, names_of_grid
from omkl.reports import captions
from omkl.reports.grid import axes_of, grid_table
from omkl.reports.measures import best_first, best_of, learners_of, measure_in, yardsticks_of
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


MOST_DOTS = 30


def sweep_figure(
    summary: "pd.DataFrame", *, name: str = "sweep", command: str = "", title: str = ""
) -> Figure | None:
    """Return a summary's grid: the error over what was swept, one panel per data set (and learner).

    One swept number gives lines, two give heat maps; none (only words or pools were swept), or three and
    more, give one dot per setting, the best first. None where no learner has finished.
    """
    axes = axes_of(summary)
    grid = grid_table(summary, axes)
    names = grid["line"].where(grid["settings"] == "", grid["label"] + ", " + grid["settings"])
    about: dict[str, Any] = {"command": command, "name": name, "title": title}
    about["warnings"] = captions.shortfall_of(grid.assign(line=names))
    grid = grid[grid["reps"] > 0]
    if learners_of(grid).empty:
        return None
    if len(axes) == 1:
        ((axis, values),) = axes.items()
        return sensitivity(grid_points(grid, axis), ring=best_of(grid), values=values, **about)
    return map_figure(grid, axes, about) if len(axes) == 2 else _dots(grid, about)


def _dots(grid: "pd.DataFrame", about: dict[str, Any]) -> Figure:
    """Return a dot per setting, the best first, and the yardsticks as levels."""
    # Settings of a learner share its colour; a yardstick may have the name of a learner.
    grid = grid.assign(line=grid["label"].where(~grid["is_yardstick"], grid["line"]))
    several = grid["pool"].dropna().nunique() > 1
    sets, left_out = figure_names.first_panels(list(dict.fromkeys(grid["data"])))
    tables = [grid[grid["data"] == data] for data in sets]
    styles = line_styles(*names_of_grid(grid))
    stds = {f"{measure_in(part).name}_std" for part in tables}
    text = join_notes(
        basis_of_grid(grid),
        "bars: ±1 standard deviation" if any((grid[std].astype(float) > 0).any() for std in stds) else "",
        "filled: not significantly worse than the best" if grid["marked"].any() else "",
        left_out,
    )

    def make() -> "MplFigure":
        most = min(max(len(learners_of(part)) for part in tables), MOST_DOTS)
        drawn, stacks = panel_grid.panels(len(tables), 0.5 + 0.15 * most, columns=2, narrowest=2.6)
        drawn.set_figheight((0.65 + 0.15 * most) * -(-len(tables) // panel_grid.panels_per_row(drawn)))
        for (axes,), data, part in zip(stacks, sets, tables, strict=True):
            _dot_panel(axes, str(data), part, styles, several, len(tables) == 1)
        seen = {text for axes in drawn.axes for text in axes.get_legend_handles_labels()[1]}
        shown = {line: line_style for line, line_style in styles.items() if line in seen}
        few = len(shown) <= style.MOST_LINES  # of more, the ticks name the learners
        panel_grid.draw_legend(drawn, {k: v for k, v in shown.items() if few or v.is_yardstick}, dots=True)
        return drawn

    return Figure(make=make, panels=len(tables), note=text, **about)


def _dot_panel(
    axes: "Axes",
    data: str,
    part: "pd.DataFrame",
    styles: Mapping[str, LineStyle],
    several: bool,
    alone: bool,
) -> None:
    measure = measure_in(part)
    mean, std = (f"{measure.name}_{which}" for which in ("mean", "std"))
    ordered = best_first(learners_of(part))
    shown = ordered.head(MOST_DOTS)
    ends: list[float] = []
    names = []
    for place, row in enumerate(shown.to_dict("records")):
        line_style = styles[row["label"]]
        reach = float(np.nan_to_num(row[std]))
        dot: dict[str, Any] = {"marker": line_style.marker or "o", "markersize": 4, "elinewidth": 0.8}
        dot |= {"color": line_style.colour}
        dot["markerfacecolor"] = line_style.colour if row["marked"] else "white"
        axes.errorbar(row[mean], place, xerr=reach or None, label=row["label"], linestyle="none", **dot)
        ends += [max(row[mean] - reach, min(0.0, row[mean])), row[mean] + reach]
        names.append(", ".join(filter(None, (row["label"], row["settings"], row["pool"] if several else ""))))
    axes.set_yticks(range(len(names)), map(in_symbols, names))
    base = yardsticks_of(part)
    levels = dict(zip(base["line"], base[mean].astype(float), strict=True))
    limits, out = axis_limits(ends, levels)
    axes.set_xlim(*limits)
    axes.set_ylim(len(names) - 0.5, -0.5 - 0.8 * len(out))  # their names stand above the dots
    for line, level in levels.items():
        if line not in out:
            axes.axvline(level, label=line, **styles[line].properties())
    beyond(axes, {line: levels[line] for line in out}, across=True)
    few = f" (best {MOST_DOTS} of {len(ordered)} settings)" if len(ordered) > MOST_DOTS else ""
    panel_grid.panel_title(axes, f"{data}{few}", alone and not few)
    axes.set_xlabel(measure.title)
