"""Slurm, through submitit: job arrays of chunks of cells, which write to the store themselves.

Cells that are queued or running are not submitted again. A job that ended without all its cells (its time
was up, or it was cancelled) does not run again by itself: the next call submits what is missing, and the cell
at which such a job ended in a job of its own. submitit pickles one function and a path for each job, nothing
else; the cells are plain data in the file at that path.

A submission is a folder ``slurm/TIME-XXXXXXXX`` in the store. It holds a chunk per job (``0.json``: what to
run, and the keys of its cells), ``0.begun`` once the job has begun, submitit's scripts and logs, and
``jobs.json`` with the ids of the queued jobs. If a submission is killed before it writes this file, its cells
may run twice, which costs time and changes nothing. squeue says whether a job is queued or runs.

Last, the progress of a plan's cells, whatever runs them, and the failed ones in words.
"""

import getpass
import json
import os
import shlex
import signal
import subprocess
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from omkl.config import Plan, Setting
from omkl.config.parameters import params_text
from omkl.data import from_json
from omkl.data.held_out import absolute_test
from omkl.errors import OmklError, UserError
from omkl.files import locked, replacing
from omkl.passes.cell import Cell
from omkl.paths import EXTENSIONS, SAFE, extensions
from omkl.runs.cells import check_data, data_names, expand
from omkl.runs.runner import by_key, run_cells
from omkl.runs.workers import Loky
from omkl.store.fields import dumps
from omkl.store.store import Store, StoreWarning

FOLDER = "slurm"  # in the store
UNKNOWN = "unknown"
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT")
SAME = ("order", "seed", "block")  # of a plan, the same for all of its cells


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
        chunks = _chunks(plan, missing, suspects)
        for number, keys in enumerate(chunks):
            chunk = {"store": str(plan.store.resolve()), "fresh": fresh, "cpus": cpus, "threads": threads}
            chunk |= {"parts": _described(plan, [missing[key] for key in keys]), "keys": keys}
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


# ------------------------------------------------------------------ chunks


def _chunks(plan: Plan, missing: Iterable[str], suspects: set[str]) -> list[list[str]]:
    """Return the keys of each job: ``exec.chunk`` cells, and each suspect alone, last."""
    keys = [key for key in missing if key not in suspects]
    size = plan.exec["chunk"]
    return [keys[i : i + size] for i in range(0, len(keys), size)] + [[key] for key in sorted(suspects)]


def _described(plan: Plan, cells: list[Cell]) -> list[dict[str, Any]]:
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


def _plan(part: dict[str, Any]) -> Plan:
    """Return the plan of a part of a chunk, see `_described`."""
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
    cells_by_key = by_key([cell for part in chunk["parts"] for cell in expand(_plan(part))])
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


# ------------------------------------------------------------------ the queue


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


# ------------------------------------------------------------------ the jobs of a store


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


# ------------------------------------------------------------------ the progress of a plan

STATES = ("done", "running", "queued", "failed", "missing")
MOST_LINES = 20


@dataclass(frozen=True)
class Status:
    """The progress of a plan.

    rows: one per learner and data set, with the number of cells in each of STATES: done (in the store),
    running or queued (in a job of exec=slurm), failed (when last tried), or missing
    failed: the lines of failed cells    logs: of the jobs that died at a cell that is missing now
    silence: why Slurm does not answer; then submitted cells that have not ended are UNKNOWN, one more column;
    empty where there are none
    """

    rows: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    logs: list[Path]
    silence: str = ""


def status_of(plan: Plan) -> Status:
    """Return the progress of a plan. Raises as ``expand`` and the store do."""
    cells = expand(plan)
    keys = {cell.key for cell in cells}
    with Store(plan.store) as store:
        done = store.done(keys)
        failed = {line["key"]: line for line in store.failed(keys)}
    live, silence = states_of_jobs(plan.store)
    died = died_at(plan.store, done | failed.keys())
    states = {key: live.get(key, "missing") for key in keys}
    states |= {key: "failed" for key in failed if states[key] in ("missing", UNKNOWN)}
    states |= dict.fromkeys(done, "done")
    unknown = UNKNOWN in states.values()
    counts: dict[tuple[str, str], Counter[str]] = {}
    names = data_names(cells)
    for cell in cells:
        name = names[cell.data.content_hash]
        counts.setdefault((name, cell.spec.name), Counter())[states[cell.key]] += 1
    columns = (*STATES, UNKNOWN) if unknown else STATES
    rows = [
        {"data": data, "algo": learner, "cells": count.total(), **{name: count[name] for name in columns}}
        for (data, learner), count in counts.items()
    ]
    logs = dict.fromkeys(log for key, log in died.items() if states.get(key) == "missing")
    tried = [line for key, line in failed.items() if states[key] == "failed"]
    return Status(rows, tried, list(logs), silence if unknown else "")


def failures_text(failed: Iterable[dict[str, Any]]) -> list[str]:
    """Return failed cells as at most 21 lines of text; repetitions with the same error share a line."""

    def kind(line: dict[str, Any]) -> tuple[str, ...]:
        pool = f" pool={line['pool']}" if line["pool"] else ""
        return line["data"], f"{line['algo']}{pool} {params_text(line['params'])}".rstrip(), line["error"]

    lines = []
    for (data, learner, error), group in groupby(sorted(failed, key=kind), key=kind):
        reps = enumerate(sorted(line["rep"] for line in group))
        runs = [[rep for _, rep in run] for _, run in groupby(reps, key=lambda pair: pair[1] - pair[0])]
        texts = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
        many = "s" if len(runs) > 1 or len(runs[0]) > 1 else ""
        lines.append(f"{learner} on {data}, repetition{many} {texts}: {error}")
    if len(lines) > MOST_LINES:
        more = f"... and {len(lines) - MOST_LINES} more"
        return [*lines[:MOST_LINES], f"{more} (the store has them all: its lines with status failed)"]
    return lines
