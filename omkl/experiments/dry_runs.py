"""What a command would do: its cells, those that are done, and an estimate of time and memory."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.errors import UserError, counted
from omkl.experiments.shown import Shown
from omkl.reports.table import Table
from omkl.runs.estimate import Estimate, estimate

if TYPE_CHECKING:
    from omkl.runs.estimate import Guess

LEAST = ("least", "most", "from", "settings")  # columns that a narrow terminal leaves out first


@dataclass(frozen=True, eq=False, repr=False)
class DryRun(Shown):
    """The cells of plans, how many are done, and an estimate of time and memory; nothing runs."""

    plans: Sequence[Plan]
    made: Estimate

    @classmethod
    def of(cls, plans: Sequence[Plan], jobs: int | None = None, fresh: bool = False) -> "DryRun":
        """Return what these plans would take. Raises UserError for none."""
        if not plans:
            why = "no data are available, or the table needs no runs"
            raise UserError(f"--dry-run: nothing would run, because {why}")
        return cls(plans, estimate(list(plans), jobs, fresh))

    def report_table(self) -> Table:
        shown = [*map(_shown, self.made.rows)]
        return Table.of(self.made.rows, shown, least=LEAST, findings=["\n".join(self._lines())])

    def render(self, fmt: str = "table") -> str:
        """Return the table as text; as JSON with the estimates."""
        if fmt != "json":
            return self.report_table().render(fmt)
        made = self.made
        whole: dict[str, Any] = {"cells": made.rows, "time": made.time._asdict()}
        whole |= {"memory": made.memory._asdict()}
        whole |= {"processes": made.processes, "compiling": made.compiling, "assumed": made.assumed}
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"

    @property
    def remarks(self) -> list[str]:
        """What would be downloaded, and which budgets are not known yet."""
        names = dict.fromkeys(ref.name for plan in self.plans for ref in plan.data if ref.to_be_downloaded)
        first = f"to be downloaded first, estimated from the registered size: {', '.join(names)}"
        return [first] * bool(names) + [
            f"a budget matches the size of {learner}, which is not known yet: some of its cells may be done"
            for learner in dict.fromkeys(self.made.assumed)
        ]

    def _lines(self) -> list[str]:
        made = self.made
        cells, left = (sum(row[name] for row in made.rows) for name in ("cells", "to run"))
        lines = [f"cells   {cells}: {cells - left} in the store, {left} to run"]
        if not left:
            return lines
        processes = f"{made.processes} processes" if made.processes > 1 else "one process"
        compiling = ""
        if made.compiling:
            compiling = f", including compiling {counted(len(made.compiling), 'learner')}"
        lines.append(f"time    about {_range(made.time, _duration)}, {processes}{compiling}")
        lines.append(f"memory  about {_range(made.memory, _size)} for each process")
        return lines


def _range(guess: "Guess", text: Any) -> str:
    return f"{text(guess.about)} ({text(guess.least)} to {text(guess.most)})"


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: f"{row[name]:.3g}" for name in ("seconds each", "least", "most")}
    return {**row, **(numbers if row["to run"] else dict.fromkeys([*numbers, "from"], ""))}


def _duration(seconds: float) -> str:
    """Return a duration with two digits: ``0.8 s``, ``12 s``, ``3.5 min``, ``2.1 h``, ``4.0 d``."""
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
