"""How large the next error of a stack of numbers will be: a scale that follows the row, and its tail.

Throughout: e_t = |y_t - f_t|, u_t = log(max(e_t, LEAST range)), range the largest target so far less the
least one, y_t among them. All begins with the first round whose range is above 0.
levels (5,) means of u that fade over 20, over 100 and over no rounds, m_20, m_100 and m; the mean of U_t,
    that fades over 100 rounds; and how many rounds they have seen
U_t mean of the logs of the standard deviations that members tell of round t: how far the row is from those
    that the members know, up to a constant
rho (1, n), G (1, n, n), behind (1, n) a Bayesian regression of (u_t - m_100) / SPREAD: its mean, its
    covariance, and what this is still to lose. Its features are 1/2, the differences of the other two levels
    from m_100, U_t less its mean, held within HELD, the random features of the row scaled online with the
    median width, and of each feature of that row, held within 3, itself and its absolute value. They are
    multiplied by the roots of their prior variances.
delta = SPREAD rho . features, what the row adds to m_100. Where U_t exceeds its mean by more than HELD, by
    h more, it becomes max(delta, 0) + min(delta, 0) exp(-h) + h: far from all rows errors are larger.
quantiles (2, 3) the logs of the 95 % quantile and of the median of e_t / exp(m_100 + delta), less AT_FIRST,
    each as a . c, c = [1; max(delta, 0); min(delta, 0)], delta held within 3: a <- a + rate ([e_t above] -
    share) c, the subgradient of the quantile loss; rate = max(1/50, 2/(10 + n)), of the slopes FASTER times
    that, which are held within STEEPEST
The density of y_t is Student's t around f_t with these two quantiles of the error, its degrees of freedom
from the list TAILS. The standard deviation is that of the normal distribution with the same 95 % quantile,
held between LEAST and MOST times the range.
"""

import math
from collections import namedtuple

import numpy as np

from omkl.engine.api import compiled, gains, leave, linear_outputs
from omkl.engine.probit import move
from omkl.engine.records import Record
from omkl.tasks import WITHIN_95

MEMORIES = (20.0, 100.0, math.inf)  # of the levels
SPREAD = math.pi / math.sqrt(8.0)  # standard deviation of log|z|, z normal
LOG_MEAN = -0.635181422730739  # mean of log|z|, z normal
LARGEST_STEP = 3.0  # of a level: an error of any size moves it no further
LARGEST_ERROR = 2.0  # of the regression
DRIFT = 1e-4
HELD = 0.5
STEEPEST = 0.5  # slope of a quantile
FASTER = 3.0  # slopes are learnt than the constants of the quantiles
PRIORS = (1.0, 0.3, 0.3, 0.05)  # variances: of 1/2, of the levels, of U, and of the features as they are
LEAST, MOST = 1e-12, 1.0
TINY = 2.0**-1022  # a standard deviation is above 0, also of targets that hardly differ
SHARES = (0.05, 0.5)  # of the errors above the two quantiles
AT_FIRST = (1.96 * 1.1, 0.6745)  # the quantiles, in standard deviations of a normal distribution
TAILS = np.array(  # degrees of freedom, quantile of 97.5 %, quantile of 75 % of Student's t
    (
        (1, 12.706204736174694, 1.0000000000000002),
        (1.2, 8.648826510748867, 0.9335861477221333),
        (1.4, 6.657002568708426, 0.8895004588688675),
        (1.6, 5.517245438758762, 0.8581294959249641),
        (1.8, 4.794881365166813, 0.834679988641845),
        (2, 4.302652729749462, 0.8164965809277261),
        (2.25, 3.875480223220667, 0.7988110530686383),
        (2.5, 3.5746548420036817, 0.7850136829922992),
        (3, 3.1824463052837078, 0.7648923284043444),
        (3.5, 2.9400886379827282, 0.7509370293940778),
        (4, 2.7764451051977934, 0.7406970841126829),
        (5, 2.5705818356363146, 0.7266868438004226),
        (7, 2.364624251592784, 0.7111417780817866),
        (12, 2.1788128296672284, 0.6954828655117926),
        (20, 2.085963447265864, 0.6869544964488036),
    )
)
TAIL_AT_FIRST = 10  # its place


