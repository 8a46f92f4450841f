"""Slurm, through submitit: job arrays of chunks of cells, which write to the store themselves.

What is queued or running is not submitted again (see omkl.submissions). A job that ended without all its
cells is not rerun by itself: the next call submits what is missing. submitit pickles one function and a path
for each job, nothing else; what to run is plain data in the file at that path.
"""

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl import local_jobs, submissions
from omkl.cells import Cell, expand
from omkl.errors import OmklError, UserError
from omkl.executors.loky import Loky
from omkl.executors.serial import Serial
from omkl.keys import dumps
from omkl.locks import locked
from omkl.results import Store
from omkl.sizes import sizes
from omkl.submissions import begun, write

if TYPE_CHECKING:
    from omkl.config import Plan

SAME = ("order", "seed", "block", "task")  # of a plan, the same for all of its cells


@dataclass(frozen=True)
class Submitted:
    """What a call of `submit` did: ids and cells of the new jobs, and cells that were waiting already."""

    jobs: list[str]
    cells: int
    waiting: int


def submit(plan: "Plan", fresh: bool = False) -> Submitted:
    """Submit the cells of a plan that are neither finished nor queued nor running, and return at once.

    fresh: also those that are finished. Raises UserError for a mistake in the plan or a missing submitit,
    OmklError when there is no Slurm here or it refuses.
    """
    from omkl.runner import by_key

    _submitit()
    cells = by_key(expand(plan, sizes(plan)))
    with locked(plan.store / submissions.FOLDER / "lock", "submitting"):
        with Store(plan.store) as store:
            done = set() if fresh else store.done(cells)
            ended = done | {line["key"] for line in store.failed(cells)}
        live = submissions.states(plan.store, strict=True).keys() & cells.keys()
        waiting = live - done
        missing = {key: cell for key, cell in cells.items() if key not in done and key not in waiting}
        if not missing:
            return Submitted([], 0, len(waiting))
        suspects = set() if fresh else submissions.died_at(plan.store, ended).keys() & missing.keys()
        folder = (
            plan.store.resolve()
            / submissions.FOLDER
            / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}-{uuid.uuid4().hex[:8]}"
        )
        folder.mkdir(parents=True)
        chunks, names = _chunks(plan, missing, suspects), _names(plan)
        for number, keys in enumerate(chunks):
            chunk = {"store": str(plan.store.resolve()), "cpus": plan.exec["cpus"], "fresh": fresh}
            chunk |= {"parts": _described([missing[key] for key in keys], names), "keys": keys}
            write(folder / f"{number}.json", chunk)
        start = local_jobs.launch if plan.exec["cluster"] == "local" else send
        return Submitted(start(plan.exec, folder, len(chunks)), len(missing), len(waiting))


def run_chunk(path: str) -> dict[str, int]:
    """Run the cells of a chunk and store each at once: what a job does. Returns how many ran and failed.

    Cells that are in the store already are left out when the job was begun before (it was requeued).
    """
    from omkl.runner import by_key, run_cells

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


def _names(plan: "Plan") -> dict[str, str]:
    """Return the plan's data sets by content hash: registered names, absolute paths of files."""
    import omkl.data

    def lasting(name: str) -> str:
        return name if omkl.data.registry.is_name(name) else os.path.abspath(os.path.expanduser(name))

    return {omkl.data.load(name, task=plan.task).content_hash: lasting(name) for name in plan.data}


# ------------------------------------------------------------------ the cluster


def _submitit() -> Any:
    try:
        import submitit
    except ImportError:
        raise UserError("exec=slurm needs the package submitit: pip install 'omkl[slurm]'") from None
    return submitit


def send(options: dict[str, Any], folder: Path, count: int) -> list[str]:
    """Queue the chunks of a submission, in arrays; record and return their job ids.

    options: of conf/exec/slurm.yaml. Raises OmklError when the cluster refuses.
    """
    submitit = _submitit()
    jobs: list[str] = []
    try:
        executor = submitit.AutoExecutor(folder=folder, cluster=options["cluster"])
        executor.update_parameters(**parameters(options))
        paths = [str(folder / f"{number}.json") for number in range(count)]
        for start in range(0, count, options["array"]):
            sent = executor.map_array(run_chunk, paths[start : start + options["array"]])
            jobs += [job.job_id for job in sent]
            write(folder / "jobs.json", {"cluster": options["cluster"], "jobs": jobs})
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as error:
        text = " ".join(str(error).split())[:500]
        queued = f"; {len(jobs)} of {count} jobs are queued" if jobs else ""
        raise OmklError(f"exec=slurm: cannot submit: {text}{queued}") from error
    return jobs


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of conf/exec/slurm.yaml as submitit's parameters.

    Raises UserError for an ``extra`` that is not NAME=VALUE.
    """
    extra = {}
    for word in options["extra"]:
        name, _, value = word.partition("=")
        if not name or not value:
            raise UserError(f"exec.extra: {word!r} is not an option of sbatch written as name=value")
        extra[name] = value
    given = {
        "name": "omkl",
        "timeout_min": options["time"],
        "mem_gb": options["mem"],
        "cpus_per_task": options["cpus"],
        f"{options['cluster']}_setup": options["setup"],
    }
    slurm = {
        "partition": options["partition"],
        "account": options["account"],
        "qos": options["qos"],
        "array_parallelism": options["parallel"],
        "additional_parameters": extra,
    }
    return given | {f"slurm_{name}": value for name, value in slurm.items() if value not in (None, {})}
