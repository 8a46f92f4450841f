"""What a command would do: its cells, those that are done, and an estimate of time and memory with its range.

The seconds of a cell are, in this order: those that the store has of the same learner, settings and data;
the cost model (omkl.resources.size) times the ratio that the store's cells of this learner have to it, on
the same data or on others; the cost model alone. The range widens in the same order.
"""

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from omkl.config import Plan, learner_spec
from omkl.config.kernel_pools import kernel_pool
from omkl.config.settings_text import SCALING, params_text
from omkl.data import registry
from omkl.engine import numba_cache
from omkl.learning.cell import Cell
from omkl.resources.resource import Setup
from omkl.resources.size import bytes_stored
from omkl.runs.cells import SizeUnknown, check_data, cost_of, data_names, expand
from omkl.runs.runner import by_key, executor_for
from omkl.store import provenance
from omkl.store.store import Store

START = 2.0  # seconds of the processor until the first cell runs; more with workers
WORKERS = 2.0
CELL = 0.006  # seconds of a cell beside its learner's
COMPILE = 5.0  # seconds to compile a learner
ENGINE = 45.0  # seconds to compile what all learners use
PROCESS = 230 * 2**20  # bytes of a process without data
UNKNOWN_BUDGET = 50  # stands for the size of a learner that has not run yet
_TIMED = ("algo", "data", "data_hash", "T", "params", "pool_spec", "rounds", "seconds", "n_sv_union")
RANGES = {  # by what is known: factors of the least and the most
    "same cells": (0.75, 1.35),
    "same learner and data": (0.5, 2.0),
    "same learner": (0.35, 3.0),
    "cost model": (0.1, 6.0),
}


class Guess(NamedTuple):
    """A number and its range."""

    about: float
    least: float
    most: float

    def plus(self, other: "Guess") -> "Guess":
        """The sum; ranges add, as errors of one kind go one way."""
        return Guess(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, factor: float) -> "Guess":
        """The multiple."""
        return Guess(*(part * factor for part in self))


@dataclass(frozen=True)
class Estimate:
    """rows: one per data set and setting, with cells, done, to_run, seconds (of one cell) and their range

    time: wall time in seconds    memory: bytes of a process    processes: how many there are
    compiling: learners to be compiled    assumed: learners whose size a budget matches, not known yet
    """

    rows: list[dict[str, Any]]
    time: Guess
    memory: Guess
    processes: int
    compiling: list[str]
    assumed: list[str]


def estimate(plans: list[Plan], jobs: int | None = None, fresh: bool = False) -> Estimate:
    """Return what `run_plans` would do with these plans; nothing runs and nothing is written.

    Raises as ``expand``, ``check_data`` and the store do.
    """
    from omkl.learning.compiled import missing as not_compiled

    assumed: list[str] = []
    cells = by_key([cell for plan in plans for cell in _cells(plan, assumed)])
    with Store(plans[0].store) as store:
        done = set() if fresh else store.done(cells)
        known = _Rates(store, list(cells.values()))
    missing = [cell for key, cell in cells.items() if key not in done]
    refs = {id(cell.data): cell.data for cell in missing}
    absent = {at for at, ref in refs.items() if ref.to_be_downloaded}
    check_data([cell for cell in missing if id(cell.data) not in absent])
    rows, work, most_memory = [], Guess(0.0, 0.0, 0.0), Guess(0.0, 0.0, 0.0)
    groups: dict[str, list[Cell]] = defaultdict(list)  # the repetitions of each row, in the plan's order
    for cell in cells.values():
        groups[known.which(cell)].append(cell)
    names = data_names(cells.values())
    for own in groups.values():
        left = sum(cell.key not in done for cell in own)
        basis, each = known.seconds(own[0])
        if left:
            work = work.plus(each.plus(Guess(CELL, CELL / 2, CELL * 2)).times(left))
            most_memory = max(most_memory, known.bytes(own[0]), key=lambda guess: guess.about)
        rows.append({"data": names[own[0].data.content_hash], **_row(own, left, each, basis)})
    executor = executor_for(plans[0], missing, jobs) if plans[0].exec["name"] != "slurm" else None
    processes = max(1, min(executor.workers if executor else plans[0].exec["parallel"], len(missing)))
    compiling = not_compiled((cell.spec, cell.params, cell.data.n_classes) for cell in missing)
    time = work.times(1 / processes)
    if missing:
        start = START + (WORKERS if executor and executor.name != "serial" else 0.0)
        time = time.plus(Guess(start, start / 2, start * 2))
        new = bool(compiling) and not any((numba_cache.base() / "ready").glob("*"))
        compiled = COMPILE * len(compiling) + ENGINE * new
        time = time.plus(Guess(compiled, compiled / 3, compiled * 3))
    slower = max(1.0, (_load() + processes) / provenance.cores())  # other processes take their share
    time = Guess(time.about * slower, time.least, time.most * slower)
    return Estimate(rows, time, most_memory, processes, compiling, assumed)


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _cells(plan: Plan, assumed: list[str]) -> Iterator[Cell]:
    """Yield the cells of a plan; those of a learner whose size is not known yet come first."""
    try:
        yield from expand(plan)
    except SizeUnknown as unknown:
        assumed += [setting.learner for setting in unknown.plan.settings]
        yield from expand(unknown.plan)
        yield from expand(plan, budgets=defaultdict(lambda: UNKNOWN_BUDGET))


