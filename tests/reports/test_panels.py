"""Figures of the papers' kinds: measures over time, sensitivity, times, pictures of examples."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from support.drawn import curve_figure, draw_curves, draw_sensitivity, draw_times
from support.reports_cells import YARDSTICKS, cell, expected, frame, setting, study

from omkl.errors import UserError
from omkl.reports import charts
from omkl.reports.charts import sensitivity_table
from omkl.reports.drawing import draw
from omkl.reports.figure_style import FigureStyle, in_style, write_figure
from omkl.reports.figures import COLOURS, Pictures, symbol
from omkl.reports.measures import WINDOWS, mean_curves, measure_named, over_time
from omkl.reports.summary import grid_table, summary_of
from omkl.tasks import FADING, MEASURES

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")


def one_curve(**lists) -> tuple[pd.DataFrame, dict]:
    cells = frame(cell(DD, 0, 4, T=8))
    return cells, {cells["key"][0]: {"t": [2, 4, 8], "mistakes": [2, 2, 4], "n_sv_sum": [2, 4, 4], **lists}}


def legend_names(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# -------------------------------------------------------------------- measures over time


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
    table = mean_curves(*one_curve(**more), names=(name,))
    assert table["t"].tolist() == t
    assert table[f"{name}_mean"].tolist() == pytest.approx(values)
    assert table[f"{name}_std"].isna().all()


def test_windows_cover_the_stream_and_add_up_to_all_mistakes():
    cells, curves = study((DD,), {"wdbc": 569}, 1)
    table = mean_curves(cells, curves, names=("windowed_pct",))
    widths = np.diff(table["t"], prepend=0)
    assert WINDOWS <= len(table) <= WINDOWS + 1
    assert table["t"].iloc[-1] == 569
    assert (widths * table["windowed_pct_mean"]).sum() / 100 == pytest.approx(cells["mistakes"][0])


def test_a_curve_without_the_measure_is_left_out_and_none_at_all_is_an_error():
    cells, curves = study((DD, YARDSTICKS[0]), {"wdbc": 50}, 1)
    first = cells["key"][0]
    for key in curves:
        curves[key] |= {"weights_t": [50], "weights": [[1.0, 3.0]] if key == first else None}
    assert mean_curves(cells, curves, names=("top_weight",))["algo"].unique().tolist() == ["omkc_dd"]
    with pytest.raises(UserError, match="no curve of these cells holds mse_e3"):
        mean_curves(cells, curves, names=("mse_e3",))
    with pytest.raises(UserError, match=r"no measure 'mistake_pt'.*'mistake_pct'.*choose"):
        mean_curves(cells, curves, names=("mistake_pt",))


def test_the_band_of_a_weight_ends_at_one():
    cells, curves = study((DD,), {"wdbc": 50}, 2)
    for key, top in zip(curves, (3.0, 99.0), strict=True):  # 0.87 ± 0.17
        curves[key] |= {"weights_t": [25, 50], "weights": [[1.0, top]] * 2}
    (axes,) = draw_curves(mean_curves(cells, curves, names=("top_weight",)), ("top_weight",)).axes
    (band,) = axes.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 1.0


def test_fifteen_sets_have_a_panel_each_and_one_legend():
    data = {f"set{number}": 60 for number in range(15)}
    settings = (DD, SS)
    cells, curves = study((*settings, YARDSTICKS[0]), data, 2)
    table = mean_curves(
        cells, curves, expected(settings, tuple(data), 2, yardsticks=YARDSTICKS[:1]), ("mistake_pct",)
    )
    figure = draw_curves(table, ("mistake_pct",))
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(data)
    assert len(figure.legends) == 1
    assert legend_names(figure) == ["OMKC(D,D)", "OMKC(S,S)", "majority"]
    assert sum(bool(axes.get_ylabel()) for axes in figure.axes) == 4
    assert sum(bool(axes.get_xlabel()) for axes in figure.axes) == len(data)


def test_a_palette_keeps_a_learners_colour():
    cells, curves = study((DD, SS), {"wdbc": 60}, 1)
    palette = ("OMKC(U)", "OMKC(S,S)", "OMKC(D,D)")
    table = mean_curves(cells, curves, expected((DD, SS), reps=1, yardsticks=()), ("mistakes",))
    colours = {}
    for part in (table, table[table["algo"] == "omkc_ss"]):
        (axes,) = draw_curves(part, ("mistakes",), palette=palette).axes
        for line in axes.get_lines():
            assert colours.setdefault(line.get_label(), line.get_color()) == line.get_color()
    assert colours == {"OMKC(S,S)": COLOURS[1], "OMKC(D,D)": COLOURS[2]}


def test_a_yardstick_that_wins_is_inside_the_axis_in_every_window():
    cells, curves = study((DD, YARDSTICKS[2]), {"wdbc": 200}, 1)
    yardstick = next(key for key in curves if key.startswith("arow"))
    curves[yardstick]["mistakes"] = [max(0, t - 150) for t in curves[yardstick]["t"]]  # none up to 150
    table = mean_curves(cells, curves, expected((DD,), reps=1, yardsticks=YARDSTICKS[2:]), ("windowed_pct",))
    assert draw_curves(table, ("windowed_pct",)).axes[0].get_ylim()[0] <= 0


def test_scales():
    cells, curves = study((DD, U, YARDSTICKS[0]), {"wdbc": 200}, 2)
    for key, curve in curves.items():
        curve["loss"] = [0.0001 * t for t in curve["t"]]
        curve["n_sv_sum"] = [n // (100 if "omkc_u" in key else 1) for n in curve["n_sv_sum"]]
    table = mean_curves(
        cells, curves, expected((DD, U), reps=2, yardsticks=YARDSTICKS[:1]), ("n_sv_sum", "mse_e3")
    )
    (axes,) = draw_curves(table, ("n_sv_sum",)).axes
    assert axes.get_yscale() == "log"
    assert [line.get_label() for line in axes.get_lines()] == ["OMKC(D,D)", "OMKC(U)"]
    (axes,) = draw_curves(table, ("n_sv_sum",), log=False).axes
    assert axes.get_yscale() == "linear"
    (axes,) = draw_curves(table, ("mse_e3",), log=True).axes
    low, high = axes.get_ylim()
    assert low < 0.1 < high


def test_a_learner_without_mistakes_is_drawn_and_one_without_support_vectors_is_not():
    cells, curves = one_curve(mistakes=[0, 0, 0], n_sv_sum=[0, 0, 0])
    (axes,) = draw_curves(mean_curves(cells, curves, names=("mistakes",)), ("mistakes",)).axes
    assert len(axes.get_lines()) == 1
    with pytest.raises(UserError, match="these learners store none"):
        draw_curves(mean_curves(cells, curves, names=("n_sv_sum",)), ("n_sv_sum",))


@pytest.mark.parametrize("name", [name for name, own in MEASURES.items() if own.label])
def test_every_measure_is_drawn_to_files(tmp_path, name):
    lists = {own.needs: [1.0, 1.5, 1.7] for own in MEASURES.values() if own.needs}
    lists |= {"weights_t": [4, 8], "weights": [[9, 3], [2, 6]]}
    cells, curves = one_curve(**lists)
    (file,) = curve_figure(
        cells, curves, tmp_path / "x.svg", (name,), expected=expected((DD,), reps=1, yardsticks=())
    )
    assert MEASURES[name].label in file.read_text()


# -------------------------------------------------------------------- sensitivity

BETAS = (0.05, 0.5, 1.0)
SWEPT = (U, *(setting(name, beta=beta) for name in ("omkc_dd", "omkc_ss") for beta in BETAS))


def test_a_sweep_becomes_a_sensitivity_table():
    cells, _ = study((*SWEPT, YARDSTICKS[0]), {"wdbc": 60, "sonar": 60}, 2)
    summary = summary_of(cells, expected(SWEPT, ("wdbc", "sonar"), 2, yardsticks=YARDSTICKS[:1]))
    table = sensitivity_table(summary, "beta")
    assert list(dict.fromkeys(table["panel"])) == ["wdbc", "sonar"]
    own = table[(table["panel"] == "sonar") & (table["line"] == "OMKC(S,S)")]
    assert own["x"].tolist() == list(BETAS)
    rows = summary[(summary["data"] == "sonar") & (summary["algo"] == "omkc_ss")]
    assert own["y_mean"].tolist() == rows["mistake_pct_mean"].tolist()
    assert table.loc[table["line"].isin(["OMKC(U)", "majority"]), "x"].isna().all()
    figure = draw_sensitivity(table, x_label=symbol("beta"))
    assert legend_names(figure) == ["OMKC(U)", "OMKC(D,D)", "OMKC(S,S)", "majority"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["β"] * 2
    swept = [line for line in figure.axes[1].get_lines() if len(line.get_xdata()) == 3]
    assert list(swept[1].get_ydata()) == own["y_mean"].tolist()
    with pytest.raises(UserError, match="'delta' was not swept; swept: beta"):
        sensitivity_table(summary, "delta")


def test_panels_of_other_measures_have_their_own_labels_and_scales(tmp_path):
    def rows(panel, x_label, y_label, values):
        shared = {"panel": panel, "x_label": x_label, "y_label": y_label, "y_std": np.nan}
        return [
            {**shared, "x": x, "line": learner, "y_mean": value * x}
            for learner, value in values.items()
            for x in (1.0, 1.5, 2.0)
        ]

    table = pd.DataFrame(
        rows("(a)", r"$\alpha$", "#SV", {"SPA": 400.0, "RBP": 410.0})
        + rows("(b)", r"$\alpha$", "seconds", {"SPA": 0.1, "RBP": 9.0})
        + rows("(c)", r"$\beta$", "mistake rate (%)", {"SPA": 16.0, "RBP": 21.0})
    )
    figure = draw_sensitivity(table, columns=3)
    assert [axes.get_ylabel() for axes in figure.axes] == ["#SV", "seconds", "mistake rate (%)"]
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log", "linear"]
    assert [axes.get_xlabel() for axes in figure.axes] == [r"$\alpha$", r"$\alpha$", r"$\beta$"]
    files = write_figure(figure, tmp_path / "one.pdf", "one", "one", "omkl figure bomkl/1")
    assert b"/Subject (omkl figure bomkl/1)" in files[0].read_bytes()
    with pytest.raises(UserError, match="lacks the column y_std"):
        draw_sensitivity(table.drop(columns="y_std"))


# -------------------------------------------------------------------- times


def test_bars_are_shares_of_the_slowest_and_a_missing_time_is_a_dash(tmp_path):
    table = pd.DataFrame(
        [("x", "slow", 8.0), ("x", "quick", 2.0), ("y", "slow", 0.5)],
        columns=["data", "line", "seconds_mean"],
    )
    figure = draw_times(table)
    widths = [[bar.get_width() for bar in axes.patches] for axes in figure.axes]
    assert widths == [[1.0, 0.25], [1.0]]
    assert [text.get_text() for text in figure.axes[1].texts] == ["1.00", "–"]
    assert [axes.get_title(loc="right") for axes in figure.axes] == ["slowest: 8 s", "slowest: 0.5 s"]
    files = write_figure(figure, tmp_path / "two.pdf", "two", "two", "omkl figure adaraker/2")
    assert b"/Subject (omkl figure adaraker/2)" in files[0].read_bytes()
    with pytest.raises(UserError, match="one time for each"):
        draw_times(pd.concat([table, table]))


def test_times_of_a_summary():
    cells, _ = study((DD, YARDSTICKS[0]), {"wdbc": 60}, 2)
    summary = summary_of(cells, expected((DD, SS), reps=2, yardsticks=YARDSTICKS[:1]))
    table = grid_table(summary[summary["reps"] > 0])
    assert table["line"].tolist() == ["OMKC(D,D)", "majority"]  # nothing of the other has finished
    assert table["is_yardstick"].tolist() == [False, True]
    assert table["seconds_mean"].tolist() == pytest.approx([60 * 1.7e-4, 60 * 1e-5])


# -------------------------------------------------------------------- pictures


def test_pictures_are_row_by_row_with_their_scores(tmp_path):
    values = np.arange(3 * 16, dtype=float).reshape(3, 16)
    panels = {"first": Pictures(values, [0.5, -0.25, 1]), "late": Pictures(values[:0], [])}
    figure = draw(charts.pictures(panels))
    sheet = figure.axes[0].get_images()[0].get_array()
    shown = [float(v) for v in sheet.compressed()]
    assert sorted(shown) == list(range(48))
    assert shown[:8] == [0, 1, 2, 3, 16, 17, 18, 19]  # the first rows of the first two pictures
    assert [text.get_text() for text in figure.axes[0].texts] == ["0.50", "−0.25", "1.00"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["first", "late: none"]
    files = write_figure(figure, tmp_path / "digits.png", "digits", "digits", "omkl figure norma/3")
    assert files[0].stat().st_size > 1000


def test_a_chosen_width_leaves_no_empty_panel_and_puts_the_note_once():
    panels = {name: Pictures(np.ones((10, 64)), [1.0] * 10) for name in "abc"}
    heights = []
    for note in ("", "word " * 60):
        with in_style(FigureStyle(width=6.0)):
            figure = draw(charts.pictures(panels, caption=note))
        assert len(figure.axes) == 3
        heights.append(figure.get_figheight())
    lines = figure.get_supxlabel().count("\n")
    assert heights[1] - heights[0] == pytest.approx(8 / 60 * lines)


@pytest.mark.parametrize(
    ("values", "notes", "message"),
    [
        (np.zeros((2, 15)), [1, 2], "n scores, not"),
        (np.zeros((2, 16)), [1], r"not \(2, 16\) and 1"),
        (np.zeros((0, 16)), [], "no pictures"),
    ],
)
def test_pictures_that_cannot_be_drawn_are_an_error(values, notes, message):
    with pytest.raises(UserError, match=message):
        charts.pictures({"x": Pictures(values, notes)})


# -------------------------------------------------------------------- by name


@pytest.mark.parametrize("kind", ["curve", "sweep", "times", "ranks"])
def test_figures_have_names(kind):
    data = {"wdbc": 60, "sonar": 60}
    cells, curves = study((DD, SS, U, *YARDSTICKS), data, 2)
    about = expected((DD, SS, U), tuple(data), 2)
    figure = charts.figure_named(kind, cells, curves, about)
    assert figure.command == about.command
    assert {"OMKC(D,D)", "OMKC(S,S)", "OMKC(U)"} <= set(figure.styles)
    assert draw(figure).axes


def test_a_figure_of_cells_that_cannot_have_it_is_an_error():
    with pytest.raises(UserError, match="ranks need at least 2 data sets"):
        charts.figure_named("ranks", *study((DD,), {"wdbc": 60}, 1), expected((DD,), reps=1))
    with pytest.raises(UserError, match="no learner has finished a cell"):
        charts.figure_named("sweep", frame(), {}, expected((DD,), reps=1))


def test_a_data_set_whose_curves_lack_the_first_measure_has_its_others():
    cells, curves = study((DD,), {"wdbc": 60, "sonar": 60}, 1)
    for line in cells.to_dict("records"):
        if line["data"] == "sonar":
            curves[line["key"]] |= {"weights_t": [60], "weights": [[1.0, 3.0]]}
    names = ("top_weight", "mistakes", "n_sv_sum")
    figure = charts.learning_curves(cells, curves, expected((DD,), reps=1), names=names)
    views = {panel.name: [view.name for view in panel.views] for panel in figure.panels}
    assert views == {"sonar": list(names), "wdbc": list(names[1:])}
    assert len(draw(figure).axes) == 5


def test_a_faded_rate_weighs_each_round_by_its_age():
    rng = np.random.default_rng(0)
    wrong = rng.random(500) < np.where(np.arange(500) < 250, 0.5, 0.1)
    points = np.arange(1, 501)
    curve = {"t": points.tolist(), "mistakes": np.cumsum(wrong).tolist()}
    made = over_time(MEASURES["faded_pct"], curve, points.astype(float))
    weights = FADING ** np.arange(499, -1, -1.0)
    assert made[-1] == pytest.approx(100 * (weights * wrong).sum() / weights.sum())
    assert made[0] == 100.0 * wrong[0]
    some = over_time(MEASURES["faded_pct"], curve, np.arange(50.0, 501.0, 50.0))
    assert some[-1] == pytest.approx(made[-1], abs=0.5)  # even between the points
    loss = {"t": points.tolist(), "loss": np.cumsum(np.full(500, 4.0)).tolist()}
    assert over_time(MEASURES["faded_rmse"], loss, points.astype(float)) == pytest.approx(2.0)
    assert over_time(MEASURES["windowed_rmse"], loss, points.astype(float)) == pytest.approx(2.0)
