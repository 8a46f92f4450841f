"""m classifiers f_i(x) = sum_s A[s, i] kappa_i(x_s, x) of at most `budget` stored vectors each.

Every kernel has slots of its own, which may be overwritten and scaled. All blocking hides here: ``outputs``
opens a block, the kernel values K of every slot with the block's rows; ``put`` writes the new vector's values
over those of the slot that it takes. An output is one plain sum over the slots in the order of their
numbers, at the time it is asked for, so that removals and scalings are exact; a kernel value depends on its
two vectors alone. Neither depends on where blocks begin: block sizes agree to the last bit. Where rounding
could decide an output's sign it is summed again with the C library's exp (ties.py).
"""

from collections import namedtuple

import numpy as np
from numba import njit

from omkl.engine.dot_products import LANES, dot_products
from omkl.engine.kernel_values import fill, fill_all, plain_sum, pool_value
from omkl.engine.kernels import of_distance
from omkl.engine.open_block import block_room, lay_out
from omkl.engine.pool import Pool
from omkl.engine.stream import row
from omkl.engine.ties import doubtful

BLOCK = 64

# pool                the kernels
# limit (1,)          the budget: slots per kernel; arrays over slots have S <= limit, as many as needed
# A (S, m)            coefficients, 0 in empty slots
# own (S, m)          kappa_i(x_s, x_s)
# holds (S, m)        example in each slot, as its number in the store below
# n_sv (m,)           slots in use, always the first ones
# born (S, m)         when each slot was filled: the number of examples put before, over all kernels
# n_put (1,)          examples put so far
# oldest (m,)         the slot to be overwritten next where the oldest goes first
# size (2,)           distinct stored examples (the union), slots in use over all kernels (the papers' #SV)
# ends (2 N,)         first and last-plus-one position of a stored example in
# indices, values (N stride,)    the stored examples, sparse; each has the room of the longest
# norm2 (N,)          squared norms
# users (N,)          slots that hold the example
# free (N,) n_free (1,)   the examples without a user, as a stack
# now (2,)            the round whose example was stored last, and its number
# block, slot, columns, rows, row_norm2      the open block: block.py
# dots (N, R)         dot products of the stored examples with its rows
# K (R, S, m)         kernel values of its rows with the slots
# f, g (m,)           outputs of the last round that was asked for, and sums of their terms' absolute values
# tile (m + 1, R), dense (d,), some_dots (S,)    scratch; dense is 0
Budget = namedtuple(
    "Budget",
    "pool limit A own holds born n_put n_sv oldest size ends indices values norm2 users free n_free now "
    "block slot columns rows row_norm2 dots K f g tile dense some_dots",
)


