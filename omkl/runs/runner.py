"""From a plan to its finished cells: which are missing, run those, store each one at once."""

import math
import sys
import time
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from omkl.config import Plan, members_of
from omkl.config.kernel_kinds import SOURCE
from omkl.config.planned import PlannedRow
from omkl.errors import Overflow, counted
from omkl.passes.cell import Cell, check_memory, run_cell
from omkl.passes.source import source
from omkl.passes.warm import compile_kernels, warm_up_once
from omkl.rounds.guards import ctrl_c_kept
from omkl.runs.cells import Expanded, SizeUnknown, check_data, expanded
from omkl.runs.other_runs import TAKEN, in_own_order, unless_finished
from omkl.runs.progress import Bar
from omkl.runs.workers import Executor, Failure, make_executor
from omkl.state.state import may_share
from omkl.store import provenance
from omkl.store.fields import KEYED, OBJECTS, dumps
from omkl.store.outcome import Outcome
from omkl.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


LONG_CELL = 10.0  # seconds of a cell from which on it is worth a hint that threads can share it
PART = 0.5  # of the time that is left: from here on a cell is a good part of it
SMALL_WORK = 3.0  # seconds of work below which starting workers (2 s) costs more than it saves


def run_plan(plan: Plan, **how: Any) -> Outcome:
    """As ``run_plans``, for one plan."""
    return run_plans([plan], **how)


def run_plans(
    plans: list[Plan],
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    fail_fast: bool = False,
    trials: bool = False,
    columns: Sequence[str] | None = None,
) -> Outcome:
    """Run the cells of these plans that the store does not hold yet, and return all that are finished.

    The plans use one store and one executor, those of the first; a cell that several plans have runs once.

    jobs: worker processes (default: the plan's exec, else one per core); results do not depend on it.
    fresh: run every cell again, the newest result counts. progress: a bar on stderr where that is a terminal.
    fail_fast: the first cell that fails ends the run. trials: cells of which only the error counts: no curves
    are stored, one that overflowed is not run again, and older ones are not counted. columns: of the cells
    returned, as of `Store.cells`.

    Before a cell begins, the store is looked into once more, so that of runs on one store at the same time
    each leaves out what the others have finished. A cell that fails is recorded and the run continues. Ctrl-C
    ends the run with what is finished; the same plan continues from there. A learner whose size a budget is
    to match runs first. Raises UserError before any work for data that cannot be read or do not fit a
    learner, OmklError when the store cannot be read or written, or when a learner to be matched fails.
    """
    began = time.perf_counter()
    to_match = partial(run_plan, jobs=jobs, progress=progress)
    rows = [expanded(plan, to_match) for plan in plans]
    cells = cells_of(rows)
    distinct, columns, now = by_key(cells), columns and ("key", *columns), time.time()
    with Store(plans[0].store) as store:
        stored = store.cells(distinct, columns)
        done = set() if fresh else {key for key in stored["key"] if distinct[key].is_kept}
        if trials and not fresh:
            done |= overflowed(store, distinct)
        run = _Run(done)
        if missing := [cell for key, cell in distinct.items() if key not in done]:
            check_data(missing)
            executor = executor_for(plans[0], missing, jobs)
            missing = _prepared(missing, executor, store, progress)
            how: dict[str, Any] = {"curves": not trials, "since": None if fresh else now}
            _run_missing(run, run_cells(missing, executor, store, len(distinct), progress, **how), fail_fast)
            stored = store.cells(distinct, columns)
        if run.taken and progress:
            said = f"another run on the same store finished {counted(run.taken, 'cell')} meanwhile"
            print(f"{said}; they were not run again", file=sys.stderr, flush=True)
        return Outcome(
            planned=planned_of(rows),
            cells=in_order(stored, cells),
            failed=[run.failed[key] for key in distinct if key in run.failed],
            requested=len(cells),
            ran=run.ran,
            reused=sum(cell.key in run.done for cell in cells),
            seconds=time.perf_counter() - began,
            interrupted=run.interrupted,
            stale={} if trials else stale_cells(store, distinct),
        )


@dataclass
class _Run:
    """How far a run is: keys that it need not run, lines of cells that failed, cells that another run had."""

    done: set[str]
    failed: dict[str, dict[str, Any]] = field(default_factory=dict)
    taken: int = 0
    ran: int = 0
    interrupted: bool = False


def _prepared(missing: list[Cell], executor: Executor, store: Store, progress: bool) -> list[Cell]:
    """Return missing cells in the order in which they are to begin; memory suffices, the store is open."""
    missing = in_turn(missing, executor.workers)
    if progress and (hint := idle_cores(missing, executor)):
        print(hint, file=sys.stderr, flush=True)
    if not executor.remote:
        for cell in {(id(cell.params), cell.data.content_hash): cell for cell in missing}.values():
            check_memory(cell)
    store.open()
    return in_own_order(missing, store.path, store.name)


