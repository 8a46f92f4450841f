"""Kernel-free yardsticks: AROW and ridge regression."""

import numpy as np

from omkl.engine.api import compiled
from omkl.engine.classes import class_of, lead_of, note_class_scores, winner_of
from omkl.engine.methods import Stream, Trace

_CLEARLY = 1.0 + 1e-6  # by more than rounding may be of a number that is right


@compiled
def arow(stream: Stream, mu, sigma, P, trace: Trace, learn, r, bias, squares):
    """AROW: adaptive regularisation of weights (Crammer, Kulesza, Dredze 2009, Figure 1) on [1; x].

    mu (C, 1 + d) mean weights, that of the 1 first    r > 0 regularisation    bias: whether there is a 1
    squares: whether each x_i is followed by its square, of 1 + 2 d columns then
    P (C, 1 + d, 1 + d) their covariance Sigma    sigma (C, 1 + d) its diagonal    C = 1 for two classes
    v confidence x' Sigma x    alpha, b step sizes (beta in the paper)
    With more than two classes the margin is over the strongest rival alone, v is of both classes, and both
    are updated (top-1, as in Crammer, Dredze, Kulesza, "Multi-class confidence weighted algorithms", 2009).
    Deviations: of many features, and on request, Sigma is kept diagonal, as the paper does for text: the
    diagonal of its update. P has no room then.
    """
    for t in range(stream.T):
        y = stream.y[t]
        x, columns = _extended(stream, t, bias, squares)
        margin, rival = _margin(trace, stream, t, mu, x, columns)
        trace.record(t, margin, y, predicted=winner_of(stream, t, margin, rival))
        if not learn or y * margin >= 1.0:
            continue
        c = class_of(stream, t)
        sigma_y, sigma_r, S, R = sigma[c], sigma[rival], P[c], P[rival]
        g = _gains(sigma_y, S, x, columns)
        v = _confidence(sigma_y, S, g, x, columns)
        if rival >= 0:
            h = _gains(sigma_r, R, x, columns)
            v += _confidence(sigma_r, R, h, x, columns)
        b = 1.0 / (v + r)
        alpha = (1.0 - y * margin) * b
        _move(mu[c], sigma_y, S, g, columns, alpha * y, b)
        if rival >= 0:
            _move(mu[rival], sigma_r, R, h, columns, -alpha * y, b)


@compiled
def ridge(stream: Stream, theta, sigma, P, trace: Trace, learn, lam, drift):
    """Recursive least squares on [1; x]: in each round ridge regression on all rounds before it.

    drift: of weights that change, a Kalman filter: what P's diagonal gains in a round, in units of 1 / lam
    theta (1 + d,) weights, that of the 1 first    k = P x / (1 + x' P x) gain
    P (1 + d, 1 + d) the inverse of lam I + sum_s x_s x_s', I / lam at first    sigma (1 + d,) its diagonal
    Deviations: of many features P has no room, and the diagonal of the update is kept, as in `arow`.
    """
    for t in range(stream.T):
        y = stream.y[t]
        x, columns = _extended(stream, t, True, False)
        f = _product(theta, x, columns)
        trace.record(t, f, y)
        if learn:
            if drift > 0.0:
                _widen(sigma, P, drift / lam)
            g = _gains(sigma, P, x, columns)
            b = 1.0 / (1.0 + _confidence(sigma, P, g, x, columns))
            _move(theta, sigma, P, g, columns, (y - f) * b, b)


@compiled
def _extended(stream, t, bias, squares):
    """The values and columns of [1; x_t], whose 1 is in column 0; a 0 without bias.

    With squares each feature has two columns, one for x and one for x^2.
    """
    start, stop = stream.row(t)
    each = 2 if squares else 1
    x, columns = np.empty(each * (stop - start) + 1), np.empty(each * (stop - start) + 1, np.int64)
    x[0], columns[0] = (1.0 if bias else 0.0), 0
    for k in range(start, stop):
        at = each * (k - start) + 1
        x[at], columns[at] = stream.values[k], each * stream.indices[k] + 1
        if squares:
            x[at + 1], columns[at + 1] = stream.values[k] ** 2, columns[at] + 1
    return x, columns


@compiled
def _margin(trace, stream, t, mu, x, columns):
    """mu.x, or the margin of round t's class and its strongest rival."""
    scores = np.empty((len(mu), 1))
    for c in range(len(mu)):
        scores[c, 0] = _product(mu[c], x, columns)
    note_class_scores(trace, t, scores)
    return lead_of(stream, t, scores)


@compiled
def _product(mu, x, columns):
    total = 0.0
    for k in range(x.size):
        total += mu[columns[k]] * x[k]
    return total


# The covariance of one class: P where it is full, else its diagonal sigma. The diagonal is kept up to date
# beside P, so that a learner whose features become too many goes on with it.
@compiled
def _gains(sigma, P, x, columns):
    """g = P x (1 + d,); of a diagonal its elements at the columns of x."""
    if len(P) < sigma.size:
        return sigma[columns] * x
    g = np.zeros(sigma.size)
    for k in range(x.size):
        row_of_P = P[columns[k]]
        for j in range(g.size):
            g[j] += row_of_P[j] * x[k]
    return g


@compiled
def _widen(sigma, P, s):
    """P <- P + s I."""
    for j in range(sigma.size):
        sigma[j] += s
    for j in range(len(P)):
        P[j, j] += s


@compiled
def _confidence(sigma, P, g, x, columns):
    """x . g, and no less than any g_j^2 / P_jj, as it would be but for rounding.

    Of features with large means P x is rounding alone: this keeps P's diagonal in [0, 1], and so all of P.
    """
    full = len(P) == sigma.size
    total = 0.0
    for k in range(x.size):
        total += g[columns[k] if full else k] * x[k]
    if not total > 0.0:  # rounding has left nothing of P
        g[:] = 0.0
        return 0.0
    for k in range(g.size if full else 0):
        if g[k] * g[k] > _CLEARLY * total * sigma[k]:
            total = g[k] * g[k] / sigma[k] if sigma[k] > 0.0 else np.inf
    return total


@compiled
def _move(mu, sigma, P, g, columns, step, b):
    """mu <- mu + step g and P <- P - b g g'."""
    full = len(P) == sigma.size
    for k in range(g.size):
        j = k if full else columns[k]
        mu[j] += step * g[k]
        sigma[j] = max(sigma[j] - b * (g[k] * g[k]), 0.0)
    for k in range(g.size if full else 0):
        if g[k] != 0.0:
            sigma_y, row_of_P = g[k], P[k]
            for j in range(g.size):
                row_of_P[j] -= b * (sigma_y * g[j])
