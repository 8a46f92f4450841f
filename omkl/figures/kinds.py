"""The figures of a user's own runs and sweeps, by the word of the command."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.data import registry
from omkl.errors import UserError
from omkl.estimators.arguments import USUAL_POOL
from omkl.figures.costs import times_figure
from omkl.figures.curves import learning_curves
from omkl.figures.figure import Figure
from omkl.figures.figure_names import file_stem
from omkl.figures.matrices import confusion
from omkl.figures.rank_diagram import rank_figure
from omkl.figures.reliability import reliability_diagram
from omkl.figures.sweeps import sweep_figure
from omkl.reports.grid import grid_table
from omkl.reports.measures import PAIR
from omkl.reports.ranks import average_ranks
from omkl.reports.rows import ReportPlan, Row, rows_of
from omkl.reports.summary import summary_of_rows

if TYPE_CHECKING:
    import pandas as pd


def figure_named(
    kind: str,
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    measures: Sequence[str] = PAIR,
    rows: list[Row] | None = None,
) -> Figure:
    """Return a figure of a run's or a sweep's cells: curve, confusion, calibration, sweep, times or ranks.

    curves: as of mean_curves; it and the measures are for learning curves. rows: as of rows_of, made here
    where None. Raises UserError where the cells have nothing to draw.
    """
    rows = rows_of(cells, expected) if rows is None else rows
    word = measures[0] if kind == "curve" and len(measures) == 1 else kind
    finished = [row for row in rows if row.cells]
    shown = [row for row in finished if not row.is_yardstick] or finished
    names = dict.fromkeys(row.learner for row in shown), dict.fromkeys(row.data for row in shown)
    name = file_stem(word, *names, also=_particulars(cells, expected))
    return replace(_made(kind, cells, curves, expected, measures, rows), name=name)


def _made(
    kind: str,
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    measures: Sequence[str],
    rows: list[Row],
) -> Figure:
    if kind == "curve":
        return learning_curves(cells, curves, expected, rows, measures)
    if kind == "confusion":
        return confusion(cells, expected, rows)
    if kind == "calibration":
        return reliability_diagram(cells, expected, rows)
    summary = summary_of_rows(rows, cells, expected).assign(per_data=[row.per_data for row in rows])
    if kind == "ranks":
        return rank_figure(average_ranks(summary), command=expected.command)
    if kind == "times":
        return times_figure(grid_table(summary[summary["reps"] > 0]), command=expected.command)
    if figure := sweep_figure(summary, command=expected.command):
        return figure
    raise UserError("no learner has finished a cell: nothing to draw")


def _particulars(cells: "pd.DataFrame", expected: ReportPlan) -> Iterator[str]:
    """Yield what the names of learners and data sets do not say: contents of own files, unusual settings.

    Figures of two files called train.csv, of sweeps over other grids, and by other measures, have files of
    their own.
    """
    if expected.by:
        yield f"by={expected.by}"
    if len(cells):
        for name, content in cells[["data", "data_hash"]].drop_duplicates().itertuples(index=False):
            if not registry.entry_of(str(name), str(content)):
                yield str(content)
    for setting in expected.settings:
        spec = expected.specs.get(setting.learner)
        pool = setting.pool["name"] if setting.pool else None
        is_usual = spec is not None and pool in (None, spec.usual_pool or USUAL_POOL)
        if spec is None or not is_usual or spec.unusual(setting.stored, setting.task or spec.tasks[0]):
            yield json.dumps([setting.learner, setting.stored, pool], sort_keys=True, default=str)
