"""``--dry-run``: what a command would do, as a table and two lines, or as JSON."""

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from omkl.cli.messages import OK, emit, say
from omkl.errors import UserError
from omkl.reports.table import Table

if TYPE_CHECKING:
    from omkl.config import Plan
    from omkl.runs.estimate import Estimate, Guess

LEAST = ("least", "most", "from", "settings")  # columns that a narrow terminal leaves out first


def dry_run(plans: "list[Plan]", args: Namespace) -> int:
    """Print the cells of these plans, how many are done, and an estimate of time and memory."""
    from omkl.runs.estimate import estimate

    if not plans:
        raise UserError("--dry-run: nothing would run: no data are available, or the table needs no runs")
    made = estimate(plans, args.jobs, args.fresh)
    fmt = getattr(args, "format", "table")
    if fmt == "json":
        whole: dict[str, Any] = {"cells": made.rows, "time": made.time._asdict()}
        whole |= {"memory": made.memory._asdict()}
        whole |= {"processes": made.processes, "compiling": made.compiling, "assumed": made.assumed}
        emit(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
        return OK
    if fmt == "csv":
        emit(Table.of(made.rows).render("csv"))
        return OK
    emit(Table.of([*map(_shown, made.rows)], least=LEAST).render(fmt))
    emit("\n" + "".join(f"{line}\n" for line in _lines(made)))
    if names := dict.fromkeys(ref.name for plan in plans for ref in plan.data if ref.to_be_downloaded):
        say(f"to be downloaded first, estimated from the registered size: {', '.join(names)}")
    for learner in dict.fromkeys(made.assumed):
        say(f"a budget must match the size of {learner}, which is not known yet: its cells may be done")
    return OK


def _lines(made: "Estimate") -> list[str]:
    cells, left = (sum(row[name] for row in made.rows) for name in ("cells", "to run"))
    lines = [f"cells   {cells}: {cells - left} in the store, {left} to run"]
    if not left:
        return lines
    processes = f"{made.processes} processes" if made.processes > 1 else "one process"
    compiling = ""
    if made.compiling:
        compiling = f", with compiling {len(made.compiling)} learner{'s' if len(made.compiling) > 1 else ''}"
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
