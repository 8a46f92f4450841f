"""Measure what a sweep costs in addition to its learners: the figures of docs/clusters.md.

    python scripts/scale.py                  everything, about two minutes on 2 idle cores
    python scripts/scale.py --cells 1000     with fewer tiny cells
    python scripts/scale.py --exec dask      on another executor

Prints one JSON object; seconds are wall clock unless they say CPU.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from omkl.config import Plan, plan
from omkl.passes.cell import run_cell
from omkl.runs.cells import expand
from omkl.runs.runner import run_plan
from omkl.runs.workers import make_executor

REPS = 20


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=10_000, help="tiny cells (default: %(default)s)")
    parser.add_argument(
        "--large", type=int, default=16_000, help="T of the long cells (default: %(default)s)"
    )
    parser.add_argument("--exec", default="loky", help="serial, loky or dask (default: %(default)s)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="workers (default: %(default)s)")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="omkl-scale-") as name:
        folder = Path(name)
        tiny = grid(folder, "tiny", 40, args.cells, args.exec)
        run_plan(replace(tiny, reps=1, settings=tiny.settings[:1]), progress=False)  # compiled and loaded
        figures = {"cores": os.cpu_count(), "exec": args.exec, "jobs": args.jobs, "load": os.getloadavg()[0]}
        figures |= tiny_cells(tiny, args.jobs) | memory(tiny, args.jobs)
        figures |= efficiency(grid(folder, "large", args.large, REPS, args.exec), args.jobs)
    print(
        json.dumps({key: round(v, 4) if isinstance(v, float) else v for key, v in figures.items()}, indent=1)
    )
    return 0


def grid(folder: Path, name: str, T: int, count: int, executor: str) -> Plan:
    """Return a plan of `count` cells on a made-up data set of T examples: REPS repetitions per setting."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(T, 10))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=T) > 0, "+1", "-1")
    lines = (
        f"{label} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(row, 1)) + "\n"
        for label, row in zip(y, X, strict=True)
    )
    (folder / f"{name}.libsvm").write_text("".join(lines), encoding="utf-8")
    betas = ",".join(f"{0.9 * (i + 1) / (count // REPS):.6f}" for i in range(count // REPS))
    words = ["algo=omkc_dd", f"data={folder / name}.libsvm", f"algo.beta={betas}", f"reps={REPS}"]
    return plan([*words, "yardsticks=[]", f"store={folder / name}", f"exec={executor}"], sweep=True)


def tiny_cells(tiny: Plan, jobs: int) -> dict[str, Any]:
    """Return the time per cell without the learner's, and the time of a call when all cells are done."""
    before = cpu()
    first = run_plan(tiny, jobs=jobs, progress=False)
    used = cpu() - before
    second = run_plan(tiny, jobs=jobs, progress=False)
    learner = first.cells["seconds"].mean()
    ran = first.ran
    assert (len(first.failed), second.ran, len(second.cells)) == (0, 0, len(first.cells))
    return {
        "tiny_cells": ran,
        "tiny_learner_ms": 1e3 * learner,
        "tiny_ms_per_cell": 1e3 * first.seconds / ran,
        "tiny_overhead_ms": 1e3 * (first.seconds / ran - learner / jobs),
        "tiny_cpu_ms_per_cell": 1e3 * used / ran,
        "all_done_s": second.seconds,
    }


def memory(tiny: Plan, jobs: int) -> dict[str, Any]:
    """Return a worker's resident memory early and late in the run, for the worker that grew most."""
    seen = defaultdict(list)
    work = make_executor(tiny.exec, jobs).run(with_memory, expand(tiny))
    for _, (process, size) in work:
        seen[process].append(size / 2**20)
    grown = {}
    for process, sizes in seen.items():
        tenth = len(sizes) // 10
        if tenth:
            grown[process] = (median(sizes[tenth : 2 * tenth]), median(sizes[-tenth:]))
    early, late = max(grown.values(), key=lambda pair: pair[1] / pair[0])
    return {"worker_mib_early": early, "worker_mib_late": late, "worker_growth": late / early - 1}


def with_memory(job: Any) -> tuple[int, int]:
    """Run a cell; return the worker's process id and resident bytes."""
    run_cell(job)
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return os.getpid(), pages * os.sysconf("SC_PAGE_SIZE")


def efficiency(large: Plan, jobs: int) -> dict[str, Any]:
    """Return the learner's CPU seconds per worker and second of the run, and per CPU second of all processes.

    The first is right on idle cores; the second does not depend on other work on the machine.
    """
    before = cpu()
    outcome = run_plan(large, jobs=jobs, progress=False)
    used = cpu() - before
    learner = outcome.cells["seconds"].sum()
    return {
        "long_cells": outcome.ran,
        "long_learner_s": float(fmean(outcome.cells["seconds"])),
        "efficiency_wall": learner / (jobs * outcome.seconds),
        "efficiency_cpu": learner / used,
    }


def cpu() -> float:
    """CPU seconds of this process, its workers and their children, including those that have ended."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    tick, parents, spent = os.sysconf("SC_CLK_TCK"), {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # the process has just ended
            continue
        process = int(path.parent.name)
        parents[process], spent[process] = int(fields[1]), sum(map(int, fields[11:15])) / tick
    for process in parents:
        above = parents[process]
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid():
            total += spent[process]
    return total


if __name__ == "__main__":
    sys.exit(main())
