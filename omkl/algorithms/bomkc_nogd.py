"""Budget online multiple kernel learning: Nyström gradient descent.

A component of online multiple kernel classification, as bomkc_rbp.py says, whose letters are used here.
"""

import math

import numpy as np

from omkl.engine.api import compiled, discount, hinge, mistakes, nystroem, times
from omkl.engine.methods import Budget, Stream, Trace

NEGLIGIBLE = 1e-25  # coefficients of NOGD's maps that could not change one of ordinary size


@compiled
def bomkc_nogd(stream: Stream, B: Budget, w, M, N, r, trace: Trace, learn, gamma, eta, rank):
    """Nystroem online gradient descent on the hinge loss: Algorithm 3 of Lu, Hoi, Wang, Zhao, Liu, "Large
    scale online kernel learning" (2016). Kernel gradient descent until the budget is full, then a linear one
    on z(x).

    z = M_i k (r_i,) Nystroem features of x, k its kernel values with the stored vectors
    M (m, slots, slots) the maps D^-1/2 V^T of the r (m,) largest eigenvalues of the Gram matrices, N their
    transposes   rank how many eigenvalues, as a share of the budget   eta step size
    a the coefficients of f_i, a = M_i^T v for the linear weights v (w in the paper, here Hedge's weights)
    Deviations: v is held as a, the same function v . z(x) = a . k(x) at a cost of one sum over the budget. A
    map keeps also what ties with its last eigenvalue, and nothing below 1e-8 of the largest. From then on an
    output of at most 1e-10 of its terms, of its largest coefficient or of eta is 0: it is rounding.
    The Gram matrix of a narrow Gaussian is close to the identity. Its eigenvalues then hardly differ, and
    which eigenvectors belong to the largest says nothing about the data; of an identity the map keeps all.
    """
    slots = B.budget()
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t), _sizes(B, r, eta))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        k = B.kernel_values(t)
        for i in range(f.size):
            if hinge(y, f[i]) == 0.0:
                continue
            if not B.has_room(i):
                B.move(i, eta * y, _mapped(M[i], N[i], r[i], k[:slots, i].copy()))
                continue
            B.add(stream, t, i, B.used(i), eta * y)
            if not B.has_room(i):
                K, a = B.gram(i), B.columns(i).copy()
                projection = nystroem(K, max(1, math.floor(rank * slots + 0.5)))
                r[i] = len(projection)
                M[i, : r[i]], N[i, :, : r[i]] = projection, projection.T
                B.forget(i)
                for c in range(a.shape[1]):  # v = D^1/2 V^T a = M K a
                    B.move_column(i, c, 1.0, _mapped(M[i], N[i], r[i], times(K, a[:, c].copy())))


@compiled
def _sizes(B, r, eta):
    """g (m, C): what outputs are known relative to, once coefficients are solutions, which may all cancel."""
    g = np.zeros_like(B.term_sums())
    for i in range(r.size):
        if r[i] > 0:
            g[i] = np.maximum(max(eta, np.abs(B.columns(i)).max()), B.term_sums()[i])
    return g


@compiled
def _mapped(M, N, r, k):
    """M^T z, z = M k, of M's first r rows, where N is the transpose of M: both products run along rows.

    What could not change a coefficient of ordinary size is passed over: subnormal numbers are slow.
    """
    z, d = np.zeros(min(r, len(M))), np.zeros(k.size)  # r may come from a file
    _add_rows(N, k, z)
    _add_rows(M, z, d)
    return d


@compiled
def _add_rows(rows, c, total):
    """total += sum_s c_s rows[s], left to right, four rows a pass; not those with a negligible c_s."""
    used, count, n = np.empty(c.size, np.int64), 0, total.size
    for s in range(c.size):
        used[count] = s
        count += abs(c[s]) > NEGLIGIBLE
    q = 0
    while q + 4 <= count:
        s0, s1, s2, s3 = used[q], used[q + 1], used[q + 2], used[q + 3]
        c0, c1, c2, c3 = c[s0], c[s1], c[s2], c[s3]
        u, v, w, x = rows[s0, :n], rows[s1, :n], rows[s2, :n], rows[s3, :n]
        for j in range(n):
            total[j] = (((total[j] + c0 * u[j]) + c1 * v[j]) + c2 * w[j]) + c3 * x[j]
        q += 4
    while q < count:
        c0, u = c[used[q]], rows[used[q], :n]
        for j in range(n):
            total[j] += c0 * u[j]
        q += 1
