"""What a job of a cluster's queue does: it runs the cells of its chunk."""

import json
import signal
from pathlib import Path
from typing import Any

from omkl import executors
from omkl.config import Plan, Setting
from omkl.data import from_json
from omkl.errors import OmklError
from omkl.runs.cells import expand
from omkl.runs.runner import by_key, run_cells
from omkl.store.store import Store

SAME = ("order", "seed", "block")  # of a plan, the same for all of its cells


def run_chunk(path: str) -> dict[str, int]:
    """Run the cells of a chunk and store each at once. Returns how many ran and how many failed.

    A job that was begun before (it was requeued) leaves out the cells that are in the store already.
    """
    # submitit's handlers raise inside the running cell, which would look like its failure. Being stopped is
    # harmless: finished cells are in the store, and the next call submits the rest.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    chunk = json.loads(Path(path).read_text(encoding="utf-8"))
    again = begun(Path(path)).exists()
    begun(Path(path)).touch()
    known = by_key([cell for part in chunk["parts"] for cell in expand(_plan(part))])
    if unknown := [key for key in chunk["keys"] if key not in known]:
        have = "has" if len(unknown) == 1 else "have"
        raise OmklError(
            f"{path}: {len(unknown)} of its cells {have} changed since they were submitted (data or "
            "learners); submit them again"
        )
    with Store(chunk["store"]) as store:
        done = store.done(chunk["keys"]) if again and not chunk["fresh"] else set()
        todo = [known[key] for key in chunk["keys"] if key not in done]
        threads = chunk.get("threads", 1)
        together = max(1, chunk["cpus"] // threads)
        where = {"name": "loky", "jobs": together} if together > 1 else {"name": "serial"}
        executor = executors.make_executor({**where, "threads": threads})
        executor.name = "slurm"
        lines = [line["status"] for line in run_cells(todo, executor, store, len(todo), progress=False)]
    return {"ran": len(lines), "failed": lines.count("failed")}


def _plan(part: dict[str, Any]) -> Plan:
    return Plan(
        settings=tuple(
            Setting(one["algo"], one["params"], one["pool"], scaling=one.get("scaling", {}))
            for one in part["settings"]
        ),
        data=(from_json(part),),
        reps=part["reps"],
        store=Path(),
        exec={},
        yardsticks=(),
        swept=(),
        rounds=part.get("rounds"),
        test=part.get("test"),
        **{name: part[name] for name in SAME},
    )


def begun(chunk: Path) -> Path:
    """Return the file that says that a chunk's job has begun."""
    return chunk.with_suffix(".begun")
