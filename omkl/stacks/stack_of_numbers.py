"""A stack of numbers: what the members predict, combined by what they have erred.

Two means of the members, one that follows the last rounds and one that remembers all, and the first of these
corrected by two linear regressions on the members. k members; p (k,) their predictions, each with the mean
b_i of its errors so far added, held between the least and the largest target so far: a member without drift
has learnt what targets were above a mean that has moved since. b_i <- b_i + (y - p_i) / (std A), where
A <- (1 - 1/300) A + 1/std, 30/std at first, std the standard deviation that the stack told of the round, at
least a hundredth of the root of q~: a bias shows best where errors are small.
The means g_j = sum_i W_ji p_i: W_ji <- W_ji exp(-rate (y - p_i)^2), of sum 1, and of that (1 - S) W_ji + S/k,
S of SHARES; rate = (1/50 + 50/(100 + t)) / q of the first, (1/200 + 50/(100 + t)) / q~ of the second, with
the error of round t in q and q~, from the third round on.
The corrections g_1 + eta_j . z, z_i = p_i - g_1: Bayesian regressions of y - g_1 with a prior precision of
PRECISIONS, in units of the root of q~.
The four are weighted by exp(-L_j / (2 q)): L_j <- (1 - 1/MEMORY) L_j + (y - g_j)^2.
"""

import math
from collections import namedtuple

import numpy as np

from omkl.engine.api import compiled, discount_by, gains, leave, linear_outputs, weighted_output
from omkl.engine.probit import move
from omkl.engine.records import Record
from omkl.engine.running_scale import see_target

SHARES = (0.01, 0.003)  # share of each mean's weights that is given back to all members alike in every round
RATES = (1.0 / 50.0, 1.0 / 200.0)  # of the weights after many rounds
PRECISIONS = (30.0, 1000.0)  # of the corrections' coefficients, where the errors have variance 1
MEMORY = 10.0  # rounds over which squared errors fade
BIAS_MEMORY, BIAS_ROUNDS = 300.0, 30.0  # rounds over which a bias fades, and how many of bias 0 came before
LEAST_STD = 0.01  # of a round, in units of the root of the mean squared error


class Means(Record, namedtuple("Means", "target errors bias total W faded")):
    """The two means of the members, and what decides between these and their corrections.

    target (4,) sum of the targets, the least and the largest, and how many there were
    errors (2,) mean squared error of the prediction: fading over MEMORY rounds, q, and of all rounds, q~
    bias (k,) means b of the members' errors   total (1,) the sum A of the weights of rounds in these
    W (2, k) the members' weights   faded (4,) fading squared errors L of the means and the corrections
    """

    @compiled
    def center(means, y):
        """The mean of the targets so far, y in the first round."""
        target = means.target
        return target[0] / target[3] if target[3] > 0.0 else y

    @compiled
    def held(means, f):
        """f between the least and the largest target."""
        return min(max(f, means.target[1]), means.target[2])

    @compiled
    def combine(means, corrections, p, g, learn):
        """Fill g (4,) with the two means and the two corrections of the first; returns z and S z of these."""
        eta, unit = corrections.eta, math.sqrt(means.errors[1])
        lines = np.zeros(eta.shape)
        for j in range(2):
            # held: not by rounding off targets that are all the same
            g[j] = means.held(weighted_output(means.W[j], p))
        for j in range(2):
            over = 1.0 / (unit * math.sqrt(PRECISIONS[j])) if unit > 0.0 else 0.0
            for i in range(p.size):
                lines[j, i] = (p[i] - g[0]) * over
        k, moved = gains(corrections.S, corrections.left, lines, 0.0, learn), linear_outputs(eta, lines)
        for j in range(2):
            g[2 + j] = means.held(g[0] + unit * moved[j])
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
        return means.held(f / total)

    @compiled
    def learn_bias(means, p, y, std):
        """Learn the members' biases of a round of this standard deviation."""
        total, std = means.total, max(std, LEAST_STD * math.sqrt(means.errors[1]))
        if total[0] == 0.0:
            total[0] = BIAS_ROUNDS / std
        total[0] = (1.0 - 1.0 / BIAS_MEMORY) * total[0] + 1.0 / std
        for i in range(p.size):
            means.bias[i] += (y - p[i]) / (std * total[0])

    @compiled
    def learn(means, p, g, y, f):
        """Learn the members' weights, the errors of the four, and the target y."""
        errors, W, faded = means.errors, means.W, means.faded
        n = means.target[3] + 1.0  # of rounds, this one included
        if n > 1.0:
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
        see_target(means.target, y)


class Corrections(Record, namedtuple("Corrections", "eta S left")):
    """The two corrections of the first mean, of features divided by the root of the precision.

    eta (2, k) means   S their covariances   left what these are still to lose
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
