"""What a job of a cluster's queue does: it runs the cells of its chunk."""

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError
from omkl.executors.loky import Loky
from omkl.executors.serial import Serial
from omkl.run.cells import expand
from omkl.run.submitted_jobs import begun
from omkl.store.store import Store

if TYPE_CHECKING:
    from omkl.config import Plan

SAME = ("order", "seed", "block", "task")  # of a plan, the same for all of its cells


def run_chunk(path: str) -> dict[str, int]:
    """Run the cells of a chunk and store each at once: what a job does. Returns how many ran and failed.

    Cells that are in the store already are left out when the job was begun before (it was requeued).
    """
    from omkl.run.runner import by_key, run_cells

    # submitit's handlers raise inside whatever runs, which would look like a failing cell. To be stopped is
    # harmless: what is finished is in the store, and the next call submits the rest.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    chunk = json.loads(Path(path).read_text())
    again = begun(Path(path)).exists()
    begun(Path(path)).touch()
    known = by_key([cell for part in chunk["parts"] for cell in expand(_plan(part))])
    if strange := [key for key in chunk["keys"] if key not in known]:
        raise OmklError(
            f"{path}: {len(strange)} of its cells have changed since they were submitted (data or learners); "
            "submit again"
        )
    with Store(chunk["store"]) as store:
        done = store.done(chunk["keys"]) if again and not chunk["fresh"] else set()
        todo = [known[key] for key in chunk["keys"] if key not in done]
        executor = Loky(chunk["cpus"]) if chunk["cpus"] > 1 else Serial()
        executor.name = "slurm"
        lines = [line["status"] for line in run_cells(todo, executor, store, len(todo), progress=False)]
    return {"ran": len(lines), "failed": lines.count("failed")}


def _plan(part: dict[str, Any]) -> "Plan":
    from omkl.config import Plan, Setting

    return Plan(
        settings=tuple(Setting(**setting) for setting in part["settings"]),
        data=(part["data"],),
        reps=part["reps"],
        store=Path(),
        exec={},
        yardsticks=(),
        swept=(),
        **{name: part[name] for name in SAME},
    )
