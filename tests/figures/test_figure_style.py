"""What holds for every figure: what a user may choose, sizes of print, files, names, colours, numbers."""

import itertools
import re
import subprocess
import sys

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MplFigure
from support import ROOT
from support.reports_cells import COSINE, YARDSTICKS, cell, expected, frame, planned_in, setting, study

from omkl.errors import OmklError, UserError
from omkl.figures.curves import learning_curves
from omkl.figures.figure import Figure, drawing_settings
from omkl.figures.figure_names import file_stem, safe_name
from omkl.figures.kinds import figure_named
from omkl.figures.line_styles import line_styles
from omkl.figures.panel_grid import draw_legend
from omkl.figures.scales import axis_limits, beyond, limit_y, plain_log, thousands
from omkl.figures.style import KINDS, PAGE, FigureStyle, in_style, inches, y_limits
from omkl.reports.symbols import in_symbols

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
DATA = {"wdbc": 60, "sonar": 60}
PAPER = FigureStyle("paper", 3.3, False)
BAD_WIDTHS = ("3.3", "in", "-3in", "nanin", "1e3in", "3,3in", "3em", "0in", "99in", "٣in")


@pytest.fixture(scope="module")
def studied():
    return study((DD, SS, U, *YARDSTICKS), DATA, 2)


@pytest.fixture(scope="module")
def figure(studied):
    return learning_curves(*studied, expected((DD, SS, U), tuple(DATA), 2), title="a title")


# -------------------------------------------------------------------- what a user chooses


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (inches, "3.3in", 3.3),
        (inches, "8.4cm", 8.4 / 2.54),
        (inches, "84 mm", 84 / 25.4),
        (inches, "240pt", 240 / 72.27),
        (y_limits, "-1:2.5", (-1.0, 2.5)),
        *((inches, text, "--width") for text in BAD_WIDTHS),
        *((y_limits, text, "--ylim") for text in ("10", "30:10", "a:b", "0:inf", "1:2:3", "")),
    ],
)
def test_widths_and_ends_of_axes(read, text, value):
    if isinstance(value, str):
        with pytest.raises(UserError, match=value):
            read(text)
    else:
        assert read(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("count", "style"),
    [(1, FigureStyle(width=PAGE, title=False)), (5, FigureStyle()), (12, PAPER), (12, FigureStyle())],
)
def test_a_figure_has_its_width_and_its_text_is_inside(count, style):
    data = {f"set{n}": 60 for n in range(count)}
    about = expected((DD, SS), tuple(data), 2)
    made = learning_curves(*study((DD, SS, *YARDSTICKS), data, 2), about, names=("error",), title="a title")
    with in_style(style):
        drawn = made.draw()
        with drawing_settings():
            FigureCanvasAgg(drawn).draw()
    assert drawn.get_figwidth() == (style.width or drawn.get_figwidth())
    assert drawn.get_figheight() < 6.95 or style.width == 3.3
    assert (drawn._suptitle is None) == (not style.title)
    # Panels are told apart by their titles; one alone needs none.
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ([""] if count == 1 and not style.title else list(data))
    texts = [text for axes in drawn.axes for text in (*axes.get_xticklabels(), axes.title, axes.yaxis.label)]
    for text in (*texts, *drawn.legends[0].get_texts()):
        box = text.get_window_extent()
        assert text.get_fontsize() >= 6.5
        assert not text.get_text() or (box.x0 >= -1 and box.x1 <= drawn.bbox.width + 1)


def test_a_long_title_takes_several_lines(studied):
    title = "Figure 2: cumulative mistakes of all learners on drift and switch"
    made = learning_curves(*studied, expected((DD, SS), tuple(DATA), 2), names=("error",), title=title)
    with in_style(FigureStyle(width=3.3)), drawing_settings():
        drawn = made.draw()
        FigureCanvasAgg(drawn).draw()
    box = drawn._suptitle.get_window_extent()
    assert drawn.get_suptitle().split() == title.split()
    assert box.x1 <= drawn.bbox.width
    assert box.y0 > max(axes.title.get_window_extent().y1 for axes in drawn.axes)