def _row(cells: list[Cell], left: int, each: Guess, basis: str) -> dict[str, Any]:
    first = cells[0]
    pool = f" pool={first.pool['name']}" if first.pool else ""
    unusual = first.spec.unusual(first.planned, first.data.task)
    return {
        "algo": first.spec.name,
        "settings": f"{params_text(unusual)}{pool}".strip(),
        "cells": len(cells),
        "done": len(cells) - left,
        "to run": left,
        "seconds each": each.about,
        "least": each.least,
        "most": each.most,
        "from": basis,
    }


class _Rates:
    """What the store says of these learners: seconds, their ratio to the cost model, and vectors stored."""

    def __init__(self, store: Store, cells: list[Cell]) -> None:
        self.same: dict[str, list[float]] = defaultdict(list)
        self.ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.kept: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._memo: dict[tuple, str] = {}  # cells share their params and pool objects
        costs: dict[str, float | None] = {}
        learners = {cell.spec.name for cell in cells}
        nnz = {cell.data.content_hash: cell.data.nnz / cell.data.T for cell in cells}  # of a row
        # kept, so that the ids above stay those of one object
        self._lines = store.cells(columns=_TIMED, where={"algo": learners})
        for line in self._lines.to_dict("records"):
            learner, data, T = line["algo"], line["data_hash"], line["T"]
            if not line["seconds"] > 0:
                continue
            pool = line["pool_spec"] if isinstance(line["pool_spec"], dict) else None
            which = self._which(learner, data, line["params"], pool, line["rounds"])
            if which not in costs:
                entry = registry.entry_of(line["data"], data)
                each = nnz.get(data, entry.nnz / entry.T if entry and entry.nnz else None)
                known = None if each is None else round(each * T)
                costs[which] = _cost(learner, line["params"], pool, T, known)
            self.same[which].append(line["seconds"])
            self.kept[learner, data].append((line["n_sv_union"] or 0) / T)
            if cost := costs[which]:
                self.ratios[learner, data].append(line["seconds"] / cost)

    def which(self, cell: Cell) -> str:
        """Return what makes two cells the same but for their repetition."""
        scaling = repr(cell.scaling)
        memo = (cell.spec.name, cell.data.content_hash, id(cell.params), scaling, id(cell.pool), cell.rounds)
        if memo not in self._memo:
            params = cell.setting["params"]
            self._memo[memo] = _text(cell.spec.name, cell.data.content_hash, params, cell.pool, cell.rounds)
        return self._memo[memo]

    def _which(self, learner: str, data: str, params: Any, pool: Any, rounds: Any) -> str:
        memo = (learner, data, id(params), id(pool), str(rounds))
        if memo not in self._memo:
            self._memo[memo] = _text(learner, data, params, pool, rounds)
        return self._memo[memo]

    def seconds(self, cell: Cell) -> tuple[str, Guess]:
        """Return what is known of a cell, as one of RANGES, and its seconds."""
        learner, data = cell.spec.name, cell.data.content_hash
        if seconds := self.same.get(self.which(cell)):
            return _guess("same cells", seconds)
        if ratios := self.ratios.get((learner, data)):
            return _guess("same learner and data", [ratio * cell.cost for ratio in ratios])
        others = [ratio for (name, _), own in self.ratios.items() if name == learner for ratio in own]
        if others:
            return _guess("same learner", [ratio * cell.cost for ratio in others])
        return _guess("cost model", [cell.cost])

    def bytes(self, cell: Cell) -> Guess:
        """Return the bytes of a process that runs a cell."""
        data = cell.data
        size = 16 * data.T + 12 * data.nnz  # see Dataset
        setup = Setup(cell.params, cell.kernel_pool, data.d, block=cell.block or 0, classes=data.n_classes)
        fixed, stored = bytes_stored(cell.spec.state, setup, data.T, data.nnz)
        shares = self.kept.get((cell.spec.name, cell.data.content_hash), [0.0, 1.0])
        about = PROCESS + size + fixed + stored * sum(shares) / len(shares)
        return Guess(
            about, 0.8 * PROCESS + fixed + stored * min(shares), 1.4 * (PROCESS + size + fixed + 2 * stored)
        )


def _text(
    learner: str, data: str, params: Mapping[str, Any], pool: Mapping[str, Any] | None, rounds: Any
) -> str:
    kernels = pool and (pool["normalise"], pool["kernels"])
    part = list(rounds) if isinstance(rounds, list | tuple) else None
    return json.dumps([learner, data, params, kernels, part], sort_keys=True)


def _cost(
    learner: str, params: Mapping[str, Any], pool: dict | None, T: int, nnz: int | None
) -> float | None:
    """Return the cost of a stored cell, None where its data or hyperparameters are not known any more."""
    spec = learner_spec(learner)
    if nnz is None or params.keys() - spec.former.keys() - set(SCALING) != spec.hyperparameters.keys():
        return None
    return cost_of(spec, Setup(params, kernel_pool(params, pool)), T, nnz)


def _guess(basis: str, values: Iterable[float]) -> tuple[str, Guess]:
    values = list(values)
    about = math.exp(sum(map(math.log, values)) / len(values))
    low, high = RANGES[basis]
    return basis, Guess(about, low * min(values), high * max(values))
