"""The looks of every figure, and its files: palette, sizes, the same bytes each time."""

import contextlib
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl import __version__
from omkl.errors import UserError, path_error
from omkl.files import replacing
from omkl.reports import look as looking
from omkl.reports.look import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), which colour-blind readers can distinguish; without their yellow, too pale for a line.
# The last two are ours. Markers tell lines apart in grey, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A", "#7A3E9D")
MARKERS = "os^DvPX*"  # a count without a common divisor with that of the colours
GREYS = ("#404040", "#6e6e6e", "#8c8c8c")
YARDSTICK_DASHES = ((6, 2), (3, 1.5), (1.2, 1.2))
WARNING, GREY = "#b00020", "#4d4d4d"  # colours of the text below
ENDINGS = (".png", ".pdf", ".svg")
_OTHERS = (".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".webp", ".bmp", ".eps", ".ps")
# The symbols that the papers use for hyperparameters: letters, so that text stays text in a PDF and an SVG.
SYMBOLS = {
    name: unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}")
    for name in ("alpha", "beta", "gamma", "delta", "eta", "nu", "rho", "sigma", "tau")
} | {"lam": "λ", "eps": "ε"}
_SET = re.compile(rf"\b({'|'.join(SYMBOLS)})(\^2)?(?=\s?=)")
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


@contextlib.contextmanager
def looks() -> Iterator[None]:
    """Draw what is inside with our looks, whatever the user's matplotlibrc; restores it after."""
    matplotlib = _imported()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(looking.settings(_RC))
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


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure (inches) that belongs to no pyplot state; the chosen width is taken instead."""
    from matplotlib.figure import Figure

    return Figure(figsize=(looking.current().width or width, height), layout="constrained")


def line_styles(
    names: list[str], yardsticks: list[str], palette: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return colour, stroke and marker by name: learners in colours, yardsticks in dashed greys below them.

    No two have the same colour and stroke: each round through the colours has one dot more between its
    dashes. Two learners and more have markers too, each at its own places along the line.
    palette: names whose colours come first, drawn or not, so that a learner keeps its colour.
    """
    styles: dict[str, dict[str, Any]] = {}
    places = {name: number for number, name in enumerate(dict.fromkeys([*palette, *names]))}
    for name in names:
        number = places[name]
        turn, colour = divmod(number, len(COLOURS))
        styles[name] = {
            "color": COLOURS[colour],
            "linestyle": (0, (6, 1.2) + (1.2, 1.2) * turn) if turn else "-",
            # A broken line shows a solid one below it, not the other way round.
            "zorder": 3 + 0.1 * min(turn, 5) - number / 10000,
        }
        if len(names) > 1:
            marker = MARKERS[number % len(MARKERS)]
            # The places are shares of the panel's diagonal.
            where = (0.03 + 0.21 * (0.618 * number % 1), 0.21)
            size = looking.mark(5.5 if marker in "PX*" else 4.2)
            styles[name] |= {"marker": marker, "markersize": size, "markeredgewidth": 0, "markevery": where}
    for number, name in enumerate(yardsticks):
        turn, which = divmod(number, len(GREYS))
        dashes = (0, YARDSTICK_DASHES[which] + (1.2, 2.4) * turn)
        styles[name] = {"color": GREYS[which], "linestyle": dashes, "linewidth": 1.2, "zorder": 2}
    return styles


def robust_limits(
    learners: list[float], yardsticks: dict[str, float], widen: float = 2.0
) -> tuple[tuple[float, float], list[str]]:
    """Return the limits of an axis of a measure such as mistake rates, and the yardsticks they leave out.

    learners: all values that must be seen; yardsticks: one value each. A yardstick better than the learners
    is always seen; one that is worse is left out where it would press the rest into less than 1/``widen``
    of the axis.
    """
    values = learners or list(yardsticks.values())
    low, high = min([*values, *yardsticks.values()]), max(values)
    span = max(high - low, 0.02 * abs(high), 1e-9)
    high = max([high, *(v for v in yardsticks.values() if v <= high + span * (widen - 1))])
    margin = 0.06 * max(high - low, span)
    left_out = [name for name, value in yardsticks.items() if value > high]
    return (low - margin if low < 0 else max(0.0, low - margin), high + margin), left_out


def note_left_out(axes: "Axes", values: dict[str, float], arrow: str = "↑") -> None:
    """Name above a panel the yardsticks that are beyond its axis, with their values."""
    parts = [f"{name} {value:{'.1f' if value >= 1 else '.2g'}} {arrow}" for name, value in values.items()]
    if parts:
        axes.set_title(
            "\n".join(parts), loc="right", fontsize=points(7), fontweight="normal", color="#666666"
        )


def symbol(name: str) -> str:
    """Return a hyperparameter's symbol as the papers print it, else its name; of ``kernel.sigma`` σ."""
    name = name.split(".")[-1]
    return SYMBOLS.get(name, name.replace("_", " "))


def in_symbols(text: str) -> str:
    """Return text with the symbols of what it sets: β=0.8 for beta=0.8, σ² = 1 for sigma^2 = 1."""
    return _SET.sub(lambda match: SYMBOLS[match[1]] + ("²" if match[2] else ""), text)


def safe_name(text: str, limit: int = 80) -> str:
    """Return a file name made from any text: letters, digits, dot, dash, underscore; no hidden file."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    if len(name) > limit:
        name = f"{name[:limit].rstrip('-._')}-{sha256(text.encode()).hexdigest()[:8]}"
    return name or "figure"


def file_stem(kind: str, learners: Iterable[str], data: Iterable[str]) -> str:
    """Return a name for a figure: its kind, learners and data sets; counts and a hash when they are many."""
    parts = [kind]
    for names, word in ((learners, "learners"), (data, "sets")):
        names = list(dict.fromkeys(map(str, names)))
        few = "_".join(safe_name(name) for name in names)
        many = f"{len(names)}-{word}-{sha256(chr(0).join(names).encode()).hexdigest()[:6]}"
        parts.append(few if len(names) <= 3 else many)
    return "-".join(parts)


def save(
    figure: "Figure",
    out: str | Path,
    title: str,
    command: str,
    named: tuple[str, Iterable[str], Iterable[str]] = ("figure", (), ()),
) -> list[Path]:
    """Write a figure and return its files: a PNG and a PDF, or just the one format that ``out`` ends in.

    out: a file, or a folder (it exists, or ends in a slash) in which the file is named after ``named``: kind,
    learners and data sets. The command is written to the PNG's ``Description`` and the PDF's ``Subject``. No
    time is written: the same figure gives the same bytes. Raises UserError for an ending such as .jpg,
    OmklError when the files cannot be written.
    """
    folder = Path(out).is_dir() or str(out).endswith(("/", "\\"))
    out = Path(out) / file_stem(*named) if folder else Path(out)
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
