"""One learner and its explicit state: what is built for it, and a run over a stream."""

import inspect
import time
from typing import Any

import numpy as np

from omkl.algorithms import function
from omkl.engine.budgeted import Budget, make_budget, reserve_slots
from omkl.engine.expansion import BLOCK, Expansion, close_block, make_expansion, reserve
from omkl.engine.features import make_features
from omkl.engine.pool import make_pool
from omkl.engine.stream import Stream, Trace, make_trace, part, trace_part
from omkl.errors import OmklError
from omkl.learner.choices import codes, compiled_value
from omkl.learner.resources import LIMITS, Sides, lengthened
from omkl.tasks import by_task

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
            name: compiled_value(params[name], spec.domains.get(name), self._codes(spec, name))
            for name in self.names
            if name in params
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

    def _codes(self, spec: Any, name: str) -> dict[str, int]:
        """Return the constants that stand for the choices of a hyperparameter, if it has choices."""
        domain = spec.domains.get(name)
        return codes(self.run_compiled, name, domain, spec.name) if isinstance(domain, list) else {}

    def _with_blocks(self) -> list[str]:
        return [name for name, value in self.state.items() if isinstance(value, Expansion | Budget)]

    @property
    def classifiers(self) -> Any:
        """The Expansion E or the Budget B, None for a learner without kernels."""
        return self.state.get("E", self.state.get("B"))

    @property
    def weights(self) -> np.ndarray | None:
        """The kernels' weights (m,), None for a learner without."""
        w = self.state.get("w")
        return None if w is None else w.copy()
