"""Kernel recursive least squares: KRLS-T, a tracker of a target that changes.

Van Vaerenbergh, Lazaro-Gredilla, Santamaria, "Kernel recursive least-squares tracker for time-varying
regression" (IEEE Transactions on Neural Networks and Learning Systems 23, 2012), Algorithm 1, on at most a
budget of stored vectors. Targets are numbers, or +1 and -1; of C > 2 classes +1 for the true one and -1 for
each other, whose means alone differ.

Throughout: n stored vectors with kernel matrix K (n, n), JITTER times `_size` added on its diagonal; mu and
Sigma mean and covariance of the function's values there (the paper's); k (n,) kernel values with x_t, own =
kappa(x_t, x_t) + JITTER size; q = Q k; s2 variance of y_t; e (C,) targets less means, of C functions that
share Sigma.
In place of mu and Sigma the state holds what they do to later predictions, so that a round takes two products
with matrices, and forgetting none:
a (n, C) = Q mu, the coefficients: the mean at x is k . a     Q (n, n) = K^-1
V (n, n) = Q - Q Sigma Q, what is known: the variance at x is own - k . V k
Q and V have room for all vectors of the budget, the first n rows and columns are used; a has its n rows.
"""

import math

import numpy as np

from omkl.engine.api import compiled, discount_by, surprise
from omkl.engine.methods import Budget, Stream, Trace
from omkl.engine.rank_three import product_after_change

JITTER = 1e-6  # share of an example's size that is added to kappa(x, x)
WORTH_STORING = 1e-5  # share of its size from which on its squared distance from the span makes it stored
SAME = 1e-6  # relative difference up to which the costs of removals are the same: more than rounding


@compiled
def krls_t(stream: Stream, B: Budget, Q, V, left, signal, trace: Trace, learn, noise, lam, margin, power):
    """One kernel: Algorithm 1, with "back to the prior" forgetting: Sigma <- lam Sigma + (1 - lam) K,
    mu <- sqrt(lam) mu.

    noise the variance of the noise   lam in (0, 1] how much of what is known stays, of a round
    margin of classes, nan none: with a full budget, a row of this margin or more is known and changes nothing
    left (m, 2, 4, budget) the changes of Q and V that the last round left to the next (rank_three.py)
    power=ml: the signal's power is estimated by maximum likelihood, as in the authors' toolbox (kafbox): by
    the mean of e^2 / s2 over the rounds so far, which fades with lam; signal (2,) sum and number of these. It
    multiplies variances alone: noise is a ratio to it then, and targets may be of any unit.
    Reports -log N(y; f, p s2) and p s2, p the power, of a known row nothing.
    Deviations: `margin` is not the paper's. Forgetting ends a round that is learnt, in place of beginning the
    next one, which is the same. A vector whose removal costs as much as another's, up to SAME, goes if it is
    older. What is added to K's diagonal, and the distance from which on an example is stored, are shares of
    `_size`: the paper leaves them open.
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
    kxx = kappa + JITTER * _size(kappa)
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
        total += surprise(e, s2)
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
    return surprise(e, variance)


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
    if gamma2 >= WORTH_STORING * _size(B.self_kernels(t)[i]):
        r = _slot_for(Q, B.columns(i), B.ages(i), B.budget(), q, gamma2, v, e, s2)
    if r < 0:
        _leave_unstored(left, B.columns(i), q, v, e, s2, lam)
        return
    change = _exchange(Q, V, B.columns(i), r, q, gamma2, v, e, s2)
    B.add(stream, t, i, r, 0.0)
    _leave_stored(Q, V, left, B.columns(i), r, change, e, s2, lam)


@compiled
def _size(kappa):
    """What a JITTER of x is a share of: kappa(x, x), and 1 at least.

    Of a kernel with values of 10^5, 10^-6 would be lost in the rounding of Q, which then is not positive.
    """
    return max(1.0, kappa)


@compiled
def _slot_for(Q, a, ages, budget, q, gamma2, v, e, s2):
    """The slot that x_t takes, which is worth storing: an empty one or a vector's; -1: none."""
    return q.size if q.size < budget else _cheapest(Q, ages, a, q, v, e, gamma2, s2)


