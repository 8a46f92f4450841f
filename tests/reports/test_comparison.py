"""Learners compared over data sets one by one: Wilcoxon with Holm, the Bayesian signed-rank test."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

import omkl
from omkl.errors import UserError
from omkl.figures.rank_diagram import rank_figure as ranks_figure
from omkl.reports.pairwise import comparison
from omkl.reports.ranks import DRAWN, ranks_of
from omkl.reports.statistics import holm
from omkl.tasks import MEASURES


def values(learners=12, sets=8, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(sets, learners)) + np.arange(learners)
    return pd.DataFrame(
        numbers, [f"set {at}" for at in range(sets)], [f"learner {at}" for at in range(learners)]
    )


def ranked(**about):
    made = ranks_of(values(**about))
    made.equal[:] = 0.5
    return made


def test_a_comparison_counts_sets_and_corrects_for_all_rows():
    made = ranked()
    table = comparison(made)
    rows = pd.DataFrame(table.records).set_index("learner")
    assert list(rows.index) == list(made.average)[1:]
    differences = made.values[rows.index].sub(made.values["learner 0"], axis=0)
    assert rows["better"].tolist() == (differences > 0.5).sum().tolist()
    assert rows["equal"].tolist() == (differences.abs() <= 0.5).sum().tolist()
    assert rows["worse"].tolist() == (differences < -0.5).sum().tolist()
    assert (rows[["better", "equal", "worse"]] > 0).all(axis=1).any()
    raw = [wilcoxon(made.values[name] - made.values["learner 0"]).pvalue for name in rows.index]
    assert rows["p_holm"].tolist() == pytest.approx(holm(np.array(raw)).tolist())
    assert (rows[["p_better", "p_equal", "p_worse"]].sum(axis=1) - 1).abs().max() < 1e-9
    other = comparison(made, "learner 5").render()
    assert "learner 5 (rank" in other.splitlines()[0]


def test_a_diagram_has_the_ten_best_and_the_table_all():
    made = ranked()
    figure = ranks_figure(made)
    assert list(made.drawn) == list(made.average)[:DRAWN]
    assert all(set(group) <= set(made.drawn) for group in made.drawn_groups)
    table = comparison(figure.ranks)
    assert len(table.rows) == len(made.average) - 1
    assert f"drawn: the {DRAWN} best" in figure.note


def test_what_is_practically_equal_goes_by_the_unit_of_a_measure():
    assert MEASURES["mistake_pct"].practically_equal(20.0) == 0.5
    assert MEASURES["auc"].practically_equal(0.9) == 0.005
    assert MEASURES["rmse"].practically_equal(2e5) == MEASURES["mse_e3"].practically_equal(2e5) == 1000.0


def test_results_compare_a_learner_by_label(tmp_path):
    words = "algo=omkc_ss,perceptron,alma data=wdbc,drift reps=6 rounds=200 exec=serial"
    made = omkl.run(words, store=str(tmp_path), progress=False)
    assert "ALMA (rank" in str(made.comparison("ALMA"))
    with pytest.raises(UserError, match=r"no learner 'ALMB' \(did you mean 'ALMA'\?\); ranked are"):
        made.comparison("ALMB")
    assert len(made.table[made.table["best"]]) == 2
