"""Time passes of learners on this machine, and compare with an earlier run.

    python scripts/bench.py                       a minute on an idle core, once the learners are compiled
    python scripts/bench.py --json before.json    keep the figures
    python scripts/bench.py --compare before.json after a change: new time / old time
    python scripts/bench.py --only spa --runs 9   the cases whose name holds this text, nine times each

Prints the CPU seconds of one pass in file order, the least and the median of the runs. np.exp is timed first:
where it changed too, the machine did. A ratio counts if all runs of one side are above those of the other; a
loaded machine drifts by more, so repeat both before you believe a small one. Data come from OMKL_DATA. wdbc
is shipped, and a generated set in the shape of a9a is used where data are missing.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import omkl.data
from omkl.config import learner_spec, pool
from omkl.errors import OmklError
from omkl.passes import run_pass, warm_up

CASES = [  # learner, data set, hyperparameters other than the defaults
    ("omkc_dd", "a9a_train", {"beta": 0.99}),
    ("omkc_dd", "magic04", {}),
    ("omkc_dd", "madelon", {}),
    ("omkc_dd", "german", {}),
    ("bomkc_spa", "a9a_train", {}),
    ("bomkc_spa", "magic04", {}),
    ("bomkc_bpas", "a9a_train", {"budget": 443}),  # as in table 2 of BOMKL
    ("krls_t", "airfoil", {}),
]
SHIPPED = [("omkc_dd", "wdbc", {}), ("bomkc_spa", "wdbc", {})]
GENERATED = [("omkc_dd", "generated", {"beta": 0.99}), ("bomkc_spa", "generated", {})]


def main(argv: list[str] | None = None) -> int:
    """Measure, print, keep and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="passes of each case (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name holds this text")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="what --json wrote earlier")
    args = parser.parse_args(argv)
    before = earlier(args.compare) if args.compare else {}
    seconds: dict[str, list[float]] = {}
    width = 34
    print(f"{'CPU seconds of a pass':<{width}} {'least':>9} {'median':>9}{'  new / old' if before else ''}")
    for name, runs in measured(args.runs, args.only):
        seconds[name] = runs
        ratio = compared(before[name], runs) if name in before else ""
        print(f"{name:<{width}} {min(runs):9.4f} {median(runs):9.4f}{ratio}", flush=True)
    for name in sorted(before.keys() - seconds.keys()) if not args.only else ():
        print(f"only in {args.compare}: {name}", file=sys.stderr)
    if args.json:
        machine = {"host": platform.node(), "python": platform.python_version()}
        args.json.write_text(
            json.dumps({"machine": machine, "seconds": seconds}, indent=1) + "\n", encoding="utf-8"
        )
    return 0


def earlier(path: Path) -> dict[str, list[float]]:
    """Return the seconds that an earlier run wrote, by case. Ends the script for any other file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["machine"]["host"] != platform.node():
            print(f"{path} is of another machine: compare with np.exp in mind", file=sys.stderr)
        return {name: [float(run) for run in runs] for name, runs in content["seconds"].items()}
    except OSError as error:
        sys.exit(f"--compare {path}: cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        sys.exit(f"--compare {path}: not a file of scripts/bench.py; make one with --json {path}")


def compared(old: list[float], new: list[float]) -> str:
    """Return the ratio of the medians, and whether the runs of both sides overlap."""
    verdict = "slower" if min(new) > max(old) else "faster" if max(new) < min(old) else "within the noise"
    return f"  {median(new) / median(old):9.2f}  {verdict}"


def measured(runs: int, only: str) -> Iterator[tuple[str, list[float]]]:
    """Yield each case's name with the seconds of its passes."""
    if only in (name := "np.exp of 10^7 numbers"):
        yield name, [exp_seconds() for _ in range(runs)]
    absent = 0
    for learner, data, own in [*CASES, *SHIPPED]:
        if only not in (name := f"{learner} on {data}"):
            continue
        try:
            yield name, passes(learner, omkl.data.find(data).load(), own, runs)
        except OmklError as error:  # no such data on this machine
            absent += 1
            print(f"skipped: {name}: {error}", file=sys.stderr)
    for learner, _, own in GENERATED if absent else ():
        yield f"{learner} on generated", passes(learner, generated(), own, runs)


def passes(learner: str, dataset: Any, own: dict[str, Any], runs: int) -> list[float]:
    """Return the seconds of passes of a learner over a data set in file order, on its usual kernels."""
    spec = learner_spec(learner)
    params, kernels = spec.usual(dataset.task) | own, pool("paper16") if spec.kernels == "pool" else None
    warm_up([(spec, params)])
    order = np.arange(dataset.T)
    return [run_pass(spec, params, kernels, dataset, order, 0)["seconds"] for _ in range(runs)]


def exp_seconds() -> float:
    """Return the seconds of numpy's exp for 10^7 numbers, from the first-level cache."""
    x = -np.abs(np.random.default_rng(0).normal(0, 3, 4000))
    out, began = np.empty_like(x), time.thread_time()
    for _ in range(2500):
        np.exp(x, out=out)
    return time.thread_time() - began


def generated() -> Any:
    """Return 32,561 sparse examples of two classes in the shape of a9a: 14 of 123 features are 1."""
    rng = np.random.default_rng(0)
    ones = np.argsort(rng.random((32561, 123)), axis=1)[:, :14]
    X = np.zeros((32561, 123))
    np.put_along_axis(X, ones, 1.0, axis=1)
    y = np.where(ones.min(axis=1) + rng.normal(0, 4, 32561) < 8, -1.0, 1.0)
    return omkl.data.from_arrays(X, y, name="generated")


if __name__ == "__main__":
    sys.exit(main())
