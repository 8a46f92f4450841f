"""The effect of a hyperparameter: a measure against its values, a panel per data set or measure."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import figure_lines, layout, style
from omkl.reports.grid import axes_of, grid_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("panel", "x", "line", "y_mean", "y_std")


def sensitivity_table(summary: "pd.DataFrame", name: str, measure: str = "mistake_pct") -> "pd.DataFrame":
    """Return the table that ``draw_sensitivity`` takes from the summary of a sweep over one hyperparameter.

    name: as in params, "beta"; measure: of store.fields.AVERAGED. A panel per data set; a learner without
    the hyperparameter, or one not swept, has a level line (x is NaN). Raises UserError if nothing was swept.
    """
    axes = axes_of(summary)
    if name not in axes:
        raise UserError(f"'{name}' was not swept; swept: {', '.join(axes) or 'nothing'}")
    table = grid_table(summary[summary["reps"] > 0], axes)
    # One value of a learner is a level: it shows no effect of the hyperparameter.
    several = table.groupby("line")[f"at.{name}"].transform("nunique") > 1
    table = table.assign(panel=table["data"], x=table[f"at.{name}"].where(several))
    table = table.assign(y_mean=table[f"{measure}_mean"], y_std=table[f"{measure}_std"])
    return table[[*COLUMNS, "is_yardstick", "reps", "order"]].reset_index(drop=True)


def draw_sensitivity(
    table: "pd.DataFrame",
    *,
    x_label: str = "",
    y_label: str = "mistake rate (%)",
    title: str = "",
    ring: str = "",
    values: list[float] | None = None,
    height: float = 2.6,
    warnings: Iterable[str] = (),
    columns: int = layout.PANEL_COLUMNS,
) -> "Figure":
    """Draw y against x: a panel per value of ``panel``, in order, a line per learner.

    table: a row per point, with the columns panel (its title), x (a number; NaN: a level line), line,
    y_mean, y_std (NaN: no band). A panel may have its own labels in the columns ``x_label``, ``y_label``;
    ``is_yardstick`` (default False) draws a dashed grey level; the caption is made of ``reps`` and ``order``.
    ring: the meaning of the ring around each line's lowest point; without it there is none, and the y axis is
    logarithmic in a panel whose means, all positive, differ by a factor above figure_lines.WIDE. The x axis
    is where the values are spaced evenly on it. values: its ticks; None takes those of the panel. columns:
    panels in a row, at most. warnings: shown below. Raises UserError when a column is missing.
    """
    if missing := [name for name in COLUMNS if name not in table]:
        raise UserError(f"the table of a sensitivity figure lacks the column {', '.join(missing)}")
    for name, default in (("x_label", x_label), ("y_label", y_label), ("is_yardstick", False)):
        if name not in table:
            table = table.assign(**{name: default})
    names = list(dict.fromkeys(table["panel"]))
    styles = figure_lines.styles_of(table)
    with style.looks():
        figure, panels, wide = layout.panels(len(names), [height], styles, columns)
        bands = figure_lines.few_bands(table, "panel")
        for number, ((axes,), which) in enumerate(zip(panels, names, strict=True)):
            part = table[table["panel"] == which]
            draw_panel(axes, part, styles, bool(ring), values, bands)
            layout.panel_title(axes, which, len(names) == 1)
            axes.set_xlabel(part["x_label"].iloc[0])
            # Left of each panel where the panels measure different things.
            if number % wide == 0 or table["y_label"].nunique() > 1:
                axes.set_ylabel(part["y_label"].iloc[0])
        figure.align_xlabels()
        about: dict[str, Any] = {"stds": ["y_std"], "more": f"; ring: {ring}" if ring else "", "title": title}
        figure_lines.finish(figure, table, styles, by="panel", warnings=warnings, **about)
    return figure


def draw_panel(
    axes: "Axes",
    part: "pd.DataFrame",
    styles: dict[str, dict[str, Any]],
    ring: bool = False,
    values: list[float] | None = None,
    bands: bool = True,
) -> None:
    """Draw one panel of ``draw_sensitivity``: points, spread, levels, and far yardsticks by name."""
    means = part["y_mean"].dropna()
    log = not ring and len(means) > 0 and means.min() > 0 and means.max() / means.min() > figure_lines.WIDE
    must_see: list[float] = []
    levels: dict[str, float] = {}
    if log:
        axes.set_yscale("log")
        figure_lines.plain_log(axes.yaxis)
    learners = figure_lines.names_of(part)[0]
    for (line, is_yardstick), rows in part.groupby(["line", "is_yardstick"], sort=False):
        rows = rows.sort_values("x")
        x, mean, std = (rows[name].to_numpy(dtype=float) for name in ("x", "y_mean", "y_std"))
        look = styles[line]
        if is_yardstick:
            levels[line] = float(mean[0])
            axes.axhline(mean[0], label=line, **look)
            continue
        reach = np.nan_to_num(std)
        must_see += [*np.maximum(mean - reach, 0.5 * mean if log else 0.0), *(mean + reach)]
        figure_lines.draw_line(axes, x, mean, std, line, look, learners, bands=bands, points=True)
        if ring and not np.isnan(x).all():
            mark = {"markerfacecolor": "none", "markeredgecolor": look["color"], "markersize": 9, "zorder": 4}
            lowest = int(mean.argmin())
            axes.plot(x[lowest], mean[lowest], marker="o", linestyle="none", **mark)
    if not log:
        limits, out = style.robust_limits(must_see, levels)
        axes.set_ylim(*limits)
        style.note_left_out(axes, {name: levels[name] for name in out})
        if limits[1] >= 1000:
            figure_lines.thousands(axes.yaxis)
    figure_lines.part_lines(axes)
    if shown := values or sorted(part["x"].dropna().unique().tolist()):
        figure_lines.number_axis(axes, shown)
