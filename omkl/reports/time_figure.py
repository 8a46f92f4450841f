"""How long learners take: bars of each one's time as a share of the slowest's, per data set."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import captions, figure_lines, layout, style
from omkl.reports import look as looking
from omkl.reports.look import points

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = 0.21  # inches
HATCHES = (None, "////", "....", "xxxx", "----", "++++")  # of bars of the same colour


def draw_times(table: "pd.DataFrame", *, title: str = "", warnings: Iterable[str] = ()) -> "Figure":
    """Draw a panel per data set with a bar per learner: its seconds over those of the slowest there.

    table: as of ``grid.grid_table``; data, line, seconds_mean (one row per pair) are needed, is_yardstick
    makes grey bars, reps and order the caption. The slowest's seconds are written above the panel, each share
    at its bar; a learner that a data set lacks has a dash. warnings: shown below.
    Raises UserError for an empty table or a pair given twice.
    """
    if table.empty or table.duplicated(["data", "line"]).any():
        raise UserError("a figure of times needs one time for each data set and learner")
    if "is_yardstick" not in table:
        table = table.assign(is_yardstick=False)
    data = list(dict.fromkeys(table["data"]))
    learners, yardsticks = figure_lines.names_of(table)
    names, styles = [*learners, *yardsticks], figure_lines.styles_of(table)
    label = 0.068 * looking.factor() * max(map(len, names))
    rows, wide = layout.grid_shape(len(data), narrowest=layout.NARROWEST_PANEL + label / 2)
    with style.looks():
        figure = style.new_figure(0.4 + label + 2.5 * wide, 0.5 + rows * (0.75 + _BAR * len(names)))
        panels = layout.subplots(figure, len(data), rows, wide, sharex=True, sharey=True)
        for number, (axes, which) in enumerate(zip(panels, data, strict=True)):
            seconds = table[table["data"] == which].set_index("line")["seconds_mean"]
            _panel(axes, seconds, names, styles)
            most = seconds.max()
            slowest = f"slowest: {most:.3g} s" if most < 1000 else f"slowest: {most:,.0f} s"
            axes.set_title(slowest, loc="right", fontsize=points(7.5), fontweight="normal")
            layout.panel_title(axes, which, len(data) == 1)
            if number + wide >= len(data):
                axes.set_xlabel("time / slowest's time")
                axes.tick_params(labelbottom=True)
        text = captions.basis(int(table["reps"].max()), table["order"]) if "reps" in table else ""
        layout.note_below(figure, text, warnings)
        layout.put_title(figure, title)
    return figure


def _panel(axes: "Axes", seconds: "pd.Series", names: list[str], styles: dict[str, dict[str, Any]]) -> None:
    shares = (seconds / seconds.max()).reindex(names) if seconds.max() > 0 else seconds[:0].reindex(names)
    colours = [styles[name]["color"] for name in names]
    for place, share in enumerate(map(float, shares)):
        if np.isnan(share):
            axes.text(0.01, place, "–", va="center", fontsize=points(7.5))
            continue
        hatch = HATCHES[colours[:place].count(colours[place]) % len(HATCHES)]
        look = {"color": colours[place], "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        axes.barh(place, share, height=0.72, **look)
        text = f"{share:.2f}" if share >= 0.01 else figure_lines.plain_number(float(f"{share:.1g}"))
        axes.text(share + 0.015, place, text, va="center", fontsize=points(7.5))
    axes.set_yticks(range(len(names)), map(style.in_symbols, names))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.17)
    axes.set_xticks([0, 0.5, 1.0], ["0", "0.5", "1"])
    axes.grid(visible=False, axis="y")
