"""`omkl bench`: how fast the engine is on this machine, as ratios measured in one run.

Absolute figures of a shared machine mean little. Each is shown next to something timed in the same run:
numpy's own exp, and the learner written naively in numpy.
"""

import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

import omkl.data
from omkl.config import LearnerSpec, learner_spec, pool
from omkl.errors import OmklError
from omkl.learner import run_pass, warm_up
from omkl.run import bench_rows
from omkl.store import provenance

_REPEATS = 3
_NAIVE_T = 1000  # examples for the naive learner, whose cost grows with their square
# The BOMKL authors' C++ on this kind of machine: the same run, 573 s (docs/commands.md).
AUTHORS_SECONDS = 573.0


def measure(long: bool = False) -> dict[str, Any]:
    """Time omkc_dd (beta = 0.99, paper16) on a9a_train in file order, one core, best of three passes.

    long: with the rows of `omkl.run.bench_rows` that take longer.

    Without those data (OMKL_DATA or a download) a made-up stream of the same shape replaces them, and the
    result says so. Keys: data, T, mistakes, pairs, m, seconds, evals_per_second (pairs x m / seconds),
    exp_per_second (np.exp), evals_per_exp, naive (seconds and ratio at a small size), peak_mib, machine, rows
    and skipped (bench_rows.measure).
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
    first = bench_rows.row(f"omkc_dd on {name}", passes, figures["pairs"], "pair")
    rows, skipped = bench_rows.measure(long)
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
        **({"authors_seconds": AUTHORS_SECONDS} if name == "a9a_train" else {}),
    }


def render(measured: dict[str, Any]) -> str:
    """Return the measured figures as text for a screen."""
    naive, seconds, peak = measured["naive"], measured["seconds"], measured["peak_mib"]
    shape = f"{measured['T']} examples, {measured['n_sv_union']} stored, {measured['m']} kernels"
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
    if authors := measured.get("authors_seconds"):
        rows["authors' C++"] = f"{authors:.0f} s when measured on such a machine: {authors / seconds:.0f} x"
    width = max(map(len, rows))
    text = "".join(f"{name:<{width}}  {text}\n" for name, text in rows.items())
    text += "\n" + bench_rows.render(measured["rows"]) if measured.get("rows") else ""
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
