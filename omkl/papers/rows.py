"""Which cells are the repetitions of which row of a paper's table, and how the rows are ordered."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from omkl.data.files import data_name
from omkl.papers.paper import Run
from omkl.papers.selection import Work, listed_data
from omkl.reports.expected import Expected
from omkl.reports.rows import Row, identity

if TYPE_CHECKING:
    import pandas as pd

    from omkl.config import Setting


def rows_of_work(work: Work, cells: "pd.DataFrame", expected: Expected) -> list[tuple[Row, Run]]:
    """Return the rows with the run that each belongs to: data sets in the order the runs list them.

    In a data set the learners come in the order of the runs, then the yardsticks. A setting that two runs
    have is one row, of the run with more repetitions; a setting that is a learner of one run is no yardstick.
    cells: as of ``Outcome.cells``.
    """
    places, tasks = _places(cells), dict(zip(cells["data"], cells["task"], strict=True))
    table: dict[tuple, tuple[Row, Run]] = {}
    for run, data in work.missing:
        for algo in [] if run.extra else _algos(run):
            row = Row(data, "", algo, {}, None, False, expected.tasks(algo)[0], [], run.labels.get(algo), 0)
            table[data, run.name, algo] = (row, run)
    for run, data, order, reps, setting, is_yardstick in _wanted(work):
        shown, data = work.stands_in.get(data), data if data in tasks else data_name(data)
        key = (data, order, identity(setting.algo, setting.params, setting.pool))
        known = table.get(key)
        if known and (is_yardstick or known[0].planned >= reps):
            continue
        task = tasks.get(data)
        task = task if isinstance(task, str) else "classification"
        if is_yardstick and task not in expected.tasks(setting.algo):
            continue
        own = [at for rep, at in sorted(places.get(key, {}).items()) if rep < reps]
        pool = setting.pool["name"] if setting.pool else None
        label = None if is_yardstick else run.labels.get(setting.algo)
        row = Row(
            shown or data,
            order,
            setting.algo,
            dict(setting.params),
            pool,
            is_yardstick,
            task,
            own,
            label,
            reps,
        )
        row.per_data = () if is_yardstick else _per_data(run)
        table[key] = (row, run)
    order = {name: place for place, name in enumerate(_data_in_order(work))}
    return sorted(
        table.values(), key=lambda pair: (order.get(pair[0].data, len(order)), pair[0].is_yardstick)
    )


def _wanted(work: Work) -> "Iterator[tuple[Run, str, str, int, Setting, bool]]":
    """Yield what the rows should be: all learners first, so that a yardstick among them is none."""
    for is_yardstick in (False, True):
        for part in work.parts:
            plan = part.plan
            for data in plan.data:
                for setting in plan.yardsticks if is_yardstick else plan.settings:
                    if setting.fits(plan.task_of(data)):
                        yield part.run, data, plan.order, plan.reps, setting, is_yardstick


def _places(cells: "pd.DataFrame") -> dict[tuple, dict[int, int]]:
    """Return the positions of the cells by data set, order and setting, then by repetition."""
    places: dict[tuple, dict[int, int]] = {}
    memo: dict[tuple, str] = {}  # cells share their params and pool objects: dump each pair once
    names = ("data", "order", "algo", "params", "pool_spec", "rep")
    columns = (cells[name] for name in names)
    for at, (data, order, algo, params, pool, rep) in enumerate(zip(*columns, strict=True)):
        which = (algo, id(params), id(pool))
        if which not in memo:
            memo[which] = identity(algo, params, pool if isinstance(pool, dict) else None)
        places.setdefault((data, order, memo[which]), {}).setdefault(rep, at)
    return places


def _algos(run: Run) -> list[str]:
    algos = run.words["algo"]
    return [algos] if isinstance(algos, str) else list(algos)


def _per_data(run: Run) -> tuple[str, ...]:
    """Return the hyperparameters that a run sets for some of its data sets."""
    keys = dict.fromkeys(key for words in run.per_data.values() for key in words)
    return tuple(key.removeprefix("algo.") for key in keys if key.startswith("algo."))


def _data_in_order(work: Work) -> list[str]:
    runs = {run.name: run for run in [*(part.run for part in work.parts), *(run for run, _ in work.missing)]}
    listed = dict.fromkeys(name for run in runs.values() for name in listed_data(run))
    return list(dict.fromkeys([*listed, *work.data]))
