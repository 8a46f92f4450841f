"""What a command would do: its cells, those that are done, and an estimate of time and memory with its range.

The seconds of a cell are, in this order: those that the store has of the same learner, settings and data;
the cost model (omkl.state.state) times the ratio that the store's cells of this learner have to it, on
the same data or on others; the cost model alone. The range widens in the same order.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omkl.config import Plan, learner_spec
from omkl.config.kernel_kinds import kernel_pool
from omkl.config.settings_text import SCALING, params_text
from omkl.data import registry
from omkl.engine import numba_cache
from omkl.passes.cell import Cell
from omkl.runs.cells import SizeUnknown, check_data, cost_of, data_names, expand
from omkl.runs.runner import by_key, executor_for
from omkl.state.resource import Setup
from omkl.state.state import bytes_stored
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
    from omkl.passes.precompile import missing as not_compiled

    assumed: list[str] = []
    cells = by_key([cell for plan in plans for cell in _cells(plan, assumed)])
    with Store(plans[0].store) as store:
        done = set() if fresh else store.done(cells)
        known = _Known(store, list(cells.values()))
    missing = [cell for key, cell in cells.items() if key not in done]
    check_data([cell for cell in missing if not cell.data.to_be_downloaded])
    groups: dict[str, list[Cell]] = defaultdict(list)  # the repetitions of each row, in the plan's order
    for cell in cells.values():
        groups[_same(cell.setting)].append(cell)
    rows, work, memory = [], np.zeros(3), np.zeros(3)
    names = data_names(cells.values())
    for same, own in groups.items():
        first, left = own[0], sum(cell.key not in done for cell in own)
        basis, each = known.seconds(same, first)
        if left:
            work += (each + _around(CELL, 2)) * left
            memory = max(memory, known.bytes(first), key=lambda guess: guess[0])
        pool = f" pool={first.pool['name']}" if first.pool else ""
        unusual = first.spec.unusual(first.planned, first.data.task)
        rows.append(
            {
                "data": names[first.data.content_hash],
                "algo": first.spec.name,
                "settings": f"{params_text(unusual)}{pool}".strip(),
                "cells": len(own),
                "done": len(own) - left,
                "to run": left,
                **dict(zip(("seconds each", "least", "most"), each.tolist(), strict=True)),
                "from": basis,
            }
        )
    executor = executor_for(plans[0], missing, jobs) if plans[0].exec["name"] != "slurm" else None
    processes = max(1, min(executor.workers if executor else plans[0].exec["parallel"], len(missing)))
    compiling = not_compiled((cell.spec, cell.params, cell.data.n_classes) for cell in missing)
    time = work / processes
    if missing:
        time += _around(START + (WORKERS if executor and executor.name != "serial" else 0.0), 2)
        new = bool(compiling) and not any((numba_cache.base() / "ready").glob("*"))
        time += _around(COMPILE * len(compiling) + ENGINE * new, 3)
    slower = max(1.0, (_load() + processes) / provenance.cores())  # other processes take their share
    time *= [slower, 1.0, slower]
    return Estimate(rows, Guess(*time.tolist()), Guess(*memory.tolist()), processes, compiling, assumed)


def _around(number: float, factor: float) -> np.ndarray:
    """Return a number, and what is that many times less and more."""
    return np.array([number, number / factor, number * factor])


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


def _same(line: Mapping[str, Any]) -> str:
    """Return what is the same in all repetitions of a cell; line: its fields, as in the store."""
    pool, part = line["pool_spec"], line["rounds"]
    kernels = [pool["normalise"], pool["kernels"]] if isinstance(pool, dict) else None
    rounds = part if isinstance(part, list) else None
    return json.dumps([line["algo"], line["data_hash"], line["params"], kernels, rounds], sort_keys=True)


class _Known:
    """What the store says of these learners.

    same: seconds by what is the same in all repetitions    ratios: seconds over those of the cost model, and
    kept: vectors stored over examples, both by learner and data
    """

    def __init__(self, store: Store, cells: list[Cell]) -> None:
        self.same, self.ratios, self.kept = (defaultdict[Any, list[float]](list) for _ in range(3))
        costs: dict[str, float | None] = {}
        per_row = {cell.data.content_hash: cell.data.nnz / cell.data.T for cell in cells}
        lines = store.cells(columns=_TIMED, where={"algo": {cell.spec.name for cell in cells}})
        for line in lines[lines["seconds"] > 0].to_dict("records"):
            which, T, same = (line["algo"], line["data_hash"]), line["T"], _same(line)
            if same not in costs:
                entry = registry.entry_of(line["data"], line["data_hash"])
                each = per_row.get(line["data_hash"], entry.nnz / entry.T if entry and entry.nnz else None)
                costs[same] = _cost(line, round(each * T) if each else None)
            self.same[same].append(line["seconds"])
            self.kept[which].append((line["n_sv_union"] or 0) / T)
            if cost := costs[same]:
                self.ratios[which].append(line["seconds"] / cost)

    def seconds(self, same: str, cell: Cell) -> tuple[str, np.ndarray]:
        """Return what is known of a cell, as one of RANGES, and its seconds with their range."""
        learner, data = cell.spec.name, cell.data.content_hash
        others = [ratio for (name, _), own in self.ratios.items() if name == learner for ratio in own]
        sources = {
            "same cells": (self.same.get(same), 1.0),
            "same learner and data": (self.ratios.get((learner, data)), cell.cost),
            "same learner": (others, cell.cost),
            "cost model": ([1.0], cell.cost),
        }
        basis, (values, cost) = next((name, source) for name, source in sources.items() if source[0])
        seconds, (low, high) = np.array(values) * cost, RANGES[basis]
        about = np.exp(np.log(seconds).mean())
        return basis, np.array([about, low * seconds.min(), high * seconds.max()])

    def bytes(self, cell: Cell) -> np.ndarray:
        """Return the bytes of a process that runs a cell, with their range."""
        data = cell.data
        size = 16 * data.T + 12 * data.nnz  # see Dataset
        setup = Setup(cell.params, cell.kernel_pool, data.d, block=cell.block or 0, classes=data.n_classes)
        fixed, stored = bytes_stored(cell.spec.state, setup, data.T, data.nnz)
        shares = self.kept.get((cell.spec.name, data.content_hash), [0.0, 1.0])
        least = 0.8 * PROCESS + fixed + stored * min(shares)
        about = PROCESS + size + fixed + stored * sum(shares) / len(shares)
        return np.array([about, least, 1.4 * (PROCESS + size + fixed + 2 * stored)])


def _cost(line: Mapping[str, Any], nnz: int | None) -> float | None:
    """Return the cost of a stored cell, None where its data or hyperparameters are not known any more."""
    spec, params, pool = learner_spec(line["algo"]), line["params"], line["pool_spec"]
    if nnz is None or params.keys() - set(SCALING) != spec.hyperparameters.keys():
        return None
    pool = kernel_pool(params, pool if isinstance(pool, dict) else None)
    return cost_of(spec, Setup(params, pool), line["T"], nnz)
