"""From the DataFrame of cells to a table, a figure, a file: what the command line calls.

expected = Expected.of(plan, outcome.failed, command)          what rows there should be
text = report(outcome.cells, expected, "table")             omkl run
text, files = sweep_report(outcome.cells, expected, fmt, out)   omkl sweep
files = curve_figure(cells, store.curves(cells["key"]), out, expected=expected)   omkl figure curve

The papers' other figures have modules of their own: panels (a measure over time), sensitivity (over a
hyperparameter), ranks and rank_figure (over data sets), times, digits.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.reports.expected import Expected

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["FORMATS", "Expected", "curve_figure", "report", "summarise", "sweep_report"]


def report(cells: "pd.DataFrame", expected: Expected, fmt: str = "table") -> str:
    """Return the table of the cells as text; see tables.render (formats), summary.summarise (rows)."""
    from omkl.reports.formats import check_format
    from omkl.reports.summary import summary_of
    from omkl.reports.tables import render

    check_format(fmt)
    return render(summary_of(cells, expected), cells, expected, fmt)


def summarise(cells: "pd.DataFrame", *args: Any, **kwargs: Any) -> "pd.DataFrame":
    """Average cells over repetitions; see summary.summarise."""
    from omkl.reports.summary import summarise as build

    return build(cells, *args, **kwargs)


def sweep_report(
    cells: "pd.DataFrame", expected: Expected, fmt: str = "table", out: str | Path | None = None
) -> tuple[str, list[Path]]:
    """Return a sweep's text and the figure files written; see sweep.sweep_report."""
    from omkl.reports.sweep import sweep_report as build

    return build(cells, expected, fmt, out)


def curve_figure(
    cells: "pd.DataFrame",
    curves: dict[str, dict],
    out: str | Path,
    *,
    expected: Expected | None = None,
    title: str = "",
) -> list[Path]:
    """Draw learning curves and return the files written; see curves.curve_figure."""
    from omkl.reports.curves import curve_figure as draw

    return draw(cells, curves, out, expected=expected, title=title)
