"""Features as ranks among what has been seen: normal scores over a window of rows that slides.

Of row t, feature j becomes z = Phi^-1(u), u = (values below it + half of those equal to it + 1/2) / (n + 1),
among its values in the last rows, WINDOW at most and row t not among them; n of them are no gaps. This is the
rank-based inverse normal transformation (van der Waerden 1952). A gap is NaN and becomes 0, the middle rank.

Dense rows: a 0 has its rank, too. Sparse rows: z - z(0), so that what is 0 stays 0.
"""

import math
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts

WINDOW = 300  # rows
CHUNK = 256  # dense rows that are ranked at once


class Recent(NamedTuple):
    """The values other than 0 of the last rows, those of each column linked from the newest on.

    Values are numbered as they come; number e has place e mod C, C a power of 2.
    head (d,)        number of the newest value of each column, -1 where there is none
    previous (C,)    number of the value of the same column before it
    column (C,)      its column
    value (C,)       the value, NaN of a gap
    begin (WINDOW,)  number of the first value of row r, at r mod WINDOW
    counts (3,)      number of the next value, of the next row, and of the first row that is held
    """

    head: np.ndarray
    previous: np.ndarray
    column: np.ndarray
    value: np.ndarray
    begin: np.ndarray
    counts: np.ndarray


@cache
def normal_scores() -> np.ndarray:
    """Return the table whose [n, k] is Phi^-1(1/2 + k / (2 (n + 1))), k at most n, n at most WINDOW."""
    scores, normal = np.zeros((WINDOW + 1, WINDOW + 1)), NormalDist()
    for n in range(WINDOW + 1):
        scores[n, : n + 1] = [normal.inv_cdf(0.5 + k / (2 * (n + 1))) for k in range(n + 1)]
    return scores


@compiled_without_refcounts
def _score(below, up_to, n, scores):
    """Phi^-1 of the rank of x among n values, of which so many are below it, and so many at most x."""
    twice = below + up_to - n
    return scores[n, twice] if twice >= 0 else -scores[n, -twice]


@compiled_without_refcounts
def _rank(values, x, scores):
    """The score of x among values; 0 of a gap. LLVM counts eight at a time where the counts are int64."""
    if math.isnan(x):
        return 0.0
    below, up_to, n = np.int64(0), np.int64(0), np.int64(0)
    for i in range(values.size):
        below += np.int64(values[i] < x)
        up_to += np.int64(values[i] <= x)
        n += np.int64(values[i] <= math.inf)
    return _score(below, up_to, n, scores)


@compiled
def rank_dense_rows(X, going_on, window, seen, scores):
    """X (d, T) <- its scores, T at most CHUNK.

    window (d, WINDOW): the last rows, row r in place r mod WINDOW, of which there were ``seen``
    going_on: whether a row counts as seen for those after it
    """
    kept, T = min(seen, WINDOW), X.shape[1]
    recent = np.empty(WINDOW + CHUNK)
    for j in range(len(X)):
        if T == 1 or not going_on:
            for t in range(T):
                X[j, t] = _rank(window[j, :kept], X[j, t], scores)
            continue
        for i in range(kept):
            recent[i] = window[j, (seen - kept + i) % WINDOW]
        recent[kept : kept + T] = X[j]
        for t in range(T):
            stop = kept + t
            X[j, t] = _rank(recent[max(0, stop - WINDOW) : stop], recent[stop], scores)


@compiled
def columns_of(order, indptr, indices, values, X):
    """X (d, T) <- rows in this order."""
    X[:] = 0.0
    for t in range(order.size):
        for at in range(indptr[order[t]], indptr[order[t] + 1]):
            X[indices[at], t] = values[at]


@compiled
def fill_rows(X, new_indptr, new_indices, new_values, first, used):
    """Append the columns of X (d, T) to a CSR matrix, of which ``first`` rows and ``used`` values are filled.

    Returns how many values are filled then.
    """
    for t in range(X.shape[1]):
        for j in range(len(X)):
            if X[j, t] != 0.0:
                new_indices[used], new_values[used] = j, X[j, t]
                used += 1
        new_indptr[first + t + 1] = used
    return used


@compiled
def see_columns(X, window, seen):
    """Add the rows of X (d, T) to the window, T at most WINDOW."""
    for j in range(len(X)):
        for t in range(X.shape[1]):
            window[j, (seen + t) % WINDOW] = X[j, t]


@compiled
def rank_sparse_rows(
    order, indptr, indices, values, going_on, recent, new_indptr, new_indices, new_values, first, used, scores
):
    """Append sparse rows in this order, as scores less that of 0, to a CSR matrix, as `fill_rows` does."""
    head, previous, _, value, begin, counts = recent
    mask = value.size - 1
    for t in range(order.size):
        n, oldest = counts[1] - counts[2], begin[counts[2] % WINDOW]
        for at in range(indptr[order[t]], indptr[order[t] + 1]):
            j, x = indices[at], values[at]
            if n == 0 or math.isnan(x):
                continue
            below, up_to, negative, gaps, held, e = 0, 0, 0, 0, 0, head[j]
            while e >= oldest:
                other = value[e & mask]
                below += other < x
                up_to += other <= x
                negative += other < 0.0
                gaps += other != other
                held += 1
                e = previous[e & mask]
            zeros = n - held
            lower = zeros if x > 0.0 else 0
            z = _score(below + lower, up_to + lower, n - gaps, scores)
            z -= _score(negative, negative + zeros, n - gaps, scores)
            if z != 0.0:
                new_indices[used], new_values[used] = j, z
                used += 1
        new_indptr[first + t + 1] = used
        if going_on:
            see_row(indices, values, indptr[order[t]], indptr[order[t] + 1], recent)
    return used


@compiled
def see_row(indices, values, start, stop, recent):
    """Add the row of values[start:stop]; without room for it, the first rows are held no longer."""
    head, previous, column, value, begin, counts = recent
    mask, rows = value.size - 1, counts[1]
    if rows - counts[2] == WINDOW:
        counts[2] += 1
    while counts[2] < rows and counts[0] + stop - start - begin[counts[2] % WINDOW] > value.size:
        counts[2] += 1
    begin[rows % WINDOW] = counts[0]
    counts[1] += 1
    if stop - start > value.size:
        counts[2] = counts[1]
        return
    for at in range(start, stop):
        e = counts[0]
        previous[e & mask], column[e & mask], value[e & mask] = head[indices[at]], indices[at], values[at]
        head[indices[at]] = e
        counts[0] += 1


@compiled
def see_sparse_rows(order, indptr, indices, values, recent):
    """Add rows in this order."""
    for t in range(order.size):
        see_row(indices, values, indptr[order[t]], indptr[order[t] + 1], recent)
