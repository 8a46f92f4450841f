"""Lines over one number: how a measure follows a setting."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.figures.scales import LETTER, limit_y, plain_log, thousands
from omkl.figures.sweep_grid import POINTS, basis_of_grid, names_of_grid
from omkl.figures.tick_texts import tick_texts
from omkl.reports.grid import axes_of, grid_table
from omkl.reports.measures import learners_of
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


WIDE = 30.0  # ratio of values from which on an axis is logarithmic
FEW_BANDS = 4  # learners of a panel up to which each has a band


def sensitivity_table(summary: "pd.DataFrame", name: str, measure: str = "mistake_pct") -> "pd.DataFrame":
    """Return the table that ``sensitivity`` takes from the summary of a sweep over one hyperparameter.

    name: as in params, "beta"; measure: of store.fields.AVERAGED. A panel per data set; a learner without
    the hyperparameter, or one not swept, has a level line (x is NaN). Raises UserError if nothing was swept.
    """
    axes = axes_of(summary)
    if name not in axes:
        raise UserError(f"'{name}' was not swept; swept: {', '.join(axes) or 'nothing'}")
    grid = grid_table(summary[summary["reps"] > 0], axes)
    grid = grid.assign(panel=grid["data"], x=grid[f"at.{name}"])
    if (matched := f"budget.{name}") in axes:  # a budget that is the size of a learner with this value
        grid["x"] = grid["x"].fillna(grid[f"at.{matched}"])
    # One value of a learner is a level: it shows no effect of the hyperparameter.
    grid["x"] = grid["x"].where(grid.groupby("line")["x"].transform("nunique") > 1)
    grid = grid.assign(y_mean=grid[f"{measure}_mean"], y_std=grid[f"{measure}_std"])
    return grid[[*POINTS]].reset_index(drop=True)


def sensitivity(
    grid: "pd.DataFrame",
    *,
    x_label: str = "",
    y_label: str = MEASURES["mistake_pct"].label,
    ring: str = "",
    values: list[float] | None = None,
    columns: int = 4,
    name: str = "sensitivity",
    note: str = "",
    **more: Any,
) -> Figure:
    """Return y against x: a panel per value of ``panel``, in order, a line per learner.

    grid: a row per point, with the columns panel (its title), x (a number; NaN: a level line), line,
    y_mean, y_std (NaN: no band), is_yardstick (a dashed grey level), reps and order (for the note).
    A panel may have its own labels in the columns ``x_label``, ``y_label``.
    ring: the meaning of the ring around each line's best point, which a column ``is_best`` names; without it
    there is none, and the y axis is logarithmic in a panel whose means, all positive, differ by a factor
    above WIDE. The x axis is where the
    values are spaced evenly on it. values: its ticks; None takes those of the panel. more: of Figure. Raises
    UserError when a column is missing.
    """
    grid = _with_labels(grid, {"x_label": x_label, "y_label": y_label, "is_best": False})
    learners, yardsticks = names_of_grid(grid)
    kept = [*learners, *yardsticks][: style.MOST_LINES]
    fewer = f"drawn: the first {len(kept)} of {len(learners)} learners" if len(learners) > len(kept) else ""
    styles = line_styles(
        [line for line in learners if line in kept], [line for line in yardsticks if line in kept]
    )
    titles, left_out = figure_names.first_panels(list(dict.fromkeys(map(str, grid["panel"]))), "panels")
    panels = [grid[(grid["panel"] == title) & grid["line"].isin(kept)] for title in titles]
    bands = len(learners) <= FEW_BANDS and bool((learners_of(grid)["y_std"].astype(float) > 0).any())
    text = join_notes(
        basis_of_grid(grid),
        "bands: ±1 standard deviation" if bands else "",
        f"ring: {ring}" if ring else "",
        note,
        fewer,
        left_out,
    )

    def make() -> "MplFigure":
        drawn, stacks = panel_grid.panels(len(panels), 2.0, columns=columns)
        labels = {str(points["y_label"].iloc[0]) for points in panels}
        for (axes,), title, points in zip(stacks, titles, panels, strict=True):
            line_panel(axes, points, styles, bands, ring, values)
            panel_grid.panel_title(axes, title, len(panels) == 1)
            if panel_grid.is_leftmost(axes) or len(labels) > 1:
                axes.set_ylabel(points["y_label"].iloc[0])
        seen = {line.get_label() for axes in drawn.axes for line in axes.get_lines()}
        panel_grid.draw_legend(
            drawn, {line: line_style for line, line_style in styles.items() if line in seen}
        )
        return drawn

    return Figure(name, make, len(panels), note=text, **more)


def _with_labels(grid: "pd.DataFrame", labels: Mapping[str, Any]) -> "pd.DataFrame":
    """Return a table of points with the labels that it lacks. Raises UserError where it lacks a column."""
    if missing := [column for column in POINTS if column not in grid]:
        raise UserError(f"the table of a sensitivity figure lacks the column {', '.join(missing)}")
    return grid.assign(**{column: label for column, label in labels.items() if column not in grid})


def line_panel(
    axes: "Axes",
    points: "pd.DataFrame",
    styles: Mapping[str, LineStyle],
    bands: bool,
    ring: str = "",
    values: list[float] | None = None,
) -> None:
    """Draw one panel over a hyperparameter: points, spread, the best of each line, and levels."""
    means = points["y_mean"].dropna()
    log = not ring and len(means) > 0 and means.min() > 0 and means.max() / means.min() > WIDE
    must_see: list[float] = []
    levels: dict[str, float] = {}
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    for line, line_style in styles.items():
        rows = points[points["line"] == line].sort_values("x", kind="stable")
        if rows.empty:
            continue
        x, mean, std = rows[["x", "y_mean", "y_std"]].to_numpy(dtype=float).T
        if line_style.is_yardstick:
            levels[line] = float(mean[0])
            axes.axhline(mean[0], label=line, **line_style.properties())
            continue
        std = np.nan_to_num(std) * bands
        low = np.maximum(mean - std, 0.5 * mean if log else 0.0 if (mean >= 0).all() else -np.inf)
        must_see += [*mean, *low, *(mean + std)] if bands else [*mean]
        if np.isnan(x).all():
            _draw_level(axes, line, line_style, (low[0], mean[0], mean[0] + std[0]))
        else:
            _draw_points(axes, line, line_style, (x, low, mean, mean + std))
        if ring and not np.isnan(x).all():
            best = rows.index.get_loc(rows["is_best"].idxmax())
            circle: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 8, "zorder": 5}
            circle |= {"markerfacecolor": "none", "markeredgecolor": line_style.colour}
            axes.plot(x[best], mean[best], **circle)
    if not log:
        _, top = limit_y(axes, must_see, levels, style.current().ylim)
        if top >= 1000:
            thousands(axes.yaxis)
    axes.set_xlabel(points["x_label"].iloc[0])
    ticks = values or sorted(points["x"].dropna().unique().tolist())
    if ticks:
        _number_axis(axes, ticks, is_log_spaced(ticks))


BAND: dict[str, Any] = {"alpha": 0.15, "linewidth": 0, "zorder": 1.5}


def _draw_level(axes: "Axes", line: str, line_style: LineStyle, ends: tuple[float, float, float]) -> None:
    """Draw a learner that was not swept; ends: of its band, around its mean."""
    low, mean, high = ends
    axes.axhline(mean, label=line, **line_style.properties() | {"marker": "None"})
    if high > mean:
        axes.axhspan(low, high, color=line_style.colour, **BAND)


def _draw_points(axes: "Axes", line: str, line_style: LineStyle, values: Sequence[np.ndarray]) -> None:
    """Draw a learner over what was swept; values: x, the low end of its band, its means, the high end."""
    x, low, mean, high = values
    points = {"marker": "o", "markersize": 3, **line_style.properties(), "markevery": None}
    axes.plot(x, mean, label=line, **points)
    if (high > mean).any():
        axes.fill_between(x, low, high, color=line_style.colour, **BAND)


def is_log_spaced(values: Iterable[float]) -> bool:
    """Return whether positive values are spread more evenly on a log axis, over a factor of 8 at least."""
    ordered = sorted(set(values))
    if len(ordered) < 2 or ordered[0] <= 0 or ordered[-1] / ordered[0] < 8:
        return False
    log, linear = (steps.std() / steps.mean() for steps in (np.diff(np.log(ordered)), np.diff(ordered)))
    # Two values over such a factor say nothing about their spacing; 0.01 and 0.1 are meant as decades.
    return len(ordered) == 2 or bool(log < linear)


def _number_axis(axes: "Axes", values: list[float], log: bool) -> None:
    """Put ticks at the swept values (ascending), where there is room."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    if log:
        axes.set_xscale("log")
    places = np.log(values) if log else np.asarray(values, dtype=float)
    width = panel_grid.panel_width(axes) - 0.5
    letter = LETTER / max(width, 0.6) * (places[-1] - places[0])
    texts = dict(zip(values, tick_texts(values), strict=True))
    shown: list[float] = []
    last = -np.inf
    for value, place in zip(values, places, strict=True):
        if place - last >= letter * (1.5 + len(texts[value])):
            shown.append(value)
            last = place
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([texts[value] for value in shown]))
    axes.xaxis.set_minor_locator(NullLocator())
