"""Learning curves: errors and number of support vectors against the examples seen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import params_text
from omkl.errors import UserError
from omkl.reports import captions, strokes, style
from omkl.reports.expected import Expected
from omkl.reports.measures import MEASURES, average, measure_named
from omkl.reports.rows import Row, rows_of, shown_params
from omkl.reports.task_measures import BY_TASK, axis_of
from omkl.reports.ticks import plain_log

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ERROR = "error"  # the measure that a row's task is judged by
FIRST = 10  # a rate over fewer examples says nothing and is not drawn
WIDE = 30.0
ENDS = ("mean", "std")
SETTLED = 0.05  # the share of a stream after which the mistake rate's axis must show every curve


def line_names(rows: list[Row], expected: Expected) -> list[str]:
    """Return what each row is called in a legend: learner, what tells its settings apart, pool if several."""
    several = len({row.pool for row in rows} - {None}) > 1
    names = []
    for row, shown in zip(rows, shown_params(rows, expected), strict=True):
        if row.label:  # a label of its own says what the row is
            names.append(row.label)
            continue
        shown = {name: value for name, value in shown.items() if name not in row.per_data}
        parts = [expected.label(row.algo), params_text(shown), row.pool if several and row.pool else ""]
        names.append(", ".join(part for part in parts if part))
    return names


def mean_curves(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: Expected | None = None,
    names: Sequence[str] = (ERROR, "n_sv_sum"),
    rows: list[Row] | None = None,
) -> "pd.DataFrame":
    """Average the curves of the cells' repetitions.

    curves: by cell key, with lists of one length: ``t`` and ``mistakes``, ``n_sv_sum`` or what else the
    measures need. names: of measures (measures.MEASURES) that have the same points, ERROR for that of the
    row's task. Repetitions whose ``t`` differ are interpolated linearly (the counts, not the rates) at the
    points of the longest list. rows: those of the cells that are drawn; all when None.

    Returns a long table: data, task, order, algo, line (legend text), is_yardstick, reps, asked (repetitions
    asked for), t, and of each measure the mean ``NAME_mean`` and the sample standard deviation ``NAME_std``
    (NaN for one repetition).
    Cells without such a curve are left out; raises UserError when no cell has one.
    """
    import pandas as pd

    expected = expected or Expected()
    rows = rows_of(cells, expected) if rows is None else rows
    keys = cells["key"].tolist() if len(cells) else []
    most = max((len(row.cells) for row in rows), default=0)
    parts = []
    for row, line in zip(rows, line_names(rows, expected), strict=True):
        curves_of_row = [curves[keys[cell]] for cell in row.cells if keys[cell] in curves]
        own = [BY_TASK[row.task].name if name == ERROR else name for name in names]
        needs = [measure_named(name).needs for name in own]
        found = [curve for curve in curves_of_row if all(curve.get(need) for need in needs)]
        if found:
            frame = pd.DataFrame(average(found, own))
            columns = {f"{b}_{part}": f"{a}_{part}" for a, b in zip(names, own, strict=True) for part in ENDS}
            about = {"data": row.data, "task": row.task, "order": row.order, "algo": row.algo, "line": line}
            about |= {"is_yardstick": row.is_yardstick, "reps": len(found)}
            about["asked"] = captions.asked_of(row, expected, most)
            parts.append(frame.rename(columns=columns).assign(**about))
    if not parts and any(key in curves for key in keys):
        raise UserError(f"no curve of these cells holds {' and '.join(names)}: nothing to draw")
    if not parts:
        raise UserError("no learning curve in the store for these cells: run them first, or with --fresh")
    return pd.concat(parts, ignore_index=True)


def draw_curves(table: "pd.DataFrame", title: str = "", warnings: Sequence[str] | None = None) -> "Figure":
    """Draw the table of ``mean_curves``: per data set a panel of errors, and one of #SV where there are any.

    Lines that lie on one another are drawn as one line striped in their colours. #SV is on a log axis where
    the learners of some data set differ by a factor above WIDE. warnings: stand below; of repetitions that
    the table's lines lack when None.
    """
    data = list(dict.fromkeys(table["data"]))
    yardstick = table["is_yardstick"].astype(bool)
    learners = list(dict.fromkeys(table.loc[~yardstick, "line"]))
    yardsticks = [name for name in dict.fromkeys(table.loc[yardstick, "line"]) if name not in learners]
    styles = style.line_styles(learners, yardsticks)
    log = is_wide(table, "n_sv_sum")
    heights = [1.25, 1] if (table["n_sv_sum_mean"] > 0).any() else [1.25]
    rows, columns = style.grid_shape(len(data))
    width = 5.2 if columns == 1 else 3.0 * columns
    with style.looks():
        figure = style.new_figure(width, 0.6 + 1.91 * sum(heights) * rows + 0.1 * len(styles) / columns)
        panels = figure.subplots(len(heights) * rows, columns, squeeze=False, height_ratios=heights * rows)
        for place in range(rows * columns):
            row, column = divmod(place, columns)
            top, *bottom = panels[len(heights) * row : len(heights) * (row + 1), column]
            if place >= len(data):
                for panel in (top, *bottom):
                    panel.remove()
                continue
            part = table[table["data"] == data[place]]
            rate_panel(top, part, ERROR, styles)
            top.set_title(data[place])
            (bottom or [top])[0].set_xlabel("examples")
            if column == 0:
                top.set_ylabel(axis_of(table))
            for panel in bottom:
                count_panel(panel, with_any(part, "n_sv_sum"), "n_sv_sum", styles, log)
                top.sharex(panel)
                top.tick_params(labelbottom=False)
                if column == 0:
                    panel.set_ylabel(MEASURES["n_sv_sum"].label)
        figure.align_ylabels()
        explain(figure, table, styles, warnings)
        if title:
            figure.suptitle(title, fontsize=11)
    return figure


def explain(
    figure: "Figure",
    table: "pd.DataFrame",
    styles: dict,
    warnings: Sequence[str] | None = None,
    more: str = "",
) -> None:
    """Put below a figure of ``mean_curves`` the legend of what is in view, what it shows, and warnings."""
    from matplotlib.lines import Line2D

    seen = strokes.in_view(figure.axes)
    handles = {line: Line2D([], [], **look) for line, look in styles.items() if line in seen}
    counts = table[~table["is_yardstick"].astype(bool)].groupby("data")["line"].nunique()
    stds = [name for name in table if name.endswith("_std")]
    text = captions.caption(table, strokes.spread_name(counts.tolist() or [1]), stds) + more
    warnings = captions.shortfall_of(table) if warnings is None else warnings
    style.legend_below(figure, handles, text, warnings)


def is_wide(table: "pd.DataFrame", name: str) -> bool:
    """Return whether the learners' largest values on some data set differ by a factor above WIDE."""
    mean = f"{name}_mean"
    counted = table[~table["is_yardstick"].astype(bool) & (table[mean] > 0)]
    largest = counted.groupby(["data", "line"])[mean].max().groupby(level="data")
    return bool((largest.max() / largest.min() > WIDE).any())


