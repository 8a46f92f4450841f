"""The columns, rows and cells of a table, and text laid out in columns of a terminal's width."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

MISSING = "–"
WIDTH: ContextVar[int | None] = ContextVar("width", default=None)  # of the terminal; None: any width will do
GAP = 2  # characters between columns
SAMPLE = 100  # rows by which the widths are chosen
NARROW = 26  # characters to which the text of a column may be wrapped, whatever its longest word
Rule = Literal["data", "yardsticks"]


@dataclass(frozen=True)
class Spread:
    """A mean and a standard deviation, both as text; MISSING where there is none."""

    mean: str
    std: str

    @property
    def varies(self) -> bool:
        """Whether there is a standard deviation to print: one repetition has none."""
        return self.std != MISSING

    def __str__(self) -> str:
        return f"{self.mean} ± {self.std}" if self.varies else self.mean


@dataclass(frozen=True)
class Column:
    """A column of a table: its header and how it is aligned.

    marks: the best are marked in it    meaning: for the legend
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
    "yardsticks": the yardsticks begin)    marked: best or not significantly worse
    complete: every expected repetition has finished    refs: numbers of the table's notes, shown behind the
    verdict    about: (name, text) of what opens below it on a page
    """

    cells: Sequence[str | Spread]
    group: str = ""
    rule: Rule | None = None
    marked: bool = False
    complete: bool = True
    is_yardstick: bool = False
    refs: Sequence[int] = ()
    about: Sequence[tuple[str, str]] = ()


# -------------------------------------------------------------------- the terminal


@contextmanager
def fitted(wide: bool = False) -> Iterator[None]:
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
    """Return the columns' widths: each character is taken where it makes the table least higher."""
    pairs = list(zip(columns, texts, strict=True))
    widths = [max(len(column.header), *map(width_of, own), 0) for column, own in pairs]
    able = {n: least_width(*own) for n, own in enumerate(pairs) if own[0].wraps}

    def height(shrunk: int) -> tuple[int, int]:
        trial = [widths[n] - (n == shrunk) for n in able]
        lines = (max(-(-size // room) for size, room in zip(row, trial, strict=True)) for row in lengths)
        return sum(lines), -widths[shrunk]

    while sum(widths) + GAP * (len(widths) - 1) > width:
        able = {n: least for n, least in able.items() if widths[n] > least}
        if not able:
            break
        lengths = [[len(texts[n][row]) for n in able] for row in range(min(SAMPLE, len(texts[0])))]
        widths[min(able, key=height)] -= 1
    return widths


def line_of(cells: Iterable[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Return the cells of a row side by side, on several lines where text wraps."""
    parts = [
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
    for number in range(max(map(len, parts), default=0)):
        texts = [part[number] if number < len(part) else "" for part in parts]
        filled_up = (padded(*own) for own in zip(texts, columns, widths, strict=True))
        lines.append((" " * GAP).join(filled_up).rstrip())
    return "\n".join(lines)


def padded(text: str, column: Column, width: int) -> str:
    """Return a text with blanks at the side that its column leaves free."""
    return text.ljust(width) if column.align == "left" else text.rjust(width)
