"""Kernel-free yardsticks, shown in every table; the linear perceptron is in perceptron.py."""

import numpy as np
from numba import njit

from omkl.engine.stream import record_score, row


@njit(cache=True)
def majority(stream, balance, trace, learn):
    """Predict the class seen more often so far; a draw is a mistake.

    balance (1,) sum of the labels so far
    """
    for t in range(stream.T):
        y = stream.y[t]
        record_score(trace, t, balance[0], y)
        if learn:
            balance[0] += y


@njit(cache=True)
def running_mean(stream, total, trace, learn):
    """Predict the mean of the targets so far, 0 at the start.

    total (2,) their sum and their number
    """
    for t in range(stream.T):
        y = stream.y[t]
        record_score(trace, t, total[0] / max(total[1], 1.0), y)
        if learn:
            total[0] += y
            total[1] += 1.0


@njit(cache=True)
def last_value(stream, last, trace, learn):
    """Predict the target of the round before (persistence), 0 at the start.

    last (1,) that target
    """
    for t in range(stream.T):
        y = stream.y[t]
        record_score(trace, t, last[0], y)
        if learn:
            last[0] = y


@njit(cache=True)
def arow(stream, mu, sigma, trace, learn, r):
    """AROW: adaptive regularisation of weights (Crammer, Kulesza, Dredze 2009, Figure 1), linear.

    mu (d,) mean weights    sigma (d,) their variances    r > 0 regularisation
    v confidence x' Sigma x    alpha, b step sizes (beta in the paper)
    Deviations: Sigma is kept diagonal, as the paper does for text: the diagonal of its update.
    """
    for t in range(stream.T):
        y = stream.y[t]
        start, stop = row(stream, t)
        margin, v = 0.0, 0.0
        for k in range(start, stop):
            x, j = stream.values[k], stream.indices[k]
            margin += mu[j] * x
            v += sigma[j] * x * x
        record_score(trace, t, margin, y)
        if not learn or y * margin >= 1.0:
            continue
        b = 1.0 / (v + r)
        alpha = (1.0 - y * margin) * b
        for k in range(start, stop):
            x, j = stream.values[k], stream.indices[k]
            mu[j] += alpha * sigma[j] * y * x
            sigma[j] -= b * np.square(sigma[j] * x)
