"""Costs, ranks and confusion matrices: their numbers, names and what cannot be drawn."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from support.reports_cells import YARDSTICKS, cell, expected, frame, setting, study

from omkl.errors import UserError
from omkl.figures.costs import costs_of, front, pareto, times_figure
from omkl.figures.matrices import Matrix, confusion
from omkl.figures.panel_grid import panels_per_row
from omkl.figures.rank_diagram import rank_figure
from omkl.figures.style import MOST_LINES, FigureStyle, in_style
from omkl.passes import confusion as counted
from omkl.publications.paper_tables import with_costs
from omkl.reports.grid import grid_table
from omkl.reports.ranks import DRAWN, average_ranks, ranks_of
from omkl.reports.statistics import critical_difference
from omkl.reports.summary import summary_of

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
DATA = {"wdbc": 300, "sonar": 200}


# -------------------------------------------------------------------- seconds


def test_times_are_dots_and_a_missing_time_is_a_dash():
    cells, _ = study((DD, SS, U, *YARDSTICKS), DATA, 2)
    cells = cells[(cells["algo"] != "omkc_u") | (cells["data"] == "wdbc")].reset_index(drop=True)
    summary = summary_of(cells, expected((DD, SS, U), tuple(DATA), 2))
    table = grid_table(summary[summary["reps"] > 0])
    drawn = times_figure(table).draw()
    names = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert names == ["OMKC(D,D)", "OMKC(S,S)", "OMKC(U)", "majority", "Perceptron", "AROW"]
    for axes, (_, part) in zip(drawn.axes, table.groupby("data", sort=False), strict=True):
        dots = {names[int(line.get_ydata()[0])]: line.get_xdata()[0] for line in axes.get_lines()}
        assert dots == dict(zip(part["line"], part["seconds_mean"], strict=True))
        assert axes.get_xscale() == "log"
    assert [len(axes.texts) for axes in drawn.axes] == [0, 1]
    with pytest.raises(UserError, match="exactly one row for each"):
        times_figure(pd.concat([table, table]))


def test_panels_of_times_have_room_beside_the_names():
    data = {"adaraker_twitter": 300, "adaraker_tom": 200}
    summary = summary_of(study((DD, SS), data, 2)[0], expected((DD, SS), tuple(data), 2))
    summary = grid_table(summary)
    summary["line"] = summary["line"].replace("OMKC(S,S)", "AdaRaker, as the authors run it")
    for width, columns in ((3.3, 1), (6.9, 2)):
        with in_style(FigureStyle(width=width)):
            drawn = times_figure(summary).draw()
        assert panels_per_row(drawn) == columns


# -------------------------------------------------------------------- fronts


def test_the_front_is_what_no_other_beats_in_both():
    assert front([1.0, 2.0, 2.0, 3.0, 4.0, np.nan], [9.0, 5.0, 6.0, 5.0, 1.0, 0.0]) == [0, 1, 4]
    assert front([1.0, 1.0], [2.0, 2.0]) == [0]
    assert front([2.0, 1.0], [1.0, 1.0]) == [1]


def table(**more):
    rows = {
        "data": ["one"] * 4,
        "task": "classification",
        "measure": "mistake_pct",
        "line": ["quick", "slow", "best", "none"],
        "mistake_pct_mean": [20.0, 25.0, 10.0, np.nan],
        "mistake_pct_std": np.nan,
        "per_1000": [0.1, 2.0, 1.0, 1.0],
        "n_sv_sum_mean": [0.0, 50.0, 80.0, 10.0],
        "features": [100.0, np.nan, np.nan, np.nan],
        "memory_mib_mean": [1.5, 0.5, 2.0, 1.0],
    }
    return pd.DataFrame(rows | more)


def test_times_are_of_1000_rounds():
    summary = summary_of(frame(cell(DD, 0, 10, T=250, seconds=0.5)), expected((DD,), reps=1, yardsticks=()))
    assert with_costs(summary)["per_1000"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("cost", "more", "values", "joined"),
    [
        ("time", {}, {"quick": 0.1, "slow": 2.0, "best": 1.0}, [0.1, 1.0]),
        ("size", {}, {"quick": 100, "slow": 50, "best": 80}, [50, 80]),  # vectors or features
        ("memory", {}, {"quick": 1.5, "slow": 0.5, "best": 2.0}, [0.5, 1.5, 2.0]),
        # where more is better, the front is of the largest, and the axis upside down
        (
            "time",
            {"measure": "auc", "auc_mean": [0.6, 0.9, 0.8, np.nan], "auc_std": np.nan},
            {"quick": 0.1, "slow": 2.0, "best": 1.0},
            [0.1, 1.0, 2.0],
        ),
    ],
)
def test_a_point_for_each_finished_row_and_the_front(cost, more, values, joined):
    own = costs_of(table(**more), cost)
    drawn = pareto(own, cost, title="Fronts").draw()
    (axes,) = drawn.axes
    line, *points = axes.get_lines()
    assert {dot.get_label(): dot.get_xdata()[0] for dot in points} == values
    errors = dict(zip(own["line"], own["error"], strict=True))
    assert {dot.get_label(): dot.get_ydata()[0] for dot in points} == errors
    assert list(line.get_xdata()) == joined
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == list(values)
    low, high = axes.get_ylim()
    assert (low > high) == bool(more)


def test_costs_that_are_unknown_or_missing_are_the_users_mistake():
    with pytest.raises(UserError, match="known: time, size"):
        costs_of(table(), "money")
    with pytest.raises(UserError, match="no learner"):
        pareto(costs_of(table(), "time").iloc[:0], "time")


def many(count: int = 30):
    """A constant answer that is quick and bad, and learners whose errors are close."""
    rows = {
        "line": ["constant", *(f"learner number {place}" for place in range(count))],
        "data": "one",
        "mistake_pct_mean": [40.0, *np.linspace(10.0, 12.0, count)],
        "per_1000": [0.001, *(1.0 + 0.02 * np.arange(count)[::-1])],
    }
    about = {"task": "classification", "measure": "mistake_pct", "mistake_pct_std": np.nan}
    return costs_of(pd.DataFrame(rows | about | {"n_sv_sum_mean": 1.0, "features": np.nan}), "time")


def test_of_many_learners_those_of_the_front_are_in_colour_and_in_the_legend():
    own = many()
    assert len(own) > MOST_LINES
    drawn = pareto(own, "time").draw()
    (axes,) = drawn.axes
    line, *points = axes.get_lines()
    places = {(dot.get_xdata()[0], dot.get_ydata()[0]): dot.get_label() for dot in points}
    assert set(places) == set(zip(own["cost"], own["error"], strict=True))
    named = {place for place, label in places.items() if not label.startswith("_")}
    assert named == set(zip(line.get_xdata(), line.get_ydata(), strict=True))
    names = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert sorted(names) == sorted(places[place] for place in named)
    assert [text.get_text() for text in axes.texts] == ["1 above"]  # the constant answer is far away
    low, high = axes.get_ylim()
    assert 9.0 < low < 10.0 < 12.0 < high < 20.0  # no room is lost down to 0
    with in_style(FigureStyle(ylim=(5.0, 50.0))):
        assert pareto(own, "time").draw().axes[0].get_ylim() == (5.0, 50.0)


# -------------------------------------------------------------------- ranks


def test_ranks_are_drawn_at_the_mean_of_the_ranks_on_each_data_set():
    counts = dict.fromkeys(range(8), (10, 20, 50)) | {8: (30, 20, 50), 9: (15, 15, 10)}
    cells = [
        cell(w, 0, n, f"set{data}")
        for data, row in counts.items()
        for w, n in zip((DD, SS, U), row, strict=True)
    ]
    summary = summary_of(
        frame(*cells), expected((DD, SS, U), tuple(f"set{data}" for data in counts), 1, yardsticks=())
    )
    by_hand = {
        "OMKC(D,D)": (8 + 2 + 2.5) / 10,
        "OMKC(S,S)": (16 + 1 + 2.5) / 10,
        "OMKC(U)": (24 + 3 + 1) / 10,
    }
    (axes,) = rank_figure(average_ranks(summary)).draw().axes
    texts = [text.get_text() for text in axes.texts]
    for name, rank in by_hand.items():
        (label,) = [text for text in texts if name in text]
        assert f"{rank:.2f}" in label
    legs = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 3]
    assert legs == sorted(by_hand.values())
    (above,) = [line.get_xdata() for line in axes.get_lines() if list(line.get_ydata()) == [-2.0, -2.0]]
    assert above == pytest.approx([1, 1 + critical_difference(3, 10)])


@pytest.mark.parametrize("k", [3, 8, 16])
def test_labels_of_the_diagram_do_not_overlap(k):
    rng = np.random.default_rng(k)
    names = [f"OMKC(D,{number}), paper16_cosine" for number in range(k)]
    numbers = rng.normal(size=(60, k)) + 0.2 * np.arange(k)
    made = ranks_of(pd.DataFrame(numbers, columns=names), left_out=["x: not finished by y"])
    figure = rank_figure(made, title="a title")
    drawn = figure.draw()
    FigureCanvasAgg(drawn).draw()
    boxes = [
        text.get_window_extent()
        for text in (*drawn.axes[0].texts, drawn._supxlabel, drawn._suptitle)
        if text.get_text()
    ]
    assert len(boxes) >= 2 * min(k, DRAWN) + 3  # ranks on the scale, learners, CD, note, title
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= drawn.bbox.width
        assert box.y1 <= drawn.bbox.height
    assert "left out: x: not finished by y" in figure.note
    groups = made.drawn_groups
    bars = [line.get_xdata() for line in drawn.axes[0].get_lines() if line.get_linewidth() == 3]
    assert len(bars) == len(groups)
    for ends, group in zip(bars, groups, strict=True):
        inside = [name for name in made.drawn if ends[0] <= made.average[name] <= ends[1]]
        assert inside == list(group)
        assert not any(set(group) < set(other) for other in groups)


def test_where_no_difference_can_be_significant_a_sentence_takes_the_diagrams_place(tmp_path):
    figure = rank_figure(ranks_of(pd.DataFrame([[1.0, 2.0, 3.0]] * 2, columns=list("abc"))))
    assert figure.ranks.cd > 2
    assert figure.instead.startswith("Average ranks over 2 data sets: a 1.00, b 2.00, c 3.00.")
    assert figure.write(tmp_path / "x.png") == []
    assert not list(tmp_path.iterdir())
    assert "too few data sets" in " ".join(figure.draw().texts[0].get_text().split())


# -------------------------------------------------------------------- confusion matrices


def counts_of(C, T=600):
    rng = np.random.default_rng(C)
    true = rng.integers(1, C, T)
    predicted = np.where(rng.random(T) < 0.2, (true + rng.integers(1, C, T)) % C, true)
    return true, predicted


@pytest.mark.parametrize("C", [2, 3, 40])
def test_a_matrix_has_shares_of_the_true_class_and_mean_counts(C):
    true, predicted = counts_of(C)
    plain = np.zeros((C, C))
    np.add.at(plain, (true, predicted), 1)
    made = [
        cell(
            own,
            rep,
            int((true != predicted).sum()),
            "three",
            600,
            confusion=counted.confusion_counts(true, predicted, C),
        )
        for own in (DD, SS)
        for rep in range(2)
    ]
    about = expected(
        (DD, SS), ("three",), 2, yardsticks=(), classes={("three", None): ("a$b", "b\n", "c" * 40)}
    )
    figure = confusion(frame(*made), about)
    one, other, _ = figure.draw().axes
    assert [axes.get_title("left").strip() for axes in (one, other)] == ["OMKC(D,D)", "OMKC(S,S)"]
    assert one.texts[-1].get_text() == f"{100 * (true != predicted).mean():.2f} % mistakes"
    (mesh,) = one.collections
    shown = np.ma.filled(np.reshape(mesh.get_array(), (C, C)), np.nan)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(shown, 100 * plain / plain.sum(axis=1)[:, None])
    written = {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in one.texts[:-1]}
    assert written == ({(i, j): f"{n:.0f}" for (i, j), n in np.ndenumerate(plain) if n} if C < 40 else {})
    if C == 3:
        assert [text.get_text() for text in one.get_yticklabels()] == ["a$b", "'b\\n'", "c" * 13 + "…"]
    with pytest.raises(UserError, match="only classification has one"):
        confusion(frame(*made), about, classes=range(5, 10))


def test_shares_are_of_all_examples_of_a_class_also_of_what_was_cut():
    made = Matrix("data", "line", ["a", "b"], np.array([[6.0, 1.0], [0.0, 2.0]]), np.array([3.0, 0.0]), 33.3)
    assert made.shares.tolist() == [[60.0, 10.0], [0.0, 100.0]]


def test_cells_without_counts_are_named():
    with pytest.raises(UserError, match="no stored cell has a confusion matrix"):
        confusion(frame(cell(DD, 0, 10)), expected((DD,), reps=1))