def test_a_long_name_of_a_legend_takes_several_lines():
    names = ["StandardScaler | SGDClassifier (scikit-learn), sgdclassifier__random_state=1 " * 2, "Auto"]
    with drawing_settings():
        drawn = MplFigure(figsize=(3.3, 2.0), layout="constrained")
        draw_legend(drawn, line_styles(names))
        FigureCanvasAgg(drawn).draw()
    assert drawn.legends[0].get_texts()[0].get_text().count("\n") >= 2
    for text in drawn.legends[0].get_texts():
        box = text.get_window_extent()
        assert (box.x0, box.y0) >= (0, 0)
        assert box.x1 <= drawn.bbox.width
        assert box.y1 <= drawn.bbox.height


def test_a_legend_of_columns_that_differ_in_length_has_room():
    names = ["OMKC(S,S)", "OMKC(D,D)", "Auto", "AVP", "Majority class", "Perceptron", "AROW"]
    with drawing_settings():
        drawn = MplFigure(figsize=(3.3, 2.0), layout="constrained")
        draw_legend(drawn, line_styles(names))
        FigureCanvasAgg(drawn).draw()
    box = drawn.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= drawn.bbox.width


def test_the_style_ends_with_its_block_and_matplotlib_is_as_it_was(figure, tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    with in_style(PAPER):
        figure.write(tmp_path / "a.png")
    assert figure.draw().get_suptitle() == "a title"
    assert dict(matplotlib.rcParams) == before
    assert FigureStyle("paper", 3.3, False, (0.0, 1.0)).words() == (
        " --width 3.3in --style paper --no-title --ylim 0:1"
    )


# -------------------------------------------------------------------- files


def test_files_carry_the_command_and_are_the_same_each_time(tmp_path, figure):
    from PIL import Image

    with in_style(PAPER):
        first, again = figure.write(tmp_path / "a"), figure.write(tmp_path / "b")
        svgs = [figure.write(tmp_path / f"{name}.svg")[0].read_bytes() for name in "ab"]
    assert [file.suffix for file in first] == [".png", ".pdf"]
    assert [one.read_bytes() for one in first] == [one.read_bytes() for one in again]
    assert svgs[0] == svgs[1]
    assert b"mistake rate (%)" in svgs[0]
    with Image.open(first[0]) as picture:
        assert picture.text["Description"] == "omkl run algo=x data=wdbc"
        assert len(set(picture.convert("L").resize((60, 40)).tobytes())) > 20  # something is drawn
    pdf = first[1].read_bytes()
    assert b"/Subject (omkl run algo=x data=wdbc)" in pdf
    assert b"CreationDate" not in pdf


def test_where_files_go(tmp_path, figure):
    assert [file.name for file in figure.write(tmp_path / "beta0.5")] == ["beta0.5.png", "beta0.5.pdf"]
    assert [file.name for file in figure.write(f"{tmp_path}/new/")] == ["curves.png", "curves.pdf"]
    with pytest.raises(UserError, match=r"\.png, \.pdf, \.svg, not \.jpg"):
        figure.write(tmp_path / "figure.jpg")
    (tmp_path / "file").write_text("")
    with pytest.raises(OmklError, match="cannot write the figure"):
        figure.write(tmp_path / "file" / "figure")
    assert Figure("x", figure.make, instead="it says nothing").write(tmp_path / "x.png") == []


def test_an_element_of_a_page_has_ids_of_its_own(figure):
    one, other = figure.svg("s1"), figure.svg("s2")
    assert figure.svg("s1") == one
    ids = [set(re.findall(r' id="([^"]*)"', text)) for text in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert set(re.findall(r'(?:href="|url\()#([^")]*)', one)) <= ids[0]
    assert not re.search("<style|<metadata|<script|a title|mean over", one)
    assert len(one) < 130_000


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


def test_figures_of_other_data_and_grids_have_other_files():
    assert len({safe_name("x" * 200 + end) for end in "ab"}) == 2
    assert len(file_stem("curve", ["x" * 200], ["a"] * 50)) < 150
    names = set()
    plain = setting("omkc_dd", COSINE), setting("omkc_dd", beta=0.1), setting("omkc_dd", beta=0.2)
    for which, content in itertools.product((DD, *plain), ("one", "other")):
        cells = frame(cell(which, 0, 4, "train.csv", data_hash=content))
        curves = {cells["key"][0]: {"t": [500, 1000], "mistakes": [3, 4], "n_sv_sum": [30, 40]}}
        made = figure_named("curve", cells, curves, planned_in(cells, settings=(which,)))
        assert made.name.startswith("curve-omkc_dd-train.csv-")
        names.add(made.name)
    assert len(names) == 8
    cells = frame(cell(DD, 0, 4, "../../etc/pass wd"))
    curves = {cells["key"][0]: {"t": [500, 1000], "mistakes": [3, 4], "n_sv_sum": [30, 40]}}
    made = figure_named("curve", cells, curves, planned_in(cells, settings=(DD,)))
    assert made.name.startswith("curve-omkc_dd-etc-pass-wd-")


# -------------------------------------------------------------------- by the word of the command


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("confusion", "calibration")])
def test_figures_of_a_run_by_kind(kind, studied):
    about = expected((DD, SS, U), tuple(DATA), 2)
    made = figure_named(kind, *studied, about)
    assert (made.command, made.name.split("-")[0]) == (about.command, kind)
    assert made.draw().axes or made.instead


