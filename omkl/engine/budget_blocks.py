"""The open block of m budgeted classifiers, see budgeted.py: dot products and kernel values with its rows."""

from collections import namedtuple

from omkl.engine.by_address import NO_ENTRY, Addresses
from omkl.engine.dot_products import block_products, used_products
from omkl.engine.jit import compiled, uncounted
from omkl.engine.open_block import lay_out, live, row_of, whole_lanes
from omkl.engine.pool import form_of
from omkl.engine.slot_values import fill_slots, slot_values
from omkl.engine.stream import row
from omkl.engine.vector_code import LANES


class Entries(Addresses, namedtuple("Entries", "read add open_block fill_rows fill_slot store")):
    """Addresses of functions below and in budgeted.py, for one record: by_address.py."""


NO_ENTRIES = Entries(*[NO_ENTRY] * len(Entries._fields))


@compiled
def place(B, t):
    """Where K has the kernel values of round t, among those of the rows that are kept."""
    return row_of(B.open, t) % B.K.shape[0]


@uncounted
def open_block(B, stream, t):
    """Lay out the block that starts at round t, and fill its dot products with every stored vector."""
    lay_out(B.open, stream, t)
    B.now[0], B.now[2] = -1, 0
    used_products(B, whole_lanes(live(B.open)))


@uncounted
def fill_rows(B, t):
    """Fill the kernel values of the open block's next rows with every slot in use, from round t's on."""
    low = row_of(B.open, t) - place(B, t)
    rows = min(B.K.shape[0], whole_lanes(live(B.open)) - low)
    fill_slots(B.pool, B.n_sv, B.holds, B.norm2, B.open.row_norm2, B.dots, low, rows, B.tile, B.K)
    B.now[2] = min(low + rows, live(B.open))


@uncounted
def fill_slot(B, t, s, i):
    """Fill the kernel values of kernel i's slot s, which took example t, with the rows kept after round t."""
    e, now = B.now[1], row_of(B.open, t)
    rows, values = B.now[2] - now - 1, B.tile[0]
    row_norm2, dots, K, after = B.open.row_norm2[now + 1 :], B.dots[e, now + 1 :], B.K, place(B, t) + 1
    slot_values(form_of(B.pool, i), B.norm2[e], row_norm2, dots, rows, B.tile[1], values)
    for r in range(rows):
        K[after + r, s, i] = values[r]


@uncounted
def store(B, stream, t):
    """Put example t in the store, when the first kernel takes it; B.now has its number."""
    B.n_free[0] -= 1
    e = B.free[B.n_free[0]]
    start, stop = row(stream, t)
    at = B.ends[2 * e]
    for k in range(start, stop):
        B.indices[at] = stream.indices[k]
        B.values[at] = stream.values[k]
        at += 1
    B.ends[2 * e + 1] = at
    B.norm2[e] = B.open.row_norm2[row_of(B.open, t)]
    B.origin[e] = stream.order[t]
    B.size[0] += 1
    B.now[0], B.now[1] = t, e
    low, high = (row_of(B.open, t) + 1) // LANES * LANES, whole_lanes(live(B.open))
    block_products(B, low, high, e, low)
