"""Forward and back substitution with a factored Gram matrix, LANES rows at a time.

Throughout: G (slots, slots) holds L D L^T as in gram_matrix.py; x (n,) is solved for in place. Of an element
one product is taken off for each row before it, in their order and each rounded, as in the plain loops.
n mod LANES rows are taken alone first, so that whole vectors are left.
"""

from functools import partial

from omkl.engine.arith import any_of
from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.lanes import LANES, item, load, store, zeros


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
