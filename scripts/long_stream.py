"""What a learner that stores vectors without a limit costs on a stream of a million examples.

    python scripts/long_stream.py --out lines.jsonl --figure growth.png
    python scripts/long_stream.py --data SUSY.csv --label 1 --threads 2

The learner (omkc_dd with the pool paper16) takes the stream once, in ten parts. After each part one line of
JSON is written: rounds, CPU and wall seconds so far, mistake rate, support vectors, memory of the process.
With ``--figure``, time and memory are drawn against the rounds; ``--lines FILE`` draws an earlier run.

The stream that is made here has SUSY's form: 8 measured features and 10 derived ones, two classes (with
``--features``, the same shares). The measured features are normal, the classes' means are 2 * 0.8416 apart,
so that the best rule errs on a fifth. The derived features are the lengths of pairs of measured ones. As in
SUSY's file, features of both signs have standard deviation 1 and positive ones have mean 1, both roughly. A
shorter stream is the beginning of a longer one.
"""

import argparse
import itertools
import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import omkl.data
from omkl.config import learner_spec, pool
from omkl.config.kernel_kinds import kernel_pool
from omkl.data.preparation import Preparation
from omkl.engine.stream import Stream, make_stream, part
from omkl.errors import OmklError, UserError
from omkl.passes import warm_up
from omkl.passes.stacked import new_learner

SUSY = 18  # features
MEASURED = 8 / SUSY  # share of the features; the others are derived from them
BETWEEN = 2 * 0.8416  # the classes' means: the normal distribution has a fifth of its mass below -0.8416
PARTS = 10

Line = dict[str, Any]


