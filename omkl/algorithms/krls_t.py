"""Kernel recursive least squares that tracks a target which changes, on at most a budget of stored vectors.

Van Vaerenbergh, Lazaro-Gredilla, Santamaria, "Kernel recursive least-squares tracker for time-varying
regression" (IEEE Transactions on Neural Networks and Learning Systems 23, 2012), Algorithm 1. Targets are
numbers, or +1 and -1; of C > 2 classes +1 for the true one and -1 for each other, whose means alone differ.

Throughout, of one kernel: n stored vectors with kernel matrix K (n, n), JITTER added on its diagonal; mu and
Sigma mean and covariance of the function's values there (the paper's); k (n,) kernel values with x_t, own =
kappa(x_t, x_t) + JITTER; q = Q k; s2 variance of y_t.
In place of mu and Sigma the state holds what they do to later predictions, so that a round takes two products
with matrices, and forgetting none:
a (n, C) = Q mu, the coefficients: the mean at x is k . a     Q (n, n) = K^-1
V (n, n) = Q - Q Sigma Q, what is known: the variance at x is own - k . V k
"""

import math

import numpy as np

from omkl.engine.verbs import compiled, discount_by, fma

JITTER = 1e-6  # added to kappa(x, x)
LEAST_RESIDUAL = 1e-12  # of an example's squared distance from the span of the stored vectors
WORTH_STORING = 1e-5  # squared distance from which on an example is stored
SAME = 1e-6  # relative difference up to which the costs of removals are the same: more than rounding


