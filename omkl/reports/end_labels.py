"""The names of lines where these end, in place of a legend that would be too long."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports import style
from omkl.reports.look import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_SIZE = 7.5  # points on the screen
_SPACING = 1.18  # of rows, in heights of the text
_LEADER = 0.16  # inches from the panel to a name

Ends = Mapping[str, tuple[float, float]]


def label_ends(figure: "Figure", ends: Sequence[tuple["Axes", Ends]], styles: Mapping[str, Any]) -> None:
    """Name the lines at the right of each panel, next to their ends, moved apart where they are close.

    ends: of each panel, the end of each line by name, as shares (x, y) of the panel    styles: of the lines

    A figure whose panels are too low for their names becomes higher.
    """
    size = points(_SIZE)
    gap = _SPACING * size / 72
    labels = [
        [(_label(axes, name, end, styles[name], size), end[1]) for name, end in sorted(own.items())]
        for axes, own in ends
    ]
    height, width = _panel_size(figure, ends)
    low = max((len(own) * gap - height for _, own in ends), default=0.0)
    if low > 0:
        rows = max(grid.nrows for axes, _ in ends if (grid := axes.get_gridspec()))
        figure.set_figheight(figure.get_figheight() + rows * low)
        height, width = _panel_size(figure, ends)
    for own in labels:
        places = spread([y for _, y in own], gap / height)
        for (label, _), y in zip(own, places, strict=True):
            label.set_position((1 + _LEADER / width, y))


def spread(places: Sequence[float], gap: float) -> list[float]:
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


def _label(
    axes: "Axes", name: str, end: tuple[float, float], look: Mapping[str, Any], size: float
) -> "Annotation":
    leader = {"arrowstyle": "-", "color": look["color"], "linewidth": 0.8, "shrinkA": 1.0, "shrinkB": 0.0}
    leader |= {"linestyle": look.get("linestyle", "-"), "relpos": (0.0, 0.5)}
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction", "ha": "left"}
    place |= {"va": "center", "annotation_clip": False, "fontsize": size, "arrowprops": leader}
    return axes.annotate(style.in_symbols(name), end, (1.06, end[1]), **place)


def _panel_size(figure: "Figure", ends: Sequence[tuple["Axes", Ends]]) -> tuple[float, float]:
    """Return height and width in inches of the lowest and the narrowest panel, once laid out."""
    figure.draw_without_rendering()
    boxes = [axes.get_window_extent() for axes, _ in ends]
    return min(box.height for box in boxes) / figure.dpi, min(box.width for box in boxes) / figure.dpi
