"""Learning curves: measures over the examples seen, a panel per data set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.figures.scales import limit_y, plain_log, thousands
from omkl.reports import captions
from omkl.reports.measures import ERROR, PAIR, learners_of, mean_curves, measure_in, measure_named
from omkl.reports.rows import ReportPlan, Row, line_names, rows_of
from omkl.tasks import MEASURES, Measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure

WIDE = 30.0  # ratio of values from which on an axis is logarithmic
FEW_BANDS = 4  # learners of a panel up to which each has a band; the bands of more would mix to one brown
FIRST = 10  # a rate over fewer examples is not drawn: it varies too much
SETTLED = 0.05  # the share of a stream after which the axis of a rate must show every curve
MOST_PAIRS = style.MOST_PANELS // 2  # data sets up to which two measures are drawn
MOST_JAGGED = 5  # lines of a rate in windows
Tables = Mapping[str, "pd.DataFrame"]


def learning_curves(
    cells: "pd.DataFrame",
    stored: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    rows: list[Row] | None = None,
    names: Sequence[str] = PAIR,
    **more: Any,
) -> Figure:
    """Return the learning curves of rows, in those of the measures that the cells hold.

    The arguments are those of mean_curves and curves (``more``). Raises UserError where the cells hold none
    of the measures.
    """
    rows = rows_of(cells, expected) if rows is None else rows
    named = list(zip(rows, line_names(rows, expected), strict=True))
    tables: dict[str, pd.DataFrame] = {}
    lacking: UserError | None = None
    for name in dict.fromkeys(names):
        try:
            tables[name] = mean_curves(cells, stored, expected, (name,), rows)
        except UserError as error:
            lacking = lacking or error
    if not tables and lacking:
        raise lacking
    palette = [line for row, line in named if row.cells and not row.is_yardstick]
    missing = captions.shortfall(
        (line, row.data, row.order, len(row.cells), row.planned) for row, line in named
    )
    return curves(tables, palette=palette, warnings=missing, **{"command": expected.command, **more})


def curves(
    tables: Tables,
    *,
    name: str = "curves",
    title: str = "",
    log: bool | None = None,
    palette: Iterable[str] = (),
    warnings: Sequence[str] | None = None,
    command: str = "",
) -> Figure:
    """Return measures over the examples, a panel per data set, those of more measures below it.

    tables: of ``mean_curves``, by measure    log: a log axis; None chooses it for sizes that differ by a
    factor above WIDE    palette: as in line_styles    warnings: None makes them from the first table

    Support vectors that no learner stores are left out. Raises UserError where nothing is left to draw.
    """
    shown = _with_values(tables)
    first = next(iter(tables.values()))
    names = [data for points in shown.values() for data in points["data"]]
    sets, left_out = figure_names.first_panels(list(dict.fromkeys(names)))
    if len(shown) > 1 and len(sets) > MOST_PAIRS:
        left_out = join_notes(left_out, f"by={next(reversed(shown))} draws the other measure")
        shown = dict([next(iter(shown.items()))])
    lines, fewer = _chosen_lines(first, next(iter(tables)))
    learners = set(learners_of(first)["line"])
    styles = line_styles(
        [line for line in lines if line in learners],
        [line for line in lines if line not in learners],
        palette,
    )
    panels = [
        _Panel(
            str(data),
            measure,
            points[(points["data"] == data) & points["line"].isin(lines)],
            _is_wide(points, measure) if log is None else log,
        )
        for data in sets
        for measure, points in shown.items()
    ]
    bands = max((panel.learners for panel in panels), default=0) <= FEW_BANDS
    varies = any((panel.table[f"{panel.measure}_std"] > 0).any() for panel in panels)
    best = "best: the kernel that ends with the largest weight" if _kind(next(iter(shown))) == "share" else ""
    note = join_notes(
        captions.basis(int(first["reps"].max()), first["order"]),
        "bands: ±1 standard deviation" if bands and varies else "",
        best,
        fewer,
        left_out,
    )
    missing = captions.shortfall_of(first) if warnings is None else warnings
    make = lambda: _draw(panels, len(shown), styles, bands)  # noqa: E731
    return Figure(name, make, len(sets), title, note, missing, command)


def _with_values(tables: Tables) -> dict[str, "pd.DataFrame"]:
    """Return the tables of curves that have something to draw, by measure. Raises UserError for none."""
    shown = {}
    for measure, points in tables.items():
        if _kind(measure) == "size":  # a learner without support vectors has no line
            points = points[points.groupby("line")[f"{measure}_mean"].transform("max") > 0]
        if len(points):
            shown[measure] = points
    if not shown:
        raise UserError(f"no {MEASURES[next(iter(tables))].label} to draw: these learners store none")
    return shown


@dataclass(frozen=True)
class _Panel:
    """One measure of one data set, with its rows of a table of curves; log: the y axis is logarithmic."""

    data: str
    measure: str
    table: "pd.DataFrame"
    log: bool

    @property
    def of_measure(self) -> Measure:
        return measure_in(self.table) if self.measure == ERROR else measure_named(self.measure)

    @property
    def learners(self) -> int:
        return learners_of(self.table)["line"].nunique()


def _kind(name: str) -> str:
    return "rate" if name == ERROR else measure_named(name).kind


def _chosen_lines(points: "pd.DataFrame", measure: str) -> tuple[list[str], str]:
    """Return the lines that are drawn, at most MOST_LINES, and a sentence where there are more.

    They are the best of a rate, by the average rank of the last values; else the first. Learners go before
    yardsticks. Rates in windows go up and down, so fewer can be told apart, and their means are ranked.
    """
    of_measure = measure_in(points) if measure == ERROR else measure_named(measure)
    lines = list(dict.fromkeys(points["line"]))
    learners = [line for line in lines if line in set(learners_of(points)["line"])]
    most = MOST_JAGGED if of_measure.windowed else style.MOST_LINES
    if len(learners) <= most:
        return learners + [line for line in lines if line not in learners][: most - len(learners)], ""
    if _kind(measure) != "rate":
        return learners[:most], f"drawn: the first {most} of {len(learners)} learners"
    values = points[points["line"].isin(learners)].groupby(["data", "line"], sort=False)[f"{measure}_mean"]
    ranks = (
        (of_measure.sign * (values.mean() if of_measure.windowed else values.last()))
        .groupby(level="data")
        .rank()
        .groupby(level="line")
        .mean()
    )
    kept = set(ranks.sort_values(kind="stable").index[:most])
    return [line for line in learners if line in kept], f"drawn: the {most} best of {len(learners)} learners"


def _is_wide(points: "pd.DataFrame", name: str) -> bool:
    """Return whether the learners' largest sizes on some data set differ by a factor above WIDE."""
    rows = learners_of(points)
    rows = rows[rows[f"{name}_mean"] > 0]
    if _kind(name) != "size" or rows.empty:
        return False
    largest = rows.groupby(["data", "line"])[f"{name}_mean"].max().groupby(level="data")
    return bool((largest.max() / largest.min() > WIDE).any())


