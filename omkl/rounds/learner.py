"""One learner and its explicit state: what is built for it, and a run over a stream."""

import inspect
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from operator import is_not
from typing import Any

import numpy as np

from omkl import conf
from omkl.algorithms import function
from omkl.config.learners import LearnerSpec
from omkl.engine.expansion import BLOCK, Expansion
from omkl.engine.jit import machine_code
from omkl.engine.stream import UNRECORDED, Stream, Trace, make_trace, part, trace_part
from omkl.errors import UserError, show
from omkl.paths import EXTENSIONS
from omkl.rounds import guards
from omkl.rounds.compiled_values import check_choices, compiled_value, is_number_domain, kinds_of_records
from omkl.rounds.guards import ctrl_c_later
from omkl.rounds.needs import Needs
from omkl.rounds.one_row import OneRow, one_row
from omkl.rounds.overflow import growth, kernel_faults
from omkl.rounds.record import Progress
from omkl.rounds.scaling import Scaling
from omkl.rounds.steps import ALL, Rounds, Step
from omkl.rounds.threads import WORTH, Threads
from omkl.rounds.widths import Widths
from omkl.state.resource import Arrays, Resource, Setup
from omkl.state.saved import load_state
from omkl.state.state import absent, add_features, grow_part, make, make_room
from omkl.state.vectors import Stores

CURVE_POINTS = 100
MOST_ROWS = 64  # lengths of rows that are kept to be written anew

# No attribute, as of `Learner.run_compiled`.
_codes_of_a_row: "weakref.WeakKeyDictionary[Learner, Any]" = weakref.WeakKeyDictionary()


def _no_clock() -> float:
    """Return 0: nobody asks how long a single row takes."""
    return 0.0


@cache
def _compiled(name: str, folders: str | None) -> Any:
    return function(name)


def cannot_change(where: str, name: str, value: Any) -> UserError:
    """Return the error for a change of what a state was made with."""
    return UserError(
        f"{where}: {name} cannot change after learning has begun with {show(value)}; "
        "set it back, or start again (fit, or a new model)"
    )


