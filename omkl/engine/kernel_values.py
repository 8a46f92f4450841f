"""Kernel values one kernel at a time, where every kernel has stored vectors of its own (budgeted.py)."""

import numpy as np
from numba import njit

from omkl.engine.kernels import of_distance, plain_cosine, polynomial, row_values, value


@njit(cache=True)
def pool_value(pool, i, dot, norm2, other_norm2):
    """kappa_i of two vectors from their dot product and squared norms, by its definition."""
    cosine = pool.cosine[0]
    return value(pool.kind[i], pool.rate[i], pool.shape[i], pool.degree[i], cosine, dot, norm2, other_norm2)


@njit(cache=True)
def fill(kind, rate, shape, degree, cosine, norm2, row_norm2, dot, rows, squares, out):
    """out[r] = kappa of a stored vector with the block's first rows; polynomials exactly as by definition.

    squares (rows,) scratch. Scalars and rows, not the pool: only so is it inlined, and do the loops become
    vector code.
    """
    if of_distance(kind):
        for r in range(rows):
            distance = norm2 + row_norm2[r] - 2.0 * dot[r]
            squares[r] = distance if distance > 0.0 else 0.0
        row_values(kind, rate, shape, np.inf, squares, rows, out)
    elif cosine:
        for r in range(rows):
            out[r] = plain_cosine(rate, shape, degree, dot[r], norm2, row_norm2[r])
    else:
        for r in range(rows):
            out[r] = polynomial(rate, shape, degree, dot[r])


@njit(cache=True)
def fill_all(pool, n_sv, holds, norm2, row_norm2, dots, count, tile, K):
    """K[r, s, i] of all rows, slots and kernels, by way of a tile (m + 1, R): K is made for sums over i."""
    kind, rate, shape, degree, cosine = pool.kind, pool.rate, pool.shape, pool.degree, pool.cosine[0]
    m = n_sv.size
    for s in range(n_sv.max()):
        for i in range(m):
            if s < n_sv[i]:
                e = holds[s, i]
                fill(
                    kind[i],
                    rate[i],
                    shape[i],
                    degree[i],
                    cosine,
                    norm2[e],
                    row_norm2,
                    dots[e],
                    count,
                    tile[m],
                    tile[i],
                )
            else:
                tile[i] = 0.0
        for r in range(count):
            k = K[r, s]
            for i in range(m):
                k[i] = tile[i, r]


@njit(cache=True)
def dots_with(ends, indices, values, holds, there, dense, dots):
    """Dot products of the stored example `there` with those in holds (n,)."""
    for k in range(ends[2 * there], ends[2 * there + 1]):
        dense[indices[k]] = values[k]
    for s in range(holds.size):
        start, stop = ends[2 * holds[s]], ends[2 * holds[s] + 1]
        columns, x = indices[start:stop], values[start:stop]
        dot = 0.0
        for k in range(columns.size):
            dot += dense[np.uint64(columns[k])] * x[k]  # unsigned: no test for indices from the end
        dots[s] = dot
    for k in range(ends[2 * there], ends[2 * there + 1]):
        dense[indices[k]] = 0.0


@njit(cache=True)
def plain_sum(pool, i, a, holds, norm2, other_norm2, dots):
    """sum_s a_s kappa_i of the vectors with these dot products, left to right, by the C library's exp."""
    total = 0.0
    for s in range(holds.size):
        total += a[s] * pool_value(pool, i, dots[s], norm2[holds[s]], other_norm2)
    return total
