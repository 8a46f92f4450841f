"""Kernel values where every kernel has stored vectors of its own (budgeted.py), sums and searches over them.

Kernel values are computed for TILE pairs of one kernel at a time, slots x rows, since a pass over many is
vector code. They are kept for few rows, so that they stay in the second-level cache until they are read.
"""

from typing import Any

import numpy as np

from omkl.engine.called_kernels import called_of_slot, called_values
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernels import (
    CALLED,
    Pool,
    all_vanish,
    form_of,
    of_distance,
    own_values,
    plain_cosine,
    values_of_squares,
)
from omkl.engine.lanes import LANES, absolute, exchanged, load, store, where, zeros

TILE = 256  # values of each kernel that are laid side by side
_WIDE = 2 * LANES  # kernels whose sums are in registers at once
_NEAR = 2**17  # values (a mebibyte) that the rows in K may take: more are as slow as memory


def rows_together(R: int, values: int) -> int:
    """Return of how many rows of a block of R kernel values are kept at once, at this many a row."""
    return min(R, TILE, max(2 * LANES, _NEAR // max(values, 1) // LANES * LANES))


@compiled_without_refcounts
def most(n_sv):
    """How many slots are in use, of any kernel."""
    in_use = 0
    for i in range(n_sv.size):
        in_use = max(in_use, n_sv[i])
    return in_use


@compiled_without_refcounts
def slot_values(form, norm2, row_norm2, dot, rows, squares, out):
    """out[r] = kappa of a stored vector with the block's first rows; polynomials exactly as by definition.

    squares (rows,) scratch. The kernel's constants, not the pool: only so do the loops become vector code.
    """
    largest = 0.0
    for r in range(rows):
        largest = max(largest, row_norm2[r])
        squares[r] = _square(norm2 + row_norm2[r] - 2.0 * dot[r]) if of_distance(form[0]) else dot[r]
    _values(form, 2.0 * (norm2 + largest), squares, rows, out)
    if form[4] and not of_distance(form[0]):
        for r in range(rows):
            out[r] = plain_cosine(form, dot[r], norm2, row_norm2[r])


@compiled_without_refcounts
def _square(distance):
    return distance if distance > 0.0 else 0.0


@compiled_without_refcounts
def _values(form, largest, given, count, out):
    """out[r] = kappa of the squared distance, or of the dot product given[r], none above ``largest``."""
    if of_distance(form[0]):
        if all_vanish(form, largest, given, count):  # most of raw data's narrow kernels
            out[:count] = 0.0
        else:
            values_of_squares(form, largest, given, count, out)
        return
    _, scale, constant, degree, _ = form
    for r in range(count):
        given[r] = scale * given[r] + constant
        out[r] = given[r]
    for _ in range(degree - 1):
        for r in range(count):
            out[r] = out[r] * given[r]


@compiled_without_refcounts
def fill_slots(B, low, rows):
    """B.K[r, s, i] = kappa_i of slot s with the block's row low + r, r < rows; 0 in slots not in use.

    rows: a multiple of LANES    B.tile (m + 1, TILE) scratch: a part of the slots, to be transposed
    """
    pool, n_sv, holds, norm2, row_norm2 = B.pool, B.n_sv, B.holds, B.norm2, B.open.row_norm2
    dots, tile, K = B.dots, B.tile, B.K
    m, in_use = n_sv.size, most(n_sv)
    given = tile[m]
    together, largest_row = given.size // rows, 0.0
    for r in range(low, low + rows):
        largest_row = max(largest_row, row_norm2[r])
    first = 0
    while first < in_use:
        for i in range(m):
            form = form_of(pool, i)
            stop, at, largest = min(first + together, n_sv[i]), 0, 0.0
            for s in range(first, stop):
                e = holds[s, i]
                largest = max(largest, norm2[e])
                if form[0] == CALLED:
                    called_of_slot(B, i, e, low, rows, tile[i, at:])
                    at += rows
                    continue
                for r in range(low, low + rows, LANES):
                    dot = load(zeros(LANES), dots, (e, r))
                    if of_distance(form[0]):
                        square = (norm2[e] + load(dot, row_norm2, r)) - 2.0 * dot
                        dot = where(square > 0.0, square, 0.0)
                    store(dot, given, at)
                    at += LANES
            if form[0] != CALLED:
                _values(form, 2.0 * (largest + largest_row), given, at, tile[i])
            if form[4] and form[0] != CALLED and not of_distance(form[0]):
                for q in range(at):
                    e, r = holds[first + q // rows, i], low + q % rows
                    tile[i, q] = plain_cosine(form, dots[e, r], norm2[e], row_norm2[r])
            for q in range(at, together * rows):
                tile[i, q] = 0.0
        for s in range(first, min(first + together, in_use)):
            _transpose(tile, (s - first) * rows, rows, s, m, K)
        first += together


@compiled_without_refcounts
def _transpose(tile, at, rows, s, m, K):
    """K[r, s, i] = tile[i, at + r], r < rows."""
    if m < LANES:
        for i in range(m):
            for r in range(rows):
                K[r, s, i] = tile[i, at + r]
        return
    for i in range(0, m, LANES):
        for r in range(0, rows, LANES):
            _transpose_square(zeros(LANES), tile, min(i, m - LANES), at + r, K, r, s)  # the last may overlap


@compiled_without_refcounts
def sum_slots(A, K, r, n, f, g):
    """f[i] = sum_s A[s, i] K[r, s, i], s < n, left to right; g[i] the same of the absolute values."""
    m = f.size
    if m < LANES:
        for i in range(m):
            total, size = 0.0, 0.0
            for s in range(n):
                term = A[s, i] * K[r, s, i]
                total += term
                size += abs(term)
            f[i], g[i] = total, size
        return
    i = 0
    while i < m:
        if i + _WIDE <= m:
            _sums(zeros(_WIDE), A, K, r, n, i, f, g)
            i += _WIDE
        else:
            _sums(zeros(LANES), A, K, r, n, min(i, m - LANES), f, g)  # the last may overlap
            i += LANES


@compiled_without_refcounts
def _transpose_square(like, tile, i, at, K, r, s):
    """K[r + q, s, i + k] = tile[i + k, at + q] for k, q < LANES, in registers."""
    a, b = load(like, tile, (i, at)), load(like, tile, (i + 1, at))
    c, d = load(like, tile, (i + 2, at)), load(like, tile, (i + 3, at))
    e, f = load(like, tile, (i + 4, at)), load(like, tile, (i + 5, at))
    g, h = load(like, tile, (i + 6, at)), load(like, tile, (i + 7, at))
    a, e = exchanged(a, e, 4)
    b, f = exchanged(b, f, 4)
    c, g = exchanged(c, g, 4)
    d, h = exchanged(d, h, 4)
    a, c = exchanged(a, c, 2)
    b, d = exchanged(b, d, 2)
    e, g = exchanged(e, g, 2)
    f, h = exchanged(f, h, 2)
    a, b = exchanged(a, b, 1)
    c, d = exchanged(c, d, 1)
    e, f = exchanged(e, f, 1)
    g, h = exchanged(g, h, 1)
    store(a, K, (r, s, i))
    store(b, K, (r + 1, s, i))
    store(c, K, (r + 2, s, i))
    store(d, K, (r + 3, s, i))
    store(e, K, (r + 4, s, i))
    store(f, K, (r + 5, s, i))
    store(g, K, (r + 6, s, i))
    store(h, K, (r + 7, s, i))


@compiled_without_refcounts
def _sums(zero, A, K, r, n, i, f, g):
    """`sum_slots` of some kernels from i on.

    Left to LLVM's loop vectoriser, f and g are loaded and stored for every slot. Here they stay in registers.
    """
    total, size = zero, zero
    for s in range(n):
        term = load(zero, A, (s, i)) * load(zero, K, (r, s, i))
        total += term
        size += absolute(term)
    store(total, f, i)
    store(size, g, i)


# ------------------------------------------------------------------ search among the slots


@compiled_without_refcounts
def least_slots(cost, born, first, stop, r, least, oldest):
    """Go on with slots first to stop - 1 of every kernel in a search for the slot of the least cost.

    cost (stop - first, m) of these slots, never the least where it is NaN
    born (S, m) ages of all slots: of several the one with the least age is the oldest, and goes first
    r, least, oldest (m,) the best slots so far, their costs and ages
    """
    m = r.size
    if m < LANES:
        for s in range(first, stop):
            for i in range(m):
                c = cost[s - first, i]
                if c < least[i] or (c == least[i] and born[s, i] < oldest[i]):
                    r[i], least[i], oldest[i] = s, c, born[s, i]
        return
    i = 0
    while i < m:
        if i + _WIDE <= m:
            _search(zeros(_WIDE), cost, born, first, stop, i, r, least, oldest)
            i += _WIDE
        else:
            _search(
                zeros(LANES), cost, born, first, stop, min(i, m - LANES), r, least, oldest
            )  # the last may overlap
            i += LANES


@compiled_without_refcounts
def _search(like, cost, born, first, stop, i, r, least, oldest):
    """`least_slots` of some kernels from i on: the best stay in registers."""
    best, slot, age = load(like, least, i), load(like, r, i), load(like, oldest, i)
    for s in range(first, stop):
        c, b = load(like, cost, (s - first, i)), load(like, born, (s, i))
        better = (c < best) | ((c == best) & (b < age))
        best, slot, age = where(better, c, best), where(better, s, slot), where(better, b, age)
    store(best, least, i)
    store(slot, r, i)
    store(age, oldest, i)


# ------------------------------------------------------------------ of rows of a data set, without a learner


def kernel_matrix(pool: Pool, i: int, X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return kappa_i (r, c) of these rows of a scipy CSR matrix with those others, as the engine computes it.

    Kernels of row numbers take those of X.
    """
    norm2 = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    dots = np.ascontiguousarray((X[rows] @ X[columns].T).toarray(), np.float64)
    K = np.empty_like(dots)
    _fill(pool, i, (*_csr(X[rows]), rows, norm2[rows]), (*_csr(X[columns]), columns, norm2[columns]), dots, K)
    return K


def self_values(pool: Pool, X: Any) -> np.ndarray:
    """Return kappa_i(x, x) (m, T) of all rows of a scipy CSR matrix."""
    norm2 = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    values = np.array([own_values(pool, n) for n in norm2]).reshape(len(norm2), pool.kind.size).T
    for i in np.flatnonzero(pool.kind == CALLED):
        for t in range(X.shape[0]):
            one = np.array([t])
            values[i, t] = kernel_matrix(pool, int(i), X, one, one)[0, 0]
    return values


def _csr(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float64)


@compiled
def _fill(pool, i, left, right, dots, K):
    """K (r, c) of the rows of two matrices, each indptr, indices, values, row numbers and squared norms."""
    starts, indices, values, rows, norm2 = left
    others, columns, theirs, numbers, norms = right
    form, squares = form_of(pool, i), np.empty(norms.size)
    for r in range(rows.size):
        if pool.kind[i] == CALLED:
            nonzeros = (indices[starts[r] : starts[r + 1]], values[starts[r] : starts[r + 1]])
            vector = (dots[r], norm2[r], norms, rows[r], *nonzeros)
            called_values(pool, i, (*vector, numbers, others, columns, theirs, K[r]))
        else:
            slot_values(form, norm2[r], norms, dots[r], norms.size, squares, K[r])