@compiled
def krls_t(stream, B, Q, V, trace, learn, noise, lam):
    """One kernel: Algorithm 1, with "back to the prior" forgetting: Sigma <- lam Sigma + (1 - lam) K,
    mu <- sqrt(lam) mu.

    noise the variance of the noise   lam in (0, 1] how much of what is known stays, of a round
    Reports -log N(y; f, s2) and s2.
    Deviations: forgetting ends a round, in place of beginning the next one, which is the same. A vector whose
    removal costs as much as another's, up to SAME, goes if it is older.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        k, v, s2 = _known(B, V[0], t, 0, noise)
        trace.record(t, f[0], y, B)
        trace.further[t, 0] = _surprise(B.classes, 0, y, f, s2)
        trace.further[t, 1] = s2
        if learn and s2 < math.inf:
            _learn(B, Q[0], V[0], stream, t, 0, k, v, s2, lam)


@compiled
def krls_t_pool(stream, B, Q, V, w, trace, learn, noise, lam, share):
    """A tracker for each of m kernels; the prediction is the mean of theirs, weighted by w (m,).

    w_i <- w_i N(y; f_i, s2_i), of sum 1, and of that (1 - share) w_i + share / m
    Reports -log N(y; f, variance), the variance of the mixture as in IE-GP, and that variance.
    Deviations: see `krls_t`.
    """
    m = w.size
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        s2, known = np.empty(m), [_known(B, V[0], t, 0, noise)]
        s2[0] = known[0][2]
        for i in range(1, m):
            known.append(_known(B, V[i], t, i, noise))
            s2[i] = known[i][2]
        mean = B.weighted_output(w, f)
        trace.record(t, mean, y, B)
        trace.further[t, 0] = _mixed_surprise(B.classes, w, y, f, mean, s2)
        trace.further[t, 1] = _variance(w, f - mean, s2)
        if not learn:
            continue
        surprise = np.empty(m)
        for i in range(m):
            surprise[i] = _surprise(B.classes, i, y, f, s2[i])
        discount_by(w, math.exp(-1.0), surprise)
        for i in range(m):
            w[i] = (1.0 - share) * w[i] + share / m
            if s2[i] < math.inf:
                _learn(B, Q[i], V[i], stream, t, i, known[i][0], known[i][1], s2[i], lam)


@compiled
def _known(B, V, t, i, noise):
    """k (n,), v (n,) = V k and s2 of round t."""
    n = B.used(i)
    k = B.kernel_values(t)[:n, i].copy()
    v = _times(V[:n], k)
    s2 = B.self_kernels(t)[i] + JITTER
    for s in range(n):
        s2 -= k[s] * v[s]
    return k, v, max(s2, 0.0) + noise


@compiled
def _errors(classes, i, y, f):
    """Targets less means: (1,), or of every class (C,)."""
    if classes is None:
        return np.array([y - f[i]])
    e = -1.0 - classes.scores[i]
    e[classes.label[0]] += 2.0
    return e


@compiled
def _surprise(classes, i, y, f, s2):
    """-log N(y; f_i, s2), summed over the classes where there are more than two."""
    total = 0.0
    for e in _errors(classes, i, y, f):
        total += 0.5 * (math.log(2.0 * math.pi * s2) + e * e / s2)
    return total


@compiled
def _mixed_surprise(classes, w, y, f, mean, s2):
    """-log N(y; mean, variance) of the mixture; of more than two classes summed over them."""
    total = 0.0
    if classes is None:
        total = _density(y - mean, w, f - mean, s2)
    if classes is not None:
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
def _learn(B, Q, V, stream, t, i, k, v, s2, lam):
    """Learn round t: store its example, in an empty slot or in place of a vector, or only what it says.

    With x_t stored V gains s s' / s2 and a gains s e' / s2, s = [-v; 1] where v = V k; where x_t is left out
    s = q - v. For a vector r that goes, with g = Q_r / Q_rr and h = V_r - g V_rr / 2 without its own place:
    a loses g a_r', Q loses Q_rr g g', and V loses g h' + h g'.
    """
    n, e = k.size, _errors(B.classes, i, stream.y[t], B.f)
    q = _times(Q[:n], k)
    gamma2 = B.self_kernels(t)[i] + JITTER
    for j in range(n):
        gamma2 -= k[j] * q[j]
    gamma2 = max(gamma2, LEAST_RESIDUAL)
    keep, root = math.sqrt(lam), math.sqrt(gamma2)
    r = -1
    if gamma2 >= WORTH_STORING:
        r = n if n < B.budget() else _cheapest(Q, B.ages(i), B.columns(i), q, v, e, gamma2, s2)
    if r < 0:
        s = (q - v) / math.sqrt(s2)
        _move(B.columns(i), s, e, s2, keep)
        _add_product(V, s, lam)
        return
    s, x, g, h, lost, a_r = -v, q / root, np.zeros(n), np.zeros(n), 0.0, np.zeros(e.size)
    if r == n:
        s, x = np.append(s, 1.0), np.append(x, -1.0 / root)
        g, h = np.zeros(n + 1), np.zeros(n + 1)
    else:
        lost = Q[r, r] + q[r] * q[r] / gamma2
        lost = lost if lost > 0.0 else 1.0  # Q is positive definite, but for one of a forged model
        own = V[r, r] + v[r] * v[r] / s2
        for j in range(n):
            g[j] = (Q[r, j] + q[r] * q[j] / gamma2) / lost
            h[j] = V[r, j] + v[r] * v[j] / s2 - 0.5 * g[j] * own
        g[r] = -q[r] / gamma2 / lost  # x_t takes the place of r
        h[r] = -v[r] / s2 - 0.5 * g[r] * own
        a_r = B.columns(i)[r] - v[r] * e / s2
        s[r], x[r] = 1.0, -1.0 / root
    B.add(stream, t, i, r, 0.0)
    a, s = B.columns(i), s / math.sqrt(s2)
    a[r] = 0.0
    Q[r, : x.size], Q[: x.size, r], V[r, : x.size], V[: x.size, r] = 0.0, 0.0, 0.0, 0.0
    _add_products(Q, x, g * math.sqrt(lost))
    _add_and_take(V, s, g, h, lam)
    for j in range(x.size):
        for c in range(e.size):
            a[j, c] -= g[j] * a_r[c]
    _move(a, s, e, s2, keep)


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


@compiled
def _move(a, s, e, s2, keep):
    """a <- keep (a + s e' / sqrt(s2)): s is divided by sqrt(s2) already."""
    root = math.sqrt(s2)
    for j in range(s.size):
        for c in range(e.size):
            a[j, c] = keep * (a[j, c] + s[j] * (e[c] / root))


# Symmetric matrices: each element is computed by the same operations as its mirror image. Rows are taken in
# pairs and fours, so that what they share is read once.


@compiled
def _times(K, a):
    """K a of a symmetric K (n, n)."""
    out, n, j = np.zeros(a.size), a.size, 0
    while j + 4 <= n:
        b, c, d, e = K[j], K[j + 1], K[j + 2], K[j + 3]
        w, x, y, z = a[j], a[j + 1], a[j + 2], a[j + 3]
        for l in range(n):
            out[l] = fma(z, e[l], fma(y, d[l], fma(x, c[l], fma(w, b[l], out[l]))))
        j += 4
    while j < n:
        b, w = K[j], a[j]
        for l in range(n):
            out[l] = fma(w, b[l], out[l])
        j += 1
    return out


@compiled
def _add_product(V, s, lam):
    """V <- lam (V + s s')."""
    for j in range(s.size):
        row, own = V[j], s[j]
        for l in range(s.size):
            row[l] = lam * (row[l] + own * s[l])


@compiled
def _add_products(Q, x, g):
    """Q <- Q + x x' - g g'."""
    for j in range(0, x.size - 1, 2):
        a, b, x_a, x_b, g_a, g_b = Q[j], Q[j + 1], x[j], x[j + 1], g[j], g[j + 1]
        for l in range(x.size):
            a[l] += x_a * x[l] - g_a * g[l]
            b[l] += x_b * x[l] - g_b * g[l]
    if x.size % 2:
        j = x.size - 1
        for l in range(x.size):
            Q[j, l] += x[j] * x[l] - g[j] * g[l]


@compiled
def _add_and_take(V, s, g, h, lam):
    """V <- lam (V + s s' - (g h' + h g'))."""
    for j in range(0, s.size - 1, 2):
        a, b, s_a, s_b, g_a, g_b, h_a, h_b = V[j], V[j + 1], s[j], s[j + 1], g[j], g[j + 1], h[j], h[j + 1]
        for l in range(s.size):
            a[l] = lam * (a[l] + s_a * s[l] - (g_a * h[l] + h_a * g[l]))
            b[l] = lam * (b[l] + s_b * s[l] - (g_b * h[l] + h_b * g[l]))
    if s.size % 2:
        j = s.size - 1
        for l in range(s.size):
            V[j, l] = lam * (V[j, l] + s[j] * s[l] - (g[j] * h[l] + h[j] * g[l]))
