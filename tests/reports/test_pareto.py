"""The front of error and cost."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from support.drawn import draw_pareto

from omkl.errors import UserError
from omkl.reports.charts import costs_of, front
from omkl.reports.figure_style import FigureStyle, in_style


def test_the_front_is_what_no_other_beats_in_both():
    cost = [1.0, 2.0, 2.0, 3.0, 4.0, np.nan]
    error = [9.0, 5.0, 6.0, 5.0, 1.0, 0.0]
    assert front(cost, error) == [0, 1, 4]
    assert front([1.0, 1.0], [2.0, 2.0]) == [0]
    assert front([2.0, 1.0], [1.0, 1.0]) == [1]


def table(**more):
    rows = {
        "data": ["one"] * 4,
        "task": "classification",
        "measure": "mistake_pct",
        "line": ["quick", "slow", "best", "none"],
        "mistake_pct_mean": [20.0, 25.0, 10.0, np.nan],
        "mistake_pct_std": np.nan,
        "per_1000": [0.1, 2.0, 1.0, 1.0],
        "n_sv_sum_mean": [0.0, 50.0, 80.0, 10.0],
        "features": [100.0, np.nan, np.nan, np.nan],
    }
    return pd.DataFrame(rows | more)


def test_size_is_vectors_or_features_and_unfinished_rows_are_left_out():
    sizes = costs_of(table(), "size")
    assert dict(zip(sizes["line"], sizes["cost"], strict=True)) == {"quick": 100, "slow": 50, "best": 80}
    assert "none" not in set(costs_of(table(), "time")["line"])
    with pytest.raises(UserError, match="known: time, size"):
        costs_of(table(), "money")


def test_memory_is_a_cost():
    own = costs_of(table(memory_mib_mean=[1.5, 0.5, 2.0, 1.0]), "memory")
    assert dict(zip(own["line"], own["cost"], strict=True)) == {"quick": 1.5, "slow": 0.5, "best": 2.0}
    (axes,) = draw_pareto(own, "memory").axes
    assert axes.get_xlabel() == "memory of one pass (MiB)"
    assert list(axes.lines[1].get_xdata()) == [0.5, 1.5, 2.0]


def test_the_figure_names_the_front_and_the_least_errors():
    figure = draw_pareto(costs_of(table(), "time"), "time", title="Fronts")
    (axes,) = figure.axes
    assert {text.get_text() for text in axes.texts} == {"quick", "best", "slow"}
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "seconds for 1000 examples"
    joined = axes.lines[1]
    assert list(joined.get_xdata()) == [0.1, 1.0]
    with pytest.raises(UserError, match="no learner"):
        draw_pareto(costs_of(table(), "time").iloc[:0], "time")


def test_where_more_is_better_the_front_is_of_the_largest_and_the_axis_upside_down():
    shares = {"measure": "auc", "auc_mean": [0.6, 0.9, 0.8, np.nan], "auc_std": np.nan}
    own = costs_of(table(**shares), "time")
    (axes,) = draw_pareto(own, "time", title="Fronts").axes
    assert list(axes.lines[1].get_xdata()) == [0.1, 1.0, 2.0]  # each dearer one is better
    low, high = axes.get_ylim()
    assert low > 0.9 > 0.6 > high
    assert axes.get_ylabel() == "AUC"


def many(count: int = 30):
    """A constant answer that is quick and bad, and learners whose errors are close."""
    errors = [40.0, *np.linspace(10.0, 12.0, count)]
    rows = {
        "data": "one",
        "task": "classification",
        "measure": "mistake_pct",
        "line": ["constant", *(f"learner number {place}" for place in range(count))],
        "mistake_pct_mean": errors,
        "mistake_pct_std": np.nan,
        "per_1000": [0.001, *(1.0 + 0.02 * np.arange(count)[::-1])],
        "n_sv_sum_mean": 1.0,
        "features": np.nan,
    }
    return costs_of(pd.DataFrame(rows), "time")


def test_a_constant_answer_far_above_is_at_the_edge_with_its_value():
    (axes,) = draw_pareto(many(), "time").axes
    assert max(axes.get_ylim()) < 15
    assert "constant 40.00 ↑" in {text.get_text() for text in axes.texts}


def test_no_two_names_overlap():
    figure = draw_pareto(many(), "time")
    for text in figure.axes[0].texts:
        text.get_window_extent()  # puts it in its place
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]  # without leaders
    assert len(boxes) > 8
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])


def test_the_y_axis_is_the_one_that_is_wanted():
    with in_style(FigureStyle(ylim=(5.0, 50.0))):
        (axes,) = draw_pareto(many(), "time").axes
    assert axes.get_ylim() == (5.0, 50.0)
    assert not any("↑" in text.get_text() for text in axes.texts)
