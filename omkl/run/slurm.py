"""Slurm, through submitit: job arrays of chunks of cells, which write to the store themselves.

Cells that are queued or running are not submitted again (see submitted_jobs.py). A job that ended without all
its cells does not run again by itself: the next call submits what is missing. submitit pickles one function
and a path for each job, nothing else; the cells are plain data in the file at that path.
"""

import os
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from omkl.files import locked
from omkl.run import local_jobs, submitted_jobs
from omkl.run.cells import Cell, expand
from omkl.run.matched_budgets import sizes
from omkl.run.slurm_job import SAME
from omkl.run.slurm_queue import send, submitit
from omkl.run.submitted_jobs import write
from omkl.store.keys import dumps
from omkl.store.store import Store

if TYPE_CHECKING:
    from omkl.config import Plan


@dataclass(frozen=True)
class Submitted:
    """The result of `submit`: ids and number of cells of the new jobs, and cells that waited already."""

    jobs: list[str]
    cells: int
    waiting: int


def submit(plan: "Plan", fresh: bool = False) -> Submitted:
    """Submit the cells of a plan that are neither finished nor queued nor running, and return at once.

    fresh: also those that are finished. Raises UserError for a mistake in the plan or a missing submitit,
    OmklError when there is no Slurm here or it refuses.
    """
    from omkl.run.runner import by_key

    submitit()
    cells = by_key(expand(plan, sizes(plan)))
    with locked(plan.store / submitted_jobs.FOLDER / "lock", "submitting"):
        with Store(plan.store) as store:
            done = set() if fresh else store.done(cells)
            ended = done | {line["key"] for line in store.failed(cells)}
        live = submitted_jobs.states(plan.store, strict=True).keys() & cells.keys()
        waiting = live - done
        missing = {key: cell for key, cell in cells.items() if key not in done and key not in waiting}
        if not missing:
            return Submitted([], 0, len(waiting))
        suspects = set() if fresh else submitted_jobs.died_at(plan.store, ended).keys() & missing.keys()
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}-{uuid.uuid4().hex[:8]}"
        folder = plan.store.resolve() / submitted_jobs.FOLDER / name
        folder.mkdir(parents=True)
        chunks, names = _chunks(plan, missing, suspects), _names(plan)
        for number, keys in enumerate(chunks):
            chunk = {"store": str(plan.store.resolve()), "cpus": plan.exec["cpus"], "fresh": fresh}
            chunk |= {"parts": _described([missing[key] for key in keys], names), "keys": keys}
            write(folder / f"{number}.json", chunk)
        start = local_jobs.launch if plan.exec["cluster"] == "local" else send
        return Submitted(start(plan.exec, folder, len(chunks)), len(missing), len(waiting))


# ------------------------------------------------------------------ chunks


def _chunks(plan: "Plan", missing: Iterable[str], suspects: set[str]) -> list[list[str]]:
    """Return the keys of each job: ``exec.chunk`` cells, and each suspect alone, last."""
    keys = [key for key in missing if key not in suspects]
    size = plan.exec["chunk"]
    if plan.exec["cluster"] == "local":  # which runs all jobs at once
        size = max(1, -(-len(keys) // (os.cpu_count() or 1)))
    return [keys[i : i + size] for i in range(0, len(keys), size)] + [[key] for key in sorted(suspects)]


def _described(cells: list[Cell], named: dict[str, str]) -> list[dict[str, Any]]:
    """Return a chunk's cells as plain data: small plans, each on one data set, that expand to these and more.

    named: the data sets as the user named them, by content hash.
    """
    parts = []
    for digest, group in groupby(cells, key=lambda cell: cell.job.content_hash):
        jobs = [cell.job for cell in group]
        settings = [{"algo": job.spec.name, "params": job.params, "pool": job.pool} for job in jobs]
        parts.append(
            {
                "data": named[digest],
                "settings": list({dumps(setting): setting for setting in settings}.values()),
                "reps": 1 + max(job.rep for job in jobs),
                **{name: getattr(jobs[0], name) for name in SAME},
            }
        )
    return parts


def _names(plan: "Plan") -> dict[str, str]:
    """Return the plan's data sets by content hash: registered names, absolute paths of files."""
    import omkl.data

    def lasting(name: str) -> str:
        return name if omkl.data.registry.is_name(name) else os.path.abspath(os.path.expanduser(name))

    return {omkl.data.load(name, task=plan.task).content_hash: lasting(name) for name in plan.data}
