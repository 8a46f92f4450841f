"""`omkl bench`: how fast the engine is on this machine, as ratios measured in one run.

Absolute figures of a shared machine mean little. Each is shown next to something timed in the same run:
numpy's own exp, and the learner written naively in numpy.

A row is a name, the seconds of each repetition, and what one repetition is made of: pairs of an example and a
stored vector, numbers, dot products, bytes. Learner times are CPU time of one thread, but for passes that say
wall clock; whole commands are the user and system time of the process. `--compare FILE` shows the times of
this run over those of an earlier one, with their spread.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import omkl.data
from omkl.config import LearnerSpec, learner_spec, pool
from omkl.errors import OmklError, UserError, counted
from omkl.learning import run_pass, warm_up
from omkl.store import provenance
from omkl.store.provenance import cores

_REPEATS = 3
_NAIVE_T = 1000  # examples for the naive learner, whose cost grows with their square


def measure(long: bool = False) -> dict[str, Any]:
    """Time omkc_dd (beta = 0.99, paper16) on a9a_train in file order, one core, best of three passes.

    long: with the rows of `measure_rows` that take longer.

    Without those data (OMKL_DATA or a download) a made-up stream of the same shape replaces them, and the
    result says so. Keys: data, T, mistakes, pairs, m, seconds, evals_per_second (pairs x m / seconds),
    exp_per_second (np.exp), evals_per_exp, naive (seconds and ratio at a small size), peak_mib, machine, rows
    and skipped (`measure_rows`).
    """
    name = "a9a_train"
    try:
        dataset: Any = omkl.data.load(name)
    except OmklError as error:
        print(f"omkl: bench: {error}; a made-up stream is used instead", file=sys.stderr)
        name, dataset = "made up, in the shape of a9a_train", _made_up()
    spec, kernels = learner_spec("omkc_dd"), pool("paper16")
    params = {**spec.defaults, "beta": 0.99}
    warm_up([(spec, params)])
    passes, exp_seconds = [], _exp_seconds()
    for _ in range(_REPEATS):
        figures = run_pass(spec, params, kernels, dataset, np.arange(dataset.T), 0)
        passes.append(figures["seconds"])
        exp_seconds = min(exp_seconds, _exp_seconds())
        print(f"omkl: bench: one pass in {figures['seconds']:.2f} s", file=sys.stderr, flush=True)
    evaluations, seconds = figures["pairs"] * figures["m"], min(passes)
    first = timed_row(f"omkc_dd on {name}", passes, figures["pairs"], "pair")
    rows, skipped = measure_rows(long)
    return {
        "data": name,
        "T": dataset.T,
        **{key: figures[key] for key in ("mistakes", "n_sv_sum", "n_sv_union", "pairs", "m")},
        "seconds": seconds,
        "evals_per_second": evaluations / seconds,
        "exp_per_second": 1.0 / exp_seconds,
        "evals_per_exp": evaluations / seconds * exp_seconds,
        "naive": _naive(spec, params, kernels, dataset),
        "peak_mib": _peak_mib(),
        "machine": provenance.collect("serial", 1),
        "rows": [first, *rows],
        "skipped": skipped,
    }


def measured_text(measured: dict[str, Any]) -> str:
    """Return the measured figures as text for a screen."""
    naive, seconds, peak = measured["naive"], measured["seconds"], measured["peak_mib"]
    shape = f"{measured['T']} examples, {measured['n_sv_union']} stored, {counted(measured['m'], 'kernel')}"
    rows = {
        "data": f"{measured['data']}, {shape}",
        "learner time": f"{seconds:.2f} s (omkc_dd, beta = 0.99, {measured['mistakes']} mistakes)",
        "kernel evaluations": f"{measured['evals_per_second'] / 1e9:.2f}e9 per second",
        "np.exp": f"{measured['exp_per_second'] / 1e9:.2f}e9 per second",
        "evals_per_exp": f"{measured['evals_per_exp']:.2f} kernel evaluations in the time of one np.exp",
        "naive numpy": f"{naive['ratio']:.0f} x slower at T = {naive['T']} "
        f"({naive['naive_seconds']:.3f} s against {naive['seconds']:.4f} s)",
        "peak memory": "unknown" if peak is None else f"{peak:.0f} MiB",
    }
    width = max(map(len, rows))
    text = "".join(f"{name:<{width}}  {text}\n" for name, text in rows.items())
    text += "\n" + rows_text(measured["rows"]) if measured.get("rows") else ""
    return text + "".join(f"skipped: {name}: {why}\n" for name, why in measured.get("skipped", {}).items())


def _made_up() -> SimpleNamespace:
    """Return a binary stream in the shape of a9a_train."""
    rng = np.random.default_rng(0)
    T, d, length = 32561, 123, 14
    indices = np.sort(np.argsort(rng.random((T, d)), axis=1)[:, :length], axis=1)
    y = np.where(indices[:, 0] + rng.normal(0, 4, T) < 8, -1.0, 1.0)
    arrays = {"indptr": np.arange(0, T * length + 1, length), "values": np.ones(T * length), "y": y}
    arrays["indices"] = indices.ravel().astype(np.int32)
    return SimpleNamespace(T=T, d=d, n_classes=2, task="classification", content_hash="made up", **arrays)


def _exp_seconds() -> float:
    """Return the seconds of numpy's exp for one number, in the first-level cache; best of many."""
    x = -np.abs(np.random.default_rng(0).normal(0, 3, 4096))
    out, shortest = np.empty_like(x), np.inf
    for _ in range(300):
        began = time.thread_time()
        np.exp(x, out=out)
        shortest = min(shortest, time.thread_time() - began)
    return shortest / x.size


