"""Costs: the seconds of each learner, and the error against a cost with the front that none beats."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.figures.scales import axis_limits, plain_log
from omkl.reports import captions
from omkl.reports.measures import errors_of, learners_of, measure_in, signed_measures
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


COSTS = {  # option of conf/paper: column of the table, label of the axis
    "time": ("per_1000", "seconds for 1000 examples"),
    "size": ("size", "vectors (#SV) or random features"),
    "memory": ("memory_mib_mean", "memory of one pass (MiB)"),
}
_FAR = 2.0  # a learner is off the panel whose distance to the best is over this many times the median one
_LOG = 4.0  # costs that differ by no more have a linear axis, which is easier to read
_FEW = 6  # learners up to which all are in the panel


def times_figure(summary: "pd.DataFrame", *, name: str = "times", **more: Any) -> Figure:
    """Return the seconds of each learner on a log axis, a panel per data set.

    summary: as of ``grid_table``, one row for each data set and line. Raises UserError for an empty table
    or a pair given twice.
    """
    if summary.empty or summary.duplicated(["data", "line"]).any():
        raise UserError("a figure of times needs exactly one row for each data set and learner")
    learners = list(dict.fromkeys(learners_of(summary)["line"]))
    lines = list(dict.fromkeys(summary["line"]))
    styles = line_styles(learners, [line for line in lines if line not in learners])
    sets, left_out = figure_names.first_panels(list(dict.fromkeys(summary["data"])))
    tables = [summary[summary["data"] == data] for data in sets]
    varies = bool((summary["seconds_std"].astype(float) > 0).any())
    basis = captions.basis(int(summary["reps"].max()), summary["order"])
    text = join_notes(basis, "bars: ±1 standard deviation" if varies else "", left_out)

    def make() -> "MplFigure":
        label = 0.06 * max(map(len, styles))
        columns = 4 if len(tables) > 3 else 3
        drawn, stacks = panel_grid.panels(len(tables), 3.4, columns=columns, narrowest=1.1, names=label)
        rows = -(-len(tables) // panel_grid.panels_per_row(drawn))
        drawn.set_figheight(rows * (0.6 + 0.155 * len(styles)))
        for (axes,), data, part in zip(stacks, sets, tables, strict=True):
            _time_panel(axes, part, styles)
            panel_grid.panel_title(axes, str(data), len(tables) == 1)
            axes.set_xlabel("seconds of one pass")
            if panel_grid.is_leftmost(axes):
                axes.set_yticks(range(len(styles)), map(in_symbols, styles))
            else:
                axes.set_yticks(range(len(styles)), [])
        return drawn

    return Figure(name, make, len(tables), note=text, **more)


def _time_panel(axes: "Axes", part: "pd.DataFrame", styles: Mapping[str, LineStyle]) -> None:
    """Draw a dot for each learner at its seconds; a learner that the data set lacks has a dash."""
    rows = {row["line"]: row for row in part.to_dict("records")}
    axes.set_xscale("log")
    seconds = [float(row["seconds_mean"]) for row in rows.values() if row["seconds_mean"] > 0]
    low, high = (min(seconds), max(seconds)) if seconds else (0.1, 1.0)
    axes.set_xlim(low / 1.6, high * 1.6)
    for place, (line, line_style) in enumerate(styles.items()):
        if line not in rows or not rows[line]["seconds_mean"] > 0:
            axes.text(low, place, "–", va="center", ha="center", color=style.GREY)
            continue
        mean, std = float(rows[line]["seconds_mean"]), float(np.nan_to_num(rows[line]["seconds_std"]))
        dot: dict[str, Any] = {"marker": "o", "markersize": 4, "elinewidth": 0.8}
        reach = [[min(std, 0.5 * mean)], [std]] if std else None
        axes.errorbar(mean, place, xerr=reach, linestyle="none", color=line_style.colour, **dot)
    axes.set_ylim(len(styles) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    plain_log(axes.xaxis)


def front(cost: Iterable[float], error: Iterable[float]) -> list[int]:
    """Return the places of the points that no other beats in both, cheapest first; NaN is beaten.

    Of points that are equal in both the first is on the front.
    """
    both = enumerate(zip(cost, error, strict=True))
    pairs = sorted((c, e, place) for place, (c, e) in both if c + e == c + e)
    kept: list[int] = []
    least = np.inf
    for _, error_here, place in pairs:
        if error_here < least:
            kept.append(place)
            least = error_here
    return kept


def costs_of(summary: "pd.DataFrame", cost: str) -> "pd.DataFrame":
    """Return the rows that have a cost and an error, with columns ``cost``, ``error`` and ``error_std``.

    summary: with the columns of ``papers.paper_tables.with_costs``    cost: one of COSTS
    """
    if cost not in COSTS:
        raise UserError(f"cost: {cost!r} is unknown; known: {', '.join(COSTS)}")
    vectors = summary["n_sv_sum_mean"].astype(float)
    summary = summary.assign(
        size=summary["features"].where(summary["features"].notna(), vectors.where(vectors > 0))
    )
    errors, stds = (np.array(errors_of(summary, part), dtype=float) for part in ("mean", "std"))
    summary = summary.assign(cost=summary[COSTS[cost][0]].astype(float), error=errors, error_std=stds)
    return summary[(summary["cost"] > 0) & summary["error"].notna()]


def pareto(costs: "pd.DataFrame", cost: str, *, name: str = "costs", **more: Any) -> Figure:
    """Return error against cost, a panel per data set: a point per learner, and the front that none beats.

    costs: as of ``costs_of``, with ``line``, the learners' names. The legend names the learners of the
    fronts, or all where they are few.
    """
    if costs.empty:
        raise UserError("no learner has both an error and a cost")
    sets, left_out = figure_names.first_panels(list(dict.fromkeys(costs["data"])))
    tables = [costs[costs["data"] == data] for data in sets]
    names = list(dict.fromkeys(costs["line"]))
    few = len(names) <= style.MOST_LINES
    if not few:
        on_fronts = {part["line"].iloc[place] for part in tables for place in _front_of(part)}
        names = [name for name in names if name in on_fronts]
    styles = line_styles(names)
    joined = "line: no other learner is better at no more cost"
    text = join_notes(joined, "" if few else "grey: learners on none of the lines", left_out)

    def make() -> "MplFigure":
        drawn, stacks = panel_grid.panels(
            len(tables), 2.1, columns=2 if len(tables) <= 4 else 3, narrowest=2.0
        )
        for (axes,), data, part in zip(stacks, sets, tables, strict=True):
            _cost_panel(axes, part, cost, styles)
            panel_grid.panel_title(axes, str(data), len(tables) == 1)
            axes.set_xlabel(COSTS[cost][1])
        panel_grid.draw_legend(drawn, styles, dots=True)
        return drawn

    return Figure(name, make, len(tables), note=text, **more)


def _front_of(part: "pd.DataFrame") -> list[int]:
    return front(part["cost"].to_numpy(dtype=float), signed_measures(part))


def _cost_panel(axes: "Axes", part: "pd.DataFrame", cost: str, styles: Mapping[str, LineStyle]) -> None:
    """Draw the points of a panel and their front; those without a style are grey."""
    measure = measure_in(part)
    names = part["line"].tolist()
    x, error = part["cost"].to_numpy(dtype=float), part["error"].to_numpy(dtype=float)
    sign = measure.sign
    best = _front_of(part)
    top = (sign * error).min()
    away = sign * error - top
    reach = max(float(away.max() if len(away) <= _FEW else _FAR * np.median(away)), 0.02 * abs(top))
    # The front is seen but where a cheap learner of it is far worse than all others.
    reach = max(reach, min(float(away[best].max()), 2.5 * reach))
    near = away <= reach
    (_, high), _ = axis_limits(error[near])
    low = float(error[near].min())  # the axis begins near it, not at 0
    low = low - 0.06 * (high - low) if low < 0 else max(0.0, low - 0.06 * (high - low))
    axes.set_ylim(*(style.current().ylim or (low, high)))
    if sign < 0:  # the better is below, whatever the measure
        axes.invert_yaxis()
    low, high = x[near].min(), x[near].max()
    if high > _LOG * low:
        axes.set_xscale("log")
        axes.set_xlim(low / (high / low) ** 0.08, high * (high / low) ** 0.08)
        plain_log(axes.xaxis)
    else:
        margin = 0.08 * max(high - low, 0.5 * low)
        axes.set_xlim(low - margin, high + margin)
    axes.set_ylabel(measure.title)
    axes.plot(x[best], error[best], drawstyle="steps-post", color="#777777", linewidth=0.9, zorder=2.5)
    for place, line in enumerate(names):
        dot: dict[str, Any] = {"marker": "o", "markersize": 2.6, "color": "#b5b5b5"}
        if line in styles:
            dot = {"marker": styles[line].marker or "o", "color": styles[line].colour, "zorder": 4}
            dot |= {"label": line, "markersize": 4.5}
        axes.plot(x[place], error[place], linestyle="none", markeredgewidth=0, **dot)
    far = int((~near).sum())
    if far:
        corner: dict[str, Any] = {"ha": "right", "va": "top", "color": style.GREY, "fontsize": 6.5}
        axes.text(
            0.995, 0.995, f"{far} {'above' if sign > 0 else 'below'}", transform=axes.transAxes, **corner
        )
