"""Measures over the examples: by hand, of repetitions with other points, in windows; warnings."""

import numpy as np
import pandas as pd
import pytest
from support.reports_cells import (
    YARDSTICKS,
    cell,
    expected,
    frame,
    planned_in,
    repetitions,
    report,
    setting,
    study,
)

from omkl.errors import UserError
from omkl.reports.captions import shortfall_of
from omkl.reports.measures import WINDOWS, mean_curves, measure_named, over_time
from omkl.tasks import MEASURES

DD, SS = setting("omkc_dd"), setting("omkc_ss")
NINE = tuple(setting("omkc_dd", beta=beta) for beta in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))


def test_mean_curve_by_hand():
    cells = frame(cell(DD, 0, 4, T=10), cell(DD, 1, 2, T=10))
    curves = {
        cells["key"][0]: {"t": [5, 10], "mistakes": [3, 4], "n_sv_sum": [30, 40]},
        cells["key"][1]: {"t": [5, 10], "mistakes": [1, 2], "n_sv_sum": [10, 30]},
    }
    table = mean_curves(cells, curves, planned_in(cells))
    assert table["t"].tolist() == [5, 10]
    assert table["error_mean"].tolist() == pytest.approx([40.0, 30.0])
    assert table["error_std"].tolist() == pytest.approx([40 / np.sqrt(2), 20 / np.sqrt(2)])
    assert table["n_sv_sum_mean"].tolist() == pytest.approx([20.0, 35.0])
    assert table["reps"].tolist() == [2, 2]


def test_repetitions_with_other_points_are_interpolated_as_counts():
    cells = frame(cell(DD, 0, 8, T=8), cell(DD, 1, 8, T=8))
    curves = {
        cells["key"][0]: {"t": [2, 4, 8], "mistakes": [2, 4, 8], "n_sv_sum": [2, 4, 8]},
        cells["key"][1]: {"t": [4, 8], "mistakes": [0, 8], "n_sv_sum": [4, 8]},
    }
    table = mean_curves(cells, curves, planned_in(cells))
    assert table["t"].tolist() == [2, 4, 8]
    # the second repetition has 0 mistakes at 2 and at 4, and from (0, 0) to (4, 4) two vectors at 2
    assert table["error_mean"].tolist() == pytest.approx([50.0, 50.0, 100.0])
    assert table["n_sv_sum_mean"].tolist() == pytest.approx([2.0, 4.0, 8.0])


def test_a_mean_ends_with_the_first_curve_that_ends():
    cells = frame(cell(DD, 0, 8, T=8), cell(DD, 1, 6, T=6))
    curves = {
        cells["key"][0]: {"t": [2, 4, 8], "mistakes": [2, 4, 8], "n_sv_sum": [2, 4, 8]},
        cells["key"][1]: {"t": [3, 6], "mistakes": [0, 3], "n_sv_sum": [3, 6]},
    }
    table = mean_curves(cells, curves, planned_in(cells))
    assert table["t"].tolist() == [2, 4, 6]
    assert table["error_mean"].tolist() == pytest.approx([50.0, 62.5, 75.0])


def test_cells_without_a_curve_are_left_out_and_none_at_all_is_an_error():
    cells = frame(cell(DD, 0, 4), cell(DD, 1, 2))
    table = mean_curves(
        cells, {cells["key"][1]: {"t": [10], "mistakes": [1], "n_sv_sum": [2]}}, planned_in(cells)
    )
    assert table["reps"].tolist() == [1]
    assert table["error_std"].isna().all()
    with pytest.raises(UserError, match="no learning curve"):
        mean_curves(cells, {}, planned_in(cells))


def one_curve(**lists) -> tuple[pd.DataFrame, dict]:
    cells = frame(cell(DD, 0, 4, T=8))
    return cells, {cells["key"][0]: {"t": [2, 4, 8], "mistakes": [2, 2, 4], "n_sv_sum": [2, 4, 4], **lists}}