# -------------------------------------------------------------------- drawing


def _draw(panels: Sequence[_Panel], stack: int, styles: Mapping[str, LineStyle], bands: bool) -> "MplFigure":
    count = len(panels) // stack
    drawn, stacks = panel_grid.panels(count, 1.9 if stack == 1 else 1.45, stack)
    several = len({panel.of_measure.label for panel in panels[::stack] if len(panel.table)}) > 1
    for place, places in enumerate(stacks):
        for number, axes in enumerate(places):
            panel = panels[place * stack + number]
            if panel.table.empty:
                axes.remove()
                continue
            _draw_panel(axes, panel, styles, bands, None if number else style.current().ylim)
            if panel_grid.is_leftmost(axes) or several:
                axes.set_ylabel(panel.of_measure.label)
            if number == 0:
                panel_grid.panel_title(axes, panel.data, count == 1)
        places[-1].set_xlabel("examples")
    drawn.align_ylabels()
    seen = {line.get_label() for axes in drawn.axes for line in axes.get_lines()}
    panel_grid.draw_legend(drawn, {name: line_style for name, line_style in styles.items() if name in seen})
    return drawn


@dataclass(frozen=True)
class _Curve:
    """A learner's line in a panel, with its spread.

    x, mean, low, high (n,): examples, values and the ends of the band    varies: whether there is a band
    settled: the part of the band that the axis must show
    """

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    varies: bool
    settled: list[float]


def _curve(panel: _Panel, line: str, end: float, bands: bool) -> _Curve:
    name, kind = panel.measure, _kind(panel.measure)
    rows = panel.table[panel.table["line"] == line]
    x, mean, std = rows[["t", f"{name}_mean", f"{name}_std"]].to_numpy(dtype=float).T
    std = np.nan_to_num(std)
    if kind == "rate":
        x, mean, std = (values[x >= min(FIRST, end)] for values in (x, mean, std))
    elif kind in ("count", "size") and not panel.log:  # counts start at 0
        x, mean, std = (np.append(0.0, values) for values in (x, mean, std))
    least = 0.5 * mean if panel.log else 0.0 if (mean >= 0).all() else -np.inf
    low = np.maximum(mean - std * bands, least)
    high = np.minimum(mean + std * bands, 1.0 if kind == "share" else np.inf)
    seen = x >= SETTLED * end
    return _Curve(x, mean, low, high, bands and bool(std.any()), [*low[seen], *high[seen]])


def _draw_panel(
    axes: "Axes",
    panel: _Panel,
    styles: Mapping[str, LineStyle],
    bands: bool,
    ylim: tuple[float, float] | None,
) -> None:
    """Draw one measure over the examples of one data set, and set the limits and scales of its axes."""
    end = float(panel.table["t"].max())
    there = set(panel.table["line"])
    must_see: list[float] = []
    levels: dict[str, float] = {}
    for line, line_style in styles.items():
        if line not in there:
            continue
        curve = _curve(panel, line, end, bands)
        if line_style.is_yardstick:
            levels[line] = float(curve.mean[-1])
        else:
            must_see += curve.settled
            if curve.varies:
                band: dict[str, Any] = {"color": line_style.colour, "alpha": 0.15, "linewidth": 0}
                axes.fill_between(curve.x, curve.low, curve.high, zorder=1.5, **band)
        every = {"markevery": None} if curve.x.size <= FIRST else {}
        axes.plot(curve.x, curve.mean, label=line, **line_style.properties() | every)
    axes.set_xlim(0, end)
    thousands(axes.xaxis)
    _set_y_axis(axes, panel, must_see, levels, ylim)


def _set_y_axis(
    axes: "Axes",
    panel: _Panel,
    must_see: Sequence[float],
    levels: Mapping[str, float],
    ylim: tuple[float, float] | None,
) -> None:
    kind = _kind(panel.measure)
    if kind == "share":
        axes.set_ylim(-0.02, 1.02)
    elif panel.log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
        positive = [value for value in (*must_see, *levels.values()) if value > 0]
        if positive:
            axes.set_ylim(0.85 * min(positive), 1.18 * max(positive))
    elif kind == "rate":
        limit_y(axes, must_see, levels, ylim)
    else:
        if not panel.of_measure.signed:
            axes.set_ylim(bottom=0)
        thousands(axes.yaxis)
    if ylim:
        axes.set_ylim(*ylim)
