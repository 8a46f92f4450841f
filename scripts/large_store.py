"""Make a store of many cells, and measure what reading it costs: figures of docs/clusters.md.

    python scripts/large_store.py make FOLDER                    a million cells in ten files, some minutes
    python scripts/large_store.py make FOLDER --cells 100000
    python scripts/large_store.py measure FOLDER                 seconds and memory of each way to read it

The cells are made up but sound: 16 kernels, data sets, settings and permutations as in a sweep. ``measure``
runs each way in a process of its own, and prints one JSON object per way.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from omkl.config import learner_spec
from omkl.config.kernel_kinds import pool as pool_named
from omkl.store.fields import cell_key
from omkl.store.lines import encode_cell, encode_curve

DATA, REPS, FILES = 20, 20, 10


def main(argv: list[str] | None = None) -> int:
    """Make or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("make", "measure", *WAYS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", type=int, default=10**6, help="(default: %(default)s)")
    parser.add_argument("--reps", type=int, default=REPS, help="permutations (default: %(default)s)")
    parser.add_argument("--curves", action="store_true", help="with learning curves, 1 kB each")
    args = parser.parse_args(argv)
    if args.action == "make":
        make(args.folder, args.cells, args.reps, args.curves)
    elif args.action == "measure":
        for way in WAYS:
            subprocess.run([sys.executable, __file__, way, str(args.folder)], check=True)
    else:
        began = time.perf_counter()
        answer = WAYS[args.action](args.folder)
        seconds = time.perf_counter() - began
        used = resource.getrusage(resource.RUSAGE_SELF)
        peak = used.ru_maxrss / 2**10
        print(
            json.dumps(
                {
                    "way": args.action,
                    "s": round(seconds, 2),
                    "cpu_s": round(used.ru_utime + used.ru_stime, 2),
                    "peak_mib": round(peak),
                    **answer,
                }
            )
        )
    return 0


def make(folder: Path, cells: int, reps: int, curves: bool) -> None:
    """Write line files of made-up cells, as ten writers would."""
    chance = random.Random(1)
    spec = learner_spec("omkc_dd")
    pool = pool_named("paper16")
    kernels = {"normalise": pool["normalise"], "kernels": pool["kernels"]}
    origin = {
        "versions": {"omkl": "0.2.0", "python": "3.12.1", "numpy": "2.1.0", "numba": "0.60.0"},
        "commit": "f" * 40,
        "dirty": False,
        "host": "node17",
        "cpu": "AMD EPYC 7763",
        "cores": 64,
        "backend": "loky",
        "jobs": 64,
    }
    settings = -(-cells // (DATA * reps))
    for name in ("cells", "curves"):
        (folder / name).mkdir(parents=True)
    count = 0
    per_file = -(-cells // FILES)
    files: dict[str, Any] = {}
    for setting in range(settings):
        params = {**spec.usual("classification"), "beta": round(0.9 * (setting + 1) / settings, 6)}
        for data in range(DATA):
            T = 500 + 400 * data
            for rep in range(reps):
                if count == cells:
                    return
                if count % per_file == 0:
                    for name in ("cells", "curves"):
                        path = folder / name / f"node{count // per_file}-{os.getpid()}-00000000.jsonl"
                        files[name] = path.open("wb")
                line = {
                    "status": "ok",
                    "algo": "omkc_dd",
                    "params": params,
                    "pool": "paper16",
                    "pool_spec": kernels,
                    "data": f"set{data}",
                    "data_hash": f"{data:064x}",
                    "task": "classification",
                    "order": "permuted",
                    "rep": rep,
                    "seed": 1,
                    "permutation_seed": str(2**127 + 1000 * data + rep),
                    "revision": spec.revision,
                    **outcome(chance, T, len(pool["kernels"])),
                    "provenance": origin | {"time": stamp(count), "load": round(chance.uniform(0, 64), 2)},
                }
                key = cell_key(line)
                files["cells"].write(encode_cell({"key": key, **line}))
                if curves:
                    files["curves"].write(encode_curve(key, stamp(count), curve(chance, T, line["mistakes"])))
                count += 1


def outcome(chance: random.Random, T: int, m: int) -> dict[str, Any]:
    """Return made-up figures of a pass."""
    mistakes, positive = chance.randrange(T // 10, T // 2), T // 2
    sizes = [chance.randrange(T) for _ in range(m)]
    return {
        "T": T,
        "m": m,
        "mistakes": mistakes,
        "mistake_rate": mistakes / T,
        "n_sv_sum": sum(sizes),
        "n_sv_union": max(sizes),
        "n_sv_combined": sum(sizes),
        "n_sv_per_kernel": sizes,
        "weights": [chance.random() for _ in range(m)],
        "pairs": 17 * sum(sizes),
        "seconds": chance.expovariate(1.0),
        "memory": 8 * T * m,
        "confusion": [
            [T - positive - mistakes // 2, mistakes // 2],
            [(wrong := mistakes - mistakes // 2), positive - wrong],
        ],
    }


def curve(chance: random.Random, T: int, mistakes: int) -> dict[str, Any]:
    """Return a made-up learning curve of 40 points."""
    rounds = sorted({max(1, T * k // 40) for k in range(1, 41)})
    counts = sorted(chance.randrange(t + 1) // 2 for t in rounds)
    return {"t": rounds, "mistakes": counts, "n_sv_sum": [3 * t for t in rounds], "weights": None}


def stamp(count: int) -> str:
    """Return the time of a cell."""
    seconds, part = divmod(count, 50)
    minutes, hours = seconds // 60 % 60, seconds // 3600 % 24
    return f"2026-01-{1 + seconds // 86400:02d}T{hours:02d}:{minutes:02d}:{seconds % 60:02d}.{part:06d}+00:00"


# -------------------------------------------------------------------- ways to read it


def done(folder: Path) -> dict[str, Any]:
    """Return which of 10,000 keys have finished."""
    from omkl.store import Store

    keys = list(Store(folder).cells(columns=("key",))["key"])
    chosen = random.Random(2).sample(keys, min(10_000, len(keys)))
    began = time.perf_counter()
    count = len(Store(folder).done(chosen))
    return {"count": count, "alone_s": round(time.perf_counter() - began, 2)}


def table(folder: Path) -> dict[str, Any]:
    """Make the table of all cells, a row per setting and data set."""
    from omkl.reports.rows import ReportPlan
    from omkl.reports.summary import READ, summary_of
    from omkl.store import Store

    cells = Store(folder).cells(columns=READ)
    read = time.perf_counter()
    summary = summary_of(cells, ReportPlan())
    return {"cells": len(cells), "rows": len(summary), "summary_s": round(time.perf_counter() - read, 2)}


def everything(folder: Path) -> dict[str, Any]:
    """Read all columns of all cells."""
    from omkl.store import Store

    return {"cells": len(Store(folder).cells())}


def listing(folder: Path) -> dict[str, Any]:
    """List the store, as `omkl results list`."""
    from omkl.reports.store_contents import contents
    from omkl.store import Store

    return {"rows": len(contents(Store(folder)))}


WAYS = {"done": done, "table": table, "listing": listing, "everything": everything}

if __name__ == "__main__":
    sys.exit(main())
