"""Kernel recursive least squares: one that tracks a target which changes, and one with a dictionary.

KRLS-T: Van Vaerenbergh, Lazaro-Gredilla, Santamaria, "Kernel recursive least-squares tracker for time-varying
regression" (IEEE Transactions on Neural Networks and Learning Systems 23, 2012), Algorithm 1, on at most a
budget of stored vectors. Targets are numbers, or +1 and -1; of C > 2 classes +1 for the true one and -1 for
each other, whose means alone differ. The mathematics of a round is omkl/engine/tracker.py's.
"""

import math

import numpy as np

from omkl.engine.api import compiled, discount_by, distance, grow, projection, solution, times
from omkl.engine.methods import Budget, Stream, Trace
from omkl.engine.rank_one import product_after_change
from omkl.engine.tracker import (
    JITTER,
    WORTH_STORING,
    exchange,
    leave_stored,
    leave_unstored,
    size,
    slot_for,
)


@compiled
def krls_t(stream: Stream, B: Budget, Q, V, left, signal, trace: Trace, learn, noise, lam, margin, power):
    """One kernel: Algorithm 1, with "back to the prior" forgetting: Sigma <- lam Sigma + (1 - lam) K,
    mu <- sqrt(lam) mu.

    noise the variance of the noise   lam in (0, 1] how much of what is known stays, of a round
    margin of classes, nan none: with a full budget, a row of this margin or more is known and changes nothing
    left (m, 2, 4, budget) the changes of Q and V that the last round left to the next (rank_one.py)
    power=ml: the signal's power is estimated by maximum likelihood, as in the authors' toolbox (kafbox): by
    the mean of e^2 / s2 over the rounds so far, which fades with lam; signal (2,) sum and number of these. It
    multiplies variances alone: noise is a ratio to it then, and targets may be of any unit.
    Reports -log N(y; f, p s2) and p s2, p the power, of a known row nothing.
    Deviations: `margin` is not the paper's. Forgetting ends a round that is learnt, in place of beginning the
    next one, which is the same. A vector whose removal costs as much as another's, up to SAME, goes if it is
    older. What is added to K's diagonal, and the distance from which on an example is stored, are shares of
    `size`: the paper leaves them open.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        if B.used(0) == B.budget() and _least_margin(B, y, f) >= margin:
            trace.record(t, f[0], y, B)
            trace.further[t] = math.nan
            continue
        q, v, gamma2, s2 = _known(B, Q[0], V[0], left[0], t, 0, noise, learn)
        p = signal[0] / signal[1] if power == "ml" and signal[0] > 0.0 else 1.0
        trace.record(t, f[0], y, B)
        trace.further[t, 0] = _surprise(B, 0, y, f, p * s2)
        trace.further[t, 1] = p * s2
        if learn and s2 < math.inf:
            if power == "ml":
                _see_errors(signal, _errors(B, 0, y, f), s2, lam)
            _learn(B, Q[0], V[0], left[0], stream, t, 0, q, v, gamma2, s2, lam)


@compiled
def krls_t_pool(stream: Stream, B: Budget, Q, V, left, w, trace: Trace, learn, noise, lam, share):
    """A tracker for each of m kernels; the prediction is the mean of theirs, weighted by w (m,).

    w_i <- w_i N(y; f_i, s2_i), of sum 1, and of that (1 - share) w_i + share / m
    Reports -log N(y; f, variance), the variance of the mixture as in IE-GP, and that variance.
    Deviations: see `krls_t`.
    """
    m = w.size
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        s2, state_of_kernels = np.empty(m), [_known(B, Q[0], V[0], left[0], t, 0, noise, learn)]
        s2[0] = state_of_kernels[0][3]
        for i in range(1, m):
            state_of_kernels.append(_known(B, Q[i], V[i], left[i], t, i, noise, learn))
            s2[i] = state_of_kernels[i][3]
        mean = B.weighted_output(w, f)
        trace.record(t, mean, y, B)
        trace.further[t, 0] = _mixed_surprise(B, w, y, f, mean, s2)
        trace.further[t, 1] = _variance(w, f - mean, s2)
        if not learn:
            continue
        surprise = np.empty(m)
        for i in range(m):
            surprise[i] = _surprise(B, i, y, f, s2[i])
        discount_by(w, math.exp(-1.0), surprise)
        for i in range(m):
            w[i] = (1.0 - share) * w[i] + share / m
            if s2[i] < math.inf:
                q, v, gamma2, _ = state_of_kernels[i]
                _learn(B, Q[i], V[i], left[i], stream, t, i, q, v, gamma2, s2[i], lam)


@compiled
def _known(B, Q, V, left, t, i, noise, learn):
    """q (n,) = Q k, v (n,) = V k, gamma2, s2 of round t. Where it is learnt, Q and V are up to date then."""
    k = B.kernel_values(t)[: B.used(i), i].copy()
    kappa = B.self_kernels(t)[i]
    kxx = kappa + JITTER * size(kappa)
    q, v, gamma2, s2 = np.empty(k.size), np.empty(k.size), kxx, kxx
    product_after_change(V, left[1], k, v, learn)
    for s in range(k.size):
        s2 -= k[s] * v[s]
    if learn:
        product_after_change(Q, left[0], k, q, True)
        for s in range(k.size):
            gamma2 -= k[s] * q[s]
    return q, v, gamma2, max(s2, 0.0) + noise


@compiled
def _least_margin(B, y, f):
    """y f, or of more than two classes the least of all classes, each against the others."""
    if B.classes is None:
        return y * f[0]
    least, scores = math.inf, B.classes.scores[0]
    for c in range(scores.size):
        least = min(least, scores[c] if c == B.classes.label[0] else -scores[c])
    return least


@compiled
def _errors(B, i, y, f):
    """Targets less means: (1,), or of every class (C,)."""
    if B.classes is None:
        return np.array([y - f[i]])
    e = -1.0 - B.classes.scores[i]
    e[B.classes.label[0]] += 2.0
    return e


@compiled
def _see_errors(signal, e, s2, lam):
    """Count errors e (1,), or of every class (C,), of variance s2."""
    total = 0.0
    for c in range(e.size):
        total += e[c] * e[c]
    signal[0] = lam * signal[0] + total / (e.size * s2)
    signal[1] = lam * signal[1] + 1.0


@compiled
def _surprise(B, i, y, f, s2):
    """-log N(y; f_i, s2), summed over the classes where there are more than two."""
    total = 0.0
    for e in _errors(B, i, y, f):
        total += 0.5 * (math.log(2.0 * math.pi * s2) + e * e / s2)
    return total


@compiled
def _mixed_surprise(B, w, y, f, mean, s2):
    """-log N(y; mean, variance) of the mixture; of more than two classes summed over them."""
    if B.classes is None:
        return _density(y - mean, w, f - mean, s2)
    classes, total = B.classes, 0.0
    for c in range(classes.total.size):
        target = 1.0 if c == classes.label[0] else -1.0
        apart = classes.scores[:, c] - classes.total[c]
        total += _density(target - classes.total[c], w, apart, s2)
    return total


@compiled
def _density(e, w, apart, s2):
    """-log N(e; 0, variance)."""
    variance = _variance(w, apart, s2)
    return 0.5 * (math.log(2.0 * math.pi * variance) + e * e / variance)


@compiled
def _variance(w, apart, s2):
    """sum_i w_i (s2_i + apart_i^2)."""
    variance = 0.0
    for i in range(w.size):
        variance += w[i] * (s2[i] + apart[i] * apart[i])
    return variance


@compiled
def _learn(B, Q, V, left, stream, t, i, q, v, gamma2, s2, lam):
    """Learn round t: store its example, in an empty slot or in place of a vector, or only what it says."""
    e = _errors(B, i, stream.y[t], B.f)
    r = -1
    if gamma2 >= WORTH_STORING * size(B.self_kernels(t)[i]):
        r = slot_for(Q, B.columns(i), B.ages(i), B.budget(), q, gamma2, v, e, s2)
    if r < 0:
        leave_unstored(left, B.columns(i), q, v, e, s2, lam)
        return
    change = exchange(Q, V, B.columns(i), r, q, gamma2, v, e, s2)
    B.add(stream, t, i, r, 0.0)
    leave_stored(Q, V, left, B.columns(i), r, change, e, s2, lam)


@compiled
def krls_ald(stream: Stream, B: Budget, G, P, trace: Trace, learn, nu):
    """Kernel recursive least squares with a dictionary: Engel, Mannor, Meir (2004), Figure 1.

    Least squares over the span of the dictionary, which examples enter that are not nearly in the span.

    G factored Gram matrix K of the dictionary   beta = K^-1 k (a in the paper), delta squared distance of x
    from the span   P inverse of the sum of beta beta' over all examples   a coefficients (alpha)   e error
    Where delta > nu, and at the first x: a <- [a - beta e / delta; e / delta]
    else q = P beta / (1 + beta' P beta), P <- P - q beta' P, a <- a + K^-1 q e
    Deviations: with G in place of K^-1 the same products cost the same. A delta that is rounding is 0.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)[0]
        trace.record(t, f, y, B)
        kxx, n = B.self_kernels(t)[0], B.used(0)
        if not learn or kxx == math.inf:
            continue
        k, kss = B.kernel_values(t)[:n, 0].copy(), B.own_kernels(0)
        u, _, delta = distance(G, k, kxx, kss)
        beta = projection(G, k, kxx, kss, u)
        e = y - f
        if delta > nu or (n == 0 and delta > 0.0):
            B.move(0, -e / delta, beta)
            grow(G, u, delta)
            B.add(stream, t, 0, n, e / delta)
            P[n, :n], P[:n, n], P[n, n] = 0.0, 0.0, 1.0
        elif n > 0:
            B.move(0, e, solution(G, _gain(P[:n, :n], beta)))


@compiled
def _gain(P, beta):
    """q (n,), and P <- P - q beta' P in place: symmetric to the last bit, as q is P beta / c."""
    u, c = times(P, beta), 1.0
    for s in range(u.size):
        c += beta[s] * u[s]
    c = c if c > 0.0 else 1.0  # P is positive definite, but for one of a forged model
    for s in range(u.size):
        row = P[s]
        for q in range(u.size):
            row[q] -= (u[s] * u[q]) / c
    return u / c
