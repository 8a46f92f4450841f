"""Average ranks of learners over data sets, and significant differences (Demsar, 2006)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from omkl.errors import UserError, counted
from omkl.reports.captions import some
from omkl.reports.measures import best_of, costs_in, measure_of, yardsticks_of
from omkl.reports.summary import ALPHA, grid_table

if TYPE_CHECKING:
    import pandas as pd

MOST_REASONS = 3  # that a message names
DRAWN = 10  # learners of a diagram; a table has all


@dataclass(frozen=True)
class Ranks:
    """Average ranks of k learners over N data sets and the tests on them.

    average: rank by learner, best (lowest) first    each: ranks, a row per data set, a column per learner
    left_out: texts: what is not compared, and why    chi2, chi2_p: Friedman's test, corrected for ties
    F, F_p: Iman and Davenport's correction of it    cd: Nemenyi's critical difference at level alpha
    groups: learners that do not differ significantly, best first: ranks within less than cd; maximal,
    of two or more
    values: what is ranked, less is better    equal: by data set, the difference that is practically none
    yardsticks: which of the learners are yardsticks    least: what rank 1 has
    """

    average: dict[str, float]
    each: "pd.DataFrame"
    left_out: tuple[str, ...]
    chi2: float
    chi2_p: float
    F: float
    F_p: float
    cd: float
    groups: tuple[tuple[str, ...], ...]
    alpha: float
    values: "pd.DataFrame"
    equal: "pd.Series"
    yardsticks: tuple[str, ...] = ()
    least: str = "fewest mistakes"
    name: str = "ranks"

    @property
    def drawn(self) -> dict[str, float]:
        """The learners of the diagram, the best of all."""
        return dict(list(self.average.items())[:DRAWN])

    @property
    def drawn_groups(self) -> list[tuple[str, ...]]:
        """The groups among the learners of the diagram, of two or more."""
        own = [tuple(name for name in group if name in self.drawn) for group in self.groups]
        return [group for group in own if len(group) > 1]

    def caption(self) -> str:
        """Return one line: how many sets and learners, the critical difference, Friedman's test."""
        n, k = self.each.shape
        return (
            f"average ranks of {k} learners over {n} data sets (1: {self.least}) · "
            f"Nemenyi CD {self.cd:.2f} at {100 * self.alpha:g} % · "
            f"Friedman χ² = {self.chi2:.1f}, {p_text(self.chi2_p)} · "
            f"Iman-Davenport F = {self.F:.1f}, {p_text(self.F_p)}"
        )


def p_text(p: float) -> str:
    """Return a p-value as ``p = 0.012``, a tiny one as ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def average_ranks(summary: "pd.DataFrame") -> Ranks:
    """Rank the rows of a summary (summary.summary_of) on each data set by the measure that compares them.

    A data set counts when all learners have finished it (``complete``); a learner that has finished none is
    left out; ``left_out`` has both, one line for all data sets of the same reason. A hyperparameter that is
    chosen per data set (a column ``per_data`` of names) makes no learner of its own.

    Raises UserError as ``ranks_of`` does, and for two rows of the same learner on one data set.
    """
    table = grid_table(summary)
    if (twice := table[table.duplicated(["data", "line"])]).size:
        first = twice.iloc[0]
        raise UserError(f"'{first['line']}' has two rows on {first['data']}: ranks need one")
    values = table.assign(value=np.where(table["complete"], costs_in(table), np.nan))
    values = values.pivot(index="data", columns="line", values="value")
    values = values.reindex(index=table["data"].unique(), columns=table["line"].unique())
    absent = [line for line in values if values[line].isna().all()]
    have = "have" if len(absent) > 1 else "has"
    left_out = [f"{some(absent)}: {have} finished no data set"] if absent else []
    values = values.drop(columns=absent)
    reasons: dict[str, list[str]] = {}
    for name, row in values[values.isna().any(axis=1)].iterrows():
        reasons.setdefault(some(list(row.index[row.isna()]), at_most=MOST_REASONS), []).append(str(name))
    left_out += [f"{some(sets)}: not finished by {names}" for names, sets in reasons.items()]
    ranks = ranks_of(values.dropna(), left_out=left_out)
    yardsticks = tuple(line for line in ranks.each if line in set(yardsticks_of(table)["line"]))
    equal = ranks.equal.copy()
    for data, row in ranks.values.iterrows():
        measure = measure_of(table[table["data"] == data].iloc[0])
        equal[data] = measure.practically_equal(row.abs().median())
    return replace(ranks, yardsticks=yardsticks, least=best_of(table) or "lowest", equal=equal)


def ranks_of(values: "pd.DataFrame", alpha: float = ALPHA, left_out: Iterable[str] = ()) -> Ranks:
    """Rank learners (columns) on data sets (rows), the lowest value first; ties get the mean of their ranks.

    Source: J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), 3.2.
    Raises UserError for fewer than two data sets or three learners: the tests need that many.
    """
    import pandas as pd
    from scipy.stats import f, friedmanchisquare, rankdata

    left_out = tuple(left_out)
    n, k = values.shape
    if n < 2 or k < 3:
        why = f" (left out: {some(left_out, '; ', MOST_REASONS)})" if left_out else ""
        raise UserError(
            f"ranks need at least 2 data sets that 3 learners have finished; here {counted(k, 'learner')} "
            f"{'has' if k == 1 else 'have'} finished {counted(n, 'data set')}{why}"
        )
    numbers = values.to_numpy(dtype=float)
    each = pd.DataFrame(rankdata(numbers, axis=1), index=values.index, columns=values.columns)
    average = each.mean().sort_values(kind="stable").to_dict()
    if (each == each.iloc[0, 0]).all(axis=None):  # all tie everywhere, which leaves the test 0/0
        chi2, chi2_p = 0.0, 1.0
    else:
        chi2, chi2_p = map(float, friedmanchisquare(*numbers.T))
    rest = n * (k - 1) - chi2
    F = (n - 1) * chi2 / rest if rest > 1e-9 else np.inf
    cd = critical_difference(k, n, alpha)
    F_p = float(f.sf(F, k - 1, (k - 1) * (n - 1)))
    found = (chi2, chi2_p, F, F_p, cd, _groups(average, cd), alpha)
    return Ranks(average, each, left_out, *found, values, pd.Series(0.0, index=values.index))


def critical_difference(k: int, n: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of average ranks of k learners over n data sets."""
    from scipy.stats import studentized_range

    # q_alpha: the Studentized range of k means, infinite degrees of freedom, over sqrt 2.
    q = float(studentized_range.ppf(1.0 - alpha, k, np.inf)) / float(np.sqrt(2.0))
    return q * float(np.sqrt(k * (k + 1) / (6.0 * n)))


def _groups(average: dict[str, float], cd: float) -> tuple[tuple[str, ...], ...]:
    names, ranks = list(average), list(average.values())
    groups: list[tuple[str, ...]] = []
    reached = 0
    for first, rank in enumerate(ranks):
        stop = sum(other - rank < cd for other in ranks)  # ascending: a group is a run of names
        if stop > max(reached, first + 1):
            groups.append(tuple(names[first:stop]))
            reached = stop
    return tuple(groups)