class Learner:
    """A learner and its state: the resources that its YAML declares, and a random generator.

    ``run`` learns a stream, or only scores it. It may be called again and again: the state continues.
    Threads may share a learner: whoever reads or changes it holds its ``lock``.

    spec: the learner's LearnerSpec; params: its hyperparameters; pool: ``{"normalise", "kernels"}`` or None,
    of kernels whose widths may be in medians (`omkl.rounds.widths`);
    d: number of features; seed: of its own randomness; block: rows computed at once (never changes a result);
    rounds: of the whole pass, where ``run`` is first given a part of it; frequencies (m, D, d): those of the
    random features, in place of drawn ones; threads: how many may share a block, or `Threads` (never change a
    result); classes: of the data, which a learner of `about.classes: many` tells apart where there are more
    than two; saved: the arrays of a saved state, in place of the one that a learner begins with; steps:
    around its rounds, the first one nearest to the stream (`omkl.rounds.steps`).

    One pass over T examples equals passes over its parts, in any cut: all state is in ``self.state``, and in
    the steps.
    Raises UserError for hyperparameters or a pool that the learner does not take.
    """

    members: Sequence[Any] = ()  # of a stack

    def __init__(
        self,
        spec: LearnerSpec,
        params: dict[str, Any],
        pool: dict | None,
        d: int,
        seed: int,
        block: int | None = None,
        rounds: int | None = None,
        frequencies: np.ndarray | None = None,
        threads: "int | Threads" = 1,
        classes: int = 2,
        saved: Arrays | None = None,
        steps: Sequence[Step] = (),
    ):
        params = spec.checked(params)
        if pool is not None:
            spec.check_pool(pool)
        self.spec, self.pool, self.d = spec, pool, d
        self.names = list(inspect.signature(self.run_compiled.py_func).parameters)
        self._kinds = kinds_of_records(self.run_compiled.py_func, spec.state)
        self._records: dict[str, Any] = {}
        self._threads = threads if isinstance(threads, Threads) else Threads(threads)
        self.block = block or max(BLOCK, self._threads.rows_of_block)
        self._cut = block or BLOCK  # parts end at multiples of it
        self.m = len(pool["kernels"]) if pool is not None else 0
        self.needs = Needs(pool["kernels"] if pool is not None else [], d)
        self.steps = list(steps)
        is_scaled = self.scaling is not None and self.scaling.scale  # to a size that cannot overflow
        self.growth = () if is_scaled else growth(pool["kernels"] if pool is not None else [])
        self.resources, self.params = spec.state, params
        rng = np.random.default_rng(seed)
        self.classes, self._rounds = classes, rounds or 0
        self.widths = Widths.of(pool, classes)
        if self.widths is not None:
            saved = saved and self.widths.load(saved, d)
            self.steps.append(self.widths)
        setup = self.setup(rng, frequencies)
        state = make(spec.state, setup) if saved is None else load_state(spec.state, saved, setup)
        self.state: dict[str, Any] = {"rng": rng, **state}
        self.storing = {
            name: each for name, each in spec.state.items() if isinstance(each, Stores) and name in state
        }
        self.arguments = self._compiled_values(params)
        self._check_provided()
        self._rows: dict[int, OneRow] = {}
        self._row_trace: Trace | None = None
        self._growing = {
            name: resource
            for name, resource in spec.state.items()
            if type(resource).grow is not Resource.grow
        }
        self._setup = Setup(params)
        self.renew_locks()
        guards.register(self)

    def _check_provided(self) -> None:
        """Raise UserError for an argument of the compiled function that nothing provides."""
        by_part = {"stream", "trace", "learn"} | ({"margins"} if self.members else set())
        taken = {*self.names, *(field for kind in self._kinds.values() for field in kind._fields)}
        missing = taken - self._kinds.keys() - by_part - set(self.state) - set(self.arguments)
        if missing:
            where, names = conf.file("algo", self.spec.name), ", ".join(sorted(missing))
            raise UserError(f"{where}: nothing provides {names}, which its function takes")

    def setup(self, rng: np.random.Generator, frequencies: np.ndarray | None = None) -> Setup:
        """Return what its resources are made from, with the widths of now."""
        pool = self.pool if self.widths is None or self.pool is None else self.widths.pool(self.pool)
        return Setup(
            self.params,
            pool,
            self.d,
            rng,
            self.block,
            self._rounds,
            frequencies=frequencies,
            classes=self.classes,
            members=len(self.members),
        )

    def renew_locks(self) -> None:
        """Begin with locks that nobody holds, and with threads: a new learner, or one in a forked child."""
        self.lock = threading.RLock()  # held by whoever reads or changes the learner, for a whole call
        self._threads = self._threads.renewed()

    def change(self, params: dict, where: str | None = None, argument: Callable[[str], str] = str) -> None:
        """Continue with other hyperparameters.

        What the compiled function takes as a number may change, such as a step size or a discount. Raises
        UserError for what decides the state: sizes, fills, kernels, choices. where, argument: as of
        `LearnerSpec.checked`, which checks them.
        """
        params = self.spec.checked(params, where, argument)
        with self.lock:
            for name, value in params.items():
                if value != self.params[name] and not self._may_change(name):
                    raise cannot_change(where or f"algo={self.spec.name}", argument(name), self.params[name])
            self.params, self.arguments, self._setup = params, self._compiled_values(params), Setup(params)

    def _may_change(self, name: str) -> bool:
        """Whether a hyperparameter is a number that the function takes and no part of the state holds."""
        if name not in self.names or not is_number_domain(self.spec.hyperparameters[name].domain):
            return False
        return all(name not in resource.deciding(self.params) for resource in self.resources.values())

    def run(
        self,
        stream: Stream,
        learn: bool = True,
        on_part: Callable[[int], None] | None = None,
        progress: Progress | None = None,
        first: int | None = None,
    ) -> tuple[Trace, float]:
        """Run the rounds of a stream; learn=False only scores them. Returns the trace and learner seconds.

        The stream is cut into parts of whole blocks, so that Ctrl-C works.
        ``on_part(t)`` is called with the number of rounds done, at most 100 times. progress: the record of
        the stream that this one continues; each part is added to it, and stored vectors are numbered from its
        beginning. Rows that are made anew are numbered by their rounds since the learner began, with and
        without progress. first: what is added to the row numbers of this stream, in place of these rounds.
        """
        with self.lock:
            many = self.classes if stream.label is not None else 0
            trace = make_trace(stream.T, len(self.spec.measures), many)
            done = progress.rounds if progress is not None else 0
            self._check(stream, progress is not None)
            size = max(1, -(-stream.T // (CURVE_POINTS * self._cut))) * self._cut
            stop, seconds, with_room = 0, 0.0, None
            while stop < stream.T:
                start, stop = stop, min((stop // size + 1) * size, stop + self.most(learn), stream.T)
                if with_room is not self.state:  # a step may make the state anew
                    with_room = self.state
                    self._make_room(part(stream, start, stream.T), learn)
                rows, of_part = part(stream, start, stop), trace_part(trace, start, stop)
                with ctrl_c_later():
                    rounds = Rounds(rows, done if first is None else first, learn, done + start)
                    seconds += self._run_part(rounds, of_part, time.thread_time)
                    if progress is not None:
                        progress.add(of_part, rows.y)
                if on_part is not None and (stop % size == 0 or stop == stream.T):
                    on_part(stop)
            return trace, seconds

    def run_round(
        self, stream: Stream, learn: bool = True, progress: Progress | None = None, first: int | None = None
    ) -> Trace:
        """Run the one round of a stream, as `run` does; return the trace, which the next call writes anew."""
        with self.lock:
            if self._row_trace is None:
                many = self.classes if self.classes > 2 else 0
                self._row_trace = make_trace(1, len(self.spec.measures), many)
            trace, done = self._row_trace, progress.rounds if progress is not None else 0
            trace.score[0] = UNRECORDED
            self._check(stream, progress is not None)
            self._make_room(stream, learn)
            with ctrl_c_later():
                self._run_part(
                    Rounds(stream, done if first is None else first, learn, done), trace, _no_clock
                )
                if progress is not None:
                    progress.add_row(float(trace.score[0]), bool(trace.mistake[0]), float(stream.y[0]))
            return trace

    def run_row(
        self,
        indices: Sequence[int] | np.ndarray,
        values: Sequence[float] | np.ndarray,
        y: float,
        learn: bool = True,
        progress: Progress | None = None,
        first: int | None = None,
    ) -> tuple[Stream, Trace]:
        """Make a stream of one row and run it as `run_round` does; return the stream and the trace.

        indices, values (n,): the row's non-zeros, its columns ascending; y: its label or target, of more than
        two classes the number of its class. The next call writes stream and trace anew: whoever reads them
        holds the lock.
        """
        with self.lock:
            row = self._rows.get(len(indices))
            if row is None:
                if len(self._rows) >= MOST_ROWS:
                    self._rows.clear()
                row = self._rows[len(indices)] = one_row(len(indices), self.classes)
            row.write(indices, values, y)
            return row.stream, self.run_round(row.stream, learn, progress, first)

    def _check(self, stream: Stream, continues: bool) -> None:
        """Check rows as the kernels ask, those that are made anew when they have been made."""
        if not any(step.renews for step in self.steps):
            self.needs.check(stream, continues)

    def _make_room(self, stream: Stream, learn: bool) -> None:
        make_room(self._growing, self.state, self._setup, stream, learn)

    def most(self, learn: bool) -> int:
        """Return how many of the next rounds can run together."""
        return min([step.most(learn) for step in self.steps], default=ALL)

    def _run_part(self, rounds: Rounds, trace: Trace, clock: Callable[[], float]) -> float:
        """Run rounds: the steps before, the function, the steps after; return what the clock says of it."""
        began, of_steps, rows = clock(), [], rounds.stream.values
        for step in self.steps:
            of_steps.append((step, rounds))
            rounds = step.before(self, rounds)
        seconds = clock() - began + rounds.seconds
        if rounds.stream.values is not rows:
            self.needs.check(rounds.stream, True)
            self._make_room(rounds.stream, rounds.learn)
        seconds += self._run_rounds(rounds, trace, clock)
        began = clock()
        for step, before in reversed(of_steps):
            step.after(self, before, trace)
        return seconds + clock() - began

    def _run_rounds(self, rounds: Rounds, trace: Trace, clock: Callable[[], float]) -> float:
        """Run the compiled function on rounds, a block at a time where threads share them.

        Returns what the clock says of the function and of the other threads.
        """
        T, stop, seconds = rounds.stream.T, 0, 0.0
        while stop < T:
            start, shared = stop, self._shared() if T > 1 else []
            stop = min(T, start + self.block) if shared else T
            now = rounds
            if start > 0 or stop < T:
                now = rounds._replace(stream=part(rounds.stream, start, stop), done=rounds.done + start)
            seconds += self._run_block(
                now, trace_part(trace, start, stop) if now is not rounds else trace, shared, clock
            )
        return seconds

    def _run_block(
        self, rounds: Rounds, trace: Trace, shared: Sequence[Expansion], clock: Callable[[], float]
    ) -> float:
        """Run the compiled function on rounds; shared: the expansions whose next block the threads share."""
        stream, seconds = rounds.stream, 0.0
        for name, stores in self.storing.items():
            stores.close(self.state[name])
        grow_part(self.resources, self.state, stream, rounds.learn)
        given = {"stream": stream, "trace": trace, "learn": rounds.learn, "margins": rounds.margins}
        values = {**self.state, **self.arguments, **given}
        arguments = [self._argument(name, values) for name in self.names]
        code = self._code_of_a_row(arguments) if stream.T == 1 else self.run_compiled
        self._renumber(-rounds.first)
        try:
            with kernel_faults(stream.order, rounds.done):
                for E in shared:
                    self._threads.prepare(E, stream)
                began = clock()  # CPU time: waiting for a busy core is not the learner's
                for E in shared:
                    seconds += self._threads.open_block(E, stream)
                code(*arguments)
                return seconds + clock() - began
        finally:
            self._renumber(rounds.first)

    def _code_of_a_row(self, arguments: list[Any]) -> Any:
        """Return the machine code for these arguments: one row's have the types of any other's."""
        code = _codes_of_a_row.get(self)
        if code is None:
            code = _codes_of_a_row[self] = machine_code(self.run_compiled, arguments)
        return code

    def begin_again(self, rows: Stream, origin: np.ndarray) -> None:
        """Forget all that was learnt, and learn rows, with the widths of now; origin (n,): their numbers."""
        rng = self.state["rng"]
        lengths = {
            name: self.state[name] for name, resource in self.resources.items() if resource.counts_rounds
        }
        self.state = {"rng": rng, **make(self.resources, self.setup(rng)), **lengths}
        self._make_room(rows, True)
        many = self.classes if rows.label is not None else 0
        self._run_rounds(Rounds(rows, 0, True), make_trace(rows.T, len(self.spec.measures), many), _no_clock)
        for name in self.storing:
            of_stored = self.state[name].origin
            of_stored[:] = origin[np.minimum(of_stored, rows.T - 1)]

    def _argument(self, name: str, values: dict[str, Any]) -> Any:
        """Return the value of an argument; a record is the one before while its arrays are the same."""
        kind, record = self._kinds.get(name), self._records.get(name)
        if kind is None:
            return values[name]
        fields = [values[field] for field in kind._fields]
        if record is None or any(map(is_not, fields, record)):
            record = self._records[name] = kind(*fields)
        return record

    def _shared(self) -> list[Expansion]:
        """Return the expansions whose next block the threads share."""
        if self._threads.count == 1:
            return []
        return [
            self.state[name]
            for name, stores in self.storing.items()
            if stores.threaded and self.state[name].n_sv_union[0] >= WORTH
        ]

    def _renumber(self, shift: int) -> None:
        """Shift the row numbers of the stored vectors."""
        if shift:
            for name, stores in self.storing.items():
                stores.renumber(self.state[name], shift)

    @property
    def run_compiled(self) -> Any:
        """The learner's compiled function. It is no attribute: river measures all that a model refers to."""
        return _compiled(self.spec.function, os.environ.get(EXTENSIONS))

    def _compiled_values(self, params: dict) -> dict[str, Any]:
        """Return the hyperparameters as the function takes them, and None for resources that are absent."""
        values: dict[str, Any] = dict.fromkeys(absent(self.resources, params))
        for name in params.keys() & set(self.names):
            domain = self.spec.hyperparameters[name].domain
            if isinstance(domain, list):
                check_choices(self.run_compiled, name, domain, self.spec.name)
            values[name] = compiled_value(params[name], domain)
        return values

    @property
    def scaling(self) -> Scaling | None:
        """The step that scales its rows and targets, None for a learner without."""
        return next((step for step in self.steps if isinstance(step, Scaling)), None)

    @property
    def stores(self) -> str | None:
        """The name of the first resource that stores vectors, None for a learner without."""
        return next(iter(self.storing), None)

    @property
    def classifiers(self) -> Any:
        """The value of that resource, an Expansion or a Budget; None for a learner without."""
        return None if self.stores is None else self.state[self.stores]

    def add_features(self, d: int) -> None:
        """Go on with d features, at least as many as there are; the new ones were 0 so far.

        Predictions for rows without the new features stay as they are. The frequencies of random features are
        drawn for the new columns as for a set of that many.
        """
        with self.lock:
            if d > self.d:
                self.needs = Needs(self.pool["kernels"] if self.pool is not None else [], d)
                self.d = d
                add_features(self.resources, self.state, self.setup(self.state["rng"]))
                for step in self.steps:
                    step.add_features(d)

    @property
    def draws_frequencies(self) -> bool:
        """Whether it, or a member, has random features, which are drawn for each new column."""
        draws = any(resource.frequencies for resource in self.resources.values())
        return draws or any(getattr(member, "draws_frequencies", False) for member in self.members)

    @property
    def held(self) -> list[Any]:
        """What it holds in memory, arrays and records."""
        return [self.state]

    @property
    def planned_rounds(self) -> int | None:
        """T of the stream that it was made for, None of a learner that does not depend on it."""
        counters = [self.state[name] for name, resource in self.resources.items() if resource.counts_rounds]
        return int(counters[0][0]) if counters else None

    @property
    def weights(self) -> np.ndarray | None:
        """The kernels' weights (m,), None for a learner without weights."""
        with self.lock:
            w = self.state.get("w")
            return None if w is None else w.copy()
