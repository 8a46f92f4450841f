"""What a command would do, as a table: its cells, those that are done, and an estimate of time and memory."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.errors import UserError, counted
from omkl.reports.table import Table
from omkl.runs.estimate import estimate

if TYPE_CHECKING:
    from omkl.runs.estimate import Estimate, Guess

LEAST = ("least", "most", "from", "settings")  # columns that a narrow terminal leaves out first


def dry_run(
    plans: Sequence[Plan], jobs: int | None = None, fresh: bool = False
) -> tuple[Table, dict[str, Any], list[str]]:
    """Return what these plans would take; nothing runs. Raises UserError for no plans.

    The table, the same with the estimates as plain data, and remarks: what would be downloaded, and which
    budgets are not known yet.
    """
    if not plans:
        raise UserError(
            "--dry-run: nothing would run, because no data are available, or the table needs no runs"
        )
    made = estimate(list(plans), jobs, fresh)
    table = Table.of(made.rows, [*map(_shown, made.rows)], least=LEAST, findings=["\n".join(_lines(made))])
    whole: dict[str, Any] = {"cells": made.rows, "time": made.time._asdict(), "memory": made.memory._asdict()}
    whole |= {"processes": made.processes, "compiling": made.compiling, "assumed": made.assumed}
    names = dict.fromkeys(ref.name for plan in plans for ref in plan.data if ref.to_be_downloaded)
    remarks = [f"to be downloaded first, estimated from the registered size: {', '.join(names)}"]
    return (
        table,
        whole,
        remarks[: len(names)]
        + [
            f"a budget matches the size of {learner}, which is not known yet: some of its cells may be done"
            for learner in dict.fromkeys(made.assumed)
        ],
    )


def _lines(made: "Estimate") -> list[str]:
    cells, left = (sum(row[name] for row in made.rows) for name in ("cells", "to run"))
    lines = [f"cells   {cells}: {cells - left} in the store, {left} to run"]
    if not left:
        return lines
    processes = f"{made.processes} processes" if made.processes > 1 else "one process"
    learners = counted(len(made.compiling), "learner")
    compiling = f", including compiling {learners}" if made.compiling else ""
    lines.append(f"time    about {_range(made.time, _duration)}, {processes}{compiling}")
    return [*lines, f"memory  about {_range(made.memory, _size)} for each process"]


def _range(guess: "Guess", text: Callable[[float], str]) -> str:
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
