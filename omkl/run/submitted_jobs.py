"""The jobs submitted for a store, and which of their cells are queued or running.

A submission is a folder ``slurm/TIME-XXXXXXXX`` in the store. It holds a chunk per job (``0.json``: what to
run, and the keys of its cells), ``0.begun`` once the job has begun, submitit's scripts and logs, and
``jobs.json`` with the ids of the queued jobs. If a submission is killed before it writes this file, its cells
may run twice, which costs time and changes nothing. squeue says whether a job is queued or runs.
"""

import getpass
import io
import json
import re
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omkl.files import replacing
from omkl.store.keys import dumps
from omkl.store.lines import LONGEST, open_regular
from omkl.store.store import StoreWarning

FOLDER = "slurm"  # in the store
UNKNOWN = "unknown"
CLUSTERS = ("slurm", "local")
JOB, KEY = re.compile(r"[0-9]+(_[0-9]+)?"), re.compile(r"[0-9a-f]{64}")
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT")


def look(store: Path) -> tuple[dict[str, str], str]:
    """Return the state of submitted cells by key, and why squeue does not answer (empty where it does).

    A cell is "queued" or "running" (then its job has begun). Where squeue does not answer, as on another
    machine, all cells that were ever submitted are UNKNOWN.
    """
    cells: dict[str, str] = {}
    queue: dict[str, str] | None = None
    silence = ""
    for folder, cluster, jobs in _submissions(store):
        if cluster == "local":
            live = _processes(folder, jobs)
        else:
            if queue is None:
                queue, silence = _squeue()
            live = dict.fromkeys(jobs, UNKNOWN) if silence else queue
        for number, job in enumerate(jobs):
            if job in live:
                cells |= dict.fromkeys(_keys(folder / f"{number}.json"), live[job])
    return cells, silence


def died_at(store: Path, ended: set[str]) -> dict[str, Path]:
    """Return the cells at which begun jobs are or died, with the job's log.

    It is the first of a job's cells that has not ended, finished or failed.
    """
    cells: dict[str, Path] = {}
    for folder, _, jobs in _submissions(store):
        for number, job in enumerate(jobs):
            chunk = folder / f"{number}.json"
            if begun(chunk).exists():
                rest = [key for key in _keys(chunk) if key not in ended]
                cells |= dict.fromkeys(rest[:1], folder / f"{job}_0_log.err")
    return cells


def begun(chunk: Path) -> Path:
    """Return the file that says that a chunk's job has begun."""
    return chunk.with_suffix(".begun")


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a file of a submission, whole or not at all."""
    with replacing(path) as file:
        file.write(dumps(content).encode())


def _submissions(store: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield folder, cluster and job ids (of chunk 0, 1, ...) of each submission, oldest first."""
    for path in sorted((store / FOLDER).glob("*/jobs.json")):
        content = _read(path)
        jobs = _texts(path, content.get("jobs") if content.get("cluster") in CLUSTERS else None, JOB)
        if jobs is not None:
            yield path.parent, content["cluster"], jobs


def _keys(chunk: Path) -> list[str]:
    return _texts(chunk, _read(chunk).get("keys"), KEY) or []


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a file of a submission, nothing where it cannot be read."""
    try:
        with open_regular(path) or io.BytesIO() as file:
            content = json.loads(file.read(LONGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _texts(path: Path, values: Any, form: re.Pattern[str]) -> list[str] | None:
    """Return the values of a file if they are texts of this form, else None, with a warning."""
    if isinstance(values, list) and all(isinstance(v, str) and form.fullmatch(v) for v in values):
        return values
    warnings.warn(f"skipped an unreadable file of the store: {path}", StoreWarning, stacklevel=2)
    return None


def _squeue() -> tuple[dict[str, str], str]:
    """Return the state of the user's queued and running jobs by id, array elements one by one.

    And why squeue does not answer, else the empty string.
    """
    command = ["squeue", "--noheader", "--array", "--user", getpass.getuser(), "--format=%i %T"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return {}, " ".join((getattr(error, "stderr", None) or str(error)).split())[:300]
    pairs = [line.split() for line in done.stdout.splitlines() if len(line.split()) == 2]
    return {job: "queued" if state in WAITING else "running" for job, state in pairs}, ""


def _processes(folder: Path, jobs: list[str]) -> dict[str, str]:
    """Return the jobs (process ids) of a local submission that are running."""
    command = ["ps", "-ww", "-o", "pid=,stat=,command=", "-p", ",".join(jobs)]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        return {}
    lines = [line.split(None, 2) for line in answer.splitlines()]
    here = str(folder.resolve())
    return {job: "running" for job, state, words in lines if not state.startswith("Z") and here in words}
