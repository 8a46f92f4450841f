"""Learning curves: measures against the examples seen, a panel per data set, a line per learner."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import captions, figure_lines, layout, style
from omkl.reports.expected import Expected
from omkl.reports.measures import BY_TASK, MEASURES, average, axis_of, learners_of, measure_named
from omkl.reports.rows import Row, line_names, rows_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ERROR = "error"  # the measure of the row's task
FIRST = 10  # a rate over fewer examples is not drawn: it varies too much
SETTLED = 0.05  # the share of a stream after which the axis of a rate must show every curve
FEW = 12  # points up to which each is marked, because nothing is known between them
_PAIR, _SINGLE = (2.3875, 1.91), 2.5  # heights of panels in inches


def mean_curves(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: Expected | None = None,
    names: Sequence[str] = (ERROR, "n_sv_sum"),
    rows: list[Row] | None = None,
) -> "pd.DataFrame":
    """Average the curves of the cells' repetitions.

    curves: by cell key, with lists of one length: ``t`` and ``mistakes``, ``n_sv_sum`` or what else the
    measures need. names: of measures (measures.MEASURES) that have the same points, or ERROR. rows: those to
    draw; all when None. Curves whose points differ are interpolated, see measures.average.

    Returns a long table: data, task, order, algo, line (legend text), is_yardstick, reps, asked (repetitions
    expected), t, and of each measure the mean ``NAME_mean`` and the sample standard deviation ``NAME_std``
    (NaN for one repetition). Rows without such a curve are left out; UserError when that leaves none.
    """
    import pandas as pd

    expected = expected or Expected()
    rows = rows_of(cells, expected) if rows is None else rows
    keys = cells["key"].tolist() if len(cells) else []
    parts = []
    for row, line in zip(rows, line_names(rows, expected), strict=True):
        own = [BY_TASK[row.task].name if name == ERROR else name for name in names]
        needs = [measure_named(name).needs for name in own]
        stored = [curves[keys[cell]] for cell in row.cells if keys[cell] in curves]
        if complete := [curve for curve in stored if all(curve.get(need) for need in needs)]:
            points, *values = average(complete, own).values()
            shown = [f"{name}_{part}" for name in names for part in ("mean", "std")]
            about: dict[str, Any] = {"data": row.data, "task": row.task, "order": row.order}
            about |= {"algo": row.learner, "line": line, "is_yardstick": row.is_yardstick}
            about |= {"reps": len(complete), "asked": row.planned}
            parts.append(pd.DataFrame({"t": points, **dict(zip(shown, values, strict=True)), **about}))
    if not parts and any(key in curves for key in keys):
        raise UserError(f"no curve of these cells holds {' and '.join(names)}: nothing to draw")
    if not parts:
        raise UserError(
            "the store has no learning curve of these cells; run them, with --fresh if they are in the store"
        )
    return pd.concat(parts, ignore_index=True)


def draw_curves(
    table: "pd.DataFrame",
    names: Sequence[str] = (ERROR, "n_sv_sum"),
    *,
    title: str = "",
    log: bool | None = None,
    palette: Iterable[str] = (),
    warnings: Sequence[str] | None = None,
) -> "Figure":
    """Draw measures of the table of ``mean_curves``, one below the other for each data set.

    Overlapping lines are striped in their colours. Support vectors that no learner stores are left out. log:
    a log axis for the measure; None chooses it for sizes that differ by a factor above figure_lines.WIDE.
    palette: as in style.line_styles. warnings: shown below; None makes them from the table. Raises UserError
    where nothing is left to draw.
    """
    styles = figure_lines.styles_of(
        table, palette=palette
    )  # of all lines: colours do not depend on the measure
    drawn = dict.fromkeys(names, table)
    for name in names:
        if _kind(name) == "size":  # a learner without support vectors has no line
            drawn[name] = table[table.groupby("line")[f"{name}_mean"].transform("max") > 0]
    shown = [name for name in names if len(drawn[name])]
    if not shown:
        raise UserError(f"no {MEASURES[names[0]].label} to draw: these learners store none")
    table = drawn[shown[0]]
    logs = {n: _is_wide(drawn[n], n) if log is None and _kind(n) == "size" else bool(log) for n in shown}
    data = list(dict.fromkeys(table["data"]))
    heights = [_SINGLE] if len(names) == 1 else list(_PAIR[: len(shown)])
    with style.looks():
        figure, panels, columns = layout.panels(len(data), heights, styles)
        bands = figure_lines.few_bands(table)
        for place, (stack, which) in enumerate(zip(panels, data, strict=True)):
            for axes, name in zip(stack, shown, strict=True):
                part = drawn[name][drawn[name]["data"] == which]
                _panel(axes, part, name, styles, logs[name], bands)
                if place % columns == 0:
                    axes.set_ylabel(axis_of(table) if name == ERROR else MEASURES[name].label)
            top, *below = stack
            for axes in below:
                top.sharex(axes)
                top.tick_params(labelbottom=False)
            layout.panel_title(top, which, len(data) == 1)
            if len(names) > 1 or place + columns >= len(data):
                stack[-1].set_xlabel("examples")
        if len(shown) > 1:
            figure.align_ylabels()
        more = "; best: the kernel that ends with the largest weight" if _kind(shown[0]) == "share" else ""
        warnings = captions.shortfall_of(table) if warnings is None else warnings
        stds = [name for name in table if name.endswith("_std")]
        figure_lines.finish(figure, table, styles, stds=stds, more=more, warnings=warnings, title=title)
    return figure


def _kind(name: str) -> str:
    return "rate" if name == ERROR else measure_named(name).kind


def _is_wide(table: "pd.DataFrame", name: str) -> bool:
    """Return whether the learners' largest values on some data set differ by a factor above WIDE."""
    own = learners_of(table)
    own = own[own[f"{name}_mean"] > 0]
    largest = own.groupby(["data", "line"])[f"{name}_mean"].max().groupby(level="data")
    return bool((largest.max() / largest.min() > figure_lines.WIDE).any())


