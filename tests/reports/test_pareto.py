"""The front of error and cost."""

import numpy as np
import pandas as pd
import pytest
from support.drawn import draw_pareto

from omkl.errors import UserError
from omkl.reports.charts import costs_of, front


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