def generated(T: int, d: int = SUSY, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return rows X (T, d) and labels y (T,) of two overlapping classes; see above."""
    labels, features = (np.random.default_rng([seed, which]) for which in (0, 1))
    y = labels.choice([-1.0, 1.0], T)
    X, measured = np.empty((T, d)), round(MEASURED * d)
    direction = np.arange(measured, 0, -1.0)  # some features tell more than others
    X[:, :measured] = features.standard_normal((T, measured))
    X[:, :measured] += np.outer(y, BETWEEN / 2 * direction / np.linalg.norm(direction))
    pairs = itertools.combinations(range(measured), 2)
    for column, (a, b) in zip(range(measured, d), pairs, strict=False):
        X[:, column] = np.hypot(X[:, a], X[:, b]) / np.sqrt(np.pi / 2)
    return X, y


def made_up(T: int, d: int = SUSY) -> Stream:
    """Return `generated` rows as a stream."""
    X, y = generated(T, d)
    indices = np.tile(np.arange(d, dtype=np.int32), T)
    return make_stream(np.arange(0, T * d + 1, d), indices, X.reshape(-1), y, np.arange(T))


def read(data: str, rounds: int, label: str | None = None) -> tuple[Stream, int]:
    """Return the first rounds of a data set in a random order, and its number of features.

    label: the label's column in a table, None for the last
    """
    dataset = omkl.data.load(data, preparation=Preparation(label=label))
    if dataset.n_classes > 2:
        raise UserError(f"--data {data}: has {dataset.n_classes} classes; two are needed")
    order = omkl.data.order(dataset, "permuted", 1, 0)[0][:rounds]
    return make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, order), dataset.d


def measure(algo: str, stream: Stream, d: int, threads: int = 1) -> Iterator[Line]:
    """Learn the stream in parts and yield a line after each."""
    spec = learner_spec(algo)
    params = spec.usual("classification")
    if spec.estimator:
        raise UserError(f"--algo {algo}: an estimator of another package does not say what it stores")
    if stream.T < PARTS:
        raise UserError(f"the stream has {stream.T} rounds; at least {PARTS} are needed")
    warm_up([(spec, params)])
    kernels = kernel_pool(params, pool("paper16"))
    learner = new_learner(spec, params, kernels, d, seed=0, rounds=stream.T, threads=threads)
    if learner.classifiers is None:
        raise UserError(f"--algo {algo}: it stores no vectors")
    mistakes = pairs = 0
    empty, cpu, began = memory("VmRSS"), 0.0, time.perf_counter()
    for start, stop in itertools.pairwise(np.linspace(0, stream.T, PARTS + 1).round().astype(int).tolist()):
        trace, seconds = learner.run(part(stream, start, stop))
        mistakes += int(trace.mistake.sum())
        pairs += int(trace.n_sv_union.sum())
        cpu += seconds
        union, total = int(learner.classifiers.n_sv_union[0]), int(learner.classifiers.n_sv_sum[0])
        yield {
            "algo": algo,
            "threads": threads,
            "rounds": stop,
            "cpu_s": round(cpu, 3),
            "wall_s": round(time.perf_counter() - began, 3),
            "mistakes": mistakes,
            "mistake_rate": mistakes / stop,
            "n_sv_sum": total,
            "n_sv_union": union,
            "pairs": pairs,
            "learner_mib": round(memory("VmRSS") - empty, 1),
            "memory_mib": round(memory("VmRSS"), 1),
            "peak_mib": round(memory("VmHWM"), 1),
        }


def memory(which: str) -> float:
    """Return the resident memory of this process in MiB, now (VmRSS) or at its peak (VmHWM); Linux only."""
    status = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    )
    return int(status[which].split()[0]) / 1024


def slope(lines: list[Line], key: str) -> float:
    """Return the exponent of the growth between the first line and the last."""
    first, last = lines[0], lines[-1]
    if not 0 < first[key] <= last[key]:
        raise UserError(f"{key} does not grow between the first line and the last; take a longer stream")
    return float(np.log(last[key] / first[key]) / np.log(last["rounds"] / first["rounds"]))


def draw(lines: list[Line], path: Path, command: str) -> None:
    """Draw CPU time and memory against the rounds, both on logarithmic axes."""
    from matplotlib.ticker import LogLocator, NullLocator

    from omkl.figures.scales import plain_number
    from omkl.figures.style import COLOURS, Figure, panels

    shown = (("cpu_s", "CPU time in seconds"), ("learner_mib", "memory of the learner in MiB"))

    def make() -> Any:
        figure, stacks = panels(2, 2.6)
        for number, ((axes,), (key, label)) in enumerate(zip(stacks, shown, strict=True)):
            rounds, values = zip(*((line["rounds"], line[key]) for line in lines), strict=True)
            axes.loglog(rounds, values, color=COLOURS[number], marker="o", markersize=4)
            last = plain_number(float(f"{values[-1]:.3g}"))
            axes.annotate(last, (rounds[-1], values[-1]), (-8, 0), textcoords="offset points", ha="right")
            axes.text(0.05, 0.9, f"slope {slope(lines, key):.2f}", transform=axes.transAxes)
            axes.set(xlabel="rounds", ylabel=label)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axis.set_major_formatter(lambda value, place: plain_number(value))
                axis.set_minor_locator(NullLocator())
        return figure

    Figure(path.stem, make, 2, command=command).write(path)


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--rounds", type=int, default=1_000_000, help="at most (default: %(default)s)")
    parser.add_argument(
        "--features", type=int, default=SUSY, help="of the stream made here (default: %(default)s)"
    )
    parser.add_argument("--data", help="instead: a file or a registered data set, in a random order")
    parser.add_argument("--label", help="column of a table's label (default: the last)")
    parser.add_argument(
        "--algo", default="omkc_dd", help="a learner that stores vectors (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=1, help="that share a pass (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="write the lines to this file, too")
    parser.add_argument("--figure", type=Path, help="draw time and memory (.png, .pdf or .svg)")
    parser.add_argument("--lines", type=Path, help="run nothing: draw the lines of this file")
    return parser.parse_args()


def main() -> int:
    """Run or draw, and return the exit code."""
    chosen = options()
    try:
        if chosen.lines:
            lines = [json.loads(line) for line in chosen.lines.read_text(encoding="utf-8").splitlines()]
        else:
            lines = run(chosen)
        if chosen.figure:
            draw(lines, chosen.figure, "python " + shlex.join(sys.argv))
    except OmklError as error:
        print(f"long_stream: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def run(chosen: argparse.Namespace) -> list[Line]:
    """Measure, write each line at once, and return all."""
    if chosen.data:
        stream, d = read(chosen.data, chosen.rounds, chosen.label)
    else:
        stream, d = made_up(chosen.rounds, chosen.features), chosen.features
    lines = []
    with ExitStack() as stack:
        out = stack.enter_context(chosen.out.open("w", encoding="utf-8")) if chosen.out else None
        for line in measure(chosen.algo, stream, d, chosen.threads):
            lines.append(line)
            for file in filter(None, (sys.stdout, out)):
                print(json.dumps(line), file=file, flush=True)
    return lines


if __name__ == "__main__":
    sys.exit(main())
