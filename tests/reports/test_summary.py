"""Means, deviations, marks and the order of the rows, against numbers worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from support.reports_cells import (
    COSINE,
    PAPER,
    YARDSTICKS,
    Setting,
    cell,
    expected,
    frame,
    repetitions,
    setting,
    summarise,
)

from omkl.config.settings_text import value_text
from omkl.reports.rows import Row
from omkl.reports.summary import Tested as Paired
from omkl.reports.summary import not_worse, paired_ps, summary_of
from omkl.tasks import MEASURES

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


def test_one_repetition_has_no_deviation_and_no_mark():
    table = summarise(frame(cell(DD, 0, 10), cell(SS, 0, 11)), 1)
    assert table["mistake_pct_std"].isna().all()
    assert table["p_value"].isna().all()
    assert marks(table) == {"omkc_dd": False, "omkc_ss": False}
    assert table["best"].tolist() == [True, False]


def test_missing_repetitions_are_flagged_and_a_row_without_any_is_kept():
    cells = frame(*repetitions(DD, [10, 12, 14]), *repetitions(SS, [9, 9]))
    table = summarise(cells, 3, settings=(DD, SS, U), data=("wdbc",)).set_index("algo")
    assert table["reps"].to_dict() == {"omkc_dd": 3, "omkc_ss": 2, "omkc_u": 0}
    assert table["complete"].to_dict() == {"omkc_dd": True, "omkc_ss": False, "omkc_u": False}
    assert math.isnan(table.loc["omkc_u", "mistake_pct_mean"])
    assert not table.loc["omkc_u", "marked"]


def test_the_longest_row_says_how_many_are_expected_by_default():
    table = summarise(frame(*repetitions(DD, [1, 2, 3]), *repetitions(SS, [4])))
    assert table["asked"].tolist() == [3, 3]
    assert table["complete"].tolist() == [True, False]


def test_failed_cells_and_repeated_keys_are_not_averaged():
    twice = cell(DD, 0, 10)
    table = summarise(frame(twice, twice, cell(DD, 1, 20), cell(DD, 2, 900, status="failed")), 3)
    assert table["reps"].tolist() == [2]
    assert table["mistakes_mean"].tolist() == [15.0]


# -------------------------------------------------------------------- marks


def test_paired_test_finds_a_small_steady_difference_that_unpaired_would_miss():
    steady = frame(*repetitions(DD, [100, 200, 300, 400, 500]), *repetitions(SS, [103, 204, 303, 404, 503]))
    table = summarise(steady, 5)
    assert marks(table) == {"omkc_dd": True, "omkc_ss": False}
    other = table.set_index("algo").loc["omkc_ss"]
    # t of the differences 3, 4, 3, 4, 3: mean 3.4 over standard error sqrt(0.3 / 5); p by Student's t, 4 df
    from scipy.stats import t

    assert other["p_value"] == pytest.approx(2 * t.sf(3.4 / math.sqrt(0.3 / 5), 4))
    assert other["common"] == 5


def test_not_significantly_worse_is_marked():
    dd, ss = [100, 120, 90, 110, 100], [120, 95, 112, 101, 100]
    table = summarise(frame(*repetitions(DD, dd), *repetitions(SS, ss)), 5)
    assert marks(table) == {"omkc_dd": True, "omkc_ss": True}
    assert table.set_index("algo")["best"].to_dict() == {"omkc_dd": True, "omkc_ss": False}


def test_rows_with_equally_many_mistakes_have_equal_means_and_are_both_the_best():
    counts = [(DD, [60, 64, 64, 64, 60]), (SS, [61, 64, 63, 64, 60])]
    lines = [cell(which, rep, count, T=569) for which, own in counts for rep, count in enumerate(own)]
    rates = np.array([line["mistake_rate"] for line in lines]).reshape(2, -1)
    assert np.ptp(rates.mean(axis=1)) > 0  # the means of the rates differ in their last bits
    table = summarise(frame(*lines), 5)
    assert table["mistake_pct_mean"].nunique() == 1
    assert table["best"].all()
    assert table["marked"].all()


@pytest.mark.parametrize(
    ("more", "p", "marked"),
    # differences, two-sided p by a table of Student's t with 4 degrees of freedom
    [([0, 1, 3, 1, 1], 0.0705, True), ([0, 1, 3, 2, 1], 0.0516, True), ([1, 1, 3, 2, 1], 0.0161, False)],
)
def test_the_level_is_five_percent_two_sided(more, p, marked):
    counts = [100, 130, 90, 120, 110]
    worse = [count + extra for count, extra in zip(counts, more, strict=True)]
    table = summarise(frame(*repetitions(DD, counts), *repetitions(SS, worse)), 5).set_index("algo")
    assert table.loc["omkc_ss", "p_value"] == pytest.approx(p, abs=1e-4)
    assert table.loc["omkc_ss", "marked"] == marked


def test_identical_results_are_all_best():
    counts = [7, 9, 8, 8, 8]
    table = summarise(frame(*repetitions(DD, counts), *repetitions(SS, counts)), 5)
    assert marks(table) == {"omkc_dd": True, "omkc_ss": True}
    assert table["best"].all()
    assert table["p_value"].tolist() == [1.0, 1.0]


def test_equal_means_of_different_repetitions_are_both_best():
    table = summarise(frame(*repetitions(DD, [7, 9, 8, 8, 8]), *repetitions(SS, [9, 7, 8, 8, 8])), 5)
    assert table["best"].all()
    assert table["marked"].all()


def test_of_equal_means_the_row_with_most_repetitions_is_tested_against():
    rows = (*repetitions(DD, [10, 10]), *repetitions(SS, [9, 11, 10, 10, 10]))
    table = summarise(frame(*rows, *repetitions(U, [11, 12, 10, 13, 11])), 5).set_index("algo")
    assert table["best"].to_dict() == {"omkc_dd": True, "omkc_ss": True, "omkc_u": False}
    assert table.loc["omkc_u", "common"] == 5
    assert table["marked"].to_dict() == {"omkc_dd": False, "omkc_ss": True, "omkc_u": True}


def test_a_constant_difference_leaves_no_doubt_and_no_warning(recwarn):
    table = summarise(frame(*repetitions(DD, [7, 9, 8, 8, 9]), *repetitions(SS, [8, 10, 9, 9, 10])), 5)
    assert marks(table) == {"omkc_dd": True, "omkc_ss": False}
    assert not recwarn.list


def test_only_common_permutations_are_compared():
    # On the common repetitions 2 to 6 SS is worse by exactly 50; its lucky repetition 9 does not help it.
    dd = [cell(DD, rep, 100 + rep) for rep in range(7)]
    ss = [cell(SS, rep, 150 + rep) for rep in range(2, 7)] + [cell(SS, 9, 101)]
    table = summarise(frame(*dd, *ss), 7).set_index("algo")
    assert table.loc["omkc_ss", ["common", "p_value"]].tolist() == [5, 0.0]
    assert not table.loc["omkc_ss", "marked"]


@pytest.mark.parametrize("common", [1, 2, 3, 4, 5])
def test_fewer_than_five_common_permutations_is_no_test_and_no_mark(common):
    # SS is the same on the common ones and by chance worse on its others; U is far worse, with another spread
    ss = [cell(SS, rep, 100) for rep in range(5 - common, 5)] + [cell(SS, 5 + n, 110) for n in range(3)]
    cells = frame(*repetitions(DD, [100] * 5), *ss, *repetitions(U, [500, 900][:common]))
    table = summarise(cells, 5)
    assert table["common"].tolist() == [5, common, min(common, 2)]
    assert marks(table) == {"omkc_dd": True, "omkc_ss": common == 5, "omkc_u": False}
    assert table["p_value"].notna().tolist() == [True, common == 5, False]


def test_no_row_is_marked_where_the_best_has_too_few_repetitions_for_a_test():
    few = summarise(
        frame(*repetitions(DD, [100, 101]), *repetitions(SS, [110, 111]), *repetitions(U, [120, 200]))
    )
    more = summarise(frame(*repetitions(DD, [100] * 4), *repetitions(SS, [101, 102, 101, 102, 103, 104])))
    assert not few["marked"].any()
    assert not more["marked"].any()
    assert more["best"].tolist() == [True, False]


def test_a_yardstick_competes_and_can_win():
    majority = YARDSTICKS[0]
    cells = frame(
        *repetitions(DD, [300, 310, 305, 304, 306]), *repetitions(majority, [200, 201, 202, 200, 201])
    )
    table = summarise(cells, 5, YARDSTICKS[:1], settings=(DD,)).set_index("algo")
    assert table["is_yardstick"].to_dict() == {"omkc_dd": False, "majority": True}
    assert table["marked"].to_dict() == {"omkc_dd": False, "majority": True}


def test_each_data_set_has_its_own_best():
    cells = frame(
        *repetitions(DD, [1, 2, 1, 2, 1], "wdbc"),
        *repetitions(SS, [51, 52, 51, 52, 51], "wdbc"),
        *repetitions(DD, [51, 52, 51, 52, 51], "sonar"),
        *repetitions(SS, [1, 2, 1, 2, 1], "sonar"),
    )
    table = summarise(cells, 5, data=("wdbc", "sonar"))
    rows = list(zip(table["data"], table["algo"], table["marked"], strict=True))
    assert rows == [
        ("wdbc", "omkc_dd", True),
        ("wdbc", "omkc_ss", False),
        ("sonar", "omkc_dd", False),
        ("sonar", "omkc_ss", True),
    ]


def test_p_values_at_the_edges():
    some = np.array([np.zeros(5), np.full(5, 2.0), *np.random.default_rng(0).normal(size=(3, 5))])
    p_values = paired_ps(some)
    assert p_values[:2].tolist() == [1.0, 0.0]
    assert p_values[2:] == pytest.approx(ttest_rel(some[2:], 0 * some[2:], axis=1).pvalue, rel=1e-12)
    assert np.isnan(paired_ps(some[:, :4])).all()
    assert not not_worse(some[:, :4], np.ones(5)).any()
    assert not not_worse(some[:, :0], np.full(5, math.nan)).any()
    pairs = np.array([[-5.0] * 5, [5.0] * 5, [5.0, 6.0, 5.0, 6.0, 5.0]])
    assert not_worse(pairs, np.array([0.0, 0.0, 0.05])).tolist() == [True, False, True]


def test_a_test_takes_the_permutations_that_both_have_run_each_once():
    seeds, errors = [5, 3, 3, 4, 9, 5, 3, 7, None, None], [10, 20, 99, 30, 40, 1, 2, 3, 4, 7]
    tested = Paired(pd.DataFrame({"permutation_seed": pd.Series(seeds, dtype=object), "mistakes": errors}))
    rows = [
        Row("d", "o", "x", {}, None, False, cells=own) for own in ([0, 1, 2], [5, 6, 7], [4], [3, 8], [9])
    ]
    made = [
        (own.tolist(), less.tolist())
        for own, less in tested.differences(rows, rows[1], MEASURES["mistake_pct"])
    ]
    assert made == [([2, 4], [[], []]), ([3], [[]]), ([0], [[18.0, 9.0]]), ([1], [[0.0, 0.0, 0.0]])]
    assert [less.tolist() for _, less in tested.differences(rows[4:], rows[3], MEASURES["mistake_pct"])] == [
        [[3.0]]
    ]  # without a seed


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
    table = summary_of(cells, expected((DD, cosine), reps=2, yardsticks=()))
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
        (("drop=id", "drop=id scale=minmax"), ("", " (scale=minmax)")),
        (("label=a b", "label=c missing=mean"), (" ('label=a b')", " (label=c missing=mean)")),
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
    assert summarise(cells, 1)["data"].tolist() == ["wdbc (order=file)", "wdbc (order=permuted)"]


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
