"""The open block: the next rows of the stream, laid side by side for dot products with the stored vectors.

Shared by the unbounded Expansion and the Budget, whose field ``open`` it is. Sparse rows with many columns,
such as texts, are laid out in lists, for each column of the rows that have it: feature-major, a block of
dorothea's rows takes 60 MB, of which most is 0. In lists, a stored vector meets only the numbers that are
there. Each dot product is the same left-to-right sum over the vector's non-zeros, less the exact zeros.
"""

from collections import namedtuple
from functools import partial

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.lanes import LANES, LARGE, item, load, store, zeros
from omkl.engine.records import Record
from omkl.engine.stream import row

MANY_COLUMNS = 513  # fewer are counted as bits where they can be (lookup.py), and fit into the caches
_ENTRY = 4.0  # what an entry of a list costs, in steps of LANES numbers of a feature-major block
_NEAR = 2**17  # numbers of a feature-major block that fit into the second-level cache
_FAR = 2.5  # what such a step costs where they do not; the columns that most rows have stay in the cache


class Block(
    Record,
    namedtuple(
        "Block",
        "length keeps_rows first stop n_stored listed n_columns slot columns rows row_norm2 "
        "starts places values row_numbers row_starts row_indices row_values",
    ),
):
    """The open block.

    length           how many rounds a block has
    keeps_rows       1 if it keeps its rows one after another, too, for kernels that are called
    first, stop (1,)   the open block's first round, and its last plus one
    n_stored (1,)    vectors stored before it
    listed (1,)      whether it is laid out in lists
    n_columns (1,)   how many columns are in use
    slot (d,)        row of `rows` that holds a column's values in the open block; 0: absent
    columns (S,)     the columns in use
    rows (S+1, R)    the block, feature-major; row 0 stays 0
    row_norm2 (R,)   squared norms of its rows
    starts (S+2,) places, values (N,)   in place of `rows`: see `lay_lists`
    row_numbers (R,)   its rows' numbers in the data
    row_starts (R+1,) row_indices, row_values (n,)   the rows as they are in the data, where it keeps them
    """


def make_block(d: int, length: int, R: int, keeps: bool = False) -> Block:
    """Return a block of this many rounds, R with padding, for examples of d features; none is open.

    keeps: as `keeps_rows`
    """
    first, stop, n_stored, n_columns = (np.zeros(1, np.int64) for _ in range(4))
    rounds = (length, int(keeps), first, stop, n_stored, np.zeros(1, np.bool_), n_columns)
    slot, columns, rows = np.zeros(d, np.int32), np.empty(0, np.int32), np.zeros((1, R))
    lists = (np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0))
    kept = (np.zeros(R, np.int64), np.zeros(R + 1, np.int64), np.empty(0, np.int32), np.empty(0))
    return Block(*rounds, slot, columns, rows, np.zeros(R), *lists, *kept)


def with_room(block: Block, longest: int) -> Block:
    """Return the block with room for rows this long, the same where it has it; nothing is open afterwards."""
    most = longest * block.row_norm2.size
    slots, entries = min(block.slot.size, most), most if block.slot.size >= MANY_COLUMNS else 0
    kept = most if block.keeps_rows else 0
    if kept > block.row_values.size:
        block = block._replace(row_indices=np.empty(kept, np.int32), row_values=np.empty(kept))
    if slots <= block.columns.size and entries <= block.places.size:
        return block
    block.slot[:] = 0
    block.n_columns[0] = 0
    rows = np.empty((slots + 1, block.row_norm2.size))
    rows[0] = 0.0
    return block._replace(
        columns=np.empty(slots, np.int32),
        rows=rows,
        starts=np.zeros(slots + 2, np.int64),
        places=np.empty(entries, np.int32),
        values=np.empty(entries),
    )


def add_columns(block: Block, d: int) -> Block:
    """Return the block, which is not open, for examples of d features."""
    for column in block.columns[: block.n_columns[0]]:
        block.slot[column] = 0
    block.n_columns[0] = 0
    return block._replace(slot=np.concatenate([block.slot, np.zeros(d - block.slot.size, np.int32)]))


def grown(array: np.ndarray, used: int, size: int) -> np.ndarray:
    """Return an array of `size` rows (or elements): the first `used` ones of this array, then 0."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


def close(block: Block) -> None:
    """Forget the open block: the next round belongs to another stream."""
    block.first[0] = block.stop[0] = 0


@compiled_without_refcounts
def invalidate(block):
    """End the open block, so that the next round opens another."""
    block.stop[0] = block.first[0]


@compiled_without_refcounts
def is_open(block, t):
    """Whether round t lies in the open block."""
    return block.first[0] <= t < block.stop[0]


@compiled_without_refcounts
def row_of(block, t):
    """The row of the open block that holds round t."""
    return t - block.first[0]


@compiled_without_refcounts
def n_rows(block):
    """How many rounds the open block has."""
    return block.stop[0] - block.first[0]


@compiled
def whole_lanes(rows):
    """A number of rows rounded up to whole lanes."""
    return -(-rows // LANES) * LANES


@compiled_without_refcounts
def in_lists(block):
    """Whether the open block is laid out in lists."""
    return block.listed[0]


@compiled
def lane_of(block, rows, lane):
    """One lane of rows (S+1, R) laid side by side; they are the open block's own where it is in lists."""
    if not in_lists(block):
        return rows[:, lane].copy()
    x = np.zeros(block.n_columns[0] + 1)
    for s in range(1, x.size):
        for e in range(block.starts[s], block.starts[s + 1]):
            if block.places[e] == lane:
                x[s] = block.values[e]
    return x


