"""The page of a plan: tables of ``omkl run`` or ``omkl sweep``, figures, data and origin."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.errors import UserError, counted
from omkl.figures.curves import learning_curves
from omkl.figures.figure import Figure
from omkl.figures.figure_names import file_stem
from omkl.figures.matrices import confusion
from omkl.figures.rank_diagram import rank_figure
from omkl.figures.sweeps import sweep_figure
from omkl.pages.documents import Filed, Page, Section
from omkl.pages.page_tables import data_sets, provenance
from omkl.reports.answer import answer_of
from omkl.reports.markdown import prose
from omkl.reports.measures import PAIR
from omkl.reports.pairwise import comparison
from omkl.reports.ranks import average_ranks
from omkl.reports.results_table import (
    AGAIN,
    TableOptions,
    measures_table,
    run_table,
    warnings_of,
)
from omkl.reports.rows import ReportPlan, Row, rows_of
from omkl.reports.summary import summary_of_rows
from omkl.reports.sweep_table import BEST, best_settings, swept_names
from omkl.runs.runner import stored_plans
from omkl.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

CLASSES = range(3, 101)  # of a confusion matrix


def run_page(plan: Plan, words: list[str], command: str, *, by: str = "") -> Page:
    """Return the page of a plan's cells that the store holds.

    words: that the plan was made from    command: that makes the page    by: the measure that compares rows
    Raises UserError where no cell has finished.
    """
    outcome, warnings = stored_plans([plan])
    run = f"omkl {'sweep' if plan.swept else 'run'} {shlex.join(words)}"
    expected = ReportPlan((plan,), outcome, run, by)
    if outcome.cells.empty:
        raise UserError(
            f"the store {plan.store} holds none of the {outcome.requested} cells; `{run}` computes them"
        )
    page = results_page(outcome.cells, expected, [plan], command)
    return replace(page, warnings=[*warnings, *page.warnings])


def results_page(
    cells: "pd.DataFrame",
    expected: ReportPlan,
    plans: list[Plan],
    command: str = "",
    rows: list[Row] | None = None,
) -> Page:
    """Return the page of some plans' cells, which are in one store; rows: as of ``rows_of``."""
    rows = rows_of(cells, expected) if rows is None else rows
    summary = summary_of_rows(rows, cells, expected)
    sections = _tables(summary, cells, expected)
    if curves := page_curves(cells, Store(plans[0].store).curves(set(cells["key"])), expected, rows):
        sections.append(Section("Learning curves", [Filed("curves", curves)]))
    with suppress(UserError):  # none of the cells has counts
        confused = confusion(cells, expected, rows, name="confusion", classes=CLASSES)
        sections.append(Section("Confusion matrices", [Filed("confusion", replace(confused, command=""))]))
    sections += [*_ranks(summary), *origin_sections(cells, plans)]
    learners = list(dict.fromkeys(expected.label(setting.learner) for setting in expected.settings))
    names = list(dict.fromkeys(ref.name for plan in plans for ref in plan.data))
    again = f"`{expected.command}`" if expected.command else AGAIN
    return Page(
        file_stem("report", [setting.learner for setting in expected.settings], names),
        f"{_few(learners, 'learners')} on {_few(names, 'data sets')}",
        sections,
        command=command,
        warnings=warnings_of(summary, cells, expected, again),
        answer=[*filter(None, [prose(answer_of(summary))])],
        cells=[expected.command] if expected.command else [],
    )


def _few(names: list[str], of: str) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {of}"


def _tables(summary: "pd.DataFrame", cells: "pd.DataFrame", expected: ReportPlan) -> list[Section]:
    """Return the table of a run, or those of a sweep, the best settings first; and all measures there are."""
    options = TableOptions(columns=("+algo",))  # the names that one types
    swept = swept_names(summary, expected) if expected.swept else []
    table = replace(run_table(summary, cells, expected, options, swept), warnings=())
    sections = [Section("Results", [Filed("results", table)])]
    if expected.swept and summary["reps"].any():
        best = replace(run_table(best_settings(summary), cells, expected, options, swept), warnings=())
        drawn = sweep_figure(summary, name="sweep")
        sections[:0] = [Section(BEST.capitalize(), [Filed("best", best)])]
        sections[1:1] = [Section("Sweep", [Filed("sweep", drawn)])] if drawn else []
    measures = measures_table(summary, cells)
    if sum(column.align == "right" for column in measures.columns) > 1:  # more than the results show
        sections.append(Section("Measures", [measures]))
    return sections


def _ranks(summary: "pd.DataFrame") -> Iterator[Section]:
    """Yield the average ranks of each task."""
    for task in dict.fromkeys(summary["task"]):
        part = summary[summary["task"] == task].reset_index(drop=True)
        if part["data"].nunique() < 2 or part["label"].nunique() < 3:
            continue
        title = f"Average ranks, {task}"
        try:
            ranked = average_ranks(part)
        except UserError as error:  # what has finished is too little for the tests
            yield Section(title, texts=[f"Not drawn: {error}."])
            continue
        drawn, table = rank_figure(ranked, name=f"ranks-{task}"), comparison(ranked)
        if drawn.instead:
            yield Section(title, [table], [drawn.instead])
        else:
            yield Section(title, [Filed(drawn.name, drawn), table])


def page_curves(
    cells: "pd.DataFrame",
    stored: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    rows: list[Row],
    **more: Any,
) -> Figure | None:
    """Return the learning curves of some rows, None where the store holds none.

    more: of figures.curves.learning_curves
    """
    more = {"name": "curves", "names": PAIR, "command": "", **more}
    try:
        return learning_curves(cells, stored, expected, rows, **more)
    except UserError:
        return None


def origin_sections(cells: "pd.DataFrame", plans: list[Plan]) -> list[Section]:
    """Return the sections on the data sets and on where the cells come from."""
    if cells.empty:
        return []
    cells = cells.drop_duplicates("key")  # two runs of a paper may share some
    time = f"{counted(len(cells), 'cell')}; learner time of all together {cells['seconds'].sum():.0f} s"
    return [
        Section("Data sets", [data_sets(cells, plans)], origin=True),
        Section("Made with", [provenance(cells)], [time], origin=True),
    ]
