"""One learner and its explicit state: what is built for it, and a run over a stream."""

import inspect
import os
import threading
import time
from functools import cache
from typing import Any

import numpy as np

from omkl.algorithms import function
from omkl.config import compose
from omkl.engine.budget_record import Budget
from omkl.engine.expansion_record import BLOCK, Expansion
from omkl.engine.open_block import close
from omkl.engine.primal import is_linear
from omkl.engine.stream import Stream, Trace, make_trace, part, trace_part
from omkl.errors import OmklError, UserError
from omkl.learner import resources
from omkl.learner.choices import codes, compiled_value
from omkl.learner.interrupts import ctrl_c_later
from omkl.learner.ranges import growth
from omkl.learner.threads import WORTH, Threads, rows_of_block
from omkl.paths import EXTENSIONS
from omkl.tasks import by_task

CURVE_POINTS = 100


@cache
def _compiled(name: str, folders: str | None) -> Any:
    return function(name)


class Learner:
    """A learner and its state: the resources that its YAML declares, and a random generator.

    ``run`` learns a stream, or only scores it. It may be called again and again: the state continues.

    spec: the learner's LearnerSpec; params: its hyperparameters; pool: ``{"normalise", "kernels"}`` or None;
    d: number of features; seed: of its own randomness; block: rows computed at once (never changes a result);
    rounds: of the whole pass, where ``run`` is first given a part of it; frequencies (m, D, d): those of the
    random features, in place of drawn ones; threads: how many may share a block (nor do they); looked_up:
    whether kernel values are looked up, for larger blocks then; classes: of the data, which a learner of
    `about.classes: many` tells apart where there are more than two; state: its resources, of a saved learner.

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
        threads: int = 1,
        looked_up: bool = False,
        classes: int = 2,
        state: dict[str, Any] | None = None,
    ):
        if by := [name for name, value in params.items() if by_task(value)]:
            raise OmklError(f"learner {spec.name}: {by[0]} depends on the task; use spec.usual(task)")
        self.spec, self.pool, self.d = spec, pool, d
        self.names = list(inspect.signature(self.run_compiled.py_func).parameters)
        self.block = block or max(BLOCK, rows_of_block(threads, looked_up))
        self._cut = block or BLOCK  # parts end at multiples of it
        self._threads = Threads(threads)
        self.m = len(pool["kernels"]) if pool is not None else 0
        self.growth = growth(pool["kernels"] if pool is not None else [])
        self.forms, self.params = spec.state, params
        rng = np.random.default_rng(seed)
        if state is None:
            how: Any = {"frequencies": frequencies, "classes": classes}
            setup = resources.Setup(params, pool, d, rng, self.block, rounds or 0, **how)
            state = resources.make(spec.state, setup)
        self.classes = classes
        self.lock = threading.RLock()  # for whoever asks or teaches it from several threads
        self.state: dict[str, Any] = {"rng": rng, **state}
        self.arguments = {
            name: compiled_value(params[name], spec.hyperparameters[name].domain, self._codes(spec, name))
            for name in self.names
            if name in params
        } | dict.fromkeys(resources.absent(spec.state, params))
        missing = set(self.names) - {"stream", "trace", "learn"} - set(self.state) - set(self.arguments)
        if missing:
            where = compose.file("algo", spec.name)
            raise UserError(
                f"{where}: nothing provides {', '.join(sorted(missing))}, which its function takes"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())  # a copy has a lock of its own

    def run(
        self, stream: Stream, learn: bool = True, on_part: Any = None, first: int = 0
    ) -> tuple[Trace, float]:
        """Run the rounds of a stream; learn=False only scores them. Returns the trace and learner seconds.

        The stream is cut into parts of whole blocks, so that Ctrl-C works. ``on_part(t)`` is called after
        each part, with the number of rounds done. first: the number of the data's row 0 in the stream that
        this one continues; stored vectors are numbered from the beginning of that.
        """
        if first:
            with self.lock:
                self._renumber(-first)
                try:
                    return self.run(stream, learn, on_part)
                finally:
                    self._renumber(first)
        with self.lock:
            return self._run(stream, learn, on_part)

    def _run(self, stream: Stream, learn: bool, on_part: Any) -> tuple[Trace, float]:
        trace = make_trace(stream.T, len(self.spec.measures), stream.label is not None)
        resources.grow(self.forms, self.state, self.params, stream, learn)
        step = max(1, -(-stream.T // (CURVE_POINTS * self._cut))) * self._cut
        seconds = 0.0
        stop = 0
        while stop < stream.T:
            start, shared = stop, self._shared()
            stop = min((start // step + 1) * step, stream.T)
            if shared:
                stop = min(stop, start + self.block)
            for name in self._with_blocks():
                close(self.state[name].open)
            whole = stop - start == stream.T
            rounds = stream if whole else part(stream, start, stop)
            now = {"stream": rounds, "trace": trace if whole else trace_part(trace, start, stop)}
            resources.grow_dictionaries(self.forms, self.state, rounds, learn)
            values = {**self.state, **self.arguments, **now, "learn": learn}
            arguments = [values[name] for name in self.names]
            for E in shared:
                self._threads.prepare(E, rounds)
            with ctrl_c_later():
                began = time.thread_time()  # CPU time: waiting for a busy core is not the learner's
                for E in shared:
                    seconds += self._threads.open_block(E, rounds)
                self.run_compiled(*arguments)
                seconds += time.thread_time() - began
            if on_part is not None and (stop % step == 0 or stop == stream.T):
                on_part(stop)
        return trace, seconds

    def _shared(self) -> list[Expansion]:
        """Return the expansions whose next block the threads share, not those that need none (primal.py)."""
        if self._threads.count == 1:
            return []
        expansions = {name: self.state[name] for name in self._with_blocks()}
        return [
            E
            for name, E in expansions.items()
            if isinstance(E, Expansion) and E.size[0] >= WORTH
            if not (self.forms[name].signs and is_linear.py_func(E))
        ]

    def _renumber(self, shift: int) -> None:
        """Shift the row numbers of the stored vectors."""
        for name in self._with_blocks():
            resource = self.state[name]
            used = resource.size[0] if isinstance(resource, Expansion) else None
            resource.origin[:used] += shift

    @property
    def run_compiled(self) -> Any:
        """The learner's compiled function. It is no attribute: river measures all that a model refers to."""
        return _compiled(self.spec.function, os.environ.get(EXTENSIONS))

    def _codes(self, spec: Any, name: str) -> dict[str, int]:
        """Return the constants that stand for the choices of a hyperparameter, if it has choices."""
        domain = spec.hyperparameters[name].domain
        return codes(self.run_compiled, name, domain, spec.name) if isinstance(domain, list) else {}

    def _with_blocks(self) -> list[str]:
        return [name for name, value in self.state.items() if isinstance(value, Expansion | Budget)]

    @property
    def classifiers(self) -> Any:
        """The first Expansion or Budget of the state, None for a learner that stores no vectors."""
        return next((self.state[name] for name in self._with_blocks()), None)

    @property
    def weights(self) -> np.ndarray | None:
        """The kernels' weights (m,), None for a learner without weights."""
        w = self.state.get("w")
        return None if w is None else w.copy()
