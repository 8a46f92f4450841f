"""Sweeps: lines over one number, heat maps over two, dots of anything else; their numbers and places."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from support.drawn import band_of, line_named
from support.reports_cells import (
    COSINE,
    PAPER,
    SPECS,
    YARDSTICKS,
    Setting,
    cell,
    expected,
    frame,
    repetitions,
    setting,
    study,
)

from omkl.errors import UserError
from omkl.figures.figure import drawing_settings
from omkl.figures.heat_maps import matrix, robust_range
from omkl.figures.sensitivity import is_log_spaced, sensitivity, sensitivity_table
from omkl.figures.style import FigureStyle, in_style
from omkl.figures.sweeps import _dots, sweep_figure
from omkl.figures.tick_texts import tick_texts
from omkl.reports.grid import axes_of, grid_table
from omkl.reports.summary import summary_of
from omkl.reports.sweep_table import best_settings
from omkl.reports.symbols import symbol

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
BETAS = (0.1, 0.3, 0.5, 0.8)
DATA = {"wdbc": 300, "sonar": 200}
GRID = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.3, 0.5, 0.8) for d in (0.01, 0.1))


def swept(settings, reps=3, data=DATA, yardsticks=YARDSTICKS):
    cells, _ = study((*settings, *yardsticks), data, reps)
    return summary_of(cells, expected(settings, tuple(data), reps, yardsticks=yardsticks))


def legend(drawn):
    return [text.get_text() for text in drawn.legends[0].get_texts()]


# -------------------------------------------------------------------- one number


@pytest.mark.parametrize(("sign", "best"), [(1.0, "min"), (-1.0, "max")])
def test_a_ring_is_around_the_best_point_also_where_more_is_better(sign, best):
    summary = swept(tuple(setting("omkc_ss", beta=beta) for beta in BETAS), 5)
    if sign < 0:
        summary = summary.assign(measure="auc", auc_mean=1 - summary["mistake_pct_mean"] / 100, auc_std=0.0)
    column = "mistake_pct_mean" if sign > 0 else "auc_mean"
    for axes, (_, part) in zip(
        sweep_figure(summary).draw().axes, summary.groupby("data", sort=False), strict=True
    ):
        means = part[part["label"] == "OMKC(S,S)"][column]
        assert means.nunique() > 1
        rings = [one for one in axes.get_lines() if one.get_markersize() == 8]
        assert [ring.get_ydata()[0] for ring in rings] == [getattr(means, best)()]


@pytest.mark.parametrize("settings", [GRID, tuple(setting("omkc_ss", beta=beta) for beta in BETAS)])
def test_of_two_equal_settings_the_figure_and_the_table_name_the_same(settings):
    """Of a tie the best is that with fewer support vectors, wherever it is in the grid."""
    summary = swept(settings, data={"wdbc": 300}, yardsticks=())
    for winner in (1, len(settings) - 1):
        equal = summary.assign(
            mistake_pct_mean=12.5, n_sv_sum_mean=[100.0 - (at == winner) for at in summary.index]
        )
        (best,) = best_settings(equal)["params"]
        (axes, *_) = sweep_figure(equal).draw().axes
        if len(settings) == len(GRID):
            (frame_,) = axes.patches
            assert frame_.get_xy() == ((0.3, 0.5, 0.8).index(best["beta"]), (0.01, 0.1).index(best["delta"]))
        else:
            (ring,) = [line for line in axes.get_lines() if line.get_markersize() == 8]
            assert ring.get_xdata()[0] == best["beta"]
        assert best == equal["params"][winner]


def test_a_map_tells_what_is_within_one_deviation_of_the_best():
    summary = swept(GRID, data={"wdbc": 300}, yardsticks=())
    summary = summary.assign(mistake_pct_mean=[10.0, 10.4, 10.6, 12.0, 10.5, 10.51], mistake_pct_std=0.5)
    figure = sweep_figure(summary)
    (axes, *_) = figure.draw().axes
    dots = [(int(line.get_xdata()[0]), int(line.get_ydata()[0])) for line in axes.get_lines()]
    assert sorted(dots) == sorted([(0, 1), (2, 0)])  # the second and the fifth setting
    assert "frame: the best, dot: within one standard deviation of it" in figure.note
    assert "dot" not in sweep_figure(summary.assign(mistake_pct_std=np.nan)).note


@pytest.mark.parametrize("log", [False, True])
def test_a_swept_number_has_its_means_bands_rings_and_levels(log):
    summary = swept((U, *(setting("omkc_ss", beta=beta) for beta in BETAS)), 5)
    if log:  # sizes differ by far, which makes the axis logarithmic: a band ends at half its line
        table = sensitivity_table(summary, "beta", "n_sv_sum")
        table["y_std"] = 0.7 * table["y_mean"]
        table.loc[table["line"] == "OMKC(U)", "y_mean"] *= 1000
        table = table[~table["is_yardstick"]]
        figure = sensitivity(table, x_label=symbol("beta"))
    else:
        table = sensitivity_table(summary, "beta")
        figure = sweep_figure(summary)
    drawn = figure.draw()
    assert {axes.get_yscale() for axes in drawn.axes} == {"log" if log else "linear"}
    assert [axes.get_xlabel() for axes in drawn.axes] == ["β", "β"]
    assert (f"ring: {'fewest mistakes'}" in figure.note) != log
    for axes, (_, part) in zip(drawn.axes, table.groupby("panel", sort=False), strict=True):
        own = part[part["line"] == "OMKC(S,S)"].sort_values("x")
        line = line_named(axes, "OMKC(S,S)")
        np.testing.assert_array_equal(line.get_xdata(), BETAS)
        np.testing.assert_allclose(line.get_ydata(), own["y_mean"])
        rings = [one for one in axes.get_lines() if one.get_markersize() == 8]
        assert [ring.get_ydata()[0] for ring in rings] == ([] if log else [own["y_mean"].min()])
        colour = to_rgba(line.get_color())[:3]
        (band,) = [c for c in axes.collections if np.allclose(c.get_facecolor()[0][:3], colour)]
        _, low, high = band_of(band)
        least = 0.5 * own["y_mean"] if log else 0.0
        np.testing.assert_allclose(low, np.maximum(own["y_mean"] - own["y_std"], least))
        np.testing.assert_allclose(high, own["y_mean"] + own["y_std"])
        (level,) = part[part["line"] == "OMKC(U)"].itertuples()
        np.testing.assert_allclose(line_named(axes, "OMKC(U)").get_ydata(), level.y_mean)
        (beside,) = axes.patches  # the band of a level
        assert beside.get_y() + beside.get_height() == pytest.approx(level.y_mean + level.y_std)


def test_a_sweep_becomes_a_sensitivity_table():
    settings = (U, *(setting(name, beta=beta) for name in ("omkc_dd", "omkc_ss") for beta in BETAS))
    summary = swept(settings, 2, yardsticks=YARDSTICKS[:1])
    table = sensitivity_table(summary, "beta")
    assert list(dict.fromkeys(table["panel"])) == ["wdbc", "sonar"]
    own = table[(table["panel"] == "sonar") & (table["line"] == "OMKC(S,S)")]
    rows = summary[(summary["data"] == "sonar") & (summary["algo"] == "omkc_ss")]
    assert own["x"].tolist() == list(BETAS)
    assert own["y_mean"].tolist() == rows["mistake_pct_mean"].tolist()
    assert table.loc[table["line"].isin(["OMKC(U)", "majority"]), "x"].isna().all()
    with pytest.raises(UserError, match="'delta' was not swept; swept: beta"):
        sensitivity_table(summary, "delta")
    with pytest.raises(UserError, match="lacks the column y_std"):
        sensitivity(table.drop(columns="y_std"))


def test_a_matched_budget_stands_at_the_value_whose_size_it_is():
    """A learner with the size of another at beta = 0.3 is a point of a line over beta at 0.3."""
    budgets = [setting("omkc_u", budget={"match": "omkc_dd", "beta": beta}) for beta in (0.3, 0.8)]
    summary = swept((*(setting("omkc_dd", beta=beta) for beta in BETAS), *budgets), data={"wdbc": 300})
    table = sensitivity_table(summary, "beta")
    assert set(table["line"]) == {"OMKC(D,D)", "OMKC(U)", "majority", "Perceptron", "AROW"}
    assert table[table["line"] == "OMKC(U)"]["x"].tolist() == [0.3, 0.8]
    assert table[table["line"] == "OMKC(D,D)"]["x"].tolist() == list(BETAS)


def test_panels_of_other_measures_have_their_own_labels_and_scales():
    shared = {"y_std": np.nan, "is_yardstick": False, "reps": 1, "order": "file"}
    table = pd.DataFrame(
        {"panel": panel, "x_label": x_label, "y_label": y_label, "x": x, "line": line, "y_mean": value * x}
        | shared
        for panel, x_label, y_label, values in (
            ("(a)", "α", "#SV", {"SPA": 400.0, "RBP": 410.0}),
            ("(b)", "α", "seconds", {"SPA": 0.1, "RBP": 9.0}),
            ("(c)", "β", "mistake rate (%)", {"SPA": 16.0, "RBP": 21.0}),
        )
        for line, value in values.items()
        for x in (1.0, 1.5, 2.0)
    )
    drawn = sensitivity(table, columns=3).draw()
    assert [axes.get_ylabel() for axes in drawn.axes] == ["#SV", "seconds", "mistake rate (%)"]
    assert [axes.get_yscale() for axes in drawn.axes] == ["linear", "log", "linear"]
    assert [axes.get_xlabel() for axes in drawn.axes] == ["α", "α", "β"]


def test_decades_get_a_log_axis_and_the_legend_names_what_is_in_view():
    own = tuple(setting("omkc_ss", delta=delta) for delta in (0.001, 0.01, 0.1))
    cells, _ = study((*own, *YARDSTICKS), {"wdbc": 200}, 2)
    cells.loc[cells["algo"] == "majority", ["mistakes", "mistake_rate"]] = [190, 0.95]
    drawn = sweep_figure(summary_of(cells, expected(own, ("wdbc",), 2))).draw()
    for axes in drawn.axes:
        assert axes.get_xscale() == "log"
        assert [label.get_text() for label in axes.get_xticklabels()] == ["10⁻³", "10⁻²", "10⁻¹"]
        assert "majority 95.0 ↑" in axes.texts[0].get_text()
    assert "majority" not in legend(drawn)


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


# -------------------------------------------------------------------- two numbers


def test_two_swept_numbers_give_heat_maps_with_the_best_framed():
    """A learner without the second number has a line, and one without both is named in the note."""
    table = swept((U, *(setting("omkc_dd", beta=b) for b in (0.3, 0.8)), *GRID))
    figure = sweep_figure(table)
    panels = {axes.get_title(loc="left"): axes for axes in figure.draw().axes}
    names = [f"{data} · {line}" for data in DATA for line in ("OMKC(S,S)", "OMKC(D,D)")]
    assert set(panels) == {*names, ""}  # "": the bars of colours
    limits = []
    for data in DATA:
        axes = panels[f"{data} · OMKC(S,S)"]
        (mesh,) = axes.collections
        own = table[(table["data"] == data) & (table["algo"] == "omkc_ss")]
        rates = {
            (p["delta"], p["beta"]): m for p, m in zip(own["params"], own["mistake_pct_mean"], strict=True)
        }
        by_hand = np.array([[rates[delta, beta] for beta in (0.3, 0.5, 0.8)] for delta in (0.01, 0.1)])
        np.testing.assert_allclose(np.reshape(mesh.get_array(), (2, 3)), by_hand)
        best = np.unravel_index(by_hand.argmin(), (2, 3))
        assert [patch.get_xy() for patch in axes.patches] == [(best[1], best[0])]
        assert [text.get_text() for text in axes.texts] == [f"{v:.1f}" for v in by_hand.ravel()]
        limits.append(mesh.get_clim())
        line = line_named(panels[f"{data} · OMKC(D,D)"], "OMKC(D,D)")
        rows = table[(table["data"] == data) & (table["algo"] == "omkc_dd")]
        assert line.get_xdata().tolist() == [0.3, 0.8]
        assert line.get_ydata().tolist() == rows["mistake_pct_mean"].tolist()
    assert limits[0] != limits[1]  # one scale per data set
    assert "wdbc: one setting: OMKC(U) " in figure.note
    assert "frame: the best, dot: within one standard deviation of it; ring: fewest mistakes" in figure.note


@pytest.mark.parametrize("width", [3.3, 6.9])
def test_numbers_of_a_map_are_in_their_cells(width):
    grid = tuple(setting("omkc_ss", beta=b, delta=d) for b in BETAS for d in (0.01, 0.1))
    with in_style(FigureStyle(width=width)), drawing_settings():
        drawn = sweep_figure(swept(grid)).draw()
        FigureCanvasAgg(drawn).draw()
    maps = [axes for axes in drawn.axes if axes.texts]
    assert len(maps) == len(DATA)
    for axes in maps:
        cell = axes.get_window_extent().width / len(BETAS)
        assert all(text.get_window_extent().width < cell for text in axes.texts)


def test_dots_are_below_the_names_of_levels_that_are_not_seen():
    pools = tuple(setting("omkc_ss", pool, beta=beta) for pool in (PAPER, COSINE) for beta in (0.3, 0.5))
    grid = grid_table(swept(pools))
    grid.loc[grid["line"] == "AROW", "mistake_pct_mean"] = 99.0
    with in_style(FigureStyle(width=3.3)), drawing_settings():
        drawn = _dots(grid, {"name": "dots"}).draw()
        FigureCanvasAgg(drawn).draw()
    for axes in drawn.axes:
        [names] = axes.texts
        assert "AROW 99.0 →" in names.get_text()
        assert names.get_window_extent().y0 > axes.transData.transform((0.0, 0.0))[1]


def test_heat_map_values_are_in_their_places():
    counts = dict(zip([(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)], (10, 20, 30, 40, 50), strict=True))
    cells = frame(*[cell(which, 0, count) for which, count in zip(GRID, counts.values(), strict=False)])
    table = summary_of(cells, expected(GRID[:5], reps=1, yardsticks=()))
    axes = axes_of(table)
    values, rows, columns = matrix(grid_table(table, axes), axes, "mistake_pct_mean")
    assert (rows, columns) == (["0.01", "0.1"], ["0.3", "0.5", "0.8"])
    for place, count in counts.items():
        assert values[place] == pytest.approx(count / 10)
    assert np.isnan(values[1, 2])  # the missing cell stays empty


@pytest.mark.parametrize(
    ("settings", "finished", "axes"),
    [
        (
            (
                *(setting("omkc_dd", beta=b) for b in (0.3, 0.8)),
                *(setting("omkc_ss", delta=d) for d in (0.01, 0.1)),
            ),
            4,
            2,
        ),
        (GRID, 1, 2),  # a map of one cell and its bar of colours
    ],
)
def test_maps_of_little(settings, finished, axes):
    cells = frame(*(cell(own, 0, 100) for own in settings[:finished]))
    drawn = sweep_figure(summary_of(cells, expected(settings, reps=1, yardsticks=()))).draw()
    assert len(drawn.axes) == axes


def test_a_row_of_bad_settings_does_not_take_all_colours():
    values = np.array([[20.0, 21.0, 22.0], [21.0, 22.0, 23.0], [61.0, 61.0, 61.0]])
    assert robust_range(values) == (20.0, 26.0)
    assert robust_range(-values, -1.0) == (-26.0, -20.0)
    assert robust_range(values[:2]) == (20.0, 23.0)
    assert robust_range(np.full((2, 2), np.nan)) == (0.0, 1.0)


# -------------------------------------------------------------------- dots


def dots_of(axes):
    """(mean, whether it is filled, name) of each dot, from the top."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    dots = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    filled = [to_rgba(dot.get_markerfacecolor()) != to_rgba("white") for dot in dots]
    made = [(int(d.get_ydata()[0]), d.get_xdata()[0], f) for d, f in zip(dots, filled, strict=True)]
    return [(mean, own, names[place]) for place, mean, own in sorted(made)]


