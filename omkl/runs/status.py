"""How far a plan is: its cells done, running, queued, failed and missing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from omkl.config import Plan
from omkl.config.parameters import params_text
from omkl.runs.cells import data_names, expand
from omkl.runs.slurm_jobs import UNKNOWN, died_at, states_of_jobs
from omkl.store.store import Store

STATES = ("done", "running", "queued", "failed", "missing")
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


def status_of(plan: Plan) -> Status:
    """Return the progress of a plan. Raises as ``expand`` and the store do."""
    cells = expand(plan)
    keys = {cell.key for cell in cells}
    with Store(plan.store) as store:
        done = store.done(keys)
        failed = {line["key"]: line for line in store.failed(keys)}
    live, silence = states_of_jobs(plan.store)
    died = died_at(plan.store, done | failed.keys())
    states = {key: live.get(key, "missing") for key in keys}
    states |= {key: "failed" for key in failed if states[key] in ("missing", UNKNOWN)}
    states |= dict.fromkeys(done, "done")
    unknown = UNKNOWN in states.values()
    counts: dict[tuple[str, str], Counter[str]] = {}
    names = data_names(cells)
    for cell in cells:
        name = names[cell.data.content_hash]
        counts.setdefault((name, cell.spec.name), Counter())[states[cell.key]] += 1
    columns = (*STATES, UNKNOWN) if unknown else STATES
    rows = [
        {"data": data, "algo": learner, "cells": count.total(), **{name: count[name] for name in columns}}
        for (data, learner), count in counts.items()
    ]
    logs = dict.fromkeys(log for key, log in died.items() if states.get(key) == "missing")
    tried = [line for key, line in failed.items() if states[key] == "failed"]
    return Status(rows, tried, list(logs), silence if unknown else "")


def failures_text(failed: Iterable[dict[str, Any]]) -> list[str]:
    """Return failed cells as at most 21 lines of text; repetitions with the same error share a line."""

    def kind(line: dict[str, Any]) -> tuple[str, ...]:
        pool = f" pool={line['pool']}" if line["pool"] else ""
        return line["data"], f"{line['algo']}{pool} {params_text(line['params'])}".rstrip(), line["error"]

    lines = []
    for (data, learner, error), group in groupby(sorted(failed, key=kind), key=kind):
        reps = enumerate(sorted(line["rep"] for line in group))
        runs = [[rep for _, rep in run] for _, run in groupby(reps, key=lambda pair: pair[1] - pair[0])]
        texts = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
        many = "s" if len(runs) > 1 or len(runs[0]) > 1 else ""
        lines.append(f"{learner} on {data}, repetition{many} {texts}: {error}")
    if len(lines) > MOST_LINES:
        more = f"... and {len(lines) - MOST_LINES} more"
        return [*lines[:MOST_LINES], f"{more} (the store has them all: its lines with status failed)"]
    return lines
