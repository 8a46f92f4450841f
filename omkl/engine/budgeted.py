"""m classifiers f_i(x) = sum_s A[s, i] kappa_i(x_s, x) of at most `budget` stored vectors each.

Every kernel has slots of its own, which may be overwritten and scaled. All blocking hides here: ``outputs``
opens a block, the dot products of every stored vector with the block's rows, and keeps the kernel values K of
every slot with the next few of these rows; ``add`` writes the new vector's values over those of the slot that
it takes. An output is one plain sum over the slots in the order of their
numbers, at the time of the call, so that removals and scalings are exact; a kernel value depends on its
two vectors alone. Neither depends on where blocks begin: block sizes agree to the last bit. Where rounding
could decide an output's sign it is summed again with the C library's exp (ties.py).
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from omkl.engine.by_address import NO_POINTER, Addresses, call, pointers_of
from omkl.engine.called_kernels import called_gram_row, called_of_slot, called_own, called_pair
from omkl.engine.classes import make_classes, margins, strongest_rival
from omkl.engine.conventions import within_range
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernels import CALLED, Pool, form_of, of_distance, value
from omkl.engine.lanes import LANES
from omkl.engine.open_block import (
    block_products,
    fill_block,
    grown,
    is_open,
    make_block,
    n_rows,
    row_of,
    used_products,
    whole_lanes,
    with_room,
)
from omkl.engine.records import method
from omkl.engine.slot_values import TILE, fill_slots, most, rows_together, slot_values, sum_slots
from omkl.engine.stores import Store
from omkl.engine.stream import empty_stream, row
from omkl.engine.ties import doubtful

BLOCK = 64
UNLIMITED = 2**40  # more vectors than anyone will store: the budget of classifiers without one


class Budget(
    Store,
    namedtuple(
        "Budget",
        "pool limit A self_kernel holds born n_put n_sv n_sv_union n_sv_sum oldest ends indices values norm2 "
        "origin users free n_free newest newest_round n_rows_filled open dots K f g tile dense classes "
        "pointers",
    ),
):
    """m classifiers with slots of their own.

    pool                the kernels
    limit (1,)          the budget: slots per kernel; arrays over slots have S <= limit, as many as needed
    A (S, m, C)         coefficients, 0 in empty slots; C = 1 for two classes
    self_kernel (S, m)  kappa_i(x_s, x_s)
    holds (S, m)        example in each slot, as its number in the store below
    n_sv (m,)           slots in use, always the first ones
    n_sv_union (1,)     distinct stored examples
    n_sv_sum (1,)       slots in use over all kernels, the papers' #SV
    born (S, m)         when each slot was filled: the number of examples put before, over all kernels
    n_put (1,)          examples put so far
    oldest (m,)         the slot to be overwritten next where the oldest goes first
    ends (2 N,)         first and last-plus-one position of a stored example in
    indices, values (N stride,)    the stored examples, sparse; each has the room of the longest
    norm2 (N,)          squared norms
    origin (N,)         the stored examples as row numbers of the data
    users (N,)          slots that hold the example
    free (N,) n_free (1,)   the examples without a user, as a stack
    newest, newest_round (1,)   the example stored last, and its round; of the open block's, -1 for none
    n_rows_filled (1,)  the first row of the open block that has no kernel values yet
    open                the open block: open_block.py
    dots (N, R)         dot products of the stored examples with its rows
    K (C, S, m)         kernel values of C of its rows with the slots, C a part of R
    f (m,) g (m, C)     outputs of the last call of `outputs`, and sums of their terms' absolute values; with
                        more than two classes f are margins, and g is of the class scores
    tile (m + 1, TILE), dense (d,)    scratch; dense is 0
    classes             what the learner sees of more than two classes: classes.py; None for two
    pointers            to the engine's functions for this record: by_address.py
    """


def make_budget(pool: Pool, budget: int, d: int, block: int = BLOCK, classes: int | None = None) -> Budget:
    """Return empty classifiers of at most `budget` vectors each; ``reserve`` gives them room.

    classes: how many, where there are more than two.
    """
    m = pool.kind.size
    each = (m, classes or 1)
    R = whole_lanes(block)
    return Budget(
        pool=pool,
        limit=np.array([budget]),
        A=np.zeros((0, *each)),
        self_kernel=np.zeros((0, m)),
        holds=np.zeros((0, m), np.int64),
        born=np.zeros((0, m), np.int64),
        n_put=np.zeros(1, np.int64),
        n_sv=np.zeros(m, np.int64),
        n_sv_union=np.zeros(1, np.int64),
        n_sv_sum=np.zeros(1, np.int64),
        oldest=np.zeros(m, np.int64),
        ends=np.zeros(0, np.int64),
        indices=np.zeros(0, np.int32),
        values=np.zeros(0),
        norm2=np.zeros(0),
        origin=np.zeros(0, np.int64),
        users=np.zeros(0, np.int64),
        free=np.zeros(0, np.int64),
        n_free=np.zeros(1, np.int64),
        newest=np.full(1, -1),
        newest_round=np.full(1, -1),
        n_rows_filled=np.full(1, -1),
        open=make_block(d, block, R, bool(pool.called[0])),
        dots=np.zeros((0, R)),
        K=kernel_room(R, 0, m),
        f=np.zeros(m),
        g=np.zeros(each),
        tile=np.zeros((m + 1, TILE)),
        dense=np.zeros(d),
        classes=make_classes(m, classes),
        pointers=NO_POINTERS,
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
    examples = max(N, min(m * slots, int(B.n_sv_union[0]) + vectors) + 1)
    if examples > N:
        examples = max(examples, min(m * slots + 1, N + N // 2))
    if slots > S:
        A, self_kernel, holds, born = (
            grown(array, S, slots) for array in (B.A, B.self_kernel, B.holds, B.born)
        )
        B = B._replace(A=A, self_kernel=self_kernel, holds=holds, born=born, K=kernel_room(R, slots, m))
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
    if (opened := with_room(B.open, longest)) is not B.open:
        B = B._replace(open=opened)
    return B if B.pointers != NO_POINTERS else B._replace(pointers=budget_pointers(B))


# ------------------------------------------------------------------ coefficients, of two classes and of more


@method(Budget)
@compiled
def columns(B, i):
    """Kernel i's coefficients (n, C), slot by slot, of each class; (n, 1) for two classes."""
    return B.A[: B.n_sv[i], i]


