"""Where a figure's parts are: its panels, their titles, the legend and the caption below them."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from omkl.reports import look as looking
from omkl.reports import style
from omkl.reports.look import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_COLUMNS = 4
NARROWEST_PANEL, WIDEST_FIGURE = 1.6, 13.0  # inches
_BESIDE, _ABOVE = 0.5, 0.7  # inches of a panel for its labels
_USUAL = 3.0  # inches of a panel's width
MOST_NAMES = 8  # of a legend; more lines are named where they end


def panels(
    count: int, heights: Sequence[float], names: Iterable[str], columns: int = PANEL_COLUMNS
) -> tuple["Figure", "list[list[Axes]]", int]:
    """Return a figure of ``count`` stacks of panels, with room for the names of its lines.

    Also returns how many stacks are in a row.

    heights: of the panels of a stack, from the top, in inches    columns: stacks in a row, at most
    """
    names = list(names)
    chosen = looking.current().width
    beside = len(names) > MOST_NAMES  # of each panel, else below all
    label = 0.2 + 0.0068 * points(8) * max(map(len, names)) if beside else 0.0
    most = min(columns, max(1, int(WIDEST_FIGURE / (_USUAL + label)))) if beside else columns
    rows, columns = grid_shape(count, most, NARROWEST_PANEL + label)
    wide = chosen or (5.2 + label if columns == 1 else (_USUAL + label) * columns)
    scale = min(1.0, max(0.6, (wide / columns - label) / _USUAL)) if chosen else 1.0
    n, heights = len(heights), [_ABOVE + scale * (height - _ABOVE) for height in heights]
    below = 0.0 if chosen or beside else 0.1 * len(names) / columns
    figure = style.new_figure(wide, 0.6 + sum(heights) * rows + below)
    grid = figure.subplots(n * rows, columns, squeeze=False, height_ratios=heights * rows)
    stacks = [list(grid[n * row : n * (row + 1), column]) for row in range(rows) for column in range(columns)]
    for unused in stacks[count:]:
        for axes in unused:
            axes.remove()
    return figure, stacks[:count], columns


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
    width = looking.current().width
    most = columns if width is None else max(1, min(columns, int(width / narrowest)))
    rows = -(-count // most)
    return rows, -(-count // rows)


def put_title(figure: "Figure", title: str) -> None:
    """Put a title above all panels; none when it is empty, or left to LaTeX."""
    if title and looking.current().title:
        room = max(20, int(figure.get_figwidth() / (0.082 * looking.factor())))
        figure.suptitle(textwrap.fill(title, room), fontsize=points(11))


def panel_title(axes: "Axes", text: str, alone: bool, size: float = 10.0, below: str = "") -> None:
    """Put a title above a panel, in lines that fit; above a note at its right where both have no room.

    alone: it is the figure's only panel, whose title LaTeX sets too    below: a smaller line under the title
    """
    if below:
        axes.set_title(below, loc="right", x=0, ha="left", fontsize=points(7.5), fontweight="normal")
    if alone and not looking.current().title:
        return
    if looking.current().width or below:
        letter, wide = 0.0085 * points(size), panel_width(axes)
        text = textwrap.fill(text, max(8, int(wide / letter)), break_long_words=False)
        notes = axes.get_title(loc="right").splitlines()
        own, others = (max(map(len, lines), default=0) for lines in (text.splitlines(), notes))
        if below or own * letter + others * 0.0085 * points(7) > wide:
            text += "\n" * math.ceil(len(notes) * 7 / size)
    axes.set_title(text, fontsize=points(size))


def panel_width(axes: "Axes") -> float:
    """Return about how wide a panel is, in inches, before the figure is laid out."""
    figure, grid = axes.figure, axes.get_gridspec()
    return figure.bbox.width / figure.dpi / (grid.ncols if grid else 1) - _BESIDE if figure else _USUAL


def _caption(figure: "Figure", caption: str, warnings: Iterable[str]) -> tuple[str, str]:
    """Return the text below the panels, warnings first, in lines that fit, and its colour."""
    room = max(30, int(figure.get_figwidth() / (0.062 * looking.factor())))
    alarms = [f"! {warning}" for warning in warnings]
    parts = filter(None, [*alarms, *caption.splitlines()])
    text = "\n".join(textwrap.fill(style.in_symbols(part), room, break_long_words=False) for part in parts)
    if looking.current().width:  # what is below the panels takes nothing from their height
        figure.set_figheight(figure.get_figheight() + points(8) / 60 * text.count("\n"))
    return text, style.WARNING if alarms else style.GREY


def note_below(figure: "Figure", caption: str, warnings: Iterable[str] = ()) -> None:
    """Put a caption below all panels of a figure without a legend."""
    text, colour = _caption(figure, caption, warnings)
    if text:
        figure.supxlabel(text, fontsize=points(8), color=colour)


def legend_below(
    figure: "Figure", handles: dict[str, Any], caption: str = "", warnings: Iterable[str] = ()
) -> None:
    """Put one legend for all panels below them, where it hides nothing, with the caption as its title."""
    text, colour = _caption(figure, caption, warnings)
    names = list(map(style.in_symbols, handles))
    longest = max(map(len, names), default=1)
    room = max(1, int(figure.get_figwidth() / (looking.factor() * (0.62 + 0.068 * longest))))
    rows = -(-len(handles) // room)
    if looking.current().width:
        figure.set_figheight(figure.get_figheight() + points(8.5) / 55 * (rows - 1))
    look: dict[str, Any] = {"loc": "outside lower center", "title_fontsize": points(8), "columnspacing": 1.6}
    columns = -(-len(handles) // rows) if rows else 1
    legend = figure.legend(list(handles.values()), names, ncols=columns, title=text, **look)
    legend.get_title().set(color=colour, multialignment="center")