@pytest.mark.parametrize(
    ("name", "more", "t", "values"),
    [
        ("mistake_pct", {}, [2, 4, 8], [100, 50, 50]),
        ("mistakes", {}, [2, 4, 8], [2, 2, 4]),
        ("windowed_pct", {}, [2, 4, 8], [100, 0, 50]),
        ("n_sv_combined", {"n_sv_combined": [1, 3, 2]}, [2, 4, 8], [1, 3, 2]),
        ("mse_e3", {"loss": [1.0, 3.0, 4.0]}, [2, 4, 8], [500, 750, 500]),
        ("rmse", {"loss": [2.0, 1.0, 32.0]}, [2, 4, 8], [1, 0.5, 2]),
        ("coverage", {"coverage": [2, 3, 6]}, [2, 4, 8], [100, 75, 75]),
        # the second kernel ends on top: 3 of 12 at 4, 6 of 8 at 8, and a half before anything is learnt
        ("top_weight", {"weights_t": [4, 8], "weights": [[9, 3], [2, 6]]}, [0, 4, 8], [0.5, 0.25, 0.75]),
    ],
)
def test_measures_by_hand(name, more, t, values):
    name = measure_named(name).name
    cells, curves = one_curve(**more)
    table = mean_curves(cells, curves, planned_in(cells), names=(name,))
    assert table["t"].tolist() == t
    assert table[f"{name}_mean"].tolist() == pytest.approx(values)
    assert table[f"{name}_std"].isna().all()


def test_windows_cover_the_stream_and_add_up_to_all_mistakes():
    cells, curves = study((DD,), {"wdbc": 569}, 1)
    table = mean_curves(cells, curves, planned_in(cells), names=("windowed_pct",))
    widths = np.diff(table["t"], prepend=0)
    assert WINDOWS <= len(table) <= WINDOWS + 1
    assert table["t"].iloc[-1] == 569
    assert (widths * table["windowed_pct_mean"]).sum() / 100 == pytest.approx(cells["mistakes"][0])


def test_a_curve_without_the_measure_is_left_out_and_none_at_all_is_an_error():
    cells, curves = study((DD, YARDSTICKS[0]), {"wdbc": 50}, 1)
    first = cells["key"][0]
    for key in curves:
        curves[key] |= {"weights_t": [50], "weights": [[1.0, 3.0]] if key == first else None}
    assert mean_curves(cells, curves, planned_in(cells), names=("top_weight",))["algo"].unique().tolist() == [
        "omkc_dd"
    ]
    with pytest.raises(UserError, match="the curves of these cells lack mse_e3"):
        mean_curves(cells, curves, planned_in(cells), names=("mse_e3",))
    with pytest.raises(UserError, match=r"no measure 'mistake_pt'.*'mistake_pct'.*choose"):
        mean_curves(cells, curves, planned_in(cells), names=("mistake_pt",))


def test_an_rmse_in_windows_by_hand():
    points = np.arange(1.0, 501.0)
    loss = {"t": points.tolist(), "loss": np.cumsum(np.full(500, 4.0)).tolist()}
    assert over_time(MEASURES["windowed_rmse"], loss, points) == pytest.approx(2.0)


def test_a_table_of_one_order_speaks_of_no_permutations():
    cells = frame(*repetitions(DD, [4, 6, 5, 5, 5], order="file"), *repetitions(SS, [4, 6], order="file"))
    text = " ".join(report(cells, expected((DD, SS), reps=5, yardsticks=(), order="file")).split())
    assert "standard deviation over the repetitions" in text
    assert "all repetitions have one order, so that nothing is tested" in text
    assert "permutation" not in text


def test_repetitions_that_differ_by_design_are_reported():
    cells, curves = study((DD, SS), {"wdbc": 100}, 4)
    cells = cells[(cells["algo"] == "omkc_dd") | (cells["rep"] == 0)].reset_index(drop=True)
    table = mean_curves(cells, curves, expected((DD, SS), reps=4, yardsticks=()))
    table.loc[table["algo"] == "omkc_ss", "asked"] = 1
    assert shortfall_of(table) == ["unequal repetitions: OMKC(S,S) on wdbc 1, the most 4"]


def test_a_warning_of_many_lines_is_short():
    cells, curves = study(NINE, {f"set{n}": 40 for n in range(9)}, 2)
    cells = cells[cells["rep"] == 0].reset_index(drop=True)
    (warning,) = shortfall_of(
        mean_curves(cells, curves, expected(NINE, tuple(f"set{n}" for n in range(9)), 2, yardsticks=()))
    )
    assert "and 76 more" in warning
    assert len(warning) < 400
