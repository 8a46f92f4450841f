"""One learner on one stream: builds the explicit state, runs the compiled pass, gathers what tables need."""

import inspect
import math
import sys
import time
from typing import Any

import numpy as np

from omkl import seeds
from omkl.algorithms import function
from omkl.choices import codes
from omkl.compiling import compiling
from omkl.data.dataset import compact
from omkl.engine import numba_cache
from omkl.engine.budget import Budget, make_budget, reserve_slots
from omkl.engine.expansion import BLOCK, Expansion, close_block, make_expansion, reserve
from omkl.engine.features import make_features
from omkl.engine.pool import make_pool
from omkl.engine.stream import Stream, Trace, make_stream, make_trace, part, trace_part
from omkl.errors import OmklError, UserError
from omkl.state import LIMITS, Sides, lengthened, limited
from omkl.tasks import by_task, for_task

CURVE_POINTS = 100


class Learner:
    """A learner and its state: expansion, weights, random generator, and what else its YAML names.

    With a hyperparameter ``budget`` (or ``tau``) there is a Budget ``B`` of so many vectors per kernel in
    place of the Expansion ``E``; a function that takes both, for a limit that may be null, gets None for one.
    One with ``F`` gets random features, ``D`` frequencies per kernel; one with ``T`` is told how many rounds
    the pass has. A learner with a hyperparameter ``levels`` and an ``E`` has every kernel that often in it.

    spec: the learner's AlgoSpec; params: its hyperparameters; pool: ``{"normalise", "kernels"}`` or None;
    d: number of features; seed: of its own randomness; block: rows computed at once (never changes a result);
    rounds: of the whole pass, where ``run`` is first given a part of it; frequencies (m, D, d): those of the
    random features, in place of drawn ones.

    One pass over T examples equals passes over its parts, in any cut: all state is in ``self.state``.
    """

    def __init__(
        self,
        spec: Any,
        params: dict,
        pool: dict | None,
        d: int,
        seed: int,
        block: int | None = None,
        rounds: int | None = None,
        frequencies: np.ndarray | None = None,
    ):
        for name in filter(lambda name: by_task(params[name]), params):
            raise OmklError(f"learner {spec.name}: {name} depends on the task; give it spec.usual(task)")
        self.run_compiled = function(spec.function)
        self.names = list(inspect.signature(self.run_compiled.py_func).parameters)
        self.block = block or BLOCK
        self.tau = params.get("tau")
        self.state: dict[str, Any] = {"rng": np.random.default_rng(seed)}
        self.m = len(pool["kernels"]) if pool is not None else 0
        expansions = []
        if "T" in self.names:
            self.state["T"] = np.array([rounds or 0])
        if pool is not None:
            forms = spec.state or {}
            expansions = [name for name in forms if forms[name].get("expansion")]
            plan = make_pool(pool["kernels"] * params.get("levels", 1), pool["normalise"])
            limit = next((params[name] for name in LIMITS if name in params), None)
            if "F" in self.names:
                kind = "authors" if params.get("variant") == "authors" else params["features"]
                rng = self.state["rng"]
                self.state["F"] = make_features(pool["kernels"], d, params["D"], kind, rng, frequencies)
            elif limit is not None:
                self.state["B"] = make_budget(plan, limit, d, self.block)
            else:
                expansions = ["E", *expansions]
            self.state |= {name: make_expansion(plan, d, self.block) for name in expansions}
        sides = Sides(params, max(1, self.m), d)
        for name, form in (spec.state or {}).items():
            if name not in expansions:
                self.state[name] = sides.array(form)
        self.arguments = {
            name: self._compiled_value(spec, name, params[name]) for name in self.names if name in params
        }
        if spec.kernels != "none":
            self.arguments |= {name: None for name in ("E", "B") if name not in self.state}
        missing = set(self.names) - {"stream", "trace", "learn"} - set(self.state) - set(self.arguments)
        if missing:
            raise OmklError(f"learner {spec.name}: nothing provides {sorted(missing)} of its function")

    def run(self, stream: Stream, learn: bool = True, on_part: Any = None) -> tuple[Trace, float]:
        """Run the rounds of a stream; learn=False only scores them. Returns the trace and learner seconds.

        The stream is cut into parts of whole blocks, so that Ctrl-C is heard; ``on_part(t)`` is called
        after each, with the number of rounds done.
        """
        trace = make_trace(stream.T)
        self._make_room(stream, learn)
        if "T" in self.state and self.state["T"][0] == 0:
            self.state["T"][0] = stream.T
        step = max(1, -(-stream.T // (CURVE_POINTS * self.block))) * self.block
        seconds = 0.0
        for start in range(0, stream.T, step):
            stop = min(start + step, stream.T)
            for name in self._with_blocks():
                close_block(self.state[name])
            given = {
                "stream": part(stream, start, stop),
                "trace": trace_part(trace, start, stop),
                "learn": learn,
            }
            values = [{**self.state, **self.arguments, **given}[name] for name in self.names]
            began = time.thread_time()  # CPU time: waiting for a busy core is not the learner's
            self.run_compiled(*values)
            seconds += time.thread_time() - began
            if on_part is not None:
                on_part(stop)
        return trace, seconds

    def _make_room(self, stream: Stream, learn: bool) -> None:
        lengths = np.diff(stream.indptr)[stream.order]
        nnz, longest = int(lengths.sum()), int(lengths.max(initial=0))
        for name in self._with_blocks():
            if name == "B":
                self.state[name] = reserve_slots(self.state[name], stream.T, longest)
            else:
                self.state[name] = reserve(self.state[name], stream.T, nnz, longest)
        if "window" in self.state and learn:
            rounds = int(self.state["now"][0]) + stream.T
            self.state["window"] = lengthened(self.state["window"], self.tau, rounds)

    def _with_blocks(self) -> list[str]:
        return [name for name, value in self.state.items() if isinstance(value, Expansion | Budget)]

    def _compiled_value(self, spec: Any, name: str, value: Any) -> float | int | bool:
        """Return a hyperparameter as compiled code takes it: a choice becomes its constant, null nan.

        Its type is that of the domain, whatever the value, so that all settings share one compiled version.
        """
        domain = spec.domains.get(name)
        known = codes(self.run_compiled, name, domain, spec.name) if isinstance(domain, list) else {}
        if isinstance(value, str):
            if value not in known:
                raise UserError(f"algo={spec.name}: compiled code cannot take the text {name}={value}")
            return known[value]
        if value is None:
            return math.nan
        if isinstance(domain, str) and domain[0] in "([":
            return float(value)
        if isinstance(domain, str) and domain.startswith("int"):
            return float(value) if domain.endswith("null") else int(value)
        return value

    @property
    def classifiers(self) -> Any:
        """The Expansion E or the Budget B, None for a learner without kernels."""
        return self.state.get("E", self.state.get("B"))

    @property
    def weights(self) -> np.ndarray | None:
        """The kernels' weights (m,), None for a learner without."""
        w = self.state.get("w")
        return None if w is None else w.copy()


def run_pass(
    spec: Any,
    params: dict,
    pool: dict | None,
    dataset: Any,
    order: np.ndarray,
    permutation_seed: int,
    *,
    block: int | None = None,
) -> dict:
    """Run a learner once over a data set in this order and return its cell's figures.

    spec: AlgoSpec; params: hyperparameters; pool: for learners with ``kernels: pool``; dataset: Dataset;
    order (T,): rows in order of arrival; permutation_seed: of this order, for the learner's own draws.
    Keys: T, m, mistakes, mistake_rate (None of a regression, which has ``mse``, the mean squared error of the
    predictions before their updates; of a novelty detection the examples told novel), n_sv_sum, n_sv_union,
    n_sv_combined, n_sv_per_kernel, weights, pairs (stored vectors summed over rounds), seconds, curve (at
    most 100 points t, weights at points weights_t; ``loss``, the squared errors summed, of a regression in
    place of mistakes). Raises OmklError when a regression's predictions leave double precision.
    """
    dataset = compact(dataset)
    seed = seeds.learner_seed(permutation_seed, spec.name)
    params = for_task(params, dataset.task)
    if spec.kernels == "own":
        pool = {"normalise": "none", "kernels": [params["kernel"]]}
    if spec.setup:
        pool = _set_up(spec, params, pool, dataset, order, block)
    learner = Learner(spec, params, pool, dataset.d, seed, block, order.size)
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, order)
    weights: dict[int, list[float]] = {}

    def note(t: int) -> None:
        if learner.weights is not None:
            weights[t] = [float(f"{v:.4g}") for v in learner.weights]

    trace, seconds = learner.run(stream, on_part=note)
    return _figures(learner, trace, seconds, weights, stream.y if dataset.task == "regression" else None)


def _figures(
    learner: Learner, trace: Trace, seconds: float, weights: dict[int, list[float]], target: Any
) -> dict:
    """Return a cell's figures from the final state and the trace of its rounds.

    target (T,): what the scores of a regression should have been, None for other tasks.
    """
    T = trace.score.size
    E = learner.classifiers
    union, total = (int(n) for n in E.size) if E is not None else (0, 0)
    n_sv = [int(n) for n in E.n_sv] if E is not None else []
    if sum(n_sv) != total:  # kernels that share one list
        n_sv = [total]
    combined_all = trace.n_sv_combined[-1] == trace.n_sv_sum[-1]
    final = {
        "n_sv_sum": total,
        "n_sv_union": union,
        "n_sv_combined": total if combined_all else int(trace.n_sv_combined[-1]),
    }
    points = np.unique(np.linspace(1, T, min(T, CURVE_POINTS)).round().astype(int)).tolist()
    if target is None:
        errors = np.cumsum(trace.mistake)
        measured = {"mistakes": int(errors[-1]), "mistake_rate": int(errors[-1]) / T}
        curve = {"t": points, "mistakes": [int(errors[t - 1]) for t in points]}
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            loss = np.cumsum(np.square(trace.score - target))
        if not np.isfinite(loss[-1]):
            t = int(np.argmin(np.isfinite(loss))) + 1
            raise OmklError(
                f"the prediction of round {t} left double precision; scale the data, or learn slower"
            )
        measured = {"mistakes": None, "mistake_rate": None, "mse": float(loss[-1]) / T}
        curve = {"t": points, "loss": [float(loss[t - 1]) for t in points]}
    for name, value in final.items():
        stood = getattr(trace, name)  # before round t's update, hence after round t - 1's
        curve[name] = [int(stood[t]) if t < T else value for t in points]
    curve |= {"weights_t": list(weights), "weights": list(weights.values()) or None}
    return {
        "T": T,
        "m": learner.m,
        **measured,
        **final,
        "n_sv_per_kernel": n_sv,
        "weights": None if learner.weights is None else [float(v) for v in learner.weights],
        "pairs": int(trace.n_sv_union.sum()),
        "seconds": seconds,
        "curve": curve,
    }


def _set_up(spec: Any, params: dict, pool: dict, dataset: Any, order: np.ndarray, block: int | None) -> dict:
    """Let the learner's setup function choose its kernels; its time is not the learner's."""

    def run(compiled: Any, state: dict, stop: int, apart: bool) -> None:
        rows = order
        if apart:
            seed = seeds.derive("apart", dataset.content_hash)
            rows = np.random.default_rng(seed).permutation(dataset.T)
        stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, rows[:stop])
        lengths = np.diff(stream.indptr)[stream.order]
        E = make_expansion(make_pool(pool["kernels"], pool["normalise"]), dataset.d, block or BLOCK)
        E = reserve(E, stream.T, int(lengths.sum()), int(lengths.max(initial=0)))
        given = {"stream": stream, "E": E, "learn": True, **state}
        compiled(*(given[name] for name in inspect.signature(compiled.py_func).parameters))

    return function(spec.setup)(run, pool, params, order.size)


