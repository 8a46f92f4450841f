"""Learning curves: what is drawn (lines, panels, bands) and what is written (bytes, metadata, names)."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from support import ROOT
from support.drawn import curve_figure, draw_curves
from support.reports_cells import YARDSTICKS, cell, expected, frame, setting, study

from omkl.errors import OmklError, UserError
from omkl.reports.figure_style import FigureStyle, in_style
from omkl.reports.figures import safe_name
from omkl.reports.line_drawing import note_left_out, robust_limits, stripe
from omkl.reports.measures import mean_curves

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
DATA = {"wdbc": 300, "sonar": 200}
EXPECTED = expected((DD, SS), tuple(DATA), 3)


@pytest.fixture(scope="module")
def studied():
    return study((DD, SS, *YARDSTICKS), DATA, 3)


def legend_names(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# -------------------------------------------------------------------- curves


def test_mean_curve_by_hand():
    cells = frame(cell(DD, 0, 4, T=10), cell(DD, 1, 2, T=10))
    curves = {
        cells["key"][0]: {"t": [5, 10], "mistakes": [3, 4], "n_sv_sum": [30, 40]},
        cells["key"][1]: {"t": [5, 10], "mistakes": [1, 2], "n_sv_sum": [10, 30]},
    }
    table = mean_curves(cells, curves)
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
    table = mean_curves(cells, curves)
    assert table["t"].tolist() == [2, 4, 8]
    # the second repetition has 0 mistakes at 2 and at 4, and from (0, 0) to (4, 4) two vectors at 2
    assert table["error_mean"].tolist() == pytest.approx([50.0, 50.0, 100.0])
    assert table["n_sv_sum_mean"].tolist() == pytest.approx([2.0, 4.0, 8.0])


def test_cells_without_a_curve_are_left_out_and_none_at_all_is_an_error():
    cells = frame(cell(DD, 0, 4), cell(DD, 1, 2))
    table = mean_curves(cells, {cells["key"][1]: {"t": [10], "mistakes": [1], "n_sv_sum": [2]}})
    assert table["reps"].tolist() == [1]
    assert table["error_std"].isna().all()
    with pytest.raises(UserError, match="no learning curve"):
        mean_curves(cells, {})


def test_curve_figure_has_a_pair_of_panels_per_data_set_and_a_line_per_learner(studied):
    figure = draw_curves(mean_curves(*studied, EXPECTED))
    assert len(figure.axes) == 4
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == ["wdbc", "sonar"]
    for top, bottom in zip(figure.axes[:2], figure.axes[2:], strict=True):
        assert len(top.get_lines()) == 5
        assert len(top.collections) == 2  # bands of the learners, none for yardsticks
        assert len(bottom.get_lines()) == 2  # the yardsticks store nothing here
    assert legend_names(figure) == ["OMKC(D,D)", "OMKC(S,S)", "majority", "Perceptron", "AROW"]
    strokes = [line.get_linestyle() for line in figure.axes[0].get_lines()]
    assert strokes == ["-", "-", "--", "--", "--"]


def test_one_repetition_has_no_band():
    cells, curves = study((DD,), {"wdbc": 200}, 1)
    figure = draw_curves(mean_curves(cells, curves, expected((DD,), reps=1, yardsticks=())))
    assert len(figure.axes) == 2
    assert not figure.axes[0].collections
    assert figure.legends[0].get_title().get_text() == "one pass in one order"


def test_the_curves_after_the_start_are_inside_the_axis(studied):
    table = mean_curves(*studied, EXPECTED)
    axes = draw_curves(table).axes[0]
    low, high = axes.get_ylim()
    part = table[(table["data"] == "wdbc") & ~table["is_yardstick"] & (table["t"] >= 0.05 * 300)]
    assert low <= part["error_mean"].min()
    assert part["error_mean"].max() <= high


def test_lines_on_one_another_are_striped():
    cells, curves = study((DD, SS), {"wdbc": 200}, 2)
    for line in cells.to_dict("records"):
        twin = cells[(cells["algo"] == "omkc_dd") & (cells["rep"] == line["rep"])]["key"].iloc[0]
        curves[line["key"]] = curves[twin]
    figure = draw_curves(mean_curves(cells, curves, expected((DD, SS), reps=2, yardsticks=())))
    for axes in figure.axes:
        assert [line.get_linestyle() for line in axes.get_lines()] == ["--", "--"]


def test_stripes_take_turns():
    class Line:
        def set_linestyle(self, stroke):
            self.stroke = stroke

    lines = {name: Line() for name in ("a", "b", "c", "alone")}
    for group in ("a b c", "alone"):
        stripe([lines[name] for name in group.split()], length=1.0)

    def drawn(stroke: tuple, place: float) -> bool:
        offset, (dash, gap) = stroke
        return (place + offset) % (dash + gap) < dash

    for place in np.arange(0.5, 12.0):
        assert sum(drawn(lines[name].stroke, place) for name in "abc") == 1
    assert not hasattr(lines["alone"], "stroke")


def test_a_yardstick_that_wins_is_always_seen():
    limits, out = robust_limits([30.0, 31.0], {"wins": 2.0, "worse": 38.0})
    assert out == []
    assert limits[0] < 2.0
    assert limits[1] > 38.0


def test_a_far_yardstick_is_named_above_the_panel():
    limits, out = robust_limits([10.0, 12.0], {"near": 9.0, "far": 60.0})
    assert out == ["far"]
    assert limits[0] < 9.0
    assert 12.0 < limits[1] < 60.0
    axes = Figure().subplots()
    note_left_out(axes, {"far": 60.0})
    assert axes.get_title(loc="right") == "far 60.0 ↑"


def error_panel(end: float):
    """A learner from 20 to 10.5 %, and two yardsticks at 60 %: one ends there, the other at ``end``."""
    settings = (DD, setting("perceptron"), setting("arow"))
    t = np.arange(50, 1001, 50)
    rates = 0.1 + 5 / t, np.full(20, 0.6), np.where(t <= 500, 0.6, end)
    counts = [np.round(t * rate).astype(int).tolist() for rate in rates]
    cells = frame(*(cell(own, 0, count[-1]) for own, count in zip(settings, counts, strict=True)))
    curves = {
        key: {"t": t.tolist(), "mistakes": count, "n_sv_sum": t.tolist()}
        for key, count in zip(cells["key"], counts, strict=True)
    }
    table = mean_curves(cells, curves, expected((DD,), reps=1, yardsticks=settings[1:]))
    return draw_curves(table, ("error",)).axes[0]


@pytest.mark.parametrize("end", [0.13, 0.22])
def test_above_a_panel_are_the_values_at_which_lines_end_and_only_of_those_that_end_there(end):
    axes = error_panel(end)
    assert axes.get_title(loc="right") == "Perceptron 60.0 ↑"
    assert 100 * end < axes.get_ylim()[1] < 60.0
    with in_style(FigureStyle(ylim=(5.0, 12.0))):
        assert error_panel(end).get_title(loc="right") == f"Perceptron 60.0 ↑\nAROW {100 * end:.1f} ↑"


def test_where_the_users_axis_holds_all_lines_nothing_is_named_and_no_axis_broken():
    with in_style(FigureStyle(ylim=(0.0, 70.0))):
        axes = error_panel(0.13)
    assert axes.get_title(loc="right") == ""
    assert len(axes.get_lines()) == 3


# -------------------------------------------------------------------- files


def test_files_carry_the_command_and_are_the_same_each_time(tmp_path, studied):
    from PIL import Image

    first = curve_figure(*studied, tmp_path / "a", expected=EXPECTED)
    again = curve_figure(*studied, tmp_path / "b", expected=EXPECTED)
    assert [file.suffix for file in first] == [".png", ".pdf"]
    for one, two in zip(first, again, strict=True):
        assert one.read_bytes() == two.read_bytes()
    with Image.open(first[0]) as picture:
        assert picture.text["Description"] == "omkl run algo=x data=wdbc"
        assert len(set(picture.convert("L").resize((60, 40)).tobytes())) > 20  # something is drawn
    pdf = first[1].read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"/Subject (omkl run algo=x data=wdbc)" in pdf
    assert b"CreationDate" not in pdf


def test_an_ending_chooses_one_format(tmp_path, studied):
    (file,) = curve_figure(*studied, tmp_path / "deep" / "figure.svg", expected=EXPECTED)
    assert file == tmp_path / "deep" / "figure.svg"
    assert "<svg" in file.read_text()


def test_a_format_that_is_not_written_is_refused(tmp_path, studied):
    with pytest.raises(UserError, match=r"\.png, \.pdf, \.svg, not \.jpg"):
        curve_figure(*studied, tmp_path / "figure.jpg", expected=EXPECTED)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path, studied):
    (tmp_path / "file").write_text("")
    with pytest.raises(OmklError, match="cannot write the figure"):
        curve_figure(*studied, tmp_path / "file" / "figure", expected=EXPECTED)


def test_a_name_with_dots_keeps_them(tmp_path, studied):
    files = curve_figure(*studied, tmp_path / "beta0.5", expected=EXPECTED)
    assert [file.name for file in files] == ["beta0.5.png", "beta0.5.pdf"]


def test_names_do_not_escape_their_folder(tmp_path):
    cells = frame(cell(DD, 0, 4, "../../etc/pass wd"))
    curves = {cells["key"][0]: {"t": [500, 1000], "mistakes": [3, 4], "n_sv_sum": [30, 40]}}
    files = curve_figure(cells, curves, tmp_path, expected=expected((DD,), (), 1, yardsticks=()))
    assert [file.parent for file in files] == [tmp_path, tmp_path]
    assert files[0].name == "curve-omkc_dd-etc-pass-wd.png"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../x", "x"),
        ("a/b\\c", "a-b-c"),
        (".hidden", "hidden"),
        ("...", "figure"),
        ("", "figure"),
        ("ä b", "b"),
    ],
)
def test_safe_names(text, name):
    assert safe_name(text) == name


def test_long_names_are_cut_and_stay_different():
    names = {safe_name("x" * 200 + end) for end in "ab"}
    assert len(names) == 2
    assert max(map(len, names)) < 100


def test_drawing_leaves_matplotlib_as_it_was(tmp_path, studied):
    import matplotlib

    before = dict(matplotlib.rcParams)
    curve_figure(*studied, tmp_path / "a.png", expected=EXPECTED)
    assert dict(matplotlib.rcParams) == before


def test_importing_reports_is_cheap():
    code = (
        "import sys, omkl.reports.figure_style, omkl.reports.table; "
        "print([m for m in ('pandas', 'matplotlib', 'scipy', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