@pytest.mark.parametrize("reps", [1, 4, 5])
def test_dots_are_the_rows_best_first_and_filled_where_they_are_marked(reps):
    """The first is best, the second the same but for noise, the others worse; a test needs five."""
    own = tuple(setting("omkc_ss", pool, sampling=w) for w in ("max", "sum") for pool in (PAPER, COSINE))
    counts = ([100, 120, 90, 110, 100], [120, 95, 112, 101, 100], [160, 150, 140, 165, 150], [200] * 5)
    cells = [c for one, each in zip(own, counts, strict=True) for c in repetitions(one, each[:reps])]
    summary = summary_of(frame(*cells), expected(own, reps=reps, yardsticks=()))
    figure = sweep_figure(summary)
    (axes,) = figure.draw().axes
    rows = summary.sort_values("mistake_pct_mean", kind="stable")
    dots = dots_of(axes)
    assert [mean for mean, _, _ in dots] == rows["mistake_pct_mean"].tolist()
    assert [filled for _, filled, _ in dots] == [reps == 5] * 2 + [False] * 2
    assert len({name for _, _, name in dots}) == 4
    assert ("filled: not significantly worse than the best" in figure.note) == (reps == 5)
    if reps > 1:
        halves = [np.ptp(s[:, 0]) / 2 for c in axes.collections for s in c.get_segments()]
        assert sorted(halves) == pytest.approx(sorted(std for std in rows["mistake_pct_std"] if std))