def _naive(
    spec: LearnerSpec, params: dict[str, Any], kernels: dict[str, Any], dataset: Any
) -> dict[str, Any]:
    """Time the same algorithm in plain numpy on the first examples, and count the mistakes of both.

    These may differ a little: BLAS adds in an order of its own, and its rounding decides ties.
    """
    T = min(_NAIVE_T, dataset.T)
    order = np.arange(T)
    X, end = np.zeros((T, dataset.d)), dataset.indptr[T]
    X[np.repeat(order, np.diff(dataset.indptr[: T + 1])), dataset.indices[:end]] = dataset.values[:end]
    figures = [run_pass(spec, params, kernels, dataset, order, 0) for _ in range(_REPEATS)]
    seconds = min(f["seconds"] for f in figures)
    began = time.thread_time()
    mistakes = _naive_omkc_dd(X, dataset.y[:T], kernels["kernels"], params["beta"])
    naive_seconds = time.thread_time() - began
    return {
        "T": T,
        "seconds": seconds,
        "naive_seconds": naive_seconds,
        "ratio": naive_seconds / seconds,
        "mistakes": figures[0]["mistakes"],
        "naive_mistakes": mistakes,
    }


def _naive_omkc_dd(X: np.ndarray, y: np.ndarray, kernels: list[dict[str, Any]], beta: float) -> int:
    """Algorithm 1 of Hoi et al. (2013), written as one would in numpy; returns its mistakes."""
    norm2 = (X * X).sum(1)
    w = np.full(len(kernels), 1.0 / len(kernels))
    stored: list[int] = []
    A = np.zeros((len(kernels), len(y)))
    mistakes = 0
    for t in range(len(y)):
        dot = X[stored] @ X[t]
        square = np.maximum(norm2[stored] + norm2[t] - 2.0 * dot, 0.0)
        values = [
            np.exp(-square / (2.0 * k["sigma"] ** 2)) if k["kind"] == "gaussian" else dot ** k["degree"]
            for k in kernels
        ]
        f = np.array([A[i, : len(stored)] @ value for i, value in enumerate(values)])
        mistakes += y[t] * (w @ np.where(f >= 0, 1.0, -1.0)) <= 0
        z = y[t] * f <= 0
        w = w * beta**z
        w /= w.sum()
        if z.any():
            A[:, len(stored)] = y[t] * z
            stored.append(t)
    return int(mistakes)