def _run_missing(run: _Run, lines: Generator[dict[str, Any], None, None], fail_fast: bool) -> None:
    """Take the lines of cells as they finish, until all have, the first fails (fail_fast), or Ctrl-C."""
    try:
        with ctrl_c_kept() as check_ctrl_c, closing(lines):
            for line in lines:
                if line["status"] == TAKEN:
                    run.taken += 1
                    run.done.add(line["key"])
                    continue
                run.ran += 1
                if line["status"] == "failed":
                    run.failed[line["key"]] = line
                    if fail_fast:
                        break
                check_ctrl_c()
    except KeyboardInterrupt:
        run.interrupted = True


def overflowed(store: Store, keys: Collection[str]) -> set[str]:
    """Return those of the keys whose predictions overflowed when they were last run."""
    return {line["key"] for line in store.failed(keys) if line["error"].startswith(Overflow.__name__)}


def in_turn(cells: list[Cell], workers: int) -> list[Cell]:
    """Return cells in the order in which they are to begin.

    The cheapest come first, so that a run that is interrupted has finished many. From where the longest takes
    a good part of the time that is left, the longest come first, so that no worker is left alone with it.
    """
    cells = sorted(cells, key=lambda cell: cell.cost)
    left, begun = sum(cell.cost for cell in cells), 0
    while begun < len(cells) and cells[-1].cost * workers < PART * left:
        left -= cells[begun].cost
        begun += 1
    return cells[:begun] + sorted(cells[begun:], key=lambda cell: -cell.cost if workers > 1 else cell.cost)


def executor_for(plan: Plan, missing: list[Cell], jobs: int | None) -> Executor:
    """Return the executor of a plan; a small amount of work of omkl's own learners runs in this process."""
    executor = make_executor(plan.exec, jobs)
    small = executor.workers == 1 or len(missing) == 1 or sum(cell.cost for cell in missing) < SMALL_WORK
    safe = not any(map(_has_own_code, missing))  # which may crash the process that runs it
    if executor.name == "loky" and small and safe:
        return make_executor({"name": "serial", "threads": executor.threads})
    return executor


def _has_own_code(cell: Cell) -> bool:
    """Whether a cell runs a user's learner or kernel, or a stack of them."""
    members = members_of(cell.spec, cell.params)
    pools = [member.kernel_pool for member in members] or [cell.kernel_pool]
    kernels = [kernel for pool in pools if pool for kernel in pool["kernels"]]
    sources = [source(member.spec) for member in members] or [cell.source]
    return any(sources) or any(SOURCE in kernel for kernel in kernels)


def idle_cores(missing: list[Cell], executor: Executor) -> str:
    """Return a hint where long cells would leave cores idle that could share a pass, else nothing."""
    cores, count = provenance.cores(), len(missing)
    long = [
        cell
        for cell in missing
        if cell.cost > LONG_CELL and (cell.spec.is_stack or may_share(cell.spec.state))
    ]
    threads = cores // count
    if executor.remote or executor.threads > 1 or threads < 2 or not long:
        return ""
    cells = counted(count, "cell")
    return f"{cells} on {cores} cores: with exec.threads={threads} each cell can use {threads} of them"


def cells_of(rows: Iterable[Iterable[Expanded]]) -> list[Cell]:
    """Return the cells of the rows of plans."""
    return [cell for of_plan in rows for _, cells in of_plan for cell in cells]


def planned_of(rows: Iterable[Iterable[Expanded]]) -> tuple[tuple[PlannedRow, ...], ...]:
    """Return the rows of plans as an `Outcome` has them."""
    return tuple(tuple(row for row, _ in of_plan) for of_plan in rows)


def by_key(cells: list[Cell]) -> dict[str, Cell]:
    """Return the cells by their keys, the first of each."""
    distinct: dict[str, Cell] = {}
    for cell in cells:
        distinct.setdefault(cell.key, cell)
    return distinct


def stale_cells(store: Store, cells: Mapping[str, Cell]) -> dict[tuple[str, int | str], int]:
    """Count stored cells like these of older revisions, and of other sources of a folder's learners."""
    keys = [(cell.spec.name, cell.older_keys()) for cell in cells.values()]
    older = {key: (name, old) for name, old_keys in keys for key, old in old_keys.items()}
    return dict(Counter(older[key] for key in store.done(older)) + _other_sources(store, cells))


def _other_sources(store: Store, cells: Mapping[str, Cell]) -> Counter[tuple[str, int | str]]:
    names = [field.name for field in KEYED if field.name not in ("source", "revision")]
    foreign = [cell.setting for cell in cells.values() if cell.source and cell.is_kept]
    sources = {_as_text(map(line.get, names)): line["source"] for line in foreign}
    if not foreign:
        return Counter()
    counts: Counter[tuple[str, int | str]] = Counter()
    learners = {line["algo"] for line in foreign}
    stored = store.cells(columns=(*names, "source", "revision"), where={"algo": learners})
    for row in stored.to_dict("records"):
        current = sources.get(_as_text(row[name] for name in names))
        if row["source"] and current and row["source"] != current:
            counts[row["algo"], f"{row['revision']} with another source"] += 1
    return counts


