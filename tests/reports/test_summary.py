"""Means, deviations, marks and the order of the rows, against numbers worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from support.reports_cells import (
    COSINE,
    PAPER,
    YARDSTICKS,
    Setting,
    cell,
    expected,
    frame,
    planned_in,
    repetitions,
    setting,
    summarise,
)

from omkl.config.parameters import value_text
from omkl.config.planned import Group
from omkl.reports.rows import Row, by_count
from omkl.reports.summary import Tested as Paired
from omkl.reports.summary import summary_of
from omkl.tasks import MEASURES

GROUP = Group("d", "", "permuted", "", "")
DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")


def marks(table: pd.DataFrame) -> dict[str, bool]:
    return dict(zip(table["algo"], table["marked"], strict=True))


def test_means_and_sample_deviations_by_hand():
    cells = frame(
        cell(SS, 0, 10, T=200, n_sv_sum=4, n_sv_union=2, n_sv_combined=1, seconds=1.0),
        cell(SS, 1, 20, T=200, n_sv_sum=8, n_sv_union=3, n_sv_combined=2, seconds=3.0),
        cell(SS, 2, 60, T=200, n_sv_sum=9, n_sv_union=7, n_sv_combined=6, seconds=2.0),
    )
    (row,) = summarise(cells, 3).to_dict("records")
    assert row["mistake_pct_mean"] == pytest.approx(15.0)  # (5 + 10 + 30) / 3
    assert row["mistake_pct_std"] == pytest.approx(math.sqrt((100 + 25 + 225) / 2))
    assert row["mistakes_mean"] == pytest.approx(30.0)
    assert row["n_sv_sum_mean"] == pytest.approx(7.0)
    assert row["n_sv_sum_std"] == pytest.approx(math.sqrt((9 + 1 + 4) / 2))
    assert (row["n_sv_union_mean"], row["n_sv_combined_mean"]) == (4.0, 3.0)
    assert row["seconds_mean"] == 2.0
    assert (row["reps"], row["asked"], row["complete"], row["T"], row["m"]) == (3, 3, True, 200, 1)


def test_missing_repetitions_are_flagged_and_a_row_without_any_is_kept():
    cells = frame(*repetitions(DD, [10, 12, 14]), *repetitions(SS, [9, 9]))
    table = summary_of(cells, expected((DD, SS, U), yardsticks=())).set_index("algo")
    assert table["reps"].to_dict() == {"omkc_dd": 3, "omkc_ss": 2, "omkc_u": 0}
    assert table["complete"].to_dict() == {"omkc_dd": True, "omkc_ss": False, "omkc_u": False}
    assert math.isnan(table.loc["omkc_u", "mistake_pct_mean"])
    assert not table.loc["omkc_u", "marked"]


# -------------------------------------------------------------------- marks


NONE = math.nan
BASE = [100, 130, 90, 120, 110]


@pytest.mark.parametrize(
    ("counts", "best", "marked", "p", "common"),  # mistakes of DD, SS and U; the last two of SS, or of U
    [
        # a small steady difference that an unpaired test would miss; t of 3, 4, 3, 4, 3 with 4 df
        ([[100, 200, 300, 400, 500], [103, 204, 303, 404, 503]], "d", "d", 0.000151, 5),
        ([[100, 120, 90, 110, 100], [120, 95, 112, 101, 100]], "d", "ds", None, 5),
        # two-sided at 5 %: differences, p by a table of Student's t with 4 degrees of freedom
        ([BASE, np.add(BASE, [0, 1, 3, 1, 1])], "d", "ds", 0.0705, 5),
        ([BASE, np.add(BASE, [0, 1, 3, 2, 1])], "d", "ds", 0.0516, 5),
        ([BASE, np.add(BASE, [1, 1, 3, 2, 1])], "d", "d", 0.0161, 5),
        # equal: the means of the rates of the first differ in their last bits
        ([[60, 64, 64, 64, 60], [61, 64, 63, 64, 60]], "ds", "ds", 1.0, 5),
        ([[7, 9, 8, 8, 8], [7, 9, 8, 8, 8]], "ds", "ds", 1.0, 5),
        ([[7, 9, 8, 8, 8], [9, 7, 8, 8, 8]], "ds", "ds", 1.0, 5),
        # of equal means the row with most repetitions is tested against
        ([[10, 10], [9, 11, 10, 10, 10], [11, 12, 10, 13, 11]], "ds", "su", None, 5),
        # a constant difference leaves the test without variance
        ([[7, 9, 8, 8, 9], [8, 10, 9, 9, 10]], "d", "d", NONE, 5),
        # too few
        ([[10], [11]], "d", "", NONE, 1),
        ([[100, 101], [110, 111], [120, 200]], "d", "", NONE, 2),
        ([[100] * 4, [101, 102, 101, 102, 103, 104]], "d", "", NONE, 4),
    ],
)
def test_the_best_and_what_is_not_significantly_worse(counts, best, marked, p, common, recwarn):
    rows = zip((DD, SS, U), counts, strict=False)
    cells = [cell(which, rep, int(n), T=569) for which, own in rows for rep, n in enumerate(own)]
    table = summarise(frame(*cells)).set_index("algo")
    for flag, letters in (("best", best), ("marked", marked)):
        assert "".join(name.removeprefix("omkc_")[0] for name in table.index[table[flag]]) == letters
    other = table.iloc[-1]
    assert other["common"] == common
    if p is not None:
        assert other["p_value"] == pytest.approx(p, abs=1e-4, nan_ok=True)
    assert not recwarn.list


def test_only_common_permutations_are_compared():
    # On the common repetitions 2 to 6 SS is worse by exactly 50; its lucky repetition 9 does not help it.
    dd = [cell(DD, rep, 100 + rep) for rep in range(7)]
    ss = [cell(SS, rep, 150 + rep) for rep in range(2, 7)] + [cell(SS, 9, 101)]
    table = summarise(frame(*dd, *ss), 7).set_index("algo")
    assert table.loc["omkc_ss", "common"] == 5
    assert math.isnan(table.loc["omkc_ss", "p_value"])
    assert not table.loc["omkc_ss", "marked"]


def test_repetitions_of_one_order_are_no_permutations():
    """A learner that draws differs between its passes in file order, but their order is the same."""
    cells = [*repetitions(DD, [100, 101, 99, 100, 102]), *repetitions(SS, [100, 102, 99, 101, 103])]
    table = summarise(frame(*(one | {"order": "file"} for one in cells)), 5)
    assert table["best"].tolist() == [True, False]
    assert table["common"].tolist() == [1, 1]
    assert not table["marked"].any()
    assert table["p_value"].isna().all()
    assert (table["ranked"] - table["mistake_pct_mean"]).abs().max() < 1e-12


@pytest.mark.parametrize("common", [1, 2, 3, 4, 5])
def test_fewer_than_five_common_permutations_is_no_test_and_no_mark(common):
    # SS is the same on the common ones and by chance worse on its others; U is far worse, with another spread
    ss = [cell(SS, rep, 100) for rep in range(5 - common, 5)] + [cell(SS, 5 + n, 110) for n in range(3)]
    cells = frame(*repetitions(DD, [100] * 5), *ss, *repetitions(U, [500, 900][:common]))
    table = summarise(cells, 5)
    assert table["common"].tolist() == [5, common, min(common, 2)]
    assert marks(table) == {"omkc_dd": True, "omkc_ss": common == 5, "omkc_u": False}
    assert table["p_value"].notna().tolist() == [True, common == 5, False]


def test_a_yardstick_competes_and_can_win():
    majority = YARDSTICKS[0]
    cells = frame(
        *repetitions(DD, [300, 310, 305, 304, 306]), *repetitions(majority, [200, 201, 202, 200, 201])
    )
    table = summary_of(cells, expected((DD,), reps=5, yardsticks=YARDSTICKS[:1])).set_index("algo")
    assert table["is_yardstick"].to_dict() == {"omkc_dd": False, "majority": True}
    assert table["marked"].to_dict() == {"omkc_dd": False, "majority": True}


def test_each_data_set_has_its_own_best():
    cells = frame(
        *repetitions(DD, [1, 2, 1, 2, 1], "wdbc"),
        *repetitions(SS, [51, 52, 51, 52, 51], "wdbc"),
        *repetitions(DD, [51, 52, 51, 52, 51], "sonar"),
        *repetitions(SS, [1, 2, 1, 2, 1], "sonar"),
    )
    table = summarise(cells, 5)
    rows = list(zip(table["data"], table["algo"], table["marked"], strict=True))
    assert rows == [
        ("wdbc", "omkc_dd", True),
        ("wdbc", "omkc_ss", False),
        ("sonar", "omkc_dd", False),
        ("sonar", "omkc_ss", True),
    ]


def test_a_test_takes_the_permutations_that_both_have_run_each_once():
    seeds, errors = [5, 3, 3, 4, 9, 5, 3, 7, None, None], [10, 20, 99, 30, 40, 1, 2, 3, 4, 7]
    cells = {"permutation_seed": pd.Series(seeds, dtype=object), "mistakes": errors, "order": "permuted"}
    tested = Paired(pd.DataFrame(cells))
    rows = [Row("d", GROUP, DD, False, cells=own) for own in ([0, 1, 2], [5, 6, 7], [4], [3, 8], [9])]
    made = [
        (own.tolist(), less.tolist())
        for own, less in tested.differences(by_count(rows), rows[1], MEASURES["mistake_pct"])
    ]
    assert made == [([2, 4], [[], []]), ([3], [[]]), ([0], [[18.0, 9.0]]), ([1], [[0.0, 0.0, 0.0]])]
    assert [
        less.tolist() for _, less in tested.differences(by_count(rows[4:]), rows[3], MEASURES["mistake_pct"])
    ] == [[[3.0]]]  # without a seed


# -------------------------------------------------------------------- rows


def test_rows_keep_the_order_of_the_command_with_yardsticks_last():
    cells = frame(*[cell(which, 0, 5) for which in (*YARDSTICKS, SS, U, DD)])
    table = summary_of(cells, expected((U, SS, DD), reps=1))
    assert table["algo"].tolist() == ["omkc_u", "omkc_ss", "omkc_dd", "majority", "perceptron", "arow"]
    assert table["label"].tolist()[:3] == ["OMKC(U)", "OMKC(S,S)", "OMKC(D,D)"]


def test_a_learner_that_is_also_a_yardstick_is_a_learner():
    perceptron = setting("perceptron")
    table = summary_of(frame(cell(perceptron, 0, 5)), expected((perceptron,), reps=1))
    chosen = table[table["algo"] == "perceptron"]
    assert chosen["is_yardstick"].tolist() == [False]


def test_a_yardstick_with_other_settings_is_shown_next_to_the_learner():
    own = Setting("perceptron", {"kernel": {"kind": "gaussian", "sigma": 2.0}}, None)
    table = summary_of(frame(cell(own, 0, 5), cell(YARDSTICKS[1], 0, 6)), expected((own,), reps=1))
    chosen = table[table["algo"] == "perceptron"]
    assert chosen["settings"].tolist() == ["kernel=gaussian(sigma=2)", "kernel=linear"]
    assert chosen["is_yardstick"].tolist() == [False, True]


def test_only_hyperparameters_that_differ_are_shown():
    grid = (setting("omkc_ss", beta=0.5), setting("omkc_ss"), DD, setting("omkc_u"))
    table = summary_of(frame(*[cell(which, 0, 5) for which in grid]), expected(grid, reps=1, yardsticks=()))
    assert table["settings"].tolist() == ["beta=0.5", "beta=0.8", "", ""]


def test_a_lone_setting_that_is_not_the_default_is_shown():
    odd = setting("omkc_ss", delta=0.25)
    table = summary_of(frame(cell(odd, 0, 5)), expected((odd,), reps=1, yardsticks=()))
    assert table["settings"].tolist() == ["delta=0.25"]


def test_pools_make_rows_of_their_own_but_a_pools_name_does_not():
    cosine, alias = setting("omkc_dd", COSINE), setting("omkc_dd", {**PAPER, "name": "other"})
    cells = frame(cell(DD, 0, 5), cell(cosine, 0, 6), cell(alias, 1, 7))
    table = summary_of(cells, planned_in(cells, 2))
    assert table["pool"].tolist() == ["paper16", "paper16_cosine"]
    assert table["reps"].tolist() == [2, 1]


def test_two_data_sets_of_one_name_are_distinguished():
    cells = frame(cell(DD, 0, 5, data_hash="aaaaaaaa"), cell(DD, 0, 50, data_hash="bbbbbbbb", key="k"))
    table = summarise(cells, 1)
    assert table["data"].tolist() == ["wdbc (aaaaaa)", "wdbc (bbbbbb)"]
    assert table["mistakes_mean"].tolist() == [5.0, 50.0]


@pytest.mark.parametrize(
    ("prepared", "marks"),
    [
        (("drop=id", "drop=id missing=drop"), ("", " (missing=drop)")),
        (("'label=a b'", "label=c missing=drop"), (" ('label=a b')", " (label=c missing=drop)")),
        (("'label=\"a, b\"'", "label=c"), (" ('label=\"a, b\"')", " (label=c)")),
        (("drop=id", "drop=id"), (" (aaaaaa)", " (bbbbbb)")),
    ],
)
def test_two_preparations_of_a_file_are_told_apart_by_what_differs(prepared, marks):
    cells = [
        cell(DD, 0, 5, data_hash=letter * 8, key=letter, provenance={"prepared": text})
        for letter, text in zip("ab", prepared, strict=True)
    ]
    assert summarise(frame(*cells), 1)["data"].tolist() == [f"wdbc{mark}" for mark in marks]


def test_orders_are_never_averaged_together():
    cells = frame(cell(DD, 0, 5), cell(DD, 0, 50, order="file", key="k"))
    assert summarise(cells, 1)["data"].tolist() == ["wdbc (order=permuted)", "wdbc (order=file)"]


def test_no_cells_at_all():
    table = summary_of(frame(), expected((DD,), reps=2))
    assert table["reps"].tolist() == [0, 0, 0, 0]
    assert not table["marked"].any()
    assert summarise(frame()).empty


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1.0, "1"), (1e-6, "1e-06"), (0.123456789, "0.123456789"), (True, "true"), (None, "null")],
)
def test_values_are_shown_as_typed(value, text):
    assert value_text(value) == text
