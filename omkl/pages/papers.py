"""The page of a paper: its tables with the published values, its figures and claims."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.figures.style import Figure
from omkl.pages.page_tables import plain_table, with_details
from omkl.pages.runs import origin_sections, page_curves
from omkl.pages.sections import Page, Section
from omkl.publications.claims import claims_of
from omkl.publications.compare import Compared, compare_rows
from omkl.publications.page import about_numbers
from omkl.publications.paper import Item, Paper
from omkl.publications.paper_figures import paper_figure, selected
from omkl.publications.paper_tables import KINDS, best_warnings, digest, sizes, warnings_of
from omkl.publications.selection import Selection, work_of
from omkl.reports.comparison import comparison
from omkl.reports.table import Table
from omkl.runs.runner import stored_plans
from omkl.store.store import Store

if TYPE_CHECKING:
    from omkl.runs.runner import Outcome

NOT_OF_CELLS = ("sizes", "digits")  # kinds of tables and figures


def paper_page(paper: Paper, selection: Selection, command: str) -> Page:
    """Return the page of a paper, or of a selection of it, from stored cells; command: as typed.

    Raises UserError where the store holds no cell of it, or none of its data are available.
    """
    every = [*paper.tables.values(), *paper.figures.values(), *paper.claims.values()]
    work = work_of(paper, [item for item in every if item.kind not in NOT_OF_CELLS], selection)
    if not work.plans:
        raise UserError(f"{paper.name}: none of its data sets is available")
    outcome, warnings = stored_plans(work.plans)
    if outcome.cells.empty:
        verb = "table" if any(item.kind != "sizes" for item in paper.tables.values()) else "figure"
        items = paper.tables if verb == "table" else paper.figures
        first = next(item for item in items.values() if item.kind not in NOT_OF_CELLS)
        some = f"`{selection.command(verb, first.name)}` computes some of them"
        raise UserError(f"the store {work.plans[0].store} holds none of the cells of {paper.name}; {some}")
    parts = _Parts(paper, selection, outcome, Store(work.plans[0].store))
    sections = [parts.table(item) for item in paper.tables.values()]
    sections += [parts.figure(item) for item in paper.figures.values()]
    if paper.claims:
        sections.append(parts.claims())
    if about := about_numbers(paper):
        sections.append(Section(about[0], texts=about[1], numbered=True))
    sections += origin_sections(outcome.cells, work.plans)
    return Page(paper.name, paper.title, sections, [paper.cite], command, [*warnings, *parts.warnings])


class _Parts:
    """The sections of a paper, made of the cells of an outcome; gathers their warnings."""

    def __init__(self, paper: Paper, selection: Selection, outcome: "Outcome", store: Store) -> None:
        self.paper, self.selection, self.outcome = paper, selection, outcome
        self.curves = store.curves(set(outcome.cells["key"]))
        self._titles: dict[str, list[str]] = {}

    def table(self, item: Item) -> Section:
        name = f"{self.paper.name}-table-{item.number or 1}"
        command = self.selection.command("table", item.name)
        if item.kind == "sizes":
            made = sizes(self.paper, item, self.selection)
            records: Any = made.table.records
            shown = [{key: text for key, text in row.items() if key != "missing"} for row in records]
            how = [[("how to get it", row["missing"])] if row["missing"] else [] for row in records]
            own = plain_table(name, records, how, shown=shown, command=command)
            return Section(made.title, [own])
        if item.kind == "digest":
            answers: Any = digest(self.paper, item, self.selection, stored=True).table
            rows = answers.flat().to_dict("records")
            about = [[("then", row["then"])] for row in rows]
            return Section(answers.title, [plain_table(name, rows, about, shown=rows, command=command)])
        try:
            compared = self._compared(item, command)
        except UserError as error:  # nothing of it is tuned yet
            return Section(item.titled(), texts=[f"Not made: {error}."])
        if item.kind == "best" and compared.summary.empty:
            return Section(compared.title, texts=["Not made: none of its learners is tuned yet."])
        try:
            table = KINDS[item.kind](compared)
        except UserError as error:  # the learner that all are compared with has not finished
            return Section(compared.title, texts=[f"Not shown: {error}."])
        best = item.kind == "best"
        self._warn(compared.title, best_warnings(compared) if best else warnings_of(compared, f"`{command}`"))
        if item.kind == "times":
            drawn = replace(paper_figure(compared, f"{name}-times"), warnings=(), command="")
            return Section(compared.title, [replace(table, name=name), drawn])
        paths = {ref.name: ref.word for plan in compared.work.plans for ref in plan.data}
        parts: list[Table | Figure] = [with_details(table, name, compared.rows, compared.cells, paths)]
        if not best and not any(own.kind == "curves" for own in self.paper.figures.values()):
            drawn_of = (compared.cells, self.curves, compared.expected, compared.rows)
            if curves := page_curves(*drawn_of, name=f"{name}-curves"):
                parts.append(curves)
        return Section(compared.title, parts)

    def figure(self, item: Item) -> Section:
        name, command = f"{self.paper.name}-figure-{item.number}", self.selection.command("figure", item.name)
        if item.kind == "digits":
            text = f"This figure is not made of stored cells; `{command}` draws it."
            return Section(item.titled(), texts=[text])
        try:
            shown = selected(self._compared(item, command))
            drawn = paper_figure(shown, name)
        except UserError as error:  # nothing has finished, or there are too few data sets for ranks
            return Section(item.titled(), texts=[f"Not drawn: {error}."])
        if drawn.ranks is None:
            return Section(shown.title, [replace(drawn, command=command)])
        table = comparison(drawn.ranks)
        if drawn.instead:
            return Section(shown.title, [table], [drawn.instead])
        return Section(shown.title, [replace(drawn, command=command), table])

    def claims(self) -> Section:
        made = claims_of(self.paper, self.selection, self.outcome, lenient=True)
        records: Any = made.table.records
        shown, abouts = [], []
        for row, own in zip(records, made.table.rows, strict=True):
            self._warn(f"claim {own.cells[0]}", [row["incomplete"]] if row["incomplete"] else [])
            cells = dict(zip((column.name for column in made.table.columns), own.cells, strict=True))
            shown.append({**cells, "numbers": row["numbers"]})
            abouts.append([("name", row["claim"]), ("numbers", row["numbers"].replace("; ", "\n"))])
        name, command = f"{self.paper.name}-claims", self.selection.command("claims", self.paper.name)
        terms = [("numbers", "data set by data set; (no): it does not hold there, (?): undecided")]
        about: dict[str, Any] = {"shown": shown, "terms": terms, "command": command}
        return Section("Claims", [plain_table(name, records, abouts, **about)])

    def _compared(self, item: Item, command: str) -> Compared:
        work = work_of(self.paper, [item], self.selection)
        return compare_rows(self.paper, item, work, self.outcome, command)

    def _warn(self, title: str, warnings: list[str]) -> None:
        for warning in warnings:
            self._titles.setdefault(warning, []).append(title)

    @property
    def warnings(self) -> list[str]:
        """Each warning once, with the titles of its tables and claims where they are few."""
        of = {w: "" if len(titles) > 3 else f"{'; '.join(titles)}: " for w, titles in self._titles.items()}
        return [f"{titles}{warning}" for warning, titles in of.items()]
