"""A measure over hyperparameters: lines over one number, heat maps over two, else a dot for each setting."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.parameters import shown_text
from omkl.errors import UserError
from omkl.figures import style
from omkl.figures.scales import LETTER, axis_limits, beyond, limit_y, plain_log, short_number, thousands
from omkl.figures.style import Figure, LineStyle, join_notes, line_styles
from omkl.reports import captions
from omkl.reports.measures import (
    best_first,
    best_of,
    errors_of,
    learners_of,
    measure_in,
    measure_of,
    yardsticks_of,
)
from omkl.reports.summary import axes_of, grid_table
from omkl.reports.symbols import in_symbols, symbol
from omkl.tasks import MEASURES, Measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure

WIDE = 30.0  # ratio of values from which on an axis is logarithmic
FEW_BANDS = 4  # learners of a panel up to which each has a band
MOST_DOTS = 30
REACH = 3.0  # of a scale of colours, in distances of the median value from the best
_BESIDE_MAP = 0.95  # inches of the names at the left of a heat map, and of its colours at the right
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_POINTS = ("panel", "x", "line", "y_mean", "y_std", "is_yardstick", "reps", "order")  # columns


def _names(grid: "pd.DataFrame") -> tuple[list[str], list[str]]:
    """Return the names of the learners and those of the yardsticks, in order; a learner is no yardstick."""
    learners = list(dict.fromkeys(learners_of(grid)["line"]))
    return learners, [name for name in dict.fromkeys(grid["line"]) if name not in learners]


def _basis(grid: "pd.DataFrame") -> str:
    return captions.basis(int(grid["reps"].max()), grid["order"])


# -------------------------------------------------------------------- lines over one number


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
    return grid[[*_POINTS]].reset_index(drop=True)


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
    learners, yardsticks = _names(grid)
    kept = [*learners, *yardsticks][: style.MOST_LINES]
    fewer = f"drawn: the first {len(kept)} of {len(learners)} learners" if len(learners) > len(kept) else ""
    styles = line_styles(
        [line for line in learners if line in kept], [line for line in yardsticks if line in kept]
    )
    titles, left_out = style.first_panels(list(dict.fromkeys(map(str, grid["panel"]))), "panels")
    panels = [grid[(grid["panel"] == title) & grid["line"].isin(kept)] for title in titles]
    bands = len(learners) <= FEW_BANDS and bool((learners_of(grid)["y_std"].astype(float) > 0).any())
    text = join_notes(
        _basis(grid),
        "bands: ±1 standard deviation" if bands else "",
        f"ring: {ring}" if ring else "",
        note,
        fewer,
        left_out,
    )

    def make() -> "MplFigure":
        drawn, stacks = style.panels(len(panels), 2.0, columns=columns)
        labels = {str(points["y_label"].iloc[0]) for points in panels}
        for (axes,), title, points in zip(stacks, titles, panels, strict=True):
            _line_panel(axes, points, styles, bands, ring, values)
            style.panel_title(axes, title, len(panels) == 1)
            if style.is_leftmost(axes) or len(labels) > 1:
                axes.set_ylabel(points["y_label"].iloc[0])
        seen = {line.get_label() for axes in drawn.axes for line in axes.get_lines()}
        style.draw_legend(drawn, {line: line_style for line, line_style in styles.items() if line in seen})
        return drawn

    return Figure(name, make, len(panels), note=text, **more)


def _with_labels(grid: "pd.DataFrame", labels: Mapping[str, Any]) -> "pd.DataFrame":
    """Return a table of points with the labels that it lacks. Raises UserError where it lacks a column."""
    if missing := [column for column in _POINTS if column not in grid]:
        raise UserError(f"the table of a sensitivity figure lacks the column {', '.join(missing)}")
    return grid.assign(**{column: label for column, label in labels.items() if column not in grid})


def _line_panel(
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
    width = style.panel_width(axes) - 0.5
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


# -------------------------------------------------------------------- a sweep


def sweep_figure(
    summary: "pd.DataFrame", *, name: str = "sweep", command: str = "", title: str = ""
) -> Figure | None:
    """Return a summary's grid: the error over what was swept, one panel per data set (and learner).

    One swept number gives lines, two give heat maps; none (only words or pools were swept), or three and
    more, give one dot per setting, the best first. None where no learner has finished.
    """
    axes = axes_of(summary)
    grid = grid_table(summary, axes)
    names = grid["line"].where(grid["settings"] == "", grid["label"] + ", " + grid["settings"])
    about: dict[str, Any] = {"command": command, "name": name, "title": title}
    about["warnings"] = captions.shortfall_of(grid.assign(line=names))
    grid = grid[grid["reps"] > 0]
    if learners_of(grid).empty:
        return None
    if len(axes) == 1:
        ((axis, values),) = axes.items()
        return sensitivity(_points(grid, axis), ring=best_of(grid), values=values, **about)
    return _maps(grid, axes, about) if len(axes) == 2 else _dots(grid, about)


def _points(grid: "pd.DataFrame", axis: str) -> "pd.DataFrame":
    """Return a ``grid_table`` as points along one axis, for sensitivity: the errors of the tasks."""
    errors: dict[str, Any] = {f"y_{part}": errors_of(grid, part) for part in ("mean", "std")}
    errors["y_label"] = [measure_of(row).title for row in grid.to_dict("records")]
    best = best_first(grid).drop_duplicates(["data", "line", "is_yardstick"]).index
    errors["is_best"] = grid.index.isin(best)
    return grid.assign(panel=grid["data"], x=grid[f"at.{axis}"], x_label=symbol(axis), **errors)


# -------------------------------------------------------------------- dots


def _dots(grid: "pd.DataFrame", about: dict[str, Any]) -> Figure:
    """Return a dot per setting, the best first, and the yardsticks as levels."""
    # Settings of a learner share its colour; a yardstick may have the name of a learner.
    grid = grid.assign(line=grid["label"].where(~grid["is_yardstick"], grid["line"]))
    several = grid["pool"].dropna().nunique() > 1
    sets, left_out = style.first_panels(list(dict.fromkeys(grid["data"])))
    tables = [grid[grid["data"] == data] for data in sets]
    styles = line_styles(*_names(grid))
    stds = {f"{measure_in(part).name}_std" for part in tables}
    text = join_notes(
        _basis(grid),
        "bars: ±1 standard deviation" if any((grid[std].astype(float) > 0).any() for std in stds) else "",
        "filled: not significantly worse than the best" if grid["marked"].any() else "",
        left_out,
    )

    def make() -> "MplFigure":
        most = min(max(len(learners_of(part)) for part in tables), MOST_DOTS)
        drawn, stacks = style.panels(len(tables), 0.5 + 0.15 * most, columns=2, narrowest=2.6)
        drawn.set_figheight((0.65 + 0.15 * most) * -(-len(tables) // style.panels_per_row(drawn)))
        for (axes,), data, part in zip(stacks, sets, tables, strict=True):
            _dot_panel(axes, str(data), part, styles, several, len(tables) == 1)
        seen = {text for axes in drawn.axes for text in axes.get_legend_handles_labels()[1]}
        shown = {line: line_style for line, line_style in styles.items() if line in seen}
        few = len(shown) <= style.MOST_LINES  # of more, the ticks name the learners
        style.draw_legend(drawn, {k: v for k, v in shown.items() if few or v.is_yardstick}, dots=True)
        return drawn

    return Figure(make=make, panels=len(tables), note=text, **about)


def _dot_panel(
    axes: "Axes",
    data: str,
    part: "pd.DataFrame",
    styles: Mapping[str, LineStyle],
    several: bool,
    alone: bool,
) -> None:
    measure = measure_in(part)
    mean, std = (f"{measure.name}_{which}" for which in ("mean", "std"))
    ordered = best_first(learners_of(part))
    shown = ordered.head(MOST_DOTS)
    ends: list[float] = []
    names = []
    for place, row in enumerate(shown.to_dict("records")):
        line_style = styles[row["label"]]
        reach = float(np.nan_to_num(row[std]))
        dot: dict[str, Any] = {"marker": line_style.marker or "o", "markersize": 4, "elinewidth": 0.8}
        dot |= {"color": line_style.colour}
        dot["markerfacecolor"] = line_style.colour if row["marked"] else "white"
        axes.errorbar(row[mean], place, xerr=reach or None, label=row["label"], linestyle="none", **dot)
        ends += [max(row[mean] - reach, min(0.0, row[mean])), row[mean] + reach]
        names.append(", ".join(filter(None, (row["label"], row["settings"], row["pool"] if several else ""))))
    axes.set_yticks(range(len(names)), map(in_symbols, names))
    base = yardsticks_of(part)
    levels = dict(zip(base["line"], base[mean].astype(float), strict=True))
    limits, out = axis_limits(ends, levels)
    axes.set_xlim(*limits)
    axes.set_ylim(len(names) - 0.5, -0.5 - 0.8 * len(out))  # their names stand above the dots
    for line, level in levels.items():
        if line not in out:
            axes.axvline(level, label=line, **styles[line].properties())
    beyond(axes, {line: levels[line] for line in out}, across=True)
    few = f" (best {MOST_DOTS} of {len(ordered)} settings)" if len(ordered) > MOST_DOTS else ""
    style.panel_title(axes, f"{data}{few}", alone and not few)
    axes.set_xlabel(measure.title)


# -------------------------------------------------------------------- heat maps


@dataclass(frozen=True)
class _Map:
    """One panel: the rows of a learner on a data set; axes: the numbers it was swept over, one or two."""

    data: str
    line: str
    table: "pd.DataFrame"
    axes: Sequence[str]
    grid: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    ticks: tuple[list[str], list[str]] = ([], [])
    best: tuple[int, int] = (0, 0)  # the cell of the setting that the table calls best
    std: float = 0.0  # of that cell

    @property
    def measure(self) -> Measure:
        return measure_in(self.table)

    @property
    def close(self) -> np.ndarray:
        """Which cells are within one standard deviation of the best, the best itself left out."""
        with np.errstate(invalid="ignore"):
            cells = self.measure.sign * (self.grid - self.grid[self.best]) <= self.std
        cells[self.best] = False
        return cells


def _maps(summary: "pd.DataFrame", axes: Mapping[str, list[float]], about: dict[str, Any]) -> Figure:
    """Return a heat map per data set and learner, with one scale of colours per data set.

    A learner with several values of only one of the numbers has a line over these; one with a single
    setting is named in the note.
    """
    learners = learners_of(summary)
    varied = learners.groupby("line", sort=False)[[f"at.{name}" for name in axes]].nunique() > 1
    several = {line: [name for name in axes if row[f"at.{name}"]] for line, row in varied.iterrows()}
    chosen = sorted((line for line in several if several[line]), key=lambda line: -len(several[line]))
    chosen = chosen or list(several)
    every = []
    for data in dict.fromkeys(learners["data"]):
        here = learners[learners["data"] == data]
        for line in chosen:
            if (part := here[here["line"] == line]).empty:
                continue
            one = several[line] or list(axes)
            if len(one) == 2:
                every.append(_map(str(data), line, part, axes))
            else:
                every.append(_Map(str(data), line, part, one))
    _, left_out = style.first_panels([f"{part.data} · {part.line}" for part in every], "panels")
    maps = every[: style.MOST_PANELS]
    sets = list(dict.fromkeys(part.data for part in maps))
    others = [
        text for data in sets if (text := _levels(summary[summary["data"] == data], chosen, len(sets) > 1))
    ]
    framed = "frame: the best" if any(part.grid.size for part in maps) else ""
    if any(part.grid.size and part.close.any() for part in maps):
        framed += ", dot: within one standard deviation of it"
    rings = f"ring: {best_of(learners)}" if any(not part.grid.size for part in maps) else ""
    text = join_notes(_basis(learners), framed, rings, *others, left_out)
    make = lambda: _draw_maps(maps, line_styles(chosen), best_of(learners))  # noqa: E731
    return Figure(make=make, panels=len(maps), note=text, **about)


def _map(data: str, line: str, part: "pd.DataFrame", axes: Iterable[str]) -> _Map:
    """Return the heat map of a learner on a data set."""
    names, first = list(axes), best_first(part).iloc[0]
    grid, rows, columns = matrix(part, names, f"{first['measure']}_mean")
    column, row = (
        _values(part, name).index(first[f"at.{name}"]) if ticks[0] else 0
        for name, ticks in zip(names, (columns, rows), strict=True)
    )
    std = float(np.nan_to_num(first[f"{first['measure']}_std"]))
    return _Map(data, line, part, names, grid, (rows, columns), (row, column), std)


def _draw_maps(maps: Sequence[_Map], styles: Mapping[str, LineStyle], ring: str) -> "MplFigure":
    tall = max((len(part.ticks[0]) for part in maps), default=0)
    wide = max((len(part.ticks[1]) for part in maps), default=0)
    drawn, stacks = style.panels(
        len(maps),
        float(np.clip(0.65 + 0.19 * tall, 1.35, 3.2)),
        narrowest=float(np.clip(_BESIDE_MAP + 5 * LETTER * wide, 1.55, 2.4)),
    )
    images: dict[str, tuple[Any, list[Axes], Measure]] = {}
    several = len({part.data for part in maps}) > 1, len({part.line for part in maps}) > 1
    for (axes,), part in zip(stacks, maps, strict=True):
        if part.grid.size:
            same = [other.grid.ravel() for other in maps if other.data == part.data and other.grid.size]
            ends = robust_range(np.concatenate(same), part.measure.sign)
            image = _heat_map(axes, part, ends)
            images.setdefault(part.data, (image, [], part.measure))[1].append(axes)
            axes.set_xlabel(symbol(part.axes[0]) if any(part.ticks[1]) else "")
            axes.set_ylabel(symbol(part.axes[1]) if any(part.ticks[0]) else "")
        else:
            (axis,) = part.axes
            _line_panel(axes, _points(part.table, axis), {part.line: styles[part.line]}, True, ring)
            axes.set_ylabel(part.measure.title)
        names = [name for name, shown in zip((part.data, part.line), several, strict=True) if shown]
        style.panel_title(axes, " · ".join(names) or f"{part.data} · {part.line}")
    for image, panels, measure in images.values():
        bar = drawn.colorbar(image, ax=panels, shrink=0.9, aspect=18, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=6.5, length=0)
        bar.set_label(measure.title, fontsize=style.SMALL)
    return drawn


def _heat_map(axes: "Axes", part: _Map, ends: tuple[float, float]) -> Any:
    """Draw one map; the best cell has a frame, and each its number where there is room."""
    from matplotlib.patches import Rectangle

    mean, (rows, columns) = part.grid, part.ticks
    colours: dict[str, Any] = {
        "cmap": "cividis_r" if part.measure.sign > 0 else "cividis",
        "linewidth": 0.2,
    }
    image = axes.pcolormesh(
        np.ma.masked_invalid(mean), vmin=ends[0], vmax=ends[1], edgecolor="face", **colours
    )
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    room = max(style.panel_width(axes) - _BESIDE_MAP, 0.6)
    letters = 1.5 + max(map(len, columns), default=0)
    step = max(1, math.ceil(LETTER * letters * len(columns) / room)), -(-len(rows) // 10)
    axes.set_xticks(np.arange(0, len(columns), step[0]) + 0.5, columns[:: step[0]])
    axes.set_yticks(np.arange(0, len(rows), step[1]) + 0.5, rows[:: step[1]])
    row, column = part.best
    is_dark = (mean > sum(ends) / 2) == (part.measure.sign > 0)
    digits = max(1, 2 - int(np.floor(np.log10(max(np.nanmedian(np.abs(mean)), 1e-9)))) - 1)
    longest = max(len(f"{value:.{digits}f}") for value in mean[~np.isnan(mean)])
    if room / len(columns) >= LETTER * (longest + 0.5) and len(rows) <= 12:
        for (i, j), value in np.ndenumerate(mean):
            if not np.isnan(value):
                text: dict[str, Any] = {"color": "white" if is_dark[i, j] else "black", "fontsize": 6.5}
                text |= {
                    "ha": "center",
                    "va": "center",
                    "weight": "bold" if (i, j) == (row, column) else None,
                }
                axes.text(j + 0.5, i + 0.5, f"{value:.{digits}f}", **text)
    for i, j in zip(*part.close.nonzero(), strict=True):
        colour = "white" if is_dark[i, j] else "black"
        axes.plot(j + 0.88, i + 0.8, marker="o", markersize=1.8, markeredgewidth=0, color=colour)
    frame: dict[str, Any] = {"fill": False, "edgecolor": "#D55E00", "linewidth": 1.8, "zorder": 4}
    axes.add_patch(Rectangle((float(column), float(row)), 1, 1, clip_on=False, **frame))
    return image


def matrix(part: "pd.DataFrame", axes: Iterable[str], column: str) -> tuple[np.ndarray, list[str], list[str]]:
    """Return a column's values (rows, columns) in one panel and the ticks of its rows and columns.

    The first axis runs over the columns. Values that the learner did not take are left out; a learner without
    one of the axes has a single row or column, without a tick. NaN where no cell has finished.
    """
    across, down = (part[f"at.{name}"] for name in axes)
    columns, rows = (_values(part, name) for name in axes)
    grid = np.full((len(rows), len(columns)), np.nan)
    for x, y, value in zip(across, down, part[column], strict=True):
        grid[0 if np.isnan(y) else rows.index(y), 0 if np.isnan(x) else columns.index(x)] = value
    return grid, tick_texts(rows), tick_texts(columns)


def _values(part: "pd.DataFrame", axis: str) -> list[float]:
    return sorted(part[f"at.{axis}"].dropna().unique().tolist()) or [math.nan]


def tick_texts(values: Sequence[float]) -> list[str]:
    """Return the texts of swept numbers on an axis, powers of ten where all are and reach far; "" for NaN."""
    powers = [math.log10(value) if value > 0 else math.nan for value in values]
    decades = len(powers) > 1 and all(power.is_integer() for power in powers)
    if decades and max(map(abs, powers)) > 2:
        return [f"10{str(round(power)).translate(_RAISED)}" for power in powers]
    return ["" if np.isnan(value) else shown_text(float(value)) for value in values]


def robust_range(values: np.ndarray, sign: float = 1.0) -> tuple[float, float]:
    """Return the ends of a scale of colours: few values that are far worse than the rest do not take it all.

    sign: 1 where less is better, -1 where more is. From the best value it reaches REACH times as far as the
    median one, at least a 50th of its size, at most to the worst. NaN are left out.
    """
    costs = sign * values[np.isfinite(values)]
    if not costs.size:
        return 0.0, 1.0
    best = float(costs.min())
    reach = max(REACH * float(np.median(costs) - best), 0.02 * abs(best))
    worst = min(float(costs.max()), best + reach)
    low, high = sorted((sign * best, sign * worst))
    return low, high


def _levels(part: "pd.DataFrame", drawn: Iterable[str], named: bool) -> str:
    """Return the errors on a data set of those that have no panel: learners of one setting, yardsticks."""
    single = learners_of(part[~part["line"].isin(drawn)])
    texts = []
    for name, rows in (("one setting", single), ("yardsticks", yardsticks_of(part))):
        if len(rows):
            errors = zip(rows["line"], errors_of(rows), strict=True)
            texts.append(f"{name}: {', '.join(f'{line} {short_number(e)}' for line, e in errors)}")
    on = f"{part['data'].iloc[0]}: " if named and texts and len(part) else ""
    return on + "; ".join(texts)
