"""Symmetric matrices under changes of rank one and three (recursive least squares), and their eigenvectors.

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


# ------------------------------------------------------------------ changes of rank three

# change (4, n), of a matrix K: its rows s, g and h, and a factor in the last row's first place. K waits to
# become factor (K + s s' - g h' - h g').


@compiled_without_refcounts
def product_after_change(K, change, z, out, keep):
    """out (n,) <- K z of the K that the change makes, of which the first n rows and columns are used.

    keep: it replaces K, and nothing waits any more; else K and what waits stay as they are. Either way the
    bits are the same.
    """
    n, factor = z.size, change[3, 0]
    whole = n - n % LANES
    out[:] = 0.0
    for r in range(0, whole, LANES):
        if keep:  # one loop for each
            _four_changed(zeros(LANES), K, r, change, z, out, True)
        else:
            _four_changed(zeros(LANES), K, r, change, z, out, False)
    s, g, h = change[0], change[1], change[2]
    for r in range(whole, n):
        row = K[r]
        for j in range(r + 1):
            p = factor * fma(-h[r], g[j], fma(-g[r], h[j], fma(s[r], s[j], row[j])))
            out[j] = fma(p, z[r], out[j])
            if j < r:
                out[r] = fma(p, z[j], out[r])
            if keep:
                row[j] = p
                if j >= whole:  # of a block that becomes whole when there are more vectors
                    K[j, r] = p
    if keep:
        change[:] = 0.0
        change[3, 0] = 1.0


@partial(compiled_without_refcounts, inline="always")
def _four_changed(zero, K, r, change, z, out, keep):
    """``_four_rows`` of a change of rank three."""
    a, a1, a2, a3 = zero, zero, zero, zero
    for j in range(0, r, LANES):
        p, p1, p2, p3 = _changed_columns(zero, K, r, j, change, z, out, keep)
        other = load(zero, z, j)
        a, a1, a2, a3 = fma(p, other, a), fma(p1, other, a1), fma(p2, other, a2), fma(p3, other, a3)
    _changed_columns(zero, K, r, r, change, z, out, keep)
    store(sum_onto(item(out, r), a), out, r)
    store(sum_onto(item(out, r + 1), a1), out, r + 1)
    store(sum_onto(item(out, r + 2), a2), out, r + 2)
    store(sum_onto(item(out, r + 3), a3), out, r + 3)


@compiled_without_refcounts
def _changed_columns(like, K, r, j, change, z, out, keep):
    """``_columns`` of a change of rank three."""
    columns = load(like, change, (0, j)), load(like, change, (1, j)), load(like, change, (2, j))
    p = _changed_row(like, K, r, j, change, columns)
    p1 = _changed_row(like, K, r + 1, j, change, columns)
    p2 = _changed_row(like, K, r + 2, j, change, columns)
    p3 = _changed_row(like, K, r + 3, j, change, columns)
    total = fma(p1, item(z, r + 1), fma(p, item(z, r), load(like, out, j)))
    store(fma(p3, item(z, r + 3), fma(p2, item(z, r + 2), total)), out, j)
    if keep:
        store(p, K, (r, j))
        store(p1, K, (r + 1, j))
        store(p2, K, (r + 2, j))
        store(p3, K, (r + 3, j))
    return p, p1, p2, p3


@partial(compiled_without_refcounts, inline="always")
def _changed_row(like, K, r, j, change, columns):
    s, g, h = columns
    p = fma(item(change, (0, r)), s, load(like, K, (r, j)))
    return item(change, (3, 0)) * fma(-item(change, (2, r)), g, fma(-item(change, (1, r)), h, p))


# ------------------------------------------------------------------ orthonormal vectors and eigenvectors
# By plain loops: OpenBLAS has other code for each kind of processor, and a learner that used it would have
# results of its own on each. A loop here adds in the order in which it is written, everywhere.

_MOST_STEPS = 60  # of QL for one eigenvalue; 2 are usual
_PATIENCE = 20  # after this many, an element that is rounding relative to the largest counts as 0


@compiled
def orthonormal(G):
    """The rows of G (n, d), n <= d, made orthonormal in place and in order, by Gram and Schmidt (twice)."""
    for j in range(len(G)):
        for _ in range(2):
            for i in range(j):
                _add(G[j], -_dot(G[i], G[j]), G[i])
        G[j] /= math.sqrt(_dot(G[j], G[j]))


@compiled
def eigh(K):
    """Eigenvalues (n,) of a symmetric K (n, n), smallest first, and V (n, n), their eigenvectors as rows.

    Householder's reduction to a tridiagonal matrix and implicit QL (Golub, Van Loan, section 8.3).
    """
    n = len(K)
    largest = np.abs(K).max()
    scale = largest if largest > 0.0 else 1.0  # so that squares neither overflow nor all underflow
    A, d, e, V = K / scale, np.zeros(n), np.zeros(n), np.eye(n)
    _tridiagonal(A, d, e, V)
    _ql(d, e, V)
    order = np.argsort(d, kind="mergesort")
    return scale * d[order], V[order]


@compiled
def times(K, a):
    """K a for a symmetric K (n, n) and a (n,)."""
    out = np.zeros(a.size)
    for j in range(a.size):
        _add(out, a[j], K[j])
    return out


@compiled
def _tridiagonal(A, d, e, V):
    """A <- Q^T A Q, with diagonal d and e[k] beside d[k] and d[k + 1]; V (n, n) <- Q^T. A is used up."""
    n = len(A)
    heads = np.zeros(n)
    for k in range(n - 2):
        v = A[k, k + 1 :]  # as A is symmetric, the column below the diagonal
        largest = np.abs(v).max()
        if largest == 0.0:
            continue
        v /= largest
        norm = math.sqrt(_dot(v, v))
        e[k] = -norm * largest if v[0] > 0.0 else norm * largest
        v[0] += norm if v[0] > 0.0 else -norm
        heads[k] = 2.0 / _dot(v, v)
        p = np.zeros(v.size)
        for j in range(v.size):
            _add(p, v[j], A[k + 1 + j, k + 1 :])
        p *= heads[k]
        _add(p, -0.5 * heads[k] * _dot(p, v), v)
        for j in range(v.size):
            g_i = A[k + 1 + j, k + 1 :]
            a, b = v[j], p[j]
            for i in range(v.size):
                g_i[i] -= a * p[i] + b * v[i]
    if n > 1:
        e[n - 2] = A[n - 2, n - 1]
    for k in range(n):
        d[k] = A[k, k]
    for k in range(n - 3, -1, -1):  # Q^T = H_(n-3) .. H_0: from the last one on only a corner of it is not I
        if heads[k] == 0.0:
            continue
        v = A[k, k + 1 :]
        for j in range(k + 1, n):
            g_i = V[j, k + 1 :]
            _add(g_i, -heads[k] * _dot(g_i, v), v)


@compiled
def _ql(d, e, V):
    """Eigenvalues of the tridiagonal matrix into d, its rotations into the rows of V.

    An element e that is rounding relative to its neighbours is 0. In a block of a rank below its size these
    are rounding themselves, and e may never become small relative to them: after a while the measure is the
    largest element of the matrix.
    """
    n = d.size
    rounding = 2e-16 * max(np.abs(d).max(), np.abs(e).max())
    for low in range(n):
        for step in range(_MOST_STEPS + 1):
            high = low
            least = rounding if step >= _PATIENCE else 0.0
            while high < n - 1 and abs(e[high]) > max(2e-16 * (abs(d[high]) + abs(d[high + 1])), least):
                high += 1
            if high == low:
                break
            if step == _MOST_STEPS:
                raise ArithmeticError("the eigenvalues of a Gram matrix do not converge")
            g = (d[low + 1] - d[low]) / (2.0 * e[low])
            r = math.sqrt(g * g + 1.0)
            g = d[high] - d[low] + e[low] / (g + (r if g >= 0.0 else -r))
            s, c, p = 1.0, 1.0, 0.0
            i = high - 1
            while i >= low:
                f, b = s * e[i], c * e[i]
                r = math.sqrt(f * f + g * g)
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= p
                    e[high] = 0.0
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                upper, lower = V[i + 1], V[i]
                for k in range(n):
                    x = upper[k]
                    upper[k] = s * lower[k] + c * x
                    lower[k] = c * lower[k] - s * x
                i -= 1
            if i >= low:
                continue
            d[low] -= p
            e[low] = g
            e[high] = 0.0


@compiled
def _dot(a, b):
    """a . b in four partial sums, as a processor adds fast."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= a.size:
        s0, s1 = s0 + a[j] * b[j], s1 + a[j + 1] * b[j + 1]
        s2, s3 = s2 + a[j + 2] * b[j + 2], s3 + a[j + 3] * b[j + 3]
        j += 4
    while j < a.size:
        s0 += a[j] * b[j]
        j += 1
    return (s0 + s1) + (s2 + s3)


@compiled
def _add(a, c, b):
    """a <- a + c b."""
    for j in range(a.size):
        a[j] += c * b[j]