@method(Budget)
@compiled
def sizes(B, i):
    """|a_s| (n,) of kernel i's coefficients, as of a step: with more classes (1/2 sum_c a_sc^2)^1/2."""
    a = columns(B, i)
    size = np.empty(len(a))
    for s in range(len(a)):
        size[s] = abs(a[s, 0]) if a.shape[1] == 1 else math.sqrt(0.5 * (a[s] * a[s]).sum())
    return size


@compiled
def norms(A, n):
    """The first n slots' coefficients (n, m), or their norms over classes."""
    m = A.shape[1]
    if A.shape[2] == 1:
        return A[:n].reshape((n, m))
    norm = np.empty((n, m))
    for s in range(n):
        for i in range(m):
            norm[s, i] = math.sqrt((A[s, i] * A[s, i]).sum())
    return norm


@method(Budget)
@compiled
def held(B, s, i):
    """A copy of the coefficients (C,) of kernel i's slot s."""
    return B.A[s, i].copy()


@method(Budget)
@compiled_without_refcounts
def put_more(B, s, i, before, share, whole):
    """Add share / whole times what kernel i's slot s held `before` (C,) to its coefficients."""
    A = B.A
    for c in range(before.size):
        A[s, i, c] = within_range(before[c] * share / whole + A[s, i, c])


@compiled
def settle_classes(B, t, i, scores, g, label):
    """Sum kernel i's class scores (C,) plainly where rounding could decide which are largest."""
    rival, doubt = strongest_rival(scores, label), False
    for c in range(scores.size):
        if c != rival and of_distance(B.pool.kind[i]):
            doubt |= doubtful(scores[rival] - scores[c], 2 * B.n_sv[i], g[rival] + g[c])
    if doubt:
        for c in range(scores.size):
            scores[c] = settled(B, t, i, columns(B, i)[:, c])


