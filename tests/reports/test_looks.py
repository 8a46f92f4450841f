"""Figures can be read and are true: no two lines look alike, captions and warnings come from the data."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from support.drawn import curve_figure, draw_curves, draw_sensitivity, draw_sweep, draw_times
from support.reports_cells import YARDSTICKS, cell, expected, frame, repetitions, report, setting, study

from omkl.errors import UserError
from omkl.reports.captions import shortfall_of
from omkl.reports.charts import learning_curves, sensitivity_table, sweep
from omkl.reports.figures import line_styles
from omkl.reports.line_drawing import plain_log
from omkl.reports.measures import mean_curves
from omkl.reports.ranks import average_ranks
from omkl.reports.summary import grid_table, summary_of

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NINE = tuple(setting("omkc_dd", beta=beta) for beta in BETAS)


def below(figure: Figure) -> str:
    """The text below the panels, in one line."""
    text = figure.legends[0].get_title() if figure.legends else figure._supxlabel
    return " ".join(text.get_text().split())


def table_of(settings: tuple, reps: int, data: dict | None = None, **more):
    data = data or {"wdbc": 200}
    cells, curves = study((*settings, *YARDSTICKS), data, reps)
    cells = cells.assign(**more)
    return mean_curves(cells, curves, expected(settings, tuple(data), reps))


# -------------------------------------------------------------------- looks


def test_no_two_lines_of_a_figure_look_alike_however_many():
    names, greys = [f"learner {n}" for n in range(100)], [f"yardstick {n}" for n in range(20)]
    looks = line_styles(names, greys)
    seen = {(look.colour, look.dashes) for look in looks.values()}
    assert len(seen) == 120
    for one, other in itertools.combinations(names[:50], 2):
        if looks[one].colour == looks[other].colour:
            assert looks[one].marker != looks[other].marker
    assert not {looks[name].colour for name in names} & {looks[name].colour for name in greys}


def test_two_learners_differ_in_grey_and_one_needs_no_marker():
    assert not line_styles(["a"], ["b"])["a"].marker
    assert len({look.marker for look in line_styles(list("abcdefgh"), []).values()}) == 8


def test_the_bars_of_two_learners_do_not_look_alike():
    table = pd.DataFrame(
        [("x", f"learner {n}", 1.0 + n) for n in range(20)], columns=["data", "line", "seconds_mean"]
    )
    (axes,) = draw_times(table).axes
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in axes.patches}
    assert len(looks) == 20


def test_the_dots_of_two_learners_do_not_look_alike():
    looks = line_styles([f"learner {n}" for n in range(30)], [])
    assert len({(look.colour, look.marker) for look in looks.values()}) == 30


def test_a_line_that_another_nearly_hides_takes_turns_with_it():
    table = pd.DataFrame(
        {
            "data": "x",
            "task": "regression",
            "order": "file",
            "reps": 1,
            "asked": 1,
            "is_yardstick": False,
            "line": np.repeat(["below", "above", "apart"], 50),
            "algo": "a",
            "t": np.tile(np.arange(50) * 10 + 10, 3),
            "mse_e3_mean": np.concatenate([np.full(50, 2.0), np.full(50, 2.005), np.full(50, 6.0)]),
            "mse_e3_std": np.nan,
        }
    )
    for log in (False, True):
        (axes,) = draw_curves(table, ("mse_e3",), log=log).axes
        strokes_of = {line.get_label(): line.get_linestyle() for line in axes.get_lines()}
        assert strokes_of == {"below": "--", "above": "--", "apart": "-"}


@pytest.mark.parametrize(("count", "bands"), [(4, 4), (5, 0), (9, 0)])
def test_a_few_bands_at_most_and_bars_for_more_learners(count, bands):
    settings = NINE[:count]
    figure = draw_curves(table_of(settings, 3))
    kinds = [type(artist).__name__ for artist in figure.axes[0].collections]
    assert sum(kind != "LineCollection" for kind in kinds) == bands
    assert sum(kind == "LineCollection" for kind in kinds) == count - bands
    assert f"{'bands' if bands else 'bars'}: ±1 standard deviation" in below(figure)


def test_an_axis_has_plain_numbers():
    figure = Figure()
    axes = figure.subplots()
    axes.set_yscale("log")
    axes.set_ylim(0.45, 20)
    plain_log(axes.yaxis)
    FigureCanvasAgg(figure).draw()
    labels = [label.get_text() for label in (*axes.get_yticklabels(), *axes.get_yticklabels(minor=True))]
    assert {"0.6", "1", "10"} <= set(labels)
    assert not any("e" in label or "^" in label for label in labels)


def test_a_log_axis_of_a_sensitivity_figure_has_plain_numbers():
    rows = [{"panel": "p", "x": x, "line": "a", "y_mean": 0.05 * 40**x, "y_std": np.nan} for x in (0.0, 1.0)]
    figure = draw_sensitivity(pd.DataFrame(rows))
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert "0.1" in labels
    assert not any("e-" in label or "^" in label for label in labels)


def test_the_legend_names_what_is_in_view():
    cells, _ = study((*NINE[:3], *YARDSTICKS), {"wdbc": 200}, 2)
    cells.loc[cells["algo"] == "majority", ["mistakes", "mistake_rate"]] = [190, 0.95]
    summary = summary_of(cells, expected(NINE[:3], ("wdbc",), 2))
    for figure in (draw_sweep(summary), draw_sensitivity(sensitivity_table(summary, "beta"))):
        (axes,) = figure.axes
        assert "majority 95.0 ↑" in axes.get_title(loc="right")
        assert "majority" not in [text.get_text() for text in figure.legends[0].get_texts()]


# -------------------------------------------------------------------- captions


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
def test_the_caption_says_what_was_drawn(order, reps, text):
    settings = (*(setting("omkc_ss", beta=beta) for beta in (0.3, 0.8)), DD)
    assert below(draw_curves(table_of(settings, reps, order=order))) == text
    cells, _ = study((*settings, *YARDSTICKS), {"wdbc": 200}, reps)
    summary = summary_of(cells.assign(order=order), expected(settings, ("wdbc",), reps))
    assert below(draw_sensitivity(sensitivity_table(summary, "beta"))) == text
    assert below(draw_sweep(summary)).startswith(f"{text}; ring")
    assert below(draw_times(grid_table(summary))) == text.partition(";")[0]


def test_equal_repetitions_have_no_deviation():
    cells = frame(*repetitions(DD, [4, 4, 4], order="file", T=10))
    curves = {key: {"t": [5, 10], "mistakes": [3, 4], "n_sv_sum": [3, 4]} for key in cells["key"]}
    figure = draw_curves(mean_curves(cells, curves, expected((DD,), reps=3, yardsticks=())))
    assert below(figure) == "mean over 3 repetitions in file order"


def test_a_table_of_one_order_speaks_of_no_permutations():
    cells = frame(*repetitions(DD, [4, 6, 5, 5, 5], order="file"), *repetitions(SS, [4, 6], order="file"))
    text = " ".join(report(cells, expected((DD, SS), reps=5, yardsticks=())).split())
    assert "standard deviation over the repetitions" in text
    assert "no test in file order there is one permutation, so that nothing is tested or marked" in text
    assert "t-test" not in text


def test_the_ranks_of_a_regression_are_those_of_its_error():
    cells = [
        cell(which, 0, 5, data, task="regression", mse=mse)
        for data in "ab"
        for which, mse in ((DD, 0.1), (SS, 0.2), (U, 0.3))
    ]
    summary = summary_of(frame(*cells), expected((DD, SS, U), ("a", "b"), 1, yardsticks=()))
    assert "(1: least RMSE)" in average_ranks(summary).caption()


# -------------------------------------------------------------------- warnings


def incomplete(settings: tuple = (DD, SS), lost: int = 2):
    cells, curves = study((*settings, *YARDSTICKS), {"wdbc": 100, "sonar": 100}, 4)
    own = cells[(cells["algo"] == settings[0].learner) & (cells["data"] == "sonar")].index[:lost]
    return cells.drop(own).reset_index(drop=True), curves, expected(settings, ("wdbc", "sonar"), 4)


def test_a_curve_of_fewer_repetitions_is_a_warning_beside_the_picture(tmp_path):
    cells, curves, about = incomplete()
    figure = learning_curves(cells, curves, about)
    assert figure.warnings == ["INCOMPLETE, repetitions done: OMKC(D,D) on sonar 2 of 4"]
    (file,) = curve_figure(cells, curves, tmp_path / "x.svg", expected=about)
    assert "mean over 4 permutations" in file.read_text()
    assert "INCOMPLETE" not in file.read_text()


def test_a_learner_of_which_nothing_has_finished_is_named():
    cells, curves, about = incomplete(lost=4)
    assert "OMKC(D,D) on sonar 0 of 4" in learning_curves(cells, curves, about).warnings[0]


def test_a_sweep_of_fewer_repetitions_is_a_warning():
    settings = tuple(setting("omkc_dd", beta=beta) for beta in (0.3, 0.8))
    cells, _, about = incomplete(settings, 2)
    figure = sweep(summary_of(cells, about))
    assert figure.warnings == ["INCOMPLETE, repetitions done: OMKC(D,D), beta=0.3 on sonar 2 of 4"]


def test_repetitions_that_differ_by_design_are_reported():
    cells, curves = study((DD, SS), {"wdbc": 100}, 4)
    cells = cells[(cells["algo"] == "omkc_dd") | (cells["rep"] == 0)].reset_index(drop=True)
    table = mean_curves(cells, curves, expected((DD, SS), reps=4, yardsticks=()))
    table.loc[table["algo"] == "omkc_ss", "asked"] = 1
    assert shortfall_of(table) == ["unequal repetitions: OMKC(S,S) on wdbc 1, the most 4"]


def test_a_complete_figure_has_no_warning():
    assert shortfall_of(table_of((DD, SS), 3)) == []


def test_a_warning_of_many_lines_is_short():
    cells, curves = study(NINE, {f"set{n}": 40 for n in range(9)}, 2)
    cells = cells[cells["rep"] == 0].reset_index(drop=True)
    (warning,) = shortfall_of(mean_curves(cells, curves, expected(NINE, reps=2, yardsticks=())))
    assert "and 76 more" in warning
    assert len(warning) < 400


# -------------------------------------------------------------------- ranks


def matched(budgets: dict[str, int]) -> pd.DataFrame:
    """Three learners, of which one has another budget on each data set."""
    cells, settings = [], []
    for place, (data, beta) in enumerate(budgets.items()):
        own = setting("omkc_dd", beta=beta)
        settings.append(own)
        for which, count in ((own, 10 + place), (SS, 20), (U, 30)):
            cells += repetitions(which, [count], data)
    summary = summary_of(frame(*cells), expected((*settings, SS, U), (), 1, yardsticks=()))
    return summary[summary["reps"] > 0]


def test_a_hyperparameter_that_is_chosen_per_data_set_makes_no_learner_of_its_own():
    summary = matched({"a": 0.1, "b": 0.2, "c": 0.3})
    with pytest.raises(UserError, match="5 learners have finished 0 data sets"):
        average_ranks(summary)
    summary["per_data"] = [("beta",) if algo == "omkc_dd" else () for algo in summary["algo"]]
    ranks = average_ranks(summary)
    assert ranks.average == {"OMKC(D,D)": 1.0, "OMKC(S,S)": 2.0, "OMKC(U)": 3.0}
    assert ranks.left_out == ()


def test_what_was_not_finished_is_reported_in_a_few_lines():
    summary = matched({f"set{n}": n / 100 for n in range(1, 41)})
    with pytest.raises(UserError) as error:
        average_ranks(summary)
    assert len(str(error.value)) < 500
    assert str(error.value).count(" and 36 more") == 3


def test_a_learner_is_ranked_by_one_row():
    summary = matched({"a": 0.1, "b": 0.2})
    twice = pd.concat([summary, summary[summary["algo"] == "omkc_u"]])
    with pytest.raises(UserError, match=r"'OMKC\(U\)' has two rows on a"):
        average_ranks(twice)
