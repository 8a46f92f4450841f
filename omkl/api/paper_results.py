"""A paper's tables, figures and claims, and the theorems' bounds, as Python and the commands ask for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from omkl.api.results import Shown
from omkl.config.parameters import word_text
from omkl.errors import UserError
from omkl.publications import Paper, Selection, read_paper
from omkl.reports.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from omkl.config import Plan
    from omkl.store.outcome import Outcome


@dataclass(frozen=True, eq=False, repr=False)
class PaperResult(Shown):
    """A table or the claims of a paper next to the published values, or bounds next to the observed counts.

    In a terminal its text is the command's table, in a notebook its HTML.

    Attributes
    ----------
    table : pandas.DataFrame
        Its rows as plain values.
    title : str
        With the data sets that are in it.
    outcome
        The outcome of its run, None where nothing had to run.
    cells : pandas.DataFrame or None
        A row for each repetition; None where nothing had to run.
    """

    made: Table
    outcome: "Outcome | None" = None
    title: str = ""

    @property
    def cells(self) -> "pd.DataFrame | None":
        return self.outcome.cells if self.outcome else None

    @cached_property
    def table(self) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(self.made.flat() if self.made.flat else self.made.records)

    def report_table(self) -> Table:
        return self.made


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


def with_claims(name: str) -> Paper:
    """Return a paper. Raises UserError for one without claims."""
    paper = read_paper(name)
    if not paper.claims:
        raise UserError(f"{name}: conf/paper/{name}.yaml has no claims")
    return paper


def bounds_of(plan: "Plan", command: str, rows: int, **how: Any) -> "tuple[Table, Outcome]":
    """Run the missing cells of a plan and evaluate its theorems; how: of ``run_plan``.

    rows: examples of each batch solution, at most
    """
    from omkl.reports.summary import READ
    from omkl.runs.runner import run_plan
    from omkl.theorems import bounds_table, evaluate, with_theorems

    plan = with_theorems(plan)
    outcome = run_plan(plan, **how, columns=(*READ, "n_sv_per_kernel"))
    found = [] if outcome.interrupted else evaluate(plan, outcome.cells, rows)
    return bounds_table(found, command), outcome
