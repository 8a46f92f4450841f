"""Figures of a grid: curves for one swept number, heat maps for two, sorted dots for anything else."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports import captions, lines, style
from omkl.reports.grid import axes_of, grid_table, points
from omkl.reports.measures import axis_of, deviations_of, learners_of, least_of, measure_of, yardsticks_of
from omkl.reports.sensitivity import draw_sensitivity

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DOTS = 30


def draw_sweep(summary: "pd.DataFrame") -> "Figure":
    """Draw a summary's grid: the error over what was swept, one panel per data set (and learner).

    One swept number gives curves, two give heat maps; none (only words or pools were swept), or three and
    more, give one dot per setting, sorted, the MOST_DOTS best of each data set.
    """
    axes = axes_of(summary)
    table = grid_table(summary, axes)
    names = table["line"].where(table["settings"] == "", table["label"] + ", " + table["settings"])
    warnings = captions.shortfall_of(table.assign(line=names))
    table = table[table["reps"] > 0]
    if len(axes) == 1:
        ((name, values),) = axes.items()
        looks = {"ring": least_of(table), "height": 2.9, "warnings": warnings}
        labels = {"x_label": style.axis_symbol(name), "y_label": axis_of(table)}
        return draw_sensitivity(points(table, name), values=values, **labels, **looks)
    with style.looks():
        if len(axes) == 2:
            from omkl.reports.heatmap import draw_heat_maps

            return draw_heat_maps(table, axes, warnings)
        return _draw_dots(table, warnings)


def _draw_dots(table: "pd.DataFrame", warnings: Sequence[str]) -> "Figure":
    """Draw a dot per setting, best at the top, filled where marked (not worse than the best)."""
    from matplotlib.lines import Line2D

    data = list(dict.fromkeys(table["data"]))
    # Settings of a learner share its colour; a yardstick may have the name of a learner.
    table = table.assign(line=table["label"].where(~table["is_yardstick"], table["line"]))
    styles = lines.styles_of(table)
    most = max(int((table["data"] == which).sum()) for which in data)
    figure = style.new_figure(6.5, 0.8 + len(data) * (0.7 + 0.19 * min(most, MOST_DOTS)))
    panels = figure.subplots(len(data), 1, squeeze=False)[:, 0]
    several = table["pool"].dropna().nunique() > 1
    for axes, which in zip(panels, data, strict=True):
        _dot_panel(axes, table[table["data"] == which], styles, several)
    panels[-1].set_xlabel(axis_of(table))
    seen = {text for axes in panels for text in axes.get_legend_handles_labels()[1]}
    learners, _ = lines.names_of(table)
    handles: dict[str, Any] = {}
    for line, look in styles.items():
        if line not in seen:
            continue
        dot = {"marker": look.get("marker", "o"), "linestyle": "none"}
        level = {"linestyle": look["linestyle"]}
        handles[line] = Line2D([], [], color=look["color"], **(dot if line in learners else level))
    filled = "; filled: not worse than the best" if (table["reps"] > 1).any() else ""
    caption = captions.caption(table, "bars", deviations_of(table)) + filled
    style.legend_below(figure, handles, caption, warnings)
    return figure


def _dot_panel(axes: "Axes", part: "pd.DataFrame", styles: dict, several: bool) -> None:
    mean, std = (f"{measure_of(part).name}_{which}" for which in ("mean", "std"))
    learners = learners_of(part).sort_values(mean, kind="stable")
    yardsticks = yardsticks_of(part)
    best = learners.head(MOST_DOTS)
    names = []
    for place, row in enumerate(best.to_dict("records")):
        look = styles[row["label"]]
        axes.errorbar(
            row[mean],
            place,
            xerr=None if np.isnan(row[std]) else row[std],
            marker=look.get("marker", "o"),
            markersize=5,
            label=row["label"],
            color=look["color"],
            markerfacecolor=look["color"] if row["marked"] else "white",
            elinewidth=1,
        )
        parts = (row["label"], row["settings"], row["pool"] if several else "")
        names.append(", ".join(part for part in parts if part))
    axes.set_yticks(range(len(best)), names)
    axes.set_ylim(len(best) - 0.5, -0.5)
    reach = np.nan_to_num(best[std].to_numpy(dtype=float))
    means = best[mean].to_numpy(dtype=float)
    levels = dict(zip(yardsticks["line"], yardsticks[mean].astype(float), strict=True))
    limits, out = style.robust_limits([*np.maximum(means - reach, 0.0), *(means + reach)], levels)
    axes.set_xlim(*limits)
    for name, level in levels.items():
        if name not in out:
            look = {key: styles[name][key] for key in ("color", "linestyle", "zorder")}
            axes.axvline(level, label=name, linewidth=1.2, **look)
    more = f" (best {len(best)} of {len(learners)} settings)" if len(learners) > len(best) else ""
    axes.set_title(f"{part['data'].iloc[0]}{more}")
    style.note_left_out(axes, {name: levels[name] for name in out}, "→")
