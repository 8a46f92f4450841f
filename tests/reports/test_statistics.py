"""The tests of omkl.reports.statistics: against scipy, Demsar's paper, and the authors' own packages."""

import math

import numpy as np
import pytest
from scipy import stats

from omkl.reports import statistics as own

RNG = np.random.default_rng(0)
PAIRS = RNG.normal(0.3, 1.0, size=(4, 12))
VALUES = RNG.normal([0.0, 0.2, 1.0, 2.0], size=(9, 4))
TIES = np.round(VALUES)


@pytest.mark.parametrize(
    ("made", "oracle"),
    [
        (own.paired_t(PAIRS), stats.ttest_rel(PAIRS, 0 * PAIRS, axis=1).pvalue),
        (own.paired_t(PAIRS[:, :5]), stats.ttest_1samp(PAIRS[:, :5], 0, axis=1).pvalue),
        (own.signed_rank(PAIRS), stats.wilcoxon(PAIRS, axis=1, zero_method="zsplit").pvalue),
        (own.signed_rank(np.array([[0.0] * 6, [1.0, 2, 3, 4, 5, 6]])), [1.0, 2 / 2**6]),
        # zeros have ranks too: of the 64 signs of the ranks 5 to 10, 8 give a sum of 5 + 6 or less
        (own.signed_rank(np.array([[0.0] * 4 + [-1, -2, 3, 4, 5, 6]])), [2 * 8 / 64]),
        (
            own.welch(1.0, 0.5, 10, 1.4, 0.2, 20),
            stats.ttest_ind_from_stats(1.0, 0.5, 10, 1.4, 0.2, 20, equal_var=False).pvalue,
        ),
        (own.welch(1.0, 0.5, 1, 1.4, 0.2, 20), math.nan),
        (own.welch(1.0, 0.0, 10, 1.4, 0.0, 20), math.nan),  # nothing varies
        (own.friedman(VALUES)[:2], [*stats.friedmanchisquare(*VALUES.T)]),
        (own.friedman(TIES)[:2], [*stats.friedmanchisquare(*TIES.T)]),
        (own.friedman(np.ones((5, 3))), [0.0, 1.0, 0.0, 1.0]),
        (own.friedman(np.array([[1.0, 2.0, 3.0]] * 30))[2:], [math.inf, 0.0]),
        (own.rank_correlation(VALUES[:, 0], TIES[:, 1]), [*stats.spearmanr(VALUES[:, 0], TIES[:, 1]), 9]),
        (own.rank_correlation([0, 1, math.nan, 2, 3, 4], [0, 1, 9, 2, 3, 4]), [1.0, 0.0, 5]),
        (own.rank_correlation([0, 1, 2, 3], [1, 2, 4, 3]), [0.8, math.nan, 4]),  # too few for a test
        (own.rank_correlation(np.arange(4.0), np.ones(4)), [math.nan, math.nan, 4]),
        (own.holm(np.array([0.04, 0.01, math.nan, 0.03])), [0.06, 0.03, math.nan, 0.06]),
        (own.holm(np.array([0.9, 0.8])), [1.0, 1.0]),
        # q_0.05 as printed in Table 5(a) of J. Demsar, JMLR 7 (2006)
        (
            [own.critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6) for k in (2, 5, 10)],
            pytest.approx([1.960, 2.728, 3.164], abs=0.0011),
        ),
        (own.critical_difference(4, 14), pytest.approx(1.25, abs=5e-3)),
        (own.critical_difference(4, 14, alpha=0.1), pytest.approx(1.12, abs=5e-3)),
        (own.mean_interval(np.full(6, 0.25)), (0.25, 0.25)),
        # P(better), P(equal), P(worse) of the authors' package: baycomp 1.0.3, rope 1
        *(
            (own.bayesian_signed_rank(np.array(given)), pytest.approx(expected, abs=0.01))
            for given, expected in [
                ([0.5, 1.2, -0.3, 4, 2, 1.5, 0.1, 3], (0.731, 0.269, 0.0)),
                ([1, 1, -1, -1, 2, 0, 0.2, -3], (0.020, 0.929, 0.051)),
                ([-2.0, -1.5, -3, -1.2, 0.4, -2, -5], (0.0, 0.074, 0.926)),
                ([0.0] * 8, (0.0, 1.0, 0.0)),
            ]
        ),
    ],
)
def test_a_function_gives_what_its_oracle_gives(made, oracle):
    if type(oracle).__module__.startswith("_pytest"):
        assert made == oracle
    else:
        np.testing.assert_allclose(made, oracle, rtol=1e-9, atol=1e-12)


def test_there_is_no_t_test_of_few_values_or_without_variance():
    some = np.array([np.zeros(5), np.full(5, 2.0), np.full(5, 0.1) + 1e-17, *PAIRS[:2, :5]])
    p_values = own.paired_t(some)
    assert p_values[0] == 1.0
    assert np.isnan(p_values[1:3]).all()
    assert not np.isnan(p_values[3:]).any()
    assert np.isnan(own.paired_t(some[:, :4])).all()
    assert np.isnan(own.paired_t(some[:, :0])).all()
    assert not own.not_worse(some[:, :4], np.ones(5)).any()
    assert not own.not_worse(some[:, :0], np.full(5, math.nan)).any()
    pairs = np.array([[-5.0] * 5, [5.0] * 5, [5.0, 6.0, 5.0, 6.0, 5.0]])
    assert own.not_worse(pairs, np.array([0.0, 0.0, 0.05])).tolist() == [True, False, True]


@pytest.mark.parametrize("shift", [-1.0, -0.4, -0.1, 0.0, 0.2, 0.45, 0.6])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_interval_within_a_margin_is_two_one_sided_t_tests(seed, shift):
    differences, margin = shift + 0.3 * np.random.default_rng(seed).normal(size=12), 0.5
    low, high = own.mean_interval(differences)
    below = stats.ttest_1samp(differences, margin, alternative="less").pvalue < own.ALPHA
    above = stats.ttest_1samp(differences, -margin, alternative="greater").pvalue < own.ALPHA
    assert (high < margin, low > -margin) == (below, above)


@pytest.mark.parametrize(
    ("ranks", "cd", "groups"),
    [
        ([1.0, 1.5, 2.0, 3.5], 1.0, [(0, 2), (1, 3)]),  # 1.0 and 2.0 differ by cd: apart
        ([1.0, 1.5, 2.0, 3.5], 1.1, [(0, 3)]),  # (1, 3) lies inside
        ([1.0, 2.0, 3.0], 0.5, []),
        ([2.0, 2.0, 2.0], 0.5, [(0, 3)]),
        ([1.0, 1.9, 2.8, 3.0, 3.7], 1.0, [(0, 2), (1, 3), (2, 5)]),
    ],
)
def test_groups_are_maximal(ranks, cd, groups):
    assert own.maximal_groups(ranks, cd) == groups


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_equal_differences_vary_by_rounding_alone(size):
    rows = size * np.array([[1.0, 1.0 + 1e-14, 1.0], [1.0, 1.0 + 1e-10, 1.0], [1.0, 1.0005, 1.0], [0.0] * 3])
    assert own.constant(rows).tolist() == [True, False, False, True]