@compiled_without_refcounts
def settled(B, t, i, a):
    """f_i(x_t) of coefficients a (n,) by one plain sum, left to right, with the C library's exp."""
    form, r, total = form_of(B.pool, i), row_of(B.open, t), 0.0
    for s in range(a.size):
        e = B.holds[s, i]
        total += a[s] * value(form, B.dots[e, r], B.norm2[e], B.open.row_norm2[r])
    return total


# ------------------------------------------------------------------ the open block


class Pointers(
    Addresses, namedtuple("Pointers", "read add open_block fill_rows fill_slot store self_kernels gram_row")
):
    """Addresses of functions below and in budgeted.py, for one record: by_address.py."""


NO_POINTERS = Pointers(*[NO_POINTER] * len(Pointers._fields))


@compiled
def place(B, t):
    """Where K has the kernel values of round t, among those of the rows that are kept."""
    return row_of(B.open, t) % B.K.shape[0]


@compiled_without_refcounts
def open_block(B, stream, t):
    """Lay out the block that starts at round t, and fill its dot products with every stored vector."""
    fill_block(B.open, stream, t)
    B.newest_round[0], B.n_rows_filled[0] = -1, 0
    used_products(B, whole_lanes(n_rows(B.open)))


@compiled_without_refcounts
def fill_rows(B, t):
    """Fill the kernel values of the open block's next rows with every slot in use, from round t's on."""
    low = row_of(B.open, t) - place(B, t)
    rows = min(B.K.shape[0], whole_lanes(n_rows(B.open)) - low)
    fill_slots(B, low, rows)
    B.n_rows_filled[0] = min(low + rows, n_rows(B.open))


@compiled_without_refcounts
def fill_slot(B, t, s, i):
    """Fill the kernel values of kernel i's slot s, which took example t, with the rows kept after round t."""
    e, now = B.newest[0], row_of(B.open, t)
    rows, values = B.n_rows_filled[0] - now - 1, B.tile[0]
    row_norm2, dots, form = B.open.row_norm2[now + 1 :], B.dots[e, now + 1 :], form_of(B.pool, i)
    K, after = B.K, place(B, t) + 1
    if form[0] == CALLED:
        called_of_slot(B, i, e, now + 1, rows, values)
    else:
        slot_values(form, B.norm2[e], row_norm2, dots, rows, B.tile[1], values)
    for r in range(rows):
        K[after + r, s, i] = values[r]


@compiled_without_refcounts
def store(B, stream, t):
    """Put example t in the store, when the first kernel takes it; B.newest is its number."""
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
    B.n_sv_union[0] += 1
    B.newest_round[0], B.newest[0] = t, e
    low, high = (row_of(B.open, t) + 1) // LANES * LANES, whole_lanes(n_rows(B.open))
    block_products(B, low, high, e, low)


def budget_pointers(B: Any) -> Pointers:
    """Return the pointers to these functions for a Budget."""
    stream = empty_stream(B.classes is not None)
    return pointers_of(
        Pointers,
        {
            "read": (_read, B, stream, 0),
            "add": (_add, B, stream, 0, 0, 0, 0.0),
            "open_block": (open_block, B, stream, 0),
            "fill_rows": (fill_rows, B, 0),
            "fill_slot": (fill_slot, B, 0, 0, 0),
            "store": (store, B, stream, 0),
            "self_kernels": (called_own, B, 0, B.f),
            "gram_row": (called_gram_row, B, 0, 0, B.f),
        },
    )


# ------------------------------------------------------------------ what learners call


@method(Budget)
@compiled
def outputs(B, stream, t):
    """f (m,): f_i(x_t), of more than two classes margins (classes.py); the next call reuses the array."""
    call(B.pointers.read, (B, stream, t))
    return B.f


