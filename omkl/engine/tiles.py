"""Dot products of a tile of stored vectors with examples laid side by side: the one place they are made."""

from numba import njit

LANES = 8  # rows are padded to a multiple of this, so that vector loops leave no remainder


@njit(cache=True)
def dot_products(indptr, indices, values, slot, rows, low, high, first, count, dots):
    """dots[j, r - low] = x_{first+j} . rows[:, r], low <= r < high: a left-to-right sum over non-zeros.

    indptr, indices, values   the stored vectors, sparse
    rows (S+1, R)             examples side by side, feature-major; a column's values are in row slot[column],
                              and row 0 holds the 0 of absent columns
    Plain arrays, not the Expansion: handing over its thirty arrays would cost as much as the work.
    """
    R = high - low
    for j in range(count):
        dot = dots[j]
        for r in range(R):
            dot[r] = 0.0
        k, stop = indptr[first + j], indptr[first + j + 1]
        while k + 4 <= stop:
            v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            x0, x1 = rows[slot[indices[k]], low:high], rows[slot[indices[k + 1]], low:high]
            x2, x3 = rows[slot[indices[k + 2]], low:high], rows[slot[indices[k + 3]], low:high]
            for r in range(R):
                dot[r] = dot[r] + v0 * x0[r] + v1 * x1[r] + v2 * x2[r] + v3 * x3[r]
            k += 4
        while k < stop:
            v0, x0 = values[k], rows[slot[indices[k]], low:high]
            for r in range(R):
                dot[r] += v0 * x0[r]
            k += 1
