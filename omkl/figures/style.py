"""How figures look: what a user may choose, colours and sizes."""

import contextlib
import math
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, get_args

from omkl.errors import UserError

KINDS = ("curve", "confusion", "calibration", "sweep", "times", "ranks")  # of figures of the user's own runs
Style = Literal["screen", "paper"]
STYLES: tuple[str, ...] = get_args(Style)
UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}  # in inches; the point is TeX's
NARROWEST, WIDEST = 2.0, 40.0  # inches
_FORM = re.compile(r"([0-9]{1,6}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})\s*(" + "|".join(UNITS) + ")")
COLUMN, PAGE, LANDSCAPE = 3.3, 6.9, 10.4  # inches: a column and a page of print, a page on its side
MOST_PANELS, MOST_LINES = 12, 10  # of a figure, and of a panel
SMALL = 7.0  # points, of what is beside the panels; all other text has 8
GREY = "#4d4d4d"


@dataclass(frozen=True)
class FigureStyle:
    """style: ``paper`` has serifs    width: in inches; None: as the panels need

    title: False leaves out the figure's title, a panel's where it is the only one, and the line below: LaTeX
    and pages have a caption
    ylim: of the y axes of curves, sweeps over one number and fronts; None: as their lines need
    """

    style: Style = "screen"
    width: float | None = None
    title: bool = True
    ylim: tuple[float, float] | None = None

    def words(self) -> str:
        """Return the options of the command line that give this style, with a space before each."""
        width = f" --width {self.width:.6g}in" if self.width else ""
        style = f" --style {self.style}" if self.style != "screen" else ""
        ylim = f" --ylim {self.ylim[0]:g}:{self.ylim[1]:g}" if self.ylim else ""
        return width + style + ("" if self.title else " --no-title") + ylim


_CHOSEN: ContextVar[FigureStyle] = ContextVar("style", default=FigureStyle())  # noqa: B039 (a frozen value)


def current() -> FigureStyle:
    """Return the style of the figures that are drawn now."""
    return _CHOSEN.get()


@contextlib.contextmanager
def in_style(style: FigureStyle) -> Iterator[None]:
    """Draw every figure inside with this style."""
    token = _CHOSEN.set(style)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def inches(text: str) -> float:
    """Return a width such as ``3.3in``, ``8.4cm``, ``84mm`` or ``240pt`` in inches. Raises UserError."""
    match = _FORM.fullmatch(text.strip())
    if not match:
        raise UserError(f"--width {text!r}: a number and a unit ({', '.join(UNITS)}) are needed, as in 3.3in")
    width = float(match[1]) * UNITS[match[2]]
    if not NARROWEST <= width <= WIDEST:
        raise UserError(
            f"--width {text}: must be from {NARROWEST:g} to {WIDEST:g} inches, got {width:.3g} inches"
        )
    return width


def y_limits(text: str) -> tuple[float, float]:
    """Return the ends of an axis such as ``10:30``. Raises UserError."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UserError(f"--ylim {text!r}: two numbers are needed, the smaller first, as in 10:30")
    return low, high
