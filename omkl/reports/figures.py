"""What a figure shows, as plain data: panels with views, the style of each line, the texts below.

``charts`` makes figures from tables, ``drawing`` draws them for print, ``omkl.pages`` in the browser.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

import numpy as np

from omkl.reports.ranks import Ranks

# Okabe and Ito (2008), which colour-blind readers can distinguish; without their yellow, too pale for a line.
# The last two are ours. Markers tell lines apart in grey, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A", "#7A3E9D")
MARKERS = "os^DvPX*"  # a count without a common divisor with that of the colours
GREYS = ("#404040", "#6e6e6e", "#8c8c8c")
YARDSTICK_DASHES = ((6, 2), (3, 1.5), (1.2, 1.2))
# The symbols that the papers use for hyperparameters: letters, so that text stays text in a PDF and an SVG.
SYMBOLS = {
    name: unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}")
    for name in ("alpha", "beta", "gamma", "delta", "eta", "nu", "rho", "sigma", "tau")
} | {"lam": "λ", "eps": "ε"}
REACH = 3.0  # of a scale of colours, in distances of the median value from the best
_SET = re.compile(rf"\b({'|'.join(SYMBOLS)})(\^2)?(?=\s?=)")


@dataclass(frozen=True)
class LineStyle:
    """The style of a line, of its dots and of its bars.

    dashes: lengths of strokes and gaps in line widths, none of a solid line    marker: as matplotlib names it
    number: its place among the learners, by which markers of several lines are apart
    """

    colour: str
    dashes: tuple[float, ...] = ()
    marker: str = ""
    number: int = 0
    is_yardstick: bool = False


@dataclass(frozen=True)
class Curve:
    """Points (n,) of a line; a level has one point, whose x is NaN.

    std: NaN where there is no standard deviation
    """

    name: str
    x: np.ndarray
    mean: np.ndarray
    std: np.ndarray

    @property
    def is_level(self) -> bool:
        """Whether it is the same everywhere."""
        return bool(np.isnan(self.x).all())

    @property
    def varies(self) -> bool:
        """Whether it has a standard deviation above 0."""
        return bool(np.nan_to_num(self.std).any())


@dataclass(frozen=True)
class Lines:
    """Lines with bands.

    kind: that of the measure (measures.Measure); ``value`` over hyperparameters; ``front``: the first line
    joins the points that none beats, the others are points    digits: decimals that are shown
    log, log_x: logarithmic axes    points: all are marked    ring: meaning of that at a line's best point
    sign: 1 where that is the least, -1 where it is the largest
    ticks: of the x axis, None for any    signed: values may be below 0
    """

    name: str
    label: str
    x_label: str
    lines: Sequence[Curve]
    kind: Literal["rate", "count", "size", "share", "value", "front"] = "value"
    digits: int = 2
    log: bool = False
    log_x: bool = False
    points: bool = False
    ring: str = ""
    sign: float = 1.0
    ticks: Sequence[float] | None = None
    signed: bool = False


@dataclass(frozen=True)
class Dots:
    """A dot with a bar for each row, in order; names of rows, and of the lines whose style they have.

    marked: not significantly worse than the best    levels: of the yardsticks, by name
    as_shares: drawn in print as bars over the largest mean
    """

    name: str
    label: str
    names: Sequence[str]
    lines: Sequence[str]
    mean: np.ndarray
    std: np.ndarray
    marked: Sequence[bool] = ()
    levels: Mapping[str, float] = field(default_factory=dict)
    digits: int = 2
    as_shares: bool = False


@dataclass(frozen=True)
class HeatMap:
    """Means and standard deviations (rows, columns) over two hyperparameters, whose values label them.

    NaN where no cell has finished.
    """

    name: str
    label: str
    x_label: str
    y_label: str
    columns: Sequence[str]
    rows: Sequence[str]
    mean: np.ndarray
    std: np.ndarray
    digits: int = 2
    sign: float = 1.0

    @property
    def best(self) -> tuple[int, int]:
        """The row and the column of the least mean, of the largest where the sign is -1."""
        row, column = np.unravel_index(np.nanargmin(self.sign * self.mean), self.mean.shape)
        return int(row), int(column)


@dataclass(frozen=True)
class Confusion:
    """Mean counts (C, C) of true classes (rows) over predicted ones; those cut (C,); mistakes in percent."""

    classes: Sequence[str]
    counts: np.ndarray
    cut: np.ndarray
    mistakes: float
    name: str = "confusion"
    label: str = "% of the true class's examples"

    @property
    def shares(self) -> np.ndarray:
        """The counts over those of their true class, in percent; NaN of a class without examples."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return 100.0 * self.counts / (self.counts.sum(axis=1) + self.cut)[:, None]


@dataclass(frozen=True)
class Pictures:
    """Square pictures, their values (n, side * side) row by row, and the score below each.

    digits: decimals of the scores
    """

    values: np.ndarray
    scores: Sequence[float]
    digits: int = 2


View = Lines | Dots | HeatMap | Confusion | Pictures | Ranks


@dataclass(frozen=True)
class Panel:
    """What a figure shows of one data set, or of one learner on it: several views.

    group: the data set, where several panels share it
    """

    name: str
    views: Sequence[View]
    group: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure: its panels, and the style of each line by name, in the order of the legend.

    name: of its files    title: above it, and of its files    caption: over which repetitions the means are
    deviations: whether standard deviations are shown    more: further parts of the caption
    notes: lines about groups of panels    warnings: shown below    command: that draws it for print
    columns: panels in a row, at most
    """

    name: str
    panels: Sequence[Panel]
    styles: Mapping[str, LineStyle] = field(default_factory=dict)
    title: str = ""
    caption: str = ""
    deviations: bool = False
    more: Sequence[str] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    command: str = ""
    columns: int = 4

    def text(self, spread: str, parts: Iterable[str] = ()) -> str:
        """Return the caption; spread: how standard deviations are drawn; parts: what is added to it."""
        deviations = f"{spread}: ±1 standard deviation" if self.deviations else ""
        return "; ".join(filter(None, (self.caption, deviations, *self.more, *parts)))

    def views(self, number: int = 0) -> list[View]:
        """Return the view of each panel with this number."""
        return [panel.views[number] for panel in self.panels]


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


def robust_range(values: np.ndarray, sign: float = 1.0) -> tuple[float, float]:
    """Return the ends of a scale of colours: few values that are far worse than the rest do not take it all.

    sign: 1 where less is better, -1 where more is. From the best value it reaches REACH times as far as the
    median one, at least a 50th of its size, at most to the worst. NaN are left out.
    """
    costs = sign * values[np.isfinite(values)]
    if not costs.size:
        return 0.0, 1.0
    best = float(costs.min())
    reach = max(REACH * float(np.median(costs) - best), 0.02 * abs(best))
    worst = min(float(costs.max()), best + reach)
    low, high = sorted((sign * best, sign * worst))
    return low, high


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
