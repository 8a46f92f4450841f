"""The record of m budgeted classifiers, see budgeted.py: its fields, how it is made, and how it gets room."""

from collections import namedtuple

import numpy as np

from omkl.engine.budget_blocks import NO_ENTRIES
from omkl.engine.budgeted import budget_entries
from omkl.engine.classes import make_classes
from omkl.engine.open_block import grown, make_block, whole_lanes, with_room
from omkl.engine.pool import Pool
from omkl.engine.records import Record
from omkl.engine.slot_values import TILE, rows_together

BLOCK = 64
UNLIMITED = 2**40  # more vectors than anyone will store: the budget of classifiers without one


class Budget(
    Record,
    namedtuple(
        "Budget",
        "pool limit A own holds born n_put n_sv oldest size ends indices values norm2 origin users free "
        "n_free now open dots K f g tile dense classes entries",
    ),
):
    """m classifiers with slots of their own.

    pool                the kernels
    limit (1,)          the budget: slots per kernel; arrays over slots have S <= limit, as many as needed
    A (S, m)            coefficients, 0 in empty slots; with more than two classes (S, m, C), one for each
    own (S, m)          kappa_i(x_s, x_s)
    holds (S, m)        example in each slot, as its number in the store below
    n_sv (m,)           slots in use, always the first ones
    born (S, m)         when each slot was filled: the number of examples put before, over all kernels
    n_put (1,)          examples put so far
    oldest (m,)         the slot to be overwritten next where the oldest goes first
    size (2,)           distinct stored examples (the union), slots in use over all kernels (the papers' #SV)
    ends (2 N,)         first and last-plus-one position of a stored example in
    indices, values (N stride,)    the stored examples, sparse; each has the room of the longest
    norm2 (N,)          squared norms
    origin (N,)         the stored examples as row numbers of the data
    users (N,)          slots that hold the example
    free (N,) n_free (1,)   the examples without a user, as a stack
    now (3,)            the round whose example was stored last, its number, and the first row of the open
                        block that has no kernel values yet
    open                the open block: open_block.py
    dots (N, R)         dot products of the stored examples with its rows
    K (C, S, m)         kernel values of C of its rows with the slots, C a part of R
    f, g (m,)           outputs of the last call of `outputs`, and sums of their terms' absolute values; with
                        more than two classes f are margins, and g (m, C) is of the class scores
    tile (m + 1, TILE), dense (d,)    scratch; dense is 0
    classes             what the learner sees of more than two classes: classes.py; None for two
    entries             of functions of budget_blocks.py and budgeted.py for this record
    """


def make_budget(pool: Pool, budget: int, d: int, block: int = BLOCK, classes: int | None = None) -> Budget:
    """Return empty classifiers of at most `budget` vectors each; ``reserve`` gives them room.

    classes: how many, where there are more than two.
    """
    m = pool.kind.size
    each = (m,) if classes is None else (m, classes)
    R = whole_lanes(block)
    return Budget(
        pool=pool,
        limit=np.array([budget]),
        A=np.zeros((0, *each)),
        own=np.zeros((0, m)),
        holds=np.zeros((0, m), np.int64),
        born=np.zeros((0, m), np.int64),
        n_put=np.zeros(1, np.int64),
        n_sv=np.zeros(m, np.int64),
        oldest=np.zeros(m, np.int64),
        size=np.zeros(2, np.int64),
        ends=np.zeros(0, np.int64),
        indices=np.zeros(0, np.int32),
        values=np.zeros(0),
        norm2=np.zeros(0),
        origin=np.zeros(0, np.int64),
        users=np.zeros(0, np.int64),
        free=np.zeros(0, np.int64),
        n_free=np.zeros(1, np.int64),
        now=np.full(3, -1),
        open=make_block(d, block, R),
        dots=np.zeros((0, R)),
        K=kernel_room(R, 0, m),
        f=np.zeros(m),
        g=np.zeros(each),
        tile=np.zeros((m + 1, TILE)),
        dense=np.zeros(d),
        classes=make_classes(m, classes),
        entries=NO_ENTRIES,
    )


def kernel_room(R: int, slots: int, m: int) -> np.ndarray:
    """Return the array K of a Budget with blocks of R rows."""
    return np.zeros((rows_together(R, slots * m), slots, m))


def reserve_slots(B: Budget, vectors: int, longest: int) -> Budget:
    """Return B with room for this many more vectors within the budget, and for examples this long.

    Room that grows does so by half at least, see `omkl.engine.expansion.reserve`.
    """
    R, (_, S, m) = B.dots.shape[1], B.K.shape
    N = B.norm2.size
    slots = max(S, min(int(B.limit[0]), int(B.n_sv.max()) + vectors))
    if slots > S:
        slots = max(slots, min(int(B.limit[0]), S + S // 2))
    examples = max(N, min(m * slots, int(B.size[0]) + vectors) + 1)
    if examples > N:
        examples = max(examples, min(m * slots + 1, N + N // 2))
    if slots > S:
        A, own, holds, born = (grown(array, S, slots) for array in (B.A, B.own, B.holds, B.born))
        B = B._replace(A=A, own=own, holds=holds, born=born, K=kernel_room(R, slots, m))
    stride = max(longest, B.values.size // N if N else 0)
    if examples > N or examples * stride > B.values.size:
        ends = (np.arange(examples)[:, None] * stride + [0, 0]).reshape(-1)
        indices, values = np.empty(examples * stride, np.int32), np.empty(examples * stride)
        for e in range(N):
            start, stop = B.ends[2 * e : 2 * e + 2]
            ends[2 * e + 1] += stop - start
            indices[ends[2 * e] : ends[2 * e + 1]] = B.indices[start:stop]
            values[ends[2 * e] : ends[2 * e + 1]] = B.values[start:stop]
        B = B._replace(ends=ends, indices=indices, values=values)
    if examples > N:
        arrays = (B.norm2, B.origin, B.users, B.free)
        norm2, origin, users, free = (grown(array, N, examples) for array in arrays)
        more = np.arange(examples - 1, N - 1, -1)
        free[B.n_free[0] : B.n_free[0] + more.size] = more
        B.n_free[0] += more.size
        B = B._replace(norm2=norm2, origin=origin, users=users, free=free, dots=np.empty((examples, R)))
    B = B._replace(open=with_room(B.open, longest))
    return B if B.entries != NO_ENTRIES else B._replace(entries=budget_entries(B))
