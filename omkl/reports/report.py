"""The text of a run and of a sweep, with its best settings and its figure."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.errors import UserError
from omkl.reports.display import FURTHER, everything
from omkl.reports.grid import at_boundaries, axes_of
from omkl.reports.measures import BY_TASK, errors_of
from omkl.reports.notes import heading, legend, notes
from omkl.reports.plain_table import check_format
from omkl.reports.rows import Expected
from omkl.reports.summary import summary_of
from omkl.reports.table_text import to_csv, to_json, write
from omkl.reports.view import USUAL, View, word_of

if TYPE_CHECKING:
    import pandas as pd

TITLES = {"best": "best setting per data set and learner (chosen on these permutations, hence optimistic)"}


def report(cells: "pd.DataFrame", expected: Expected, fmt: str = "table", view: View = USUAL) -> str:
    """Return the table of the cells as text that ends with a newline; see summary.summary_of for its rows.

    fmt: "table" for the terminal, "json" (strict: no NaN), "csv" (one line per row, full precision),
    "markdown", "latex" (booktabs). view: order of the rows, and columns of a table for readers. Raises
    UserError for an unknown format or column.
    """
    return _text({"summary": summary_of(cells, expected)}, cells, expected, fmt, view)


def sweep_report(
    cells: "pd.DataFrame",
    expected: Expected,
    fmt: str = "table",
    out: str | Path | None = None,
    view: View = USUAL,
) -> tuple[str, list[Path]]:
    """Return the text of a sweep and the figure files written.

    Text: the long table (a row per setting, a column per swept hyperparameter), then the best settings where
    several have finished; in JSON under "summary", "best", "cells"; CSV holds the long table. out: as in
    figure_style.save, None for no figure; there is none either when no learner has finished a cell. view: as
    in ``report``.

    Raises UserError for an unknown format, OmklError when the figure cannot be written.
    """
    summary = summary_of(cells, expected)
    swept, best = swept_names(summary, expected), best_settings(summary)
    remarks = at_boundaries(summary, best, expected)
    done = summary[summary["reps"] > 0]
    chosen = {"best": best} if fmt == "json" or len(best) < len(done) else {}
    text = _text({"summary": summary, **chosen}, cells, expected, fmt, view, swept, remarks)
    if out is None:
        return text, []
    from omkl.reports import charts, drawing

    figure = charts.sweep(summary, command=expected.command)
    return text, drawing.save(figure, out) if figure else []


def check_view(cells: "pd.DataFrame", expected: Expected, fmt: str, view: View, sweep: bool) -> None:
    """Raise UserError for columns that the table of a run or of a sweep cannot have, before any cell runs.

    cells: none, with the columns of a store
    """
    if not view.columns:
        return
    _check_columns(fmt, view)
    summary = summary_of(cells, expected)
    table = everything(summary, swept_names(summary, expected) if sweep else ())
    # what is measured is known only when cells have run
    names = [column.name for column in table.columns]
    names += [measure.name for measure in BY_TASK.values()] + [measure.name for measure in FURTHER]
    view.check([*dict.fromkeys(map(word_of, names))])


def _check_columns(fmt: str, view: View) -> None:
    if view.columns and fmt in ("json", "csv"):
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


def _text(
    summaries: "Mapping[str, pd.DataFrame]",
    cells: "pd.DataFrame",
    expected: Expected,
    fmt: str,
    view: View,
    swept: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> str:
    """Return summaries by name as text; warnings and terms are those of the first, CSV holds it alone.

    swept: hyperparameters that get columns of their own    remarks: more warnings
    """
    check_format(fmt)
    _check_columns(fmt, view)
    summaries = {name: view.sorted(summary) for name, summary in summaries.items()}
    first = next(iter(summaries.values()))
    warnings = [*notes(first, cells, expected), *remarks]
    if fmt == "json":
        return to_json({**summaries, "cells": cells}, warnings)
    if fmt == "csv":
        return to_csv(csv_table(first, swept), warnings)
    tables = [
        (TITLES.get(name), view.chosen(everything(summary, swept))) for name, summary in summaries.items()
    ]
    terms = legend(tables[0][1], first, cells)
    return write(tables, terms, warnings, heading(first, cells), expected.command, fmt)
