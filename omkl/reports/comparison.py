"""Learners compared over data sets one by one: Wilcoxon's test, and a Bayesian one that can find them equal.

Average ranks and Nemenyi's test (`omkl.reports.ranks`) depend on which other learners are in the comparison;
these do not.
"""

from typing import TYPE_CHECKING

import numpy as np

from omkl.reports.ranks import Ranks
from omkl.reports.summary import LEAST_COMMON, Tested, against_best, holm
from omkl.reports.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from omkl.reports.rows import Row

SAMPLES = 50_000  # of the posterior: three digits of a probability
SEED = 0
_PRIOR = 0.5  # weight of the prior's pseudo-observation, at no difference

_TERMS = [
    ("rank", "average over the data sets, 1 for the best of each"),
    ("sets", "data sets where the first learner is better, practically equal, worse"),
    (
        "p (Holm)",
        "of Wilcoxon's signed-rank test over the data sets, two-sided, corrected for all rows",
    ),
    (
        "P(...)",
        "probabilities that the first learner is practically better, equal or worse on a further data set "
        "(Bayesian signed-rank test, Benavoli et al. 2017); practically equal: within 0.5 percentage points, "
        "0.005 of a score, or 0.5 % of an error in the target's units",
    ),
]


def comparison(ranks: Ranks, first: str = "") -> Table:
    """Return how one learner compares with each of the others over the data sets of the ranks.

    first: a learner of the ranks; that of the lowest average rank where none is named
    """
    first = first or next(iter(ranks.average))
    others = [name for name in ranks.average if name != first]
    # in units of what is practically equal
    scaled = (ranks.values[others].sub(ranks.values[first], axis=0)).div(ranks.equal, axis=0)
    p_values = holm(signed_rank_ps(scaled.to_numpy(float).T))
    records: list[dict[str, object]] = []
    shown = []
    for name, p in zip(others, p_values.tolist(), strict=True):
        differences = scaled[name].to_numpy(float)
        sets = [int((differences > 1).sum()), 0, int((differences < -1).sum())]
        sets[1] = len(differences) - sum(sets)
        better, equal, worse = signed_rank(differences)
        about = {"learner": name, "rank": ranks.average[name], "better": sets[0], "equal": sets[1]}
        about |= {"worse": sets[2], "p_holm": p, "p_better": better, "p_equal": equal, "p_worse": worse}
        records.append(about)
        shown.append(
            {
                "learner": name,
                "rank": f"{ranks.average[name]:.2f}",
                "sets": ":".join(map(str, sets)),
                "p (Holm)": f"{p:.3f}",
                "P(better)": f"{better:.2f}",
                "P(equal)": f"{equal:.2f}",
                "P(worse)": f"{worse:.2f}",
            }
        )
    own = f"{first} (rank {ranks.average[first]:.2f})"
    title = f"{own} against each of the others, over {len(scaled)} data sets"
    return Table.of(records, shown, title=title, terms=_TERMS)


def signed_rank(differences: np.ndarray) -> tuple[float, float, float]:
    """Return the probabilities that a further difference is above 1, within 1, and below -1.

    differences (n,): of the other learner's error less the first's, in units of what is practically equal.
    Source: A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, Time for a change, JMLR 18 (2017), section 4.2.1:
    a Dirichlet process with one pseudo-observation of no difference; each sample of it weighs the Walsh sums,
    and the probability of a region is the share of samples that give it the largest weight.
    """
    z = np.append(0.0, differences)
    sums = z[:, None] + z[None, :]
    above, below = (np.heaviside(sign * sums - 2.0, 0.5) for sign in (1.0, -1.0))
    weights = np.random.default_rng(SEED).dirichlet(np.r_[_PRIOR, np.ones(len(differences))], SAMPLES)
    better, worse = (((weights @ region) * weights).sum(axis=1) for region in (above, below))
    largest = np.argmax([better, 1.0 - better - worse, worse], axis=0)
    better_share, equal_share, worse_share = np.bincount(largest, minlength=3) / SAMPLES
    return float(better_share), float(equal_share), float(worse_share)


def signed_rank_ps(differences: np.ndarray) -> np.ndarray:
    """Return the two-sided p-values (R,) of Wilcoxon's signed-rank test of differences (R, n).

    Ranks of differences that are 0 are halved between the signs; p is 1 where all are 0.
    """
    from scipy.stats import wilcoxon

    p_values = np.ones(len(differences))
    varied = (differences != 0).any(axis=1)
    if varied.any():
        p_values[varied] = wilcoxon(differences[varied], zero_method="zsplit", axis=1).pvalue
    return p_values


def holm_ps(rows: "list[Row]", summary: "pd.DataFrame", cells: "pd.DataFrame") -> np.ndarray:
    """Return Wilcoxon's p-values (R,) of rows against the best of their data set, with Holm's correction.

    Over the permutations that both have run; NaN for the best row, and for fewer than LEAST_COMMON of them.
    The correction is over the rows of a data set. summary: of these rows
    """
    p_values = np.full(len(rows), np.nan)
    for best, competing, parts in against_best(rows, summary, Tested(cells)):
        for own, differences in parts:
            if differences.shape[1] >= LEAST_COMMON:
                p_values[own] = signed_rank_ps(differences)
        p_values[best] = np.nan
        p_values[competing] = holm(p_values[competing])
    return p_values
