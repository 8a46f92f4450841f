"""The colours, markers and dashes of learners."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Okabe and Ito (2008), which colour-blind readers can distinguish; without their yellow, too pale for a line.
# The last two are ours. Markers tell lines apart in grey, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A", "#7A3E9D")
MARKERS = "os^DvPX*"  # a count without a common divisor with that of the colours
GREYS = ("#404040", "#6e6e6e", "#8c8c8c")
YARDSTICK_DASHES = ((6, 2), (3, 1.5), (1.2, 1.2))


@dataclass(frozen=True)
class LineStyle:
    """The style of a line, of its dots and of its bars.

    dashes: lengths of strokes and gaps in line widths, none of a solid line    marker: as matplotlib names it
    number: its place among the learners
    """

    colour: str
    dashes: tuple[float, ...] = ()
    marker: str = ""
    number: int = 0
    is_yardstick: bool = False

    def properties(self) -> dict[str, Any]:
        """Return the style in matplotlib's words."""
        line: dict[str, Any] = {
            "color": self.colour,
            "linestyle": (0, self.dashes) if self.dashes else "-",
        }
        if self.is_yardstick:
            return line | {"linewidth": 1.0, "zorder": 2}
        line["zorder"] = 4 - self.number / 10000  # the first is drawn over the others
        if self.marker:  # the places are shares of the panel's diagonal
            where = (0.03 + 0.3 * (0.618 * self.number % 1), 0.3)
            line |= {"marker": self.marker, "markersize": 3.2, "markeredgewidth": 0, "markevery": where}
        return line


def line_styles(
    names: Iterable[str], yardsticks: Iterable[str] = (), palette: Iterable[str] = ()
) -> dict[str, LineStyle]:
    """Return the styles by name: learners in colours with markers, yardsticks in dashed greys.

    No two have the same colour and stroke: each round through the colours has one dot more between its
    dashes. A single learner has no marker. palette: names whose colours come first, drawn or not, so that a
    learner keeps its colour.
    """
    names = list(names)
    places = {name: number for number, name in enumerate(dict.fromkeys([*palette, *names]))}
    styles = {}
    for name in names:
        turn, colour = divmod(number := places[name], len(COLOURS))
        dashes = (6, 1.2) + (1.2, 1.2) * turn if turn else ()
        marker = MARKERS[number % len(MARKERS)] if len(names) > 1 else ""
        styles[name] = LineStyle(COLOURS[colour], dashes, marker, number)
    for number, name in enumerate(yardsticks):
        turn, which = divmod(number, len(GREYS))
        dashes = YARDSTICK_DASHES[which] + (1.2, 2.4) * turn
        styles[name] = LineStyle(GREYS[which], dashes, number=number, is_yardstick=True)
    return styles
