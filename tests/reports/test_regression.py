"""Tables and curves of regression and novelty cells, alone and next to classification."""

import json
import math

import numpy as np
import pytest
from support.reports_cells import cell, expected, frame, planned_in, repetitions, report, setting, summarise

from omkl.data import registry
from omkl.figures.curves import curves as drawn_curves
from omkl.reports.measures import mean_curves
from omkl.reports.sweep_table import best_settings

DD, SS = setting("omkc_dd"), setting("omkc_ss")


def regression(which, errors, data="air", **more):
    """One cell per mean squared error, in the order of the repetitions."""
    none = {"mistakes": None, "mistake_rate": None, "task": "regression", "n_sv_sum": 0, **more}
    none = {"data_hash": registry.entry("air").content_hash} | none if data == "air" else none
    return [cell(which, rep, 0, data) | none | {"mse": mse} for rep, mse in enumerate(errors)]


def test_the_best_is_by_mean_squared_error_and_tested():
    near, far = [0.010, 0.011, 0.012, 0.011, 0.011], [0.020, 0.0211, 0.022, 0.021, 0.021]
    cells = frame(*regression(DD, near), *regression(SS, far))
    table = summarise(cells).set_index("algo")
    assert table.loc["omkc_dd", "mse_e3_mean"] == pytest.approx(11.0)
    assert table.loc["omkc_dd", "mse_e3_std"] == pytest.approx(math.sqrt(0.5))
    assert math.isnan(table.loc["omkc_dd", "mistake_pct_mean"])
    assert table["best"].tolist() == table["marked"].tolist() == [True, False]
    assert table.loc["omkc_ss", "p_value"] < 0.01
    assert best_settings(summarise(cells))["algo"].tolist() == ["omkc_dd", "omkc_ss"]


def test_a_sweep_chooses_by_mean_squared_error():
    low, high = setting("omkc_dd", beta=0.1), setting("omkc_dd", beta=0.9)
    cells = frame(*regression(high, [0.03, 0.03]), *regression(low, [0.01, 0.02]))
    (row,) = best_settings(summarise(cells)).to_dict("records")
    assert row["params"] == {"beta": 0.1}


def test_a_table_of_both_kinds_has_both_columns():
    cells = frame(*repetitions(DD, [50, 60, 55, 55, 55]), *regression(DD, [0.01, 0.02, 0.015, 0.015, 0.015]))
    text = report(cells, expected((DD,), ("wdbc", "air"), reps=5, yardsticks=()))
    head, _, wdbc, _, air = text.split("\n")[2:7]
    assert head.index("mistake %") < head.index("MSE x 1e3")
    assert "* 5.50 ± 0.35" in wdbc
    assert "* 15.00 ± 3.54" in air
    assert "fewest mistakes or least MSE on the data set" in text


def test_regression_alone_has_no_column_of_mistakes_nor_of_vectors():
    text = report(frame(*regression(DD, [0.01, 0.02])), expected((DD,), ("air",), reps=2, yardsticks=()))
    assert "mistake" not in text
    assert "#SV" not in text


def test_a_further_measure_has_a_column_where_a_learner_reports_it():
    plain, dense = regression(DD, [0.01, 0.02]), regression(SS, [0.01, 0.02])
    cells = frame(*plain, *(line | {"nlpd": value} for line, value in zip(dense, (-1.5, -1.25), strict=True)))
    shown = expected((DD, SS), ("air",), reps=2, yardsticks=())
    text = report(cells, shown)
    head, _, without, with_it = text.split("\n")[2:6]
    assert head.index("MSE x 1e3") < head.index("NLPD") < head.index("seconds")
    assert "-1.375 ± 0.177" in with_it
    assert "±" not in without[head.index("NLPD") - 8 : head.index("seconds")]
    assert "NLPD       negative log predictive density of the targets" in text
    records = json.loads(report(cells, shown, "json"))["summary"]
    assert [record["nlpd_mean"] for record in records] == [None, -1.375]
    assert "NLPD" not in report(frame(*plain), expected((DD,), ("air",), reps=2, yardsticks=()))


def test_novelty_has_no_best():
    cells = frame(*(line | {"task": "novelty"} for line in repetitions(DD, [50, 60])))
    text = report(cells, expected((DD,), ("wdbc",), reps=2, yardsticks=(), task="novelty"))
    assert "novel %" in text
    assert "*" not in text


@pytest.mark.parametrize("fmt", ["json", "csv", "markdown", "latex"])
def test_every_format_takes_both_kinds(fmt):
    cells = frame(*repetitions(DD, [50, 60]), *regression(SS, [0.01, 0.02]))
    text = report(cells, expected((DD, SS), ("wdbc", "air"), reps=2), fmt)
    assert "15.0" in text
    assert "5.5" in text


def test_curves_of_squared_errors():
    cells = frame(*regression(DD, [0.5, 0.25]))
    lists = [{"t": [2, 4], "loss": [1.0, 2.0]}, {"t": [2, 4], "loss": [0.5, 1.0]}]
    curves = {key: c | {"n_sv_sum": [0, 0]} for key, c in zip(cells["key"], lists, strict=True)}
    table = mean_curves(cells, curves, planned_in(cells))
    np.testing.assert_allclose(table["error_mean"], [375.0, 375.0])  # 1000 (1 / 2 + 0.5 / 2) / 2


def test_curves_of_a_further_measure_are_means_that_may_be_negative():
    cells = frame(*regression(DD, [0.5, 0.25]))
    lists = [{"t": [2, 4], "nlpd": [-1.0, -6.0]}, {"t": [2, 4], "nlpd": [1.0, 2.0]}]
    curves = {key: c | {"n_sv_sum": [0, 0]} for key, c in zip(cells["key"], lists, strict=True)}
    table = mean_curves(cells, curves, planned_in(cells), names=("nlpd",))
    np.testing.assert_allclose(table["nlpd_mean"], [0.0, -0.5])


def test_a_figure_of_a_measure_below_0_shows_its_curves_not_0():
    cells = frame(*regression(DD, [0.5, 0.25]))
    curves = {key: {"t": [40, 80], "nlpd": [-40.0 - at, -80.0]} for at, key in enumerate(cells["key"])}
    drawn = drawn_curves({"nlpd": mean_curves(cells, curves, planned_in(cells), names=("nlpd",))}).draw()
    low, high = drawn.axes[0].get_ylim()
    assert low < -1.0 < high < -0.9
