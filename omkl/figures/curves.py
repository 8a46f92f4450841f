"""Learning curves: measures over the examples seen, a panel per data set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.figures import style
from omkl.figures.style import Figure, LineStyle, join_notes, line_styles
from omkl.reports import captions
from omkl.reports.measures import ERROR, PAIR, learners_of, mean_curves, measure_in, measure_named
from omkl.reports.rows import ReportPlan, Row, line_names, rows_of
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

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
    shown = {}
    for measure, table in tables.items():
        if _kind(measure) == "size":  # a learner without support vectors has no line
            table = table[table.groupby("line")[f"{measure}_mean"].transform("max") > 0]
        if len(table):
            shown[measure] = table
    if not shown:
        raise UserError(f"no {MEASURES[next(iter(tables))].label} to draw: these learners store none")
    first = next(iter(tables.values()))
    sets, left_out = style.first_panels(list(dict.fromkeys(n for own in shown.values() for n in own["data"])))
    if len(shown) > 1 and len(sets) > MOST_PAIRS:
        left_out = join_notes(left_out, f"by={next(reversed(shown))} draws the other measure")
        shown = dict([next(iter(shown.items()))])
    lines, fewer = _chosen_lines(first, next(iter(tables)))
    own = [line for line in dict.fromkeys(learners_of(first)["line"]) if line in lines]
    styles = line_styles(own, [line for line in lines if line not in own], palette)
    parts = [
        _Part(
            str(data),
            measure,
            table[(table["data"] == data) & table["line"].isin(lines)],
            _is_wide(table, measure) if log is None else log,
        )
        for data in sets
        for measure, table in shown.items()
    ]
    bands = max((part.learners for part in parts), default=0) <= FEW_BANDS
    varies = any((part.table[f"{part.measure}_std"] > 0).any() for part in parts)
    best = "best: the kernel that ends with the largest weight" if _kind(next(iter(shown))) == "share" else ""
    note = join_notes(
        captions.basis(int(first["reps"].max()), first["order"]),
        "bands: ±1 standard deviation" if bands and varies else "",
        best,
        fewer,
        left_out,
    )
    missing = captions.shortfall_of(first) if warnings is None else warnings
    make = lambda: _draw(parts, len(shown), styles, bands)  # noqa: E731
    return Figure(name, make, len(sets), title, note, missing, command)


@dataclass(frozen=True)
class _Part:
    """One measure of one data set, with its rows of a table of curves; log: the y axis is logarithmic."""

    data: str
    measure: str
    table: "pd.DataFrame"
    log: bool

    @property
    def learners(self) -> int:
        return learners_of(self.table)["line"].nunique()


def _kind(name: str) -> str:
    return "rate" if name == ERROR else measure_named(name).kind


def _chosen_lines(table: "pd.DataFrame", measure: str) -> tuple[list[str], str]:
    """Return the lines that are drawn, at most MOST_LINES, and a sentence where there are more.

    They are the best of a rate, by the average rank of the last values; else the first. Learners go before
    yardsticks. Rates in windows go up and down, so fewer can be told apart, and their means are ranked.
    """
    known = measure_in(table) if measure == ERROR else measure_named(measure)
    lines = list(dict.fromkeys(table["line"]))
    own = [line for line in lines if line in set(learners_of(table)["line"])]
    most = MOST_JAGGED if known.windowed else style.MOST_LINES
    if len(own) <= most:
        return own + [line for line in lines if line not in own][: most - len(own)], ""
    if _kind(measure) != "rate":
        return own[:most], f"drawn: the first {most} of {len(own)} learners"
    values = table[table["line"].isin(own)].groupby(["data", "line"], sort=False)[f"{measure}_mean"]
    ranks = (
        (known.sign * (values.mean() if known.windowed else values.last()))
        .groupby(level="data")
        .rank()
        .groupby(level="line")
        .mean()
    )
    kept = set(ranks.sort_values(kind="stable").index[:most])
    return [line for line in own if line in kept], f"drawn: the {most} best of {len(own)} learners"


def _is_wide(table: "pd.DataFrame", name: str) -> bool:
    """Return whether the learners' largest sizes on some data set differ by a factor above WIDE."""
    own = learners_of(table)
    own = own[own[f"{name}_mean"] > 0]
    if _kind(name) != "size" or own.empty:
        return False
    largest = own.groupby(["data", "line"])[f"{name}_mean"].max().groupby(level="data")
    return bool((largest.max() / largest.min() > WIDE).any())


