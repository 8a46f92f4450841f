"""What a comparison says, in one sentence: the best, what is level with it, and on how many data sets."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omkl.errors import counted
from omkl.reports.captions import some
from omkl.reports.measures import best_of, measure_of, signed_measures
from omkl.reports.results_table import digits_of, number
from omkl.reports.statistics import LEAST_COMMON

if TYPE_CHECKING:
    import pandas as pd

TEST = "paired t-test, 5 %"
Records = list[dict[str, Any]]


def answer_of(summary: "pd.DataFrame") -> str:
    """Return the sentence on a summary's rows, "" where no two of them compete."""
    done = summary[summary["reps"] > 0]
    done = done.assign(cost=signed_measures(done)) if len(done) else done
    groups = [part.to_dict("records") for _, part in done.groupby("data", sort=False) if len(part) > 1]
    groups = [rows for rows in groups if measure_of(rows[0]).better and any(row["best"] for row in rows)]
    if not groups:
        return ""
    return _of_one(groups[0]) if len(groups) == 1 else _of_several(groups, best_of(done))


def _of_one(rows: Records) -> str:
    best = [row for row in rows if row["best"]]
    pools = len({row["pool"] for row in rows if row["pool"]}) > 1
    names = [_name(row, pools) for row in best]
    measure = measure_of(best[0])
    value = best[0][f"{measure.name}_mean"]
    amount = f"{measure.header} {number(value, digits_of(measure, value))}"
    verb = "has" if len(best) == 1 else "have"
    first = f"{some(names, ' and ')} {verb} the {measure.best} on {best[0]['data']} ({amount})"
    if ours := _best_learners(rows):
        value = ours[0][f"{measure.name}_mean"]
        names = [_name(row, pools) for row in ours]
        first += f"; the best learner is {some(names, ' and ')} ({number(value, digits_of(measure, value))})"
    if not _tested(rows):
        return f"{first}; the differences are not tested."
    level = [_name(row, pools) for row in rows if row["marked"] and not row["best"]]
    if not level:
        return f"{first}; all others are significantly worse ({TEST})."
    return f"{first}; not significantly worse ({TEST}): {some(level, '; ')}."


def _of_several(groups: list[Records], best: str) -> str:
    """Return the sentence on rows of several data sets, by learners: their settings may differ."""
    firsts, levels, learners = Counter[str](), Counter[str](), Counter[str]()
    for rows in groups:
        first = {_learner(row): 1 for row in rows if row["best"]}
        firsts.update(first)
        levels.update({_learner(row): 1 for row in rows if row["marked"] and _learner(row) not in first})
        learners.update({_learner(row): 1 for row in _best_learners(rows)})
    winner, count = firsts.most_common(1)[0]
    text = f"{winner} has the {best} on {count} of {counted(len(groups), 'data set')}"
    text += "".join(f", {name}" for name in [_counts(firsts - Counter({winner: count}))] if name)
    if learners:
        text += f" (the best learner there is {_counts(learners)})"
    if not any(map(_tested, groups)):
        return f"{text}; the differences are not tested."
    if not levels:
        return f"{text}; all others are significantly worse ({TEST})."
    return f"{text}; not significantly worse than the best ({TEST}): {_counts(levels)}."


def _counts(sets: Counter[str]) -> str:
    return some([f"{name} on {count}" for name, count in sets.most_common()], "; ").replace("; ", ", ")


def _best_learners(rows: Records) -> Records:
    """Return the best rows that are no yardsticks where the best of all is one."""
    ours = [row for row in rows if not row["is_yardstick"] and row["cost"] == row["cost"]]
    if not ours or not all(row["is_yardstick"] for row in rows if row["best"]):
        return []
    return [row for row in ours if row["cost"] == min(one["cost"] for one in ours)]


def _tested(rows: Records) -> bool:
    return any(row["common"] >= LEAST_COMMON for row in rows if not row["best"])


def _learner(row: Mapping[str, Any]) -> str:
    return f"{row['label']} (yardstick)" if row["is_yardstick"] else row["label"]


def _name(row: Mapping[str, Any], pools: bool) -> str:
    about = [row["settings"], f"pool {row['pool']}" if pools and row["pool"] else ""]
    text = ", ".join(filter(None, about))
    return f"{_learner(row)} with {text}" if text else _learner(row)
