"""What has been submitted for a store, and what of it is queued or running.

A submission is a folder ``slurm/TIME-XXXXXXXX`` in the store: a chunk per job (``0.json``: what to run, and
the keys of its cells), ``0.begun`` once the job has begun, submitit's scripts and logs, and, as the jobs are
queued, ``jobs.json`` with their ids (a submission killed just then is not known of: its cells may run twice,
which costs time and changes nothing). Whether a job is queued or runs is what squeue says.
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

    Where squeue does not answer, as on another machine, they are "unknown", and so is whatever else was
    submitted; strict raises OmklError instead.
    """
    found, silence = look(store)
    if strict and silence:
        raise OmklError(f"exec=slurm: squeue does not say what is queued already: {silence}")
    return found


def look(store: Path) -> tuple[dict[str, str], str]:
    """Return what `states` returns, and why squeue does not answer, empty where it does or nobody asked."""
    found: dict[str, str] = {}
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
                found |= dict.fromkeys(_keys(folder / f"{number}.json"), live[job])
    return found, silence


def died_at(store: Path, ended: set[str]) -> dict[str, Path]:
    """Return the cells at which begun jobs stand or died, with the job's log.

    Of a job's cells it is the first that is not among those that ended, finished or failed.
    """
    found = {}
    for folder, _, jobs in _submissions(store):
        for number, job in enumerate(jobs):
            chunk = folder / f"{number}.json"
            if begun(chunk).exists():
                rest = [key for key in _keys(chunk) if key not in ended]
                found |= dict.fromkeys(rest[:1], folder / f"{job}_0_log.err")
    return found


def begun(chunk: Path) -> Path:
    """Return the file that says that a chunk's job has begun."""
    return chunk.with_suffix(".begun")


def _keys(chunk: Path) -> list[str]:
    record = _read(chunk)
    return record["keys"] if record and _texts(record.get("keys"), KEY) else _skipped(chunk)


def _submissions(store: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield folder, cluster and job ids (of chunk 0, 1, ...) of each submission, oldest first."""
    for path in sorted((store / FOLDER).glob("*/jobs.json")):
        record = _read(path)
        if record and record.get("cluster") in CLUSTERS and _texts(record.get("jobs"), JOB):
            yield path.parent, record["cluster"], record["jobs"]
        else:
            _skipped(path)


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a file of a submission says, None where that cannot be read."""
    try:
        with open_regular(path) or io.BytesIO() as file:
            found = json.loads(file.read(LONGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


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
    """Return those of a local submission's jobs (process ids) that run."""
    command = ["ps", "-ww", "-o", "pid=,stat=,command=", "-p", ",".join(jobs)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        return {}
    found = {}
    for line in said.splitlines():
        job, state, words = line.split(None, 2)
        if not state.startswith("Z") and str(folder.resolve()) in words:
            found[job] = "running"
    return found


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a file of a submission, whole or not at all."""
    with replacing(path) as file:
        file.write(dumps(content).encode())