def _peak_mib() -> float | None:
    """Return the most memory that this process has had, None on systems without getrusage (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


# ------------------------------------------------------------------ rows


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


def timed_row(name: str, seconds: list[float], count: int, of: str) -> Row:
    """Return a row: seconds of each repetition, each of ``count`` parts (``of``: pair, byte, command)."""
    return {"name": name, "seconds": seconds, "count": count, "of": of}


def measure_rows(long: bool) -> tuple[list[Row], dict[str, str]]:
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


def rows_text(rows: list[Row]) -> str:
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
    yield timed_row("np.exp", _timed(lambda: np.exp(x, out=out), 20), 20 * x.size, "number")
    for d in (500, 24):
        rows, stored = rng.normal(size=(128, d)), rng.normal(size=(d, 2000))
        with threadpool_limits(1):
            seconds = _timed(partial(np.matmul, rows, stored), 3)
        yield timed_row(f"dgemm, d = {d}", seconds, 3 * 128 * 2000, "dot product")
    source, target = np.ones(2**22), np.empty(2**22)  # 32 MiB, more than most caches hold
    yield timed_row("memory copy", _timed(lambda: np.copyto(target, source), 1), source.nbytes, "byte")


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
    made = timed_row(name, [f["seconds"] for f in figures], figures[0]["pairs"], "pair")
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
        yield timed_row(name, seconds, figures["pairs"], "pair")


def _command(name: str, words: list[str]) -> Row:
    """Time whole commands of omkl: CPU time of the process with its start."""
    import resource  # not on Windows

    seconds = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _child(words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return timed_row(name, seconds, 1, "command")


def _child(words: list[str]) -> None:
    command = [sys.executable, "-m", "omkl", *words]
    subprocess.run(command, check=True, capture_output=True, timeout=600, env={**os.environ})


# ------------------------------------------------------------------ compared with an earlier run


LARGEST = 2**22  # bytes of a file


def read_earlier(path: Path) -> dict[str, Any]:
    """Return what `omkl bench --format json` printed. Raises UserError for any other file."""
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(LARGEST))
    except OSError as error:
        raise UserError(f"--compare {path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):  # also UnicodeDecodeError
        content = None
    rows = content.get("rows") if isinstance(content, dict) else None
    if not (isinstance(rows, list) and rows and all(map(_is_row, rows))):
        hint = "make one with `omkl bench --format json > FILE`"
        fault = "the file is not JSON of `omkl bench`, or it is of an older omkl"
        raise UserError(f"--compare {path}: {fault}; {hint}")
    return {**content, "rows": rows}


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("name"), str)
        and type(row.get("count")) is int
        and row["count"] > 0
        and isinstance(seconds := row.get("seconds"), list)
        and len(seconds) > 0
        and all(type(s) in (int, float) and 0 < s < math.inf for s in seconds)
    )


def compared(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the ratios of the rows that both have, new over old, each for one part of the row.

    ratio: of the medians    least, most: of any two repetitions    verdict: ``slower`` or ``faster`` where
    all repetitions of one run are, else ``within the noise``    only: names of rows that one of them lacks
    same_machine: as far as host and processor say
    """
    olds, news = ({row["name"]: row for row in run["rows"]} for run in (old, new))
    here, there = (run["machine"] if isinstance(run.get("machine"), dict) else {} for run in (old, new))
    rows = [_ratio(olds[name], news[name]) for name in news if name in olds]
    same = all(here.get(key) == there.get(key) for key in ("host", "cpu"))
    return {"rows": rows, "only": sorted(olds.keys() ^ news.keys()), "same_machine": same}


def _ratio(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    before, after = ([s / row["count"] for s in row["seconds"]] for row in (old, new))
    least, most = min(after) / max(before), max(after) / min(before)
    verdict = "slower" if least > 1 else "faster" if most < 1 else "within the noise"
    ratio = statistics.median(after) / statistics.median(before)
    return {"name": new["name"], "ratio": ratio, "least": least, "most": most, "verdict": verdict}


def compared_text(compared: dict[str, Any]) -> str:
    """Return the ratios as text."""
    if not compared["rows"]:
        return "! no row is in both runs\n"
    width = max(len(row["name"]) for row in compared["rows"])
    lines = [f"{'new time / old time':<{width}}  ratio  (least to most of any two repetitions)"]
    for row in compared["rows"]:
        spread = f"({row['least']:.2f} to {row['most']:.2f})"
        lines.append(f"{row['name']:<{width}}  {row['ratio']:5.2f}  {spread}  {row['verdict']}")
    if compared["only"]:
        lines.append(f"! in one run only: {'; '.join(compared['only'])}")
    if not compared["same_machine"]:
        lines.append("! the earlier run was on another machine; compare with np.exp and dgemm in mind")
    return "\n".join(lines) + "\n"