@pytest.mark.parametrize("settings", [tuple(setting("omkc_dd", p) for p in (PAPER, COSINE)), (DD, SS)])
def test_without_numbers_every_setting_is_a_dot(settings):
    drawn = sweep_figure(swept(settings)).draw()
    assert [len(axes.get_yticks()) for axes in drawn.axes] == [2, 2]


def test_three_swept_numbers_show_the_best_dots_in_order():
    grid = tuple(
        Setting("omkc_ss", {**SPECS["omkc_ss"].defaults, "beta": b, "delta": d, "eta": e}, PAPER)
        for b in (0.1, 0.3, 0.5, 0.8)
        for d in (0.01, 0.1, 0.5)
        for e in (1.0, 2.0, 3.0)
    )
    cells = frame(*[cell(which, 0, 500 - n) for n, which in enumerate(grid)])
    (axes,) = sweep_figure(summary_of(cells, expected(grid, reps=1, yardsticks=()))).draw().axes
    means = [mean for mean, _, _ in dots_of(axes)]
    assert means == sorted(means)
    assert (len(means), means[0]) == (30, pytest.approx(100 * (500 - 35) / 1000))
    assert "best 30 of 36" in axes.get_title(loc="left")


def test_a_yardstick_of_a_learners_name_is_distinguished():
    kernels = [{"kind": "gaussian", "sigma": s} for s in (1.0, 4.0)]
    drawn = sweep_figure(
        swept(tuple(Setting("perceptron", {"kernel": kernel}, None) for kernel in kernels))
    ).draw()
    assert {"Perceptron", "Perceptron, kernel=linear"} <= set(legend(drawn))
    assert drawn.axes[0].get_xlabel() == "σ"


def test_a_sweep_has_a_figure_where_something_is_finished_and_says_what_is_not():
    own = tuple(setting("omkc_dd", beta=beta) for beta in (0.3, 0.8))
    assert sweep_figure(summary_of(frame(), expected(own, reps=2))) is None
    cells = frame(*repetitions(own[0], [10]), *repetitions(own[1], [12, 13]))
    figure = sweep_figure(summary_of(cells, expected(own, reps=2, yardsticks=())))
    assert figure.warnings == ["INCOMPLETE, repetitions done: OMKC(D,D), beta=0.3 on wdbc 1 of 2"]


def test_swept_numbers_have_three_digits_and_grids_of_decades_powers_of_ten():
    assert tick_texts([1e-4, 1e-3, 0.01]) == ["10⁻⁴", "10⁻³", "10⁻²"]
    assert tick_texts([1e-4, 10**-3.5, 1e-3]) == ["0.0001", "0.000316", "0.001"]
    assert tick_texts([0.01, 0.1, 1.0]) == ["0.01", "0.1", "1"]
    assert tick_texts([0.9995, 0.1 + 0.2, 1 / 3, float("nan")]) == ["0.9995", "0.3", "0.333", ""]
