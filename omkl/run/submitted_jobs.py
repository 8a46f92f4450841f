"""What has been submitted for a store, and what of it is queued or running.

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

from omkl.errors import OmklError
from omkl.files import replacing
from omkl.store.keys import dumps
from omkl.store.lines import LONGEST, open_regular
from omkl.store.store import StoreWarning

FOLDER = "slurm"  # in the store
CLUSTERS = ("slurm", "local")
JOB, KEY = re.compile(r"[0-9]+(_[0-9]+)?"), re.compile(r"[0-9a-f]{64}")
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT")


def states(store: Path, strict: bool = False) -> dict[str, str]:
    """Return the cells that are queued or running, by key: "queued" or "running" (then their job has begun).

    Where squeue does not answer, as on another machine, all cells that were ever submitted are "unknown";
    strict raises OmklError instead.
    """
    live, silence = look(store)
    if strict and silence:
        raise OmklError(f"exec=slurm: squeue does not say what is queued already: {silence}")
    return live


def look(store: Path) -> tuple[dict[str, str], str]:
    """Return what `states` returns, and why squeue does not answer (empty where it does or is not needed)."""
    cells: dict[str, str] = {}
    queue: dict[str, str] | None = None
    silence = ""
    for folder, cluster, jobs in _submissions(store):
        if cluster == "slurm" and queue is None:
            queue, silence = _squeue()
        live = (queue or {}) if cluster == "slurm" else _processes(folder, jobs)
        if cluster == "slurm" and silence:
            live = dict.fromkeys(jobs, "unknown")
        for number, job in enumerate(jobs):
            if job in live:
                cells |= dict.fromkeys(_keys(folder / f"{number}.json"), live[job])
    return cells, silence


def died_at(store: Path, ended: set[str]) -> dict[str, Path]:
    """Return the cells at which begun jobs are or died, with the job's log.

    It is the first of a job's cells that has not ended, finished or failed.
    """
    cells = {}
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


def _keys(chunk: Path) -> list[str]:
    content = _read(chunk)
    return content["keys"] if content and _texts(content.get("keys"), KEY) else _skipped(chunk)


def _submissions(store: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield folder, cluster and job ids (of chunk 0, 1, ...) of each submission, oldest first."""
    for path in sorted((store / FOLDER).glob("*/jobs.json")):
        content = _read(path)
        if content and content.get("cluster") in CLUSTERS and _texts(content.get("jobs"), JOB):
            yield path.parent, content["cluster"], content["jobs"]
        else:
            _skipped(path)


def _read(path: Path) -> dict[str, Any] | None:
    """Return the content of a file of a submission, None where it cannot be read."""
    try:
        with open_regular(path) or io.BytesIO() as file:
            content = json.loads(file.read(LONGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _texts(values: Any, form: re.Pattern[str]) -> bool:
    return isinstance(values, list) and all(isinstance(v, str) and form.fullmatch(v) for v in values)


def _skipped(path: Path) -> list[str]:
    warnings.warn(f"unreadable file of the store skipped: {path}", StoreWarning, stacklevel=2)
    return []


def _squeue() -> tuple[dict[str, str], str]:
    """Return the user's jobs that are queued or running, array elements one by one, by id.

    And why that is not known, else the empty string.
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
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        return {}
    running = {}
    for line in said.splitlines():
        job, state, words = line.split(None, 2)
        if not state.startswith("Z") and str(folder.resolve()) in words:
            running[job] = "running"
    return running


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a file of a submission, whole or not at all."""
    with replacing(path) as file:
        file.write(dumps(content).encode())
