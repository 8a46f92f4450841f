"""A figure and its files."""

import contextlib
import io
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl import __version__
from omkl.errors import UserError, path_error
from omkl.figures.style import COLUMN, GREY, PAGE, SMALL, current, in_style
from omkl.files import replacing
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from omkl.reports.ranks import AverageRanks


ENDINGS = (".png", ".pdf", ".svg")
_OTHERS = (".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".webp", ".bmp", ".eps", ".ps")
_RC: Any = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.labelpad": 2.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "text.parse_math": False,  # a $ in the name of a data set is a $
    "lines.linewidth": 1.1,
    "hatch.linewidth": 0.7,
    "pdf.fonttype": 42,  # text stays text: editable, searchable
    "svg.fonttype": "none",
    "svg.hashsalt": "omkl",
    "savefig.dpi": 200,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
}
# Serifs go with the text of a paper; matplotlib brings this font along, so that bytes do not depend on the
# machine. 300 dots per inch is what publishers want at least.
_PAPER: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "savefig.dpi": 300,
}


@dataclass(frozen=True)
class Figure:
    """A figure: the function that draws it in the current style, and what is said of it.

    name: of its files    panels: how many it has    title: above it, and of its files    note: the line below
    warnings: what its lines lack    command: that draws it    ranks: those that it shows, if any
    instead: why it says nothing; then it has no files
    """

    name: str
    make: Callable[[], "MplFigure"]
    panels: int = 1
    title: str = ""
    note: str = ""
    warnings: Sequence[str] = ()
    command: str = ""
    ranks: "AverageRanks | None" = None
    instead: str = ""

    def draw(self) -> "MplFigure":
        """Draw the figure in the current style."""
        with drawing_settings():
            drawn: Any = self.make()
            if self.title and current().title:
                title = textwrap.fill(in_symbols(self.title), int(12.5 * drawn.get_figwidth()))
                drawn.suptitle(title, fontsize=9.0, x=0.01, ha="left", weight="bold")
                drawn.set_figheight(drawn.get_figheight() + 0.15 * title.count("\n"))
            if self.note and current().title:
                _put_note(drawn, in_symbols(self.note))
        drawn._repr_png_ = partial(as_png, drawn)  # for notebooks, which need no pyplot then
        return drawn

    def write(self, out: str | Path) -> list[Path]:
        """Draw the figure and return its files: a PNG and a PDF, or just the one format ``out`` ends in.

        out: a file, or a folder (it exists, or ends in a slash) in which the file has the figure's name. The
        command is written to the PNG's ``Description`` and the PDF's ``Subject``. No time is written: the
        same figure gives the same bytes. Raises UserError for an ending such as .jpg, OmklError when the
        files cannot be written.
        """
        if self.instead:
            return []
        folder = Path(out).is_dir() or str(out).endswith(("/", "\\"))
        out = Path(out) / self.name if folder else Path(out)
        if out.suffix.lower() in _OTHERS:
            raise UserError(f"{out}: figures are written as {', '.join(ENDINGS)}, not {out.suffix}")
        single = out.suffix.lower() in ENDINGS
        paths = [out] if single else [out.with_name(out.name + suffix) for suffix in (".png", ".pdf")]
        title, creator = self.title or self.name, f"omkl {__version__}"
        undated = {"Producer": None, "CreationDate": None}
        metadata: dict[str, dict] = {
            ".png": {"Title": title, "Description": self.command, "Software": creator},
            ".pdf": {"Title": title, "Subject": self.command, "Creator": creator, **undated},
            ".svg": {"Title": title, "Description": self.command, "Creator": creator, "Date": None},
        }
        drawn = self.draw()
        with drawing_settings():
            for path in paths:
                ending = path.suffix.lower()
                try:
                    with replacing(path) as file:
                        drawn.savefig(file, format=ending[1:], metadata=metadata[ending])
                except OSError as error:
                    raise path_error(f"write the figure {path}", error) from error
        return paths

    def svg(self, which: str) -> str:
        """Return the figure as an element of a page; which: a text by which its ids are its own.

        The title and the note are said by the page.
        """
        width = current().width or (PAGE if self.panels == 1 else None)  # as wide as the page shows it
        with in_style(replace(current(), title=False, width=width)):
            drawn = self.draw()
        file = io.StringIO()
        with drawing_settings(**{"svg.hashsalt": which}):
            drawn.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        text = file.getvalue()
        text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.S)
        text = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", text[text.index("<svg") :])  # ids nobody refers to
        # Tenths of a point are enough for a path, hundredths for a place or a width.
        text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\d\.\d)\d+", r"\1", path[0]), text)
        text = re.sub(r"(\d\.\d\d)\d+", r"\1", text)
        return re.sub(r"\n\s*", "\n", text).strip()

    @property
    def print_width(self) -> float:
        """The width for print: that of a column where there is one panel without ranks, else of a page."""
        return COLUMN if self.panels == 1 and self.ranks is None else PAGE


def _put_note(drawn: "MplFigure", note: str) -> None:
    """Put a note below the panels, above the names of the legend where there is one."""
    text = textwrap.fill(note, int(15.5 * drawn.get_figwidth()), break_on_hyphens=False)
    if drawn.legends:
        drawn.legends[0].set_title(text)
        drawn.legends[0].get_title().set(color=GREY, multialignment="center", fontsize=SMALL)
    else:
        drawn.supxlabel(text, fontsize=SMALL, color=GREY)
    drawn.set_figheight(drawn.get_figheight() + 0.13 * (1 + text.count("\n")))


def as_png(drawn: "MplFigure", dpi: int = 110) -> bytes:
    """Return a drawn figure as a PNG for a screen."""
    file = io.BytesIO()
    with drawing_settings():
        drawn.savefig(file, format="png", dpi=dpi)
    return file.getvalue()


@contextlib.contextmanager
def drawing_settings(**more: Any) -> Iterator[None]:
    """Draw what is inside with our settings, whatever the user's matplotlibrc; restores it after."""
    matplotlib = _imported()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC | (_PAPER if current().style == "paper" else {}) | more)
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
