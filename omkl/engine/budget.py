"""m classifiers f_i(x) = sum_s A[s, i] kappa_i(x_s, x) of at most `budget` stored vectors each.

Every kernel has slots of its own, which may be overwritten and scaled. All blocking hides here: ``outputs``
opens a block, the kernel values K of every slot with the block's rows; ``put`` writes the new vector's values
over those of the slot that it takes. An output is one plain sum over the slots in the order of their
numbers, at the time it is asked for, and every kernel value is its definition with the C library's exp.
So removals and scalings are exact, no sign is left to rounding, and block sizes agree to the last bit.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from omkl.engine.block import block_room, lay_out
from omkl.engine.pool import GAUSSIAN, POLYNOMIAL, Pool, plain, plain_cosine
from omkl.engine.stream import row
from omkl.engine.tiles import LANES, dot_products

BLOCK = 64

# pool                the kernels
# limit (1,)          the budget: slots per kernel. Arrays over slots hold S <= limit of them, as far as needed
# A (S, m)            coefficients, 0 in empty slots
# own (S, m)          kappa_i(x_s, x_s)
# holds (S, m)        example in each slot, as its number in the store below
# n_sv (m,)           slots in use, always the first ones
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
# dense (d,)          scratch, 0
# f (m,)              outputs of the round that was asked for last
Budget = namedtuple(
    "Budget",
    "pool limit A own holds n_sv oldest size ends indices values norm2 users free n_free now "
    "block slot columns rows row_norm2 dots K dense f",
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
        block=np.zeros(4, np.int64),
        slot=np.zeros(d, np.int32),
        columns=np.empty(0, np.int32),
        rows=np.zeros((1, R)),
        row_norm2=np.zeros(R),
        dots=np.zeros((0, R)),
        K=np.zeros((R, 0, m)),
        dense=np.zeros(d),
        f=np.zeros(m),
    )


def reserve_slots(B: Budget, vectors: int, longest: int) -> Budget:
    """Return B with room for so many more vectors within the budget, and for examples this long."""
    R, S, m = B.K.shape
    N = B.norm2.size
    slots = max(S, min(int(B.limit[0]), int(B.n_sv.max()) + vectors))
    examples = max(N, min(m * slots, int(B.size[0]) + vectors) + 1)
    if slots > S:
        A, own, holds = (_extended(array, slots) for array in (B.A, B.own, B.holds))
        B = B._replace(A=A, own=own, holds=holds, K=np.zeros((R, slots, m)))
    stride = max(longest, B.values.size // N if N else 0)
    if examples * stride > B.values.size:
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
    K, A, f = kernel_values(B, t), B.A, B.f
    f[:] = 0.0
    for s in range(B.n_sv.max()):
        a, k = A[s], K[s]
        for i in range(f.size):
            f[i] += a[i] * k[i]
    return f


@njit(cache=True)
def kernel_values(B, t):
    """K (S, m): kappa_i(x_s, x_t) of every slot in use with the round whose outputs were asked for last."""
    return B.K[t - B.block[0]]


@njit(cache=True)
def self_kernel(B, t, i):
    """kappa_i(x_t, x_t) of that round."""
    norm2 = B.row_norm2[t - B.block[0]]
    return _value(B.pool, i, norm2, norm2, norm2)


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
    B.holds[s, i] = e
    B.A[s, i] = a
    B.own[s, i] = self_kernel(B, t, i)
    _fill(B.pool, i, B.norm2[e], B.row_norm2, B.dots[e], t + 1 - B.block[0], B.block[1] - B.block[0], B.K[:, s, i])


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
def output_at(B, i, q):
    """f_i at the vector in its own slot q."""
    ends, indices, values, dense = B.ends, B.indices, B.values, B.dense
    there = B.holds[q, i]
    for k in range(ends[2 * there], ends[2 * there + 1]):
        dense[indices[k]] = values[k]
    total = 0.0
    for s in range(B.n_sv[i]):
        e = B.holds[s, i]
        dot = 0.0
        for k in range(ends[2 * e], ends[2 * e + 1]):
            dot += dense[indices[k]] * values[k]
        total += B.A[s, i] * _value(B.pool, i, dot, B.norm2[e], B.norm2[there])
    for k in range(ends[2 * there], ends[2 * there + 1]):
        dense[indices[k]] = 0.0
    return total


@njit(cache=True)
def _value(pool, i, dot, norm2, other_norm2):
    """kappa_i of two vectors from their dot product and squared norms: the one place it is evaluated."""
    if pool.kind[i] != POLYNOMIAL:
        distance = norm2 + other_norm2 - 2.0 * dot
        return plain(pool.kind[i] == GAUSSIAN, pool.rate[i], distance if distance > 0.0 else 0.0)
    if pool.cosine[0]:
        return plain_cosine(pool.rate[i], pool.coef0[i], pool.degree[i], dot, norm2, other_norm2)
    base = pool.rate[i] * dot + pool.coef0[i]
    power = base
    for _ in range(pool.degree[i] - 1):
        power *= base
    return power


@njit(cache=True)
def _fill(pool, i, norm2, row_norm2, dot, low, high, out):
    """out[r] = kappa_i of a stored vector with the block's rows r, low <= r < high."""
    for r in range(low, high):
        out[r] = _value(pool, i, dot[r], norm2, row_norm2[r])


@njit(cache=True)
def _open_block(B, stream, t):
    """Lay out the block that starts at round t, and fill its kernel values with every slot in use."""
    lay_out(B, stream, t)
    B.now[0] = -1
    count = B.block[1] - B.block[0]
    for e in range(B.users.size):
        if B.users[e] > 0:
            _multiply(B, e, 0)
    pool, holds, dots, norm2, row_norm2, K, n_sv = B.pool, B.holds, B.dots, B.norm2, B.row_norm2, B.K, B.n_sv
    for s in range(n_sv.max()):
        for i in range(n_sv.size):
            if s < n_sv[i]:
                e = holds[s, i]
                _fill(pool, i, norm2[e], row_norm2, dots[e], 0, count, K[:, s, i])


@njit(cache=True)
def _multiply(B, e, low):
    """Dot products of stored example e with the block's rows from `low` on."""
    low = low // LANES * LANES
    high = -(-(B.block[1] - B.block[0]) // LANES) * LANES
    if low < high:
        out = B.dots[e : e + 1, low:]
        dot_products(B.ends, B.indices, B.values, B.slot, B.rows, low, high, 2 * e, 1, out)


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
    _multiply(B, e, t + 1 - B.block[0])
    return e


@njit(cache=True)
def _release(B, e):
    """One slot fewer holds example e; without any it leaves the store."""
    B.users[e] -= 1
    if B.users[e] == 0:
        B.free[B.n_free[0]] = e
        B.n_free[0] += 1
        B.size[0] -= 1
