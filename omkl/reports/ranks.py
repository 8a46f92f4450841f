"""Average ranks of learners over data sets, and significant differences (Demsar, 2006)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omkl.errors import UserError, counted
from omkl.reports.captions import some
from omkl.reports.grid import grid_table
from omkl.reports.measures import best_of, measure_of, yardsticks_of
from omkl.reports.statistics import (
    ALPHA,
    Friedman,
    critical_difference,
    friedman,
    maximal_groups,
)

if TYPE_CHECKING:
    import pandas as pd


MOST_REASONS = 3  # that a message names
DRAWN = 10  # learners of a diagram; a table has all


@dataclass(frozen=True)
class AverageRanks:
    """Average ranks of k learners over N data sets and the tests on them.

    average: rank by learner, best (lowest) first    each: ranks, a row per data set, a column per learner
    left_out: texts: what is not compared, and why    test: Friedman's, with Iman and Davenport's correction
    cd: Nemenyi's critical difference at level alpha
    groups: learners that do not differ significantly, best first: ranks within less than cd; maximal,
    of two or more
    values: what is ranked, less is better    equal: by data set, the difference that is practically none
    yardsticks: which of the learners are yardsticks    least: what rank 1 has
    """

    average: dict[str, float]
    each: "pd.DataFrame"
    left_out: tuple[str, ...]
    test: Friedman
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
        """The groups among the learners of the diagram, of two or more, none inside another."""
        ends = maximal_groups(list(self.drawn.values()), self.cd)
        return [tuple(self.drawn)[first:stop] for first, stop in ends]

    @property
    def tells(self) -> bool:
        """Whether a diagram says something: two learners can differ by more than the critical difference."""
        return self.cd < len(self.average) - 1

    def sentence(self) -> str:
        """Return in words what the diagram shows: the averages, and who is not significantly different."""
        averages = ", ".join(f"{name} {rank:.2f}" for name, rank in self.average.items())
        n, k = self.each.shape
        if not self.tells:
            return (
                f"Average ranks over {n} data sets: {averages}. There are too few data sets to distinguish "
                f"{k} learners by rank (Nemenyi CD {self.cd:.2f})."
            )
        groups = "; ".join(_group(group, k) for group in self.groups) or "none"
        return f"Ranks: {averages} ({self.caption()}). Not significantly different: {groups}."

    def caption(self) -> str:
        """Return one line: how many sets and learners, the critical difference, Friedman's test."""
        n, k = self.each.shape
        return (
            f"average ranks of {k} learners over {n} data sets (1: {self.least}) · "
            f"Nemenyi CD {self.cd:.2f} at {100 * self.alpha:g} % · "
            f"Friedman χ² = {self.test.chi2:.1f}, {p_text(self.test.chi2_p)} · "
            f"Iman-Davenport F = {self.test.F:.1f}, {p_text(self.test.F_p)}"
        )


def p_text(p: float) -> str:
    """Return a p-value as ``p = 0.012``, a tiny one as ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _group(names: tuple[str, ...], count: int) -> str:
    """Return learners that follow one another in rank, in few words."""
    if len(names) == count:
        return "all of them"
    return " = ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]} ({len(names)})"


def average_ranks(summary: "pd.DataFrame") -> AverageRanks:
    """Rank the rows of a summary (summary.summary_of) on each data set by the measure that compares them.

    Over the permutations that all complete rows of the data set have run (the column ``ranked``).
    A data set counts when all learners have finished it (``complete``); a learner that has finished none is
    left out; ``left_out`` has both, one line for all data sets of the same reason. A hyperparameter that is
    chosen per data set (a column ``per_data`` of names) makes no learner of its own.

    Raises UserError as ``ranks_of`` does, and for two rows of the same learner on one data set.
    """
    grid = grid_table(summary)
    if (twice := grid[grid.duplicated(["data", "line"])]).size:
        first = twice.iloc[0]
        raise UserError(f"'{first['line']}' has two rows on {first['data']}: ranks need one")
    values = grid.pivot(index="data", columns="line", values="ranked")
    values = values.reindex(index=grid["data"].unique(), columns=grid["line"].unique())
    absent = [line for line in values if values[line].isna().all()]
    have = "have" if len(absent) > 1 else "has"
    left_out = [f"{some(absent)}: {have} finished no data set"] if absent else []
    values = values.drop(columns=absent)
    reasons: dict[str, list[str]] = {}
    for name, row in values[values.isna().any(axis=1)].iterrows():
        reasons.setdefault(some(list(row.index[row.isna()]), at_most=MOST_REASONS), []).append(str(name))
    left_out += [f"{some(sets)}: not finished by {names}" for names, sets in reasons.items()]
    ranks = ranks_of(values.dropna(), left_out=left_out)
    yardsticks = tuple(line for line in ranks.each if line in set(yardsticks_of(grid)["line"]))
    equal = ranks.equal.copy()
    for data, row in ranks.values.iterrows():
        measure = measure_of(grid[grid["data"] == data].iloc[0])
        equal[data] = measure.practically_equal(row.abs().median())
    return replace(ranks, yardsticks=yardsticks, least=best_of(grid) or "lowest", equal=equal)


def ranks_of(values: "pd.DataFrame", alpha: float = ALPHA, left_out: Iterable[str] = ()) -> AverageRanks:
    """Rank learners (columns) on data sets (rows), the lowest value first; ties get the mean of their ranks.

    Source: J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), 3.2.
    Raises UserError for fewer than two data sets or three learners: the tests need that many.
    """
    import pandas as pd
    from scipy.stats import rankdata

    left_out = tuple(left_out)
    n, k = values.shape
    if n < 2 or k < 3:
        why = f" (left out: {some(left_out, '; ', MOST_REASONS)})" if left_out else ""
        raise UserError(
            f"ranks need at least 2 data sets that 3 learners have finished; here {counted(k, 'learner')} "
            f"{'has' if k == 1 else 'have'} finished {counted(n, 'data set')}{why}"
        )
    numbers = values.to_numpy(dtype=float)
    ranks = pd.DataFrame(rankdata(numbers, axis=1), index=values.index, columns=values.columns)
    average = ranks.mean().sort_values(kind="stable").to_dict()
    cd = critical_difference(k, n, alpha)
    groups = tuple(tuple(average)[first:stop] for first, stop in maximal_groups([*average.values()], cd))
    equal = pd.Series(0.0, index=values.index)
    return AverageRanks(average, ranks, left_out, friedman(numbers), cd, groups, alpha, values, equal)
