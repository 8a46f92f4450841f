"""Figures of tables, described and drawn in one step, for tests of what is drawn."""

from collections.abc import Mapping
from typing import Any

from omkl.reports import charts
from omkl.reports.drawing import draw, write_files
from omkl.reports.measures import PAIR


def draw_curves(table: Any, names: tuple[str, ...] = PAIR, **more: Any) -> Any:
    """The curves of one table, which holds all of the measures."""
    return draw(charts.curves(dict.fromkeys(names, table), **more))


def curve_figure(cells: Any, curves: Mapping, out: Any, names: tuple[str, ...] = PAIR, **more: Any) -> Any:
    """The files of learning curves."""
    expected = more.pop("expected", None) or charts.ReportPlan()
    return write_files(charts.learning_curves(cells, curves, expected, names=names, **more), out)


def draw_sensitivity(table: Any, **more: Any) -> Any:
    return draw(charts.sensitivity(_filled(table), **more))


def _filled(table: Any) -> Any:
    """A table with the columns that a caption and the styles of lines are made of."""
    for name, value in (
        ("is_yardstick", False),
        ("reps", 1),
        ("order", "file"),
        ("seconds_std", float("nan")),
    ):
        if name not in table:
            table = table.assign(**{name: value})
    return table


def draw_sweep(summary: Any) -> Any:
    figure = charts.sweep(summary)
    assert figure is not None
    return draw(figure)


def draw_times(table: Any, **more: Any) -> Any:
    return draw(charts.times(_filled(table), **more))


def draw_pareto(*args: Any, **more: Any) -> Any:
    return draw(charts.pareto(*args, **more))


def draw_ranks(ranks: Any, **more: Any) -> Any:
    return draw(charts.ranks(ranks, **more))
