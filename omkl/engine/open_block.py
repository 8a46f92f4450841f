"""The open block: the next rows of the stream, laid side by side for dot products with the stored vectors.

Shared by the unbounded Expansion and the Budget, which hold the same fields: block (block[4]: how many
rounds a block has), slot, columns, rows, row_norm2.
"""

from typing import Any

import numpy as np
from numba import njit

from omkl.engine.stream import row


def block_room(E: Any, longest: int) -> dict[str, np.ndarray]:
    """Return larger ``columns`` and ``rows`` where blocks of rows this long need them, else nothing."""
    slots = min(E.slot.size, longest * E.row_norm2.size)
    if slots <= E.columns.size:
        return {}
    E.slot[:] = 0
    E.block[2] = 0
    rows = np.empty((slots + 1, E.row_norm2.size))
    rows[0] = 0.0
    return {"columns": np.empty(slots, np.int32), "rows": rows}


@njit(cache=True)
def lay_out(E, stream, t):
    """Open the block that starts at round t: its rows feature-major, and their squared norms."""
    R = E.row_norm2.size
    for s in range(E.block[2]):
        E.slot[E.columns[s]] = 0
    used = 0
    count = min(E.block[4], stream.T - t)
    for r in range(R):
        E.row_norm2[r] = 0.0
    for r in range(count):
        start, stop = row(stream, t + r)
        norm2 = 0.0
        for k in range(start, stop):
            value = stream.values[k]
            norm2 += value * value
            column = stream.indices[k]
            if E.slot[column] == 0:
                E.columns[used] = column
                used += 1
                E.slot[column] = used
                E.rows[used] = 0.0
            E.rows[E.slot[column], r] = value
        E.row_norm2[r] = norm2
    E.block[0], E.block[1], E.block[2] = t, t + count, used
