"""What a page holds: sections with texts, tables and figures, whoever writes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from omkl.figures.style import Figure
from omkl.reports.table import Table


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and figures; numbered: the paragraphs are a numbered list."""

    title: str
    parts: Sequence[Table | Figure] = ()
    texts: Sequence[str] = ()
    numbered: bool = False


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
