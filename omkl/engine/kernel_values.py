"""Kernel values one kernel at a time, where every kernel has stored vectors of its own (budget.py)."""

import numpy as np
from numba import njit

from omkl.engine.arith import exp_neg
from omkl.engine.pool import GAUSSIAN, POLYNOMIAL, plain, plain_cosine


@njit(cache=True)
def value(pool, i, dot, norm2, other_norm2):
    """kappa_i of two vectors from their dot product and squared norms, by its definition."""
    if pool.kind[i] != POLYNOMIAL:
        distance = norm2 + other_norm2 - 2.0 * dot
        return plain(pool.kind[i] == GAUSSIAN, pool.rate[i], distance if distance > 0.0 else 0.0)
    if pool.cosine[0]:
        return plain_cosine(pool.rate[i], pool.coef0[i], pool.degree[i], dot, norm2, other_norm2)
    base = pool.rate[i] * dot + pool.coef0[i]
    power = base
    for _ in range(pool.degree[i] - 1):
        power *= base
    return power


@njit(cache=True)
def fill(kind, rate, coef0, degree, cosine, norm2, row_norm2, dot, rows, out):
    """out[r] = kappa of a stored vector with the block's first rows; polynomials exactly as in value.

    Scalars and rows, not the pool: only so is it inlined, and do the loops below become vector code.
    """
    if kind == GAUSSIAN:
        _gaussians(rate, norm2, row_norm2, dot, rows, out)
    elif kind != POLYNOMIAL:
        _laplacians(rate, norm2, row_norm2, dot, rows, out)
    elif cosine:
        for r in range(rows):
            out[r] = plain_cosine(rate, coef0, degree, dot[r], norm2, row_norm2[r])
    else:
        _polynomials(rate, coef0, degree, dot, rows, out)


@njit(cache=True)
def _gaussians(rate, norm2, row_norm2, dot, rows, out):
    for r in range(rows):
        distance = norm2 + row_norm2[r] - 2.0 * dot[r]
        distance = distance if distance > 0.0 else 0.0
        out[r] = exp_neg(-rate * distance)


@njit(cache=True)
def _laplacians(rate, norm2, row_norm2, dot, rows, out):
    for r in range(rows):
        distance = norm2 + row_norm2[r] - 2.0 * dot[r]
        distance = distance if distance > 0.0 else 0.0
        out[r] = exp_neg(-rate * np.sqrt(distance))


@njit(cache=True)
def _polynomials(scale, coef0, degree, dot, rows, out):
    for r in range(rows):
        base = scale * dot[r] + coef0
        power = base
        for _ in range(degree - 1):
            power *= base
        out[r] = power


@njit(cache=True)
def fill_all(pool, n_sv, holds, norm2, row_norm2, dots, count, tile, K):
    """K[r, s, i] of all rows, slots and kernels; by way of a tile, since K is laid out for sums over i."""
    kind, rate, coef0, degree, cosine = pool.kind, pool.rate, pool.coef0, pool.degree, pool.cosine[0]
    m = n_sv.size
    for s in range(n_sv.max()):
        for i in range(m):
            if s < n_sv[i]:
                e = holds[s, i]
                fill(
                    kind[i],
                    rate[i],
                    coef0[i],
                    degree[i],
                    cosine,
                    norm2[e],
                    row_norm2,
                    dots[e],
                    count,
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
    gaussian, rate = pool.kind[i] == GAUSSIAN, pool.rate[i]
    total = 0.0
    if pool.kind[i] == POLYNOMIAL:
        for s in range(holds.size):
            total += a[s] * value(pool, i, dots[s], norm2[holds[s]], other_norm2)
    else:
        for s in range(holds.size):
            distance = norm2[holds[s]] + other_norm2 - 2.0 * dots[s]
            total += a[s] * plain(gaussian, rate, distance if distance > 0.0 else 0.0)
    return total
