"""The panels of a figure, and their one legend."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omkl.figures.line_styles import LineStyle
from omkl.figures.style import LANDSCAPE, PAGE, current
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


def panels(
    count: int,
    height: float = 1.75,
    stack: int = 1,
    columns: int = 4,
    narrowest: float = 1.55,
    names: float = 0.0,
) -> tuple["MplFigure", "list[list[Axes]]"]:
    """Return a figure and its panels, ``stack`` of them one below the other for each of ``count``.

    height: of a panel in inches, lower in a narrow one    columns: at most    narrowest: inches of a panel
    names: inches of the names at the left of each row
    """
    from matplotlib.figure import Figure as MplFigure

    chosen = current().width
    natural = {1: 4.6, 2: PAGE, 3: PAGE}.get(count, PAGE if count <= 6 else LANDSCAPE)
    natural = max(natural, min(names + narrowest * min(count, columns), LANDSCAPE))
    width = chosen or natural
    most = max(1, min(columns if chosen or count > 6 else 3, int((width - names) / narrowest)))
    rows = -(-count // most)
    across = -(-count // rows)
    height = min(height, 0.35 + 0.85 * width / across)
    drawn = MplFigure(figsize=(width, (height + 0.14) * rows * stack + 0.1), layout="constrained")
    grid = drawn.subplots(rows * stack, across, squeeze=False)
    stacks = [list(grid[stack * row : stack * (row + 1), i]) for row in range(rows) for i in range(across)]
    for unused in stacks[count:]:
        for axes in unused:
            axes.remove()
    return drawn, stacks[:count]


def panels_per_row(drawn: "MplFigure") -> int:
    """Return how many panels are in a row of a figure."""
    grid = drawn.axes[0].get_gridspec()
    return grid.ncols if grid else 1


def panel_width(axes: "Axes") -> float:
    """Return the inches that a panel has before the figure is laid out, with its labels."""
    grid = axes.get_gridspec()
    return axes.figure.get_figwidth() / (grid.ncols if grid else 1)  # type: ignore[union-attr]


def is_leftmost(axes: "Axes") -> bool:
    """Whether a panel is the first of its row."""
    spec = axes.get_subplotspec()
    return spec is None or spec.is_first_col()


def panel_title(axes: "Axes", text: str, alone: bool = False) -> None:
    """Put a title above a panel, in lines that fit; alone: the only panel, whose title LaTeX sets too."""
    if alone and not current().title:
        return
    axes.set_title(textwrap.fill(in_symbols(text), max(10, int(14 * (panel_width(axes) - 0.3)))))


def draw_legend(drawn: "MplFigure", styles: Mapping[str, LineStyle], dots: bool = False) -> None:
    """Put one legend for all panels below them, where it hides nothing; dots: markers without lines."""
    from matplotlib.lines import Line2D

    if not styles:
        return
    handles = []
    for style in styles.values():
        line = style.properties() | {"markevery": None}
        if dots and not style.is_yardstick:
            line |= {"linestyle": "none", "marker": style.marker or "o", "markersize": 4.0}
        handles.append(Line2D([], [], **line))
    most = int((drawn.get_figwidth() - 0.5) / 0.061)
    names = [textwrap.fill(in_symbols(name), most, break_on_hyphens=False) for name in styles]
    columns = next(count for count in range(len(names), 0, -1) if count == 1 or _fits(names, count, drawn))
    rows = -(-len(names) // columns) + sum(name.count("\n") for name in names)
    drawn.set_figheight(drawn.get_figheight() + 0.1 + 0.165 * rows)
    place: dict[str, Any] = {
        "loc": "outside lower center",
        "columnspacing": 1.2,
        "borderaxespad": 0.1,
        "borderpad": 0.2,
    }
    drawn.legend(handles, names, ncols=columns, **place)


def _fits(names: Sequence[str], columns: int, drawn: "MplFigure") -> bool:
    """Whether a legend with this number of columns, the first ones longer by one, has room in the figure."""
    rows, longer = divmod(len(names), columns)
    starts = [rows * column + min(column, longer) for column in range(columns + 1)]
    longest = [max(map(len, names[start:stop])) for start, stop in pairwise(starts)]
    return sum(0.5 + 0.061 * n for n in longest) <= drawn.get_figwidth()
