"""The checks of a paper's claims, on rows made up, and the verdict over the data sets."""

import pandas as pd
import pytest

from omkl.publications import Selection, read_paper
from omkl.publications.claims import KINDS, ClaimRows, check_claims
from omkl.publications.claims import verdict as verdict_of
from omkl.reports.rows import Row


@pytest.fixture
def rows():
    cells = pd.DataFrame(
        {
            "permutation_seed": ["1", "2", "3", "4", "5"] * 2,
            "mistakes": [10, 12, 14, 12, 12, 13, 15, 17, 15, 15],
            "auc": [0.7, 0.72, 0.71, 0.69, 0.7, 0.8, 0.83, 0.81, 0.8, 0.8],
            "weights": [[0.9, 0.1]] * 10,
        }
    )

    def record(mistakes, size, beta):
        own = {"mistake_pct_mean": mistakes, "n_sv_sum_mean": size, "auc_mean": 0.7 + 0.1 * (mistakes > 12)}
        return own | {"measure": "mistake_pct", "params": {"beta": beta}}

    records = {"A": [record(12.0, 100.0, 0.5)], "B": [record(15.0, 50.0, 0.5)]}
    records["S"] = [record(20.0, 10.0, 0.1), record(12.0, 30.0, 0.8), record(15.0, 60.0, 1.0)]
    for name, at in (("A", [0, 1, 2, 3, 4]), ("B", [5, 6, 7, 8, 9])):
        records[name][0]["row"] = Row("d", "permuted", name, {}, None, False, "classification", at)
    return ClaimRows("d", "classification", records, cells)


@pytest.mark.parametrize(
    ("kind", "options", "holds"),
    [
        ("less", {"left": "A", "right": "B", "measure": "mistake_pct"}, True),
        ("less", {"left": "B", "right": ["A", "B"], "measure": "mistake_pct"}, False),
        ("less", {"left": "A", "right": "gone", "measure": "mistake_pct"}, None),
        ("less", {"left": "B", "right": "A", "measure": "auc"}, True),  # of which more is better
        ("less", {"left": "A", "right": ["A", "B"], "measure": "auc"}, False),
        ("comparable", {"left": "A", "right": "B", "measure": "auc"}, False),
        ("comparable", {"left": "B", "right": "A", "measure": "auc"}, True),
        ("comparable", {"left": "A", "right": "B"}, True),
        ("comparable", {"left": "B", "right": "A"}, False),
        ("ratio", {"left": "B", "right": "A", "measure": "n_sv_sum", "high": 0.5}, True),
        ("ratio", {"left": "B", "right": "A", "measure": "n_sv_sum", "high": 0.4}, False),
        ("ordered", {"order": ["A", "B"], "measure": "mistake_pct"}, True),
        ("ordered", {"order": ["A", "B"], "measure": "n_sv_sum"}, False),
        ("best_between", {"label": "S", "key": "beta", "low": 0.7, "high": 0.9}, True),
        ("best_between", {"label": "S", "key": "beta", "low": 0.85, "high": 0.9}, False),
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
        ("tracks", {"label": "A", "low": 0.9}, True),
        ("tracks", {"label": "A", "high": 0.8}, False),
        ("value_within", {"label": "A", "measure": "mistake_pct", "low": 11.0, "high": 13.0}, True),
        ("value_within", {"label": "A", "measure": "mistake_pct", "high": 11.0}, False),
    ],
)
def test_a_check_decides_whether_a_claim_holds(rows, kind, options, holds):
    answer, numbers = KINDS[kind](rows, options)
    assert answer is holds
    assert numbers


@pytest.mark.parametrize("mistakes", [[10, 12, 14, 12, 18, 12, 15, 15], [10, 12, 14, 12, 13, 15, 17, 15]])
def test_more_errors_over_too_few_permutations_for_a_test_are_undecided(rows, mistakes):
    for name, at in (("A", [0, 1, 2, 3]), ("B", [5, 6, 7, 8])):
        rows.records[name][0]["row"].cells[:] = at
    rows.cells["mistakes"] = [*mistakes[:4], 12, *mistakes[4:], 15]
    assert KINDS["comparable"](rows, {"left": "B", "right": "A"})[0] is None
    assert KINDS["comparable"](rows, {"left": "A", "right": "B"})[0] is True


def test_no_worse_by_a_test_is_comparable(rows):
    rows.cells["mistakes"] = [10, 12, 14, 12, 12, 18, 12, 15, 13, 11]
    assert KINDS["comparable"](rows, {"left": "B", "right": "A"})[0] is True


@pytest.mark.parametrize(
    ("sets", "held", "verdict"),
    [
        ("all", [True, True], "holds"),
        ("all", [True, False], "does not hold"),
        ("nearly all", [True] * 4 + [False], "holds"),
        ("most", [True, False], "does not hold"),
        ("most", [True, True, False], "holds"),
        ("all", [], "undecided"),
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