def with_any(table: "pd.DataFrame", name: str) -> "pd.DataFrame":
    """Return the table without lines that count nothing at all, as a learner without support vectors."""
    return table[table.groupby("line")[f"{name}_mean"].transform("max") > 0]


def rate_panel(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict) -> None:
    """Draw a measure that settles; the axis must show all of it but the start, and far yardsticks."""
    drawn = part[part["t"] >= min(FIRST, part["t"].max())]
    draw_lines(axes, drawn, name, styles)
    must_see: list[float] = []
    finals: dict[str, float] = {}
    least: dict[str, float] = {}
    early: dict[str, float] = {}
    for (line, is_yardstick), curve in drawn.groupby(["line", "is_yardstick"], sort=False):
        seen = curve["t"] / curve["t"].max()
        mean, std = curve[f"{name}_mean"], curve[f"{name}_std"].fillna(0.0)
        if is_yardstick:
            finals[line] = float(mean.iloc[-1])
            least[line], early[line] = mean[seen >= 4 * SETTLED].agg(["min", "max"])
        else:
            must_see += [*(mean - std)[seen >= SETTLED].clip(lower=0.0), *(mean + std)[seen >= SETTLED]]
    (low, high), out = style.robust_limits(must_see, finals, widen=3.0)
    low = min([low, *(0.98 * value for value in least.values())])
    axes.set_ylim(low, max([high, *(1.02 * value for line, value in early.items() if line not in out)]))
    style.note_left_out(axes, {line: finals[line] for line in out})
    strokes.part_lines(axes)


def count_panel(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict, log: bool) -> None:
    """Draw a count, which starts at 0."""
    draw_lines(axes, part, name, styles, start=not log)
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
        thousands(axes.yaxis)
    thousands(axes.xaxis)
    strokes.part_lines(axes)


def draw_lines(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict, start: bool = False) -> None:
    """Draw each line's mean, and the learners' spread; ``start``: all begin with 0 at 0 examples."""
    learners = list(dict.fromkeys(part.loc[~part["is_yardstick"].astype(bool), "line"]))
    for (line, is_yardstick), curve in part.groupby(["line", "is_yardstick"], sort=False):
        t, mean, std = (curve[c].to_numpy(dtype=float) for c in ("t", f"{name}_mean", f"{name}_std"))
        if start:
            t, mean, std = (np.concatenate([[0.0], values]) for values in (t, mean, std))
        axes.plot(t, mean, label=line, **styles[line])
        if not is_yardstick:
            strokes.draw_spread(axes, t, mean, std, styles[line], learners.index(line), len(learners))
    if len(part):
        axes.set_xlim(0, part["t"].max())


def thousands(axis: Any) -> None:
    """Put few ticks on an axis of counts, with commas."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def curve_figure(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    out: str | Path,
    *,
    expected: Expected | None = None,
    title: str = "",
) -> list[Path]:
    """Draw the cells' learning curves to files; the arguments are those of mean_curves, style.save.

    out: a folder (it exists, or ends in "/"), where the file is named after learners and data sets, or a file
    with or without .png, .pdf, .svg; without, both PNG and PDF are written. Returns the files.
    """
    expected = expected or Expected()
    rows = rows_of(cells, expected)
    table = mean_curves(cells, curves, expected, rows=rows)
    figure = draw_curves(table, title, captions.shortfall_of_rows(rows, line_names(rows, expected), expected))
    learners = table.loc[~table["is_yardstick"], "algo"].tolist() or table["algo"].tolist()
    out = style.target(out, "curve", learners, table["data"].tolist())
    return style.save(figure, out, title or "Learning curves", expected.command)
