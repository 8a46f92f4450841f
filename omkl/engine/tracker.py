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

import numpy as np

from omkl.engine.jit import compiled

JITTER = 1e-6  # share of an example's size that is added to kappa(x, x)
WORTH_STORING = 1e-5  # share of its size from which on its squared distance from the span makes it stored
SAME = 1e-6  # relative difference up to which the costs of removals are the same: more than rounding


@compiled
def size(kappa):
    """What a JITTER of x is a share of: kappa(x, x), and 1 at least.

    Of a kernel with values of 10^5, 10^-6 would be lost in the rounding of Q, which then is not positive.
    """
    return max(1.0, kappa)


@compiled
def slot_for(Q, a, ages, budget, q, gamma2, v, e, s2):
    """The slot that x_t takes, which is worth storing: an empty one or a vector's; -1: none."""
    return q.size if q.size < budget else _cheapest(Q, ages, a, q, v, e, gamma2, s2)


@compiled
def exchange(Q, V, a, r, q, gamma2, v, e, s2):
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
def place(Q, V, a, r, change, e, s2, lam):
    """Give x_t slot r by the change of `exchange`: of a; rows and columns r of Q and V become 0."""
    s, x, _, g, _, a_r = change
    n = x.size
    a[r] = 0.0
    Q[r, :n], Q[:n, r], V[r, :n], V[:n, r] = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        for c in range(e.size):
            a[j, c] -= g[j] * a_r[c]
    move_coefficients(a, s, e, s2, math.sqrt(lam))


@compiled
def leave_stored(Q, V, left, a, r, change, e, s2, lam):
    """Learn x_t in slot r; what changes Q and V waits in left (2, 4, n): rank_one.py."""
    s, x, lost, g, h, _ = change
    n = x.size
    left[0, 0, :n], left[0, 1, :n], left[0, 2, :n] = x, lost, 0.5 * lost
    left[1, 0, :n], left[1, 1, :n], left[1, 2, :n], left[1, 3, 0] = s, g, h, lam
    place(Q, V, a, r, change, e, s2, lam)


@compiled
def move_coefficients(a, s, e, s2, keep):
    """a <- keep (a + s e' / sqrt(s2)): s is divided by sqrt(s2) already."""
    root = math.sqrt(s2)
    for j in range(s.size):
        for c in range(e.size):
            a[j, c] = keep * (a[j, c] + s[j] * (e[c] / root))


@compiled
def leave_unstored(left, a, q, v, e, s2, lam):
    """Learn x_t, which is not stored: with s = q - v, a gains s e' / s2, and V s s' / s2, which waits."""
    s = (q - v) / math.sqrt(s2)
    move_coefficients(a, s, e, s2, math.sqrt(lam))
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
