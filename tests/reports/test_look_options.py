"""The look that a user chooses: width, style, titles; names at the ends of lines; symbols."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from support.drawn import curve_figure, draw_curves, draw_sweep
from support.reports_cells import YARDSTICKS, expected, setting, study

from omkl.errors import UserError
from omkl.reports.figure_layout import moved_apart
from omkl.reports.figure_style import FigureStyle, in_style, inches, looks, y_limits
from omkl.reports.figures import in_symbols
from omkl.reports.measures import mean_curves
from omkl.reports.summary import summary_of

BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NINE = tuple(setting("omkc_dd", beta=beta) for beta in BETAS)
DD, SS = setting("omkc_dd"), setting("omkc_ss")
PAPER = FigureStyle("paper", 3.3, False)


def table_of(settings: tuple, data: dict | None = None):
    data = data or {"wdbc": 200}
    cells, curves = study((*settings, *YARDSTICKS), data, 2)
    return mean_curves(cells, curves, expected(settings, tuple(data), 2))


@pytest.mark.parametrize(
    ("text", "width"), [("3.3in", 3.3), ("8.4cm", 8.4 / 2.54), ("84 mm", 84 / 25.4), ("240pt", 240 / 72.27)]
)
def test_a_width_has_a_unit(text, width):
    assert inches(text) == pytest.approx(width)


@pytest.mark.parametrize(
    "text", ["3.3", "in", "-3in", "nanin", "1e3in", "3,3in", "3em", "0in", "99in", "٣in"]
)
def test_a_bad_width_is_the_users_mistake(text):
    with pytest.raises(UserError, match="--width"):
        inches(text)


@pytest.mark.parametrize("text", ["10", "30:10", "a:b", "0:inf", "1:2:3", ""])
def test_bad_ends_of_an_axis_are_the_users_mistake(text):
    assert y_limits("-1:2.5") == (-1.0, 2.5)
    with pytest.raises(UserError, match="--ylim"):
        y_limits(text)


def test_lines_beyond_the_wanted_axis_are_named():
    with in_style(FigureStyle(ylim=(0.0, 1.0))):
        figure = draw_curves(table_of((DD, SS)), ("error",))
    (axes,) = figure.axes
    assert axes.get_ylim() == (0.0, 1.0)
    assert "↑" in axes.get_title(loc="right")
    assert FigureStyle(ylim=(0.0, 1.0)).words() == " --ylim 0:1"


@pytest.mark.parametrize("count", [1, 5])
def test_a_paper_figure_has_its_width_and_readable_text_inside(count):
    data = {f"set{n}": 200 for n in range(count)}
    with in_style(PAPER):
        figure = draw_curves(table_of((DD, SS), data), title="a title that LaTeX sets")
        with looks():
            FigureCanvasAgg(figure).draw()
    assert figure.get_figwidth() == 3.3
    assert figure._suptitle is None
    # Panels are told apart by their titles; one alone needs none.
    assert [axes.get_title(loc="left") for axes in figure.axes[:: 2 * count]] == (
        [""] if count == 1 else ["set0"]
    )
    texts = [text for axes in figure.axes for text in (*axes.get_xticklabels(), axes.title, axes.yaxis.label)]
    texts += figure.legends[0].get_texts()
    assert min(text.get_fontsize() for text in texts) >= 6
    for text in texts:
        box = text.get_window_extent()
        assert not text.get_text() or (box.x0 >= 0 and box.x1 <= 3.3 * figure.dpi)


def test_the_look_ends_with_its_block():
    with in_style(PAPER):
        pass
    assert draw_curves(table_of((DD,)), title="kept").get_suptitle() == "kept"


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_the_same_paper_figure_has_the_same_bytes(tmp_path, suffix):
    cells, curves = study(NINE, {"wdbc": 100}, 2)
    about = expected(NINE, reps=2, yardsticks=())
    with in_style(PAPER):
        files = [curve_figure(cells, curves, tmp_path / f"{n}{suffix}", expected=about)[0] for n in "ab"]
    first, second = (file.read_bytes() for file in files)
    assert first == second
    if suffix == ".svg":
        assert "β=0.1".encode() in first


def test_more_than_eight_lines_are_named_where_they_end():
    figure = draw_curves(table_of(NINE), ("error",))
    assert not figure.legends
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    names = [text.get_text() for text in axes.texts]
    assert {f"OMKC(D,D), β={beta}" for beta in BETAS} <= set(names)
    boxes = [Text.get_window_extent(text) for text in axes.texts]  # without the leader
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    for text in axes.texts:
        if text.get_text() == "OMKC(D,D), β=0.5":
            (line,) = (line for line in axes.get_lines() if line.get_label() == "OMKC(D,D), beta=0.5")
            end = (axes.transScale + axes.transLimits).transform(line.get_xydata()[-1])
            assert text.xy == pytest.approx(tuple(end))


def test_eight_lines_have_a_legend():
    assert len(draw_curves(table_of(NINE[:5]), ("error",)).legends[0].get_texts()) == 8


def test_names_are_moved_apart_and_no_more_than_needed():
    assert moved_apart([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])
    assert moved_apart([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])
    assert moved_apart([0.0, 0.0, 1.0], 0.1) == pytest.approx([0.0, 0.1, 1.0])
    places = moved_apart(np.random.default_rng(1).random(10).tolist(), 0.1)
    assert np.diff(sorted(places)).min() >= 0.1 - 1e-9


def test_symbols_replace_what_is_set_and_no_names():
    assert in_symbols("A, beta=0.8 lam=1 gaussian(sigma=2), sigma^2 = 1") == (
        "A, β=0.8 λ=1 gaussian(σ=2), σ² = 1"
    )
    assert in_symbols("alpha on beta, omkc_beta=1") == "alpha on beta, omkc_beta=1"


def test_a_dollar_in_the_name_of_a_data_set_is_a_dollar():
    figure = draw_curves(table_of((DD,), {r"$\frac$": 60}), ("error",))
    FigureCanvasAgg(figure).draw()
    assert figure.axes[0].get_title(loc="left") == r"$\frac$"


@pytest.mark.parametrize("look", [FigureStyle(), PAPER])
def test_the_colour_bar_is_clear_of_the_axis(look):
    grid = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.3, 0.5, 0.8) for d in (0.01, 0.1))
    cells, _ = study(grid, {"wdbc": 100, "sonar": 100}, 1)
    with in_style(look):
        figure = draw_sweep(summary_of(cells, expected(grid, ("wdbc", "sonar"), 1, yardsticks=())))
        FigureCanvasAgg(figure).draw()
    maps = [axes for axes in figure.axes if axes.get_title(loc="left")]
    bars = [axes for axes in figure.axes if axes not in maps]
    assert len(bars) == len(maps) == 2
    for panel, bar in zip(maps, bars, strict=True):
        gap = panel.xaxis.label.get_window_extent().y0 - bar.get_window_extent().y1
        assert gap >= 0.05 * figure.dpi
