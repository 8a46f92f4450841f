"""A sweep: its tables, and the picture of its grid (curves, heat maps or dots)."""

import csv
import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.drawn import draw_sweep
from support.reports_cells import (
    COSINE,
    PAPER,
    SPECS,
    YARDSTICKS,
    Setting,
    cell,
    expected,
    frame,
    line_of,
    repetitions,
    setting,
    strict,
    study,
    sweep_report,
)

from omkl.reports import charts
from omkl.reports.charts import is_log_spaced, matrix
from omkl.reports.drawing import write_files
from omkl.reports.figures import robust_range
from omkl.reports.results_table import best_settings
from omkl.reports.summary import axes_of, grid_table, summary_of

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
DATA = {"wdbc": 300, "sonar": 200}
EXPECTED = expected((DD, SS), tuple(DATA), 3)


def legend_names(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# -------------------------------------------------------------------- sweeps


def swept(settings: tuple, reps: int = 3, data: dict = DATA):
    cells, _ = study((*settings, *YARDSTICKS), data, reps)
    return summary_of(cells, expected(settings, tuple(data), reps))


def test_one_swept_number_gives_curves():
    betas = (0.1, 0.3, 0.5, 0.8)
    table = swept((U, *(setting(n, beta=b) for n in ("omkc_dd", "omkc_ss") for b in betas)))
    figure = draw_sweep(table)
    assert len(figure.axes) == 2
    # the majority class is above both panels, and so named there and not in the legend
    assert legend_names(figure) == ["OMKC(U)", "OMKC(D,D)", "OMKC(S,S)", "Perceptron", "AROW"]
    axes = figure.axes[0]
    assert axes.get_title(loc="right").startswith("majority")
    curves = [line for line in axes.get_lines() if len(line.get_xdata()) == 4]
    assert [list(line.get_xdata()) for line in curves] == [list(betas)] * 2
    own = table[(table["data"] == "wdbc") & (table["algo"] == "omkc_ss")]
    assert list(curves[1].get_ydata()) == own["mistake_pct_mean"].tolist()
    rings = [line for line in axes.get_lines() if line.get_markersize() == 9]
    assert [line.get_ydata()[0] for line in rings] == [min(line.get_ydata()) for line in curves]
    assert axes.get_xscale() == "linear"
    assert axes.get_xlabel() == "β"


def test_decades_get_a_log_axis():
    figure = draw_sweep(
        swept(tuple(setting("omkc_ss", delta=d) for d in (0.001, 0.01, 0.1)), data={"wdbc": 200})
    )
    assert figure.axes[0].get_xscale() == "log"
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["0.001", "0.01", "0.1"]


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([0.01, 0.1, 1.0], True),
        ([0.01, 0.1], True),
        ([1.0, 2.0, 4.0, 8.0, 16.0], True),
        ([0.1, 0.3, 0.5, 0.8, 0.95], False),
        ([1.0, 2.0, 3.0], False),
        ([0.0, 0.1, 1.0, 10.0], False),
        ([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0], False),
        ([0.5], False),
    ],
)
def test_log_spacing(values, log):
    assert is_log_spaced(values) is log


def test_two_swept_numbers_give_heat_maps_with_the_best_framed():
    grid = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.3, 0.5, 0.8) for d in (0.01, 0.1))
    table = swept((U, *(setting("omkc_dd", beta=b) for b in (0.3, 0.8)), *grid))
    figure = draw_sweep(table)
    panels = [axes for axes in figure.axes if axes.get_images() and axes.get_title(loc="left")]
    assert [panel.get_title(loc="left") for panel in panels] == ["wdbc · OMKC(S,S)", "sonar · OMKC(S,S)"]
    assert [panel.get_images()[0].get_array().shape for panel in panels] == [(2, 3), (2, 3)]
    for panel in panels:
        shown = panel.get_images()[0].get_array()
        (frame_of_best,) = panel.patches
        best = np.unravel_index(shown.argmin(), shown.shape)
        assert frame_of_best.get_xy() == (best[1] - 0.5, best[0] - 0.5)
        assert len(panel.texts) == shown.size
    scales = [panel.get_images()[0].get_clim() for panel in panels]
    assert scales[0] != scales[1]  # one scale per data set


