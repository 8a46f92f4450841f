"""The statistical tests of omkl, each once: functions of arrays, which know nothing of cells and rows.

Differences (R, n) are R samples of n pairs, one pair for each permutation that both sides have run; less is
better. scipy is imported where it is needed: a table without tests does not wait for it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

ALPHA = 0.05
POWER = 0.8  # the probability with which a test is to find a difference
LEAST_COMMON = 5  # permutations that a test takes: of fewer, it says little and misleads
SAMPLES, SEED = 50_000, 0  # of a posterior: three digits of a probability
_PRIOR = 0.5  # weight of the prior's pseudo-observation, at no difference


# -------------------------------------------------------------------- two samples


def paired_t(differences: np.ndarray) -> np.ndarray:
    """Return the two-sided p-values (R,) of the paired t-tests of differences (R, n).

    NaN, no test, where n is below LEAST_COMMON, and where all differences are equal but not 0: the test
    divides by their variance. Where all are 0, p is 1.
    """
    rows, size = differences.shape
    p_values = np.full(rows, np.nan)
    if size < LEAST_COMMON:
        return p_values
    varied = ~constant(differences)
    p_values[(differences == 0).all(axis=1)] = 1.0
    if varied.any():
        from scipy.special import stdtr  # scipy.stats would do all of this, but takes a second to import

        d = differences[varied]
        p_values[varied] = 2.0 * stdtr(size - 1, -abs(d.mean(axis=1) / np.sqrt(d.var(axis=1, ddof=1) / size)))
    return p_values


def constant(differences: np.ndarray) -> np.ndarray:
    """Return which rows of differences (R, n), n > 0, have no variance but that of rounding."""
    return np.ptp(differences, axis=-1) <= 1e-12 * abs(differences).max(axis=-1)


def not_worse(differences: np.ndarray, p_values: np.ndarray) -> np.ndarray:
    """Return which rows of differences from the best (R, n) show no significantly higher mean.

    p_values: (R,) of their tests; None of them where there is no test.
    """
    if differences.shape[1] < LEAST_COMMON:
        return np.zeros(len(differences), bool)
    return (p_values >= ALPHA) | (differences.mean(axis=1) <= 0)


def mean_interval(differences: np.ndarray) -> tuple[float, float]:
    """Return the 90 % interval of the mean of paired differences (n,), n > 1.

    It lies above -margin and below +margin just where two one-sided paired t-tests at 5 % say that the mean
    does (TOST).
    """
    if constant(differences):
        return float(differences[0]), float(differences[0])
    from scipy.stats import ttest_1samp

    low, high = ttest_1samp(differences, 0.0).confidence_interval(1.0 - 2.0 * ALPHA)
    return float(low), float(high)


def detectable(differences: np.ndarray) -> float:
    """Return the mean difference that a paired t-test at 5 % finds with a probability of 80 %, roughly.

    differences: (n,), n > 1. Source: (t_{n-1, 0.975} + t_{n-1, 0.8}) s / sqrt(n), as of J. Cohen, Statistical
    power analysis (1988), with quantiles of t for those of the normal distribution.
    """
    from scipy.special import stdtrit

    n = differences.size
    quantiles = stdtrit(n - 1, [1.0 - ALPHA / 2.0, POWER])
    return float(quantiles.sum() * differences.std(ddof=1) / np.sqrt(n))


def welch(mean: float, std: float, n: int, other_mean: float, other_std: float, other_n: int) -> float:
    """Return the two-sided p-value of Welch's t-test of two means, NaN with fewer than two values of one."""
    if min(n, other_n) < 2 or not (std or other_std):
        return float("nan")
    from scipy.stats import ttest_ind_from_stats

    return float(ttest_ind_from_stats(mean, std, n, other_mean, other_std, other_n, equal_var=False).pvalue)


def signed_rank(differences: np.ndarray) -> np.ndarray:
    """Return the two-sided p-values (R,) of Wilcoxon's signed-rank test of differences (R, n).

    Ranks of differences that are 0 are halved between the signs; p is 1 where all are 0.
    """
    from scipy.stats import wilcoxon

    p_values = np.ones(len(differences))
    varied = (differences != 0).any(axis=1)
    if varied.any():
        p_values[varied] = wilcoxon(differences[varied], zero_method="zsplit", axis=1).pvalue
    return p_values


