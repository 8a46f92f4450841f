"""Average ranks over the data sets of a table, in words."""

from typing import TYPE_CHECKING

from omkl.errors import UserError

if TYPE_CHECKING:
    import pandas as pd


def standing_text(summary: "pd.DataFrame") -> str:
    """Return one paragraph: average ranks, critical difference, Friedman's test; or why there are none."""
    from omkl.reports.ranks import average_ranks
    from omkl.reports.tasks import measure_of

    try:
        found = average_ranks(summary, measure=measure_of(summary).name)
    except UserError as error:
        return f"No ranks: {error}."
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found.average.items())
    groups = "; ".join(" = ".join(group) for group in found.groups)
    left = f" Left out: {'; '.join(found.left_out)}." if found.left_out else ""
    return f"Ranks: {ranks} ({found.caption()}). Not told apart: {groups or 'none'}.{left}"
