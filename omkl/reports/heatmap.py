"""Heat maps of a grid over two numbers: a panel per data set and learner, one colour scale per data set."""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports import style
from omkl.reports.measures import measure_of
from omkl.reports.rows import value_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def matrix(part: "pd.DataFrame", axes: Mapping[str, list[float]]) -> tuple[np.ndarray, list[str], list[str]]:
    """Return the mean errors (rows, columns) of one panel and the ticks of its rows and columns.

    The first axis runs over the columns. Values that the learner did not take are left out; a learner without
    one of the axes has a single row or column, without a tick. NaN where no cell has finished.
    """
    places = []
    for name in axes:
        taken = sorted(part[f"at.{name}"].dropna().unique())
        places.append(taken or [np.nan])
    columns, rows = places
    grid = np.full((len(rows), len(columns)), np.nan)
    across, down = (f"at.{name}" for name in axes)
    for row in part.to_dict("records"):
        j = 0 if np.isnan(row[across]) else columns.index(row[across])
        i = 0 if np.isnan(row[down]) else rows.index(row[down])
        grid[i, j] = row[f"{measure_of(part).name}_mean"]
    ticks = [["" if np.isnan(v) else value_text(float(v)) for v in values] for values in (rows, columns)]
    return grid, *ticks


def draw_heat_maps(table: "pd.DataFrame", axes: Mapping[str, list[float]]) -> "Figure":
    """Draw the table of sweep.grid_table; rows of panels are learners, columns are data sets.

    A single learner's data sets, or a single data set's learners, are laid out in rows of four.
    """
    yardstick = table["is_yardstick"].astype(bool)
    data = list(dict.fromkeys(table.loc[~yardstick, "data"]))
    lines = list(dict.fromkeys(table.loc[~yardstick, "line"]))
    single = len(data) == 1 or len(lines) == 1
    shape = style.grid_shape(max(len(data), len(lines))) if single else (len(lines), len(data))
    across, down = (f"at.{name}" for name in axes)
    wide = int(table[across].nunique())
    # A learner without the second axis needs but one row; panels in one row of the figure are equally high.
    high = [max(1, int(table.loc[table["line"] == line, down].nunique())) for line in lines]
    if single:
        high = [max(high)] * shape[0]
    width = float(np.clip(0.46 * wide, 1.9, 4.2))
    heights = np.clip(0.3 * np.array(high), 0.3, 2.6)
    figure = style.new_figure((width + 0.8) * shape[1], 1.1 + float((heights + 0.75).sum()))
    panels = figure.subplots(*shape, squeeze=False, height_ratios=heights)
    used: dict[str, list[Axes]] = {}
    for number, (which, line) in enumerate((d, n) for n in lines for d in data):
        panel = panels.flat[number]
        part = table[(table["data"] == which) & ~yardstick]
        measure = measure_of(part)
        rates = part[f"{measure.name}_mean"].astype(float)
        room = (width, float(heights[number // shape[1]]))
        image = _panel(panel, part[part["line"] == line], axes, (rates.min(), rates.max()), room)
        panel.set_title(f"{which} · {line}", fontsize=9)
        used.setdefault(which, []).append(panel)
        if len(used[which]) == len(lines):
            bar = figure.colorbar(image, ax=used[which], location="bottom", aspect=35, shrink=0.9, pad=0.03)
            bar.outline.set_visible(False)
            bar.ax.tick_params(labelsize=7.5)
            levels = textwrap.fill(_levels(table[yardstick], which), int(14 * width))
            bar.set_label(f"{measure.axis}\n{levels}".strip(), fontsize=8)
    for unused in panels.flat[len(data) * len(lines) :]:
        unused.remove()
    return figure


def _levels(yardsticks: "pd.DataFrame", which: str) -> str:
    own = yardsticks[yardsticks["data"] == which]
    if own.empty:
        return ""
    error = f"{measure_of(own).name}_mean"
    listed = ", ".join(f"{row['label']} {row[error]:.1f}" for row in own.to_dict("records"))
    return f"yardsticks: {listed}" if listed else ""


def _panel(
    panel: "Axes",
    part: "pd.DataFrame",
    axes: Mapping[str, list[float]],
    limits: tuple[float, float],
    room: tuple[float, float],
) -> Any:
    """Draw one panel; room: width and height of its picture in inches, which decide on the annotations."""
    from matplotlib.patches import Rectangle

    grid, rows, columns = matrix(part, axes)
    image = panel.imshow(
        grid, cmap="cividis_r", vmin=limits[0], vmax=limits[1], aspect="auto", origin="lower"
    )
    panel.grid(False)
    for side in panel.spines.values():
        side.set_visible(False)
    panel.tick_params(length=0)
    step = -(-len(columns) // 10), -(-len(rows) // 10)
    panel.set_xticks(range(0, len(columns), step[0]), columns[:: step[0]])
    panel.set_yticks(range(0, len(rows), step[1]), rows[:: step[1]])
    across, down = (style.symbol(name.split(".")[-1]) for name in axes)
    panel.set_xlabel(across if any(columns) else "")
    panel.set_ylabel(down if any(rows) else "")
    best = np.unravel_index(np.nanargmin(grid), grid.shape)
    annotated = room[0] / len(columns) >= 0.36 and room[1] / len(rows) >= 0.17
    middle = (limits[0] + limits[1]) / 2
    for (i, j), rate in np.ndenumerate(grid):
        if annotated and not np.isnan(rate):
            weight = "bold" if (i, j) == best else "normal"
            colour = "white" if rate > middle else "black"
            panel.text(
                j, i, f"{rate:.1f}", ha="center", va="center", fontsize=7.5, color=colour, weight=weight
            )
    frame = Rectangle(
        (best[1] - 0.5, best[0] - 0.5),
        1,
        1,
        fill=False,
        edgecolor="black",
        linewidth=2,
        zorder=4,
        clip_on=False,
    )
    panel.add_patch(frame)
    return image
