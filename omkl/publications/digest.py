"""The page's answer: what to take, by the error over the best and tests over data sets."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.publications.compare import Compared, compare_rows
from omkl.publications.paper import DigestLine, Item, Paper
from omkl.publications.selection import PaperPlans, Selection, plans_of
from omkl.publications.table_result import TableResult
from omkl.publications.tuned_ranks import not_tuned
from omkl.reports import results_table
from omkl.reports.captions import some
from omkl.reports.grid import grid_table
from omkl.reports.measures import learners_of
from omkl.reports.results_table import number
from omkl.reports.statistics import ALPHA
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING

if TYPE_CHECKING:
    import pandas as pd

    from omkl.store.outcome import Outcome


NAMED = 4  # learners that are named as level with the first
ENOUGH = 3  # data sets from which on there is a test
UNDECIDED = "not decided"
_LEVEL = "level with it"
_OF_FIRST = ("take", "error", "µs", "MiB")
_HALF = 50.0  # percent: of one round, which is the least error that a ratio takes
_OF_DIGEST = [
    (
        "take",
        "the learner with the least error, where the second differs from it; not decided where it does not, "
        f"and of fewer than {ENOUGH} data sets",
    ),
    ("error", "of the first, over that of the best learner of each data set: the geometric mean"),
    ("µs", "of its time for a row: the median over the data sets"),
    ("MiB", "its memory, that of its pass less the least of any pass there: the median"),
    (
        _LEVEL,
        "learners that do not differ from the first (paired t-test of the logarithms of the errors over the "
        "data sets, two-sided, 5 %), those of less error first, with their error; where nothing is decided "
        "the first is among them",
    ),
]


def digest(paper: Paper, item: Item, selection: Selection, **how: Any) -> TableResult:
    """Return a row for each of the item's ``lines``: which learner to take, and what it costs.

    A line has a ``problem`` and its ``runs``. how: of ``PaperPlans.run``
    """
    whole = plans_of(paper, [item], selection)
    outcome = whole.run(**how)
    command = selection.command("table", item.name, item)
    answers, warnings = [], dict.fromkeys(not_tuned(whole, f"`omkl tune {paper.name}`"))
    for line in item.options["lines"]:
        compared = _compared(paper, item, line, whole, outcome)
        whole_rows = compared.whole[compared.whole["missing"] == ""]
        warnings |= dict.fromkeys(results_table.incomplete(whole_rows, compared.expected, f"`{command}`"))
        names = replace(item, title="{data}").titled(compared.summary["data"])
        answers.append({"problem": line.problem, "data": names, **_answer(compared)})
    import pandas as pd

    flat = pd.DataFrame([answer | {_LEVEL: "; ".join(answer[_LEVEL])} for answer in answers])
    answers = [answer | {_LEVEL: some(answer[_LEVEL], "; ", NAMED)} for answer in answers]
    about: dict[str, Any] = {"title": item.titled(), "terms": _OF_DIGEST, "command": command}
    about |= {"warnings": list(warnings), "flat": lambda: flat}
    table = replace(Table.of(answers, **about), records={"digest": flat})
    return TableResult(table, outcome, table.title)


def _compared(paper: Paper, item: Item, line: DigestLine, work: PaperPlans, outcome: "Outcome") -> Compared:
    of_line = replace(item, runs=tuple(run for run in item.runs if run.name in line.runs), options={})
    return compare_rows(paper, of_line, work, outcome)


def _answer(compared: Compared) -> dict[str, Any]:
    """Return the learner of the least error over the best, what it costs, and what is level with it.

    Of the learners that have finished all data sets.
    """
    learners = learners_of(compared.summary)
    grid = grid_table(learners[learners["complete"].astype(bool)])
    grid["error"] = [_error(row) for row in grid.to_dict("records")]
    errors = grid.pivot(index="data", columns="line", values="error").dropna(axis="columns")
    if errors.empty:
        return dict.fromkeys(_OF_FIRST, MISSING) | {_LEVEL: []}
    logs = np.log(errors)
    over = np.exp(logs.sub(logs.min(axis="columns"), axis="index").mean()).sort_values(kind="stable")
    first, level = over.index[0], list(over.index)
    if len(errors) >= ENOUGH:
        level = [name for name in level if _p(logs[first], logs[name]) >= ALPHA]
    decided = len(errors) >= ENOUGH and over.index[1:2].isin(level).sum() == 0
    rows = grid[grid["line"] == first]
    least = grid.groupby("data")["memory_mib_mean"].transform("min")
    named = [f"{name} {over[name]:.2f}" for name in level if not decided or name != first]
    return {
        "take": first if decided else UNDECIDED,
        "error": f"{over[first]:.3f}",
        "µs": number(float((1e6 * rows["seconds_mean"] / rows["T"]).median()), 1),
        "MiB": number(float((rows["memory_mib_mean"] - least[rows.index]).median()), 1),
        _LEVEL: named,
    }


def _error(row: dict[str, Any]) -> float:
    """Return the error of a row; of mistakes half a round at least, so that there is a ratio to none."""
    measure = row["measure"]
    error = float(row[f"{measure}_mean"])
    return max(error, _HALF / row["T"]) if measure == "mistake_pct" else error


def _p(first: "pd.Series", other: "pd.Series") -> float:
    """Return the p-value of a paired t-test, 1 for equal values."""
    from scipy.stats import ttest_rel

    return 1.0 if (first == other).all() else float(ttest_rel(first, other).pvalue)
