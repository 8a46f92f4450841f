"""The critical-difference diagram (Demsar, 2006, Figure 1): average ranks, and bars over equals."""

import textwrap
from typing import TYPE_CHECKING

from omkl.reports import style
from omkl.reports.captions import some
from omkl.reports.ranks import MOST_REASONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from omkl.reports.ranks import Ranks

_ROW = 0.21  # inches, of a label; everything below the scale is measured in such rows
_BAR = 0.42  # rows between bars
_SCALE = 4.4  # inches


def draw_ranks(ranks: "Ranks", title: str = "") -> "Figure":
    """Draw the ranks on a scale, best at the left; the labels are in rows at both sides.

    A thick bar joins learners that do not differ significantly. The better half is at the left.
    """
    names = list(ranks.average)
    # In the order of the table, so that colours are those of the learners' curves.
    learners = [name for name in ranks.each if name not in ranks.yardsticks]
    styles = style.line_styles(learners, list(ranks.yardsticks))
    half = (len(names) + 1) // 2
    bars = len(ranks.groups)
    deep = 0.9 + _BAR * bars  # rows from the scale to the first label
    rows = 3.2 + deep + half
    longest = max(map(len, names)) + 7
    width = _SCALE + 2 * (0.3 + 0.068 * longest)
    caption = _wrapped(ranks.caption(), width)
    if ranks.left_out:
        caption += _wrapped(f"left out: {some(ranks.left_out, '; ', MOST_REASONS)}", width)
    with style.looks():
        figure = style.new_figure(width, _ROW * rows + 0.17 * len(caption) + (0.4 if title else 0.15))
        axes = figure.subplots()
        axes.set_axis_off()
        k = len(names)
        axes.set_xlim(1, k)
        axes.set_ylim(deep + half, -3.2)
        _scale(axes, k)
        _critical(axes, ranks.cd, k)
        for number, name in enumerate(names):
            left = number < half
            row = deep + (number if left else len(names) - 1 - number)
            _leg(axes, ranks.average[name], name, row, left, k, styles[name])
        _bars(axes, ranks)
        figure.supxlabel("\n".join(caption), fontsize=7.5, color=style.GREY, x=0.5)
        style.put_title(figure, title)
    return figure


def _wrapped(text: str, width: float) -> list[str]:
    """Break a line between its parts, and parts that are longer than a line between words."""
    room = int(width / 0.06)
    lines: list[str] = []
    for part in text.split(" · "):
        if lines and len(lines[-1]) + 3 + len(part) <= room:
            lines[-1] += f" · {part}"
        else:
            lines += textwrap.wrap(part, room, break_on_hyphens=False)
    return lines


def _stroke(axes: "Axes", x: list[float], y: list[float]) -> None:
    axes.plot(x, y, color="black", linewidth=1.0, clip_on=False)


def _scale(axes: "Axes", k: int) -> None:
    _stroke(axes, [1, k], [0, 0])
    for rank in range(1, k + 1):
        _stroke(axes, [rank, rank], [0, -0.35])
        axes.text(rank, -0.5, str(rank), ha="center", va="bottom", fontsize=8)


def _critical(axes: "Axes", cd: float, k: int) -> None:
    """Draw the critical difference above the scale, from the best rank; with an arrow where it is longer."""
    end = min(1 + cd, k)
    _stroke(axes, [1, end], [-2.0, -2.0])
    for place in (1, end) if 1 + cd <= k else (1,):
        _stroke(axes, [place, place], [-2.2, -1.8])
    arrow = " →" if 1 + cd > k else ""
    axes.text((1 + end) / 2, -2.3, f"CD = {cd:.2f}{arrow}", ha="center", va="bottom", fontsize=8)


def _leg(axes: "Axes", rank: float, name: str, row: float, left: bool, k: int, look: dict) -> None:
    side = 1 - 0.02 * (k - 1) if left else k + 0.02 * (k - 1)
    look = {**look, "linewidth": 1.2, "clip_on": False, "solid_joinstyle": "miter", "markevery": [2]}
    axes.plot([rank, rank, side], [0, row, row], **look)
    text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
    pad = -0.012 * (k - 1) if left else 0.012 * (k - 1)
    axes.text(side + pad, row, text, ha="right" if left else "left", va="center", fontsize=8.5)


def _bars(axes: "Axes", ranks: "Ranks") -> None:
    for number, group in enumerate(ranks.groups):
        y = 0.45 + _BAR * number
        out = 0.006 * (len(ranks.average) - 1)
        ends = [ranks.average[group[0]] - out, ranks.average[group[-1]] + out]
        axes.plot(ends, [y, y], color="#222222", linewidth=3.5, solid_capstyle="butt", zorder=4)
