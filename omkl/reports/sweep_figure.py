"""Pictures of a grid: curves for one swept number, heat maps for two, sorted dots for anything else."""

from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports import captions, strokes, style
from omkl.reports.sweep_grid import axes_of, grid_table
from omkl.reports.sweep_panels import curve_panel
from omkl.reports.task_measures import axis_of, deviations_of, least_of, measure_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DOTS = 30


def draw_sweep(summary: "pd.DataFrame") -> "Figure":
    """Draw a summary's grid: mistake % over what was swept, one panel per data set (and learner).

    One swept number gives curves, two give heat maps; none (only words or pools were swept), or three and
    more, give one dot per setting, sorted, the MOST_DOTS best of each data set.
    """
    axes = axes_of(summary)
    table = grid_table(summary, axes)
    names = table["line"].where(table["settings"] == "", table["label"] + ", " + table["settings"])
    warnings = captions.shortfall_of(table.assign(line=names))
    table = table[table["reps"] > 0]
    with style.looks():
        if len(axes) == 1:
            return _draw_curves(table, next(iter(axes.items())), warnings)
        if len(axes) == 2:
            from omkl.reports.heatmap import draw_heat_maps

            return draw_heat_maps(table, axes, warnings)
        return _draw_dots(table, warnings)


# -------------------------------------------------------------------- one number: curves


def _draw_curves(table: "pd.DataFrame", axis: tuple[str, list[float]], warnings: list[str]) -> "Figure":
    from matplotlib.lines import Line2D

    name, values = axis
    data = list(dict.fromkeys(table["data"]))
    yardstick = table["is_yardstick"].astype(bool)
    learners = list(dict.fromkeys(table.loc[~yardstick, "line"]))
    styles = style.line_styles(
        learners, [n for n in dict.fromkeys(table.loc[yardstick, "line"]) if n not in learners]
    )
    figure, panels = style.panels(len(data), 3.0, 2.9, len(styles))
    for number, (axes, which) in enumerate(zip(panels, data, strict=True)):
        curve_panel(axes, table[table["data"] == which], f"at.{name}", values, styles)
        axes.set_title(which)
        axes.set_xlabel(style.symbol(name.split(".")[-1]))
        if number % style.grid_shape(len(data))[1] == 0:
            axes.set_ylabel(axis_of(table))
    seen = strokes.in_view(panels)
    handles = {line: Line2D([], [], **look) for line, look in styles.items() if line in seen}
    counts = table[~yardstick].groupby("data")["line"].nunique().tolist()
    text = captions.caption(table, strokes.spread_name(counts or [1]), deviations_of(table))
    style.legend_below(figure, handles, f"{text}; ring: {least_of(table)}", warnings)
    return figure


# -------------------------------------------------------------------- anything else: dots


def _draw_dots(table: "pd.DataFrame", warnings: list[str]) -> "Figure":
    """Draw a dot per setting, best at the top, filled where marked (not worse than the best)."""
    from matplotlib.lines import Line2D

    data = list(dict.fromkeys(table["data"]))
    yardstick = table["is_yardstick"].astype(bool)
    learners = list(dict.fromkeys(table.loc[~yardstick, "label"]))
    styles = style.line_styles(
        learners, [n for n in dict.fromkeys(table.loc[yardstick, "line"]) if n not in learners]
    )
    several = table["pool"].dropna().nunique() > 1
    most = max(int((table["data"] == which).sum()) for which in data)
    figure = style.new_figure(6.5, 0.8 + len(data) * (0.7 + 0.19 * min(most, MOST_DOTS)))
    panels = figure.subplots(len(data), 1, squeeze=False)[:, 0]
    for axes, which in zip(panels, data, strict=True):
        _dot_panel(axes, table[table["data"] == which], styles, several)
    panels[-1].set_xlabel(axis_of(table))
    seen = {text for axes in panels for text in axes.get_legend_handles_labels()[1]}
    handles: dict[str, Any] = {}
    for line, look in styles.items():
        if line in seen:
            dot = {"marker": look.get("marker", "o"), "linestyle": "none"}
            level = {"linestyle": look["linestyle"]}
            handles[line] = Line2D([], [], color=look["color"], **(dot if line in learners else level))
    filled = "; filled: not worse than the best" if (table["reps"] > 1).any() else ""
    style.legend_below(
        figure, handles, captions.caption(table, "bars", deviations_of(table)) + filled, warnings
    )
    return figure


def _dot_panel(axes: "Axes", part: "pd.DataFrame", styles: dict, several: bool) -> None:
    yardsticks = part[part["is_yardstick"].astype(bool)]
    mean, std = (f"{measure_of(part).name}_{which}" for which in ("mean", "std"))
    learners = part[~part["is_yardstick"].astype(bool)].sort_values(mean, kind="stable")
    best = learners.head(MOST_DOTS)
    for place, row in enumerate(best.to_dict("records")):
        look = styles[row["label"]]
        colour = look["color"]
        axes.errorbar(
            row[mean],
            place,
            xerr=None if np.isnan(row[std]) else row[std],
            marker=look.get("marker", "o"),
            markersize=5,
            label=row["label"],
            color=colour,
            markerfacecolor=colour if row["marked"] else "white",
            elinewidth=1,
        )
    names = [
        ", ".join(part for part in (row["label"], row["settings"], row["pool"] if several else "") if part)
        for row in best.to_dict("records")
    ]
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
    beyond = {name: levels[name] for name in out}
    more = len(learners) - len(best)
    axes.set_title(
        str(part["data"].iloc[0]) + (f" (best {len(best)} of {len(learners)} settings)" if more else "")
    )
    style.note_left_out(axes, beyond, "→")
