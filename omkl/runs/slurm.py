"""Slurm, through submitit: job arrays of chunks of cells, which write to the store themselves.

Cells that are queued or running are not submitted again. A job that ended without all its cells (its time
was up, or it was cancelled) does not run again by itself: the next call submits what is missing, and the cell
at which such a job ended in a job of its own. submitit pickles one function and a path for each job, nothing
else; the cells are plain data in the file at that path.

A submission is a folder ``slurm/TIME-XXXXXXXX`` in the store. It holds a chunk per job (``0.json``: what to
run, and the keys of its cells), ``0.begun`` once the job has begun, submitit's scripts and logs, and
``jobs.json`` with the ids of the queued jobs. If a submission is killed before it writes this file, its cells
may run twice, which costs time and changes nothing. squeue says whether a job is queued or runs.
"""

import os
import shlex
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl.config import Plan
from omkl.errors import OmklError, UserError
from omkl.files import locked
from omkl.paths import EXTENSIONS, SAFE, extensions
from omkl.runs.cells import check_data, expand
from omkl.runs.runner import by_key
from omkl.runs.slurm_chunks import chunks_of, described, run_chunk
from omkl.runs.slurm_jobs import FOLDER, died_at, states_of_jobs, write_content
from omkl.store.store import Store


@dataclass(frozen=True)
class Submitted:
    """The result of `submit`: ids and number of cells of the new jobs, and cells that waited already."""

    jobs: list[str]
    cells: int
    waiting: int


def submit(plan: Plan, fresh: bool = False) -> Submitted:
    """Submit the cells of a plan that are neither finished nor queued nor running, and return at once.

    fresh: also those that are finished. Raises UserError for a mistake in the plan or a missing submitit,
    OmklError when there is no Slurm here or it refuses.
    """
    _submitit()
    cpus, threads = plan.exec["cpus"], plan.exec["threads"]
    if threads > cpus:
        raise UserError(
            f"exec.threads={threads}: a job has exec.cpus={cpus}; it needs as many cpus as threads"
        )
    check_objects(plan)
    cells = by_key(expand(plan))
    with locked(plan.store / FOLDER / "lock", "submitting"):
        with Store(plan.store) as store:
            done = set() if fresh else store.done(cells)
            ended = done | {line["key"] for line in store.failed(cells)}
        live, silence = states_of_jobs(plan.store)
        if silence:
            raise OmklError(f"exec=slurm: squeue does not list the queued jobs: {silence}")
        waiting = (live.keys() & cells.keys()) - done
        covered = done | waiting
        missing = {key: cell for key, cell in cells.items() if key not in covered}
        if not missing:
            return Submitted([], 0, len(waiting))
        check_data(missing.values())
        suspects = set() if fresh else died_at(plan.store, ended).keys() & missing.keys()
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}-{uuid.uuid4().hex[:8]}"
        folder = plan.store.resolve() / FOLDER / name
        folder.mkdir(parents=True)
        chunks = chunks_of(plan, missing, suspects)
        for number, keys in enumerate(chunks):
            chunk = {"store": str(plan.store.resolve()), "fresh": fresh, "cpus": cpus, "threads": threads}
            chunk |= {"parts": described(plan, [missing[key] for key in keys]), "keys": keys}
            write_content(folder / f"{number}.json", chunk)
        return Submitted(_send(plan.exec, folder, len(chunks)), len(missing), len(waiting))


def check_objects(plan: Plan) -> None:
    """Raise UserError where a learner of a plan is an object, which the file of a job cannot hold."""
    for setting in plan.settings:
        if setting.spec.is_object:
            raise UserError(
                f"exec=slurm: {setting.spec.label} is an object of Python, and the file of a job holds names "
                "and numbers alone; use exec=loky or exec=dask, or name its class in a learner's YAML"
            )


def _submitit() -> Any:
    try:
        import submitit
    except ImportError:
        raise UserError("exec=slurm needs the package submitit: pip install 'omkl[slurm]'") from None
    return submitit


def _send(options: dict[str, Any], folder: Path, count: int) -> list[str]:
    """Queue the chunks of a submission, in arrays; record and return their job ids.

    options: of conf/exec/slurm.yaml. Raises OmklError when the cluster refuses.
    """
    jobs: list[str] = []
    try:
        executor = _submitit().AutoExecutor(folder=folder, cluster="slurm")
        executor.update_parameters(**_parameters(options))
        paths = [str(folder / f"{number}.json") for number in range(count)]
        for start in range(0, count, options["array"]):
            sent = executor.map_array(run_chunk, paths[start : start + options["array"]])
            jobs += [job.job_id for job in sent]
            write_content(folder / "jobs.json", {"jobs": jobs})
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as error:
        text = " ".join(str(error).split())[:500]
        queued = f"; {len(jobs)} of {count} jobs are queued" if jobs else ""
        raise OmklError(f"exec=slurm: cannot submit: {text}{queued}") from error
    return jobs


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of conf/exec/slurm.yaml as submitit's parameters."""
    extra = dict(word.partition("=")[::2] for word in options["extra"])
    for word in options["extra"]:
        if not all(word.partition("=")):
            raise UserError(f"exec.extra: {word!r} is not an option of sbatch written as name=value")
    names = {"partition": "partition", "account": "account", "qos": "qos", "parallel": "array_parallelism"}
    slurm = {theirs: options[name] for name, theirs in names.items()} | {"additional_parameters": extra}
    return {
        "name": "omkl",
        "timeout_min": options["time"],
        "mem_gb": options["mem"],
        "cpus_per_task": options["cpus"],
        "slurm_setup": [*_environment(), *options["setup"]],
        **{f"slurm_{name}": value for name, value in slurm.items() if value not in (None, {})},
    }


def _environment() -> list[str]:
    """Return the shell lines of what a job must have in its environment."""
    folders = os.pathsep.join(map(str, extensions()))
    named = {SAFE: "1"} | ({EXTENSIONS: folders} if folders else {})
    return [f"export {name}={shlex.quote(value)}" for name, value in named.items()]
