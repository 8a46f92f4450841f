"""Figures of a grid: curves for one swept number, heat maps for two, sorted dots for anything else."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import value_text
from omkl.reports import captions, figure_lines, layout, style
from omkl.reports import look as looking
from omkl.reports.grid import axes_of, grid_table, points
from omkl.reports.look import points as size
from omkl.reports.measures import axis_of, deviations_of, learners_of, least_of, measure_of, yardsticks_of
from omkl.reports.sensitivity import draw_panel, draw_sensitivity

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DOTS = 30
_CURVE = 5  # rows of a heat map that are as high as a curve
_NARROWEST = 2.2  # inches of a panel with a heat map
_ABOVE_BAR = 0.3  # inches between the panels and their colour bar


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
        looks: dict[str, Any] = {"x_label": style.symbol(name), "y_label": axis_of(table), "values": values}
        looks |= {"ring": least_of(table), "height": 2.9, "warnings": warnings}
        return draw_sensitivity(points(table, name), **looks)
    with style.looks():
        return _heat_maps(table, axes, warnings) if len(axes) == 2 else _dots(table, warnings)


# -------------------------------------------------------------------- dots


def _dots(table: "pd.DataFrame", warnings: Sequence[str]) -> "Figure":
    """Draw a dot per setting, best at the top, filled where marked (not worse than the best)."""
    from matplotlib.lines import Line2D

    data = list(dict.fromkeys(table["data"]))
    # Settings of a learner share its colour; a yardstick may have the name of a learner.
    table = table.assign(line=table["label"].where(~table["is_yardstick"], table["line"]))
    styles = figure_lines.styles_of(table)
    most = min(int(table["data"].value_counts().max()), MOST_DOTS)
    figure = style.new_figure(6.5, 0.8 + len(data) * (0.7 + 0.19 * most))
    panels = figure.subplots(len(data), 1, squeeze=False)[:, 0]
    several = table["pool"].dropna().nunique() > 1
    for axes, which in zip(panels, data, strict=True):
        _dot_panel(axes, table[table["data"] == which], styles, several, len(data) == 1)
    panels[-1].set_xlabel(axis_of(table))
    seen = {text for axes in panels for text in axes.get_legend_handles_labels()[1]}
    learners, _ = figure_lines.names_of(table)
    handles: dict[str, Line2D] = {}
    for line, look in styles.items():
        if line in seen:
            dot = {"marker": look.get("marker", "o"), "linestyle": "none"}
            shape = dot if line in learners else {"linestyle": look["linestyle"]}
            handles[line] = Line2D([], [], color=look["color"], **shape)
    filled = "; filled: not worse than the best" if table["marked"].any() else ""
    if len(handles) > layout.MOST_NAMES:  # the ticks name the learners
        handles = {line: handle for line, handle in handles.items() if line not in learners}
    caption = captions.caption(table, "bars", deviations_of(table)) + filled
    layout.legend_below(figure, handles, caption, warnings)
    return figure


def _dot_panel(
    axes: "Axes", part: "pd.DataFrame", styles: dict[str, dict[str, Any]], several: bool, alone: bool
) -> None:
    mean, std = (f"{measure_of(part).name}_{which}" for which in ("mean", "std"))
    learners, yardsticks = learners_of(part).sort_values(mean, kind="stable"), yardsticks_of(part)
    best = learners.head(MOST_DOTS)
    names = []
    for place, row in enumerate(best.to_dict("records")):
        look = styles[row["label"]]
        dot = {"marker": look.get("marker", "o"), "markersize": 5, "color": look["color"], "elinewidth": 1}
        dot["markerfacecolor"] = look["color"] if row["marked"] else "white"
        reach = None if np.isnan(row[std]) else row[std]
        axes.errorbar(row[mean], place, xerr=reach, label=row["label"], **dot)
        names.append(", ".join(filter(None, (row["label"], row["settings"], row["pool"] if several else ""))))
    axes.set_yticks(range(len(best)), map(style.in_symbols, names))
    axes.set_ylim(len(best) - 0.5, -0.5)
    means, stds = (best[name].to_numpy(dtype=float) for name in (mean, std))
    ends = [*np.maximum(means - np.nan_to_num(stds), 0.0), *(means + np.nan_to_num(stds))]
    levels = dict(zip(yardsticks["line"], yardsticks[mean].astype(float), strict=True))
    limits, out = style.robust_limits(ends, levels)
    axes.set_xlim(*limits)
    for name, level in levels.items():
        if name not in out:
            look = {key: styles[name][key] for key in ("color", "linestyle", "zorder")}
            axes.axvline(level, label=name, linewidth=1.2, **look)
    more = f" (best {len(best)} of {len(learners)} settings)" if len(learners) > len(best) else ""
    style.note_left_out(axes, {name: levels[name] for name in out}, "→")
    layout.panel_title(axes, f"{part['data'].iloc[0]}{more}", alone)


# -------------------------------------------------------------------- heat maps


def _heat_maps(table: "pd.DataFrame", axes: Mapping[str, list[float]], warnings: Sequence[str]) -> "Figure":
    """Draw a panel per data set and learner, with one colour scale per data set.

    Rows of panels are learners, columns are data sets; a single learner's data sets, or a single data set's
    learners, are laid out in rows of four; so are all where the chosen width has no room. A learner with
    several values of only one of the numbers has a curve over these; one with a single setting is named below
    the panels.
    """
    own = learners_of(table)
    data = list(dict.fromkeys(own["data"]))
    varied = own.groupby("line", sort=False)[[f"at.{name}" for name in axes]].nunique() > 1
    several = {line: [name for name in axes if row[f"at.{name}"]] for line, row in varied.iterrows()}
    drawn = sorted((line for line in several if several[line]), key=lambda line: -len(several[line]))
    across, down = (f"at.{name}" for name in axes)
    count, chosen = len(data) * len(drawn), looking.current().width
    flows = len(data) == 1 or len(drawn) == 1 or (chosen or np.inf) < _NARROWEST * len(data)
    shape = layout.grid_shape(count, narrowest=_NARROWEST) if flows else (len(drawn), len(data))
    # Panels in one row of the figure are equally high.
    high = [own.loc[own["line"] == n, down].nunique() if len(several[n]) > 1 else _CURVE for n in drawn]
    heights = np.clip(0.3 * np.array([max(high)] * shape[0] if flows else high), 0.3, 2.6)
    width = float(np.clip(0.46 * int(table[across].nunique()), 1.9, 4.2))
    width = chosen / shape[1] - 0.8 if chosen else width
    figure = style.new_figure((width + 0.8) * shape[1], 1.1 + float((heights + 0.75).sum()))
    panels = figure.subplots(*shape, squeeze=False, height_ratios=heights.tolist())
    styles = style.line_styles(drawn, [])
    used: dict[str, list[Axes]] = {}
    images: dict[str, Any] = {}
    # In a single column, the panels of a data set are above its colour bar.
    pairs = [(d, n) for d in data for n in drawn] if flows else [(d, n) for n in drawn for d in data]
    for number, (which, line) in enumerate(pairs):
        panel, part = panels.flat[number], own[own["data"] == which]
        mapped = part[part["line"].map(lambda name: len(several[name]) > 1)]
        rates = mapped[f"{measure_of(part).name}_mean"].astype(float)
        mine = part[part["line"] == line]
        if mine.empty:
            panel.set_axis_off()
        elif len(several[line]) > 1:
            room = (width, float(heights[number // shape[1]]))
            images[which] = _heat_map(panel, mine, axes, (rates.min(), rates.max()), room)
        else:
            (name,) = several[line]
            draw_panel(panel, points(mine, name), styles, ring=True)
            panel.set_xlabel(style.symbol(name))
            panel.set_ylabel(measure_of(part).axis)
        layout.panel_title(panel, style.in_symbols(f"{which} · {line}"), count == 1, 9.0)
        used.setdefault(which, []).append(panel)
    levels = {which: _levels(table[table["data"] == which], drawn) for which in data}
    pad = _ABOVE_BAR / figure.get_figheight()
    for which, image in images.items():
        bar = figure.colorbar(image, ax=used[which], location="bottom", aspect=35, shrink=0.9, pad=pad)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=size(7.5))
        text = textwrap.fill(style.in_symbols(levels[which]), max(20, int(14 * width / looking.factor())))
        bar.set_label(f"{measure_of(own[own['data'] == which]).axis}\n{text}".strip(), fontsize=size(8))
    curves = any(len(names) == 1 for names in several.values())
    below = [f"{which}: {text}" for which, text in levels.items() if which not in images and text]
    caption = captions.caption(own, of=deviations_of(own) if curves else ())
    layout.note_below(figure, "\n".join([caption, *below]), warnings)
    for unused in panels.flat[count:]:
        unused.remove()
    return figure


def _levels(part: "pd.DataFrame", drawn: Iterable[str]) -> str:
    """Return the errors on a data set of those that have no panel: learners of one setting, yardsticks."""
    single = learners_of(part[~part["line"].isin(drawn)])
    texts = []
    for name, rows in (("one setting", single), ("yardsticks", yardsticks_of(part))):
        if len(rows):
            errors = zip(rows["line"], rows[f"{measure_of(rows).name}_mean"], strict=True)
            texts.append(f"{name}: {', '.join(f'{line} {error:.1f}' for line, error in errors)}")
    return "; ".join(texts)


def matrix(part: "pd.DataFrame", axes: Mapping[str, list[float]]) -> tuple[np.ndarray, list[str], list[str]]:
    """Return the mean errors (rows, columns) of one panel and the ticks of its rows and columns.

    The first axis runs over the columns. Values that the learner did not take are left out; a learner without
    one of the axes has a single row or column, without a tick. NaN where no cell has finished.
    """
    across, down = (part[f"at.{name}"] for name in axes)
    columns, rows = (sorted(taken.dropna().unique()) or [np.nan] for taken in (across, down))
    grid = np.full((len(rows), len(columns)), np.nan)
    for x, y, error in zip(across, down, part[f"{measure_of(part).name}_mean"], strict=True):
        grid[0 if np.isnan(y) else rows.index(y), 0 if np.isnan(x) else columns.index(x)] = error
    below, left = (
        ["" if np.isnan(v) else value_text(float(v)) for v in values] for values in (columns, rows)
    )
    return grid, left, below


def _heat_map(
    panel: "Axes",
    part: "pd.DataFrame",
    axes: Mapping[str, list[float]],
    limits: tuple[float, float],
    room: tuple[float, float],
) -> Any:
    """Draw one panel; room: width and height of its picture in inches, which decide on the annotations."""
    from matplotlib.patches import Rectangle

    grid, rows, columns = matrix(part, axes)
    scale: dict[str, Any] = {"vmin": limits[0], "vmax": limits[1], "cmap": "cividis_r"}
    image = panel.imshow(grid, aspect="auto", origin="lower", **scale)
    panel.grid(False)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    step = -(-len(columns) // 10), -(-len(rows) // 10)
    panel.set_xticks(range(0, len(columns), step[0]), columns[:: step[0]])
    panel.set_yticks(range(0, len(rows), step[1]), rows[:: step[1]])
    across, down = (style.symbol(name) for name in axes)
    panel.set_xlabel(across if any(columns) else "")
    panel.set_ylabel(down if any(rows) else "")
    best = np.unravel_index(np.nanargmin(grid), grid.shape)
    annotated = room[0] / len(columns) >= 0.36 and room[1] / len(rows) >= 0.17
    for (i, j), rate in np.ndenumerate(grid):
        if annotated and not np.isnan(rate):
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size(7.5)}
            look["weight"] = "bold" if (i, j) == best else "normal"
            look["color"] = "white" if rate > (limits[0] + limits[1]) / 2 else "black"
            panel.text(j, i, f"{rate:.1f}", **look)
    frame: dict[str, Any] = {"fill": False, "edgecolor": "black", "linewidth": 2, "zorder": 4}
    panel.add_patch(Rectangle((best[1] - 0.5, best[0] - 0.5), 1, 1, clip_on=False, **frame))
    return image
