"""The checks of a paper's claims, on rows made up, and the verdict over the data sets."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from omkl.config import Setting
from omkl.config.planned import Group
from omkl.errors import UserError
from omkl.publications import Selection, claims, read_paper
from omkl.publications.claims import KINDS, NO, SAME, UNKNOWN, YES, ClaimRows, check_claims
from omkl.publications.claims import verdict as verdict_of
from omkl.reports.rows import Row
from omkl.store.fields import CellMeasures


@pytest.fixture
def rows():
    mistakes = [10, 12, 14, 12, 12, 13, 15, 17, 15, 15, 9, 13, 14, 12, 11]
    cells = pd.DataFrame(
        {
            "key": [f"k{at}" for at in range(15)],
            "permutation_seed": ["1", "2", "3", "4", "5"] * 3,
            "mistakes": mistakes,
            "n_sv_sum": [100] * 5 + [50] * 5 + [60] * 5,
            "mistake_rate": [own / 100 for own in mistakes],
            "seconds": [0.02, 0.021, 0.019, 0.02, 0.02, 0.05, 0.052, 0.048, 0.05, 0.05] + [0.001] * 5,
            "auc": [0.7, 0.72, 0.71, 0.69, 0.7, *[0.8, 0.83, 0.81, 0.8, 0.8] * 2],
            "weights": [[0.9, 0.1]] * 5 + [[own, 0.01] for own in (0.6, 0.8, 0.7, 0.85, 0.75)] + [None] * 5,
        }
    )

    def record(mistakes, size, beta, seconds=0.001):
        own = {"mistake_pct_mean": mistakes, "n_sv_sum_mean": size, "auc_mean": 0.7 + 0.1 * (mistakes > 12)}
        return own | {"seconds_mean": seconds, "measure": "mistake_pct", "params": {"beta": beta}}

    records = {"A": [record(12.0, 100.0, 0.5, 0.02)], "B": [record(15.0, 50.0, 0.5, 0.05)]}
    records["C"] = [record(11.8, 60.0, 0.5)]
    records["S"] = [record(20.0, 10.0, 0.1), record(12.0, 30.0, 0.8), record(15.0, 60.0, 1.0)]
    for name, at in (("A", [0, 1, 2, 3, 4]), ("B", [5, 6, 7, 8, 9]), ("C", [10, 11, 12, 13, 14])):
        records[name][0]["row"] = Row("d", Group("d", "", "permuted", "", ""), Setting(name), False, cells=at)
    for place, name in ((0, "B"), (1, "A"), (2, "B")):
        records["S"][place]["row"] = records[name][0]["row"]
    curve = {"t": [1, 11, 21], "n_sv_sum": [0, 10, 30], "n_sv_combined": [0, 1, 3]}
    return ClaimRows(
        "d", "classification", records, cells, CellMeasures(cells), dict.fromkeys(cells["key"], curve)
    )


def test_of_equal_means_that_with_more_repetitions_is_the_best():
    of_few, of_many = ({"mistake_pct_mean": 3.0, "row": SimpleNamespace(cells=[*range(n)])} for n in (5, 10))
    rows = ClaimRows("d", "classification", {"A": [of_few], "B": [of_many]}, None, None)
    assert rows.best(["A", "B", "gone"], "mistake_pct") == "B"


MISTAKES = {"measure": "mistake_pct"}
WEIGHTS = {"measure": "top_weight", "significant": True}
COUNTS = {"A": "n_sv_combined", "B": "n_sv_sum", "C": "n_sv_sum"}


@pytest.mark.parametrize(
    ("kind", "options", "holds"),
    [
        ("less", {"left": "A", "right": "B", **MISTAKES}, YES),
        ("less", {"left": "B", "right": ["A", "B"], **MISTAKES}, NO),
        ("less", {"left": "A", "right": "A", **MISTAKES}, SAME),
        ("less", {"left": "A", "right": "A", "significant": True, **MISTAKES}, NO),
        ("less", {"left": "C", "right": "B", "measure": "seconds"}, UNKNOWN),  # a time that is too short,
        ("less", {"left": "A", "right": "gone", **MISTAKES}, UNKNOWN),
        ("less", {"left": ["A", "gone"], "right": "B", **MISTAKES}, UNKNOWN),
        ("less", {"left": ["A", "C"], "right": "B", **MISTAKES}, YES),
        ("less", {"left": ["A", "B"], "right": "C", **MISTAKES}, NO),  # each, not the best of them
        ("less", {"left": "A", "right": "B", "significant": True, **MISTAKES}, YES),
        ("less", {"left": "C", "right": "A", **MISTAKES}, SAME),
        ("less", {"left": "C", "right": "A", "significant": True, **MISTAKES}, NO),
        ("less", {"left": "B", "right": "A", "measure": "auc"}, YES),  # of which more is better
        ("less", {"left": "A", "right": ["A", "B"], "measure": "auc"}, NO),
        ("less", {"left": "B", "right": "A", "measure": "auc", "significant": True}, YES),
        ("less", {"left": "A", "right": "B", "measure": "seconds", "significant": True}, YES),
        ("best", {"left": "A", "right": "B", "measure": "auc"}, NO),
        ("best", {"left": "B", "right": "A", "measure": "auc"}, YES),
        ("best", {"left": "A", "right": "B"}, YES),
        ("best", {"left": "A", "right": ["B", "C"]}, YES),  # not significantly worse than C
        ("best", {"left": "B", "right": ["A", "C"]}, NO),
        ("best", {"left": ["A", "B"], "right": ["C"]}, YES),
        ("best", {"left": "A", "right": "gone"}, UNKNOWN),
        ("best", {"left": ["A", "gone"], "right": "others"}, YES),
        ("best", {"left": "B", "right": "others"}, NO),
        ("within", {"left": ["B", "gone"], "right": "others", "measure": "error", "high": 1.05}, NO),
        ("within", {"left": "B", "right": "others", "measure": "error", "high": 100}, YES),
        ("comparable", {"left": "A", "right": "C"}, NO),  # no significant difference, but not within 0.5
        ("comparable", {"left": "A", "right": "C", "margin": 2.0}, YES),
        ("comparable", {"left": "A", "right": "B", "margin": 2.0}, NO),
        ("comparable", {"left": "A", "right": "B", "or_better": True}, YES),
        ("comparable", {"left": "B", "right": "A", "or_better": True}, NO),
        ("comparable", {"left": "B", "right": "A", "margin": 3.5}, YES),
        ("comparable", {"left": "A", "right": "B", "measure": "auc", "margin": 0.15}, YES),
        ("comparable", {"left": "A", "right": "B", "measure": "auc", "margin": 0.05}, NO),
        ("comparable", {"left": "B", "right": "A", "measure": "auc"}, NO),  # 0.1 is not equal in practice
        ("comparable", {"left": "A", "right": "gone"}, UNKNOWN),
        # each bound of the interval counts, but the lower one with or_better
        ("comparable", {"left": "C", "right": "A"}, NO),
        ("comparable", {"left": "A", "right": "B", "margin": 1.0}, NO),
        ("comparable", {"left": "A", "right": "B", "margin": 10.0}, YES),
        ("comparable", {"left": "A", "right": "B", "margin": 1.0, "or_better": True}, YES),
        ("comparable", {"left": "B", "right": "A", "margin": 1.0, "or_better": True}, NO),
        ("comparable", {"left": "B", "right": "A", "margin": 10.0}, YES),
        ("within", {"left": "B", "right": "A", "measure": "n_sv_sum", "high": 0.5}, YES),
        ("within", {"left": "B", "right": "A", "measure": "n_sv_sum", "high": 0.4}, NO),
        ("within", {"left": "C", "right": "B", "measure": "seconds", "high": 0.4}, UNKNOWN),
        ("within", {"left": "A", "right": "B", "measure": "seconds", "high": 0.4, "counts": COUNTS}, YES),
        ("within", {"left": "A", "right": "B", "measure": "seconds", "low": 0.5, "counts": COUNTS}, NO),
        ("within", {"left": "C", "right": "B", "measure": "seconds", "high": 0.4, "counts": COUNTS}, UNKNOWN),
        ("less", {"order": ["A", "B"], **MISTAKES}, YES),
        ("less", {"order": ["A", "B"], "measure": "n_sv_sum"}, NO),
        ("less", {"order": ["A", "B"], "measure": "seconds", "counts": COUNTS}, YES),
        ("less", {"order": ["C", "A"], "measure": "seconds", "counts": COUNTS}, UNKNOWN),
        ("best_between", {"label": "S", "key": "beta", "low": 0.7, "high": 0.9}, YES),
        ("best_between", {"label": "S", "key": "beta", "low": 0.85, "high": 1.0}, NO),
        ("trend", {"label": "S", "key": "beta", "measure": "seconds", "direction": "up"}, UNKNOWN),
        ("step", {"label": "S", "key": "beta", "measure": "seconds", "start": 0.1, "end": 1.0}, UNKNOWN),
        ("trend", {"label": "S", "key": "beta", "measure": "n_sv_sum", "direction": "up"}, YES),
        ("trend", {"label": "S", "key": "beta", "measure": "mistake_pct", "direction": "down"}, NO),
        (
            "trend",
            {"label": "S", "key": "beta", "measure": "mistake_pct", "direction": "down", "until": 0.8},
            YES,
        ),
        (
            "step",
            {"label": "S", "key": "beta", "measure": "n_sv_sum", "start": 0.1, "end": 0.8, "high": 3.0},
            YES,
        ),
        (
            "step",
            {"label": "S", "key": "beta", "measure": "n_sv_sum", "start": 0.1, "end": 1.0, "high": 3.0},
            NO,
        ),
        ("less", {"left": "A", "right": "B", **WEIGHTS}, YES),
        ("less", {"left": ["A", "B"], "right": "B", **WEIGHTS}, NO),
        ("less", {"left": "A", "right": ["B", "gone"], **WEIGHTS}, UNKNOWN),
        ("within", {"left": "A", "measure": "mistake_pct", "low": 11.0, "high": 13.0}, YES),
        ("within", {"left": "A", "measure": "mistake_pct", "high": 11.0}, NO),
    ],
)
def test_a_check_decides_whether_a_claim_holds(rows, kind, options, holds):
    answer, numbers = KINDS[kind](rows, options)
    assert answer == holds
    assert numbers or "gone" in str(options)


@pytest.mark.parametrize(
    ("kind", "options", "holds"),
    [
        ("best", {"left": "B", "right": "A"}, UNKNOWN),
        ("best", {"left": "A", "right": "B"}, YES),  # the better mean needs no test
        ("comparable", {"left": "A", "right": "B", "or_better": True}, UNKNOWN),
        ("less", {"left": "A", "right": "B", "significant": True, **MISTAKES}, UNKNOWN),
        ("less", {"left": "A", "right": "B", **WEIGHTS}, UNKNOWN),
        ("less", {"left": "A", "right": "B", **MISTAKES}, YES),  # by more than what is practically equal
        ("less", {"left": "A", "right": "D", **MISTAKES}, SAME),  # 0.25 points
        ("best_between", {"label": "S", "key": "beta", "low": 0.85, "high": 1.0}, UNKNOWN),
    ],
)
@pytest.mark.parametrize("order", ["permuted", "file"])
def test_without_a_test_the_means_decide_where_they_differ_in_practice(rows, kind, options, holds, order):
    """Too few permutations, or passes in file order, which are of one."""
    rows.records["D"] = [dict(rows.records["A"][0])]
    for name, at in (("A", [0, 1, 2, 3]), ("B", [5, 6, 7, 8]), ("D", [0, 1, 2, 14])):
        own = rows.records[name][0]["row"]
        rows.records[name][0]["row"] = replace(own, group=own.group._replace(order=order), cells=at)
    for place, name in ((0, "B"), (1, "A"), (2, "B")):
        rows.records["S"][place]["row"] = rows.records[name][0]["row"]
    assert KINDS[kind](rows, options)[0] == holds


def test_means_are_of_the_permutations_that_both_have_run(rows):
    """C has its worst repetition where A has none: over the common ones C is 10 and A 12 on average."""
    rows.records["A"][0]["row"].cells[:] = [0, 1, 3, 4]
    rows.records["C"][0]["row"].cells[:] = [10, 11, 12, 13, 14]
    rows.cells.loc[12, ["mistakes", "mistake_rate"]] = [90, 0.9]
    rows.records["C"][0]["mistake_pct_mean"] = 27.0
    answer, numbers = KINDS["less"](rows, {"left": "C", "right": "A", **MISTAKES})
    assert numbers == "11.25 % : 11.50 %"
    assert answer == SAME


@pytest.mark.parametrize(
    ("values", "measure", "texts"),
    [
        ([2.72, 2.711], "mse_e3", ["2.72", "2.71"]),
        ([12.8237, 12.8239], "mse_e3", ["12.8237", "12.8239"]),
        ([12.8, 12.8 + 1e-14], "mse_e3", ["12.8", "12.8"]),  # equal but for rounding
        ([18.743, 18.75], "mistakes", ["18.74 %", "18.75 %"]),
        ([1000.0, 1000.4], "n_sv_sum", ["1000.0", "1000.4"]),
        ([1000.0, float("nan")], "n_sv_sum", ["1000", "–"]),
        ([12.0, 3.0], "seconds", ["12.0 s", "3.00 s"]),
    ],
)
def test_two_numbers_that_are_compared_never_print_equal(values, measure, texts):
    assert claims._shown(values, measure) == texts


def test_a_best_value_outside_a_range_counts_where_one_inside_is_not_significantly_worse(rows):
    rows.records["S"][2]["row"] = rows.records["C"][0]["row"]
    answer, numbers = KINDS["best_between"](rows, {"label": "S", "key": "beta", "low": 0.85, "high": 1.0})
    assert answer == YES
    assert numbers.startswith("best at beta = 0.8 (12.00 %), inside 1 (15.00 %), p = 0.6")


def test_a_measure_that_cells_lack_cannot_be_tested(rows):
    for name, mean in (("A", 1.0), ("B", 2.0)):
        rows.records[name][0]["memory_mib_mean"] = mean
    options = {"left": "A", "right": "B", "measure": "memory_mib", "significant": True}
    with pytest.raises(UserError, match="'memory_mib' is not known of each cell"):
        KINDS["less"](rows, options)


def test_a_range_without_a_value_of_the_sweep_is_a_mistake_of_the_conf(rows):
    with pytest.raises(UserError, match="no value of beta"):
        KINDS["best_between"](rows, {"label": "S", "key": "beta", "low": 0.3, "high": 0.4})


@pytest.mark.parametrize(
    ("ratios", "direction", "answer"),
    [
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], "down", YES),
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], "up", NO),
        ([0.9, 0.4, 0.7, 0.8, 0.5, 0.6], "down", SAME),  # no significant rank correlation
        ([0.9, 0.8, 0.7, 0.6], "down", UNKNOWN),  # too few sets
        ([0.9, 0.8, 0.7, 0.6, 0.05, 0.04], "down", UNKNOWN),  # of two the times are too short
    ],
)
def test_a_ratio_is_followed_along_the_sizes_of_the_data_sets(rows, ratios, direction, answer):
    def of(size, ratio):
        left, right = ({"T": size, "seconds_mean": seconds} for seconds in (0.1 * ratio, 0.1))
        return replace(rows, data=str(size), records={"L": [left], "R": [right]})

    each = [of(100 * place, ratio) for place, ratio in enumerate(ratios, 1)]
    options = {"left": "L", "right": "R", "measure": "seconds", "direction": direction}
    assert claims.across(each, options)[0] == answer


def test_kernel_values_are_the_area_below_the_curve_of_the_vectors(rows):
    assert rows.kernel_values("B", "n_sv_sum") == 5 * 10 + 20 * 10
    assert rows.kernel_values("A", "n_sv_combined") == 25.0


def test_differences_pair_the_permutations_that_both_have(rows):
    a, b = (rows.records[name][0]["row"] for name in "AB")
    a.cells, b.cells = [4, 2, 0, 1], [6, 5, 9]
    assert sorted(rows.differences(a, b, "mistake_pct").round(9)) == [-3, -3, -3]


@pytest.mark.parametrize(
    ("sets", "answers", "exceptions", "verdict"),
    [
        ("all", [YES, YES], [], YES),
        ("all", [YES, NO], [], NO),
        ("all", [YES, SAME], [], SAME),
        ("all", [YES, UNKNOWN], [], YES),
        ("nearly all", [YES] * 4 + [NO], [], YES),
        ("nearly all", [YES] * 3 + [SAME, NO], [], SAME),
        ("most", [YES, NO], [], NO),
        ("most", [YES, SAME], [], SAME),
        ("most", [YES, YES, NO], [], YES),
        ("most", [YES, YES, NO], [YES], YES),
        ("most", [YES, YES, YES], [YES, NO], NO),  # an exception that is none
        ("all", [], [], UNKNOWN),
        ("12 of 15", [YES] * 12 + [NO] * 3, [], YES),
        ("12 of 15", [YES] * 11 + [NO] * 4, [], NO),
        ("12 of 15", [YES] * 4 + [NO], [], YES),
        ("at most 3 of 15", [YES] * 3 + [NO] * 12, [], YES),
        ("at most 3 of 15", [YES] * 4 + [NO] * 11, [], NO),
    ],
)
def test_a_verdict_follows_the_number_of_data_sets_that_the_claim_names(sets, answers, exceptions, verdict):
    assert verdict_of(sets, answers, exceptions) == verdict


@pytest.mark.parametrize(("there", "answer"), [(YES, NO), (NO, YES), (SAME, YES), (UNKNOWN, UNKNOWN)])
def test_on_an_exception_a_claim_is_right_where_it_does_not_hold(there, answer):
    assert claims._ON_EXCEPTIONS.get(there, there) == answer


def test_a_claim_without_data_says_which_and_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "omkl.publications.selection._reason", lambda name, _: "get it" if name == "usps_train" else ""
    )
    made = check_claims(read_paper("norma"), Selection(quick=True, words=(f"store={tmp_path}",)), stored=True)
    novelties = pd.DataFrame(made.table.records).set_index("claim").loc["novelties"]
    assert (novelties["verdict"], novelties["numbers"]) == ("undecided", "no data: usps_train")
    assert "! usps_train: the data are not available: get it" in made.text("table")


def test_where_data_are_named_a_claim_whose_rows_are_not_there_is_undecided(tmp_path, monkeypatch):
    def lacks(*args):
        raise UserError("BOMKC(SPA) has 1 row on wdbc; the claim needs a sweep")

    monkeypatch.setattr(claims, "on_each", lacks)
    selection = Selection(data=("wdbc",), words=(f"store={tmp_path}",))
    made = check_claims(read_paper("bomkl"), selection, stored=True)
    assert len(made.table.records) == len(read_paper("bomkl").claims)
    assert {row["verdict"] for row in made.table.records} == {"undecided"}
