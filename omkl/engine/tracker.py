"""A kernel recursive least-squares tracker on plain arrays: one round of Algorithm 1 of Van Vaerenbergh,
Lazaro-Gredilla, Santamaria (2012), whose learners are omkl/algorithms/krls_t.py.

Throughout: n stored vectors with kernel matrix K (n, n), JITTER times `size` added on its diagonal; mu and
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
from functools import partial

import numpy as np

from omkl.engine.jit import compiled
from omkl.engine.lanes import exponentials, fma

JITTER = 1e-6  # share of an example's size that is added to kappa(x, x)
WORTH_STORING = 1e-5  # share of its size from which on its squared distance from the span makes it stored
SAME = 1e-6  # relative difference up to which the costs of removals are the same: more than rounding


@compiled
def size(kappa):
    """What a JITTER of x is a share of: kappa(x, x), and 1 at least.

    Of a kernel with values of 10^5, 10^-6 would be lost in the rounding of Q, which then is not positive.
    """
    return max(1.0, kappa)


@partial(compiled, inline="always")
def known(V, k, own, noise):
    """v (n,) = V k and s2."""
    v, s2 = _times(V[: k.size], k), own
    for s in range(k.size):
        s2 -= k[s] * v[s]
    return v, max(s2, 0.0) + noise


@partial(compiled, inline="always")
def residual(Q, k, own):
    """q (n,) = Q k, and x_t's squared distance gamma2 from the span of the stored vectors."""
    q, gamma2 = _times(Q[: k.size], k), own
    for j in range(k.size):
        gamma2 -= k[j] * q[j]
    return q, gamma2


@compiled
def slot_for(Q, a, ages, budget, q, gamma2, v, e, s2):
    """The slot that x_t takes, which is worth storing: an empty one or a vector's; -1: none."""
    return q.size if q.size < budget else _cheapest(Q, ages, a, q, v, e, gamma2, s2)


@partial(compiled, inline="always")
def learn_unstored(V, a, q, v, e, s2, lam):
    """Learn x_t, which is not stored: with s = q - v, V gains s s' / s2 and a gains s e' / s2."""
    s = (q - v) / math.sqrt(s2)
    _move(a, s, e, s2, math.sqrt(lam))
    _add_product(V, s, lam)


@compiled
def exchange(Q, V, a, r, q, gamma2, v, e, s2):
    """What `learn_stored` does for x_t in slot r: (s / sqrt(s2), x, g sqrt(Q_rr), g, h, a_r).

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
def leave_stored(Q, V, left, a, r, change, e, s2, lam):
    """`learn_stored` whose changes of Q and V wait in left (2, 4, n): rank_one.py."""
    s, x, lost, g, h, a_r = change
    n = x.size
    a[r] = 0.0
    Q[r, :n], Q[:n, r], V[r, :n], V[:n, r] = 0.0, 0.0, 0.0, 0.0
    left[0, 0, :n], left[0, 1, :n], left[0, 2, :n] = x, lost, 0.5 * lost
    left[1, 0, :n], left[1, 1, :n], left[1, 2, :n], left[1, 3, 0] = s, g, h, lam
    for j in range(n):
        for c in range(e.size):
            a[j, c] -= g[j] * a_r[c]
    _move(a, s, e, s2, math.sqrt(lam))


@compiled
def leave_unstored(left, a, q, v, e, s2, lam):
    """`learn_unstored` whose change of V waits."""
    s = (q - v) / math.sqrt(s2)
    _move(a, s, e, s2, math.sqrt(lam))
    left[1, 0, : s.size], left[1, 3, 0] = s, lam


@compiled
def learn_stored(Q, V, a, r, change, e, s2, lam):
    """Make the change of `exchange`; a has a row for x_t's slot r, whatever it holds."""
    s, x, lost, g, h, a_r = change
    a[r] = 0.0
    Q[r, : x.size], Q[: x.size, r], V[r, : x.size], V[: x.size, r] = 0.0, 0.0, 0.0, 0.0
    _add_products(Q, x, lost)
    _add_and_take(V, s, g, h, lam)
    for j in range(x.size):
        for c in range(e.size):
            a[j, c] -= g[j] * a_r[c]
    _move(a, s, e, s2, math.sqrt(lam))


# A tracker that keeps its rows itself, of a kernel whose width is known only as the rows come:
# X (d, budget)       a column for each slot
# kept (budget, C)    the stored rows' targets
# ages (budget,)      when each was stored, from 1 on; 0: an empty slot. The slots used are the first ones
# Q, V, a (budget, C) as above. All are 0 at first.
# kernel = (kind, width, columns), s = |x - x'|^2 / width^2:
# GAUSSIAN exp(-s / 2)     LAPLACIAN exp(-sqrt(s))
# ADDITIVE half a Gaussian, half the mean of exp(-(x_j - x'_j)^2 / 4) over the first columns: of features of
# variance 1. More of them may come later; what is stored must not notice

