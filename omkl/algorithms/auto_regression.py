"""Nothing to tune, for numbers: Bayesian regressions and trackers on rows as they come and scaled online.

x the row, x~ the row scaled online: less the mean of what has been seen, this row included, divided by its
standard deviation, held in [-10, 10]; 0 where a feature has not varied. med is the root mean squared distance
of two rows, sqrt(2 sum_j var_j), and s the largest |x_j| (1 for x~), of the first 300 rows: of those so far
until they have come, fixed then.

| members, of x and of x~ alike | prior variance | drift in a round |
|---|---|---|
| Gaussians of width med, 4 med; linear in [1; x/s] | 100, 10^4 times the noise | 0, 10^-4, 10^-2 |

Besides these, four trackers on stored rows (krls_t.py), of prior variance 1, without drift:

| tracker | of | width | noise |
|---|---|---|---|
| Laplacian | x | med | 10^-4 |
| Gaussian | x, x~ | 2 med | 10^-3 |
| half a Gaussian, half a Gaussian of each feature | x~ | med | 10^-3 |

A tracker's kernel may not change while rows are stored. It begins after 10 rounds, and again after 30, 100
and 300 (BEGINNINGS), from the rows that it has stored, with the width as known then.

The members are combined by what they have erred: two means of them, one that follows the last rounds and one
that remembers all, and the first of these corrected by two linear regressions on the members.
"""

import math
from collections import namedtuple

import numpy as np

from omkl.algorithms.error_scale import TAILS, ErrorScale, distance_from_rows, surprise
from omkl.algorithms.regression_members import Regressions, Rows, Trackers
from omkl.engine.api import (
    Features,
    Stream,
    Trace,
    compiled,
    discount_by,
    gains,
    leave,
    linear_outputs,
    weighted_output,
)
from omkl.engine.probit import move
from omkl.engine.records import Record

BEGINNINGS = (10, 30, 100, 300)
SHARES = (0.01, 0.001)  # share of each mean's weights that is given back to all members alike in every round
RATES = (1.0 / 50.0, 1.0 / 200.0)  # of the weights after many rounds
PRECISIONS = (30.0, 1000.0)  # of the corrections' coefficients, where the errors have variance 1
OUTLIER = 10.0  # ranges of the targets beyond these: a target further away counts as one there
SETTLED = 50  # rounds after which that is so
MEMORY = 20.0  # rounds over which squared errors fade


class Means(Record, namedtuple("Means", "target errors W faded")):
    """The two means of the members, and what decides between these and their corrections.

    target (3,) sum of the targets, the least and the largest
    errors (2,) mean squared error of the prediction: fading, q, and of all rounds, q~
    W (2, 40) the members' weights   faded (4,) fading squared errors L of the means and the corrections
    """

    @compiled
    def combine(means, corrections, unit, p, g, learn):
        """Fill g (4,) with the two means and the two corrections of the first; returns z and S z of these."""
        eta, target = corrections.eta, means.target
        lines = np.zeros(eta.shape)
        for j in range(2):
            # held: not by rounding off targets that are all the same
            g[j] = _held(weighted_output(means.W[j], p), target)
        for j in range(2):
            over = 1.0 / (unit * math.sqrt(PRECISIONS[j])) if unit > 0.0 else 0.0
            for i in range(p.size):
                lines[j, i] = (p[i] - g[0]) * over
        k, moved = gains(corrections.S, corrections.left, lines, 0.0, learn), linear_outputs(eta, lines)
        for j in range(2):
            g[2 + j] = _held(g[0] + unit * moved[j], target)
        return lines, k

    @compiled
    def mean(means, g):
        """The mean of g (4,), weighted by exp(-L_j / (2 q))."""
        faded, q = means.faded, means.errors[0]
        least, total, f = faded.min(), 0.0, 0.0
        for j in range(g.size):
            w = math.exp(-0.5 * (faded[j] - least) / q) if q > 0.0 else 1.0
            total += w
            f += w * g[j]
        return f / total

    @compiled
    def learn(means, seen, p, g, y, f):
        """Learn the weights of the two means, and the errors of the four."""
        errors, W, faded = means.errors, means.W, means.faded
        n = seen + 1.0  # of rounds, this one included
        if seen > 0:
            errors[0] += max(1.0 / MEMORY, 1.0 / (n - 1.0)) * (np.square(y - f) - errors[0])
            errors[1] += (np.square(y - f) - errors[1]) / (n - 1.0)
            for j in range(4):
                faded[j] = (1.0 - 1.0 / MEMORY) * faded[j] + np.square(y - g[j])
        if n > 2.0 and errors[0] > 0.0:
            loss = np.empty(p.size)
            for j in range(2):
                rate = (RATES[j] + 50.0 / (100.0 + n)) / errors[j]
                for i in range(p.size):
                    loss[i] = rate * np.square(y - p[i])
                discount_by(W[j], math.exp(-1.0), loss)
                for i in range(p.size):
                    W[j, i] = (1.0 - SHARES[j]) * W[j, i] + SHARES[j] / p.size


