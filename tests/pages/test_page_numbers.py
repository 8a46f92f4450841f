"""The numbers of a page's figures, as its script gets them, against those of the summary and the curves."""

import json

import numpy as np
import pytest
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

from omkl.pages.document import _table, as_json
from omkl.pages.page_tables import with_details
from omkl.pages.runs import page_curves
from omkl.reports import charts
from omkl.reports.charts import costs_of
from omkl.reports.measures import mean_curves
from omkl.reports.ranks import average_ranks
from omkl.reports.results_table import run_table
from omkl.reports.rows import line_names, rows_of
from omkl.reports.summary import grid_table, summary_of

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
BETAS, DELTAS = (0.1, 0.3, 0.5), (0.01, 0.1)
DATA = {"wdbc": 300, "sonar": 200}


def views_of(figure):
    """A figure's views by (panel, name), after a round through JSON."""
    made = json.loads(json.dumps(as_json(figure), allow_nan=False))
    return {(panel["name"], view["name"]): view for panel in made["panels"] for view in panel["views"]}


def summarised(settings, cells, reps, yardsticks=YARDSTICKS):
    about = expected(settings, tuple(dict.fromkeys(cells["data"])), reps, yardsticks=yardsticks)
    return summary_of(cells, about), about


@pytest.mark.parametrize("reps", [1, 5])
def test_curves_and_seconds(reps):
    cells, curves = study((DD, SS, *YARDSTICKS), DATA, reps)
    summary, about = summarised((DD, SS), cells, reps)
    rows = rows_of(cells, about)
    views = views_of(page_curves(cells, curves, about, rows, summary))
    names = line_names(rows, about)
    for measure in ("error", "windowed_pct", "mistakes", "n_sv_sum"):
        table = mean_curves(cells, curves, about, (measure,), rows)
        for data in DATA:
            view = views[data, measure]
            lines, near = {line["name"]: line for line in view["lines"]}, 0.51 * 0.1 ** (view["digits"] + 1)
            for name, part in table[table["data"] == data].groupby("line"):
                if measure == "n_sv_sum" and not part["n_sv_sum_mean"].any():
                    assert name not in lines
                    continue
                line = lines[name]
                np.testing.assert_allclose(line["x"], part["t"])
                np.testing.assert_allclose(line["mean"], part[f"{measure}_mean"], atol=near)
                std = part[f"{measure}_std"]
                if reps == 1:
                    assert line["std"] is None
                else:
                    assert std.max() > 10 * near
                    np.testing.assert_allclose(line["std"], std, atol=near)
    for data in DATA:
        seconds = views[data, "seconds"]["rows"]
        own = summary[summary["data"] == data]
        assert [row["name"] for row in seconds] == [
            n for n, row in zip(names, rows, strict=True) if row.data == data
        ]
        np.testing.assert_allclose([row["mean"] for row in seconds], own["seconds_mean"], rtol=1e-5)
        assert not any(row["marked"] for row in seconds)  # marks are of errors


@pytest.mark.parametrize("reps", [4, 5])
def test_dots_of_a_sweep_are_marked_rows_of_the_summary(reps):
    settings = tuple(setting("omkc_ss", pool, sampling=w) for w in ("max", "sum") for pool in (PAPER, COSINE))
    counts = ([100, 120, 90, 110, 100], [120, 95, 112, 101, 100], [160, 150, 140, 165, 150], [200] * 5)
    lines = [c for own, each in zip(settings, counts, strict=True) for c in repetitions(own, each[:reps])]
    summary, _ = summarised(settings, frame(*lines), reps, ())
    views = views_of(charts.sweep(summary))
    dots = views["wdbc", "mistake_pct"]["rows"]
    best_first = summary.sort_values("mistake_pct_mean", kind="stable")
    assert [dot["marked"] for dot in dots] == best_first["marked"].tolist() == [reps == 5] * 2 + [False] * 2
    np.testing.assert_allclose([dot["mean"] for dot in dots], best_first["mistake_pct_mean"], rtol=1e-5)
    np.testing.assert_allclose(
        [dot["std"] for dot in dots], best_first["mistake_pct_std"], rtol=1e-5, atol=1e-9
    )


def test_lines_of_one_swept_number():
    settings = (U, *(setting("omkc_ss", beta=beta) for beta in BETAS))
    cells, _ = study((*settings, *YARDSTICKS), DATA, 3)
    summary, _ = summarised(settings, cells, 3)
    for (data, _), view in views_of(charts.sweep(summary)).items():
        lines = {line["name"]: line for line in view["lines"]}
        own = summary[(summary["data"] == data) & (summary["algo"] == "omkc_ss")]
        assert lines["OMKC(S,S)"]["x"] == list(BETAS)
        np.testing.assert_allclose(lines["OMKC(S,S)"]["mean"], own["mistake_pct_mean"], rtol=1e-5)
        np.testing.assert_allclose(lines["OMKC(S,S)"]["std"], own["mistake_pct_std"], rtol=1e-5)
        (level,) = summary[(summary["data"] == data) & (summary["algo"] == "omkc_u")].itertuples()
        assert lines["OMKC(U)"]["x"] is None
        assert lines["OMKC(U)"]["mean"] == pytest.approx([level.mistake_pct_mean], rel=1e-5)
        assert lines["OMKC(U)"]["std"] == pytest.approx([level.mistake_pct_std], rel=1e-5)


