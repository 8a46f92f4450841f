"""Chunks of cells: what a job of Slurm reads, and what it does."""

import json
import signal
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from omkl.config import Plan, Setting
from omkl.data import from_json
from omkl.data.held_out import absolute_test
from omkl.errors import OmklError
from omkl.passes.cell import Cell
from omkl.runs.cells import expand
from omkl.runs.runner import by_key, run_cells
from omkl.runs.workers import Loky
from omkl.store.fields import dumps
from omkl.store.store import Store

SAME = ("order", "seed", "block")  # of a plan, the same for all of its cells


def chunks_of(plan: Plan, missing: Iterable[str], suspects: set[str]) -> list[list[str]]:
    """Return the keys of each job: ``exec.chunk`` cells, and each suspect alone, last."""
    keys = [key for key in missing if key not in suspects]
    size = plan.exec["chunk"]
    return [keys[i : i + size] for i in range(0, len(keys), size)] + [[key] for key in sorted(suspects)]


def described(plan: Plan, cells: list[Cell]) -> list[dict[str, Any]]:
    """Return a chunk's cells as plain data: plans, each on one data set, that expand to these and more."""
    sets = []
    for _, group in groupby(cells, key=lambda cell: cell.data.content_hash):
        alike = list(group)
        settings = [
            {"algo": cell.spec.name, "params": cell.params, "pool": cell.pool, "scaling": cell.scaling}
            for cell in alike
        ]
        sets.append(
            {
                **alike[0].data.to_json(),
                "settings": list({dumps(setting): setting for setting in settings}.values()),
                "reps": 1 + max(cell.rep for cell in alike),
                **{name: getattr(alike[0], name) for name in SAME},
                "rounds": plan.rounds,
                "test": absolute_test(plan.test),
            }
        )
    return sets


def plan_of(part: dict[str, Any]) -> Plan:
    """Return the plan of a part of a chunk, see `described`."""
    return Plan(
        settings=tuple(
            Setting(one["algo"], one["params"], one["pool"], scaling=one["scaling"])
            for one in part["settings"]
        ),
        data=(from_json(part),),
        reps=part["reps"],
        store=Path(),
        exec={},
        yardsticks=(),
        swept=(),
        rounds=part["rounds"],
        test=part["test"],
        **{name: part[name] for name in SAME},
    )


def run_chunk(path: str) -> dict[str, int]:
    """Run the cells of a chunk and store each at once. Returns how many ran and how many failed.

    The job computes in workers, so a cell that kills its process has failed, and the others are computed. A
    job that was begun before (it was requeued) leaves out the cells that are in the store already.
    """
    # submitit's handlers raise inside the running cell, which would look like its failure. Being stopped is
    # harmless: finished cells are in the store, and the next call submits the rest.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    chunk = json.loads(Path(path).read_text(encoding="utf-8"))
    again = begun(Path(path)).exists()
    begun(Path(path)).touch()
    cells_by_key = by_key([cell for part in chunk["parts"] for cell in expand(plan_of(part))])
    if unknown := [key for key in chunk["keys"] if key not in cells_by_key]:
        have = "has" if len(unknown) == 1 else "have"
        raise OmklError(
            f"{path}: {len(unknown)} of its cells {have} changed since they were submitted (data or "
            "learners); submit them again"
        )
    with Store(chunk["store"]) as store:
        done = store.done(chunk["keys"]) if again and not chunk["fresh"] else set()
        todo = [cells_by_key[key] for key in chunk["keys"] if key not in done]
        executor = Loky(max(1, chunk["cpus"] // chunk["threads"]), chunk["threads"])
        executor.name = "slurm"
        lines = [line["status"] for line in run_cells(todo, executor, store, len(todo), progress=False)]
    return {"ran": len(lines), "failed": lines.count("failed")}


def begun(chunk: Path) -> Path:
    """Return the file that says that a chunk's job has begun."""
    return chunk.with_suffix(".begun")
