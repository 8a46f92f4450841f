"""What a page holds: sections of texts, tables and figures, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omkl.reports.display import Column, Spread
from omkl.reports.figures import Figure

About = Sequence[tuple[str, str]]  # (name, text) pairs; a command has the name COMMAND
COMMAND = "command"


@dataclass(frozen=True)
class Line:
    """A line of a table: a cell per column, and what opens below it.

    refs: numbers of the table's notes    group: the data set, for the filter
    """

    cells: Sequence[str | Spread]
    about: About = ()
    refs: Sequence[int] = ()
    group: str = ""
    marked: bool = False
    complete: bool = True
    is_yardstick: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    name: of the file of its CSV    csv: what ``--format csv`` prints    terms: (term, meaning) of its columns
    notes: numbered from 1    below: paragraphs under it    command: that prints it
    """

    name: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    csv: str
    terms: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    below: Sequence[str] = ()
    command: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and figures; numbered: the paragraphs are a numbered list."""

    title: str
    parts: Sequence[Table | Figure] = ()
    texts: Sequence[str] = ()
    numbered: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a run is: numbers of cells, and the rows of ``omkl status``."""

    done: int
    failed: int
    total: int
    rows: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Page:
    """A page.

    name: for file names    about: lines under the title    command: that makes it    warnings: shown on top
    """

    name: str
    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()
    command: str = ""
    warnings: Sequence[str] = ()
    progress: Progress | None = None