class Corrections(Record, namedtuple("Corrections", "eta S left")):
    """The two corrections of the first mean, of features divided by the root of the precision.

    eta (2, 40) means   S their covariances   left what these are still to lose
    """

    @compiled
    def learn(corrections, lines, k, e):
        """Learn the corrections; e the error of the first mean in units."""
        v, step = linear_outputs(lines, k), linear_outputs(corrections.eta, lines)
        for j in range(2):
            v[j] = 1.0 + max(v[j], 0.0)
            step[j] = (e - step[j]) / v[j]
        move(corrections.eta, step, k)
        leave(corrections.left, k, v)


@compiled
def auto_regression(
    stream: Stream,
    F: Features,
    rows: Rows,
    regressions: Regressions,
    trackers: Trackers,
    means: Means,
    corrections: Corrections,
    scale: ErrorScale,
    trace: Trace,
    learn,
):
    """Predict a mean of the members' two means and two corrections, and learn each by itself.

    F the directions, of x and of x~   rows, regressions, trackers as of regression_members.py
    A member's p_i is the mean of the targets before plus mu_i, held between the least and the largest target;
    0 in the first round, from which it learns the mean alone. The 24 Gaussians come first, then the 12 linear
    members and the 4 trackers.

    The means g_j = sum_i w_ji p_i, W (2, 40): w_i <- w_i exp(-rate (y - p_i)^2), of sum 1, and of that
    (1 - S) w_i + S / 40, S of SHARES; rate = (1/50 + 50/(100 + t)) / q of the first, (1/200 + 50/(100 + t)) /
    q~ of the second, with the error of round t in q and q~, from the third round on
    The corrections g_1 + eta_j . z_j, held as the members, eta (2, 40), z_i = p_i - g_1: Bayesian regressions
    of y - g_1 with a prior precision of PRECISIONS, in units of the root of q~
    The four are weighted by exp(-L_j / (2 q)), faded (4,): L_j <- (1 - 1/20) L_j + (y - g_j)^2.
    Reports -log p(y_t), the squared standard deviation, and the degrees of freedom of the density of
    error_scale.py, whose state is scale; 1 and 4 while all targets are the same.
    Deviations: none.
    """
    keep = np.ones(means.W.shape[1], np.bool_)
    rounds_of_numbers(
        stream, F, rows, regressions, trackers, means, corrections, scale, trace, learn, keep, True
    )


@compiled
def rounds_of_numbers(
    stream, F, rows, regressions, trackers, means, corrections, scale, trace, learn, keep, corrected
):
    """All rounds. keep (40,): the others predict the mean of the targets; corrected: whether g_1 is."""
    x, n = np.zeros((2, rows.mean.size)), keep.size - len(trackers.width)
    p, v, g, target = np.zeros(keep.size), np.zeros(keep.size), np.zeros(4), means.target
    for t in range(stream.T):
        y, seen = stream.y[t], rows.seen[0]
        known = rows.scale(stream, t, x)
        features, a, b = regressions.predict(F, stream, t, x, known, p[:n], v[:n], learn)
        tracked = trackers.predict(x, p[n:], v[n:])
        mu = p.copy()
        center = target[0] / seen if seen > 0 else y
        for i in range(p.size):
            p[i] = _held(center + p[i], target) if keep[i] else _held(center, target)
        unit = math.sqrt(means.errors[1])
        lines, k = means.combine(corrections, unit, p, g, learn)
        if not corrected:
            g[2:] = g[0]
        f = _held(means.mean(g), target)
        U = distance_from_rows(v)
        told, std, tail = scale.predict(U, features[2], x[1], target, learn)
        trace.record(t, f, y)
        trace.further[t, 0] = surprise(y - f, std, tail)
        trace.further[t, 1], trace.further[t, 2] = std * std, TAILS[tail, 0]
        if not learn:
            continue
        error, y = abs(y - f), _learnt(y, center, target, seen)
        means.learn(seen, p, g, y, f)
        corrections.learn(lines, k, (y - g[0]) / unit if unit > 0.0 else 0.0)
        target[1], target[2] = (min(target[1], y), max(target[2], y)) if seen > 0 else (y, y)
        target[0] += y
        if target[1] < target[2]:
            scale.learn(U, target, error, told)
        e = y - center - mu
        regressions.learn(e[:n], v[:n], a, b)
        rows.see(x[0], known)
        if seen >= BEGINNINGS[0]:
            trackers.learn(tracked, x, y, e[n:])
        if seen + 1 in BEGINNINGS:
            trackers.begin(known, target[0] / (seen + 1))


@compiled
def _learnt(y, center, target, seen):
    """y, held within OUTLIER ranges of the targets around these; their mean is the range of equal ones."""
    extent = target[2] - target[1]
    most = OUTLIER * (extent if extent > 0.0 else abs(center))
    return min(max(y, target[1] - most), target[2] + most) if seen >= SETTLED and most > 0.0 else y


@compiled
def _held(f, target):
    """f between the least and the largest target."""
    return min(max(f, target[1]), target[2])