def test_a_map_of_two_swept_numbers():
    settings = tuple(setting("omkc_ss", beta=beta, delta=delta) for beta in BETAS for delta in DELTAS)
    cells, _ = study(settings, {"wdbc": 300}, 3)
    summary, _ = summarised(settings, cells, 3, ())
    (view,) = views_of(charts.sweep(summary)).values()
    assert (view["columns"], view["rows"]) == (["0.1", "0.3", "0.5"], ["0.01", "0.1"])
    errors = {(row["params"]["delta"], row["params"]["beta"]): row for row in summary.to_dict("records")}
    for part in ("mean", "std"):
        by_hand = [[errors[delta, beta][f"mistake_pct_{part}"] for beta in BETAS] for delta in DELTAS]
        np.testing.assert_allclose(view[part], by_hand, rtol=1e-5)
    i, j = view["best"]
    assert view["mean"][i][j] == min(map(min, view["mean"]))


def test_times_front_and_ranks():
    cells, _ = study((DD, SS, U, *YARDSTICKS), DATA, 3)
    summary, _ = summarised((DD, SS, U), cells, 3)
    for (data, _), view in views_of(charts.times(grid_table(summary))).items():
        own = summary[summary["data"] == data]
        np.testing.assert_allclose([row["mean"] for row in view["rows"]], own["seconds_mean"], rtol=1e-5)
    table = grid_table(summary).assign(
        per_1000=1000 * summary["seconds_mean"] / summary["T"], features=np.nan
    )
    table = costs_of(table, "time")
    for (data, _), view in views_of(charts.pareto(table, "time")).items():
        joined, *points = view["lines"]
        own = table[table["data"] == data]
        at = {point["name"]: (point["x"][0], point["mean"][0], point["std"][0]) for point in points}
        for row in own.itertuples():
            assert at[row.line] == pytest.approx(
                (row.cost, row.mistake_pct_mean, row.mistake_pct_std), rel=1e-5
            )
        pairs = set(zip(own["cost"], own["error"], strict=True))
        best = {p for p in pairs if not any(o != p and o[0] <= p[0] and o[1] <= p[1] for o in pairs)}
        np.testing.assert_allclose(
            list(zip(joined["x"], joined["mean"], strict=True)), sorted(best), rtol=1e-5
        )
    made = average_ranks(summary)
    (view,) = views_of(charts.ranks(made)).values()
    assert {row["name"]: row["rank"] for row in view["rows"]} == pytest.approx(made.average, rel=1e-5)
    assert [row["rank"] for row in view["rows"]] == sorted(row["rank"] for row in view["rows"])
    for row in view["rows"]:
        assert row["rank"] == pytest.approx(np.mean(list(row["each"].values())), rel=1e-5)
    assert view["cd"] == pytest.approx(made.cd, rel=1e-5)


def test_confusion_matrices():
    counts = np.array([[[8, 1, 1], [0, 20, 0], [3, 1, 6]], [[5, 4, 1], [2, 18, 0], [3, 3, 4]]])
    made = [
        cell(DD, rep, int(own.sum() - np.trace(own)), "three", 40, confusion=own.tolist())
        for rep, own in enumerate(counts)
    ]
    about = expected((DD,), ("three",), 2, yardsticks=())
    (view,) = views_of(charts.confusion(frame(*made), about)).values()
    mean = counts.mean(axis=0)
    np.testing.assert_allclose(view["counts"], mean)
    np.testing.assert_allclose(view["shares"], 100 * mean / [[10], [20], [10]])


# -------------------------------------------------------------------- tables


@pytest.mark.parametrize("reps", [1, 4, 5])
def test_a_table_without_a_test_has_no_mark_and_says_so_below(reps):
    dd, ss = [100, 101, 102, 101, 100], [150, 160, 155, 150, 152]
    cells = frame(*repetitions(DD, dd[:reps]), *repetitions(SS, ss[:reps]))
    summary, about = summarised((DD, SS), cells, reps, ())
    table = with_details(run_table(summary, cells, about), "t", rows_of(cells, about), cells, {})
    texts = "".join(_table("t", table).itertext())
    assert [row.marked for row in table.rows] == [reps == 5, False]
    assert texts.count("* 10.08") == (reps == 5)
    assert texts.count("No test: rows that share fewer than 5 permutations") == (reps < 5)
    assert [text for text in table.findings if text.startswith("No test")] == table.findings[: int(reps < 5)]
    assert "±" not in texts or reps > 1
