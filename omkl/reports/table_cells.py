"""The columns, rows and cells of a table, its marks, and text laid out in columns of a terminal's width."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from omkl.errors import printable

FORMULA = re.compile(r"[=+\-@\t\r]")  # how a cell begins that a spreadsheet would compute
MISSING = "–"
WIDTH: ContextVar[int | None] = ContextVar("width", default=None)  # of the terminal; None: any width will do
GAP = 2  # characters between columns
NARROW = 26  # characters to which the text of a column may be wrapped, whatever its longest word
WRAPPED = ("learner", "pool", "settings", "kernel", "verdict")  # columns whose text may take several lines
Rule = Literal["data", "yardsticks"]
Mark = Literal["", "best", "near"]  # near: not significantly worse than the best
INFLATED = "times may be inflated"  # how a warning of a busy machine begins
# What a marked cell looks like, in text, Markdown and LaTeX.
MARKS: dict[str, dict[Mark, str]] = {
    "text": {"": "  {}", "best": "* {}", "near": "~ {}"},
    "markdown": {"": "{}", "best": "**{}**", "near": "*{}*"},
    "latex": {"": "{}", "best": r"\textbf{{{}}}", "near": r"\textit{{{}}}"},
}
# And how its legend calls it.
MARK_NAMES = {
    "text": {"best": "*", "near": "~"},
    "markdown": {"best": "**bold**", "near": "*italics*"},
    "latex": {"best": r"\textbf{Bold}", "near": r"\textit{italics}"},
}


@dataclass(frozen=True)
class Spread:
    """A mean and a standard deviation, both as text, MISSING where there is none; and the mark of the row."""

    mean: str
    std: str
    mark: Mark = ""

    @property
    def varies(self) -> bool:
        """Whether there is a standard deviation to print: one repetition has none."""
        return self.std != MISSING

    def __str__(self) -> str:
        return f"{self.mean} ± {self.std}" if self.varies else self.mean


@dataclass(frozen=True)
class Column:
    """A column of a table: its header and how it is aligned.

    marks: its measure compares the rows, so that the best are marked in it    meaning: for the legend
    usual: it is shown unless a reader chooses the columns    wraps: its text may take several lines
    """

    name: str
    header: str
    align: Literal["left", "right"] = "right"
    marks: bool = False
    meaning: str = ""
    usual: bool = True
    wraps: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row of a table: one cell per column.

    group: its data set, which text names once    rule: the line drawn above it ("data": a data set begins,
    "yardsticks": the yardsticks begin)    complete: every expected repetition has finished
    refs: numbers of the table's notes, shown behind the verdict
    about: (name, text) of what opens below it on a page
    """

    cells: Sequence[str | Spread]
    group: str = ""
    rule: Rule | None = None
    complete: bool = True
    is_yardstick: bool = False
    refs: Sequence[int] = ()
    about: Sequence[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        cells = [printable(cell) if isinstance(cell, str) else cell for cell in self.cells]
        object.__setattr__(self, "cells", cells)

    @property
    def marked(self) -> bool:
        """Whether the row is the best, or not significantly worse."""
        return any(isinstance(cell, Spread) and cell.mark for cell in self.cells)


def as_data(value: Any) -> Any:
    """Return a value for a cell of CSV: a text that a spreadsheet would compute has a quote before it."""
    if not isinstance(value, str) or not FORMULA.match(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


# -------------------------------------------------------------------- the terminal


@contextmanager
def fit_to_width(wide: bool = False) -> Iterator[None]:
    """Fit tables to the terminal, if stdout is one and its user does not want them wide."""
    narrow = None if wide or not sys.stdout.isatty() else shutil.get_terminal_size().columns
    token = WIDTH.set(narrow)
    try:
        yield
    finally:
        WIDTH.reset(token)


def filled(text: str, most: int | None = None, indent: str = "") -> str:
    """Return lines wrapped to the terminal and to ``most`` characters; indent: after the first of each."""
    widths = [width for width in (WIDTH.get(), most) if width is not None]
    if not widths:
        return text
    how: Any = {"subsequent_indent": indent, "break_long_words": False}
    return "\n".join(textwrap.fill(line, min(widths), **how) for line in text.split("\n"))


def width_of(text: str) -> int:
    return max(map(len, text.split("\n")))


def least_width(column: Column, texts: Sequence[str]) -> int:
    """Return the least width that a column can have."""
    if not column.wraps:
        return max(len(column.header), *map(width_of, texts), 0)
    words = [word for text in texts for word in text.replace("\n", " ").split(" ")]
    return max(len(column.header), min(NARROW, max(map(len, words), default=0)))


def widths_of(columns: Sequence[Column], texts: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the columns' widths: of those whose text may wrap, the widest gives way."""
    pairs = list(zip(columns, texts, strict=True))
    widths = [max(len(column.header), *map(width_of, pair), 0) for column, pair in pairs]
    least = {at: least_width(*pair) for at, pair in enumerate(pairs) if pair[0].wraps}
    while sum(widths) + GAP * (len(widths) - 1) > width:
        able = [at for at in least if widths[at] > least[at]]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def line_of(cells: Iterable[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Return the cells of a row side by side, on several lines where text wraps."""
    wrapped = [
        [
            line
            for text in cell.split("\n")
            for line in textwrap.wrap(text, width, break_on_hyphens=False) or [""]
        ]
        if width_of(cell) > width
        else cell.split("\n")
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, wrapped), default=0)):
        texts = [part[number] if number < len(part) else "" for part in wrapped]
        filled_up = (padded(*aligned) for aligned in zip(texts, columns, widths, strict=True))
        lines.append((" " * GAP).join(filled_up).rstrip())
    return "\n".join(lines)


def padded(text: str, column: Column, width: int) -> str:
    """Return a text with blanks at the side that its column leaves free."""
    return text.ljust(width) if column.align == "left" else text.rjust(width)


class Columns:
    """The columns of a table and what their cells hold, while it is put together."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.contents: list[Sequence[str | Spread]] = []

    def add(
        self, name: str, header: str, cells: Sequence[str | Spread], side: Any = "right", **more: Any
    ) -> None:
        """Add a column; more: of `Column`."""
        self.columns.append(Column(name, header, side, wraps=name in WRAPPED, **more))
        self.contents.append(cells)
