"""Heat maps of a measure over two settings."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.figures.scales import LETTER
from omkl.figures.sensitivity import line_panel
from omkl.figures.sweep_grid import basis_of_grid, grid_points, levels_note
from omkl.figures.tick_texts import tick_texts
from omkl.reports.measures import best_first, best_of, learners_of, measure_in
from omkl.reports.symbols import symbol
from omkl.tasks import Measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


REACH = 3.0  # of a scale of colours, in distances of the median value from the best
_BESIDE_MAP = 0.95  # inches of the names at the left of a heat map, and of its colours at the right


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


def map_figure(summary: "pd.DataFrame", axes: Mapping[str, list[float]], about: dict[str, Any]) -> Figure:
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
    _, left_out = figure_names.first_panels([f"{part.data} · {part.line}" for part in every], "panels")
    maps = every[: style.MOST_PANELS]
    sets = list(dict.fromkeys(part.data for part in maps))
    others = [
        text
        for data in sets
        if (text := levels_note(summary[summary["data"] == data], chosen, len(sets) > 1))
    ]
    framed = "frame: the best" if any(part.grid.size for part in maps) else ""
    if any(part.grid.size and part.close.any() for part in maps):
        framed += ", dot: within one standard deviation of it"
    rings = f"ring: {best_of(learners)}" if any(not part.grid.size for part in maps) else ""
    text = join_notes(basis_of_grid(learners), framed, rings, *others, left_out)
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
    drawn, stacks = panel_grid.panels(
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
            line_panel(axes, grid_points(part.table, axis), {part.line: styles[part.line]}, True, ring)
            axes.set_ylabel(part.measure.title)
        names = [name for name, shown in zip((part.data, part.line), several, strict=True) if shown]
        panel_grid.panel_title(axes, " · ".join(names) or f"{part.data} · {part.line}")
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
    room = max(panel_grid.panel_width(axes) - _BESIDE_MAP, 0.6)
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
