"""What a table holds: columns, rows and cells, and what is printed around them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    import pandas as pd

MISSING = "–"
Rule = Literal["data", "yardsticks"]
Records = Sequence[Mapping[str, Any]]


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


@dataclass(frozen=True, eq=False)
class TableContent:
    """A table, with all that is printed around it.

    title, shared: above it; ``shared`` is a line about all rows    terms: (term, meaning) of its columns
    warnings: sentences below it    findings: paragraphs below these, then its notes, numbered from 1, and
    further paragraphs (``below``)    command: that makes it    name: of its file on a page
    chosen: names of the columns that the reader wants    left_out: those for which there is no room, with
    their first cells    least: the columns that a narrow terminal leaves out, the first of them first
    also: tables below it, of the same terms
    records: what JSON holds, a list, or DataFrames by name    flat: returns what CSV holds, else the records
    """

    columns: Sequence[Column]
    rows: Sequence[TableRow]
    title: str = ""
    name: str = ""
    shared: str = ""
    terms: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    findings: Sequence[str] = ()
    notes: Sequence[str] = ()
    below: Sequence[str] = ()
    command: str = ""
    chosen: Sequence[str] = ()
    left_out: Sequence[tuple[Column, str | Spread]] = ()
    least: Sequence[str] = ()
    also: "Sequence[TableContent]" = ()
    records: "Records | Mapping[str, pd.DataFrame]" = field(default=(), repr=False)
    flat: "Callable[[], Records | pd.DataFrame] | None" = field(default=None, repr=False)

    @property
    def is_plain(self) -> bool:
        """Whether it is a list of plain values, not of results."""
        return not isinstance(self.records, Mapping)

    def only(self, places: Sequence[int]) -> Self:
        """Return the table with the columns at these places."""
        rows = [replace(row, cells=[row.cells[at] for at in places]) for row in self.rows]
        return replace(self, columns=[self.columns[at] for at in places], rows=rows)

    def cell_texts(self) -> list[list[str | Spread]]:
        """Return the cells as text shows them: a data set named once, the numbers of notes at the verdict."""
        shown, group = [], ""
        for row in self.rows:
            cells = list(row.cells)
            for at, column in enumerate(self.columns):
                if column.name == "data" and group and row.group == group:
                    cells[at] = ""
                if column.name == "verdict":
                    cells[at] = "".join([str(cells[at]), *(f" [{number}]" for number in row.refs)])
            shown.append(cells)
            group = row.group
        return shown