@compiled
def fill_block(block, stream, t):
    """Open the block that starts at round t: its rows feature-major, and their squared norms."""
    for s in range(block.n_columns[0]):
        block.slot[block.columns[s]] = 0
    count = min(block.length, stream.T - t)
    for r in range(block.row_norm2.size):
        block.row_norm2[r] = 0.0
    for r in range(count):
        start, stop = row(stream, t + r)
        for k in range(start, stop):
            block.row_norm2[r] += stream.values[k] * stream.values[k]
    _keep_rows(block, stream, t, count)
    used = lay_lists(block, stream, t, count)
    block.listed[0] = used > 0
    if used == 0:
        used = _lay_rows(block, stream, t, count)
    block.first[0], block.stop[0], block.n_columns[0] = t, t + count, used


@compiled
def _keep_rows(block, stream, t, count):
    """Note the numbers of so many rows from round t on; keep them as they are, where the block does."""
    at = 0
    for r in range(block.row_numbers.size):
        block.row_numbers[r] = stream.order[t + r] if r < count else 0
        if block.keeps_rows and r < count:
            start, stop = row(stream, t + r)
            for k in range(start, stop):
                block.row_indices[at], block.row_values[at] = stream.indices[k], stream.values[k]
                at += 1
        block.row_starts[r + 1] = at


@compiled
def _lay_rows(block, stream, t, count):
    """Lay out so many rows from round t on, feature-major; returns how many columns they use."""
    used = 0
    for r in range(count):
        start, stop = row(stream, t + r)
        for k in range(start, stop):
            column = stream.indices[k]
            if block.slot[column] == 0:
                block.columns[used] = column
                used += 1
                block.slot[column] = used
                block.rows[used] = 0.0
            block.rows[block.slot[column], r] = stream.values[k]
    return used


# ------------------------------------------------------------------ lists


@compiled
def lay_lists(block, stream, t, count):
    """Lay out so many rows from round t on in lists, if dot products with them are cheaper so.

    Returns how many columns they use; 0 where there are no lists. Column s has the entries starts[s] ..
    starts[s + 1] - 1: rows of the block in `places`, and its numbers there in `values`. Slot 0 has none.
    """
    if block.slot.size < MANY_COLUMNS or block.places.size == 0:
        return 0
    slot, starts, used = block.slot, block.starts, 0
    for r in range(count):
        first, last = row(stream, t + r)
        for k in range(first, last):
            column = stream.indices[k]
            if slot[column] == 0:
                block.columns[used] = column
                used += 1
                slot[column] = used
                starts[used + 1] = 0
            starts[slot[column] + 1] += 1
    if not _worth(starts, used, block.row_norm2.size):
        for s in range(used):
            slot[block.columns[s]] = 0
        return 0
    starts[0] = starts[1] = 0
    for s in range(2, used + 2):
        starts[s] += starts[s - 1]
    for r in range(count):
        first, last = row(stream, t + r)
        for k in range(first, last):
            s = slot[stream.indices[k]]
            block.places[starts[s]], block.values[starts[s]] = r, stream.values[k]
            starts[s] += 1
    for s in range(used, 0, -1):  # each start has moved to the next one's
        starts[s + 1] = starts[s]
    starts[1] = 0
    return used


@compiled
def _worth(starts, used, R):
    """Whether lists are cheaper for a vector like those of the block; starts[s + 1] is column s's count."""
    entries, met = 0.0, 0.0
    for s in range(1, used + 1):
        entries += starts[s + 1]
        met += float(starts[s + 1]) * starts[s + 1]
    return _ENTRY * met < entries * (R // LANES) * (1.0 if used * R <= _NEAR else _FAR)


@compiled
def listed_products(block, indptr, indices, values, low, high, first, dots, j, place):
    """dots[j, place + r - low] = x_first . row r of the block, low <= r < high."""
    slot, starts, places, theirs = block.slot, block.starts, block.places, block.values
    out = dots[j, place : place + high - low]
    out[:] = 0.0
    for k in range(indptr[first], indptr[first + 1]):
        s, value = slot[indices[k]], values[k]
        for e in range(starts[s], starts[s + 1]):
            r = places[e] - low
            if 0 <= r < out.size:
                out[r] += value * theirs[e]


# ------------------------------------------------------------------ dot products of a tile of stored vectors

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