# -------------------------------------------------------------------- drawing


def _draw(parts: Sequence[_Part], stack: int, styles: Mapping[str, LineStyle], bands: bool) -> "Drawn":
    count = len(parts) // stack
    drawn, stacks = style.panels(count, 1.9 if stack == 1 else 1.45, stack)
    several = len({_label(part) for part in parts[::stack] if len(part.table)}) > 1
    for place, own in enumerate(stacks):
        for number, axes in enumerate(own):
            part = parts[place * stack + number]
            if part.table.empty:
                axes.remove()
                continue
            _panel(axes, part, styles, bands, None if number else style.current().ylim)
            if style.is_leftmost(axes) or several:
                axes.set_ylabel(_label(part))
            if number == 0:
                style.panel_title(axes, part.data, count == 1)
        own[-1].set_xlabel("examples")
    drawn.align_ylabels()
    seen = {line.get_label() for axes in drawn.axes for line in axes.get_lines()}
    style.legend(drawn, {name: own for name, own in styles.items() if name in seen})
    return drawn


def _label(part: _Part) -> str:
    measure = measure_in(part.table) if part.measure == ERROR else measure_named(part.measure)
    return measure.label


def _panel(
    axes: "Axes",
    part: _Part,
    styles: Mapping[str, LineStyle],
    bands: bool,
    ylim: tuple[float, float] | None,
) -> None:
    """Draw one measure over the examples of one data set, and set the limits and scales of its axes."""
    name, kind = part.measure, _kind(part.measure)
    measure = measure_in(part.table) if name == ERROR else measure_named(name)
    end = float(part.table["t"].max())
    must_see: list[float] = []
    levels: dict[str, float] = {}
    groups = dict(iter(part.table.groupby("line", sort=False)))
    for line, look in styles.items():
        if line not in groups:
            continue
        x, mean, std = groups[line][["t", f"{name}_mean", f"{name}_std"]].to_numpy(dtype=float).T
        std = np.nan_to_num(std)
        if kind == "rate":
            x, mean, std = (values[x >= min(FIRST, end)] for values in (x, mean, std))
        elif kind in ("count", "size") and not part.log:  # counts start at 0
            x, mean, std = (np.append(0.0, values) for values in (x, mean, std))
        low, high = mean - std * bands, mean + std * bands
        low = np.maximum(low, 0.5 * mean if part.log else 0.0 if (mean >= 0).all() else -np.inf)
        high = np.minimum(high, 1.0 if kind == "share" else np.inf)
        seen = x >= SETTLED * end
        if look.is_yardstick:
            levels[line] = float(mean[-1])
        else:
            must_see += [*low[seen], *high[seen]]
            if bands and std.any():
                axes.fill_between(x, low, high, color=look.colour, alpha=0.15, linewidth=0, zorder=1.5)
        axes.plot(x, mean, label=line, **look.look() | ({"markevery": None} if x.size <= FIRST else {}))
    axes.set_xlim(0, end)
    style.thousands(axes.xaxis)
    if kind == "share":
        axes.set_ylim(-0.02, 1.02)
    elif part.log:
        axes.set_yscale("log")
        style.plain_log(axes.yaxis)
        positive = [value for value in (*must_see, *levels.values()) if value > 0]
        if positive:
            axes.set_ylim(0.85 * min(positive), 1.18 * max(positive))
    elif kind == "rate":
        ends, out = style.limits(must_see, levels)
        if ylim:
            ends, out = ylim, [line for line, level in levels.items() if level > ylim[1]]
        axes.set_ylim(*ends)
        style.beyond(axes, {line: levels[line] for line in out})
        for drawn in axes.get_lines():  # a legend names what is seen
            if drawn.get_label() in out:
                drawn.set_label(f"_{drawn.get_label()}")
    else:
        if not measure.signed:
            axes.set_ylim(bottom=0)
        style.thousands(axes.yaxis)
    if ylim:
        axes.set_ylim(*ylim)
