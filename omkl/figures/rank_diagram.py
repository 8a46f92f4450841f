"""Average ranks over data sets: the critical-difference diagram of Demsar (2006), where it says something."""

from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.figures import style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.reports import captions
from omkl.reports.ranks import MOST_REASONS, AverageRanks
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


_ROW = 0.17  # inches, of a label in the diagram; everything below the scale is measured in such rows
_BETWEEN = 0.45  # rows between bars


def rank_figure(averaged: AverageRanks, *, name: str = "ranks", **more: Any) -> Figure:
    """Return the diagram of average ranks, of the best of many learners; or the sentence in its place."""
    # In the order of the table, so that colours are those of the learners' curves.
    learners = [line for line in averaged.each if line in averaged.drawn and line not in averaged.yardsticks]
    left_out = captions.some(averaged.left_out, "; ", MOST_REASONS)
    fewer = f"drawn: the {len(averaged.drawn)} best; the table next to it compares all"
    text = join_notes(
        averaged.caption(),
        f"left out: {left_out}" if left_out else "",
        fewer if len(averaged.drawn) < len(averaged.average) else "",
        "bars join learners whose ranks do not differ significantly" if averaged.drawn_groups else "",
    )
    styles = line_styles(learners, [line for line in averaged.yardsticks if line in averaged.drawn])
    nothing = "" if averaged.tells and averaged.cd < _last_rank(averaged) - 1 else averaged.sentence()
    make = (lambda: _sentence(nothing)) if nothing else (lambda: _diagram(averaged, styles))
    return Figure(name, make, note="" if nothing else text, ranks=averaged, instead=nothing, **more)


def _last_rank(averaged: AverageRanks) -> int:
    """Return the end of the diagram's scale, which begins at 1."""
    return max(len(averaged.drawn), int(np.ceil(max(averaged.drawn.values()))))


def _sentence(text: str) -> "MplFigure":
    """Draw the sentence that takes the diagram's place, in a notebook."""
    import textwrap

    from matplotlib.figure import Figure as MplFigure

    width = style.current().width or style.PAGE
    lines = textwrap.fill(text, int(15 * width))
    drawn = MplFigure(figsize=(width, 0.3 + 0.15 * (1 + lines.count("\n"))), layout="constrained")
    drawn.text(0.01, 0.5, lines, va="center", fontsize=8)
    return drawn


def _diagram(averaged: AverageRanks, styles: dict[str, LineStyle]) -> "MplFigure":
    """Draw a scale, best at the left, with labels; a thick bar joins learners that do not differ.

    The better half is at the left.
    """
    from matplotlib.figure import Figure as MplFigure

    names, groups = list(averaged.drawn), averaged.drawn_groups
    half = (len(names) + 1) // 2
    k = _last_rank(averaged)
    deep = 0.9 + _BETWEEN * len(groups)  # rows from the scale to the first label
    width = style.current().width or style.PAGE
    drawn = MplFigure(figsize=(width, _ROW * (3.6 + deep + half)), layout="constrained")
    axes = drawn.subplots()
    axes.set_axis_off()
    axes.set_xlim(1, k)
    axes.set_ylim(deep + half, -3.4)
    beside = 2 * (0.2 + 0.058 * (max(map(len, names)) + 6))
    _scale(axes, averaged.cd, k, max(1, int(np.ceil(0.16 * (k - 1) / max(width - beside, 0.5)))))
    for number, name in enumerate(names):
        row = deep + (number if number < half else len(names) - 1 - number)
        _leg(axes, averaged.average[name], name, row, number < half, k, styles[name].properties())
    for number, group in enumerate(groups):
        y, out = 0.45 + _BETWEEN * number, 0.006 * (k - 1)
        ends = [averaged.average[group[0]] - out, averaged.average[group[-1]] + out]
        axes.plot(ends, [y, y], color="#222222", linewidth=3.0, solid_capstyle="butt", zorder=5)
    return drawn


def _scale(axes: "Axes", cd: float, k: int, step: int) -> None:
    """Draw the scale, and above it the critical difference; step: between the ranks that have a number."""

    def stroke(x: list[float], y: list[float]) -> None:
        axes.plot(x, y, color="black", linewidth=0.8, clip_on=False)

    stroke([1, k], [0, 0])
    for rank in range(1, k + 1):
        stroke([rank, rank], [0, -0.35])
        axes.text(rank, -0.5, "" if (rank - 1) % step else str(rank), ha="center", va="bottom")
    end = min(1 + cd, k)
    stroke([1, end], [-2.0, -2.0])
    for place in (1, end):
        stroke([place, place], [-2.2, -1.8])
    axes.text((1 + end) / 2, -2.2, f"CD = {cd:.2f}", ha="center", va="bottom")


def _leg(axes: "Axes", rank: float, name: str, row: float, left: bool, k: int, line: dict) -> None:
    side = 1 - 0.02 * (k - 1) if left else k + 0.02 * (k - 1)
    line = {**line, "linewidth": 1.0, "clip_on": False, "solid_joinstyle": "miter", "markevery": [2]}
    axes.plot([rank, rank, side], [0, row, row], **line)
    name = in_symbols(name)
    text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
    place: dict[str, Any] = {"ha": "right" if left else "left", "va": "center", "annotation_clip": False}
    axes.annotate(text, (side, row), (-5 if left else 5, 0), textcoords="offset points", **place)