GAUSSIAN, LAPLACIAN, ADDITIVE = range(3)


@compiled
def used(ages):
    """How many slots are used."""
    n = 0
    while n < ages.size and ages[n] > 0:
        n += 1
    return n


@compiled
def gaussian_values(X, n, x, width):
    """k (n,): exp(-|x_s - x|^2 / (2 width^2)) of the stored rows x_s."""
    k = _squares(X, n, x, width)
    exponentials(-0.5, k, n, False, k)
    return k


@compiled
def _squares(X, n, x, width):
    """s (n,) of row x and the stored rows, by one order of additions."""
    k, over, j = np.zeros(n), 1.0 / width, 0
    while j + 4 <= x.size:
        a, b, c, d = X[j], X[j + 1], X[j + 2], X[j + 3]
        p, q, r, s = x[j], x[j + 1], x[j + 2], x[j + 3]
        for l in range(n):
            t, u, v, w = (a[l] - p) * over, (b[l] - q) * over, (c[l] - r) * over, (d[l] - s) * over
            k[l] = fma(w, w, fma(v, v, fma(u, u, fma(t, t, k[l]))))
        j += 4
    while j < x.size:
        a, p = X[j], x[j]
        for l in range(n):
            t = (a[l] - p) * over
            k[l] = fma(t, t, k[l])
        j += 1
    return k


@compiled
def row_values(kernel, X, n, x):
    """k (n,): kernel values of row x with the stored rows."""
    kind, width, columns = kernel
    if kind == LAPLACIAN:
        k = _squares(X, n, x, width)
        for l in range(n):
            k[l] = math.sqrt(k[l])
        exponentials(-1.0, k, n, False, k)
        return k
    k = gaussian_values(X, n, x, width)
    columns = min(columns, x.size)
    if kind == ADDITIVE and columns > 0:
        total, one, share = np.zeros(n), np.empty(n), 0.5 / columns
        for j in range(columns):
            a, p = X[j], x[j]
            for l in range(n):
                one[l] = (a[l] - p) * (a[l] - p)
            exponentials(-0.25, one, n, False, one)
            for l in range(n):
                total[l] += one[l]
        for l in range(n):
            k[l] = fma(share, total[l], 0.5 * k[l])
    return k


@compiled
def row_outputs(kernel, V, a, X, ages, x, noise, f):
    """Fill f (C,) with the means at row x; returns k, v and s2, for `learn_target`."""
    k = row_values(kernel, X, used(ages), x)
    v, s2 = known(V, k, 1.0 + JITTER, noise)
    f[:] = 0.0
    for s in range(k.size):
        for c in range(f.size):
            f[c] = fma(k[s], a[s, c], f[c])
    return k, v, s2


@compiled
def learn_row(Q, V, a, X, ages, x, k, v, e, s2):
    """Learn row x, e (C,) targets less means; k, v, s2 of `row_outputs`. Returns its slot, -1: none."""
    n, r = k.size, -1
    q, gamma2 = residual(Q, k, 1.0 + JITTER)
    if gamma2 >= WORTH_STORING:
        r = slot_for(Q, a[:n], ages[:n], len(a), q, gamma2, v, e, s2)
    if r < 0:
        learn_unstored(V, a[:n], q, v, e, s2, 1.0)
        return r
    change = exchange(Q, V, a[:n], r, q, gamma2, v, e, s2)
    ages[r] = ages.max() + 1
    X[:, r] = x
    learn_stored(Q, V, a[: max(n, r + 1)], r, change, e, s2, 1.0)
    return r


@compiled
def learn_target(Q, V, a, X, kept, ages, x, y, e, k, v, s2):
    """`learn_row` that keeps the targets y (C,), for `begin_again`."""
    r = learn_row(Q, V, a, X, ages, x, k, v, e, s2)
    if r >= 0:
        kept[r] = y


@compiled
def begin_again(kernel, Q, V, a, X, kept, ages, center, noise):
    """Forget all but the stored rows, and learn them with another kernel, the oldest first.

    center (C,) what the targets are less by
    """
    n = used(ages)
    order = np.argsort(ages[:n])
    rows, targets, f = X[:, :n].T.copy()[order], kept[:n].copy()[order], np.zeros(center.size)
    Q[:], V[:], a[:], ages[:] = 0.0, 0.0, 0.0, 0
    for s in range(n):
        k, v, s2 = row_outputs(kernel, V, a, X, ages, rows[s], noise, f)
        learn_target(Q, V, a, X, kept, ages, rows[s], targets[s], targets[s] - center - f, k, v, s2)


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
