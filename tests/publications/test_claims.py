"""The checks of a paper's claims, on rows made up, and the verdict over the data sets."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from omkl.errors import UserError
from omkl.publications import Selection, read_paper
from omkl.publications.claims import KINDS, ClaimRows, check_claims, interval
from omkl.publications.claims import verdict as verdict_of
from omkl.reports.rows import Row
from omkl.store.cell_measures import CellMeasures


@pytest.fixture
def rows():
    mistakes = [10, 12, 14, 12, 12, 13, 15, 17, 15, 15, 9, 13, 14, 12, 11]
    cells = pd.DataFrame(
        {
            "key": [f"k{at}" for at in range(15)],
            "permutation_seed": ["1", "2", "3", "4", "5"] * 3,
            "mistakes": mistakes,
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
        records[name][0]["row"] = Row("d", "permuted", name, {}, None, False, "classification", at)
    for place, name in ((0, "B"), (1, "A"), (2, "B")):
        records["S"][place]["row"] = records[name][0]["row"]
    curve = {"t": [1, 11, 21], "n_sv_sum": [0, 10, 30], "n_sv_combined": [0, 1, 3]}
    return ClaimRows(
        "d", "classification", records, cells, CellMeasures(cells), dict.fromkeys(cells["key"], curve)
    )


MISTAKES = {"measure": "mistake_pct"}
COUNTS = {"A": "n_sv_combined", "B": "n_sv_sum", "C": "n_sv_sum"}


@pytest.mark.parametrize(
    ("kind", "options", "holds"),
    [
        ("less", {"left": "A", "right": "B", **MISTAKES}, True),
        ("less", {"left": "B", "right": ["A", "B"], **MISTAKES}, False),
        ("less", {"left": "A", "right": "gone", **MISTAKES}, None),
        ("less", {"left": ["A", "gone"], "right": "B", **MISTAKES}, None),
        ("less", {"left": ["A", "C"], "right": "B", **MISTAKES}, True),
        ("less", {"left": ["A", "B"], "right": "C", **MISTAKES}, False),  # each, not the best of them
        ("less", {"left": "A", "right": "B", "significant": True, **MISTAKES}, True),
        ("less", {"left": "C", "right": "A", **MISTAKES}, True),
        ("less", {"left": "C", "right": "A", "significant": True, **MISTAKES}, False),
        ("less", {"left": "B", "right": "A", "measure": "auc"}, True),  # of which more is better
        ("less", {"left": "A", "right": ["A", "B"], "measure": "auc"}, False),
        ("less", {"left": "B", "right": "A", "measure": "auc", "significant": True}, True),
        ("less", {"left": "A", "right": "B", "measure": "seconds", "significant": True}, True),
        ("best", {"left": "A", "right": "B", "measure": "auc"}, False),
        ("best", {"left": "B", "right": "A", "measure": "auc"}, True),
        ("best", {"left": "A", "right": "B"}, True),
        ("best", {"left": "A", "right": ["B", "C"]}, True),  # not significantly worse than C
        ("best", {"left": "B", "right": ["A", "C"]}, False),
        ("best", {"left": ["A", "B"], "right": ["C"]}, True),
        ("best", {"left": "A", "right": "gone"}, None),
        ("comparable", {"left": "A", "right": "C"}, False),  # no significant difference, but not within 0.5
        ("comparable", {"left": "A", "right": "C", "margin": 2.0}, True),
        ("comparable", {"left": "A", "right": "B", "margin": 2.0}, False),
        ("comparable", {"left": "A", "right": "B", "or_better": True}, True),
        ("comparable", {"left": "B", "right": "A", "or_better": True}, False),
        ("comparable", {"left": "B", "right": "A", "margin": 3.5}, True),
        ("comparable", {"left": "A", "right": "B", "measure": "auc", "margin": 0.15}, True),
        ("comparable", {"left": "A", "right": "B", "measure": "auc", "margin": 0.05}, False),
        ("comparable", {"left": "B", "right": "A", "measure": "auc"}, False),  # 0.1 is not equal in practice
        ("comparable", {"left": "A", "right": "gone"}, None),
        ("ratio", {"left": "B", "right": "A", "measure": "n_sv_sum", "high": 0.5}, True),
        ("ratio", {"left": "B", "right": "A", "measure": "n_sv_sum", "high": 0.4}, False),
        ("ratio", {"left": "A", "right": "B", "measure": "seconds", "high": 0.4, "counts": COUNTS}, True),
        ("ratio", {"left": "A", "right": "B", "measure": "seconds", "low": 0.5, "counts": COUNTS}, False),
        ("ratio", {"left": "C", "right": "B", "measure": "seconds", "high": 0.4, "counts": COUNTS}, None),
        ("ordered", {"order": ["A", "B"], **MISTAKES}, True),
        ("ordered", {"order": ["A", "B"], "measure": "n_sv_sum"}, False),
        ("ordered", {"order": ["A", "B"], "measure": "seconds", "counts": COUNTS}, True),
        ("ordered", {"order": ["C", "A"], "measure": "seconds", "counts": COUNTS}, None),
        ("best_between", {"label": "S", "key": "beta", "low": 0.7, "high": 0.9}, True),
        ("best_between", {"label": "S", "key": "beta", "low": 0.85, "high": 1.0}, False),
        ("trend", {"label": "S", "key": "beta", "measure": "n_sv_sum", "direction": "up"}, True),
        ("trend", {"label": "S", "key": "beta", "measure": "mistake_pct", "direction": "down"}, False),
        (
            "trend",
            {"label": "S", "key": "beta", "measure": "mistake_pct", "direction": "down", "until": 0.8},
            True,
        ),
        (
            "step",
            {"label": "S", "key": "beta", "measure": "n_sv_sum", "start": 0.1, "end": 0.8, "high": 3.0},
            True,
        ),
        (
            "step",
            {"label": "S", "key": "beta", "measure": "n_sv_sum", "start": 0.1, "end": 1.0, "high": 3.0},
            False,
        ),
        ("tracks", {"left": "A", "right": "B"}, True),
        ("tracks", {"left": ["A", "B"], "right": "B"}, False),
        ("tracks", {"left": "A", "right": ["B", "gone"]}, None),
        ("value_within", {"label": "A", "measure": "mistake_pct", "low": 11.0, "high": 13.0}, True),
        ("value_within", {"label": "A", "measure": "mistake_pct", "high": 11.0}, False),
    ],
)
def test_a_check_decides_whether_a_claim_holds(rows, kind, options, holds):
    answer, numbers = KINDS[kind](rows, options)
    assert answer is holds
    assert numbers or "gone" in str(options)


@pytest.mark.parametrize("kind", ["best", "comparable", "less", "tracks", "best_between"])
def test_a_claim_that_needs_a_test_is_undecided_over_too_few_permutations(rows, kind):
    for name, at in (("A", [0, 1, 2, 3]), ("B", [5, 6, 7, 8])):
        rows.records[name][0]["row"].cells[:] = at
    options = {
        "best": {"left": "B", "right": "A"},
        "comparable": {"left": "A", "right": "B", "or_better": True},
        "less": {"left": "A", "right": "B", "significant": True, **MISTAKES},
        "tracks": {"left": "A", "right": "B"},
        "best_between": {"label": "S", "key": "beta", "low": 0.85, "high": 1.0},
    }
    assert KINDS[kind](rows, options[kind])[0] is None
    assert KINDS["best"](rows, {"left": "A", "right": "B"})[0] is True  # the better mean needs none


def test_a_best_value_outside_a_range_counts_where_one_inside_is_not_significantly_worse(rows):
    rows.records["S"][2]["row"] = rows.records["C"][0]["row"]
    answer, numbers = KINDS["best_between"](rows, {"label": "S", "key": "beta", "low": 0.85, "high": 1.0})
    assert answer is True
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


@pytest.mark.parametrize("shift", [-1.0, -0.4, -0.1, 0.0, 0.2, 0.45, 0.6])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_interval_within_a_margin_is_two_one_sided_t_tests(seed, shift):
    differences, margin = shift + 0.3 * np.random.default_rng(seed).normal(size=12), 0.5
    low, high = interval(differences)
    below = ttest_1samp(differences, margin, alternative="less").pvalue < 0.05
    above = ttest_1samp(differences, -margin, alternative="greater").pvalue < 0.05
    assert (high < margin, low > -margin) == (below, above)


def test_the_interval_of_equal_differences_is_their_value():
    assert interval(np.full(6, 0.25)) == (0.25, 0.25)


def test_kernel_values_are_the_area_below_the_curve_of_the_vectors(rows):
    assert rows.kernel_values("B", "n_sv_sum") == 5 * 10 + 20 * 10
    assert rows.kernel_values("A", "n_sv_combined") == 25.0


def test_differences_pair_the_permutations_that_both_have(rows):
    a, b = (rows.records[name][0]["row"] for name in "AB")
    a.cells, b.cells = [4, 2, 0, 1], [6, 5, 9]
    assert sorted(rows.differences(a, b, rows.cells["mistakes"].to_numpy())) == [-3, -3, -3]


@pytest.mark.parametrize(
    ("sets", "held", "verdict"),
    [
        ("all", [True, True], "holds"),
        ("all", [True, False], "does not hold"),
        ("nearly all", [True] * 4 + [False], "holds"),
        ("most", [True, False], "does not hold"),
        ("most", [True, True, False], "holds"),
        ("all", [], "undecided"),
        ("12 of 15", [True] * 12 + [False] * 3, "holds"),
        ("12 of 15", [True] * 11 + [False] * 4, "does not hold"),
        ("12 of 15", [True] * 4 + [False], "holds"),
        ("at most 3 of 15", [True] * 3 + [False] * 12, "holds"),
        ("at most 3 of 15", [True] * 4 + [False] * 11, "does not hold"),
    ],
)
def test_a_verdict_follows_the_number_of_data_sets_that_the_claim_names(sets, held, verdict):
    assert verdict_of(sets, held) == verdict


def test_a_claim_without_data_says_which_and_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "omkl.publications.selection._reason", lambda name, _: "get it" if name == "usps_train" else ""
    )
    made = check_claims(read_paper("norma"), Selection(quick=True, words=(f"store={tmp_path}",)), stored=True)
    novelties = pd.DataFrame(made.table.records).set_index("claim").loc["novelties"]
    assert (novelties["verdict"], novelties["numbers"]) == ("undecided", "no data: usps_train")
    assert "! usps_train: the data are not available: get it" in made.text("table")