def make_budget(pool: Pool, budget: int, d: int, block: int = BLOCK) -> Budget:
    """Return empty classifiers of at most `budget` vectors each; ``reserve`` gives them room."""
    m = pool.kind.size
    R = -(-block // LANES) * LANES
    return Budget(
        pool=pool,
        limit=np.array([budget]),
        A=np.zeros((0, m)),
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
        users=np.zeros(0, np.int64),
        free=np.zeros(0, np.int64),
        n_free=np.zeros(1, np.int64),
        now=np.full(2, -1),
        block=np.array([0, 0, 0, 0, block]),
        slot=np.zeros(d, np.int32),
        columns=np.empty(0, np.int32),
        rows=np.zeros((1, R)),
        row_norm2=np.zeros(R),
        dots=np.zeros((0, R)),
        K=np.zeros((R, 0, m)),
        f=np.zeros(m),
        g=np.zeros(m),
        tile=np.zeros((m + 1, R)),
        dense=np.zeros(d),
        some_dots=np.zeros(0),
    )


def reserve_slots(B: Budget, vectors: int, longest: int) -> Budget:
    """Return B with room for so many more vectors within the budget, and for examples this long."""
    R, S, m = B.K.shape
    N = B.norm2.size
    slots = max(S, min(int(B.limit[0]), int(B.n_sv.max()) + vectors))
    examples = max(N, min(m * slots, int(B.size[0]) + vectors) + 1)
    if slots > S:
        A, own, holds, born = (_extended(array, slots) for array in (B.A, B.own, B.holds, B.born))
        B = B._replace(A=A, own=own, holds=holds, born=born)
        B = B._replace(K=np.zeros((R, slots, m)), some_dots=np.zeros(slots))
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
        norm2, users, free = (_extended(array, examples) for array in (B.norm2, B.users, B.free))
        more = np.arange(examples - 1, N - 1, -1)
        free[B.n_free[0] : B.n_free[0] + more.size] = more
        B.n_free[0] += more.size
        B = B._replace(norm2=norm2, users=users, free=free, dots=np.empty((examples, R)))
    return B._replace(**block_room(B, longest))


def _extended(array: np.ndarray, size: int) -> np.ndarray:
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def outputs(B, stream, t):
    """f (m,): f_i(x_t) of all m classifiers. The array is reused by the next call."""
    if not B.block[0] <= t < B.block[1]:
        _open_block(B, stream, t)
    K, A, f, g, n_sv = kernel_values(B, t), B.A, B.f, B.g, B.n_sv
    f[:] = 0.0
    g[:] = 0.0
    for s in range(n_sv.max()):
        a, k = A[s], K[s]
        for i in range(f.size):
            term = a[i] * k[i]
            f[i] += term
            g[i] += abs(term)
    for i in range(f.size):
        if of_distance(B.pool.kind[i]) and doubtful(f[i], n_sv[i], g[i]):
            f[i] = _settled(B, t, i)
    return f


@njit(cache=True)
def kernel_values(B, t):
    """K (S, m): kappa_i(x_s, x_t) of every slot in use with the round whose outputs were asked for last."""
    return B.K[t - B.block[0]]


@njit(cache=True)
def self_kernels(B, t):
    """kappa_i(x_t, x_t) (m,) of that round."""
    own = np.empty(B.f.size)
    norm2 = B.row_norm2[t - B.block[0]]
    for i in range(own.size):
        own[i] = pool_value(B.pool, i, norm2, norm2, norm2)
    return own


@njit(cache=True)
def has_room(B, i):
    """Whether kernel i has an empty slot; the first is number B.n_sv[i]."""
    return B.n_sv[i] < B.limit[0]


@njit(cache=True)
def put(B, stream, t, i, s, a):
    """Store example t in slot s of kernel i with coefficient a, in place of what it held."""
    if s == B.n_sv[i]:
        B.n_sv[i] += 1
        B.size[1] += 1
    else:
        _release(B, B.holds[s, i])
    e = _stored(B, stream, t)
    B.users[e] += 1
    B.holds[s, i], B.born[s, i] = e, B.n_put[0]
    B.n_put[0] += 1
    B.A[s, i] = a
    B.own[s, i] = pool_value(B.pool, i, B.norm2[e], B.norm2[e], B.norm2[e])
    low, high = t + 1 - B.block[0], B.block[1] - B.block[0]
    pool, values = B.pool, B.tile[0]
    fill(
        pool.kind[i],
        pool.rate[i],
        pool.shape[i],
        pool.degree[i],
        pool.cosine[0],
        B.norm2[e],
        B.row_norm2[low:],
        B.dots[e, low:],
        high - low,
        B.tile[1],
        values,
    )
    K = B.K
    for r in range(low, high):
        K[r, s, i] = values[r - low]


@njit(cache=True)
def remove(B, t, i, s):
    """Empty slot s of kernel i in round t: the last slot in use takes its number."""
    last = B.n_sv[i] - 1
    _release(B, B.holds[s, i])
    B.holds[s, i], B.born[s, i] = B.holds[last, i], B.born[last, i]
    B.A[s, i], B.own[s, i] = B.A[last, i], B.own[last, i]
    B.A[last, i] = 0.0
    now, stop = t - B.block[0], B.block[1] - B.block[0]
    B.K[now:stop, s, i] = B.K[now:stop, last, i]
    B.n_sv[i] = last
    B.size[1] -= 1


@njit(cache=True)
def put_over_oldest(B, stream, t, i, a):
    """Store example t in place of kernel i's oldest vector, or in an empty slot."""
    if has_room(B, i):
        put(B, stream, t, i, B.n_sv[i], a)
    else:
        put(B, stream, t, i, B.oldest[i], a)
        B.oldest[i] = (B.oldest[i] + 1) % B.limit[0]


@njit(cache=True)
def scale(B, i, c):
    """f_i <- c f_i, in the coefficients themselves."""
    for s in range(B.n_sv[i]):
        B.A[s, i] *= c


@njit(cache=True)
def scale_all(B, c):
    """f_i <- c f_i for every kernel."""
    A = B.A
    for s in range(B.n_sv.max()):
        a = A[s]
        for i in range(a.size):
            a[i] *= c


@njit(cache=True)
def _settled(B, t, i):
    """f_i(x_t) with the C library's exp."""
    r, n = t - B.block[0], B.n_sv[i]
    for s in range(n):
        B.some_dots[s] = B.dots[B.holds[s, i], r]
    return plain_sum(B.pool, i, B.A[:n, i], B.holds[:n, i], B.norm2, B.row_norm2[r], B.some_dots)


@njit(cache=True)
def _open_block(B, stream, t):
    """Lay out the block that starts at round t, and fill its kernel values with every slot in use."""
    lay_out(B, stream, t)
    B.now[0] = -1
    ends, indices, values = B.ends, B.indices, B.values
    slot, rows, dots, users = B.slot, B.rows, B.dots, B.users
    count = B.block[1] - B.block[0]
    high = -(-count // LANES) * LANES
    for e in range(users.size):
        if users[e] > 0:
            dot_products(ends, indices, values, slot, rows, 0, high, 2 * e, 1, dots[e : e + 1])
    fill_all(B.pool, B.n_sv, B.holds, B.norm2, B.row_norm2, B.dots, count, B.tile, B.K)


@njit(cache=True)
def _stored(B, stream, t):
    """The number of example t in the store, which it enters when its first kernel takes it."""
    if B.now[0] == t:
        return B.now[1]
    B.n_free[0] -= 1
    e = B.free[B.n_free[0]]
    start, stop = row(stream, t)
    at = B.ends[2 * e]
    for k in range(start, stop):
        B.indices[at] = stream.indices[k]
        B.values[at] = stream.values[k]
        at += 1
    B.ends[2 * e + 1] = at
    B.norm2[e] = B.row_norm2[t - B.block[0]]
    B.size[0] += 1
    B.now[0], B.now[1] = t, e
    low, high = (t + 1 - B.block[0]) // LANES * LANES, -(-(B.block[1] - B.block[0]) // LANES) * LANES
    if low < high:
        out = B.dots[e : e + 1, low:]
        dot_products(B.ends, B.indices, B.values, B.slot, B.rows, low, high, 2 * e, 1, out)
    return e


@njit(cache=True)
def _release(B, e):
    """One slot fewer holds example e; without any it leaves the store."""
    B.users[e] -= 1
    if B.users[e] == 0:
        B.free[B.n_free[0]] = e
        B.n_free[0] += 1
        B.size[0] -= 1
