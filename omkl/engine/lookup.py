"""Kernel values looked up instead of computed, on data of whole numbers: few distances are possible there.

Between rows of 0 and 1 the squared distance is a whole number, on a9a at most 28. So all values of a pool are
in a table, a line for each distance, which is computed once by the functions that compute them elsewhere: a
value has the same bits. A pair of vectors then costs a look-up for LANES kernels. The sums have the same bits
as those of kernel_sums.py: each output is one left-to-right sum over the stored vectors, fused for
functions of a distance, and rounded twice for polynomials.
"""

import math
from collections import namedtuple
from functools import partial

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernel_sums import raise_values
from omkl.engine.kernels import Pool, form_of, of_distance, plain, values_of_squares
from omkl.engine.lanes import (
    LANES,
    LARGE,
    absolute,
    any_of,
    count_ones,
    fma,
    item,
    largest_of,
    load,
    store,
    zeros,
)
from omkl.engine.open_block import dot_products, in_lists, lane_of, n_rows, product_with, whole_lanes
from omkl.engine.records import Record
from omkl.engine.stream import row

LIMIT = 1024  # the largest squared distance that has a line: 16 kernels then take 192 KiB
WORTH = 256  # stored vectors from which on a table pays for itself
WIDE = 2 * LANES if LARGE else LANES  # kernels whose values of a distance are added at once
WORD = 64  # columns that are counted at once
MOST_WORDS = 8  # with more, dot products are not counted
NO, WHOLE, BINARY = range(3)  # what all values of some vectors are


class Tables(Record, namedtuple("Tables", "kernel lane distances plain products lines stored worth block")):
    """Looked-up kernel values, by lanes.

    kernel (L,)          the kernel of each lane, -1 where it has none; in the pool's order, so that the
                         kernels of a copy stay together, of which most copies have not stored an old vector
    lane (m,)            the lane of each kernel
    distances (LIMIT + 1, D)  by squared distance: the kernels of the first D lanes
    plain (LIMIT + 1, D) their values by definition: ties.py
    products (LIMIT + 1, L - D)  by dot product: polynomials, in the others
    lines (1,)           how many lines are computed
    stored (3,)          stored vectors looked at, what all their values are, their largest squared norm
    worth (1,)           how many stored vectors there must be; WORTH, but for tests
    block (1,)           what the values of the open block and of the stored vectors are; NO: use no table
    """


