"""Symmetric matrices under changes of rank one (recursive least squares).

An update P <- P - u u' and the next round's product P z each read all of P, which is larger than the caches
near the processor. So the update waits, and both are made in one pass over P's lower triangle: every learner
that keeps such matrices hands in the vector u that its last round left.
Throughout: P (m, n, n), of which only the lower triangle (in blocks of LANES) is kept; z, last (m, n), last_i
the u of the round before, 0 at the start.
"""

import math
from functools import partial

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.lanes import fma, item, load, store, sum_onto, zeros

CLEARLY = 1.0 + 1e-6  # by more than rounding may be of a number that is right
LANES = 4  # rows of a pass, and columns that are computed together


@compiled
def gains(P, last, z, drift, keep):
    """g (m, n): P_i z_i of the matrices P_i <- P_i - last_i last_i' + drift I.

    keep: they replace P, and `last` must be replaced with them (see ``leave``); else P stays as it is, for
    rounds that are not learnt. Either way the bits are the same.
    """
    g = np.zeros(z.shape)
    for i in range(g.shape[0]):
        _product(P[i], last[i], z[i], g[i], drift, keep)
    return g


@compiled
def hold(v, P, last, g, drift, keep):
    """Raise v (m,) = z_i . g_i to g_ij^2 / p_jj where it is less, as only rounding makes it; g of ``gains``.

    Of features of very different sizes P z is rounding alone: P would lose more than it has, and more so in
    each round after. Where rounding has left nothing of z' P z, or of a p_jj, v_i and g_i are 0.
    """
    for i in range(v.size):
        g_i, u = g[i], last[i]
        for j in range(g_i.size):
            p = P[i, j, j] if keep else fma(-u[j], u[j], P[i, j, j]) + drift
            if not v[i] > 0.0 or (g_i[j] != 0.0 and not p > 0.0):
                g_i[:] = 0.0
                v[i] = 0.0
                break
            if g_i[j] * g_i[j] > CLEARLY * v[i] * p:
                v[i] = g_i[j] * g_i[j] / p


@compiled
def leave(last, g, v):
    """Leave the updates P_i <- P_i - g_i g_i' / v_i, v (m,) > 0, to the next call of ``gains``."""
    for i in range(v.size):
        u, g_i, root = last[i], g[i], math.sqrt(v[i])
        for j in range(u.size):
            u[j] = g_i[j] / root


@compiled_without_refcounts
def _product(P, u, z, g, drift, keep):
    """One kernel's share: each element p_rj, j < r, counts in g_r and in g_j."""
    n = z.size
    whole = n - n % LANES
    for r in range(0, whole, LANES):
        if keep:  # one loop for each
            _four_rows(zeros(LANES), P, r, u, z, g, True)
        else:
            _four_rows(zeros(LANES), P, r, u, z, g, False)
    for r in range(whole, n):
        row = P[r]
        for j in range(r + 1):
            p = fma(-u[r], u[j], row[j])
            g[j] = fma(p, z[r], g[j])
            if j < r:
                g[r] = fma(p, z[j], g[r])
            if keep:
                row[j] = p
                if j >= whole:  # of a block that becomes whole when there are more features
                    P[j, r] = p
    for j in range(n):
        g[j] = fma(drift, z[j], g[j])
        if keep:
            P[j, j] += drift


@partial(compiled_without_refcounts, inline="always")
def _four_rows(zero, P, r, u, z, g, keep):
    """``_product`` of the rows r .. r + LANES - 1, up to the block on the diagonal, which is whole.

    Left to LLVM's loop vectoriser, the sums over a row stay scalar, since their order would change. Here
    LANES partial sums of each row stay in registers, and are added in a fixed order.
    """
    minus_u = -item(u, r), -item(u, r + 1), -item(u, r + 2), -item(u, r + 3)
    rows = minus_u, (item(z, r), item(z, r + 1), item(z, r + 2), item(z, r + 3))
    s, s1, s2, s3 = zero, zero, zero, zero
    for j in range(0, r, LANES):
        p, p1, p2, p3 = _columns(zero, P, r, j, u, *rows, g, keep)
        other = load(zero, z, j)
        s, s1, s2, s3 = fma(p, other, s), fma(p1, other, s1), fma(p2, other, s2), fma(p3, other, s3)
    _columns(zero, P, r, r, u, *rows, g, keep)
    store(sum_onto(item(g, r), s), g, r)
    store(sum_onto(item(g, r + 1), s1), g, r + 1)
    store(sum_onto(item(g, r + 2), s2), g, r + 2)
    store(sum_onto(item(g, r + 3), s3), g, r + 3)


@compiled_without_refcounts
def _columns(like, P, r, j, u, minus_u, z, g, keep):
    """p_kq = P_kq - u_k u_q of four rows k from r on and the columns q of lanes j ..: g_q += sum_k p_kq z_k.

    keep: P_kq <- p_kq. Returns the rows of p.
    """
    u_j = load(like, u, j)
    p = fma(minus_u[0], u_j, load(like, P, (r, j)))
    p1 = fma(minus_u[1], u_j, load(like, P, (r + 1, j)))
    p2 = fma(minus_u[2], u_j, load(like, P, (r + 2, j)))
    p3 = fma(minus_u[3], u_j, load(like, P, (r + 3, j)))
    store(fma(p3, z[3], fma(p2, z[2], fma(p1, z[1], fma(p, z[0], load(like, g, j))))), g, j)
    if keep:
        store(p, P, (r, j))
        store(p1, P, (r + 1, j))
        store(p2, P, (r + 2, j))
        store(p3, P, (r + 3, j))
    return p, p1, p2, p3