def test_a_learner_without_the_second_number_has_a_curve_and_one_without_both_a_line_of_text():
    grid = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.3, 0.5, 0.8) for d in (0.01, 0.1))
    table = swept((U, *(setting("omkc_dd", beta=b) for b in (0.3, 0.8)), *grid))
    figure = draw_sweep(table)
    curves = [axes for axes in figure.axes if axes.get_title(loc="left").endswith("OMKC(D,D)")]
    assert [axes.get_title(loc="left") for axes in curves] == ["wdbc · OMKC(D,D)", "sonar · OMKC(D,D)"]
    assert not any(axes.get_images() for axes in curves)
    drawn = next(line for line in curves[0].get_lines() if line.get_label() == "OMKC(D,D)")
    own = table[(table["data"] == "wdbc") & (table["algo"] == "omkc_dd")]
    assert drawn.get_xdata().tolist() == [0.3, 0.8]
    assert drawn.get_ydata().tolist() == own["mistake_pct_mean"].tolist()
    assert not any("OMKC(U)" in axes.get_title(loc="left") for axes in figure.axes)
    assert any("one setting: OMKC(U)" in axes.get_xlabel() for axes in figure.axes)


def test_a_sweep_of_learners_that_share_no_number_has_curves_alone():
    settings = (
        *(setting("omkc_dd", beta=b) for b in (0.3, 0.8)),
        *(setting("omkc_ss", delta=d) for d in (0.01, 0.1)),
    )
    figure = draw_sweep(swept(settings))
    assert len(figure.axes) == 4
    assert not any(axes.get_images() for axes in figure.axes)


def test_heat_map_values_are_in_their_places():
    grid = [setting("omkc_ss", beta=b, delta=d) for b in (0.3, 0.5, 0.8) for d in (0.01, 0.1)]
    counts = dict(zip([(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)], (10, 20, 30, 40, 50), strict=True))
    cells = frame(*[cell(which, 0, count) for which, count in zip(grid, counts.values(), strict=False)])
    table = summary_of(cells, expected(tuple(grid[:5]), reps=1, yardsticks=()))
    axes = axes_of(table)
    values, rows, columns = matrix(grid_table(table, axes), axes, "mistake_pct_mean")
    assert (rows, columns) == (["0.01", "0.1"], ["0.3", "0.5", "0.8"])
    for place, count in counts.items():
        assert values[place] == pytest.approx(count / 10)
    assert np.isnan(values[1, 2])  # the missing cell stays empty


@pytest.mark.parametrize(
    "settings",
    [
        tuple(setting("omkc_ss", sampling=s) for s in ("max", "sum")),
        tuple(setting("omkc_dd", pool) for pool in (PAPER, COSINE)),
        (DD, SS),
    ],
    ids=["words", "pools", "learners only"],
)
def test_without_numbers_every_setting_is_a_dot(settings):
    figure = draw_sweep(swept(settings))
    assert len(figure.axes) == 2
    assert [len(axes.get_yticks()) for axes in figure.axes] == [2, 2]
    assert len({label.get_text() for label in figure.axes[0].get_yticklabels()}) == 2


def test_three_swept_numbers_show_the_best_dots_in_order():
    grid = tuple(
        Setting("omkc_ss", {**SPECS["omkc_ss"].defaults, "beta": b, "delta": d, "eta": e}, PAPER)
        for b in (0.1, 0.3, 0.5, 0.8)
        for d in (0.01, 0.1, 0.5)
        for e in (1.0, 2.0, 3.0)
    )
    cells = frame(*[cell(which, 0, 500 - n) for n, which in enumerate(grid)])
    figure = draw_sweep(summary_of(cells, expected(grid, reps=1, yardsticks=())))
    (axes,) = figure.axes
    assert len(axes.get_yticks()) == 30
    assert "best 30 of 36" in axes.get_title(loc="left")
    means = [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"]
    assert means == sorted(means)
    assert means[0] == pytest.approx(100 * (500 - 35) / 1000)


def test_a_yardstick_of_a_learners_name_is_distinguished():
    kernels = [{"kind": "gaussian", "sigma": s} for s in (1.0, 4.0)]
    settings = tuple(Setting("perceptron", {"kernel": kernel}, None) for kernel in kernels)
    figure = draw_sweep(swept(settings))
    assert legend_names(figure) == ["Perceptron", "majority", "Perceptron, kernel=linear", "AROW"]
    assert figure.axes[0].get_xlabel() == "σ"


def test_a_sweep_has_a_figure_where_something_is_finished(tmp_path):
    settings = (setting("omkc_dd", beta=0.3), setting("omkc_dd", beta=0.8))
    cells = frame(*[line for which in settings for line in repetitions(which, [10, 12])])
    figure = charts.sweep(summary_of(cells, expected(settings, reps=2, yardsticks=())))
    files = write_files(figure, tmp_path)
    assert [file.name for file in files] == ["sweep-omkc_dd-wdbc.png", "sweep-omkc_dd-wdbc.pdf"]
    assert all(file.stat().st_size > 2000 for file in files)
    assert charts.sweep(summary_of(frame(), expected(settings, reps=2))) is None
    assert "0/2" in sweep_report(frame(), expected(settings, reps=2))


# -------------------------------------------------------------------- tables

BY_TWO = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.5, 0.8) for d in (0.01, 0.1))
SWEEP = expected((DD, *BY_TWO), reps=2, swept=("algo.beta", "algo.delta"), yardsticks=YARDSTICKS[:1])
CELLS = frame(
    *repetitions(DD, [50, 52]),
    *[line for n, which in enumerate(BY_TWO) for line in repetitions(which, [40 - 10 * (n == 2), 44])],
    *repetitions(YARDSTICKS[0], [300, 310]),
)