class ErrorScale(Record, namedtuple("ErrorScale", "levels rho G behind quantiles")):
    """What has been learnt of the errors, as above."""

    @compiled
    def predict(scale, U, random, x, target, learn):
        """Return what `learn` learns from, the standard deviation, and the place in TAILS.

        The first are the row's features (1, n), G times these, delta, delta held, and the logs of both
        quantiles.

        random (2D,), x (d,): random features of the row scaled online, and that row
        """
        levels, quantiles = scale.levels, scale.quantiles
        phi = np.zeros(scale.rho.shape)
        if levels[4] == 0.0:
            return (phi, phi, 0.0, 0.0, np.zeros(2)), 1.0, TAIL_AT_FIRST
        _fill(phi[0], levels, U, random, x)
        g = gains(scale.G, scale.behind, phi, DRIFT, learn)
        delta, far = SPREAD * linear_outputs(scale.rho, phi)[0], max(U - levels[3] - HELD, 0.0)
        delta = max(delta, 0.0) + min(delta, 0.0) * math.exp(-far) + far
        held, a = min(max(delta, -3.0), 3.0), np.empty(2)
        for j in range(2):
            a[j] = math.log(AT_FIRST[j]) - LOG_MEAN + quantiles[j, 0]
            a[j] += quantiles[j, 1] * max(held, 0.0) + quantiles[j, 2] * min(held, 0.0)
        extent = target[2] - target[1]
        log_std = levels[1] + delta + a[0] - math.log(WITHIN_95)
        std = extent * math.exp(min(max(log_std - math.log(extent), math.log(LEAST)), math.log(MOST)))
        return (phi, g, delta, held, a), max(std, TINY), _tail(a[0] - a[1])

    @compiled
    def learn(scale, U, target, e, told):
        """Learn an error e >= 0; target: the round's is among them; told: of `predict`."""
        levels, rho, quantiles = scale.levels, scale.rho, scale.quantiles
        u = math.log(max(e, LEAST * (target[2] - target[1])))
        levels[4] = max(levels[4], 0.0) + 1.0  # of a forged model, too
        n = levels[4]
        if n == 1.0:
            levels[:3], levels[3] = u, U
            return
        phi, g, delta, held, a = told
        step, v = linear_outputs(rho, phi), 1.0 + np.maximum(linear_outputs(phi, g), 0.0)
        most = LARGEST_ERROR / SPREAD
        step[0] = min(max((u - levels[1]) / SPREAD - step[0], -most), most) / v[0]
        move(rho, step, g)
        leave(scale.behind, g, v)
        for j in range(2):
            rate = max(0.02, 2.0 / (10.0 + n))
            above = 1.0 if u - levels[1] - delta > a[j] else 0.0
            quantiles[j, 0] += rate * (above - SHARES[j])
            for k, c in ((1, max(held, 0.0)), (2, min(held, 0.0))):
                a_k = quantiles[j, k] + FASTER * rate * (above - SHARES[j]) * c
                quantiles[j, k] = min(max(a_k, -STEEPEST), STEEPEST)
        for i in range(3):
            step_i = min(max(u - levels[i], -LARGEST_STEP), LARGEST_STEP)
            levels[i] += max(1.0 / MEMORIES[i], 1.0 / n) * step_i
        levels[3] += max(0.01, 1.0 / n) * (U - levels[3])


@compiled
def distance_from_rows(log_std):
    """U of the logs of the members' standard deviations, NaN of one that tells none; 0 where all are."""
    total, n = 0.0, 0
    for i in range(log_std.size):
        if not math.isnan(log_std[i]):
            total += log_std[i]
            n += 1
    return total / n if n > 0 else 0.0


@compiled
def _fill(phi, levels, U, random, x):
    phi[0] = 0.5 * math.sqrt(PRIORS[0])
    phi[1] = (levels[0] - levels[1]) / SPREAD * math.sqrt(PRIORS[1])
    phi[2] = (levels[2] - levels[1]) / SPREAD * math.sqrt(PRIORS[1])
    phi[3] = min(max(U - levels[3], -HELD), HELD) * math.sqrt(PRIORS[2])
    phi[4 : 4 + random.size] = random
    root, start = math.sqrt(PRIORS[3]), 4 + random.size
    for j in range((phi.size - start) // 2):
        held = min(max(x[j], -3.0), 3.0)
        phi[start + 2 * j] = root * held
        phi[start + 2 * j + 1] = root * abs(held)


@compiled
def _tail(apart):
    """The place in TAILS whose quantiles' logs are nearest to being so far apart."""
    best, least = 0, math.inf
    for k in range(len(TAILS)):
        off = abs(math.log(TAILS[k, 1] / TAILS[k, 2]) - apart)
        if off < least:
            best, least = k, off
    return best


@compiled
def surprise(error, std, tail):
    """-log of the density of Student's t whose 95 % quantile is that of a normal one with this deviation."""
    degrees, most = TAILS[tail, 0], TAILS[tail, 1]
    scale, half = std * WITHIN_95 / most, 0.5 * (degrees + 1.0)
    constant = math.lgamma(half) - math.lgamma(0.5 * degrees) - 0.5 * math.log(degrees * math.pi)
    return math.log(scale) + half * math.log1p(np.square(error / scale) / degrees) - constant