def test_a_figure_of_cells_that_cannot_have_it_is_an_error():
    with pytest.raises(UserError, match="ranks need at least 2 data sets"):
        figure_named("ranks", *study((DD,), {"wdbc": 60}, 1), expected((DD,), reps=1))
    with pytest.raises(UserError, match="no learner has finished a cell"):
        figure_named("sweep", frame(), {}, expected((DD,), reps=1))


# -------------------------------------------------------------------- lines, axes and names


def test_no_two_lines_of_a_figure_look_alike_however_many():
    names, greys = [f"learner {n}" for n in range(100)], [f"yardstick {n}" for n in range(20)]
    styles = line_styles(names, greys)
    assert len({(own.colour, own.dashes) for own in styles.values()}) == 120
    for one, other in itertools.combinations(names[:50], 2):
        if styles[one].colour == styles[other].colour:
            assert styles[one].marker != styles[other].marker
    assert not {styles[name].colour for name in names} & {styles[name].colour for name in greys}
    assert len({own.marker for own in line_styles(list("abcdefgh")).values()}) == 8
    assert not line_styles(["a"], ["b"])["a"].marker
    drawn, whole = line_styles(["c"], palette="abc"), line_styles("abc")
    assert drawn["c"].colour == whole["c"].colour


@pytest.mark.parametrize(
    ("seen", "levels", "bottom", "top", "out"),
    [
        ([30.0, 31.0], {"wins": 2.0, "worse": 38.0}, 0.0, 38.0, []),
        ([10.0, 12.0], {"near": 9.0, "far": 60.0}, 8.0, 12.0, ["far"]),
        ([40.0, 44.0], {}, 39.0, 44.0, []),
        ([1.0, 44.0], {}, 0.0, 44.0, []),  # it begins at 0, never below
        ([0.0, 0.0], {}, 0.0, 0.0, []),
        ([-0.2, 0.4], {}, -0.3, 0.4, []),  # but where a value is
    ],
)
def test_an_axis_begins_at_0_or_at_the_data(seen, levels, bottom, top, out):
    (low, high), left_out = axis_limits(seen, levels)
    assert bottom <= low <= min([*seen, *levels.values()])
    assert low >= 0 or min(seen) < 0
    assert top < high
    assert left_out == out


def test_what_is_beyond_an_axis_is_named_with_its_value():
    axes = MplFigure().subplots()
    beyond(axes, {"far, beta=2": 60.04})
    assert [text.get_text() for text in axes.texts] == ["far, β=2 60.0 ↑"]


