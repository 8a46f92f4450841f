"""What shows itself as a table: its text in a terminal, HTML in a notebook, and other formats."""

from abc import ABC, abstractmethod

from omkl.reports.table import Table
from omkl.reports.table_cells import fitted


class Shown(ABC):
    """Something that is shown as a table."""

    @abstractmethod
    def report_table(self) -> Table:
        """Return the table for readers."""

    def render(self, fmt: str = "table") -> str:
        """Return the table as text: ``table``, ``json``, ``csv``, ``markdown`` or ``latex``."""
        return self.report_table().render(fmt)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        with fitted():
            return str(self)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return self.render("markdown")

    def to_latex(self) -> str:
        """Return the table as LaTeX (booktabs)."""
        return self.render("latex")

    def to_html(self) -> str:
        """Return the table as HTML without scripts, readable on light and dark ground."""
        return self.report_table().html()

    def _repr_html_(self) -> str:
        return self.to_html()

    @property
    def notes(self) -> list[str]:
        """What a reader must know: of the data, unfinished repetitions, failed cells, ends of a grid."""
        table = self.report_table()
        return [*table.about, *table.warnings]
