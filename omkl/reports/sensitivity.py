"""What a hyperparameter does: a measure against its values, a panel per data set or measure."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import captions, strokes, style
from omkl.reports.curves import WIDE
from omkl.reports.sweep_grid import axes_of, grid_table
from omkl.reports.sweep_panels import number_axis
from omkl.reports.ticks import plain_log

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("panel", "x", "learner", "y_mean", "y_std")
BASIS = ("reps", "order")  # of which the note is made


def sensitivity_table(summary: "pd.DataFrame", name: str, measure: str = "mistake_pct") -> "pd.DataFrame":
    """Return the table that ``draw_sensitivity`` takes from the summary of a sweep over one hyperparameter.

    name: as in params, "beta"; measure: of summary.MEASURES. A panel per data set; a learner that lacks the
    hyperparameter, or was not swept, has a level line (x is NaN). Raises UserError when nothing was swept.
    """
    axes = axes_of(summary)
    if name not in axes:
        raise UserError(f"'{name}' was not swept: {', '.join(axes) or 'nothing'} was")
    table = grid_table(summary[summary["reps"] > 0], axes)
    # One value of a learner is a level: it says nothing about the hyperparameter.
    several = table.groupby("line")[f"at.{name}"].transform("nunique") > 1
    table = table.assign(x=table[f"at.{name}"].where(several))
    columns = {"data": "panel", "x": "x", "line": "learner", "is_yardstick": "is_yardstick"}
    columns |= {name: name for name in BASIS}
    columns |= {f"{measure}_mean": "y_mean", f"{measure}_std": "y_std"}
    return table[list(columns)].rename(columns=columns).reset_index(drop=True)


def draw_sensitivity(
    table: "pd.DataFrame",
    *,
    x_label: str = "",
    y_label: str = "mistake rate (%)",
    title: str = "",
    note: str | None = None,
    warnings: Iterable[str] = (),
    palette: Iterable[str] = (),
    columns: int | None = None,
) -> "Figure":
    """Draw y against x: a panel per value of ``panel``, in order, a line per learner.

    table: a row per point, with the columns panel (its title), x (a number; NaN: a level line), learner,
    y_mean, y_std (NaN: no band). A panel may say its own labels in the columns ``x_label``, ``y_label``;
    ``is_yardstick`` (default False) draws a dashed grey level. The y axis is logarithmic in a panel whose
    means, all positive, differ by a factor above curves.WIDE; the x axis where the values are spaced so.
    note: what lines and bands are; None makes it of the columns of BASIS. warnings: stand above it.
    columns: panels in a row. Raises UserError when a column is missing.
    """
    from matplotlib.lines import Line2D

    if missing := [name for name in COLUMNS if name not in table]:
        raise UserError(f"the table of a sensitivity figure lacks the column {', '.join(missing)}")
    for name, default in (("x_label", x_label), ("y_label", y_label), ("is_yardstick", False)):
        if name not in table:
            table = table.assign(**{name: default})
    names = list(dict.fromkeys(table["panel"]))
    yardstick = table["is_yardstick"].astype(bool)
    learners = list(dict.fromkeys(table.loc[~yardstick, "learner"]))
    yardsticks = [name for name in dict.fromkeys(table.loc[yardstick, "learner"]) if name not in learners]
    styles = style.line_styles(learners, yardsticks, palette)
    with style.looks():
        figure, panels = style.panels(len(names), 3.0, 2.6, len(styles), columns)
        wide = columns or style.grid_shape(len(names))[1]
        for number, (axes, which) in enumerate(zip(panels, names, strict=True)):
            part = table[table["panel"] == which]
            _panel(axes, part, styles)
            axes.set_title(which)
            axes.set_xlabel(part["x_label"].iloc[0])
            # Left of each panel where the panels measure different things.
            if number % wide == 0 or table["y_label"].nunique() > 1:
                axes.set_ylabel(part["y_label"].iloc[0])
        figure.align_xlabels()
        seen = strokes.in_view(figure.axes)
        handles = {line: Line2D([], [], **look) for line, look in styles.items() if line in seen}
        counts = table[~yardstick].groupby("panel")["learner"].nunique().tolist() or [1]
        if note is None:
            note = captions.caption(table, strokes.spread_name(counts), ("y_std",)) if "reps" in table else ""
        style.legend_below(figure, handles, note, warnings)
        if title:
            figure.suptitle(title, fontsize=11)
    return figure


def _panel(axes: "Axes", part: "pd.DataFrame", styles: dict[str, dict[str, Any]]) -> None:
    positive = part["y_mean"].dropna()
    log = len(positive) > 0 and positive.min() > 0 and positive.max() / positive.min() > WIDE
    must_see: list[float] = []
    levels: dict[str, float] = {}
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    learners = list(dict.fromkeys(part.loc[~part["is_yardstick"].astype(bool), "learner"]))
    for (learner, is_yardstick), rows in part.groupby(["learner", "is_yardstick"], sort=False):
        rows = rows.sort_values("x")
        x, mean, std = (rows[name].to_numpy(dtype=float) for name in ("x", "y_mean", "y_std"))
        look = styles[learner]
        if is_yardstick:
            levels[learner] = float(mean[0])
            axes.axhline(mean[0], label=learner, **look)
            continue
        low, high = mean - np.nan_to_num(std), mean + np.nan_to_num(std)
        must_see += [*np.maximum(low, 0.5 * mean if log else 0.0), *high]
        if np.isnan(x).all():
            strokes.draw_level(axes, mean[0], std[0], look, learner, len(learners))
        else:
            axes.plot(x, mean, label=learner, **style.with_points(look))
            strokes.draw_spread(axes, x, mean, std, look, learners.index(learner), len(learners), every=True)
    if not log:
        limits, out = style.robust_limits(must_see, levels)
        axes.set_ylim(*limits)
        style.note_left_out(axes, {name: levels[name] for name in out})
    strokes.part_lines(axes)
    if values := sorted(part["x"].dropna().unique().tolist()):
        number_axis(axes, values)


def sensitivity_figure(
    table: "pd.DataFrame", out: str | Path, *, command: str = "", title: str = "", **looks: Any
) -> list[Path]:
    """Draw the table to files and return these; ``looks`` as in draw_sensitivity, out as in style.target."""
    figure = draw_sensitivity(table, title=title, **looks)
    learners, panels = (table[name].astype(str).tolist() for name in ("learner", "panel"))
    return style.save(
        figure, style.target(out, "sensitivity", learners, panels), title or "Sensitivity", command
    )
