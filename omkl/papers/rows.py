"""Which cells are the repetitions of which row of a paper's table, and how the rows are ordered."""

from typing import TYPE_CHECKING

from omkl.data.files import data_name
from omkl.papers.paper import Run
from omkl.papers.selection import Work
from omkl.reports.expected import Expected
from omkl.reports.rows import Row, identities, identity

if TYPE_CHECKING:
    import pandas as pd


def rows_of_work(work: Work, cells: "pd.DataFrame", expected: Expected) -> list[tuple[Row, Run]]:
    """Return the rows with the run that each belongs to: data sets in the order the runs list them.

    In a data set the learners come in the order of the runs, then the yardsticks. A setting that two runs
    have is one row, of the run with more repetitions; a setting that is a learner of one run is no yardstick.
    cells: as of ``Outcome.cells``.
    """
    tasks = dict(zip(cells["data"], cells["task"], strict=True))
    places: dict[tuple, dict[int, int]] = {}  # of the cells: by data set, order, setting; by repetition
    where = zip(cells["data"], cells["order"], identities(cells), cells["rep"], strict=True)
    for at, (*place, rep) in enumerate(where):
        places.setdefault(tuple(place), {}).setdefault(rep, at)
    table: dict[tuple, tuple[Row, Run]] = {}
    for run, data in work.missing:
        for learner in () if run.extra else run.learners:
            row = Row(
                data, "", learner, {}, None, False, expected.tasks(learner)[0], label=run.labels.get(learner)
            )
            table[data, run.name, learner] = (row, run)
    # All learners first, so that a learner among the yardsticks is none.
    for is_yardstick, (run, plan) in ((flag, part) for flag in (False, True) for part in work.parts):
        for path in plan.data:
            data = path if path in tasks else data_name(path)
            task = tasks.get(data)
            task = task if isinstance(task, str) else "classification"
            for setting in plan.yardsticks if is_yardstick else plan.settings:
                key = (data, plan.order, identity(setting.learner, setting.params, setting.pool))
                known = table.get(key)
                if known and (is_yardstick or known[0].planned >= plan.reps):
                    continue
                alien = is_yardstick and task not in expected.tasks(setting.learner)
                if alien or not setting.fits(plan.task_of(path)):
                    continue
                own = [at for rep, at in sorted(places.get(key, {}).items()) if rep < plan.reps]
                row = Row.of(setting, work.stands_in.get(path, data), plan.order, is_yardstick, task)
                row.cells, row.planned = own, plan.reps
                if not is_yardstick:
                    row.label, row.per_data = run.labels.get(setting.learner), run.per_data_params
                table[key] = (row, run)
    listed = [name for run in work.runs for name in run.data]
    order = {name: at for at, name in enumerate(dict.fromkeys([*listed, *work.data]))}
    return sorted(
        table.values(), key=lambda pair: (order.get(pair[0].data, len(order)), pair[0].is_yardstick)
    )
