"""Blocks of sparse rows with many columns, such as texts: for each column a list of the rows that have it.

Feature-major (open_block.py), a block of dorothea's rows takes 60 MB, of which most is 0. In lists, a stored
vector meets only the numbers that are there. Each dot product is the same left-to-right sum over the
vector's non-zeros, less the exact zeros.
"""

from omkl.engine.jit import compiled
from omkl.engine.stream import row
from omkl.engine.vector_code import LANES

MANY_COLUMNS = 513  # fewer are counted as bits where they can be (lookup_tables.py), and fit into the caches
_ENTRY = 4.0  # what an entry of a list costs, in steps of LANES numbers of a feature-major block
_NEAR = 2**17  # numbers of a feature-major block that fit into the second-level cache
_FAR = 2.5  # what such a step costs where they do not; the columns that most rows have stay in the cache


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
