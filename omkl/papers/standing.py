"""Average ranks over the data sets of a table, in words."""

from typing import TYPE_CHECKING

from omkl.errors import UserError
from omkl.reports.captions import some

if TYPE_CHECKING:
    import pandas as pd


def standing_text(summary: "pd.DataFrame") -> str:
    """Return one paragraph: average ranks, critical difference, Friedman's test; or why there are none."""
    from omkl.reports.measures import measure_of
    from omkl.reports.ranks import MOST_REASONS, average_ranks

    try:
        found = average_ranks(summary, measure=measure_of(summary).name)
    except UserError as error:
        return f"No ranks: {error}."
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found.average.items())
    groups = "; ".join(_group(group, len(found.average)) for group in found.groups)
    left = f" Left out: {some(found.left_out, '; ', MOST_REASONS)}." if found.left_out else ""
    return f"Ranks: {ranks} ({found.caption()}). Not significantly different: {groups or 'none'}.{left}"


def _group(names: tuple[str, ...], of: int) -> str:
    """Return learners that follow one another in rank, in few words."""
    if len(names) == of:
        return "all of them"
    return " = ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]} ({len(names)})"
