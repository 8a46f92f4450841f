"""Where the parts of a printed figure are: panels, titles, legend and caption, names at the ends of lines."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports.figure_style import current, factor, mark, points
from omkl.reports.figures import COLOURS, LineStyle, in_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

PANEL_COLUMNS = 4
NARROWEST_PANEL, WIDEST_FIGURE = 1.6, 13.0  # inches
_BESIDE, _ABOVE = 0.5, 0.7  # inches of a panel for its labels
_USUAL = 3.0  # inches of a panel's width
MOST_NAMES = 8  # of a legend; more lines are named where they end
GREY = "#4d4d4d"  # of the text below
_SIZE = 7.5  # points on the screen, of a name at a line's end
_SPACING = 1.18  # of such names, in heights of the text
_LEADER, _SAMPLE = 0.24, 0.24  # inches from the panel to the sample of a name's line, and of that

Ends = Mapping[str, tuple[float, float]]


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure (inches) that belongs to no pyplot state; the chosen width is taken instead."""
    from matplotlib.figure import Figure

    return Figure(figsize=(current().width or width, height), layout="constrained")


def stacks(
    count: int, heights: Sequence[float], names: Iterable[str], columns: int = PANEL_COLUMNS
) -> tuple["Figure", "list[list[Axes]]", int]:
    """Return a figure of ``count`` stacks of panels, with room for the names of its lines.

    Also returns how many stacks are in a row.

    heights: of the panels of a stack, from the top, in inches    columns: stacks in a row, at most
    """
    names = list(names)
    chosen = current().width
    beside = len(names) > MOST_NAMES  # of each panel, else below all
    label = 0.1 + _LEADER + _SAMPLE + 0.0068 * points(8) * max(map(len, names)) if beside else 0.0
    most = min(columns, max(1, int(WIDEST_FIGURE / (_USUAL + label)))) if beside else columns
    rows, columns = grid_shape(count, most, NARROWEST_PANEL + label)
    wide = chosen or (5.2 + label if columns == 1 else (_USUAL + label) * columns)
    scale = min(1.0, max(0.6, (wide / columns - label) / _USUAL)) if chosen else 1.0
    n, heights = len(heights), [_ABOVE + scale * (height - _ABOVE) for height in heights]
    below = 0.0 if chosen or beside else 0.1 * len(names) / columns
    figure = new_figure(wide, 0.6 + sum(heights) * rows + below)
    grid = figure.subplots(n * rows, columns, squeeze=False, height_ratios=heights * rows)
    made = [list(grid[n * row : n * (row + 1), column]) for row in range(rows) for column in range(columns)]
    for unused in made[count:]:
        for axes in unused:
            axes.remove()
    return figure, made[:count], columns


def subplots(figure: "Figure", count: int, rows: int, columns: int, **shared: Any) -> "list[Axes]":
    """Return the first ``count`` panels of a grid; the others are removed."""
    every = figure.subplots(rows, columns, squeeze=False, **shared).flatten().tolist()
    for unused in every[count:]:
        unused.remove()
    return every[:count]


