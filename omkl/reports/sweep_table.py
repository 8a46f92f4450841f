"""The table of a sweep: a row per setting, the best settings below it; in print a grid over two numbers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from omkl.config.parameters import shown_text
from omkl.errors import UserError
from omkl.reports.grid import at_boundaries, axes_of, grid_table
from omkl.reports.measures import best_first, measure_of
from omkl.reports.results_table import (
    OF_TASKS,
    USUAL,
    TableOptions,
    full_table,
    marked,
    measure_cells,
    run_table,
    word_of,
)
from omkl.reports.rows import ReportPlan
from omkl.reports.summary import summary_of
from omkl.reports.symbols import symbol
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING, Column, TableRow
from omkl.tasks import TASK_ERROR, measures_of

if TYPE_CHECKING:
    import pandas as pd

BEST = "best setting per data set and learner (chosen on these permutations, hence optimistic)"


def sweep_table(
    summary: "pd.DataFrame", cells: "pd.DataFrame", expected: ReportPlan, options: TableOptions = USUAL
) -> Table:
    """Return the long table of a sweep: a row per setting, a column per swept hyperparameter.

    The best settings are a table below it, where several have finished; in JSON they are under "best".
    """
    swept, best = swept_names(summary, expected), best_settings(summary)
    table = run_table(summary, cells, expected, options, swept)
    several = len(best) < (summary["reps"] > 0).sum()
    chosen = options.sorted(best)
    also = [replace(options.chosen(full_table(chosen, swept)), title=BEST)] if several else []
    warnings = [*table.warnings, *at_boundaries(summary, best, expected)]
    records = {"summary": options.sorted(summary), "best": chosen}
    records = {name: frame.drop(columns="ranked") for name, frame in records.items()} | {"cells": cells}
    in_print = _in_print(table, options.sorted(summary)) if not options.columns else []
    return replace(table, also=also, warnings=warnings, records=records, in_print=in_print)


def _in_print(table: Table, summary: "pd.DataFrame") -> list[Table]:
    """Return a sweep over two numbers as grids of means, and the rows that are in none; else nothing.

    summary: of the table's rows, in their order
    """
    axes = list(axes_of(summary))
    if len(axes) != 2:
        return []
    grid = grid_table(summary, axes)
    grids, rest = [], set(range(len(grid)))
    for (data, line), part in grid[~grid["is_yardstick"]].groupby(["data", "line"], sort=False):
        (across, columns), (down, rows) = (
            (name, sorted(part[f"at.{name}"].dropna().unique())) for name in axes
        )
        if min(len(columns), len(rows)) < 2 or not (part["reps"] > 0).any():
            continue
        rest -= set(part.index)
        measure = measure_of(part.iloc[0])
        means = measure_cells(measure, part, part)
        means = [
            marked(replace(cell, std=MISSING), row, measure)
            for cell, row in zip(means, part.to_dict("records"), strict=True)
        ]
        places = zip(part[f"at.{down}"], part[f"at.{across}"], strict=True)
        by_place = dict(zip(places, means, strict=True))
        lines = [
            TableRow(
                [shown_text(row), *(by_place.get((row, column), MISSING) for column in columns)], str(data)
            )
            for row in rows
        ]
        heads = [Column(down, symbol(down), "right")]
        heads += [Column(f"{across}={value}", shown_text(value), marks=True) for value in columns]
        title = f"{line} on {data}, {measure.header} over {symbol(across)} and {symbol(down)}"
        done = sorted({reps for reps in part["reps"] if reps})
        grids.append(replace(table, columns=heads, rows=lines, title=title, across=symbol(across), reps=done))
    if grids and any(not table.rows[at].is_yardstick for at in rest):  # the best table has the yardsticks
        grids.append(replace(table, rows=[table.rows[at] for at in sorted(rest)]))
    return grids


def check_options(
    cells: "pd.DataFrame",
    expected: ReportPlan,
    fmt: str,
    options: TableOptions,
    sweep: bool,
    tasks: Iterable[str] = TASK_ERROR,
) -> None:
    """Raise UserError for columns that the table of a run or of a sweep cannot have, before any cell runs.

    cells: none, with the columns of a store    tasks: of the data
    """
    if not options.columns:
        return
    if fmt in ("json", "csv"):
        raise UserError(f"--columns has no effect with --format {fmt}, which has all columns")
    summary = summary_of(cells, expected)
    table = full_table(summary, swept_names(summary, expected) if sweep else ())
    names = [name for name in (column.name for column in table.columns) if name not in OF_TASKS]
    # of which task the rows are is known only when cells have run
    names += ["mistake_pct", *(measure.name for task in tasks for measure in measures_of(task))]
    options.check([*dict.fromkeys(map(word_of, names))])


def swept_names(summary: "pd.DataFrame", expected: ReportPlan) -> list[str]:
    """Return the swept hyperparameters, which get columns of their own: none where one setting was run."""
    swept = [key.split(".")[-1] for key in expected.swept if key.startswith("algo.")]
    swept = swept or [name.split(".")[0] for name in axes_of(summary)]
    return [name for name in dict.fromkeys(swept) if any(name in params for params in summary["params"])]


def best_settings(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return of each data set and learner the row with the best mean of its measure, and the yardsticks.

    Over all hyperparameters and pools; ties go to fewer support vectors, then to the earlier row. Marks are
    those of the whole grid. Learners of which nothing has finished are left out.
    """
    done = summary[summary["reps"] > 0]
    chosen = best_first(done).drop_duplicates(["data", "algo", "label", "is_yardstick"]).index
    return summary.loc[sorted(chosen)].reset_index(drop=True)
