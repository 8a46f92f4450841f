"""A grid of settings: its axes, the best setting of each learner on each data set, its report."""

from pathlib import Path
from typing import TYPE_CHECKING

from omkl.reports.expected import Expected
from omkl.reports.formats import check_format
from omkl.reports.measures import BY_TASK, learners_of
from omkl.reports.summary import summary_of
from omkl.reports.sweep_grid import axes_of
from omkl.reports.tables import render

if TYPE_CHECKING:
    import pandas as pd

BEST_TITLE = "best setting per data set and learner (chosen on these permutations, hence optimistic)"


def best_settings(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return of each data set and learner the row with the lowest mean error, yardsticks included.

    The error is the mistake rate, of a regression the mean squared error.

    Over all hyperparameters and pools; ties go to fewer support vectors, then to the earlier row. Marks are
    those of the whole grid. Learners of which nothing has finished are left out.
    """
    done = summary[summary["reps"] > 0]
    errors = [row[f"{BY_TASK[row['task']].name}_mean"] for row in done.to_dict("records")]
    order = done.assign(error=errors).sort_values(["error", "n_sv_sum_mean"], kind="stable")
    chosen = order.drop_duplicates(["data", "algo", "label", "is_yardstick"]).index
    return summary.loc[sorted(chosen)].reset_index(drop=True)


def swept_names(summary: "pd.DataFrame", expected: Expected) -> list[str]:
    """Return the hyperparameters that get columns of their own: the swept ones, as told or as found."""
    told = [key.split(".")[1] for key in expected.swept if key.startswith("algo.")]
    names = dict.fromkeys(told or [name.split(".")[0] for name in axes_of(summary)])
    return [name for name in names if any(name in params for params in summary["params"])]


def sweep_report(
    cells: "pd.DataFrame", expected: Expected, fmt: str = "table", out: str | Path | None = None
) -> tuple[str, list[Path]]:
    """Return the text of a sweep and the figure files written.

    Text: the long table (a row per setting, a column per swept hyperparameter), then the best settings; in
    JSON under "summary", "best", "cells"; CSV holds the long table. out: as of curves.curve_figure, None for
    no figure; there is none either when no learner has finished a cell.

    Raises UserError for an unknown format, OmklError when the figure cannot be written.
    """
    check_format(fmt)
    summary = summary_of(cells, expected)
    name = "best" if fmt == "json" else BEST_TITLE
    text = render(
        summary,
        cells,
        expected,
        fmt,
        swept=swept_names(summary, expected),
        more={name: best_settings(summary)},
    )
    done = summary[summary["reps"] > 0]
    if out is None or done["is_yardstick"].all():
        return text, []
    from omkl.reports import style
    from omkl.reports.sweep_figure import draw_sweep

    own = learners_of(done)
    named = ("sweep", own["algo"], own["data"])
    return text, style.save(draw_sweep(summary), out, named, "Sweep", expected.command)
