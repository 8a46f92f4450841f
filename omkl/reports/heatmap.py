"""Heat maps of a grid over two numbers: a panel per data set and learner, one colour scale per data set."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import value_text
from omkl.reports import captions, style
from omkl.reports.grid import points
from omkl.reports.measures import deviations_of, learners_of, measure_of, yardsticks_of
from omkl.reports.sensitivity import draw_panel

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVE = 5  # rows of a heat map that are as high as a curve


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


def draw_heat_maps(
    table: "pd.DataFrame", axes: Mapping[str, list[float]], warnings: Sequence[str] = ()
) -> "Figure":
    """Draw the table of grid.grid_table; rows of panels are learners, columns are data sets.

    A learner with several values of only one of the numbers has a curve over these; one with a single
    setting is named below the panels. A single learner's data sets, or a single data set's learners, are laid
    out in rows of four. warnings: shown below.
    """
    own = learners_of(table)
    data = list(dict.fromkeys(own["data"]))
    several = {
        line: [name for name in axes if own.loc[own["line"] == line, f"at.{name}"].nunique() > 1]
        for line in dict.fromkeys(own["line"])
    }
    drawn = sorted((line for line in several if several[line]), key=lambda line: -len(several[line]))
    across, down = (f"at.{name}" for name in axes)
    wide = int(table[across].nunique())
    single = len(data) == 1 or len(drawn) == 1
    shape = style.grid_shape(max(len(data), len(drawn))) if single else (len(drawn), len(data))
    # Panels in one row of the figure are equally high.
    high = [own.loc[own["line"] == n, down].nunique() if len(several[n]) > 1 else _CURVE for n in drawn]
    if single:
        high = [max(high)] * shape[0]
    width = float(np.clip(0.46 * wide, 1.9, 4.2))
    heights = np.clip(0.3 * np.array(high), 0.3, 2.6)
    figure = style.new_figure((width + 0.8) * shape[1], 1.1 + float((heights + 0.75).sum()))
    panels = figure.subplots(*shape, squeeze=False, height_ratios=heights)
    styles = style.line_styles(drawn, [])
    used: dict[str, list[Axes]] = {}
    images: dict[str, Any] = {}
    for number, (which, line) in enumerate((d, n) for n in drawn for d in data):
        panel = panels.flat[number]
        part = own[own["data"] == which]
        mapped = part[part["line"].map(lambda name: len(several[name]) > 1)]
        rates = mapped[f"{measure_of(part).name}_mean"].astype(float)
        mine = part[part["line"] == line]
        if mine.empty:
            panel.set_axis_off()
        elif len(several[line]) > 1:
            room = (width, float(heights[number // shape[1]]))
            images[which] = _panel(panel, mine, axes, (rates.min(), rates.max()), room)
        else:
            (name,) = several[line]
            draw_panel(panel, points(mine, name), styles, ring=True)
            panel.set_xlabel(style.axis_symbol(name))
            panel.set_ylabel(measure_of(part).axis)
        panel.set_title(f"{which} · {line}", fontsize=9)
        used.setdefault(which, []).append(panel)
    for which, image in images.items():
        bar = figure.colorbar(image, ax=used[which], location="bottom", aspect=35, shrink=0.9, pad=0.03)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7.5)
        levels = textwrap.fill(_levels(table, several, which), int(14 * width))
        bar.set_label(f"{measure_of(own[own['data'] == which]).axis}\n{levels}".strip(), fontsize=8)
    curves = any(len(names) == 1 for names in several.values())
    text = captions.caption(own, of=deviations_of(own) if curves else ())
    below = [
        f"{which}: {levels}"
        for which in data
        if which not in images and (levels := _levels(table, several, which))
    ]
    style.note_below(figure, "\n".join([text, *below]), warnings)
    for unused in panels.flat[len(data) * len(drawn) :]:
        unused.remove()
    return figure


def _levels(table: "pd.DataFrame", several: Mapping[str, list[str]], which: str) -> str:
    """Return the errors on a data set of those that have no panel: learners of one setting, yardsticks."""
    own = table[table["data"] == which]
    drawn = own["line"].map(lambda line: bool(several.get(line)))
    parts = []
    for name, rows in (
        ("one setting", learners_of(own[~drawn])),
        ("yardsticks", yardsticks_of(own)),
    ):
        if len(rows):
            error = f"{measure_of(rows).name}_mean"
            listed = ", ".join(f"{row['line']} {row[error]:.1f}" for row in rows.to_dict("records"))
            parts.append(f"{name}: {listed}")
    return "; ".join(parts)


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
    across, down = (style.axis_symbol(name) for name in axes)
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
    look = {"fill": False, "edgecolor": "black", "linewidth": 2, "zorder": 4, "clip_on": False}
    panel.add_patch(Rectangle((best[1] - 0.5, best[0] - 0.5), 1, 1, **look))
    return image
