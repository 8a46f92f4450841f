"""The page's answer: what to take, of the tables of tuned learners."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.publications.compare import Compared, compare_rows
from omkl.publications.paper import DigestLine, Item, Paper
from omkl.publications.selection import PaperPlans, Selection, plans_of
from omkl.publications.table_result import TableResult
from omkl.publications.tuned_ranks import not_tuned, ranks_of_grid
from omkl.reports import results_table
from omkl.reports.grid import grid_table
from omkl.reports.measures import learners_of
from omkl.reports.results_table import number
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING

if TYPE_CHECKING:
    import pandas as pd

    from omkl.store.outcome import Outcome


SHOWN = 10  # learners of a matrix
NEXT = 2  # learners named after the first
ENOUGH = 5  # data sets from which on ranks say which learner to take
UNDECIDED = "not decided"
_OF_FIRST = ("take", "rank", "best on", "error", "µs", "MiB")
_OF_DIGEST = [
    (
        "take",
        "the learner with the lowest average rank among those that have finished all data sets; not decided "
        f"where two have it, or where there are fewer than {ENOUGH} data sets",
    ),
    ("best on", "data sets where it is best, or not significantly worse than the best of all"),
    ("error", "over that of the best learner of each data set: the mean"),
    ("µs", "of learner time for a row: the median over the data sets"),
    ("MiB", "memory of a learner, that of its pass less the least of any pass there: the median"),
    ("then", "the next, of equal ranks the one with less memory first; each with its rank"),
]


def digest(paper: Paper, item: Item, selection: Selection, **how: Any) -> TableResult:
    """Return a row for each of the item's ``lines``: which learner to take, and what it costs.

    A line has a ``problem`` and its ``runs``. how: of ``PaperPlans.run``
    """
    whole = plans_of(paper, [item], selection)
    outcome = whole.run(**how)
    command = selection.command("table", item.name)
    answers, warnings = [], dict.fromkeys(not_tuned(whole, f"`omkl tune {paper.name}`"))
    for line in item.options["lines"]:
        compared = _compared(paper, item, line, whole, outcome)
        whole_rows = compared.whole[compared.whole["missing"] == ""]
        warnings |= dict.fromkeys(results_table.incomplete(whole_rows, compared.expected, f"`{command}`"))
        names = replace(item, title="{data}").titled(compared.summary["data"])
        answers.append({"problem": line.problem, "data": names, **_answer(compared)})
    import pandas as pd

    flat = pd.DataFrame(answers)
    about: dict[str, Any] = {"title": item.titled(), "terms": _OF_DIGEST, "command": command}
    about |= {"warnings": list(warnings), "flat": lambda: flat}
    table = replace(Table.of(answers, **about), records={"digest": flat})
    return TableResult(table, outcome, table.title)


def _compared(paper: Paper, item: Item, line: DigestLine, work: PaperPlans, outcome: "Outcome") -> Compared:
    of_line = replace(item, runs=tuple(run for run in item.runs if run.name in line.runs), options={})
    return compare_rows(paper, of_line, work, outcome)


def _answer(compared: Compared) -> dict[str, Any]:
    """Return the first of the ranks, how good it is and what it costs; why not where there are none."""
    grid = grid_table(learners_of(compared.summary))
    sets = list(dict.fromkeys(grid["data"]))
    try:
        ranks = ranks_of_grid(grid, sets)
    except UserError as error:
        return dict.fromkeys(_OF_FIRST, MISSING) | {"then": str(error)}
    least = grid.groupby("data")["memory_mib_mean"].transform("min")
    memory = (grid["memory_mib_mean"] - least).groupby(grid["line"]).median()
    order = sorted(ranks.average, key=lambda line: (round(ranks.average[line], 1), memory[line]))
    named = [f"{line} {ranks.average[line]:.1f}" for line in order]
    first = order[0]
    if len(sets) < ENOUGH or named[0].split()[-1] == named[1].split()[-1]:
        undecided = {"take": UNDECIDED, "then": ", ".join(named[: NEXT + 1])}
        return dict.fromkeys(_OF_FIRST, MISSING) | undecided
    rows = grid[grid["line"] == first]
    good = int((rows["best"].astype(bool) | rows["marked"].astype(bool)).sum())
    return {
        "take": first,
        "rank": f"{ranks.average[first]:.1f} of {len(order)}",
        "best on": f"{good} of {len(sets)}",
        "error": f"{_over_best(grid, first):.3f}",
        "µs": number(float((1e6 * rows["seconds_mean"] / rows["T"]).median()), 1),
        "MiB": number(memory[first], 1),
        "then": ", ".join(named[1 : NEXT + 1]),
    }


def _over_best(grid: "pd.DataFrame", line: str) -> float:
    """Return the mean, over the data sets, of a row's error over that of the best row."""
    ratios = []
    for _, rows in grid.groupby("data"):
        error = rows[f"{rows['measure'].iloc[0]}_mean"]
        ratios.append(float(error[rows["line"] == line].iloc[0] / error.min()))
    return sum(ratios) / len(ratios)
