"""Gram matrices of stored vectors: factored as they grow, for projections on the vectors' span.

Throughout: n stored vectors of one kernel; k (n,) its values with an example x, kxx = kappa(x, x); G (slots,
slots) holds L D L^T = K, the factors of their Gram matrix: D on the diagonal, L (of unit diagonal) below it
and its transpose above, so that both substitutions run along rows.
"""

from functools import partial

import numpy as np

from omkl.engine.budgeted import Budget
from omkl.engine.by_address import call
from omkl.engine.classes import rounded_margins
from omkl.engine.conventions import within_range
from omkl.engine.eigen import eigh
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernels import CALLED, pool_value
from omkl.engine.lanes import LANES, any_of, item, load, store, zeros
from omkl.engine.records import method

LEAST_RESIDUAL = 1e-8  # share of ||kappa(x, .)||^2 outside the span above which x is outside
LEAST_SUM = 1e-10  # share of its terms below which a sum is rounding: coefficients are solutions
LEAST_EIGENVALUE = 1e-8  # share of the largest below which an eigenvector is noise
LEAST_PIVOT = 1e-15  # share of a diagonal element below which what is left of it is rounding
SAME_EIGENVALUE = 1e-6  # relative difference of eigenvalues that belong together


@method(Budget)
@compiled
def rounded(B, f, g=None):
    """Outputs f (m,), 0 where they are rounding relative to g (m, C), by default their terms' absolute sums.

    Coefficients that were projected cancel up to rounding only, and rounding must not decide a mistake. With
    more than two classes: nor which score is the largest.
    """
    if g is None:
        _round(B, f, B.g)
    if g is not None:
        _round(B, f, g)
    return f


@compiled
def _round(B, f, g):
    if B.classes is not None:
        rounded_margins(B.classes, g, LEAST_SUM, f)
        return
    for i in range(f.size):
        if abs(f[i]) <= LEAST_SUM * g[i, 0]:
            f[i] = 0.0


@compiled
def distance(G, k, kxx, kss):
    """How far x is from the span: u (n,), norm2, residual.

    u = D^-1 L^-1 k, for ``projection`` and ``grow``    norm2 = k^T K^-1 k, the squared norm of x's projection
    residual its squared distance from x    kss (n,): kappa(x_s, x_s)
    A residual of no more than rounding is 0. A vector stored already is its own projection.
    """
    u = k.copy()
    if _place(k, kxx, kss) >= 0:
        return u, kxx, 0.0
    norm2 = eliminate(G, u)
    residual = kxx - norm2
    return u, norm2, residual if residual > LEAST_RESIDUAL * kxx else 0.0


@compiled
def projection(G, k, kxx, kss, u):
    """d (n,) = K^-1 k, the coefficients of x's projection on the span, from u of ``distance``.

    A coefficient of no more than rounding is 0.
    """
    d, place = u.copy(), _place(k, kxx, kss)
    if place >= 0:
        d[:] = 0.0
        d[place] = 1.0
        return d
    substitute(G, d)
    largest = 0.0
    for s in range(d.size):
        largest = max(largest, abs(d[s]) * np.sqrt(kss[s]))
    for s in range(d.size):
        if abs(d[s]) * np.sqrt(kss[s]) <= LEAST_SUM * largest:
            d[s] = 0.0
    return d


@compiled
def _place(k, kxx, kss):
    """The first slot that holds x, -1 where none does."""
    for s in range(k.size):
        if k[s] == kxx and kss[s] == kxx:
            return s
    return -1


@compiled
def grow(G, u, residual):
    """Take x among the stored vectors, by what ``distance`` returned of it."""
    n = u.size
    G[n, :n] = u
    G[:n, n] = u
    G[n, n] = residual


@method(Budget)
@compiled
def move(B, i, c, d):
    """f_i <- f_i + c sum_s d_s kappa_i(x_s, .), for two classes, or the round's class less its rival.

    A coefficient that cancels up to rounding is 0.
    """
    for k in range(B.A.shape[2]):
        sign = B.direction(i, k, 1.0)
        if sign != 0.0:
            B.move_column(i, k, sign * c, d)


@method(Budget)
@compiled
def move_column(B, i, k, c, d):
    """`move` of the coefficients in column k."""
    a = B.columns(i)[:, k]
    for s in range(d.size):
        new = a[s] + c * d[s]
        a[s] = within_range(new) if abs(new) > LEAST_SUM * abs(a[s]) else 0.0


@method(Budget)
@compiled
def gram(B, i):
    """K (n, n) of kernel i's stored vectors."""
    n = B.n_sv[i]
    K = np.empty((n, n))
    for q in range(n):
        K[q] = B.gram_row(i, q)
    return K


