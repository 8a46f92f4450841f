"""Kernel values looked up instead of computed, on data of whole numbers: few distances are possible there.

Between rows of 0 and 1 the squared distance is a whole number, on a9a at most 28. So all values of a pool are
in a table, a line for each distance, which is computed once by the functions that compute them elsewhere: a
value has the same bits. The sums over it are in lookup_sums.py.
"""

import math
from collections import namedtuple

import numpy as np

from omkl.engine.arith import largest_of
from omkl.engine.class_sums import raise_values
from omkl.engine.jit import compiled
from omkl.engine.kernels import of_distance, plain, row_values
from omkl.engine.open_block import live
from omkl.engine.pool import Pool, form_of
from omkl.engine.records import Record
from omkl.engine.stream import row
from omkl.engine.vector_code import LANES

LIMIT = 1024  # the largest squared distance that has a line: 16 kernels then take 192 KiB
WORTH = 256  # stored vectors from which on a table pays for itself
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
    D, P = (-(-len(kernels) // LANES) * LANES for kernels in (near, others))
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
    if tables is not None:
        tables.stored[0], tables.stored[1], tables.stored[2] = 0, BINARY, 0


@compiled
def may_look_up(tables):
    """Whether values for the open block's rows can be looked up."""
    return False if tables is None else tables.block[0] != NO


@compiled
def prepare(E, tables, stream, t):
    """Decide whether the block laid out from round t on can use its tables, and compute what they lack."""
    if tables is None:
        return
    tables.block[0] = NO
    stored = tables.stored
    if E.size[0] < tables.worth[0] or E.pool.cosine[0]:
        return
    look_at_stored(E, tables)
    largest = int(min(largest_of(E.open.row_norm2), LIMIT + 1.0))
    largest += max(stored[2], largest)  # rows of the block will be stored as well
    if stored[1] == NO or largest > LIMIT:
        return
    kind = stored[1]
    for r in range(t, t + live(E.open)):
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
def look_at_stored(E, tables):
    """Note what the values are of the vectors stored since the last look, and their bits."""
    if tables is None:
        return
    stored, n = tables.stored, E.size[0]
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
                row_values(form, float(lines), numbers[0], lines, K[0])
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
