"""What a page holds: sections with texts, tables and figures, written twice: as Markdown and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass

from omkl.figures.style import Figure
from omkl.reports.table import Table


@dataclass(frozen=True)
class Filed:
    """A table or figure of a paper, which has files of its own beside a Markdown page.

    stem: of these files    made: what they hold, and Markdown shows    shown: the same for the browser, with
    what opens below each row
    """

    stem: str
    made: Table | Figure
    shown: Table | Figure


Part = Filed | Table | Figure  # one without files: Markdown shows the table, and leaves out the figure


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and figures.

    numbered: the paragraphs are a numbered list    origin: it says where numbers come from, which Markdown
    folds at the end of the page    rest: Markdown has only links to its files
    """

    title: str
    parts: Sequence[Part] = ()
    texts: Sequence[str] = ()
    numbered: bool = False
    origin: bool = False
    rest: bool = False


@dataclass(frozen=True)
class Page:
    """A page.

    name: for file names    about: lines under the title    answer: what a reader takes home: a line, and
    further points    command: that makes it    cells: the commands that made its cells
    warnings: shown on top
    """

    name: str
    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()
    command: str = ""
    warnings: Sequence[str] = ()
    answer: Sequence[str] = ()
    cells: Sequence[str] = ()
