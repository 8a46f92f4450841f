"""Learning curves: mistake rate and number of support vectors against the examples seen."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import style
from omkl.reports.asked import Asked
from omkl.reports.measures import MEASURES, Measure, axis_of
from omkl.reports.rows import Row, params_text, rows_of, shown_params

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST = 10  # a rate over fewer examples says nothing and is not drawn
WIDE = 30.0
SETTLED = 0.05  # the share of a stream after which the mistake rate's axis must show every curve


def line_names(rows: list[Row], asked: Asked) -> list[str]:
    """Return what each row is called in a legend: learner, what tells its settings apart, pool if several."""
    several = len({row.pool for row in rows} - {None}) > 1
    names = []
    for row, shown in zip(rows, shown_params(rows, asked), strict=True):
        parts = [asked.label(row.algo), params_text(shown), row.pool if several and row.pool else ""]
        names.append(", ".join(part for part in parts if part))
    return names


def mean_curves(
    cells: "pd.DataFrame", curves: Mapping[str, Mapping[str, Any]], asked: Asked | None = None
) -> "pd.DataFrame":
    """Average the curves of the cells' repetitions.

    curves: by cell key, with lists ``t``, ``mistakes`` (``loss``), ``n_sv_sum`` of one length. Repetitions
    whose ``t`` differ are interpolated linearly (the counts, not the rates) at the points of the longest.

    Returns a long table: data, task, algo, line (legend text), is_yardstick, reps, t, and mean and sample
    standard deviation (NaN for one repetition) of ``error``, the mistake rate in percent or the mean squared
    error x 1000 of the first t examples, and of ``n_sv_sum``.
    Cells without a curve are left out; raises UserError when no cell has one.
    """
    import pandas as pd

    asked = asked or Asked()
    rows = rows_of(cells, asked)
    keys = cells["key"].tolist() if len(cells) else []
    parts = []
    for row, name in zip(rows, line_names(rows, asked), strict=True):
        found = [curves[keys[cell]] for cell in row.cells if keys[cell] in curves]
        if found:
            frame = pd.DataFrame(_average(found, MEASURES[row.task]))
            about = {"data": row.data, "task": row.task, "algo": row.algo, "line": name}
            parts.append(frame.assign(**about, is_yardstick=row.is_yardstick, reps=len(found)))
    if not parts:
        raise UserError("no learning curve in the store for these cells: run them first, or with --fresh")
    return pd.concat(parts, ignore_index=True)


def _average(curves: list[Mapping[str, Any]], measure: Measure) -> dict[str, np.ndarray]:
    end = min(curve["t"][-1] for curve in curves)
    grid = np.asarray(max((curve["t"] for curve in curves), key=len), dtype=float)
    grid = np.unique(np.append(grid[grid < end], end))

    def on_grid(name: str) -> np.ndarray:
        # Nothing is counted before the first example.
        return np.array([np.interp(grid, [0, *curve["t"]], [0, *curve[name]]) for curve in curves])

    measures = {"error": measure.factor * on_grid(measure.curve) / grid, "n_sv_sum": on_grid("n_sv_sum")}
    result = {"t": grid}
    for name, values in measures.items():
        result[f"{name}_mean"] = values.mean(axis=0)
        lone = np.full(grid.size, np.nan)
        result[f"{name}_std"] = values.std(axis=0, ddof=1) if len(values) > 1 else lone
    return result


def draw_curves(table: "pd.DataFrame", title: str = "") -> "Figure":
    """Draw the table of ``mean_curves``: per data set a panel of errors, and one of #SV where there are any.

    Lines that lie on one another are drawn as one line striped in their colours. #SV is on a log axis where
    the learners of some data set differ by a factor above WIDE.
    """
    from matplotlib.lines import Line2D

    data = list(dict.fromkeys(table["data"]))
    yardstick = table["is_yardstick"].astype(bool)
    learners = list(dict.fromkeys(table.loc[~yardstick, "line"]))
    yardsticks = [name for name in dict.fromkeys(table.loc[yardstick, "line"]) if name not in learners]
    styles = style.line_styles(learners, yardsticks)
    finals = table[~yardstick & (table["n_sv_sum_mean"] > 0)].groupby(["data", "line"])["n_sv_sum_mean"].max()
    ratios = finals.groupby(level="data").agg(lambda sizes: sizes.max() / sizes.min())
    log = bool((ratios > WIDE).any())
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
            _error_panel(top, part, styles)
            top.set_title(data[place])
            (bottom or [top])[0].set_xlabel("examples")
            if column == 0:
                top.set_ylabel(axis_of(table))
            for panel in bottom:
                _size_panel(panel, part, styles, log)
                top.sharex(panel)
                top.tick_params(labelbottom=False)
                if column == 0:
                    panel.set_ylabel("support vectors (#SV)")
        figure.align_ylabels()
        style.legend_below(
            figure, {name: Line2D([], [], **look) for name, look in styles.items()}, _caption(table)
        )
        if title:
            figure.suptitle(title, fontsize=11)
    return figure


def _caption(table: "pd.DataFrame") -> str:
    least, most = int(table["reps"].min()), int(table["reps"].max())
    if most == 1:
        return "one pass in one order"
    many = str(most) if least == most else f"{least} to {most}"
    return f"mean over {many} permutations; bands: ±1 standard deviation"


def _error_panel(axes: "Axes", part: "pd.DataFrame", styles: dict) -> None:
    drawn = part[part["t"] >= min(FIRST, part["t"].max())]
    _lines(axes, drawn, "error", styles)
    must_see: list[float] = []
    finals: dict[str, float] = {}
    early: dict[str, float] = {}
    for (name, is_yardstick), curve in drawn.groupby(["line", "is_yardstick"], sort=False):
        seen = curve["t"] / curve["t"].max()
        mean, std = curve["error_mean"], curve["error_std"].fillna(0.0)
        if is_yardstick:
            finals[name] = float(mean.iloc[-1])
            early[name] = float(mean[seen >= 4 * SETTLED].max())
        else:
            must_see += [*(mean - std)[seen >= SETTLED].clip(lower=0.0), *(mean + std)[seen >= SETTLED]]
    (low, high), out = style.robust_limits(must_see, finals, widen=3.0)
    axes.set_ylim(low, max([high, *(1.02 * value for name, value in early.items() if name not in out)]))
    style.note_left_out(axes, {name: finals[name] for name in out})


def _size_panel(axes: "Axes", part: "pd.DataFrame", styles: dict, log: bool) -> None:
    # A learner without support vectors has no line here.
    part = part[part.groupby("line")["n_sv_sum_mean"].transform("max") > 0]
    _lines(axes, part, "n_sv_sum", styles, start=not log)
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
        _thousands(axes.yaxis)
    _thousands(axes.xaxis)


def _lines(axes: "Axes", part: "pd.DataFrame", name: str, styles: dict, start: bool = False) -> None:
    """Draw each line's mean, and the learners' bands; ``start``: all begin with 0 at 0 examples."""
    means: dict[str, np.ndarray] = {}
    alpha = 0.15 if part.loc[~part["is_yardstick"].astype(bool), "line"].nunique() <= 4 else 0.09
    for (line, is_yardstick), curve in part.groupby(["line", "is_yardstick"], sort=False):
        t, mean, std = (curve[c].to_numpy(dtype=float) for c in ("t", f"{name}_mean", f"{name}_std"))
        if start:
            t, mean, std = (np.concatenate([[0.0], values]) for values in (t, mean, std))
        means[line] = mean
        look = styles[line]
        axes.plot(t, mean, label=line, **look)
        if not is_yardstick and not np.isnan(std).all():
            band = {"color": look["color"], "alpha": alpha, "linewidth": 0, "zorder": 1.5}
            axes.fill_between(t, np.maximum(mean - std, 0.0), mean + std, **band)
    style.stripe({line.get_label(): line for line in axes.get_lines()}, means)
    if len(part):
        axes.set_xlim(0, part["t"].max())


def _thousands(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def curve_figure(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    out: str | Path,
    *,
    asked: Asked | None = None,
    title: str = "",
) -> list[Path]:
    """Draw the cells' learning curves to files; the arguments are those of mean_curves, style.save.

    out: a folder (it exists, or ends in "/"), where the file is named after learners and data sets, or a file
    with or without .png, .pdf, .svg; without, both PNG and PDF are written. Returns the files.
    """
    asked = asked or Asked()
    table = mean_curves(cells, curves, asked)
    figure = draw_curves(table, title)
    learners = table.loc[~table["is_yardstick"], "algo"].tolist() or table["algo"].tolist()
    out = style.target(out, "curve", learners, table["data"].tolist())
    return style.save(figure, out, title or "Learning curves", asked.command)
