"""The open block: the next rows of the stream, laid side by side for dot products with the stored vectors.

Shared by the unbounded Expansion and the Budget, whose field ``open`` it is.
"""

from collections import namedtuple

import numpy as np

from omkl.engine.jit import compiled, uncounted
from omkl.engine.records import Record
from omkl.engine.stream import row
from omkl.engine.vector_code import LANES


class Block(Record, namedtuple("Block", "rounds slot columns rows row_norm2")):
    """The open block.

    rounds (5,)      first round of the open block, last plus one, columns in use, vectors stored before it,
                     and how many rounds a block has
    slot (d,)        row of `rows` that holds a column's values in the open block; 0: absent
    columns (S,)     the columns in use
    rows (S+1, R)    the block, feature-major; row 0 stays 0
    row_norm2 (R,)   squared norms of its rows
    """


def make_block(d: int, length: int, R: int) -> Block:
    """Return a block of this many rounds, R with padding, for examples of d features; none is open."""
    rounds = np.array([0, 0, 0, 0, length])
    return Block(rounds, np.zeros(d, np.int32), np.empty(0, np.int32), np.zeros((1, R)), np.zeros(R))


def with_room(block: Block, longest: int) -> Block:
    """Return the block with room for rows this long, the same where it has it; nothing is open afterwards."""
    slots = min(block.slot.size, longest * block.row_norm2.size)
    if slots <= block.columns.size:
        return block
    block.slot[:] = 0
    block.rounds[2] = 0
    rows = np.empty((slots + 1, block.row_norm2.size))
    rows[0] = 0.0
    return block._replace(columns=np.empty(slots, np.int32), rows=rows)


def wider_block(block: Block, d: int) -> Block:
    """Return the block, which is not open, for examples of d features."""
    for column in block.columns[: block.rounds[2]]:
        block.slot[column] = 0
    block.rounds[2] = 0
    return block._replace(slot=np.concatenate([block.slot, np.zeros(d - block.slot.size, np.int32)]))


def grown(array: np.ndarray, used: int, size: int) -> np.ndarray:
    """Return an array of `size` rows (or elements): the first `used` ones of this array, then 0."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


def close(block: Block) -> None:
    """Forget the open block: the next round belongs to another stream."""
    block.rounds[0] = block.rounds[1] = 0


@uncounted
def end(block):
    """End the open block, so that the next round opens another."""
    block.rounds[1] = block.rounds[0]


@uncounted
def is_open(block, t):
    """Whether round t lies in the open block."""
    return block.rounds[0] <= t < block.rounds[1]


@uncounted
def row_of(block, t):
    """The row of the open block that holds round t."""
    return t - block.rounds[0]


@uncounted
def live(block):
    """How many rounds the open block has."""
    return block.rounds[1] - block.rounds[0]


@compiled
def whole_lanes(rows):
    """A number of rows rounded up to whole lanes."""
    return -(-rows // LANES) * LANES


@compiled
def lay_out(block, stream, t):
    """Open the block that starts at round t: its rows feature-major, and their squared norms."""
    R = block.row_norm2.size
    for s in range(block.rounds[2]):
        block.slot[block.columns[s]] = 0
    used = 0
    count = min(block.rounds[4], stream.T - t)
    for r in range(R):
        block.row_norm2[r] = 0.0
    for r in range(count):
        start, stop = row(stream, t + r)
        norm2 = 0.0
        for k in range(start, stop):
            value = stream.values[k]
            norm2 += value * value
            column = stream.indices[k]
            if block.slot[column] == 0:
                block.columns[used] = column
                used += 1
                block.slot[column] = used
                block.rows[used] = 0.0
            block.rows[block.slot[column], r] = value
        block.row_norm2[r] = norm2
    block.rounds[0], block.rounds[1], block.rounds[2] = t, t + count, used
