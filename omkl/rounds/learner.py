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
from omkl.rounds.scaling import Scaling
from omkl.rounds.threads import WORTH, Threads
from omkl.rounds.units import Units, in_units
from omkl.rounds.widths import Widths
from omkl.state.resource import Arrays, Resource, Setup
from omkl.state.state import absent, add_features, grow_part, load_state, make, make_room

CURVE_POINTS = 100
MOST_ROWS = 64  # lengths of rows that are kept to be written anew

# One row's arguments have the types of any other's. No attribute, as of `Learner.run_compiled`.
_code_of_a_row: "weakref.WeakKeyDictionary[Learner, Any]" = weakref.WeakKeyDictionary()


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
    than two; saved: the arrays of a saved state, in place of the one that a learner begins with; scaling: of
    its rows and targets, and what fills gaps.

    One pass over T examples equals passes over its parts, in any cut: all state is in ``self.state``.
    Raises UserError for hyperparameters or a pool that the learner does not take.
    """

    members: Sequence[Any] = ()  # of a stack

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
        threads: "int | Threads" = 1,
        classes: int = 2,
        saved: Arrays | None = None,
        scaling: Scaling | None = None,
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
        self.scaling = scaling
        is_scaled = scaling is not None and scaling.scale is not None  # to a size that cannot overflow
        self.growth = () if is_scaled else growth(pool["kernels"] if pool is not None else [])
        self.resources, self.params = spec.state, params
        rng = np.random.default_rng(seed)
        self.classes, self._rounds = classes, rounds or 0
        self.widths = Widths.of(pool, classes)
        if self.widths is not None and saved is not None:
            saved = self.widths.load(saved, d)
        setup = self.setup(rng, frequencies)
        state = make(spec.state, setup) if saved is None else load_state(spec.state, saved, setup)
        self.state: dict[str, Any] = {"rng": rng, **state}
        self._storing = [name for name, each in spec.state.items() if each.record and name in state]
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
        how: Any = {"frequencies": frequencies, "classes": self.classes, "members": len(self.members)}
        return Setup(self.params, pool, self.d, rng, self.block, self._rounds, **how)

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
        on_part: Any = None,
        progress: Any = None,
        rng: np.random.Generator | None = None,
        first: int | None = None,
    ) -> tuple[Trace, float]:
        """Run the rounds of a stream; learn=False only scores them. Returns the trace and learner seconds.

        The stream is cut into parts of whole blocks, so that Ctrl-C works.
        ``on_part(t)`` is called with the number of rounds done, at most 100 times. progress: the record
        (`omkl.models.record.Progress`) of the stream that this one continues; each part is added to it, and
        stored vectors are numbered from its beginning. Scaled rows are numbered by their rounds since the
        learner began, with and without progress. rng: in place of the learner's own generator. first: what is
        added to the row numbers of this stream, in place of these rounds.
        """
        with self.lock:
            trace = make_trace(
                stream.T, len(self.spec.measures), self.classes if stream.label is not None else 0
            )
            given, units, seconds = stream, None, 0.0
            if self.scaling is not None:
                began = time.thread_time()
                stream, units = self.scaling.scaled(given, learn)
                seconds += time.thread_time() - began
            renews = self.scaling is not None and self.scaling.renews
            self.needs.check(stream, progress is not None or (renews and bool(self.needs.grams)))
            make_room(self.resources, self.state, Setup(self.params), stream, learn)
            step = max(1, -(-stream.T // (CURVE_POINTS * self._cut))) * self._cut
            stop = 0
            if first is None and progress is not None:
                first = progress.rounds
            elif first is None:
                first = int(self.scaling.seen[0]) if learn and renews and self.scaling is not None else 0
            while stop < stream.T:
                start, stop = stop, min((stop // step + 1) * step, stream.T)
                with ctrl_c_later(), kernel_faults(stream.order, progress.rounds if progress else 0):
                    stop, used = self._run_part(stream, trace, start, stop, learn, first, rng)
                    if self.scaling is not None:
                        began = time.thread_time()
                        self._rescaled(given, trace, start, stop, learn, units)
                        used += time.thread_time() - began
                    if progress is not None:
                        progress.add(trace_part(trace, start, stop), given.y[start:stop])
                seconds += used
                if on_part is not None and (stop % step == 0 or stop == stream.T):
                    on_part(stop)
            return trace, seconds

    def run_row(
        self,
        indices: Any,
        values: Any,
        y: float,
        learn: bool = True,
        progress: Any = None,
        first: int | None = None,
    ) -> tuple[Stream, Trace]:
        """Run one round, as `run` does a stream of one row; return the stream and the trace.

        indices, values (n,): the row's non-zeros, its columns ascending; y: its label or target, of more than
        two classes the number of its class; learn, progress, first: as of `run`. The next call writes stream
        and trace anew: whoever reads them holds the lock.
        """
        with self.lock:
            buffer = self._rows.get(len(indices))
            if buffer is None:
                if len(self._rows) >= MOST_ROWS:
                    self._rows.clear()
                buffer = one_row(len(indices), len(self.spec.measures), self.classes)
                self._rows[len(indices)] = buffer
            buffer.write(indices, values, y)
            stream, trace, units, seen = buffer.stream, buffer.trace, None, 0
            if self.scaling is not None:
                stream, units = self.scaling.scaled(buffer.stream, learn)
                seen = int(self.scaling.seen[0]) if learn and self.scaling.renews else 0
            if first is None:
                first = seen if progress is None else progress.rounds
            renews = self.scaling is not None and self.scaling.renews
            continues = progress is not None or (renews and bool(self.needs.grams))
            with ctrl_c_later(), kernel_faults(stream.order, progress.rounds if progress else 0):
                self.pass_row(stream, trace, learn, first, continues)
                if self.scaling is not None:
                    self._rescaled(buffer.stream, trace, 0, 1, learn, units)
                if progress is not None:
                    progress.add_row(float(trace.score[0]), bool(trace.mistake[0]), y)
            return buffer.stream, trace

    def row_of_a_stack(self, stream: Stream, learn: bool, first: int) -> Trace:
        """Run the one round of a stream, of scaled rows; the next call writes the trace anew."""
        if self._row_trace is None:
            many = self.classes if self.classes > 2 else 0
            self._row_trace = make_trace(1, len(self.spec.measures), many)
        self._row_trace.score[0] = UNRECORDED
        self.pass_row(stream, self._row_trace, learn, first)
        return self._row_trace

    def pass_row(
        self, stream: Stream, trace: Trace, learn: bool, first: int, continues: bool = False
    ) -> None:
        """Run the one round of a stream, of scaled rows, for who holds the lock and delays Ctrl-C."""
        self.needs.check(stream, continues)
        make_room(self._growing, self.state, self._setup, stream, learn)
        if self.widths is not None and learn and self.widths.left:
            self._run_part(stream, trace, 0, 1, learn, first, None)
            return
        stream, margins, _ = self._margins(stream, learn, first)
        arguments = self._arguments_of(stream, trace, learn, margins)
        code = _code_of_a_row.get(self)
        if code is None:
            code = _code_of_a_row[self] = machine_code(self.run_compiled, arguments)
        self._renumber(-first)
        try:
            code(*arguments)
        finally:
            self._renumber(first)

    def _arguments_of(
        self, rounds: Stream, trace: Trace, learn: bool, margins: Any, rng: Any = None
    ) -> list[Any]:
        """Return what the compiled function takes for these rounds, for which there is room then."""
        for name in self._storing:
            self.resources[name].close(self.state[name])
        grow_part(self.resources, self.state, rounds, learn)
        now = {"stream": rounds, "trace": trace, "learn": learn, "margins": margins}
        values = {**self.state, **self.arguments, **now, **({} if rng is None else {"rng": rng})}
        return [self._argument(name, values) for name in self.names]

    def _run_part(
        self, stream: Stream, trace: Trace, start: int, stop: int, learn: bool, first: int, rng: Any
    ) -> tuple[int, float]:
        """Run rounds from start to stop, or fewer; return where they ended, and the seconds."""
        if self.widths is None or not learn or not self.widths.left:
            return self._run_rounds(stream, trace, start, stop, learn, first, rng)
        stop = min(stop, start + self.widths.left)
        stop, seconds = self._run_rounds(stream, trace, start, stop, learn, first, rng)
        began = time.thread_time()
        if self.widths.keep(part(stream, start, stop), first):
            self._begin_again(self.widths)
            make_room(self.resources, self.state, Setup(self.params), stream, learn)
        return stop, seconds + time.thread_time() - began

    def _begin_again(self, widths: Widths) -> None:
        """Forget all but the rows that are kept, and learn them with the widths of now."""
        rng, rows = self.state["rng"], widths.stream()
        lengths = {
            name: self.state[name] for name, resource in self.resources.items() if resource.counts_rounds
        }
        self.state = {"rng": rng, **make(self.resources, self.setup(rng)), **lengths}
        make_room(self.resources, self.state, Setup(self.params), rows, True)
        trace = make_trace(rows.T, len(self.spec.measures), self.classes if rows.label is not None else 0)
        stop = 0
        while stop < rows.T:
            stop, _ = self._run_rounds(rows, trace, stop, rows.T, True, 0, None)
        for name in self._storing:
            origin = self.state[name].origin
            origin[:] = widths.origin[np.minimum(origin, rows.T - 1)]
        widths.forget_if_last()

    def _run_rounds(
        self, stream: Stream, trace: Trace, start: int, stop: int, learn: bool, first: int, rng: Any
    ) -> tuple[int, float]:
        """Do what `_run_part` does with the state as it is."""
        shared = self._shared()
        stop = min(stop, start + self.block) if shared else stop
        whole = stop - start == stream.T
        rounds, margins, seconds = self._margins(stream if whole else part(stream, start, stop), learn, first)
        trace = trace if whole else trace_part(trace, start, stop)
        arguments = self._arguments_of(rounds, trace, learn, margins, rng)
        self._renumber(-first)
        try:
            for E in shared:
                self._threads.prepare(E, rounds)
            began = time.thread_time()  # CPU time: waiting for a busy core is not the learner's
            for E in shared:
                seconds += self._threads.open_block(E, rounds)
            self.run_compiled(*arguments)
            seconds += time.thread_time() - began
        finally:
            self._renumber(first)
        return stop, seconds

    def _argument(self, name: str, values: dict[str, Any]) -> Any:
        """Return the value of an argument; a record is the one before while its arrays are the same."""
        kind, record = self._kinds.get(name), self._records.get(name)
        if kind is None:
            return values[name]
        fields = [values[field] for field in kind._fields]
        if record is None or any(map(is_not, fields, record)):
            record = self._records[name] = kind(*fields)
        return record

    def _margins(self, rounds: Stream, learn: bool, first: int) -> tuple[Stream, Any, float]:
        """Return these rounds as a stack sees them, what its members say in them, and the seconds it took."""
        return rounds, None, 0.0

    def _rescaled(
        self, given: Stream, trace: Trace, start: int, stop: int, learn: bool, units: Units | None
    ) -> None:
        """Give the predictions of rounds in the targets' units, and count their rows."""
        scaling: Any = self.scaling
        if learn:
            scaling.see(part(given, start, stop))
        if units is not None:
            in_units(trace_part(trace, start, stop), units.part(start, stop), given.y[start:stop], self.spec)

    def _shared(self) -> list[Expansion]:
        """Return the expansions whose next block the threads share."""
        if self._threads.count == 1:
            return []
        return [
            self.state[name]
            for name in self._storing
            if self.resources[name].threaded and self.state[name].n_sv_union[0] >= WORTH
        ]

    def _renumber(self, shift: int) -> None:
        """Shift the row numbers of the stored vectors."""
        for name in self._storing if shift else ():
            self.resources[name].renumber(self.state[name], shift)

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
    def stores(self) -> str | None:
        """The name of the first resource that stores vectors, None for a learner without."""
        return next(iter(self._storing), None)

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
                if self.scaling is not None:
                    self.scaling.add_features(d)

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
