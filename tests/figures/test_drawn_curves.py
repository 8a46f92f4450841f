"""Learning curves: the numbers that are drawn, lines and panels, scales, notes and warnings."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from support.drawn import band_of, line_named
from support.reports_cells import YARDSTICKS, cell, expected, frame, planned_in, repetitions, setting, study

from omkl.errors import UserError
from omkl.figures.curves import FEW_BANDS, curves, learning_curves
from omkl.figures.line_styles import COLOURS
from omkl.figures.style import FigureStyle, in_style
from omkl.reports.measures import ERROR, mean_curves
from omkl.tasks import MEASURES

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
MANY = tuple(setting("omkc_dd", beta=n / 20) for n in range(1, 15))


def made(settings, data=None, reps=3, yardsticks=YARDSTICKS, names=(ERROR,), **more):
    data = data or {"wdbc": 200}
    own = study((*settings, *yardsticks), data, reps)
    return learning_curves(
        *own, expected(settings, tuple(data), reps, yardsticks=yardsticks), names=names, **more
    )


def legend(drawn):
    return [text.get_text() for text in drawn.legends[0].get_texts()]


@pytest.mark.parametrize("name", ["error", "n_sv_sum", "mistakes", "windowed_pct"])
def test_a_curve_is_the_mean_and_its_band_one_standard_deviation(name):
    cells, stored = study((DD, SS), {"wdbc": 300}, 4)
    table = mean_curves(cells, stored, expected((DD, SS), reps=4, yardsticks=()), (name,))
    (axes,) = curves({name: table}).draw().axes
    bands = {tuple(band.get_facecolor()[0][:3]): band_of(band) for band in axes.collections}
    assert len(bands) == 2
    for line, part in table.groupby("line"):
        own, start = line_named(axes, line), 0
        if name in ("n_sv_sum", "mistakes"):
            assert (own.get_xdata()[0], own.get_ydata()[0]) == (0, 0)
            start = 1
        else:
            part = part[part["t"] >= 10]
        mean, std = part[f"{name}_mean"].to_numpy(), part[f"{name}_std"].to_numpy()
        assert std.max() > 0
        np.testing.assert_array_equal(own.get_xdata()[start:], part["t"])
        np.testing.assert_allclose(own.get_ydata()[start:], mean)
        x, low, high = (edge[start:] for edge in bands[to_rgba(own.get_color())[:3]])
        np.testing.assert_array_equal(x, part["t"])
        np.testing.assert_allclose(low, np.maximum(mean - std, 0.0))
        np.testing.assert_allclose(high, mean + std)


def test_two_measures_are_below_each_other_with_one_legend():
    drawn = made((DD, SS), {"wdbc": 300, "sonar": 200}, names=(ERROR, "n_sv_sum")).draw()
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["wdbc", "sonar", "", ""]
    for top, bottom in zip(drawn.axes[:2], drawn.axes[2:], strict=True):
        assert [len(top.get_lines()), len(bottom.get_lines())] == [5, 2]  # the yardsticks store nothing
        assert len(top.collections) == 2  # bands of the learners, none for yardsticks
    assert [axes.get_ylabel() for axes in drawn.axes] == [
        "mistake rate (%)",
        "",
        "support vectors (#SV)",
        "",
    ]
    assert legend(drawn) == ["OMKC(D,D)", "OMKC(S,S)", "majority", "Perceptron", "AROW"]
    strokes = [line.get_linestyle() for line in drawn.axes[0].get_lines()]
    assert strokes == ["-", "-", "--", "--", "--"]


@pytest.mark.parametrize(("count", "bands"), [(1, 1), (FEW_BANDS, FEW_BANDS), (FEW_BANDS + 1, 0)])
def test_a_few_bands_at_most(count, bands):
    figure = made(MANY[:count])
    assert len(figure.draw().axes[0].collections) == bands
    assert ("bands: ±1 standard deviation" in figure.note) == bool(bands)


def test_twelve_panels_and_ten_lines_at_most_and_the_rest_is_named():
    data = {f"set{number}": 40 for number in range(15)}
    figure = made(MANY, data, 1, names=(ERROR, "n_sv_sum"))
    drawn = figure.draw()
    assert [axes.get_title(loc="left") for axes in drawn.axes] == list(data)[:12]
    assert len(legend(drawn)) == max(len(axes.get_lines()) for axes in drawn.axes) == 10
    assert "drawn: the 10 best of 14 learners" in figure.note
    assert "the first 12 of 15 data sets; not drawn: set12, set13, set14 (choose with data=)" in figure.note
    assert "by=n_sv_sum draws the other measure" in figure.note
    assert sum(bool(axes.get_ylabel()) for axes in drawn.axes) == 3
    cells, stored = study(MANY, data, 1)
    table = mean_curves(cells, stored, expected(MANY, tuple(data), 1, yardsticks=()), (ERROR,))
    last = table.groupby(["data", "line"])["error_mean"].last().groupby("data").rank()
    best = last.groupby("line").mean().nsmallest(10).index
    assert set(legend(drawn)) == {name.replace("beta", "β") for name in best}


def test_of_jagged_lines_five_are_drawn_the_best_on_average():
    figure = made(MANY, {"wdbc": 400}, 1, names=("windowed_pct",))
    assert len(figure.draw().axes[0].get_lines()) == 5
    assert "drawn: the 5 best of 14 learners" in figure.note


def test_a_palette_keeps_a_learners_colour():
    cells, stored = study((DD, SS), {"wdbc": 60}, 1)
    table = mean_curves(cells, stored, expected((DD, SS), reps=1, yardsticks=()), ("mistakes",))
    colours = {}
    for part in (table, table[table["algo"] == "omkc_ss"]):
        palette = ("OMKC(U)", "OMKC(S,S)", "OMKC(D,D)")
        (axes,) = curves({"mistakes": part}, palette=palette).draw().axes
        for line in axes.get_lines():
            assert colours.setdefault(line.get_label(), line.get_color()) == line.get_color()
    assert colours == {"OMKC(S,S)": COLOURS[1], "OMKC(D,D)": COLOURS[2]}


def error_panel(end: float):
    """A learner from 20 to 10.5 %, and two yardsticks at 60 %: one ends there, the other at ``end``."""
    own = (DD, setting("perceptron"), setting("arow"))
    t = np.arange(50, 1001, 50)
    rates = 0.1 + 5 / t, np.full(20, 0.6), np.where(t <= 500, 0.6, end)
    counts = [np.round(t * rate).astype(int).tolist() for rate in rates]
    cells = frame(*(cell(which, 0, count[-1]) for which, count in zip(own, counts, strict=True)))
    stored = {
        key: {"t": t.tolist(), "mistakes": count, "n_sv_sum": t.tolist()}
        for key, count in zip(cells["key"], counts, strict=True)
    }
    return learning_curves(cells, stored, expected((DD,), reps=1, yardsticks=own[1:]), names=(ERROR,)).draw()


@pytest.mark.parametrize(
    ("ylim", "said", "named"),
    [
        (None, ["Perceptron 60.0 ↑"], ["OMKC(D,D)", "AROW"]),
        ((5.0, 12.0), ["Perceptron 60.0 ↑\nAROW 13.0 ↑"], ["OMKC(D,D)"]),
        ((0.0, 70.0), [], ["OMKC(D,D)", "Perceptron", "AROW"]),
    ],
)
def test_yardsticks_far_away_are_named_with_the_values_at_which_they_end(ylim, said, named):
    with in_style(FigureStyle(ylim=ylim)):
        drawn = error_panel(0.13)
    (axes,) = drawn.axes
    assert [text.get_text() for text in axes.texts] == said
    assert legend(drawn) == named
    low, high = axes.get_ylim()
    assert (low, high) == ylim if ylim else 0 <= low < 10.5 < 13.0 < high < 60.0


def test_scales():
    cells, stored = study((DD, U, YARDSTICKS[0]), {"wdbc": 200}, 2)
    for key, curve in stored.items():
        curve["loss"] = [0.0001 * t for t in curve["t"]]
        curve["n_sv_sum"] = [n // (100 if "omkc_u" in key else 1) for n in curve["n_sv_sum"]]
    about = expected((DD, U), reps=2, yardsticks=YARDSTICKS[:1])
    table = mean_curves(cells, stored, about, ("n_sv_sum", "mse_e3"))
    (axes,) = curves({"n_sv_sum": table}).draw().axes
    assert axes.get_yscale() == "log"
    assert [line.get_label() for line in axes.get_lines()] == ["OMKC(D,D)", "OMKC(U)"]
    assert curves({"n_sv_sum": table}, log=False).draw().axes[0].get_yscale() == "linear"
    low, high = curves({"mse_e3": table}, log=True).draw().axes[0].get_ylim()
    assert low < 0.1 < high


def test_the_band_of_a_weight_ends_at_one():
    cells, stored = study((DD,), {"wdbc": 50}, 2)
    for key, top in zip(stored, (3.0, 99.0), strict=True):  # 0.87 ± 0.17
        stored[key] |= {"weights_t": [25, 50], "weights": [[1.0, top]] * 2}
    (axes,) = (
        curves({"top_weight": mean_curves(cells, stored, planned_in(cells), names=("top_weight",))})
        .draw()
        .axes
    )
    (band,) = axes.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 1.0


@pytest.mark.parametrize("name", [name for name, own in MEASURES.items() if own.label])
def test_every_measure_is_drawn(name):
    lists = {own.needs: [1.0, 1.5, 1.7] for own in MEASURES.values() if own.needs}
    lists |= {"weights_t": [4, 8], "weights": [[9, 3], [2, 6]], "t": [2, 4, 8]}
    cells = frame(cell(DD, 0, 4, T=8))
    figure = learning_curves(
        cells, {cells["key"][0]: lists}, expected((DD,), reps=1, yardsticks=()), names=(name,)
    )
    (axes,) = figure.draw().axes
    assert (axes.get_ylabel(), len(axes.get_lines())) == (MEASURES[name].label, 1)


def test_a_learner_without_mistakes_is_drawn_and_one_without_support_vectors_is_not():
    cells = frame(cell(DD, 0, 0, T=8))
    stored = {cells["key"][0]: {"t": [2, 4, 8], "mistakes": [0, 0, 0], "n_sv_sum": [0, 0, 0]}}
    about = expected((DD,), reps=1, yardsticks=())
    assert len(learning_curves(cells, stored, about, names=("mistakes",)).draw().axes[0].get_lines()) == 1
    with pytest.raises(UserError, match="these learners store none"):
        learning_curves(cells, stored, about, names=("n_sv_sum",))


def test_a_data_set_whose_curves_lack_the_first_measure_has_its_others():
    cells, stored = study((DD,), {"wdbc": 60, "sonar": 60}, 1)
    for line in cells.to_dict("records"):
        if line["data"] == "sonar":
            stored[line["key"]] |= {"weights_t": [60], "weights": [[1.0, 3.0]]}
    names = ("top_weight", "mistakes", "n_sv_sum")
    drawn = learning_curves(cells, stored, expected((DD,), ("wdbc", "sonar"), 1), names=names).draw()
    assert len(drawn.axes) == 5


@pytest.mark.parametrize(
    ("order", "reps", "text"),
    [
        ("permuted", 1, "one pass in one order"),
        ("permuted", 3, "mean over 3 permutations; bands: ±1 standard deviation"),
        ("file", 1, "one pass in file order"),
        ("file", 3, "mean over 3 repetitions in file order; bands: ±1 standard deviation"),
        ("authors", 3, "mean over 3 of the authors' permutations; bands: ±1 standard deviation"),
    ],
)
def test_the_note_says_what_was_drawn(order, reps, text):
    cells, stored = study((DD, SS), {"wdbc": 60}, reps)
    about = expected((DD, SS), reps=reps, yardsticks=(), order=order)
    figure = learning_curves(cells.assign(order=order), stored, about)
    assert figure.note == text
    assert " ".join(figure.draw().legends[0].get_title().get_text().split()) == text


def test_equal_repetitions_have_no_deviation():
    cells = frame(*repetitions(DD, [4, 4, 4], order="file", T=10))
    stored = {key: {"t": [5, 10], "mistakes": [3, 4], "n_sv_sum": [3, 4]} for key in cells["key"]}
    figure = learning_curves(cells, stored, expected((DD,), reps=3, yardsticks=(), order="file"))
    assert figure.note == "mean over 3 repetitions in file order"


@pytest.mark.parametrize("lost", [0, 2, 4])
def test_fewer_repetitions_are_a_warning_beside_the_picture(lost):
    cells, stored = study((DD, SS), {"wdbc": 100, "sonar": 100}, 4)
    own = cells[(cells["algo"] == "omkc_dd") & (cells["data"] == "sonar")].index[:lost]
    about = expected((DD, SS), ("wdbc", "sonar"), 4, yardsticks=())
    figure = learning_curves(cells.drop(own).reset_index(drop=True), stored, about)
    assert figure.warnings == (
        [f"INCOMPLETE, repetitions done: OMKC(D,D) on sonar {4 - lost} of 4"] if lost else []
    )
    assert "mean over 4 permutations" in figure.note
