"""The theorems' bounds next to the observed counts, as one object."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.experiments.shown import Shown
from omkl.reports.summary import READ
from omkl.reports.table import Table
from omkl.runs.runner import Outcome, run_plan
from omkl.theorems import bounded, bounds_table, evaluate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Shown):
    """Mistake bounds, a row for each data set, learner and theorem.

    Attributes
    ----------
    table : pandas.DataFrame
        The bounds and the observed counts as plain values.
    """

    rows: list[dict[str, Any]]
    outcome: Outcome
    command: str = ""

    @classmethod
    def of(cls, plan: Plan, command: str = "", rows: int = 2000, **how: Any) -> "Bounds":
        """Run the missing cells of a plan and evaluate its theorems; how: of ``run_plan``.

        rows: examples of each batch solution, at most
        """
        plan = bounded(plan)
        outcome = run_plan(plan, **how, columns=(*READ, "n_sv_per_kernel"))
        made = [] if outcome.interrupted else evaluate(plan, outcome.cells, rows)
        return cls(made, outcome, command)

    @cached_property
    def table(self) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(self.rows)

    def report_table(self) -> Table:
        return bounds_table(self.rows, self.command)
