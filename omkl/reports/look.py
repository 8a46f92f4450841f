"""What a user may choose of a figure's look: its style, its width, whether it has a title."""

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, get_args

from omkl.errors import UserError

Style = Literal["screen", "paper"]
STYLES: tuple[str, ...] = get_args(Style)
UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}  # in inches; the point is TeX's
NARROWEST, WIDEST = 2.0, 40.0  # inches
_FORM = re.compile(r"([0-9]{1,6}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})\s*(" + "|".join(UNITS) + ")")
BASE = 9.0  # points, the text of an axis on the screen
_SIZES: dict[str, float] = {"screen": BASE, "paper": 8.0}
LEAST = 6.0  # points, the smallest text
# Serifs go with the text of a paper; matplotlib brings this font along, so that bytes do not depend on the
# machine. 300 dots per inch is what publishers want at least.
_PAPER: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "lines.linewidth": 1.2,
    "savefig.dpi": 300,
}


@dataclass(frozen=True)
class Look:
    """style: ``paper`` has serifs, smaller text and finer lines    width: in inches; None: as the panels need

    title: False leaves out the figure's title, and a panel's where it is the only one: LaTeX has a caption
    """

    style: Style = "screen"
    width: float | None = None
    title: bool = True

    def words(self) -> str:
        """Return the options of the command line that give this look, with a space before each."""
        width = f" --width {self.width:.6g}in" if self.width else ""
        style = f" --style {self.style}" if self.style != "screen" else ""
        return width + style + ("" if self.title else " --no-title")


_CHOSEN: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039 (a frozen value)


def current() -> Look:
    """Return the look of the figures that are drawn now."""
    return _CHOSEN.get()


@contextlib.contextmanager
def chosen(look: Look) -> Iterator[None]:
    """Draw every figure inside with this look."""
    token = _CHOSEN.set(look)
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


def factor() -> float:
    """Return the size of text over that on the screen."""
    return _SIZES[current().style] / BASE


def mark(size: float) -> float:
    """Return the size of a marker, in points, that has ``size`` on the screen."""
    return size if current().style == "screen" else 0.7 * size


def points(size: float) -> float:
    """Return the size of a text, in points, that has ``size`` on the screen."""
    return max(LEAST, size * factor())


def settings(rc: dict[str, Any]) -> Any:
    """Return matplotlib's settings ``rc`` of the screen as those of the current look."""
    sizes = {
        name: points(value)
        for name, value in rc.items()
        if name.endswith("size") and isinstance(value, float)
    }
    return rc | sizes | (_PAPER if current().style == "paper" else {})