@method(Budget)
@compiled
def gram_row(B, i, q):
    """(n,): the values of kernel i's vector in slot q with all of its stored vectors."""
    n, dense = B.n_sv[i], B.dense
    row = np.empty(n)
    if B.pool.kind[i] == CALLED:
        call(B.pointers.gram_row, (B, i, q, row))
        return row
    there = B.holds[q, i]
    start, stop = B.ends[2 * there], B.ends[2 * there + 1]
    dense[B.indices[start:stop]] = B.values[start:stop]
    for s in range(n):
        e, dot = B.holds[s, i], 0.0
        for k in range(B.ends[2 * e], B.ends[2 * e + 1]):
            dot += dense[B.indices[k]] * B.values[k]
        row[s] = pool_value(B.pool, i, dot, B.norm2[e], B.norm2[there])
    dense[B.indices[start:stop]] = 0.0
    return row


@compiled
def factored(K):
    """L D L^T = K (n, n), symmetric and positive definite, as ``projection`` takes it: G (n, n).

    A pivot that is rounding gets an infinite D: the vector is in the span of those before it and gets the
    coefficient 0.
    """
    n = len(K)
    G = np.zeros((n, n))
    for q in range(n):
        u = K[q, :q].copy()
        size = K[q, q] - eliminate(G, u)
        G[q, :q] = u
        G[:q, q] = u
        G[q, q] = size if size > LEAST_PIVOT * K[q, q] else np.inf
    return G


@compiled
def solution(G, b):
    """K^-1 b (n,) for the factored K."""
    x = b.copy()
    eliminate(G, x)
    substitute(G, x)
    return x


@compiled
def nystroem(K, rank):
    """M (r, n): the feature map z(x) = M k(x), M = D^-1/2 V^T of the largest eigenvalues D, eigenvectors V.

    r is `rank`; more where eigenvalues equal the last one up to rounding, since no rank of these is better
    than another, and fewer where eigenvalues are rounding.
    """
    values, V = eigh(K)
    n = values.size
    least = max(values[n - rank] * (1.0 - SAME_EIGENVALUE), values[n - 1] * LEAST_EIGENVALUE)
    first = 0
    while values[first] < least:
        first += 1
    M = np.empty((n - first, n))
    for j in range(first, n):
        M[j - first] = V[j] / np.sqrt(values[j])
    return M


# ------------------------------------------------------------------ substitution, LANES rows at a time
# x (n,) is solved for in place. Of an element one product is taken off for each row before it, in their order
# and each rounded, as in the plain loops.
# n mod LANES rows are taken alone first, so that whole vectors are left.


@compiled_without_refcounts
def eliminate(G, x):
    """x <- D^-1 L^-1 x; returns x^T K^-1 x of the x given."""
    n, norm2 = x.size, 0.0
    alone = n % LANES
    for s in range(alone):
        if x[s] != 0.0:
            for j in range(s + 1, alone):
                x[j] -= x[s] * G[s, j]
            _take_row_off(G, x, s, alone, n)
            norm2 += _divide(G, x, s)
    for s in range(alone, n, LANES):
        if any_of(x[s : s + LANES]):  # a narrow kernel is 0 at most stored vectors
            _take_rows_off(G, x, s, 1, s + LANES, n)
            for q in range(s, s + LANES):
                norm2 += _divide(G, x, q)
    return norm2


@compiled_without_refcounts
def _divide(G, x, s):
    z = x[s]
    x[s] = z / G[s, s]
    return z * x[s]


@compiled_without_refcounts
def substitute(G, x):
    """x <- L^-T x."""
    n = x.size
    whole = n - n % LANES
    for s in range(n - 1, whole - 1, -1):
        if x[s] != 0.0:
            for j in range(whole, s):
                x[j] -= x[s] * G[s, j]
            _take_row_off(G, x, s, 0, whole)
    for s in range(whole - LANES, -1, -LANES):
        if any_of(x[s : s + LANES]):
            _take_rows_off(G, x, s + LANES - 1, -1, 0, s)


# Left to LLVM's loop vectoriser, most of a hundred numbers fall to its scalar remainder loops.


@partial(compiled_without_refcounts, inline="always")
def _take_row_off(G, x, row, start, stop):
    """Take a row that is solved for off x[start:stop], whole vectors."""
    z = x[row]
    for j in range(start, stop, LANES):
        left = load(zeros(LANES), x, j)
        store(left - z * load(left, G, (row, j)), x, j)


@partial(compiled_without_refcounts, inline="always")
def _take_rows_off(G, x, first, step, start, stop):
    """Solve x for LANES rows, the next one ``step`` after the one before, and take them off x[start:stop]."""
    for r in range(LANES - 1):
        row = first + step * r
        z = item(x, row)
        for q in range(row + step, first + step * LANES, step):
            store(item(x, q) - z * item(G, (row, q)), x, q)
    for j in range(start, stop, LANES):
        left = load(zeros(LANES), x, j)
        for row in range(first, first + step * LANES, step):
            left -= item(x, row) * load(left, G, (row, j))
        store(left, x, j)
