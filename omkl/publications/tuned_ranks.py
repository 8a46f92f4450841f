"""Average ranks of tuned learners, and which of these are not tuned yet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omkl.publications.selection import PaperPlans
from omkl.reports.captions import some

if TYPE_CHECKING:
    import pandas as pd

    from omkl.reports.ranks import AverageRanks


def not_tuned(work: PaperPlans, command: str) -> list[str]:
    """Return a warning about what is not tuned yet and so has no row; command: tunes it."""
    waiting: dict[str, list[str]] = {}
    for _, data, learner in work.pending:
        waiting.setdefault(data, []).append(learner)
    begun = {ref.name for part in work.parts for ref in part.plan.data}
    whole = [data for data in waiting if data not in begun]
    lines = [f"{some(whole, at_most=20)} (all learners)"] if whole else []
    lines += [f"{data} ({some(names)})" for data, names in waiting.items() if data in begun]
    return [f"NOT TUNED YET, so without rows: {'; '.join(lines)}; {command} tunes them"] if lines else []


def ranks_of_grid(grid: "pd.DataFrame", sets: Sequence[str]) -> "AverageRanks":
    """Return the ranks of the rows that have finished all of these data sets; rivals may lack some."""
    from omkl.reports.ranks import average_ranks

    grid = grid[grid["data"].isin(sets)]
    finished = grid[grid["complete"].astype(bool)].groupby("line")["data"].nunique()
    grid = grid[grid["line"].isin(finished[finished == len(sets)].index)]
    return average_ranks(grid.drop(columns="line"))
