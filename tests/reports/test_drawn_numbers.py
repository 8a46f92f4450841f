"""The numbers that figures draw, read from the figure, against those of the summary and of the curves."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from support.drawn import draw_curves, draw_pareto, draw_ranks, draw_sensitivity, draw_sweep, draw_times
from support.reports_cells import (
    COSINE,
    PAPER,
    YARDSTICKS,
    cell,
    expected,
    frame,
    repetitions,
    setting,
    study,
)

from omkl.reports import charts
from omkl.reports.charts import costs_of, front, sensitivity_table
from omkl.reports.drawing import draw
from omkl.reports.measures import mean_curves
from omkl.reports.ranks import average_ranks
from omkl.reports.summary import grid_table, summary_of

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
BETAS = (0.1, 0.3, 0.5, 0.8)
DATA = {"wdbc": 300, "sonar": 200}


def band_of(collection):
    """A band's x (n,), lower and upper edge (n,), from the vertices of its outline."""
    vertices = collection.get_paths()[0].vertices
    x = np.unique(vertices[:, 0])
    edges = [vertices[vertices[:, 0] == one, 1] for one in x]
    return x, np.array([y.min() for y in edges]), np.array([y.max() for y in edges])


def line_named(axes, name):
    (line,) = [line for line in axes.get_lines() if line.get_label() == name]
    return line


def bars_of(axes):
    """The vertical bars of a panel: (x, lower end, upper end)."""
    return sorted(
        (segment[0, 0], *sorted(segment[:, 1]))
        for lines in axes.collections
        if hasattr(lines, "get_segments")
        for segment in lines.get_segments()
    )


# -------------------------------------------------------------------- curves


@pytest.mark.parametrize("name", ["error", "n_sv_sum", "mistakes", "windowed_pct"])
def test_a_curve_is_the_mean_and_its_band_one_standard_deviation(name):
    cells, curves = study((DD, SS), {"wdbc": 300}, 4)
    table = mean_curves(cells, curves, expected((DD, SS), reps=4, yardsticks=()), (name,))
    (axes,) = draw_curves(table, (name,)).axes
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


def test_bars_take_the_place_of_many_bands_with_the_same_ends():
    settings = tuple(setting("omkc_dd", beta=beta) for beta in (*BETAS, 0.9))
    cells, curves = study(settings, {"wdbc": 300}, 3)
    table = mean_curves(cells, curves, expected(settings, reps=3, yardsticks=()), ("error",))
    (axes,) = draw_curves(table, ("error",)).axes
    ends = set()
    for row in table.itertuples():
        ends.add((row.t, max(row.error_mean - row.error_std, 0.0), row.error_mean + row.error_std))
    bars = bars_of(axes)
    assert len(bars) > 5 * 4
    assert {tuple(np.round(bar, 9)) for bar in bars} <= {tuple(np.round(end, 9)) for end in ends}


# -------------------------------------------------------------------- sweeps


def swept(settings, reps=5):
    cells, _ = study((*settings, *YARDSTICKS), DATA, reps)
    return summary_of(cells, expected(settings, tuple(DATA), reps))


@pytest.mark.parametrize("log", [False, True])
def test_a_swept_number_has_its_means_bands_and_levels(log):
    summary = swept((U, *(setting("omkc_ss", beta=beta) for beta in BETAS)))
    if log:  # sizes differ by far, which makes the axis logarithmic: a band ends at half its line
        table = sensitivity_table(summary, "beta", "n_sv_sum")
        table["y_std"] = 0.7 * table["y_mean"]
        table.loc[table["line"] == "OMKC(U)", "y_mean"] *= 1000
        table = table[~table["is_yardstick"]]
        figure = draw_sensitivity(table)
        assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    else:
        table = sensitivity_table(summary, "beta")
        figure = draw_sweep(summary)
    for axes, (_, part) in zip(figure.axes, table.groupby("panel", sort=False), strict=True):
        own = part[part["line"] == "OMKC(S,S)"].sort_values("x")
        line = line_named(axes, "OMKC(S,S)")
        np.testing.assert_array_equal(line.get_xdata(), BETAS)
        np.testing.assert_allclose(line.get_ydata(), own["y_mean"])
        (band,) = [
            c
            for c in axes.collections
            if np.allclose(c.get_facecolor()[0][:3], to_rgba(line.get_color())[:3])
        ]
        _, low, high = band_of(band)
        np.testing.assert_allclose(
            low, np.maximum(own["y_mean"] - own["y_std"], 0.5 * own["y_mean"] if log else 0.0)
        )
        np.testing.assert_allclose(high, own["y_mean"] + own["y_std"])
        (level,) = part[part["line"] == "OMKC(U)"].itertuples()
        np.testing.assert_allclose(line_named(axes, "OMKC(U)").get_ydata(), level.y_mean)
        (beside,) = axes.patches  # the band of a level
        assert beside.get_y() == pytest.approx(level.y_mean - level.y_std)
        assert beside.get_height() == pytest.approx(2 * level.y_std)


def dots_of(axes):
    """(mean, half a bar, whether it is filled) of each dot, from the top."""
    dots = [
        line
        for line in axes.get_lines()
        if line.get_marker() not in ("None", "|", "") and len(line.get_xdata()) == 1
    ]
    bars = {round(s[0, 1]): np.ptp(s[:, 0]) / 2 for c in axes.collections for s in c.get_segments()}
    places = [int(dot.get_ydata()[0]) for dot in dots]
    faces = [to_rgba(dot.get_markerfacecolor()) for dot in dots]
    filled = [face == to_rgba(dot.get_color()) for face, dot in zip(faces, dots, strict=True)]
    assert all(face == to_rgba("white") for face, full in zip(faces, filled, strict=True) if not full)
    made = {
        at: (dot.get_xdata()[0], bars.get(at), full)
        for at, dot, full in zip(places, dots, filled, strict=True)
    }
    return [made[at] for at in sorted(made)]


