"""The tables of a sweep."""

import csv
import io

from support.reports_cells import (
    YARDSTICKS,
    Setting,
    cell,
    expected,
    frame,
    line_of,
    repetitions,
    setting,
    strict,
    sweep_report,
)

from omkl.reports.grid import axes_of
from omkl.reports.summary import summary_of
from omkl.reports.sweep_table import best_settings

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
DATA = {"wdbc": 300, "sonar": 200}
EXPECTED = expected((DD, SS), tuple(DATA), 3)


# -------------------------------------------------------------------- tables

BY_TWO = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.5, 0.8) for d in (0.01, 0.1))
SWEEP = expected((DD, *BY_TWO), reps=2, swept=("algo.beta", "algo.delta"), yardsticks=YARDSTICKS[:1])
CELLS = frame(
    *repetitions(DD, [50, 52]),
    *[line for n, which in enumerate(BY_TWO) for line in repetitions(which, [40 - 10 * (n == 2), 44])],
    *repetitions(YARDSTICKS[0], [300, 310]),
)


def test_a_sweep_has_a_column_per_swept_number_and_a_table_of_the_best():
    text = sweep_report(CELLS, SWEEP)
    long, best = text.split("best setting per data set and learner")
    assert "beta    delta" in long
    assert long.count("OMKC(S,S)") == 4
    assert best.count("OMKC(S,S)") == 1
    assert line_of(best, "OMKC(S,S)").split()[:3] == ["OMKC(S,S)", "0.8", "0.01"]
    assert line_of(long, "OMKC(D,D)").split()[2:4] == ["0.8", "–"]


def test_best_settings_break_ties_by_support_vectors():
    cells = frame(
        *repetitions(BY_TWO[0], [10, 10], n_sv_sum=90),
        *repetitions(BY_TWO[1], [10, 10], n_sv_sum=80),
        *repetitions(BY_TWO[2], [11, 11], n_sv_sum=1),
    )
    (best,) = best_settings(summary_of(cells, expected(BY_TWO[:3], reps=2, yardsticks=()))).to_dict("records")
    assert best["params"] == BY_TWO[1].params


def test_the_best_of_a_learner_does_not_hide_the_yardstick_of_that_name():
    own = tuple(Setting("perceptron", {"kernel": {"kind": "gaussian", "sigma": s}}, None) for s in (1.0, 2.0))
    cells = frame(cell(own[0], 0, 9), cell(own[1], 0, 8), cell(YARDSTICKS[1], 0, 5))
    best = best_settings(summary_of(cells, expected(own, reps=1, yardsticks=YARDSTICKS[1:2])))
    assert best["mistakes_mean"].tolist() == [8.0, 5.0]
    assert best["is_yardstick"].tolist() == [False, True]


def test_sweep_json_and_csv():
    parsed = strict(sweep_report(CELLS, SWEEP, "json"))
    assert list(parsed) == ["summary", "best", "cells", "notes"]
    assert [row["params"].get("delta") for row in parsed["best"]] == [None, 0.01, None]
    rows = list(csv.DictReader(io.StringIO(sweep_report(CELLS, SWEEP, "csv"))))
    assert [row["algo.delta"] for row in rows] == ["", "0.01", "0.1", "0.01", "0.1", ""]


def test_axes_are_the_swept_numbers_the_longest_first():
    three = (*BY_TWO, setting("omkc_ss", beta=0.5, delta=0.5, sampling="sum"))
    table = summary_of(frame(*[cell(which, 0, 5) for which in three]), expected(three, reps=1))
    assert axes_of(table) == {"delta": [0.01, 0.1, 0.5], "beta": [0.5, 0.8]}
    assert list(axes_of(table)) == ["delta", "beta"]
