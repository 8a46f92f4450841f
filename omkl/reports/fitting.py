"""Tables that fit a terminal: text wraps inside its column, then the columns that say least are left out."""

import textwrap
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

GAP = 2  # between columns
SAMPLE = 100  # rows by which the widths are chosen
NARROW = 26  # characters to which the text of a column may be wrapped, whatever its longest word
WIDTH: ContextVar[int | None] = ContextVar("width", default=None)  # of the terminal; None: any width will do


@dataclass(frozen=True)
class Texts:
    """A column as text; wraps: its cells may take several lines."""

    header: str
    cells: Sequence[str]
    align: Literal["left", "right"] = "left"
    wraps: bool = False

    @property
    def most(self) -> int:
        """The width at which nothing is wrapped."""
        return max(map(len, [self.header, *self.cells]))

    @property
    def least(self) -> int:
        """The least width that it can have."""
        if not self.wraps:
            return self.most
        words = [word for cell in self.cells for word in cell.split(" ")]
        return max(len(self.header), min(NARROW, max(map(len, words), default=0)))


def filled(text: str, most: int | None = None, indent: str = "") -> str:
    """Return a paragraph wrapped to the terminal and to ``most`` characters; indent: after the first line."""
    widths = [width for width in (WIDTH.get(), most) if width is not None]
    if not widths:
        return text
    return textwrap.fill(text, min(widths), subsequent_indent=indent, break_long_words=False)


def fits(columns: Sequence[Texts], width: int) -> bool:
    """Whether the columns fit into this width, their text wrapped."""
    return sum(column.least + GAP for column in columns) - GAP <= width


def lay_out(columns: Sequence[Texts], width: int) -> tuple[str, str, list[str]]:
    """Return header, rule and rows, of several lines where text wraps; wider than ``width`` if need be."""
    widths = _widths(columns, width)
    rows = zip(*(column.cells for column in columns), strict=True)
    head = _row([column.header for column in columns], columns, widths)
    rule = (" " * GAP).join("-" * width for width in widths)
    return head, rule, [_row(row, columns, widths) for row in rows]


def _widths(columns: Sequence[Texts], width: int) -> list[int]:
    """Return the columns' widths: each character is taken where it makes the table least higher."""
    widths = [column.most for column in columns]
    able = {n: column.least for n, column in enumerate(columns) if column.wraps}
    lengths = [[len(columns[n].cells[row]) for n in able] for row in range(len(columns[0].cells))][:SAMPLE]

    def height(shrunk: int) -> tuple[int, int]:
        trial = [widths[n] - (n == shrunk) for n in able]
        lines = (max(-(-size // room) for size, room in zip(row, trial, strict=True)) for row in lengths)
        return sum(lines), -widths[shrunk]

    while sum(widths) + GAP * (len(widths) - 1) > width:
        able = {n: least for n, least in able.items() if widths[n] > least}
        if not able:
            break
        lengths = [[len(columns[n].cells[row]) for n in able] for row in range(len(lengths))]
        widths[min(able, key=height)] -= 1
    return widths


def _row(cells: Sequence[str], columns: Sequence[Texts], widths: Sequence[int]) -> str:
    parts = [
        textwrap.wrap(cell, width, break_on_hyphens=False) if len(cell) > width else [cell]
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, parts))):
        texts = [part[number] if number < len(part) else "" for part in parts]
        padded = [
            text.ljust(width) if column.align == "left" else text.rjust(width)
            for text, width, column in zip(texts, widths, columns, strict=True)
        ]
        lines.append((" " * GAP).join(padded).rstrip())
    return "\n".join(lines)
