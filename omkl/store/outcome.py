"""The outcome of plans: their rows, the cells of these that have finished, and what failed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omkl.config.planned import PlannedRow
from omkl.store.fields import with_extra

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Outcome:
    """The outcome of plans.

    planned: the rows of each plan    cells: one line per finished cell of the plans (learners and
    yardsticks), in their order, with the columns of ``Store.cells``
    failed: the lines of cells that failed in this run    requested, ran, reused: numbers of cells
    seconds: of this call    interrupted: ended by Ctrl-C
    stale: numbers of stored cells of older revisions, which do not count, by (learner, revision); of a
    learner of a folder also those of another source
    """

    planned: tuple[tuple[PlannedRow, ...], ...]
    cells: "pd.DataFrame"
    failed: list[dict[str, Any]]
    requested: int
    ran: int
    reused: int
    seconds: float
    interrupted: bool
    stale: dict[tuple[str, int | str], int]

    @classmethod
    def joined(cls, outcomes: Sequence["Outcome"]) -> "Outcome":
        """Return several outcomes as one, each cell once."""
        import pandas as pd

        first, *others = outcomes
        if not others:
            return first
        tables = [outcome.cells for outcome in outcomes]
        if any(set(one) != set(tables[0]) for one in tables):  # some with all that is stored, some without
            tables = [with_extra(one) for one in tables]
        cells = pd.concat(tables, ignore_index=True)
        failed = {line["key"]: line for outcome in outcomes for line in outcome.failed}
        return replace(
            first,
            planned=tuple(rows for outcome in outcomes for rows in outcome.planned),
            cells=cells[~cells["key"].duplicated()].reset_index(drop=True),
            failed=list(failed.values()),
            stale={which: count for outcome in outcomes for which, count in outcome.stale.items()},
        )
