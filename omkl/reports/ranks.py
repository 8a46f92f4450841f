"""Average ranks of learners over data sets, significant differences, and their diagram (Demsar, 2006)."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import layout, style
from omkl.reports import look as looking
from omkl.reports.captions import some
from omkl.reports.grid import grid_table
from omkl.reports.look import points
from omkl.reports.measures import least_of, yardsticks_of
from omkl.reports.summary import ALPHA

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_REASONS = 3  # that a message names
_ROW = 0.21  # inches, of a label in the diagram; everything below the scale is measured in such rows
_BAR = 0.42  # rows between bars
_SCALE = 4.4  # inches


@dataclass(frozen=True)
class Ranks:
    """Average ranks of k learners over N data sets and the tests on them.

    average: rank by learner, best (lowest) first    each: ranks, a row per data set, a column per learner
    left_out: texts: what is not compared, and why    chi2, chi2_p: Friedman's test, corrected for ties
    F, F_p: Iman and Davenport's correction of it    cd: Nemenyi's critical difference at level alpha
    groups: learners that do not differ significantly, best first: ranks within less than cd; maximal,
    of two or more
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
    yardsticks: tuple[str, ...] = ()
    least: str = "fewest mistakes"

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


def average_ranks(summary: "pd.DataFrame", *, measure: str = "mistake_pct") -> Ranks:
    """Rank the rows of a summary (summary.summary_of) on each data set by the mean of a measure.

    A data set counts when all learners have finished it (``complete``); a learner that has finished none is
    left out; ``left_out`` has both, one line for all data sets of the same reason. A hyperparameter that is
    chosen per data set (a column ``per_data`` of names) makes no learner of its own.

    Raises UserError as ``ranks_of`` does, and for two rows of the same learner on one data set.
    """
    table = grid_table(summary)
    if (twice := table[table.duplicated(["data", "line"])]).size:
        first = twice.iloc[0]
        raise UserError(f"'{first['line']}' has two rows on {first['data']}: ranks need one")
    values = table.assign(value=table[f"{measure}_mean"].where(table["complete"]))
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
    return replace(ranks, yardsticks=yardsticks, least=least_of(table) or "lowest")


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
            f"ranks need at least 2 data sets that 3 learners have finished; here {k} learners have finished "
            f"{n} data set{'' if n == 1 else 's'}{why}"
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
    return Ranks(average, each, left_out, chi2, chi2_p, F, F_p, cd, _groups(average, cd), alpha)


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


# -------------------------------------------------------------------- the diagram


def draw_ranks(ranks: Ranks, title: str = "") -> "Figure":
    """Draw the critical-difference diagram (Demsar, 2006, Figure 1): a scale, best at the left, with labels.

    A thick bar joins learners that do not differ significantly. The better half is at the left.
    """
    names, k = list(ranks.average), len(ranks.average)
    # In the order of the table, so that colours are those of the learners' curves.
    learners = [name for name in ranks.each if name not in ranks.yardsticks]
    styles = style.line_styles(learners, list(ranks.yardsticks))
    half = (k + 1) // 2
    deep = 0.9 + _BAR * len(ranks.groups)  # rows from the scale to the first label
    beside = 2 * (0.3 + 0.068 * looking.factor() * (max(map(len, names)) + 7))
    width = looking.current().width or _SCALE + beside
    caption = _wrapped(ranks.caption(), width)
    if ranks.left_out:
        caption += _wrapped(f"left out: {some(ranks.left_out, '; ', MOST_REASONS)}", width)
    with style.looks():
        above = 0.4 if title and looking.current().title else 0.15
        figure = style.new_figure(width, _ROW * (3.2 + deep + half) + 0.17 * len(caption) + above)
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_xlim(1, k)
        axes.set_ylim(deep + half, -3.2)
        step = max(1, int(np.ceil(0.16 * (k - 1) / max(width - beside, 0.5))))
        _scale(axes, ranks.cd, k, step)
        for number, name in enumerate(names):
            row = deep + (number if number < half else k - 1 - number)
            _leg(axes, ranks.average[name], name, row, number < half, k, styles[name])
        for number, group in enumerate(ranks.groups):
            y, out = 0.45 + _BAR * number, 0.006 * (k - 1)
            ends = [ranks.average[group[0]] - out, ranks.average[group[-1]] + out]
            axes.plot(ends, [y, y], color="#222222", linewidth=3.5, solid_capstyle="butt", zorder=4)
        figure.supxlabel("\n".join(caption), fontsize=points(7.5), color=style.GREY, x=0.5)
        layout.put_title(figure, title)
    return figure


def _wrapped(text: str, width: float) -> list[str]:
    """Break a line between its parts, and parts that are longer than a line between words."""
    room = int(width / (0.06 * looking.factor()))
    lines: list[str] = []
    for part in text.split(" · "):
        if lines and len(lines[-1]) + 3 + len(part) <= room:
            lines[-1] += f" · {part}"
        else:
            lines += textwrap.wrap(part, room, break_on_hyphens=False)
    return lines


def _scale(axes: "Axes", cd: float, k: int, step: int) -> None:
    """Draw the scale, and above it the critical difference; with an arrow where that is longer.

    step: between the ranks that have a number
    """

    def stroke(x: list[float], y: list[float]) -> None:
        axes.plot(x, y, color="black", linewidth=1.0, clip_on=False)

    stroke([1, k], [0, 0])
    for rank in range(1, k + 1):
        stroke([rank, rank], [0, -0.35])
        number = "" if (rank - 1) % step else str(rank)
        axes.text(rank, -0.5, number, ha="center", va="bottom", fontsize=points(8))
    fits, end = 1 + cd <= k, min(1 + cd, k)
    stroke([1, end], [-2.0, -2.0])
    for place in (1, end) if fits else (1,):
        stroke([place, place], [-2.2, -1.8])
    text = f"CD = {cd:.2f}{'' if fits else ' →'}"
    axes.text((1 + end) / 2, -2.3, text, ha="center", va="bottom", fontsize=points(8))


def _leg(axes: "Axes", rank: float, name: str, row: float, left: bool, k: int, look: dict) -> None:
    side = 1 - 0.02 * (k - 1) if left else k + 0.02 * (k - 1)
    look = {**look, "linewidth": 1.2, "clip_on": False, "solid_joinstyle": "miter", "markevery": [2]}
    axes.plot([rank, rank, side], [0, row, row], **look)
    name = style.in_symbols(name)
    text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
    place: dict[str, Any] = {"ha": "right" if left else "left", "va": "center", "annotation_clip": False}
    offset = (-5 if left else 5, 0)
    axes.annotate(text, (side, row), offset, textcoords="offset points", fontsize=points(8.5), **place)
