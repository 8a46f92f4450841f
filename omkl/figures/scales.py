"""The axes of panels: where they end, what is beyond them, and the numbers at their ticks."""

import math
import operator
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omkl.figures.panel_grid import panel_width
from omkl.figures.style import SMALL
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LETTER, LINE = 0.062, 0.115  # inches: the width of a letter of a tick, and the height of a small line


def axis_limits(
    seen: Iterable[float], levels: Mapping[str, float] = {}, widen: float = 1.5
) -> tuple[tuple[float, float], list[str]]:
    """Return the ends of an axis of a measure, and the levels beyond it.

    seen: values that must be in view    levels: of yardsticks; one better than all else is always seen, one
    that is worse where the axis stays within ``widen`` times its length. The axis begins at 0 or near the
    least value, and below 0 only where a value is.
    """
    values = [value for value in seen if math.isfinite(value)] or list(levels.values()) or [0.0, 1.0]
    low, high = min([*values, *levels.values()]), max(values)
    span = max(high - low, 0.02 * abs(high), 1e-9)
    high = max([high, *(value for value in levels.values() if value <= high + span * (widen - 1))])
    margin = 0.06 * max(high - low, span)
    bottom = low - margin if low < 0 else max(0.0, low - margin)
    if 0 <= bottom < 0.2 * high:
        bottom = 0.0
    return (bottom, high + margin), [name for name, value in levels.items() if value > high]


def limit_y(
    axes: "Axes", seen: Iterable[float], levels: Mapping[str, float], ylim: tuple[float, float] | None
) -> tuple[float, float]:
    """Set the ends of a y axis and return them: the user's, ``ylim``, or those of `axis_limits`.

    Levels beyond them are named in a corner, and not in the legend.
    """
    (low, high), out = axis_limits(seen, levels)
    if out:  # their names stand above the lines
        high += (high - low) * LINE * len(out) / max(_inches(axes.yaxis) - LINE * len(out), 0.5)
    ends = ylim or (low, high)
    out = [line for line, level in levels.items() if level > ends[1]]
    axes.set_ylim(*ends)
    beyond(axes, {line: levels[line] for line in out})
    for drawn in axes.get_lines():
        if drawn.get_label() in out:
            drawn.set_label(f"_{drawn.get_label()}")
    return ends


def beyond(axes: "Axes", values: Mapping[str, float], across: bool = False) -> None:
    """Name in a corner of a panel what is beyond the end of its y axis (x axis: across), with the values."""
    arrow = "→" if across else "↑"
    texts = [f"{in_symbols(name)} {short_number(value)} {arrow}" for name, value in values.items()]
    if texts:
        corner: dict[str, Any] = {
            "ha": "right",
            "va": "top",
            "fontsize": 6.5,
            "color": "#555555",
            "zorder": 6,
        }
        corner["bbox"] = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.8}
        axes.text(0.995, 0.995, "\n".join(texts), transform=axes.transAxes, **corner)


# -------------------------------------------------------------------- numbers


def short_number(value: float) -> str:
    """Return a number of a level: one decimal from 1 on, two digits below."""
    return f"{value:,.1f}" if abs(value) >= 1 else f"{value:.2g}"


def plain_number(value: float) -> str:
    """Return a number of an axis without an exponent: ``0.6``, ``10,000``."""
    if 0 < abs(value) < 1e-6:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6f}".rstrip("0").rstrip(".")


def _is_x(axis: "Axis") -> bool:
    return axis is axis.axes.xaxis


def _inches(axis: "Axis") -> float:
    """Return the length of an axis in inches."""
    box = axis.axes.bbox
    return (box.width if _is_x(axis) else box.height) / axis.axes.figure.dpi


def plain_log(axis: "Axis") -> None:
    """Label an axis of a log scale with plain numbers: 0.6 and 10,000, not 6e-01 and 10^4."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            numbers = _numbers_of_log(axis)
            is_shown = any(map(partial(math.isclose, x), numbers)) if numbers else super().__call__(x, pos)
            return plain_number(x) if is_shown else ""

    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(minor_thresholds=(1.0, 0.35)))
    axis.set_tick_params(which="minor", labelsize=SMALL, pad=2.5)  # in a line with those of the major ones


def _numbers_of_log(axis: "Axis") -> list[float]:
    """Return as many round numbers as have room on a log axis; none where it is too short for two."""
    low, high = sorted(axis.get_view_interval())
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inches = _inches(axis) / math.log10(high / low)  # of a decade
    for digits in (range(1, 10), (1, 2, 5), (1, 3), (1,)):
        numbers = [digit * 10.0**power for power in decades for digit in digits]
        numbers = [number for number in numbers if low <= number <= high]
        letters = [len(plain_number(number)) if _is_x(axis) else 1.0 for number in numbers]
        room = (inches * math.log10(after / number) for number, after in pairwise(numbers))
        needed = (0.09 + LETTER * (one + other) / 2 for one, other in pairwise(letters))
        if len(numbers) > 1 and all(map(operator.ge, room, needed)):
            return numbers
    return []


def thousands(axis: "Axis", most: int = 4) -> None:
    """Put few ticks on an axis of counts, with commas; an x axis has its limits, and only ticks with room."""
    from matplotlib.ticker import MaxNLocator

    if _is_x(axis):
        letters = len(f"{axis.get_view_interval()[1]:,.0f}") + 1
        most = max(1, min(most, int((panel_width(axis.axes) - 0.4) / (LETTER * letters))))
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_major_formatter("{x:,.0f}")
