"""One learner against each of the others over data sets: Wilcoxon's test, and a Bayesian one.

Average ranks and Nemenyi's test depend on which other learners are in the comparison; these do not."""

from typing import TYPE_CHECKING

from omkl.reports.statistics import (
    ALPHA,
    bayesian_signed_rank,
    holm,
    signed_rank,
)
from omkl.reports.table import Table

if TYPE_CHECKING:
    pass
from omkl.reports.ranks import AverageRanks

_HOLM = "p (Holm)"  # shown where there are enough data sets for a value below ALPHA
_TERMS = [
    ("rank", "average over the data sets, 1 for the best of each"),
    ("sets", "data sets where the first learner is better, practically equal, worse"),
    (
        _HOLM,
        "of Wilcoxon's signed-rank test over the data sets, two-sided, corrected for all rows",
    ),
    (
        "P(...)",
        "probabilities that the first learner is practically better, equal or worse on a further data set "
        "(Bayesian signed-rank test, Benavoli et al. 2017); practically equal: within 0.5 percentage points, "
        "0.005 of a score, or 0.5 % of an error in the target's units",
    ),
]


def comparison(ranks: AverageRanks, first: str = "") -> Table:
    """Return how one learner compares with each of the others over the data sets of the ranks.

    first: a learner of the ranks; that of the lowest average rank where none is named
    """
    first = first or next(iter(ranks.average))
    others = [name for name in ranks.average if name != first]
    # in units of what is practically equal
    scaled = (ranks.values[others].sub(ranks.values[first], axis=0)).div(ranks.equal, axis=0)
    p_values = holm(signed_rank(scaled.to_numpy(float).T))
    can_differ = 2.0 ** (1 - len(scaled)) * len(others) < ALPHA  # the least p-value, corrected
    records: list[dict[str, object]] = []
    shown = []
    for name, p in zip(others, p_values.tolist(), strict=True):
        differences = scaled[name].to_numpy(float)
        sets = [int((differences > 1).sum()), 0, int((differences < -1).sum())]
        sets[1] = len(differences) - sum(sets)
        better, equal, worse = bayesian_signed_rank(differences)
        about = {"learner": name, "rank": ranks.average[name], "better": sets[0], "equal": sets[1]}
        about |= {"worse": sets[2], "p_holm": p, "p_better": better, "p_equal": equal, "p_worse": worse}
        records.append(about)
        shown.append(
            {
                "learner": name,
                "rank": f"{ranks.average[name]:.2f}",
                "sets": ":".join(map(str, sets)),
                _HOLM: f"{p:.3f}",
                "P(better)": f"{better:.2f}",
                "P(equal)": f"{equal:.2f}",
                "P(worse)": f"{worse:.2f}",
            }
        )
    terms = [term for term in _TERMS if term[0] != _HOLM or can_differ]
    if not can_differ:
        shown = [{name: text for name, text in row.items() if name != _HOLM} for row in shown]
    subject = f"{first} (rank {ranks.average[first]:.2f})"
    title = f"{subject} against each of the others, over {len(scaled)} data sets"
    return Table.of(records, shown, title=title, terms=terms)
