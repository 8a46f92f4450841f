"""What a command would do, as a table: its cells, those that are done, and an estimate of time and memory.

The seconds of a cell are those that the store has of the same learner, settings and data; else the cost model
(omkl.state.state) times the ratio that the store's cells of its learner have to it; else the model alone.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, geometric_mean
from typing import Any

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
from omkl.store.store import Store

LEFT_OUT = ("from", "settings")  # columns that a narrow terminal leaves out first
START = 3.0  # seconds of the processor until the first cell runs
CELL = 0.006  # seconds of a cell beside its learner's
COMPILE = 5.0  # seconds to compile a learner
ENGINE = 45.0  # seconds to compile what all learners use
PROCESS = 230 * 2**20  # bytes of a process without data
UNKNOWN_BUDGET = 50  # stands for the size of a learner that has not run yet
_TIMED = ["algo", "data_hash", "T", "params", "pool_spec", "rounds", "seconds", "n_sv_union"]


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
        new = bool(compiling) and not any((numba_cache.base() / "ready").glob("*"))
        time += START + COMPILE * len(compiling) + ENGINE * new
    whole: dict[str, Any] = {
        "cells": rows,
        "time": time,
        "memory": memory,
        "processes": processes,
        "compiling": compiling,
        "assumed": assumed,
    }
    shown = [{**row, "seconds each": f"{row['seconds each']:.3g}"} for row in rows]
    table = Table.of(rows, shown, least=LEFT_OUT, findings=["\n".join(_totals(whole))])
    return table, whole, _remarks(plans, assumed)


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
) -> tuple[list[dict[str, Any]], float, float]:
    """Return a row for each setting on each data set, the seconds of all, and the bytes of a process."""
    repetitions: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        repetitions[_setting_key(cell.setting)].append(cell)
    nnz = {cell.data.content_hash: cell.data.nnz / cell.data.T for cell in cells}
    same, ratios, shares = (defaultdict[Any, list[float]](list) for _ in range(3))
    for line in timed[timed["seconds"] > 0].to_dict("records"):
        same[_setting_key(line)].append(line["seconds"])
        shares[line["algo"], line["data_hash"]].append((line["n_sv_union"] or 0) / line["T"])
        if cost := _cost(line, nnz.get(line["data_hash"])):
            ratios[line["algo"]].append(line["seconds"] / cost)
    rows, seconds, memory = [], 0.0, 0.0
    names = data_names(cells)
    for key, alike in repetitions.items():
        cell, left = alike[0], sum(one.key not in done for one in alike)
        learner = cell.spec.name
        if key in same:
            source, each = "same cells", geometric_mean(same[key])
        else:
            source = "same learner" if learner in ratios else "cost model"
            each = cell.cost * geometric_mean(ratios.get(learner, [1.0]))
        if left:
            seconds += (each + CELL) * left
            memory = max(memory, _bytes(cell, shares.get((learner, cell.data.content_hash), [0.5])))
        pool = f" pool={cell.pool['name']}" if cell.pool else ""
        settings = params_text(cell.spec.unusual(cell.planned, cell.data.task))
        row = {
            "data": names[cell.data.content_hash],
            "algo": learner,
            "settings": f"{settings}{pool}".strip(),
        }
        counts = {"cells": len(alike), "done": len(alike) - left, "to run": left}
        rows.append({**row, **counts, "seconds each": each, "from": source})
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


def _bytes(cell: Cell, shares: list[float]) -> float:
    """Return the bytes of a process that runs a cell; shares: vectors stored of each example."""
    data = cell.data
    setup = Setup(cell.params, cell.kernel_pool, data.d, block=cell.block or 0, classes=data.n_classes)
    fixed, stored = bytes_stored(cell.spec.state, setup, data.T, data.nnz)
    return PROCESS + 16 * data.T + 12 * data.nnz + fixed + stored * fmean(shares)  # of data: see Dataset


# ------------------------------------------------------------------ how it is said


def _totals(whole: Mapping[str, Any]) -> list[str]:
    cells, left = (sum(row[name] for row in whole["cells"]) for name in ("cells", "to run"))
    lines = [f"cells   {cells}: {cells - left} in the store, {left} to run"]
    if not left:
        return lines
    processes = f"{whole['processes']} processes" if whole["processes"] > 1 else "one process"
    learners = counted(len(whole["compiling"]), "learner")
    compiling = f", including compiling {learners}" if whole["compiling"] else ""
    lines.append(f"time    about {_duration(whole['time'])}, {processes}{compiling}")
    return [*lines, f"memory  about {_size(whole['memory'])} for each process"]


def _remarks(plans: Sequence[Plan], assumed: list[str]) -> list[str]:
    names = dict.fromkeys(ref.name for plan in plans for ref in plan.data if ref.to_be_downloaded)
    downloads = [f"to be downloaded first, estimated from the registered size: {', '.join(names)}"]
    return downloads[: len(names)] + [
        f"a budget matches the size of {learner}, which is not known yet: some of its cells may be done"
        for learner in dict.fromkeys(assumed)
    ]


def _duration(seconds: float) -> str:
    """Return a duration with two digits: ``0.8 s``, ``12 s``, ``3.5 min``, ``2.1 h``, ``4.0 d``."""
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _size(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
