"""The jobs of a store that Slurm has, and what squeue says of them."""

import getpass
import json
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omkl.files import replacing
from omkl.runs.slurm_chunks import begun
from omkl.store.fields import dumps
from omkl.store.store import StoreWarning

FOLDER = "slurm"  # in the store
UNKNOWN = "unknown"
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT")


def states_of_jobs(store_path: Path) -> tuple[dict[str, str], str]:
    """Return the state of submitted cells by key, and why squeue does not answer (empty where it does).

    A cell is "queued" or "running" (then its job has begun). Where squeue does not answer, as on another
    machine, all cells that were ever submitted are UNKNOWN.
    """
    cells: dict[str, str] = {}
    queue: dict[str, str] | None = None
    silence = ""
    for folder, jobs in _submissions(store_path):
        if queue is None:
            queue, silence = _squeue()
        live = dict.fromkeys(jobs, UNKNOWN) if silence else queue
        for number, job in enumerate(jobs):
            if job in live:
                cells |= dict.fromkeys(_keys(folder / f"{number}.json"), live[job])
    return cells, silence


def died_at(store_path: Path, ended: set[str]) -> dict[str, Path]:
    """Return the cells at which begun jobs are or died, with the job's log.

    It is the first of a job's cells that has not ended, finished or failed.
    """
    cells: dict[str, Path] = {}
    for folder, jobs in _submissions(store_path):
        for number, job in enumerate(jobs):
            chunk = folder / f"{number}.json"
            if begun(chunk).exists():
                rest = [key for key in _keys(chunk) if key not in ended]
                cells |= dict.fromkeys(rest[:1], folder / f"{job}_0_log.err")
    return cells


def write_content(path: Path, content: dict[str, Any]) -> None:
    """Write a file of a submission, whole or not at all."""
    with replacing(path) as file:
        file.write(dumps(content).encode())


def _submissions(store_path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield folder and job ids (of chunk 0, 1, ...) of each submission, oldest first."""
    for path in sorted((store_path / FOLDER).glob("*/jobs.json")):
        if content := _read(path):
            yield path.parent, content["jobs"]


def _keys(chunk: Path) -> list[str]:
    return _read(chunk).get("keys", [])


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a file of a submission, nothing and a warning where it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        warnings.warn(f"skipped an unreadable file of the store: {path}", StoreWarning, stacklevel=2)
        return {}


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