def worded(reps):
    """A sweep over words: the first is best, the second the same but for noise, the others are worse."""
    settings = tuple(
        setting("omkc_ss", pool, sampling=word) for word in ("max", "sum") for pool in (PAPER, COSINE)
    )
    counts = ([100, 120, 90, 110, 100], [120, 95, 112, 101, 100], [160, 150, 140, 165, 150], [200] * 5)
    cells = frame(
        *(line for own, each in zip(settings, counts, strict=True) for line in repetitions(own, each[:reps]))
    )
    return summary_of(cells, expected(settings, reps=reps, yardsticks=()))


def test_a_dot_is_filled_where_its_row_is_marked():
    summary = worded(5)
    figure = draw_sweep(summary)
    rows = summary.sort_values("mistake_pct_mean", kind="stable")
    assert rows["marked"].tolist() == [True, True, False, False]
    (axes,) = figure.axes
    for (mean, half, filled), row in zip(dots_of(axes), rows.itertuples(), strict=True):
        assert mean == row.mistake_pct_mean
        assert half == pytest.approx(row.mistake_pct_std)
        assert filled == row.marked
    assert "filled: not worse than the best" in figure.legends[0].get_title().get_text()


@pytest.mark.parametrize("reps", [1, 4])
def test_without_a_test_no_dot_is_filled(reps):
    figure = draw_sweep(worded(reps))
    (axes,) = figure.axes
    assert [filled for _, _, filled in dots_of(axes)] == [False] * 4
    assert "filled" not in figure.legends[0].get_title().get_text()


# -------------------------------------------------------------------- costs, times, ranks, confusions


def test_points_of_a_front_are_the_rows_and_what_it_joins_is_what_none_beats():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"line": [f"learner {n}" for n in range(12)], "data": "d", "task": "classification"})
    rows = rows.assign(
        measure="mistake_pct",
        mistake_pct_mean=rng.uniform(10, 30, 12),
        mistake_pct_std=np.nan,
        per_1000=rng.uniform(0.01, 3.0, 12),
    )
    table = costs_of(rows.assign(n_sv_sum_mean=1.0, features=np.nan), "time")
    (axes,) = draw_pareto(table, "time").axes
    points, joined = axes.get_lines()
    drawn = set(zip(points.get_xdata(), points.get_ydata(), strict=True))
    every = set(zip(rows["per_1000"], rows["mistake_pct_mean"], strict=True))
    above = sum(int(text.get_text().split()[0]) for text in axes.texts if text.get_text().endswith("above"))
    assert drawn <= every
    assert len(drawn) == len(every) - above
    unbeaten = {(c, e) for c, e in every if not any(o != (c, e) and o[0] <= c and o[1] <= e for o in every)}
    assert set(zip(joined.get_xdata(), joined.get_ydata(), strict=True)) == unbeaten
    assert len(front(table["cost"], table["error"])) == len(unbeaten)


def test_a_bar_of_times_is_the_share_of_the_slowest():
    settings = (DD, SS, U)
    cells, _ = study((*settings, *YARDSTICKS), DATA, 2)
    summary = summary_of(cells, expected(settings, tuple(DATA), 2))
    table = grid_table(summary)
    figure = draw_times(table)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == table["line"].unique().tolist()
    for axes, (_, part) in zip(figure.axes, table.groupby("data", sort=False), strict=True):
        shares = (part["seconds_mean"] / part["seconds_mean"].max()).tolist()
        assert [bar.get_width() for bar in axes.patches] == pytest.approx(shares)
        assert axes.get_title(loc="right") == f"slowest: {part['seconds_mean'].max():.3g} s"


def test_ranks_are_drawn_at_the_mean_of_the_ranks_on_each_data_set():
    counts = {"a": (10, 20, 50), "b": (10, 12, 50), "c": (30, 20, 50), "d": (15, 15, 10)}
    cells = [
        cell(w, 0, n, data) for data, row in counts.items() for w, n in zip((DD, SS, U), row, strict=True)
    ]
    summary = summary_of(frame(*cells), expected((DD, SS, U), tuple(counts), 1, yardsticks=()))
    by_hand = {
        "OMKC(D,D)": (1 + 1 + 2 + 2.5) / 4,
        "OMKC(S,S)": (2 + 2 + 1 + 2.5) / 4,
        "OMKC(U)": (3 + 3 + 3 + 1) / 4,
    }
    (axes,) = draw_ranks(average_ranks(summary)).axes
    names = {text.get_text(): text for text in axes.texts}
    for name, rank in by_hand.items():
        (label,) = [text for text in names if name in text]
        assert f"{rank:.2f}" in label
    legs = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 3]
    assert legs == sorted(by_hand.values())


def test_a_confusion_matrix_has_shares_of_the_true_class_and_counts_of_a_pass():
    counts = np.array([[[8, 1, 1], [0, 20, 0], [3, 1, 6]], [[5, 4, 1], [2, 18, 0], [3, 3, 4]]])
    made = [
        cell(DD, rep, int(own.sum() - np.trace(own)), "three", 40, confusion=own.tolist())
        for rep, own in enumerate(counts)
    ]
    about = expected((DD,), ("three",), 2, yardsticks=())
    axes = draw(charts.confusion(frame(*made), about)).axes[0]
    mean = counts.mean(axis=0)
    np.testing.assert_allclose(axes.images[0].get_array(), 100 * mean / [[10], [20], [10]])
    written = {
        (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts
    }
    assert written == {(i, j): f"{n:.{int(n < 10)}f}" for (i, j), n in np.ndenumerate(mean) if n}
