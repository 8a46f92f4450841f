"""Dot products of a tile of stored vectors with examples laid side by side: the one place they are made."""

from functools import partial

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.lanes import LANES, LARGE, item, load, store, zeros
from omkl.engine.open_block import in_lists, listed_products

_LEAST_DENSE = 48  # columns; with fewer, laying vectors side by side costs what it gains
_ROWS, _DENSE_ROWS = (64, 8) if LARGE else (32, 4)  # lanes whose sums stay in registers


@compiled
def dot_products(E, rows, low, high, first, count, dots):
    """dots[j, r - low] = x_{first+j} . rows[:, r], low <= r < high: a left-to-right sum over non-zeros.

    E                         the Expansion: its stored vectors, and where its open block lays each column
    rows (S+1, R)             examples side by side, feature-major; a column's values are in the row that the
                              open block's `slot` names, and row 0 holds the 0 of absent columns. The open
                              block itself where it is in lists, which are read instead
    low, high                 multiples of LANES
    """
    indptr, indices, values, slot = E.indptr, E.indices, E.values, E.open.slot
    j = 0
    while j < count and in_lists(E.open):
        listed_products(E.open, indptr, indices, values, low, high, first + j, dots, j, 0)
        j += 1
    while j + LANES <= count and _dense(indptr, first + j, slot.size):
        _dense_products(indptr, indices, values, slot, rows, low, high, first + j, dots, j)
        j += LANES
    while j < count:
        products(indptr, indices, values, slot, rows, low, high, first + j, dots, j, 0)
        j += 1


@compiled
def product_with(E, j, x):
    """x_j . x of the Expansion's stored vector j with a lane x (S+1,) of the open block."""
    dot = 0.0
    for k in range(E.indptr[j], E.indptr[j + 1]):
        dot += E.values[k] * x[E.open.slot[E.indices[k]]]
    return dot


@compiled
def used_products(B, high):
    """dots[e, r] = x_e . rows[:, r], r < high, of a Budget's stored vectors that a slot holds."""
    for e in range(B.users.size):
        if B.users[e] > 0:
            block_products(B, 0, high, e, 0)


@compiled
def block_products(B, low, high, e, place):
    """dots[e, place + r - low] = x_e . row r of the open block, low <= r < high, both multiples of LANES."""
    block, ends, indices, values = B.open, B.ends, B.indices, B.values
    if in_lists(block):
        listed_products(block, ends, indices, values, low, high, 2 * e, B.dots, e, place)
    else:
        products(ends, indices, values, block.slot, block.rows, low, high, 2 * e, B.dots, e, place)


@partial(compiled, inline="always")
def products(indptr, indices, values, slot, rows, low, high, first, dots, j, place):
    """dots[j, place + r - low] = x_first . rows[:, r], low <= r < high: `dot_products` of one vector."""
    start, stop, r = indptr[first], indptr[first + 1], low
    while r + _ROWS <= high:
        _lane_sums(zeros(_ROWS), indices, values, start, stop, slot, rows, r, dots, j, place + r - low)
        r += _ROWS
    while r + 32 <= high:
        _lane_sums(zeros(32), indices, values, start, stop, slot, rows, r, dots, j, place + r - low)
        r += 32
    while r < high:
        _lane_sums(zeros(LANES), indices, values, start, stop, slot, rows, r, dots, j, place + r - low)
        r += LANES


@partial(compiled, inline="always")
def _lane_sums(total, indices, values, start, stop, slot, rows, r, dots, j, place):
    """dots[j, place + q] = total_q + sum_k values[k] rows[slot[indices[k]], r + q], k from start on."""
    for k in range(start, stop):
        total += item(values, k) * load(total, rows, (item(slot, item(indices, k)), r))
    store(total, dots, (j, place))


@compiled
def _dense(indptr, first, d):
    """Whether LANES vectors from `first` on are dense enough to be laid side by side: two thirds, d large."""
    return d >= _LEAST_DENSE and 3 * (indptr[first + LANES] - indptr[first]) >= 2 * LANES * d


@compiled
def _dense_products(indptr, indices, values, slot, rows, low, high, first, dots, j):
    """`dot_products` of the LANES vectors from `first` on."""
    panel = np.zeros((slot.size, LANES))
    for v in range(LANES):
        for k in range(indptr[first + v], indptr[first + v + 1]):
            panel[indices[k], v] = values[k]
    for r in range(low, high, _DENSE_ROWS):
        _dense_sums(zeros(_DENSE_ROWS), panel, slot, rows, r, dots, j, r - low)


@compiled_without_refcounts
def _dense_sums(zero, panel, slot, rows, r, dots, j, place):
    """dots[j + v, place + q] = sum_k panel[k, v] rows[slot[k], r + q] over all columns k, v < LANES.

    A column's rows are loaded once for several vectors: twice as fast as `_lane_sums` on dense rows, and as
    fast as a dgemm on some processors. Each sum is the same as there to the last bit: it only adds exact
    zeros where a vector lacks a column.
    """
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    for k in range(slot.size):
        lanes = load(zero, rows, (item(slot, k), r))
        a += item(panel, (k, 0)) * lanes
        b += item(panel, (k, 1)) * lanes
        c += item(panel, (k, 2)) * lanes
        d += item(panel, (k, 3)) * lanes
        e += item(panel, (k, 4)) * lanes
        f += item(panel, (k, 5)) * lanes
        g += item(panel, (k, 6)) * lanes
        h += item(panel, (k, 7)) * lanes
    store(a, dots, (j, place))
    store(b, dots, (j + 1, place))
    store(c, dots, (j + 2, place))
    store(d, dots, (j + 3, place))
    store(e, dots, (j + 4, place))
    store(f, dots, (j + 5, place))
    store(g, dots, (j + 6, place))
    store(h, dots, (j + 7, place))