def test_an_axis_has_plain_numbers():
    drawn = MplFigure()
    axes = drawn.subplots()
    axes.set_yscale("log")
    axes.set_ylim(0.45, 2)
    plain_log(axes.yaxis)
    FigureCanvasAgg(drawn).draw()
    labels = [label.get_text() for label in (*axes.get_yticklabels(), *axes.get_yticklabels(minor=True))]
    assert {"0.6", "1"} <= set(labels)
    assert not any("e" in label or "^" in label for label in labels)


@pytest.mark.parametrize(
    ("width", "ends", "numbers"),
    [
        (3.0, (2.8, 29.0), ["5", "10", "20"]),
        (3.0, (0.001, 100.0), ["0.001", "0.01", "0.1", "1", "10", "100"]),
        (3.0, (26.0, 34.0), ["28", "30", "32"]),
        (3.0, (6.0, 11.0), ["6", "7", "8", "9", "10"]),
    ],
)
def test_a_log_axis_has_the_round_numbers_that_have_room(width, ends, numbers):
    with drawing_settings():
        drawn = MplFigure(figsize=(width, 2.0), layout="constrained")
        axes = drawn.subplots()
        axes.set_xscale("log")
        axes.set_xlim(*ends)
        plain_log(axes.xaxis)
        FigureCanvasAgg(drawn).draw()
    ticks = (*axes.get_xticklabels(), *axes.get_xticklabels(minor=True))
    shown = sorted((tick for tick in ticks if tick.get_text()), key=lambda tick: tick.get_position()[0])
    assert {*numbers} <= {tick.get_text() for tick in shown}
    boxes = [tick.get_window_extent() for tick in shown]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_counts_of_narrow_panels_do_not_touch():
    with drawing_settings():
        drawn = MplFigure(figsize=(3.3, 1.6), layout="constrained")
        for axes in drawn.subplots(1, 2):
            axes.set_xlim(0, 10_000)
            thousands(axes.xaxis)
        FigureCanvasAgg(drawn).draw()
    for axes in drawn.axes:
        shown = [tick for tick in axes.get_xticklabels() if tick.get_text()]
        assert [tick.get_text() for tick in shown] == ["0", "5,000", "10,000"]
        boxes = [tick.get_window_extent() for tick in shown]
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_names_of_levels_that_are_not_seen_stand_above_the_lines():
    with drawing_settings():
        drawn = MplFigure(figsize=(1.7, 1.5), layout="constrained")
        axes = drawn.subplots()
        axes.plot([0, 1], [2.0, 7.0])
        ends = limit_y(axes, [2.0, 7.0], {"Majority class": 36.0, "Perceptron": 36.2, "AROW": 24.9}, None)
        FigureCanvasAgg(drawn).draw()
    [names] = axes.texts
    assert names.get_text().count("\n") == 2
    assert names.get_window_extent().y0 > axes.transData.transform((1.0, 7.0))[1]
    assert axes.get_ylim() == ends
    limit_y(axes, [2.0, 7.0], {"AROW": 24.9}, (0.0, 5.0))
    assert axes.get_ylim() == (0.0, 5.0)


def test_symbols_replace_what_is_set_and_no_names():
    assert in_symbols("A, beta=0.8 lam=1 gaussian(sigma=2), sigma^2 = 1") == (
        "A, β=0.8 λ=1 gaussian(σ=2), σ² = 1"
    )
    assert in_symbols("alpha on beta, omkc_beta=1") == "alpha on beta, omkc_beta=1"


def test_a_dollar_in_the_name_of_a_data_set_is_a_dollar():
    about = expected((DD,), (r"$\frac$",), 1, yardsticks=())
    drawn = learning_curves(*study((DD,), {r"$\frac$": 60}, 1), about, names=("error",)).draw()
    FigureCanvasAgg(drawn).draw()
    assert drawn.axes[0].get_title(loc="left") == r"$\frac$"


def test_importing_what_every_command_imports_is_cheap():
    code = (
        "import sys, omkl.figures.style, omkl.reports.table; "
        "print([m for m in ('pandas', 'matplotlib', 'scipy', 'numpy', 'markdown_it') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
