"""The progress of a plan's cells, per learner and data set, and the failed cells in words."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.run import submitted_jobs
from omkl.run.cells import expand
from omkl.run.matched_budgets import sizes
from omkl.store.store import Store

if TYPE_CHECKING:
    from omkl.config import Plan

STATES = ("done", "running", "queued", "failed", "missing")
UNKNOWN = "unknown"  # a further state, where Slurm does not answer
MOST_LINES = 20


@dataclass(frozen=True)
class Status:
    """The progress of a plan.

    rows: one per learner and data set, with the number of cells in each of STATES: done (in the store),
    running or queued (in a job of exec=slurm), failed (when last tried), or missing
    failed: the lines of failed cells    logs: of the jobs that died at a cell that is missing now
    silence: why Slurm does not answer; then submitted cells that have not ended are UNKNOWN, one more column;
    empty where there are none
    """

    rows: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    logs: list[Path]
    silence: str = ""


def status(plan: "Plan") -> Status:
    """Return the progress of a plan. Raises as ``expand`` and the store do."""
    cells = expand(plan, sizes(plan))
    keys = {cell.key for cell in cells}
    with Store(plan.store) as store:
        done = store.done(keys)
        failed = {line["key"]: line for line in store.failed(keys)}
    live, silence = submitted_jobs.look(plan.store)
    submitted = {key for key, what in live.items() if what == UNKNOWN}
    state = dict.fromkeys(submitted, UNKNOWN) | dict.fromkeys(failed, "failed")
    state |= {key: what for key, what in live.items() if key not in submitted} | dict.fromkeys(done, "done")
    unknown = any(state.get(key) == UNKNOWN for key in keys)
    counts: dict[tuple[str, str], Counter] = {}
    for cell in cells:
        counts.setdefault((cell.job.name, cell.job.spec.name), Counter())[state.get(cell.key, "missing")] += 1
    columns = (*STATES, UNKNOWN) if unknown else STATES
    rows = [
        {"data": data, "algo": learner, "cells": count.total(), **{name: count[name] for name in columns}}
        for (data, learner), count in counts.items()
    ]
    died = submitted_jobs.died_at(plan.store, done | failed.keys())
    logs = dict.fromkeys(log for key, log in died.items() if key in keys and key not in state)
    tried = [line for key, line in failed.items() if state[key] == "failed"]
    return Status(rows, tried, list(logs), silence if unknown else "")


def failures_text(failed: Iterable[dict[str, Any]]) -> list[str]:
    """Return failed cells as at most 21 lines of text; repetitions with the same error share a line."""
    from omkl.config.settings_text import params_text

    def kind(line: dict[str, Any]) -> tuple:
        pool = f" pool={line['pool']}" if line["pool"] else ""
        return line["data"], f"{line['algo']}{pool} {params_text(line['params'])}".rstrip(), line["error"]

    lines = []
    for (data, learner, error), group in groupby(sorted(failed, key=kind), key=kind):
        reps = sorted(line["rep"] for line in group)
        many = "s" if len(reps) > 1 else ""
        lines.append(f"{learner} on {data}, repetition{many} {_ranges(reps)}: {error}")
    if len(lines) > MOST_LINES:
        more = f"... and {len(lines) - MOST_LINES} more"
        return [*lines[:MOST_LINES], f"{more} (the store has them all: its lines with status failed)"]
    return lines


def _ranges(numbers: list[int]) -> str:
    """Return ascending numbers as ranges: ``0-3, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
