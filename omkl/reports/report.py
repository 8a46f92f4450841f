"""The tables of a run and of a sweep, with its best settings and its figure."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.errors import UserError
from omkl.reports.grid import at_boundaries, axes_of
from omkl.reports.measures import BY_TASK, errors_of
from omkl.reports.notes import heading, legend, notes
from omkl.reports.results_table import FURTHER, USUAL, TableOptions, full_table, word_of
from omkl.reports.rows import Expected
from omkl.reports.summary import summary_of
from omkl.reports.table import Table, check_format

if TYPE_CHECKING:
    import pandas as pd

BEST = "best setting per data set and learner (chosen on these permutations, hence optimistic)"


def report(
    cells: "pd.DataFrame", expected: Expected, fmt: str = "table", options: TableOptions = USUAL
) -> str:
    """Return the table of the cells as text that ends with a newline; see summary.summary_of for its rows.

    fmt: as of Table.render    options: order of the rows, and columns of a table for readers. Raises
    UserError for an unknown format or column.
    """
    _check_columns(fmt, options)
    return run_table(summary_of(cells, expected), cells, expected, options).render(fmt)


def run_table(
    summary: "pd.DataFrame",
    cells: "pd.DataFrame",
    expected: Expected,
    options: TableOptions = USUAL,
    swept: Sequence[str] = (),
) -> Table:
    """Return the table of a summary, with its terms and the warnings about its rows.

    swept: hyperparameters that get columns of their own
    """
    summary = options.sorted(summary)
    table = options.chosen(full_table(summary, swept))
    return replace(
        table,
        shared=heading(summary, cells),
        terms=legend(table, summary, cells),
        warnings=notes(summary, cells, expected),
        command=expected.command,
        records={"summary": summary, "cells": cells},
        flat=partial(csv_table, summary, swept),
    )


def sweep_table(
    summary: "pd.DataFrame", cells: "pd.DataFrame", expected: Expected, options: TableOptions = USUAL
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
    records = {"summary": options.sorted(summary), "best": chosen, "cells": cells}
    return replace(table, also=also, warnings=warnings, records=records)


def sweep_report(
    cells: "pd.DataFrame",
    expected: Expected,
    fmt: str = "table",
    out: str | Path | None = None,
    options: TableOptions = USUAL,
) -> tuple[str, list[Path]]:
    """Return the text of a sweep and the figure files written.

    out: as in figure_style.save, None for no figure; there is none either when no learner has finished a
    cell. options: as in ``report``. Raises UserError for an unknown format, OmklError when the figure cannot
    be written.
    """
    _check_columns(fmt, options)
    summary = summary_of(cells, expected)
    text = sweep_table(summary, cells, expected, options).render(fmt)
    if out is None:
        return text, []
    from omkl.reports import charts, drawing

    figure = charts.sweep(summary, command=expected.command)
    return text, drawing.save(figure, out) if figure else []


def check_options(
    cells: "pd.DataFrame", expected: Expected, fmt: str, options: TableOptions, sweep: bool
) -> None:
    """Raise UserError for columns that the table of a run or of a sweep cannot have, before any cell runs.

    cells: none, with the columns of a store
    """
    if not options.columns:
        return
    _check_columns(fmt, options)
    summary = summary_of(cells, expected)
    table = full_table(summary, swept_names(summary, expected) if sweep else ())
    # what is measured is known only when cells have run
    names = [column.name for column in table.columns]
    names += [measure.name for measure in BY_TASK.values()] + [measure.name for measure in FURTHER]
    options.check([*dict.fromkeys(map(word_of, names))])


def _check_columns(fmt: str, options: TableOptions) -> None:
    check_format(fmt)
    if options.columns and fmt in ("json", "csv"):
        raise UserError(f"--columns has no effect with --format {fmt}, which has all columns")


def swept_names(summary: "pd.DataFrame", expected: Expected) -> list[str]:
    """Return the swept hyperparameters, which get columns of their own: none where one setting was run."""
    swept = [key.split(".")[1] for key in expected.swept if key.startswith("algo.")]
    swept = swept or [name.split(".")[0] for name in axes_of(summary)]
    return [name for name in dict.fromkeys(swept) if any(name in params for params in summary["params"])]


def csv_table(summary: "pd.DataFrame", swept: Sequence[str] = ()) -> "pd.DataFrame":
    """Return a summary as its CSV holds it; swept: hyperparameters that get columns of their own."""
    table = summary.drop(columns="shown")
    for name in swept:
        values = [params.get(name) for params in table["params"]]
        table.insert(table.columns.get_loc("settings"), f"algo.{name}", values)
    table["params"] = [json.dumps(params, sort_keys=True) for params in table["params"]]
    return table


def best_settings(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return of each data set and learner the row with the lowest mean error of its task, and the yardsticks.

    Over all hyperparameters and pools; ties go to fewer support vectors, then to the earlier row. Marks are
    those of the whole grid. Learners of which nothing has finished are left out.
    """
    done = summary[summary["reps"] > 0]
    order = done.assign(error=errors_of(done)).sort_values(["error", "n_sv_sum_mean"], kind="stable")
    chosen = order.drop_duplicates(["data", "algo", "label", "is_yardstick"]).index
    return summary.loc[sorted(chosen)].reset_index(drop=True)
