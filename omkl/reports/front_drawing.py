"""Fronts of error and cost drawn by matplotlib: points, the front, names, and what lies beyond."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from omkl.reports import figure_layout as layout
from omkl.reports.figure_style import current, mark, points
from omkl.reports.figures import COLOURS, Figure, Lines, in_symbols
from omkl.reports.line_drawing import plain_log

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

_DECADES = 30.0  # between the least and the largest cost; then only powers of ten have numbers
_LEAST = 4  # learners of the least error that are named, too
_FAR = 2.0  # a learner is off the panel whose distance to the best is over this many times the median one
_FEW = 6  # learners up to which all are in the panel
_NARROWEST = 2.6  # inches of a panel with names
_SIZE = 6.5  # points on the screen, of a name
_DISTANCES = (5.0, 9.0, 14.0, 20.0, 28.0, 38.0, 50.0)  # points from a learner to its name
_LEADER = 9.0  # points from which on a line joins them
_ANGLES = np.arange(16) * (np.pi / 8) + np.pi / 8
# What a place of a name costs: a name that it would hide, a point, a piece of the front, and each point away.
_HIDDEN, _COVERED, _CROSSED, _AWAY = 1000.0, 12.0, 6.0, 0.25


class Named(NamedTuple):
    """A name to be placed at a point (data); on_front: in black."""

    text: str
    x: float
    y: float
    on_front: bool


def draw_fronts(figure: Figure) -> "Drawn":
    """Draw points and their front; what is far from the best is at the edge, or counted in a corner."""
    count = len(figure.panels)
    rows, wide = layout.grid_shape(count, 3, _NARROWEST)
    chosen = current().width
    high = 3.1 if chosen is None else min(3.1, 0.5 + 0.55 * chosen / wide)
    drawn = layout.new_figure(0.3 + 4.0 * wide, 0.6 + high * rows)
    every = layout.subplots(drawn, count, rows, wide)
    waiting = []
    for number, (axes, panel) in enumerate(zip(every, figure.panels, strict=True)):
        view = cast(Lines, panel.views[0])
        waiting.append(_panel(axes, view))
        layout.panel_title(axes, panel.name, count == 1)
        axes.set_xlabel(view.x_label)
        if number % wide == 0:
            axes.set_ylabel(view.label)
    layout.note_below(drawn, figure.text("", ["named: these and the best, where there is room"]))
    layout.put_title(drawn, figure.title)
    drawn.draw_without_rendering()  # now each panel has its place
    for axes, names in zip(every, waiting, strict=True):
        _place(axes, names)
    return drawn


def _panel(axes: "Axes", view: Lines) -> list[Named]:
    """Draw the points of a panel, and return the names that it is to have."""
    joined, *every = view.lines
    cost, error = (np.array([getattr(line, name)[0] for line in every]) for name in ("x", "mean"))
    sign = view.sign  # where more is better, the axis is upside down
    at = {pair: place for place, pair in reversed([*enumerate(zip(cost, error, strict=True))])}
    front = [at[pair] for pair in zip(joined.x, joined.mean, strict=True)]
    best = (sign * error).min()
    away = sign * error - best
    reach = float(away.max() if len(away) <= _FEW else _FAR * np.median(away))
    highest = best + max(reach, 0.02 * abs(best))
    margin = 0.06 * (highest - best)
    limits = current().ylim or (sign * (best - 3 * margin), sign * (highest + margin))
    axes.set_ylim(*(sorted(limits)[:: int(sign)]))
    near = (min(limits) <= error) & (error <= max(limits))
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": mark(3.6), "markeredgewidth": 0}
    axes.plot(cost[near], error[near], color="#9a9a9a", **look)
    look = {"color": COLOURS[0], "marker": "o", "markersize": mark(4.6), "linewidth": 1.0}
    axes.plot(joined.x, joined.mean, drawstyle="steps-post", **look)
    axes.set_xscale("log")
    far = [place for place in front if not near[place] and sign * error[place] > sign * axes.get_ylim()[0]]
    seen = cost[near | np.isin(np.arange(len(cost)), far)]
    spread = max(seen.max() / seen.min(), 2.0) if seen.size else 2.0
    if seen.size:
        axes.set_xlim(seen.min() / spread**0.06, seen.max() * spread**0.06)
    plain_log(axes.xaxis)
    if spread > _DECADES:
        axes.xaxis.set_minor_formatter("")
    top = axes.get_ylim()[1]
    for place in far:  # of the front: at the edge, with its value
        look = {"marker": "^", "color": COLOURS[0], "markersize": mark(5.0), "clip_on": False}
        axes.plot(cost[place], top, **look)
    if far:
        layout.mark_broken(axes)
    few = [place for place in np.argsort(sign * error, kind="stable")[:_LEAST] if place not in front]
    names = [
        Named(in_symbols(every[place].name), float(cost[place]), float(error[place]), place in front)
        for place in [*front[-1:], *front[:-1], *few]
        if near[place]
    ]
    for place in far:
        value = f"{error[place]:.{view.digits}f}"
        names.insert(0, Named(f"{in_symbols(every[place].name)} {value} ↑", float(cost[place]), top, True))
    if others := int((~near).sum()) - len(far):
        look = {"ha": "right", "va": "top", "color": layout.GREY, "fontsize": points(7)}
        text = (
            f"{others} {'above' if sign > 0 else 'below'}" if current().ylim is None else f"{others} beyond"
        )
        axes.text(0.99, 0.99, text, transform=axes.transAxes, **look)
    return names


def _place(axes: "Axes", names: Sequence[Named]) -> None:
    """Write names beside their points, where each hides least, with a line where that is not close.

    A name that would hide another one is left out.
    """
    from matplotlib.text import Text

    panel = axes.get_window_extent()
    pixels = axes.figure.dpi / 72
    edge = np.array([panel.x0, panel.y0, panel.x1, panel.y1])
    dots = np.concatenate([axes.transData.transform(line.get_xydata()) for line in axes.get_lines()[:2]])
    front = axes.get_lines()[1]
    corners = axes.transData.transform(_stairs(np.asarray(front.get_xydata(), dtype=float)))
    pieces = np.concatenate([np.linspace(a, b, 40) for a, b in itertools.pairwise(corners)] or [dots])
    taken = [_box(text.get_window_extent()) for text in axes.texts]
    for name in names:
        look: dict[str, Any] = {"ha": "center", "va": "center", "annotation_clip": False}
        look |= {"fontsize": points(_SIZE), "color": "black" if name.on_front else layout.GREY}
        look["arrowprops"] = {"arrowstyle": "-", "linewidth": 0.4, "color": "#777777", "shrinkA": 0.0}
        text = axes.annotate(name.text, (name.x, name.y), (0.0, 0.0), textcoords="offset points", **look)
        text.set_in_layout(False)
        size = _box(Text.get_window_extent(text))  # without its leader
        wide, tall = size[2] - size[0], size[3] - size[1]
        at = axes.transData.transform((name.x, name.y))
        found: tuple[float, np.ndarray, float, np.ndarray] | None = None
        for distance in _DISTANCES:
            for turn, angle in enumerate(_ANGLES):
                way = np.array([np.cos(angle), np.sin(angle)])
                offset = way * distance * pixels + way * np.array([wide, tall]) / 2
                box = np.concatenate([at + offset - (wide / 2, tall / 2), at + offset + (wide / 2, tall / 2)])
                if (box[:2] < edge[:2]).any() or (box[2:] > edge[2:]).any():
                    continue
                hidden = sum(_meet(box, other) for other in taken)
                cost = (
                    _HIDDEN * hidden + _COVERED * _inside(dots, box) + _CROSSED * min(1, _inside(pieces, box))
                )
                cost += _AWAY * distance + 0.01 * turn
                if found is None or cost < found[0]:
                    found = (cost, box, distance, offset)
        if found is None or found[0] >= _HIDDEN:
            text.remove()
            continue
        cost, box, distance, offset = found
        taken.append(box)
        text.set_position(tuple(offset / pixels))
        if distance < _LEADER and text.arrow_patch is not None:
            text.arrow_patch.set_visible(False)


def _stairs(xy: np.ndarray) -> np.ndarray:
    """Return the corners of steps through points (n, 2): level up to the next one, then up or down to it."""
    between = np.column_stack([xy[1:, 0], xy[:-1, 1]])
    corners = np.empty((len(xy) + len(between), 2))
    corners[::2], corners[1::2] = xy, between
    return corners


def _box(extent: Any) -> np.ndarray:
    return np.array([extent.x0, extent.y0, extent.x1, extent.y1])


def _meet(one: np.ndarray, other: np.ndarray) -> bool:
    return bool((one[:2] < other[2:]).all() and (other[:2] < one[2:]).all())


def _inside(spots: np.ndarray, box: np.ndarray) -> int:
    """Return how many of the places (n, 2) are in a box, with a margin of two pixels."""
    return int(((spots > box[:2] - 2) & (spots < box[2:] + 2)).all(axis=1).sum())
