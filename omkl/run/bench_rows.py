"""The rows of `omkl bench`: what is timed again and again, next to what the machine itself can do.

A row is a name, the seconds of each repetition, and what one repetition is made of: pairs of an example and a
stored vector, numbers, dot products, bytes. Learner times are CPU time of one thread, but for passes that say
wall clock; whole commands are the user and system time of the process.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import omkl.data
from omkl.config import learner_spec, pool
from omkl.errors import OmklError
from omkl.learner import run_pass, warm_up
from omkl.store.provenance import cores

REPEATS = 5
PASSES = (("omkc_dd", "german"), ("omkc_dd", "madelon"))
ON_A9A = ("bomkc_spa", "omkc_ddpa", "omkr", "adamkl")
LONG_PASSES = (("omkc_dd", "usps"), *((learner, "a9a") for learner in ON_A9A))
BUDGETS = ("rbp", "forgetron", "bogd", "bpas", "projectronpp", "nogd")
BUDGET = 443  # vectors of each kernel, as in table 2 of BOMKL on a9a
SHARED = "omkc_dd", "a9a"  # timed with one thread and with as many as there are cores
DENSE = 50_000, 50  # examples and features of a generated set
SHORT = 2000  # examples, of which enough are stored for threads to share the work
_RUN = ["run", "algo=omkc_ss,omkc_dd,perceptron,alma", "data=wdbc", "--quiet"]

Row = dict[str, Any]


def row(name: str, seconds: list[float], count: int, of: str) -> Row:
    """Return a row: seconds of each repetition, each of ``count`` parts (``of``: pair, byte, command)."""
    return {"name": name, "seconds": seconds, "count": count, "of": of}


def measure(long: bool) -> tuple[list[Row], dict[str, str]]:
    """Return the rows, and the reason of each that is skipped, by name."""
    rows, skipped = list(_limits()), {}
    passes: list[tuple[str, str, dict[str, Any]]] = [(*one, {}) for one in PASSES]
    if long:
        passes += [(*one, {}) for one in LONG_PASSES]
        passes += [(f"bomkc_{name}", "a9a", {"budget": BUDGET}) for name in BUDGETS]
    for learner, data, params in passes:
        try:
            rows.append(_pass(learner, omkl.data.load(data), **params))
        except OmklError as error:  # no such data on this machine
            skipped[f"{learner} on {data}"] = str(error)
    if long:
        rows.append(_pass("omkc_ss", _generated(*DENSE)))
        try:
            rows += _shared_passes(*SHARED)
        except OmklError as error:
            skipped[f"{SHARED[0]} on {SHARED[1]} with threads"] = str(error)
    try:
        rows.append(_command("omkl --help", ["--help"]))
        if long:
            with tempfile.TemporaryDirectory() as folder:
                words = [*_RUN, f"store={folder}"]
                _child(words)
                rows.append(_command("a run of stored cells, 4 learners on wdbc", words))
                rows.append(_command("a run of new cells, 4 learners on wdbc", [*words, "--fresh"]))
    except (ImportError, OSError, subprocess.SubprocessError) as error:
        skipped["whole commands"] = " ".join(str(error).split())
    return rows, skipped


def render(rows: list[Row]) -> str:
    """Return the rows as text: the median, what it is for one part, and the spread of the repetitions."""
    width = max(len(row["name"]) for row in rows)
    lines = []
    for row in rows:
        median, least, most = (f(row["seconds"]) for f in (statistics.median, min, max))
        each = f"{1e9 * median / row['count']:.3g} ns per {row['of']}" if row["count"] > 1 else ""
        peak = f" · {row['memory'] / 2**20:.1f} MiB" if row.get("memory") else ""
        spread = f"{least:.3g} to {most:.3g}"
        lines.append(f"{row['name']:<{width}}  {median:.3g} s ({spread})  {each}{peak}".rstrip() + "\n")
    return "".join(lines)


def _limits() -> Iterator[Row]:
    """Yield what the machine itself can do, in this run: np.exp, dot products by dgemm, copying memory."""
    rng = np.random.default_rng(0)
    x = -np.abs(rng.normal(0, 3, 2**16))
    out = np.empty_like(x)
    yield row("np.exp", _timed(lambda: np.exp(x, out=out), 20), 20 * x.size, "number")
    for d in (500, 24):
        rows, stored = rng.normal(size=(128, d)), rng.normal(size=(d, 2000))
        with threadpool_limits(1):
            seconds = _timed(partial(np.matmul, rows, stored), 3)
        yield row(f"dgemm, d = {d}", seconds, 3 * 128 * 2000, "dot product")
    source, target = np.ones(2**22), np.empty(2**22)  # 32 MiB, more than most caches hold
    yield row("memory copy", _timed(lambda: np.copyto(target, source), 1), source.nbytes, "byte")


def _timed(work: Callable[[], Any], times: int) -> list[float]:
    """Return the CPU seconds of this work, done ``times`` times; each of the repetitions."""
    work()
    seconds = []
    for _ in range(REPEATS):
        began = time.thread_time()
        for _ in range(times):
            work()
        seconds.append(time.thread_time() - began)
    return seconds


def _pass(learner: str, dataset: Any, **own: Any) -> Row:
    """Time passes of a learner over a data set in file order, with the usual pool.

    own: hyperparameters other than the defaults
    """
    spec = learner_spec(learner)
    params, kernels = spec.usual(dataset.task) | own, pool("paper16")
    warm_up([(spec, params)])
    order = np.arange(dataset.T)
    figures = [run_pass(spec, params, kernels, dataset, order, 0) for _ in range(3)]
    name = ", ".join([f"{learner} on {dataset.name}", *(f"{key}={value}" for key, value in own.items())])
    made = row(name, [f["seconds"] for f in figures], figures[0]["pairs"], "pair")
    return made | ({"memory": figures[0]["memory"]} if figures[0].get("memory") else {})


def _generated(T: int, d: int) -> Any:
    """Return T dense examples of two classes, a tenth of whose labels are wrong."""
    rng = np.random.default_rng(0)
    X = rng.random((T, d))
    y = np.where((X - 0.5) @ rng.normal(size=d) > 0, 1.0, -1.0) * rng.choice([1.0, -1.0], T, p=[0.9, 0.1])
    return omkl.data.from_arrays(X, y, name=f"{T} x {d}, generated")


def _shared_passes(learner: str, data: str) -> Iterator[Row]:
    """Yield passes in file order with one thread and with one per core: what a clock on the wall shows."""
    dataset, spec = omkl.data.load(data), learner_spec(learner)
    params, kernels, order = spec.usual(dataset.task), pool("paper16"), np.arange(dataset.T)
    warm_up([(spec, params)])
    for threads in dict.fromkeys((1, cores())):
        run_pass(spec, params, kernels, dataset, order[:SHORT], 0, threads=threads)  # compiles what it needs
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            figures = run_pass(spec, params, kernels, dataset, order, 0, threads=threads)
            seconds.append(time.perf_counter() - began)
        name = f"{learner} on {data}, threads={threads}, wall clock"
        yield row(name, seconds, figures["pairs"], "pair")


def _command(name: str, words: list[str]) -> Row:
    """Time whole commands of omkl: CPU time of the process with its start."""
    import resource  # not on Windows

    seconds = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _child(words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return row(name, seconds, 1, "command")


def _child(words: list[str]) -> None:
    command = [sys.executable, "-m", "omkl", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=600, env={**os.environ})