def _as_text(setting: Iterable[Any]) -> str:
    """Return a cell's setting as text; a frame's column with gaps has NaN for None, and 1.0 for 1."""
    values = [None if isinstance(value, float) and math.isnan(value) else value for value in setting]
    plain = [int(each) if isinstance(each, float) and each.is_integer() else each for each in values]
    return dumps(plain, sort_keys=True)


def run_cells(
    missing: list[Cell],
    executor: Executor,
    store: Store,
    total: int,
    progress: bool,
    curves: bool = True,
    since: float | None = None,
) -> Generator[dict[str, Any], None, None]:
    """Run cells in the order given and yield each line once it is stored; curves: with their curves.

    since: a cell that another run on the store has finished since then (as of time.time()) is not run; its
    line has the status TAKEN, and no figures.
    """
    if not executor.remote:
        warm_up_once((cell.spec, cell.params, cell.data.n_classes) for cell in missing)
        compile_kernels(cell.kernel_pool for cell in missing)
    origin = provenance.collect(executor.name, executor.workers, executor.threads)
    if executor.threads > 1:
        missing = [replace(cell, threads=executor.threads) for cell in missing]
    run = run_cell
    if since is not None and not executor.remote:  # workers on other machines may not see the store
        run = partial(unless_finished, store.path, store.name, since, run_cell)
    with (
        Bar(missing, total, progress, executor.remote) as bar,
        closing(executor.run(run, bar.cells)) as outcomes,
    ):
        for cell, outcome in outcomes:
            bar.finished(cell)
            if outcome == TAKEN:
                yield {"key": cell.key, "status": TAKEN}
                continue
            prepared = {"prepared": cell.data.prepared} if cell.data.prepared else {}
            line = {"key": cell.key, **cell.setting, "provenance": origin | provenance.stamp() | prepared}
            yield _stored(store if cell.is_kept else store.beside(), line, outcome, curves)


def _stored(store: Store, line: dict[str, Any], outcome: Any, curves: bool) -> dict[str, Any]:
    if not isinstance(outcome, Failure):
        figures = {name: value for name, value in outcome.items() if name not in ("curve", "provenance")}
        finished = {"status": "ok", **line, **figures}
        finished["provenance"] |= outcome.get("provenance", {})  # of a worker on another machine
        try:
            store.append(finished, outcome.get("curve") if curves else None)
            return finished
        except (ValueError, TypeError) as error:
            outcome = Failure(f"its figures cannot be stored: {error}")
    broken = {"status": "failed", **line, "error": outcome.error, "traceback": outcome.trace}
    broken["provenance"] |= outcome.provenance
    store.append(broken)
    return broken


def frame_of_cells(store: Store, cells: list[Cell], columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return the finished ones of these cells in their order, one row each, under the names of the plan.

    columns: as of `Store.cells`; the keys are among them
    """
    return in_order(store.cells({cell.key for cell in cells}, columns and ("key", *columns)), cells)


def in_order(stored: "pd.DataFrame", cells: list[Cell]) -> "pd.DataFrame":
    """Return stored cells in the order of these, as of ``frame_of_cells``.

    A result may have been stored under another name of the same data or pool, for another base seed that led
    to the same order, or with the number of a budget that the plan gives as another learner's size.
    """
    import pandas as pd

    place = {key: number for number, key in enumerate(stored["key"])}
    finished = [cell for cell in cells if cell.key in place]
    cells_in_order = stored.iloc[[place[cell.key] for cell in finished]].reset_index(drop=True)
    columns: dict[str, list[Any]] = {
        "data": [cell.data.name for cell in finished],
        "pool": [cell.pool and cell.pool["name"] for cell in finished],
        "rep": [cell.rep for cell in finished],
        "seed": [cell.seed for cell in finished],
    }
    for name, values in columns.items():
        if name in cells_in_order:
            kind = object if name in OBJECTS else None  # equal names stay one object
            cells_in_order[name] = pd.Series(values, dtype=kind)
    cells_in_order["params"] = [cell.planned.stored for cell in finished]
    return cells_in_order


def stored_plans(plans: list[Plan], columns: Sequence[str] | None = None) -> tuple[Outcome, list[str]]:
    """Return what ``run_plans`` would if it ran nothing, and warnings about settings that are unknown yet.

    columns: of the cells, as of ``run_plans``
    Such is a budget that matches a size, until the learner that it matches has finished. Raises UserError
    for data that are not available, OmklError when the store cannot be read.
    """
    began = time.perf_counter()
    rows: list[list[Expanded]] = []
    warnings: list[str] = []
    for plan in plans:
        try:
            rows.append(expanded(plan))
        except SizeUnknown as error:
            warnings.append(str(error))
            rows.append(expanded(plan, budgets={}))
    cells, store = cells_of(rows), Store(plans[0].store)
    distinct = by_key(cells)
    finished = frame_of_cells(store, cells, columns)
    outcome = Outcome(
        planned=planned_of(rows),
        cells=finished,
        failed=store.failed(distinct),
        requested=len(cells),
        ran=0,
        reused=len(finished),
        seconds=time.perf_counter() - began,
        interrupted=False,
        stale=stale_cells(store, distinct),
    )
    return outcome, list(dict.fromkeys(warnings))