def version(spec: Any, params: dict) -> str:
    """Return the name of what is compiled: of a function that takes either E or B there are two versions."""
    both = {"E", "B"} <= inspect.signature(function(spec.function).py_func).parameters.keys()
    return f"{spec.function}-limited" if both and limited(params) else spec.function


def warm_up(settings: list[tuple[Any, dict]]) -> None:
    """Compile what will run, or load it from the cache on disk, before any clock or worker starts.

    settings: (AlgoSpec, hyperparameters). Says on stderr when it really compiles; one process does at a time.
    """
    from omkl.data import Dataset

    rows = (np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    tiny = Dataset("", *rows, 1, "classification", "")
    pool = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]}
    versions = {version(spec, params): (spec, params) for spec, params in settings}
    told = False
    with compiling(versions) as missing:
        for name, (spec, params) in versions.items():
            new = name != spec.function or not numba_cache.has(function(spec.function))
            if not told and new and name in missing:
                print("compiling the learners (once; kept on disk) ...", file=sys.stderr, flush=True)
                told = True
            usual = spec.usual(tiny.task)
            if limited(usual) != limited(params):
                usual |= {limit: 2 if limited(params) else None for limit in LIMITS if limit in usual}
            run_pass(spec, usual, pool if spec.kernels == "pool" else None, tiny, np.arange(2), 0)