@compiled
def _read(B, stream, t):
    """Write the outputs of round t into B.f."""
    if not is_open(B.open, t):
        call(B.pointers.open_block, (B, stream, t))
    if row_of(B.open, t) >= B.n_rows_filled[0]:
        call(B.pointers.fill_rows, (B, t))
    f, g, n_sv = B.f, B.g, B.n_sv
    if B.classes is not None:
        _read_classes(B, stream, t)
        return
    sum_slots(B.A.reshape((len(B.A), f.size)), B.K, place(B, t), most(n_sv), f, g.reshape(-1))
    for i in range(f.size):
        if of_distance(B.pool.kind[i]) and doubtful(f[i], n_sv[i], g[i, 0]):
            f[i] = settled(B, t, i, columns(B, i)[:, 0])


@compiled
def _read_classes(B, stream, t):
    """The class scores and margins of round t, settled where rounding could decide."""
    A, K, f, g, scores = B.A, kernel_values(B, t), B.f, B.g, B.classes.scores
    scores[:] = 0.0
    g[:] = 0.0
    for s in range(most(B.n_sv)):
        for i in range(f.size):
            a, k, total, size = A[s, i], K[s, i], scores[i], g[i]
            for c in range(a.size):
                term = a[c] * k
                total[c] += term
                size[c] += abs(term)
    for i in range(f.size):
        settle_classes(B, t, i, scores[i], g[i], stream.label[t])
    margins(B.classes, stream.label[t], f)


@method(Budget)
@compiled
def kernel_values(B, t):
    """K (S, m): kappa_i(x_s, x_t) of every slot in use with the round of the last call of `outputs`."""
    return B.K[place(B, t)]


@method(Budget)
@compiled
def output_again(B, t, i):
    """f_i(x_t) of that round, or its margin, after its coefficients changed."""
    K, a, classes = kernel_values(B, t), columns(B, i), B.classes
    scores = np.zeros(1) if classes is None else classes.scores[i]
    scores[:] = 0.0
    for s in range(len(a)):
        for c in range(scores.size):
            scores[c] += a[s, c] * K[s, i]
    if classes is None:
        return scores[0]
    label = classes.label[0]
    classes.rival[i] = strongest_rival(scores, label)
    return scores[label] - scores[classes.rival[i]]


@method(Budget)
@compiled
def self_kernels(B, t):
    """kappa_i(x_t, x_t) (m,) of that round."""
    values = np.empty(B.f.size)
    norm2 = B.open.row_norm2[row_of(B.open, t)]
    for i in range(values.size):
        values[i] = value(form_of(B.pool, i), norm2, norm2, norm2)
    if B.pool.called[0]:
        call(B.pointers.self_kernels, (B, row_of(B.open, t), values))
    return values


@method(Budget)
@compiled
def budget(B):
    """How many slots each kernel may use."""
    return B.limit[0]


@method(Budget)
@compiled
def used(B, i):
    """How many slots kernel i uses, always the first ones: the number of its first empty slot."""
    return B.n_sv[i]


@method(Budget)
@compiled
def has_room(B, i):
    """Whether kernel i has an empty slot."""
    return B.n_sv[i] < B.limit[0]


@method(Budget)
@compiled
def oldest_slot(B, i):
    """The slot that `add_over_oldest` takes when kernel i has no room."""
    return B.oldest[i]


@method(Budget)
@compiled
def ages(B, i):
    """When each of kernel i's vectors was stored (n,), slot by slot: smaller numbers are older."""
    return B.born[: B.n_sv[i], i]


@method(Budget)
@compiled
def slot_of(B, stream, t, i):
    """The slot of kernel i that holds example t, -1 where none does: it may come again in another pass."""
    for s in range(B.n_sv[i]):
        if B.origin[B.holds[s, i]] == stream.order[t]:
            return s
    return -1


@method(Budget)
@compiled
def coefficients(B, i):
    """Kernel i's coefficients (n,) for two classes, slot by slot; writing into them changes the function."""
    return B.A[: B.n_sv[i], i, 0]


@method(Budget)
@compiled
def own_kernels(B, i):
    """kappa_i(x_s, x_s) (n,) of kernel i's stored vectors, slot by slot."""
    return B.self_kernel[: B.n_sv[i], i]


