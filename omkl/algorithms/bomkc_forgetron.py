"""Budget online multiple kernel learning: Forgetrons.

A component of online multiple kernel classification, as bomkc_rbp.py says, whose letters are used here.
"""

import math

from omkl.engine.api import compiled, discount, mistakes, within_range
from omkl.engine.methods import Budget, Stream, Trace


@compiled
def bomkc_forgetron(stream: Stream, B: Budget, w, Q, M, H, trace: Trace, learn, gamma):
    """Self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008, section 5): shrink, then drop the oldest.

    Q (m,) damage of all removals   M (m,) mistakes   r the oldest vector's slot, s that of the new one
    H (m, slots, slots) kernel values: H[i, s] of the vector in slot s with those that were stored before it
    delta = |a_r|, mu = y_r f'(x_r) with f' after the addition   phi factor, the largest in (0, 1] with
    (delta^2 - 2 delta mu) phi^2 + 2 delta phi + Q - (15/32) M <= 0
    Deviations: polynomials are shrunk by the same rule, although it supposes kappa(x, x) <= 1. With more than
    two classes a vector is added to y_r and taken from its rival. Inner products are halved, so that its norm
    stays kappa(x, x): mu is half the margin.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k = B.kernel_values(t)
        for i in range(f.size):
            if not z[i]:
                continue
            M[i] += 1
            phi, s = 1.0, B.used(i)
            if not B.has_room(i):
                r = s = B.oldest_slot(i)
                delta = _largest(B.columns(i)[r])
                mu = within_range(_margin_at_oldest(B, H[i], i, y, k[r, i]))
                phi = _shrinking(delta * delta - 2.0 * delta * mu, 2.0 * delta, Q[i] - 15.0 / 32.0 * M[i])
                damage = delta * phi
                Q[i] += damage * damage + 2.0 * damage * (1.0 - phi * mu)
                Q[i] = min(Q[i], 15.0 / 32.0 * M[i])  # as it is but for rounding
                if phi < 1.0:
                    B.scale(i, phi)
            for q in range(B.used(i)):
                H[i, s, q] = k[q, i]
            B.add_over_oldest(stream, t, i, y * phi)


@compiled
def _largest(a):
    """The largest |a_c| of a vector's coefficients in all classes."""
    largest = 0.0
    for c in range(a.size):
        largest = max(largest, abs(a[c]))
    return largest


@compiled
def _margin_at_oldest(B, H, i, y, k):
    """y_r f_i' at kernel i's own oldest vector x_r, f' = f + y kappa(x, .), k = kappa(x_r, x).

    Every other vector was stored later, and knows its kernel value with x_r.
    """
    r, margin, a = B.oldest_slot(i), 0.0, B.columns(i)
    k_rr = B.own_kernels(i)[r]
    for c in range(a.shape[1]):
        if a[r, c] == 0.0:
            continue
        total = 0.0
        for s in range(len(a)):
            total += a[s, c] * (H[s, r] if s != r else k_rr)
        margin += math.copysign(1.0, a[r, c]) * (total + B.direction(i, c, y) * k)
    return margin / B.n_changed()


@compiled
def _shrinking(a, b, c):
    """The largest phi in (0, 1] with a phi^2 + b phi + c <= 0, where b > 0; c < 0 but in a forged model."""
    if a + b + c <= 0.0 or not c < 0.0:
        return 1.0
    return -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))
