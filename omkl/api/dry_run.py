"""What a command would do, as a table: its cells, those that are done, and an estimate of time and memory.

The seconds of a cell are those that the store has of the same learner, settings and data; else the cost model
(omkl.state.state) times the ratio that the store's cells of its learner have to it; else the model alone.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from omkl.config import Plan, learner_spec
from omkl.config.kernel_kinds import kernel_pool
from omkl.config.parameters import SCALING, params_text
from omkl.engine import numba_cache
from omkl.errors import UserError, counted
from omkl.passes.cell import Cell
from omkl.passes.precompile import missing as not_compiled
from omkl.reports.table import Table
from omkl.runs.cells import SizeUnknown, check_data, cost_of, data_names, expand
from omkl.runs.runner import by_key, executor_for
from omkl.state.resource import Setup
from omkl.state.state import bytes_stored
from omkl.store import provenance
from omkl.store.store import Store

LEFT_OUT = ("least", "most", "from", "settings")  # columns that a narrow terminal leaves out first
START = 2.0  # seconds of the processor until the first cell runs; more with workers
WORKERS = 2.0
CELL = 0.006  # seconds of a cell beside its learner's
COMPILE = 5.0  # seconds to compile a learner
ENGINE = 45.0  # seconds to compile what all learners use
PROCESS = 230 * 2**20  # bytes of a process without data
UNKNOWN_BUDGET = 50  # stands for the size of a learner that has not run yet
_TIMED = ["algo", "data_hash", "T", "params", "pool_spec", "rounds", "seconds", "n_sv_union"]
RANGES = {  # by where the seconds come from: factors of the least and the most
    "same cells": (0.75, 1.35),
    "same learner": (0.35, 3.0),
    "cost model": (0.1, 6.0),
}


def dry_run(
    plans: Sequence[Plan], jobs: int | None = None, fresh: bool = False
) -> tuple[Table, dict[str, Any], list[str]]:
    """Return what `run_plans` would do with these plans; nothing runs and nothing is written.

    The table, the same with the estimates as plain data, and remarks: what would be downloaded, and which
    budgets are not known yet. Raises UserError for no plans, and as ``expand``, ``check_data`` and the store.
    """
    if not plans:
        raise UserError(
            "--dry-run: nothing would run, because no data are available, or the table needs no runs"
        )
    assumed: list[str] = []
    cells = by_key([cell for plan in plans for cell in _cells(plan, assumed)])
    with Store(plans[0].store) as store:
        done = set() if fresh else store.done(cells)
        timed = store.cells(columns=_TIMED, where={"algo": {cell.spec.name for cell in cells.values()}})
    missing = [cell for key, cell in cells.items() if key not in done]
    check_data([cell for cell in missing if not cell.data.to_be_downloaded])
    rows, seconds, memory = _rows(list(cells.values()), done, timed)
    executor = executor_for(plans[0], missing, jobs) if plans[0].exec["name"] != "slurm" else None
    processes = max(1, min(executor.workers if executor else plans[0].exec["parallel"], len(missing)))
    compiling = not_compiled((cell.spec, cell.params, cell.data.n_classes) for cell in missing)
    time = seconds / processes
    if missing:
        time += _around(START + (WORKERS if executor and executor.name != "serial" else 0.0), 2)
        new = bool(compiling) and not any((numba_cache.base() / "ready").glob("*"))
        time += _around(COMPILE * len(compiling) + ENGINE * new, 3)
    slower = max(1.0, (_load() + processes) / provenance.cores())  # other processes take their share
    whole: dict[str, Any] = {
        "cells": rows,
        "time": _named("about", time * [slower, 1.0, slower]),
        "memory": _named("about", memory),
        "processes": processes,
        "compiling": compiling,
        "assumed": assumed,
    }
    shown = [*map(_shown, rows)]
    totals = "\n".join(_totals(whole))
    return Table.of(rows, shown, least=LEFT_OUT, findings=[totals]), whole, _remarks(plans, assumed)


def _cells(plan: Plan, assumed: list[str]) -> Iterator[Cell]:
    """Yield the cells of a plan; those of a learner whose size is not known yet come first."""
    try:
        yield from expand(plan)
    except SizeUnknown as unknown:
        assumed += [setting.learner for setting in unknown.plan.settings]
        yield from expand(unknown.plan)
        yield from expand(plan, budgets=defaultdict(lambda: UNKNOWN_BUDGET))


def _rows(
    cells: list[Cell], done: set[str], timed: pd.DataFrame
) -> tuple[list[dict[str, Any]], np.ndarray, np.ndarray]:
    """Return a row for each setting on each data set, the seconds of all, and the bytes of a process."""
    repetitions: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        repetitions[_setting_key(cell.setting)].append(cell)
    lines = timed[timed["seconds"] > 0].to_dict("records")
    nnz = {cell.data.content_hash: cell.data.nnz / cell.data.T for cell in cells}
    same, ratios, stored = (defaultdict[Any, list[float]](list) for _ in range(3))
    for line in lines:
        same[_setting_key(line)].append(line["seconds"])
        stored[line["algo"], line["data_hash"]].append((line["n_sv_union"] or 0) / line["T"])
        if cost := _cost(line, nnz.get(line["data_hash"])):
            ratios[line["algo"]].append(line["seconds"] / cost)
    rows, seconds, memory = [], np.zeros(3), np.zeros(3)
    names = data_names(cells)
    for key, alike in repetitions.items():
        cell, left = alike[0], sum(one.key not in done for one in alike)
        learner, data = cell.spec.name, cell.data.content_hash
        sources = {
            "same cells": (same.get(key), 1.0),
            "same learner": (ratios.get(learner), cell.cost),
            "cost model": ([1.0], cell.cost),
        }
        source, (values, cost) = next(item for item in sources.items() if item[1][0])
        guess = _range_of(np.array(values) * cost, RANGES[source])
        if left:
            seconds += (guess + _around(CELL, 2)) * left
            memory = np.maximum(memory, _bytes(cell, stored.get((learner, data), [0.0, 1.0])))
        pool = f" pool={cell.pool['name']}" if cell.pool else ""
        unusual = cell.spec.unusual(cell.planned, cell.data.task)
        row = {"data": names[data], "algo": learner, "settings": f"{params_text(unusual)}{pool}".strip()}
        counts = {"cells": len(alike), "done": len(alike) - left, "to run": left}
        rows.append({**row, **counts, **_named("seconds each", guess), "from": source})
    return rows, seconds, memory


def _setting_key(line: Mapping[str, Any]) -> str:
    """Return what is the same in all repetitions of a cell; line: its fields, as in the store."""
    pool, rounds = line["pool_spec"], line["rounds"]
    kernels = [pool["normalise"], pool["kernels"]] if isinstance(pool, dict) else None
    rounds = rounds if isinstance(rounds, list) else None
    return json.dumps([line["algo"], line["data_hash"], line["params"], kernels, rounds], sort_keys=True)


def _cost(line: Mapping[str, Any], nnz: float | None) -> float | None:
    """Return the cost of a stored cell, None where its data or hyperparameters are not known here.

    nnz: non-zeros of a row of its data
    """
    spec, params, pool = learner_spec(line["algo"]), line["params"], line["pool_spec"]
    if nnz is None or params.keys() - set(SCALING) != spec.hyperparameters.keys():
        return None
    setup = Setup(params, kernel_pool(params, pool if isinstance(pool, dict) else None))
    return cost_of(spec, setup, line["T"], round(nnz * line["T"]))


def _bytes(cell: Cell, stored_shares: list[float]) -> np.ndarray:
    """Return the bytes of a process that runs a cell; stored_shares: vectors stored per example."""
    data = cell.data
    size = 16 * data.T + 12 * data.nnz  # see Dataset
    setup = Setup(cell.params, cell.kernel_pool, data.d, block=cell.block or 0, classes=data.n_classes)
    fixed, stored = bytes_stored(cell.spec.state, setup, data.T, data.nnz)
    least = 0.8 * PROCESS + fixed + stored * min(stored_shares)
    about = PROCESS + size + fixed + stored * float(np.mean(stored_shares))
    return np.array([about, least, 1.4 * (PROCESS + size + fixed + 2 * stored)])


def _named(about: str, guess: np.ndarray) -> dict[str, float]:
    """Return a guess by name: what it is about, the least and the most."""
    return dict(zip((about, "least", "most"), guess.tolist(), strict=True))


def _range_of(seconds: np.ndarray, factors: tuple[float, float]) -> np.ndarray:
    """Return the geometric mean of seconds (n,), the least and the most."""
    return np.array([np.exp(np.log(seconds).mean()), factors[0] * seconds.min(), factors[1] * seconds.max()])


def _around(number: float, factor: float) -> np.ndarray:
    """Return a number, and what is that many times less and more."""
    return np.array([number, number / factor, number * factor])


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


# ------------------------------------------------------------------ how it is said


def _totals(whole: Mapping[str, Any]) -> list[str]:
    cells, left = (sum(row[name] for row in whole["cells"]) for name in ("cells", "to run"))
    lines = [f"cells   {cells}: {cells - left} in the store, {left} to run"]
    if not left:
        return lines
    processes = f"{whole['processes']} processes" if whole["processes"] > 1 else "one process"
    learners = counted(len(whole["compiling"]), "learner")
    compiling = f", including compiling {learners}" if whole["compiling"] else ""
    lines.append(f"time    about {_range(whole['time'], _duration)}, {processes}{compiling}")
    return [*lines, f"memory  about {_range(whole['memory'], _size)} for each process"]


def _remarks(plans: Sequence[Plan], assumed: list[str]) -> list[str]:
    names = dict.fromkeys(ref.name for plan in plans for ref in plan.data if ref.to_be_downloaded)
    downloads = [f"to be downloaded first, estimated from the registered size: {', '.join(names)}"]
    return downloads[: len(names)] + [
        f"a budget matches the size of {learner}, which is not known yet: some of its cells may be done"
        for learner in dict.fromkeys(assumed)
    ]


def _range(guess: Mapping[str, float], text: Callable[[float], str]) -> str:
    return f"{text(guess['about'])} ({text(guess['least'])} to {text(guess['most'])})"


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: f"{row[name]:.3g}" for name in ("seconds each", "least", "most")}
    return {**row, **(numbers if row["to run"] else dict.fromkeys([*numbers, "from"], ""))}


def _duration(seconds: float) -> str:
    """Return a duration with two digits: ``0.8 s``, ``12 s``, ``3.5 min``, ``2.1 h``, ``4.0 d``."""
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