def make_tables(pool: Pool) -> Tables:
    """Return tables of a pool's values, still empty."""
    near = [i for i, kind in enumerate(pool.kind) if of_distance.py_func(kind)]
    others = [i for i, kind in enumerate(pool.kind) if not of_distance.py_func(kind)]
    D, P = -(-len(near) // WIDE) * WIDE, -(-len(others) // LANES) * LANES
    kernel = np.full(D + P, -1)
    kernel[: len(near)], kernel[D : D + len(others)] = near, others
    lane = np.zeros(len(pool.kind), np.int64)
    lane[kernel[kernel >= 0]] = np.flatnonzero(kernel >= 0)
    tables = Tables(
        kernel,
        lane,
        _aligned(LIMIT + 1, D),
        _aligned(LIMIT + 1, D),
        _aligned(LIMIT + 1, P),
        np.zeros(1, np.int64),
        np.zeros(3, np.int64),
        np.array([WORTH]),
        np.array([NO]),
    )
    forget_stored.py_func(tables)
    return tables


def words(d: int) -> int:
    """Return how many words hold a bit for each of d columns; 0 where these would be too many."""
    words = -(-d // WORD)
    return words if words <= MOST_WORDS else 0


def _aligned(rows: int, columns: int) -> np.ndarray:
    """Return zeros whose lines begin where the cache's do: a vector that crosses two is loaded twice."""
    room = np.zeros(rows * columns + LANES)
    start = -room.ctypes.data % (8 * LANES) // 8
    return room[start : start + rows * columns].reshape(rows, columns)


@compiled
def forget_stored(tables):
    """Forget what is known of the stored vectors: there are none any more."""
    tables.stored[0], tables.stored[1], tables.stored[2] = 0, BINARY, 0


@compiled
def may_look_up(E):
    """Whether values for the open block's rows can be looked up."""
    return E.tables is not None and E.tables.block[0] != NO


@compiled
def prepare(E, stream, t):
    """Decide whether the block laid out from round t on can use its tables, and compute what they lack."""
    if E.tables is None:
        return
    tables = E.tables
    tables.block[0] = NO
    stored = tables.stored
    if E.n_sv_union[0] < tables.worth[0] or E.pool.cosine[0] or E.pool.called[0]:
        return
    look_at_stored(E)
    largest = int(min(largest_of(E.open.row_norm2), LIMIT + 1.0))
    largest += max(stored[2], largest)  # rows of the block will be stored as well
    if stored[1] == NO or largest > LIMIT:
        return
    kind = stored[1]
    for r in range(t, t + n_rows(E.open)):
        start, stop = row(stream, r)
        kind = _values_are(stream.values[start:stop], kind)
    if kind != NO and tables.lines[0] <= largest:
        _compute(E.pool, tables, largest + 1)
        if not _all_finite(tables.products[: tables.lines[0]].reshape(-1)):  # 0 times such a value is not 0
            kind = stored[1] = NO
    tables.block[0] = kind


@compiled
def _all_finite(values):
    count = 0
    for value in values:
        count += math.isfinite(value)
    return count == values.size


@compiled
def look_at_stored(E):
    """Note what the values are of the vectors stored since the last look, and their bits."""
    stored, n = E.tables.stored, E.n_sv_union[0]
    if stored[0] == n:
        return
    stored[1] = _values_are(E.values[E.indptr[stored[0]] : E.indptr[n]], stored[1])
    for j in range(stored[0], n):
        stored[2] = max(stored[2], int(min(E.norm2[j], LIMIT + 1.0)))
        if stored[1] == BINARY and E.open.slot.size <= WORD * E.bits.shape[1]:
            E.bits[j] = np.uint64(0)
            for column in E.indices[E.indptr[j] : E.indptr[j + 1]]:
                E.bits[j, column // WORD] |= np.uint64(1) << np.uint64(column % WORD)
    stored[0] = n


@compiled
def _values_are(values, kind):
    """What these values are together with some that are of this kind: whole numbers, none negative, or 1."""
    for value in values:
        if kind == BINARY and value != 1.0:
            kind = WHOLE
        if kind == WHOLE and not (value >= 0.0 and value == np.floor(value)):
            return NO
    return kind


@compiled
def _compute(pool, tables, lines):
    """Compute this many lines, and as many again, since rows with larger norms may come."""
    lines = min(LIMIT + 1, 2 * lines)
    split = tables.distances.shape[1]
    numbers, bases, K = np.empty((1, lines)), np.empty((1, lines)), np.empty((1, lines))
    for q in range(lines):
        numbers[0, q] = q
    for at in range(pool.order.size):
        i, chain = pool.order[at], pool.chain[at]
        form, lane = form_of(pool, i), tables.lane[i]
        if of_distance(form[0]):
            if chain < 0:
                values_of_squares(form, float(lines), numbers[0], lines, K[0])
                chain = 0
            raise_values(True, 1, lines, chain, numbers, K)
            for q in range(lines):
                tables.distances[q, lane] = K[0, q]
                tables.plain[q, lane] = plain(form, numbers[0, q])
        else:
            if chain < 0:
                for q in range(lines):
                    bases[0, q] = form[1] * numbers[0, q] + form[2]
                    K[0, q] = bases[0, q]
                chain = pool.degree[i] - 1
            raise_values(False, 1, lines, chain, bases, K)
            for q in range(lines):
                tables.products[q, lane - split] = K[0, q]
    tables.lines[0] = lines


# ------------------------------------------------------------------ sums of looked-up values


_TOGETHER = 32  # stored vectors of a tile


@compiled
def sum_looked_up(E, low, high):
    """F, and G where it is tracked, of the open block's rows low .. high - 1 over all stored vectors."""
    if E.tables is None:
        return
    tables = E.tables
    split, L = tables.distances.shape[1], tables.kernel.size
    rows, n = whole_lanes(high) - low, E.n_sv_union[0]
    J = min(_TOGETHER, n)
    sums, sizes, a = np.zeros((rows, L)), np.zeros((rows, L)), np.zeros((J, L))
    near, product = np.empty((J, rows), np.int32), np.empty((J, rows), np.int32)
    dots, row_norm2 = np.empty((J, rows)), E.open.row_norm2[low : low + rows]
    bits = _block_bits(E, E.open.rows, low, rows)
    distances, products = tables.distances.reshape(-1), tables.products.reshape(-1)
    wide, like, first = zeros(WIDE), zeros(LANES), 0
    while first < n:
        count = min(J, n - first)
        _products(E, E.open.rows, bits, low, first, count, dots)
        _lines(E.norm2[first:], row_norm2, dots, split, L - split, count, near, product)
        for lane in range(0, split, WIDE):
            if not _coefficients(tables.kernel, E.A, first, count, lane, WIDE, a):
                continue
            if _any_of(tables.kernel, E.tracked, lane, WIDE):
                for r in range(0, rows, _ROWS):
                    _add_both(wide, distances, near, r, count, a, lane, sums, sizes)
            else:
                for r in range(0, rows, _ROWS):
                    _add_fused(wide, distances, near, r, count, a, lane, sums)
        for lane in range(split, L, LANES):
            if _coefficients(tables.kernel, E.A, first, count, lane, LANES, a):
                for r in range(0, rows, _ROWS):
                    _add_rounded(like, products, product, r, count, a, lane, lane - split, sums)
        first += count
    for lane in range(L):
        i = tables.kernel[lane]
        for r in range(rows if i >= 0 else 0):
            E.scores[i, low + r] = sums[r, lane]
            E.abs_scores[i, low + r] = sizes[r, lane] if E.tracked[i] else 0.0


@compiled
def plain_looked_up(E, block, low, high, row_of, start, wanted):
    """`plain_sums` (ties.py) with values from the table: of all kernels of the lanes that hold one wanted.

    It adds also what is too small to change a sum.
    """
    if E.tables is None:
        return
    tables = E.tables
    look_at_stored(E)
    split, rows, n = tables.distances.shape[1], high - low, E.n_sv_union[0]
    bits = _block_bits(E, block, low, rows)
    rows_wanted, last = 0, 0
    for q in range(row_of.size):
        if any_of(wanted[:, row_of[q]]):
            rows_wanted, last = rows_wanted + 1, q
    if rows_wanted < 2:
        x = lane_of(E.open, block, row_of[last] if in_lists(E.open) else low + last)
        _plain_row(E, x, bits[:, last], row_of[last], start, wanted)
        return
    J = min(_TOGETHER, n - start)
    sums, a, row_norm2 = np.zeros((rows, split)), np.zeros((J, split)), np.zeros(rows)
    some = np.zeros(E.f.size, np.bool_)
    for q in range(row_of.size):
        row_norm2[q] = E.open.row_norm2[row_of[q]]
        for i in range(some.size):
            if wanted[i, row_of[q]]:
                some[i] = True
                sums[q, tables.lane[i]] = E.exact[i, row_of[q]]
    near, product = np.empty((J, rows), np.int32), np.empty((J, rows), np.int32)
    dots = np.empty((J, rows))
    like, plain, first = zeros(LANES), tables.plain.reshape(-1), start
    while first < n:
        count = min(J, n - first)
        _products(E, block, bits, low, first, count, dots)
        _lines(E.norm2[first:], row_norm2, dots, split, 0, count, near, product)
        for lane in range(0, split, LANES):
            if not _any_of(tables.kernel, some, lane, LANES):
                continue
            if _coefficients(tables.kernel, E.A, first, count, lane, LANES, a):
                for r in range(0, rows, _ROWS):
                    _add_rounded(like, plain, near, r, count, a, lane, lane, sums)
        first += count
    for q in range(row_of.size):
        for i in range(some.size):
            if wanted[i, row_of[q]]:
                E.exact[i, row_of[q]] = sums[q, tables.lane[i]]


@compiled
def _plain_row(E, x, bits, r, start, wanted):
    """`plain_looked_up` of the block's row r alone, whose values are x (S+1,) and whose bits these are."""
    tables = E.tables
    norm2_r, split, n = E.open.row_norm2[r], tables.distances.shape[1], E.n_sv_union[0]
    line = np.empty(n - start, np.int64)
    for j in range(start, n):
        dot = 0.0 if bits.size else product_with(E, j, x)
        for w in range(bits.size):
            dot += float(np.int64(count_ones(E.bits[j, w] & bits[w])))
        line[j - start] = split * int(E.norm2[j] + norm2_r - 2.0 * dot)
    plain = tables.plain.reshape(-1)
    for i in range(E.f.size):
        if wanted[i, r]:
            total, a, lane = E.exact[i, r], E.A[i], tables.lane[i]
            for j in range(start, n):
                total += a[j] * plain[line[j - start] + lane]
            E.exact[i, r] = total


@compiled_without_refcounts
def _any_of(kernel, some, lane, count):
    """Whether one of the kernels of `count` lanes from this one on is among `some`."""
    any_of_them = False
    for i in kernel[lane : lane + count]:
        any_of_them |= i >= 0 and some[i]
    return any_of_them


@compiled_without_refcounts
def _coefficients(kernel, A, first, count, lane, lanes, a):
    """Copy a tile's coefficients into so many lanes of a (J, L) from this one on; whether any is not 0."""
    stored = False
    for at in range(lane, lane + lanes):
        i = kernel[at]
        for j in range(count if i >= 0 else 0):
            a[j, at] = A[i, first + j]
            stored |= a[j, at] != 0.0
    return stored


# ------------------------------------------------------------------ the lines of a tile


@compiled_without_refcounts
def _lines(norm2, row_norm2, dots, wide, narrow, count, near, product):
    """near, product (J, R) int32: where each pair's lines in the two tables begin.

    Rows that only fill up the lanes may hold anything; for them too it must be a line.
    """
    for j in range(count):
        norm2_j, dot, line, other = norm2[j], dots[j], near[j], product[j]
        for r in range(row_norm2.size):
            line[r] = np.int32(wide * max(0.0, norm2_j + row_norm2[r] - 2.0 * dot[r]))
            other[r] = np.int32(narrow * dot[r])


@compiled
def _block_bits(E, block, low, rows):
    """bits (words, rows): a bit for each column that these rows of a block (S+1, R) have.

    No words where the values are not all 0 and 1, or where the columns are too many.
    """
    words, n = E.bits.shape[1], E.n_sv_union[0]
    counts = E.open.slot.size <= WORD * words and 2 * words * n <= E.indptr[n]
    if E.tables.block[0] != BINARY or not counts:
        words = 0
    bits = np.zeros((words, rows), np.uint64)
    for s in range(E.open.n_columns[0] if words else 0):
        column = E.open.columns[s]
        line, word, one = block[s + 1], bits[column // WORD], np.uint64(1) << np.uint64(column % WORD)
        for r in range(rows):
            if line[low + r] != 0.0:
                word[r] |= one
    return bits


@partial(compiled, inline="always")
def _products(E, block, bits, low, first, count, dots):
    """`dot_products` of a tile: of rows that have bits by counting the columns that both have."""
    if len(bits):
        _count_columns(E.bits, bits, first, count, dots)
    else:
        dot_products(E, block, low, low + dots.shape[1], first, count, dots)


@compiled_without_refcounts
def _count_columns(stored, bits, first, count, dots):
    for j in range(count):
        line, mine, theirs = dots[j], stored[first + j, 0], bits[0]
        for r in range(line.size):
            line[r] = float(np.int64(count_ones(mine & theirs[r])))
        for w in range(1, len(bits)):
            mine, theirs = stored[first + j, w], bits[w]
            for r in range(line.size):
                line[r] += float(np.int64(count_ones(mine & theirs[r])))


# ------------------------------------------------------------------ the sums

# Each adds onto out[r + q, lane:], for _ROWS rows q whose sums stay in registers, and for each stored vector
# j < count in its turn, a[j, lane:] times the values of a flat table from line[j, r + q] + column on.

_ROWS = 4  # LANES is a multiple


@compiled_without_refcounts
def _add_fused(like, table, line, r, count, a, lane, out):
    s, s1, s2, s3 = _four(like, out, r, lane)
    for j in range(count):
        a_j = load(like, a, (j, lane))
        s = fma(a_j, load(like, table, item(line, (j, r)) + lane), s)
        s1 = fma(a_j, load(like, table, item(line, (j, r + 1)) + lane), s1)
        s2 = fma(a_j, load(like, table, item(line, (j, r + 2)) + lane), s2)
        s3 = fma(a_j, load(like, table, item(line, (j, r + 3)) + lane), s3)
    _keep_four(s, s1, s2, s3, out, r, lane)


@compiled_without_refcounts
def _add_rounded(like, table, line, r, count, a, lane, column, out):
    s, s1, s2, s3 = _four(like, out, r, lane)
    for j in range(count):
        a_j = load(like, a, (j, lane))
        s += a_j * load(like, table, item(line, (j, r)) + column)
        s1 += a_j * load(like, table, item(line, (j, r + 1)) + column)
        s2 += a_j * load(like, table, item(line, (j, r + 2)) + column)
        s3 += a_j * load(like, table, item(line, (j, r + 3)) + column)
    _keep_four(s, s1, s2, s3, out, r, lane)


@compiled_without_refcounts
def _add_both(like, table, line, r, count, a, lane, out, sizes):
    """`_add_fused`, and the same of the absolute coefficients onto `sizes`."""
    s, s1, s2, s3 = _four(like, out, r, lane)
    g, g1, g2, g3 = _four(like, sizes, r, lane)
    for j in range(count):
        a_j = load(like, a, (j, lane))
        size = absolute(a_j)
        k = load(like, table, item(line, (j, r)) + lane)
        k1 = load(like, table, item(line, (j, r + 1)) + lane)
        k2 = load(like, table, item(line, (j, r + 2)) + lane)
        k3 = load(like, table, item(line, (j, r + 3)) + lane)
        s, s1, s2, s3 = fma(a_j, k, s), fma(a_j, k1, s1), fma(a_j, k2, s2), fma(a_j, k3, s3)
        g, g1, g2, g3 = fma(size, k, g), fma(size, k1, g1), fma(size, k2, g2), fma(size, k3, g3)
    _keep_four(s, s1, s2, s3, out, r, lane)
    _keep_four(g, g1, g2, g3, sizes, r, lane)


@partial(compiled_without_refcounts, inline="always")
def _four(like, out, r, lane):
    rows = load(like, out, (r, lane)), load(like, out, (r + 1, lane))
    return *rows, load(like, out, (r + 2, lane)), load(like, out, (r + 3, lane))


@partial(compiled_without_refcounts, inline="always")
def _keep_four(s, s1, s2, s3, out, r, lane):
    store(s, out, (r, lane))
    store(s1, out, (r + 1, lane))
    store(s2, out, (r + 2, lane))
    store(s3, out, (r + 3, lane))