def grid_shape(
    count: int, columns: int = PANEL_COLUMNS, narrowest: float = NARROWEST_PANEL
) -> tuple[int, int]:
    """Return (rows, columns) for a number of panels, at most ``columns`` in a row, rows evenly filled.

    narrowest: inches of a panel; fewer are in a row where the chosen width has no room
    """
    width = current().width
    most = columns if width is None else max(1, min(columns, int(width / narrowest)))
    rows = -(-count // most)
    return rows, -(-count // rows)


def panel_width(axes: "Axes") -> float:
    """Return about how wide a panel is, in inches, before the figure is laid out."""
    figure, grid = axes.figure, axes.get_gridspec()
    return figure.bbox.width / figure.dpi / (grid.ncols if grid else 1) - _BESIDE if figure else _USUAL


def line_look(style: LineStyle) -> dict[str, Any]:
    """Return a line's style in matplotlib's words."""
    look: dict[str, Any] = {"color": style.colour, "linestyle": (0, style.dashes) if style.dashes else "-"}
    if style.is_yardstick:
        return look | {"linewidth": 1.2, "zorder": 2}
    # A broken line shows a solid one below it, not the other way round.
    look["zorder"] = 3 + 0.1 * min(style.number // len(COLOURS), 5) - style.number / 10000
    if style.marker:
        # The places are shares of the panel's diagonal.
        where = (0.03 + 0.21 * (0.618 * style.number % 1), 0.21)
        size = mark(5.5 if style.marker in "PX*" else 4.2)
        look |= {"marker": style.marker, "markersize": size, "markeredgewidth": 0, "markevery": where}
    return look


def mark_broken(axes: "Axes", across: bool = False) -> None:
    """Break the end of a panel's y axis, or of its x axis, beyond which something lies."""
    ends, place = (
        ([(-0.4, -1.0), (0.4, 1.0)], (1.0, 0.0)) if across else ([(-1.0, -0.4), (1.0, 0.4)], (0.0, 1.0))
    )
    look: dict[str, Any] = {"linestyle": "none", "color": "black", "markeredgewidth": 0.8, "clip_on": False}
    for shift in (0.0, 0.016):
        where = [place[0] - shift * across], [place[1] - shift * (not across)]
        axes.plot(*where, transform=axes.transAxes, marker=ends, markersize=mark(7.0), **look)


# -------------------------------------------------------------------- text above and below


def put_title(figure: "Figure", title: str) -> None:
    """Put a title above all panels; none when it is empty, or left to LaTeX."""
    if title and current().title:
        room = max(20, int(figure.get_figwidth() / (0.082 * factor())))
        figure.suptitle(textwrap.fill(title, room), fontsize=points(11))


def panel_title(axes: "Axes", text: str, alone: bool, size: float = 10.0, below: str = "") -> None:
    """Put a title above a panel, in lines that fit; above a note at its right where both have no room.

    alone: it is the figure's only panel, whose title LaTeX sets too    below: a smaller line under the title
    """
    if below:
        axes.set_title(below, loc="right", x=0, ha="left", fontsize=points(7.5), fontweight="normal")
    if alone and not current().title:
        return
    if current().width or below:
        letter, wide = 0.0085 * points(size), panel_width(axes)
        text = textwrap.fill(text, max(8, int(wide / letter)), break_long_words=False)
        notes = axes.get_title(loc="right").splitlines()
        own, others = (max(map(len, lines), default=0) for lines in (text.splitlines(), notes))
        if below or own * letter + others * 0.0085 * points(7) > wide:
            text += "\n" * math.ceil(len(notes) * 7 / size)
    axes.set_title(text, fontsize=points(size))


def _caption(figure: "Figure", caption: str) -> str:
    """Return the text below the panels, in lines that fit."""
    room = max(30, int(figure.get_figwidth() / (0.062 * factor())))
    parts = filter(None, caption.splitlines())
    text = "\n".join(textwrap.fill(in_symbols(part), room, break_long_words=False) for part in parts)
    if current().width:  # what is below the panels takes nothing from their height
        figure.set_figheight(figure.get_figheight() + points(8) / 60 * text.count("\n"))
    return text


def note_below(figure: "Figure", caption: str) -> None:
    """Put a caption below all panels of a figure without a legend."""
    if text := _caption(figure, caption):
        figure.supxlabel(text, fontsize=points(8), color=GREY)


def legend_below(figure: "Figure", handles: dict[str, Any], caption: str = "") -> None:
    """Put one legend for all panels below them, where it hides nothing, with the caption as its title."""
    text = _caption(figure, caption)
    names = list(map(in_symbols, handles))
    longest = max(map(len, names), default=1)
    room = max(1, int(figure.get_figwidth() / (factor() * (0.62 + 0.068 * longest))))
    rows = -(-len(handles) // room)
    if current().width:
        figure.set_figheight(figure.get_figheight() + points(8.5) / 55 * (rows - 1))
    look: dict[str, Any] = {"loc": "outside lower center", "title_fontsize": points(8), "columnspacing": 1.6}
    columns = -(-len(handles) // rows) if rows else 1
    legend = figure.legend(list(handles.values()), names, ncols=columns, title=text, **look)
    legend.get_title().set(color=GREY, multialignment="center")


# -------------------------------------------------------------------- names at the ends of lines


def label_ends(
    figure: "Figure", ends: Sequence[tuple["Axes", Ends]], styles: Mapping[str, LineStyle]
) -> None:
    """Name the lines at the right of each panel, next to their ends, moved apart where they are close.

    In place of a legend that would be too long. ends: of each panel, the end of each line by name, as shares
    (x, y) of the panel    styles: of the lines

    A figure whose panels are too low for their names becomes higher.
    """
    size = points(_SIZE)
    gap = _SPACING * size / 72
    names = [[(name, *end) for name, end in sorted(own.items())] for _, own in ends]
    labels = [
        [_label(axes, name, (x, y), size) for name, x, y in own]
        for (axes, _), own in zip(ends, names, strict=True)
    ]
    height, width = _panel_size(figure, ends)
    low = max((len(own) * gap - height for _, own in ends), default=0.0)
    if low > 0:
        rows = max(grid.nrows for axes, _ in ends if (grid := axes.get_gridspec()))
        figure.set_figheight(figure.get_figheight() + rows * low)
        height, width = _panel_size(figure, ends)
    start, stop = 1 + _LEADER / width, 1 + (_LEADER + _SAMPLE) / width
    for (axes, _), own, texts in zip(ends, names, labels, strict=True):
        places = moved_apart([y for *_, y in own], gap / height)
        for (name, x, y), text, place in zip(own, texts, places, strict=True):
            text.set_position((stop + 0.05 / width, place))
            look = line_look(styles[name])
            _outside(axes, [x, start], [y, place], color=look["color"], linewidth=0.5)
            _outside(axes, [start, (start + stop) / 2, stop], [place] * 3, **look | {"markevery": [1]})


def _outside(axes: "Axes", x: list[float], y: list[float], **look: Any) -> None:
    """Draw a line in shares of a panel, also outside it."""
    (line,) = axes.plot(x, y, transform=axes.transAxes, clip_on=False, **look)
    line.set_in_layout(False)


def moved_apart(places: Sequence[float], gap: float) -> list[float]:
    """Return places at least ``gap`` apart, in the same order, between 0 and 1 if these have room for them.

    The sum of the squared distances from the given places is the least there is: those that would be too
    close are moved together, as far up as down.
    """
    order = np.argsort(places, kind="stable")
    blocks: list[list[float]] = []  # with each place less the gaps below it: a place must not be less
    for number, place in enumerate(np.asarray(places, dtype=float)[order]):
        blocks.append([place - number * gap])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    free = (
        np.concatenate([np.full(len(block), np.mean(block)) for block in blocks]) if blocks else np.zeros(0)
    )
    room = max(0.0, 1 - gap * (len(free) - 1))
    moved = np.empty(len(free))
    moved[order] = np.clip(free, 0.0, room) + gap * np.arange(len(free))
    return moved.tolist()


def _label(axes: "Axes", name: str, end: tuple[float, float], size: float) -> "Annotation":
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction", "ha": "left"}
    place |= {"va": "center", "annotation_clip": False, "fontsize": size}
    return axes.annotate(in_symbols(name), end, (1.15, end[1]), **place)


def _panel_size(figure: "Figure", ends: Sequence[tuple["Axes", Ends]]) -> tuple[float, float]:
    """Return height and width in inches of the lowest and the narrowest panel, once laid out."""
    figure.draw_without_rendering()
    boxes = [axes.get_window_extent() for axes, _ in ends]
    return min(box.height for box in boxes) / figure.dpi, min(box.width for box in boxes) / figure.dpi