def test_a_sweep_has_a_column_per_swept_number_and_a_table_of_the_best():
    text = sweep_report(CELLS, SWEEP)
    long, best = text.split("best setting per data set and learner")
    assert "beta    delta" in long
    assert long.count("OMKC(S,S)") == 4
    assert best.count("OMKC(S,S)") == 1
    assert line_of(best, "OMKC(S,S)").split()[:3] == ["OMKC(S,S)", "0.8", "0.01"]
    assert line_of(long, "OMKC(D,D)").split()[2:4] == ["0.8", "–"]


def test_best_settings_break_ties_by_support_vectors():
    cells = frame(
        *repetitions(BY_TWO[0], [10, 10], n_sv_sum=90),
        *repetitions(BY_TWO[1], [10, 10], n_sv_sum=80),
        *repetitions(BY_TWO[2], [11, 11], n_sv_sum=1),
    )
    (best,) = best_settings(summary_of(cells, expected(BY_TWO[:3], reps=2, yardsticks=()))).to_dict("records")
    assert best["params"] == BY_TWO[1].params


def test_the_best_of_a_learner_does_not_hide_the_yardstick_of_that_name():
    own = tuple(Setting("perceptron", {"kernel": {"kind": "gaussian", "sigma": s}}, None) for s in (1.0, 2.0))
    cells = frame(cell(own[0], 0, 9), cell(own[1], 0, 8), cell(YARDSTICKS[1], 0, 5))
    best = best_settings(summary_of(cells, expected(own, reps=1, yardsticks=YARDSTICKS[1:2])))
    assert best["mistakes_mean"].tolist() == [8.0, 5.0]
    assert best["is_yardstick"].tolist() == [False, True]


def test_sweep_json_and_csv():
    parsed = strict(sweep_report(CELLS, SWEEP, "json"))
    assert list(parsed) == ["summary", "best", "cells", "notes"]
    assert [row["params"].get("delta") for row in parsed["best"]] == [None, 0.01, None]
    rows = list(csv.DictReader(io.StringIO(sweep_report(CELLS, SWEEP, "csv"))))
    assert [row["algo.delta"] for row in rows] == ["", "0.01", "0.1", "0.01", "0.1", ""]


def test_axes_are_the_swept_numbers_the_longest_first():
    three = (*BY_TWO, setting("omkc_ss", beta=0.5, delta=0.5, sampling="sum"))
    table = summary_of(frame(*[cell(which, 0, 5) for which in three]), expected(three, reps=1))
    assert axes_of(table) == {"delta": [0.01, 0.1, 0.5], "beta": [0.5, 0.8]}
    assert list(axes_of(table)) == ["delta", "beta"]


def test_a_sweep_of_two_numbers_of_which_one_setting_has_finished_has_a_map_of_one_cell():
    grid = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.3, 0.8) for d in (0.01, 0.1))
    summary = summary_of(frame(cell(grid[0], 0, 100)), expected(grid, reps=1, yardsticks=()))
    (view,) = charts.sweep(summary).views()
    assert view.mean.tolist() == [[10.0]]
    assert len(draw_sweep(summary).axes) == 2  # the map and its colour bar


def test_a_row_of_bad_settings_does_not_take_all_colours():
    values = np.array([[20.0, 21.0, 22.0], [21.0, 22.0, 23.0], [61.0, 61.0, 61.0]])
    assert robust_range(values) == (20.0, 26.0)
    assert robust_range(-values, -1.0) == (-26.0, -20.0)
    assert robust_range(values[:2]) == (20.0, 23.0)
    assert robust_range(np.full((2, 2), np.nan)) == (0.0, 1.0)
