"""How printed figures look: what a user may choose (style, width, title), sizes of text, and their files."""

import contextlib
import io
import math
import os
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from omkl import __version__
from omkl.errors import UserError, path_error
from omkl.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("curve", "confusion", "sweep", "times", "ranks")  # of figures of the user's own runs
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
ENDINGS = (".png", ".pdf", ".svg")
_OTHERS = (".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".webp", ".bmp", ".eps", ".ps")
_RC: Any = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.parse_math": False,  # a $ in the name of a data set is a $
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.5,
    "pdf.fonttype": 42,  # text stays text: editable, searchable
    "svg.fonttype": "none",
    "svg.hashsalt": "omkl",
    "savefig.dpi": 200,
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
}


@dataclass(frozen=True)
class FigureStyle:
    """style: ``paper`` has serifs, smaller text and finer lines    width: in inches; None: as the panels need

    title: False leaves out the figure's title, and a panel's where it is the only one: LaTeX has a caption
    ylim: of the y axes of curves, sweeps over one number and fronts; None: as their lines need
    """

    style: Style = "screen"
    width: float | None = None
    title: bool = True
    ylim: tuple[float, float] | None = None

    def words(self) -> str:
        """Return the options of the command line that give this look, with a space before each."""
        width = f" --width {self.width:.6g}in" if self.width else ""
        style = f" --style {self.style}" if self.style != "screen" else ""
        ylim = f" --ylim {self.ylim[0]:g}:{self.ylim[1]:g}" if self.ylim else ""
        return width + style + ("" if self.title else " --no-title") + ylim


_CHOSEN: ContextVar[FigureStyle] = ContextVar("look", default=FigureStyle())  # noqa: B039 (a frozen value)


def current() -> FigureStyle:
    """Return the look of the figures that are drawn now."""
    return _CHOSEN.get()


@contextlib.contextmanager
def in_style(look: FigureStyle) -> Iterator[None]:
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


def y_limits(text: str) -> tuple[float, float]:
    """Return the ends of an axis such as ``10:30``. Raises UserError."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UserError(f"--ylim {text!r}: two numbers are needed, the smaller first, as in 10:30")
    return low, high


def factor() -> float:
    """Return the size of text over that on the screen."""
    return _SIZES[current().style] / BASE


def mark(size: float) -> float:
    """Return the size of a marker, in points, that has ``size`` on the screen."""
    return size if current().style == "screen" else 0.7 * size


def points(size: float) -> float:
    """Return the size of a text, in points, that has ``size`` on the screen."""
    return max(LEAST, size * factor())


def rc_settings(rc: dict[str, Any]) -> Any:
    """Return matplotlib's settings ``rc`` of the screen as those of the current look."""
    sizes = {
        name: points(value)
        for name, value in rc.items()
        if name.endswith("size") and isinstance(value, float)
    }
    return rc | sizes | (_PAPER if current().style == "paper" else {})


@contextlib.contextmanager
def looks() -> Iterator[None]:
    """Draw what is inside with our looks, whatever the user's matplotlibrc; restores it after."""
    matplotlib = _imported()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(rc_settings(_RC))
        yield


def _imported() -> Any:
    """Return matplotlib, whatever backend MPLBACKEND names: figures are only saved here, which needs none.

    A notebook exports its own backend to the commands that it runs. Where that package is missing, importing
    matplotlib would fail.
    """
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = backend  # as importing it would have done
    return matplotlib


def as_png(figure: "Figure", dpi: int = 90) -> bytes:
    """Return a figure as a PNG for a screen."""
    file = io.BytesIO()
    with looks():
        figure.savefig(file, format="png", dpi=dpi)
    return file.getvalue()


def write_figure(figure: "Figure", out: str | Path, name: str, title: str, command: str) -> list[Path]:
    """Write a figure and return its files: a PNG and a PDF, or just the one format that ``out`` ends in.

    out: a file, or a folder (it exists, or ends in a slash) in which the file has this name. The command is
    written to the PNG's ``Description`` and the PDF's ``Subject``. No time is written: the same figure gives
    the same bytes. Raises UserError for an ending such as .jpg, OmklError when the files cannot be written.
    """
    folder = Path(out).is_dir() or str(out).endswith(("/", "\\"))
    out = Path(out) / name if folder else Path(out)
    if out.suffix.lower() in _OTHERS:
        raise UserError(f"{out}: figures are written as {', '.join(ENDINGS)}, not {out.suffix}")
    single = out.suffix.lower() in ENDINGS
    paths = [out] if single else [out.with_name(out.name + suffix) for suffix in (".png", ".pdf")]
    creator, undated = f"omkl {__version__}", {"Producer": None, "CreationDate": None}
    metadata: dict[str, dict] = {
        ".png": {"Title": title, "Description": command, "Software": creator},
        ".pdf": {"Title": title, "Subject": command, "Creator": creator, **undated},
        ".svg": {"Title": title, "Description": command, "Creator": creator, "Date": None},
    }
    with looks():
        for path in paths:
            try:
                ending = path.suffix.lower()
                with replacing(path) as file:
                    figure.savefig(file, format=ending[1:], metadata=metadata[ending])
            except OSError as error:
                raise path_error(f"write the figure {path}", error) from error
    return paths