@compiled
def _exchange(Q, V, a, r, q, gamma2, v, e, s2):
    """What x_t in slot r changes: (s / sqrt(s2), x, g sqrt(Q_rr), g, h, a_r).

    V gains s s' / s2 and a gains s e' / s2, s = [-v; 1] where v = V k; Q gains x x'. For a vector r that
    goes, with g = Q_r / Q_rr and h = V_r - g V_rr / 2 without its own place: a loses g a_r', Q loses
    Q_rr g g', and V loses g h' + h g'.
    """
    n, root, divisor = q.size, math.sqrt(gamma2), math.sqrt(s2)
    s, x, g, h, lost, a_r = -v, q / root, np.zeros(n), np.zeros(n), 0.0, np.zeros(e.size)
    if r == n:
        s, x = np.append(s, 1.0), np.append(x, -1.0 / root)
        g, h = np.zeros(n + 1), np.zeros(n + 1)
    else:
        lost = Q[r, r] + q[r] * q[r] / gamma2  # below the diagonal alone, where a change may wait
        lost = lost if lost > 0.0 else 1.0  # Q is positive definite, but for one of a forged model
        known_r = V[r, r] + v[r] * v[r] / s2
        for j in range(n):
            low, high = min(r, j), max(r, j)
            g[j] = (Q[high, low] + q[r] * q[j] / gamma2) / lost
            h[j] = V[high, low] + v[r] * v[j] / s2 - 0.5 * g[j] * known_r
        g[r] = -q[r] / gamma2 / lost  # x_t takes the place of r
        h[r] = -v[r] / s2 - 0.5 * g[r] * known_r
        a_r = a[r] - v[r] * e / s2
        s[r], x[r] = 1.0, -1.0 / root
    return s / divisor, x, g * math.sqrt(lost), g, h, a_r


@compiled
def _place(Q, V, a, r, change, e, s2, lam):
    """Give x_t slot r by the change of `_exchange`: of a; rows and columns r of Q and V become 0."""
    s, x, _, g, _, a_r = change
    n = x.size
    a[r] = 0.0
    Q[r, :n], Q[:n, r], V[r, :n], V[:n, r] = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        for c in range(e.size):
            a[j, c] -= g[j] * a_r[c]
    _move_coefficients(a, s, e, s2, math.sqrt(lam))


@compiled
def _leave_stored(Q, V, left, a, r, change, e, s2, lam):
    """Learn x_t in slot r; what changes Q and V waits in left (2, 4, n): rank_three.py."""
    s, x, lost, g, h, _ = change
    n = x.size
    left[0, 0, :n], left[0, 1, :n], left[0, 2, :n] = x, lost, 0.5 * lost
    left[1, 0, :n], left[1, 1, :n], left[1, 2, :n], left[1, 3, 0] = s, g, h, lam
    _place(Q, V, a, r, change, e, s2, lam)


@compiled
def _move_coefficients(a, s, e, s2, keep):
    """a <- keep (a + s e' / sqrt(s2)): s is divided by sqrt(s2) already."""
    root = math.sqrt(s2)
    for j in range(s.size):
        for c in range(e.size):
            a[j, c] = keep * (a[j, c] + s[j] * (e[c] / root))


@compiled
def _leave_unstored(left, a, q, v, e, s2, lam):
    """Learn x_t, which is not stored: with s = q - v, a gains s e' / s2, and V s s' / s2, which waits."""
    s = (q - v) / math.sqrt(s2)
    _move_coefficients(a, s, e, s2, math.sqrt(lam))
    left[1, 0, : s.size], left[1, 3, 0] = s, lam


@compiled
def _cheapest(Q, ages, a, q, v, e, gamma2, s2):
    """The slot of the vector whose removal costs least, (a_j / Q_jj)^2 summed over the classes; -1: x_t's."""
    n = q.size
    costs, new = np.zeros(n), 0.0
    for c in range(e.size):
        new += (e[c] * gamma2 / s2) * (e[c] * gamma2 / s2)
    least = new
    for j in range(n):
        own = Q[j, j] + q[j] * q[j] / gamma2
        for c in range(e.size):
            after = (a[j, c] - v[j] * e[c] / s2) / own if own > 0.0 else 0.0
            costs[j] += after * after
        least = min(least, costs[j])
    r = -1
    for j in range(n):
        if costs[j] <= least * (1.0 + SAME) and (r < 0 or ages[j] < ages[r]):
            r = j
    return r
