"""How figures look: what a user may choose, colours and sizes, panels and their one legend, and the files."""

import contextlib
import io
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from omkl import __version__
from omkl.errors import UserError, path_error
from omkl.files import replacing
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure

    from omkl.reports.ranks import Ranks

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
# Okabe and Ito (2008), which colour-blind readers can distinguish; without their yellow, too pale for a line.
# The last two are ours. Markers tell lines apart in grey, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A", "#7A3E9D")
MARKERS = "os^DvPX*"  # a count without a common divisor with that of the colours
GREYS = ("#404040", "#6e6e6e", "#8c8c8c")
YARDSTICK_DASHES = ((6, 2), (3, 1.5), (1.2, 1.2))
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


# -------------------------------------------------------------------- what a user chooses


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


# -------------------------------------------------------------------- a figure and its files


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
    ranks: "Ranks | None" = None
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


# -------------------------------------------------------------------- lines


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


# -------------------------------------------------------------------- panels


def panels(
    count: int,
    height: float = 1.75,
    stack: int = 1,
    columns: int = 4,
    narrowest: float = 1.55,
    names: float = 0.0,
) -> tuple["MplFigure", "list[list[Axes]]"]:
    """Return a figure and its panels, ``stack`` of them one below the other for each of ``count``.

    height: of a panel in inches, lower in a narrow one    columns: at most    narrowest: inches of a panel
    names: inches of the names at the left of each row
    """
    from matplotlib.figure import Figure as MplFigure

    chosen = current().width
    natural = {1: 4.6, 2: PAGE, 3: PAGE}.get(count, PAGE if count <= 6 else LANDSCAPE)
    natural = max(natural, min(names + narrowest * min(count, columns), LANDSCAPE))
    width = chosen or natural
    most = max(1, min(columns if chosen or count > 6 else 3, int((width - names) / narrowest)))
    rows = -(-count // most)
    across = -(-count // rows)
    height = min(height, 0.35 + 0.85 * width / across)
    drawn = MplFigure(figsize=(width, (height + 0.14) * rows * stack + 0.1), layout="constrained")
    grid = drawn.subplots(rows * stack, across, squeeze=False)
    stacks = [list(grid[stack * row : stack * (row + 1), i]) for row in range(rows) for i in range(across)]
    for unused in stacks[count:]:
        for axes in unused:
            axes.remove()
    return drawn, stacks[:count]


def panels_per_row(drawn: "MplFigure") -> int:
    """Return how many panels are in a row of a figure."""
    grid = drawn.axes[0].get_gridspec()
    return grid.ncols if grid else 1


def panel_width(axes: "Axes") -> float:
    """Return the inches that a panel has before the figure is laid out, with its labels."""
    grid = axes.get_gridspec()
    return axes.figure.get_figwidth() / (grid.ncols if grid else 1)  # type: ignore[union-attr]


def is_leftmost(axes: "Axes") -> bool:
    """Whether a panel is the first of its row."""
    spec = axes.get_subplotspec()
    return spec is None or spec.is_first_col()


def panel_title(axes: "Axes", text: str, alone: bool = False) -> None:
    """Put a title above a panel, in lines that fit; alone: the only panel, whose title LaTeX sets too."""
    if alone and not current().title:
        return
    axes.set_title(textwrap.fill(in_symbols(text), max(10, int(14 * (panel_width(axes) - 0.3)))))


def draw_legend(drawn: "MplFigure", styles: Mapping[str, LineStyle], dots: bool = False) -> None:
    """Put one legend for all panels below them, where it hides nothing; dots: markers without lines."""
    from matplotlib.lines import Line2D

    if not styles:
        return
    handles = []
    for style in styles.values():
        line = style.properties() | {"markevery": None}
        if dots and not style.is_yardstick:
            line |= {"linestyle": "none", "marker": style.marker or "o", "markersize": 4.0}
        handles.append(Line2D([], [], **line))
    most = int((drawn.get_figwidth() - 0.5) / 0.061)
    names = [textwrap.fill(in_symbols(name), most, break_on_hyphens=False) for name in styles]
    columns = next(count for count in range(len(names), 0, -1) if count == 1 or _fits(names, count, drawn))
    rows = -(-len(names) // columns) + sum(name.count("\n") for name in names)
    drawn.set_figheight(drawn.get_figheight() + 0.1 + 0.165 * rows)
    place: dict[str, Any] = {
        "loc": "outside lower center",
        "columnspacing": 1.2,
        "borderaxespad": 0.1,
        "borderpad": 0.2,
    }
    drawn.legend(handles, names, ncols=columns, **place)


def _fits(names: Sequence[str], columns: int, drawn: "MplFigure") -> bool:
    """Whether a legend with this number of columns, the first ones longer by one, has room in the figure."""
    rows, longer = divmod(len(names), columns)
    starts = [rows * column + min(column, longer) for column in range(columns + 1)]
    longest = [max(map(len, names[start:stop])) for start, stop in pairwise(starts)]
    return sum(0.5 + 0.061 * n for n in longest) <= drawn.get_figwidth()


# -------------------------------------------------------------------- names


def safe_name(text: str, limit: int = 80) -> str:
    """Return a file name made from any text: letters, digits, dot, dash, underscore; no hidden file."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    if len(name) > limit:
        name = f"{name[:limit].rstrip('-._')}-{sha256(text.encode()).hexdigest()[:8]}"
    return name or "figure"


def file_stem(kind: str, learners: Iterable[str], data: Iterable[str], also: Iterable[str] = ()) -> str:
    """Return a name for a figure: its kind, learners and data sets; counts and a hash when they are many.

    also: what tells it from a figure of the same names: the content of the user's files, settings
    """
    stem = [kind]
    for names, word in ((learners, "learners"), (data, "sets")):
        names = list(dict.fromkeys(map(str, names)))
        few = "_".join(safe_name(name) for name in names)
        many = f"{len(names)}-{word}-{sha256(chr(0).join(names).encode()).hexdigest()[:6]}"
        stem.append(few if len(names) <= 3 else many)
    if also := sorted(set(also)):
        stem.append(sha256(chr(0).join(also).encode()).hexdigest()[:6])
    return "-".join(stem)


def first_panels(names: Sequence[str], word: str = "data sets") -> tuple[list[str], str]:
    """Return the names that a figure has panels for, and a sentence on the others, "" where all have one."""
    if len(names) <= MOST_PANELS:
        return list(names), ""
    rest = ", ".join(names[MOST_PANELS : MOST_PANELS + 5]) + (", ..." if len(names) > MOST_PANELS + 5 else "")
    text = f"the first {MOST_PANELS} of {len(names)} {word}; not drawn: {rest} (choose with data=)"
    return list(names[:MOST_PANELS]), text


def join_notes(*parts: str) -> str:
    """Return the note below a figure from its parts; empty ones are left out."""
    return "; ".join(filter(None, parts))
