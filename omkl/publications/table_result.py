"""The result of a paper's table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omkl.reports.table import Table

if TYPE_CHECKING:
    from omkl.store.outcome import Outcome


@dataclass(frozen=True)
class TableResult:
    """A table, and the outcome of its run (None where nothing ran).

    title: with the data that are in it    warnings: of each claim
    """

    table: Table
    outcome: "Outcome | None" = None
    title: str = ""
    warnings: Sequence[Sequence[str]] = ()

    def text(self, fmt: str) -> str:
        """Return the table in a format of Table.render."""
        return self.table.render(fmt)
