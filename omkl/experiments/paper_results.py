"""A paper's tables, figures and claims, as Python asks for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from omkl.config.settings_text import word_text
from omkl.errors import UserError
from omkl.experiments.shown import Shown
from omkl.publications import Paper, Selection, find_item, read_paper
from omkl.publications.paper import Item
from omkl.publications.paper_tables import TableResult, make_table
from omkl.reports.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from omkl.config import Plan
    from omkl.runs.runner import Outcome


@dataclass(frozen=True, eq=False, repr=False)
class PaperResult(Shown):
    """A table or the claims of a paper: our values next to the published ones.

    In a terminal its text is the command's table, in a notebook its HTML.

    Attributes
    ----------
    title : str
        With the data sets that are in it.
    table : pandas.DataFrame
        Its rows as plain values.
    cells : pandas.DataFrame or None
        A row for each repetition; None where nothing had to run.
    """

    made: TableResult

    @property
    def title(self) -> str:
        return self.made.title

    @property
    def outcome(self) -> "Outcome | None":
        """The outcome of its run, None where nothing had to run."""
        return self.made.outcome

    @property
    def cells(self) -> "pd.DataFrame | None":
        return self.outcome.cells if self.outcome else None

    @cached_property
    def table(self) -> "pd.DataFrame":
        import pandas as pd

        own = self.report_table()
        return pd.DataFrame(own.flat() if own.flat else own.records)

    def report_table(self) -> Table:
        return self.made.table


def selection_of(
    words: Iterable[str] = (),
    *,
    data: Any = None,
    reps: int | None = None,
    algo: Any = None,
    quick: bool = False,
    full: bool = False,
    dry: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Selection:
    """Return the part of a paper that is asked for.

    data, algo: a name or several; of data also NAME=PATH, or paths by name
    """
    sets = [f"{name}={path}" for name, path in data.items()] if isinstance(data, Mapping) else _names(data)
    more = [word_text(key, value) for key, value in (settings or {}).items()]
    return Selection(reps, tuple(sets), tuple(_names(algo)), quick, (*words, *more), full, dry)


def _names(given: Any) -> list[str]:
    if given is None or given == "":
        return []
    return given.split(",") if isinstance(given, str) else list(map(str, given))


def plans_of(paper: Paper, items: Iterable[Item], selection: Selection) -> "list[Plan]":
    """Return the plans of a paper's tables, figures or claims."""
    from omkl.publications.selection import work_of

    items = [item for item in items if item.runs]
    return work_of(paper, items, selection).plans if items else []


def paper_table(name: str, selection: Selection, **how: Any) -> PaperResult:
    """Return a table of a paper; how: jobs, fresh, progress, fail_fast."""
    paper, item = find_item("tables", name)
    return PaperResult(make_table(paper, item, selection, **how))


def paper_claims(name: str, selection: Selection, **how: Any) -> PaperResult:
    """Return the claims of a paper, checked by numbers; how: as of `paper_table`."""
    from omkl.publications.claims import check_claims

    return PaperResult(check_claims(with_claims(name), selection, **how))


def with_claims(name: str) -> Paper:
    """Return a paper. Raises UserError for one without claims."""
    paper = read_paper(name)
    if not paper.claims:
        raise UserError(f"{name}: conf/paper/{name}.yaml has no claims")
    return paper