@method(Budget)
@compiled
def slots(B):
    """Coefficients, kappa(x_s, x_s) and ages (n, m) of all slots in use; smaller numbers are older.

    Where there are more than two classes: the norms over classes of the coefficients.
    """
    n = most(B.n_sv)
    return norms(B.A, n), B.self_kernel[:n], B.born[:n]


@method(Budget)
@compiled
def term_sums(B):
    """g (m, C): the sums of the absolute values of the terms of the last outputs."""
    return B.g


@method(Budget)
@compiled_without_refcounts
def add(B, stream, t, i, s, a):
    """Store example t in slot s of kernel i with coefficient a, in place of what it held."""
    call(B.pointers.add, (B, stream, t, i, s, np.float64(a)))


@compiled_without_refcounts
def _add(B, stream, t, i, s, a):
    """`add`."""
    if s == B.n_sv[i]:
        B.n_sv[i] += 1
        B.n_sv_sum[0] += 1
    else:
        _release(B, B.holds[s, i])
    if B.newest_round[0] != t:
        call(B.pointers.store, (B, stream, t))
    e, form = B.newest[0], form_of(B.pool, i)
    B.users[e] += 1
    B.holds[s, i], B.born[s, i] = e, B.n_put[0]
    B.n_put[0] += 1
    if B.classes is None:
        B.A[s, i, 0] = a
    else:
        B.A[s, i] = 0.0
        B.A[s, i, B.classes.label[0]] = a
        B.A[s, i, B.classes.rival[i]] = -a
    B.self_kernel[s, i] = value(form, B.norm2[e], B.norm2[e], B.norm2[e]) if form[0] != CALLED else 0.0
    if form[0] == CALLED:
        called_pair(B, i, e, e, B.norm2[e : e + 1], B.self_kernel[s, i : i + 1])
    if row_of(B.open, t) + 1 < B.n_rows_filled[0]:
        call(B.pointers.fill_slot, (B, t, s, i))


@method(Budget)
@compiled
def remove(B, t, i, s):
    """Empty slot s of kernel i in round t: the last slot in use takes its number."""
    last = B.n_sv[i] - 1
    _release(B, B.holds[s, i])
    B.holds[s, i], B.born[s, i] = B.holds[last, i], B.born[last, i]
    B.A[s, i], B.self_kernel[s, i] = B.A[last, i], B.self_kernel[last, i]
    B.A[last, i] = 0.0
    for r in range(place(B, t), len(B.K)):
        B.K[r, s, i] = B.K[r, last, i]
    B.n_sv[i] = last
    B.n_sv_sum[0] -= 1


@method(Budget)
@compiled_without_refcounts
def add_over_oldest(B, stream, t, i, a):
    """Store example t in place of kernel i's oldest vector, or in an empty slot."""
    if has_room(B, i):
        add(B, stream, t, i, B.n_sv[i], a)
    else:
        add(B, stream, t, i, B.oldest[i], a)
        B.oldest[i] = (B.oldest[i] + 1) % B.limit[0]


@method(Budget)
@compiled_without_refcounts
def forget(B, i):
    """f_i <- 0; its vectors stay."""
    B.A[:, i] = 0.0


@method(Budget)
@compiled
def scale(B, i, c):
    """f_i <- c f_i, in the coefficients themselves."""
    a = columns(B, i)
    for s in range(len(a)):
        for k in range(a.shape[1]):
            a[s, k] *= c


@method(Budget)
@compiled_without_refcounts
def scale_all(B, c):
    """f_i <- c f_i for every kernel."""
    a = B.A.reshape(-1)
    for k in range(most(B.n_sv) * (a.size // max(len(B.A), 1))):
        a[k] *= c


@compiled_without_refcounts
def _release(B, e):
    """One slot fewer holds example e; without any it leaves the store."""
    B.users[e] -= 1
    if B.users[e] == 0:
        B.free[B.n_free[0]] = e
        B.n_free[0] += 1
        B.n_sv_union[0] -= 1