def bayesian_signed_rank(differences: np.ndarray) -> tuple[float, float, float]:
    """Return the probabilities that a further difference is above 1, within 1, and below -1.

    differences (n,): in units of what is practically equal.
    Source: A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, Time for a change, JMLR 18 (2017), section 4.2.1:
    a Dirichlet process with one pseudo-observation of no difference; each sample of it weighs the Walsh sums,
    and the probability of a region is the share of samples that give it the largest weight.
    """
    z = np.append(0.0, differences)
    sums = z[:, None] + z[None, :]
    above, below = (np.heaviside(sign * sums - 2.0, 0.5) for sign in (1.0, -1.0))
    weights = np.random.default_rng(SEED).dirichlet(np.r_[_PRIOR, np.ones(len(differences))], SAMPLES)
    better, worse = (((weights @ region) * weights).sum(axis=1) for region in (above, below))
    largest = np.argmax([better, 1.0 - better - worse, worse], axis=0)
    shares = np.bincount(largest, minlength=3) / SAMPLES
    return float(shares[0]), float(shares[1]), float(shares[2])


# -------------------------------------------------------------------- many samples


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values (n,) with Holm's correction for all of them; those that are NaN stay, and do not count.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).
    """
    corrected = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: int(np.count_nonzero(~np.isnan(p_values)))]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


class Friedman(NamedTuple):
    """Friedman's test, corrected for ties, and Iman and Davenport's correction of it."""

    chi2: float
    chi2_p: float
    F: float
    F_p: float


def friedman(values: np.ndarray) -> Friedman:
    """Return Friedman's test that k learners (columns) have the same rank on n data sets (rows).

    Source: J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), 3.2.
    """
    from scipy.stats import f, friedmanchisquare

    n, k = values.shape
    if (values == values[:, :1]).all():  # all tie everywhere, which leaves the test 0/0
        chi2, chi2_p = 0.0, 1.0
    else:
        chi2, chi2_p = map(float, friedmanchisquare(*values.T))
    rest = n * (k - 1) - chi2
    F = (n - 1) * chi2 / rest if rest > 1e-9 else np.inf
    return Friedman(chi2, chi2_p, F, float(f.sf(F, k - 1, (k - 1) * (n - 1))))


def critical_difference(k: int, n: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of average ranks of k learners over n data sets."""
    from scipy.stats import studentized_range

    # q_alpha: the Studentized range of k means, infinite degrees of freedom, over sqrt 2.
    q = float(studentized_range.ppf(1.0 - alpha, k, np.inf)) / float(np.sqrt(2.0))
    return q * float(np.sqrt(k * (k + 1) / (6.0 * n)))


def maximal_groups(ranks: Sequence[float], cd: float) -> list[tuple[int, int]]:
    """Return (first, stop) of the runs of ascending ranks that lie within less than ``cd``.

    Of two ranks or more, and none inside another.
    """
    groups: list[tuple[int, int]] = []
    reached = 0
    for first, rank in enumerate(ranks):
        stop = sum(other - rank < cd for other in ranks)
        if stop > max(reached, first + 1):
            groups.append((first, stop))
            reached = stop
    return groups


class Correlation(NamedTuple):
    """Spearman's rank correlation of n pairs, and the two-sided p-value that it is 0."""

    rho: float
    p: float
    n: int


def rank_correlation(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> Correlation:
    """Return the rank correlation of the pairs without NaN.

    NaN where one side does not vary; no p-value, NaN, of fewer pairs than LEAST_COMMON.
    """
    from scipy.special import stdtr
    from scipy.stats import rankdata

    pairs = np.array([x, y], float)
    a, b = (rankdata(numbers) for numbers in pairs[:, ~np.isnan(pairs).any(axis=0)])
    n = len(a)
    if n < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(np.nan, np.nan, n)
    rho = float(np.corrcoef(a, b)[0, 1])
    with np.errstate(divide="ignore"):
        p = 2.0 * stdtr(n - 2, -abs(rho) * np.sqrt((n - 2) / np.float64(1.0 - min(rho * rho, 1.0))))
    return Correlation(rho, float(p) if n >= LEAST_COMMON else np.nan, n)
