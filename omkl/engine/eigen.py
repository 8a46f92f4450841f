"""Orthonormal vectors and eigenvectors of a symmetric matrix, and its products, by plain loops.

OpenBLAS has other code for each kind of processor, and a learner that used it would have results of its own
on each. A loop here adds in the order in which it is written, everywhere.
"""

import math

import numpy as np

from omkl.engine.jit import compiled

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
