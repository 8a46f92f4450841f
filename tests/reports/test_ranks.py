"""Average ranks over data sets: against the examples of Demsar's paper, and what the diagram shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.reports_cells import YARDSTICKS, cell, expected, frame, repetitions, setting

from omkl.errors import UserError
from omkl.reports.pairwise import comparison
from omkl.reports.ranks import DRAWN, average_ranks, ranks_of
from omkl.reports.summary import summary_of

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")

# Demsar (2006), Table 6: the ranks of C4.5 with and without m and cf on 14 data sets.
DEMSAR = pd.DataFrame(
    {
        "C4.5": [4, 1, 4, 4, 4, 1, 3, 2.5, 4, 2.5, 4, 3, 4, 3],
        "C4.5+m": [3, 2, 1, 1, 2, 2.5, 2, 2.5, 3, 2.5, 2.5, 2, 1, 1],
        "C4.5+cf": [2, 3, 2, 3, 3, 4, 4, 4, 2, 2.5, 1, 4, 2, 4],
        "C4.5+m+cf": [1, 4, 3, 2, 1, 2.5, 1, 1, 1, 2.5, 2.5, 1, 3, 2],
    }
)


def test_the_papers_example():
    """Demsar (2006), section 3.2.2 and 3.2.4: chi2 9.28, F 3.69, CD 1.25 (5 %) and 1.12 (10 %)."""
    ranks = ranks_of(DEMSAR)
    assert ranks.average == pytest.approx(
        {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}, abs=5e-4
    )
    assert list(ranks.average) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    k, n, ties = 4, 14, 3 * (2**3 - 2) + (4**3 - 4)  # the paper leaves ties uncorrected
    uncorrected = ranks.test.chi2 * (1 - ties / (n * (k**3 - k)))
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=5e-3)
    assert pytest.approx(13 * ranks.test.chi2 / (14 * 3 - ranks.test.chi2)) == ranks.test.F
    assert ranks.groups == (tuple(ranks.average),)
    lenient = ranks_of(DEMSAR, alpha=0.1)
    assert lenient.cd == pytest.approx(1.12, abs=5e-3)
    assert lenient.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))
    assert "4 learners over 14 data sets" in ranks.caption()
    assert "CD 1.25 at 5 %" in ranks.caption()


def studied() -> pd.DataFrame:
    """Three sets; on the third, omkc_ss has finished 1 of 2 repetitions, and omkc_u has finished nothing."""
    counts = {"a": (10, 20, 50, 40, 5), "b": (10, 10, 50, 40, 5), "c": (30, 20, 50, 40, 60)}
    cells = []
    for data, row in counts.items():
        for which, count in zip((DD, SS, *YARDSTICKS), row, strict=True):
            done = 1 if (data, which) == ("c", SS) else 2
            cells += repetitions(which, [count, count + 2][:done], data)
    return summary_of(frame(*cells), expected((DD, SS, U), tuple(counts), 2))


def test_only_sets_that_all_have_finished_count_and_the_rest_is_named():
    ranks = average_ranks(studied())
    assert list(ranks.each.index) == ["a", "b"]
    assert ranks.left_out == ("OMKC(U): has finished no data set", "c: not finished by OMKC(S,S)")
    assert list(ranks.average) == ["AROW", "OMKC(D,D)", "OMKC(S,S)", "Perceptron", "majority"]
    assert list(ranks.average.values()) == [1.0, 2.25, 2.75, 4.0, 5.0]
    assert ranks.yardsticks == ("majority", "Perceptron", "AROW")


def test_ranks_are_of_the_permutations_that_all_have_run():
    """DD has more mistakes in the mean of its own, but not on the two permutations that SS and U have too."""
    cells = [
        *repetitions(DD, [10, 10, 90, 90], "a"),
        *repetitions(SS, [20, 20], "a"),
        *repetitions(U, [30, 30], "a"),
        *(one for which in (DD, SS, U) for one in repetitions(which, [5, 5], "b")),
    ]
    summary = summary_of(frame(*cells), expected((DD, SS, U), ("a", "b"), 2, yardsticks=()))
    ranks = average_ranks(summary)
    assert ranks.each.loc["a"].tolist() == [1.0, 2.0, 3.0]
    assert ranks.values.loc["a"].tolist() == [1.0, 2.0, 3.0]  # in percent


@pytest.mark.parametrize(("sets", "tells"), [(2, False), (12, True)])
def test_a_diagram_that_can_only_say_nothing_is_a_sentence(sets, tells):
    values = pd.DataFrame([[1.0, 2.0, 3.0, 4.0]] * sets, columns=list("abcd"))
    ranks = ranks_of(values)
    assert ranks.tells is tells
    assert ("too few data sets to distinguish 4 learners by rank" in ranks.sentence()) is not tells
    assert ("Not significantly different" in ranks.sentence()) is tells
    assert "a 1.00, b 2.00" in ranks.sentence()


def test_groups_of_the_drawn_learners_are_maximal():
    names = [f"l{at}" for at in range(DRAWN + 4)]
    rng = np.random.default_rng(1)
    ranks = ranks_of(
        pd.DataFrame(rng.normal(size=(40, len(names))) + 0.3 * np.arange(len(names)), columns=names)
    )
    groups = [set(group) for group in ranks.drawn_groups]
    assert groups
    assert all(group <= set(ranks.drawn) for group in groups)
    assert not any(a < b for a in groups for b in groups)


def test_too_few_to_rank_is_an_error_with_the_reason():
    summary = studied()
    with pytest.raises(
        UserError,
        match=r"here 2 learners have finished 2 data sets \(left out: OMKC\(U\): has finished no data set",
    ):
        average_ranks(summary[~summary["is_yardstick"]])


def matched(budgets: dict[str, int]) -> pd.DataFrame:
    """Three learners, of which one has another budget on each data set."""
    cells, settings = [], []
    for place, (data, beta) in enumerate(budgets.items()):
        own = setting("omkc_dd", beta=beta)
        settings.append(own)
        for which, count in ((own, 10 + place), (SS, 20), (U, 30)):
            cells += repetitions(which, [count], data)
    summary = summary_of(frame(*cells), expected((*settings, SS, U), tuple(budgets), 1, yardsticks=()))
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


def test_the_ranks_of_a_regression_are_those_of_its_error():
    cells = [
        cell(which, 0, 5, data, task="regression", mse=mse)
        for data in "ab"
        for which, mse in ((DD, 0.1), (SS, 0.2), (U, 0.3))
    ]
    about = expected((DD, SS, U), ("a", "b"), 1, yardsticks=(), task="regression")
    summary = summary_of(frame(*cells), about)
    assert "(1: least RMSE)" in average_ranks(summary).caption()


@pytest.mark.parametrize(("sets", "shown"), [(6, False), (8, True)])
def test_corrected_p_values_are_shown_where_one_can_be_below_5_percent(sets, shown):
    """The least p-value of Wilcoxon's test over n sets is 2 / 2^n; Holm multiplies it by 3 rows."""
    values = pd.DataFrame([[1.0 + i, 20.0 + 2 * i, 40.0, 60.0] for i in range(sets)], columns=list("abcd"))
    ranks = replace(ranks_of(values), equal=pd.Series(0.5, index=values.index))
    text = comparison(ranks).render()
    assert ("p (Holm)" in text) is shown
    assert "P(better)" in text