def _panel(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict, log: bool, bands: bool) -> None:
    """Draw one measure of one data set, and set the limits and scales of its axes."""
    kind, whole = _kind(name), part
    if kind == "rate":
        part = part[part["t"] >= min(FIRST, part["t"].max())]
    start = kind in ("count", "size") and not log
    learners = figure_lines.names_of(part)[0]
    for (line, _), curve in part.groupby(["line", "is_yardstick"], sort=False):
        t, mean, std = curve[["t", f"{name}_mean", f"{name}_std"]].to_numpy(dtype=float).T
        if start:  # counts start at 0
            t, mean, std = (np.concatenate([[0.0], values]) for values in (t, mean, std))
        most = 1.0 if kind == "share" else np.inf
        figure_lines.draw_line(axes, t, mean, std, line, styles[line], learners, bands=bands, most=most)
    if len(part):
        axes.set_xlim(0, part["t"].max())
    if kind == "share":
        axes.set_ylim(-0.02, 1.02)
        for drawn in axes.get_lines():
            if np.size(drawn.get_xdata()) <= FEW:
                marker = "o" if drawn.get_marker() == "None" else drawn.get_marker()
                drawn.set(marker=marker, markersize=3.5, markevery=None, clip_on=False)
    elif log:
        axes.set_yscale("log")
        figure_lines.plain_log(axes.yaxis)
        means = whole.loc[whole["t"] >= SETTLED * whole["t"].max(), f"{name}_mean"]
        if kind == "rate" and (means > 0).any():
            axes.set_ylim(0.8 * means[means > 0].min(), 1.25 * means.max())
    elif kind == "rate":
        _limit_rate(axes, part, name)
    else:
        axes.set_ylim(bottom=0)
        figure_lines.thousands(axes.yaxis)
    figure_lines.part_lines(axes)
    if len(whole):
        figure_lines.thousands(axes.xaxis)


def _limit_rate(axes: "Axes", part: "pd.DataFrame", name: str) -> None:
    """Show all of the learners' curves but the start, and name yardsticks that are far away."""
    must_see: list[float] = []
    finals: dict[str, float] = {}
    late: dict[str, tuple[float, float]] = {}  # the range of each yardstick
    least_seen = -np.inf if name != ERROR and measure_named(name).signed else 0.0
    for (line, is_yardstick), curve in part.groupby(["line", "is_yardstick"], sort=False):
        seen = curve["t"] / curve["t"].max()
        mean, std = curve[f"{name}_mean"], curve[f"{name}_std"].fillna(0.0)
        if is_yardstick:
            finals[line] = float(mean.iloc[-1])
            late[line] = tuple(mean[seen >= 4 * SETTLED].agg(["min", "max"]))
        else:
            must_see += [
                *(mean - std)[seen >= SETTLED].clip(lower=least_seen),
                *(mean + std)[seen >= SETTLED],
            ]
    (low, high), out = style.robust_limits(must_see, finals, widen=3.0)
    low = min([low, *(least - 0.02 * abs(least) for least, _ in late.values())])
    shown = (most + 0.02 * abs(most) for line, (_, most) in late.items() if line not in out)
    axes.set_ylim(low, max([high, *shown]))
    style.note_left_out(axes, {line: finals[line] for line in out})


def curve_figure(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    out: str | Path,
    names: Sequence[str] = (ERROR, "n_sv_sum"),
    *,
    expected: Expected | None = None,
    rows: list[Row] | None = None,
    title: str = "",
    **looks: Any,
) -> list[Path]:
    """Draw the cells' learning curves to files and return these.

    The arguments are those of mean_curves and draw_curves (``looks``); out: as in style.save. A learner has
    the same colour in the figure of each measure.
    """
    expected = expected or Expected()
    rows = rows_of(cells, expected) if rows is None else rows
    named = list(zip(rows, line_names(rows, expected), strict=True))
    looks.setdefault("palette", [line for row, line in named if row.cells and not row.is_yardstick])
    table = mean_curves(cells, curves, expected, names, rows)
    missing = captions.shortfall((line, row.data, len(row.cells), row.planned) for row, line in named)
    figure = draw_curves(table, names, title=title, warnings=missing, **looks)
    kind, usual = ("curve", "Learning curves") if len(names) > 1 else (names[0], MEASURES[names[0]].label)
    drawn = learners_of(table)["algo"].tolist() or table["algo"].tolist()
    return style.save(figure, out, title or usual, expected.command, (kind, drawn, table["data"].tolist()))
