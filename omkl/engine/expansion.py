"""The m classifiers f_i(x) = sum_j A[i, j] kappa_i(x_j, x) over one shared list of stored vectors.

All blocking hides here. ``outputs`` opens a block: the outputs of the next B examples against everything
stored so far, tile by tile. ``add`` stores a vector and brings the remaining rows of the open block up to
date. Each output is one sum over the stored vectors in the order in which they were stored, each kernel
value depends on its two vectors alone, and neither depends on B: block sizes agree to the last bit.
"""

import math
from collections import namedtuple
from functools import partial

import numpy as np

from omkl.engine.by_address import NO_POINTER, Addresses, call, pointers_of
from omkl.engine.called_kernels import called_own
from omkl.engine.classes import make_classes, margins
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernel_sums import accumulate, bit, make_tile
from omkl.engine.kernels import Pool, own_values
from omkl.engine.lanes import LANES
from omkl.engine.lookup import (
    forget_stored,
    make_tables,
    may_look_up,
    plain_looked_up,
    prepare,
    sum_looked_up,
    words,
)
from omkl.engine.open_block import (
    dot_products,
    fill_block,
    grown,
    invalidate,
    is_open,
    make_block,
    n_rows,
    row_of,
    whole_lanes,
    with_room,
)
from omkl.engine.records import method
from omkl.engine.stores import Store
from omkl.engine.stream import empty_stream, row
from omkl.engine.ties import is_sign_uncertain, plain_sums, resum_exactly, resum_rows, track

BLOCK = 128
LEAST_SCALE = 1e-100  # below this a scale goes into the coefficients: one step's are divided by it


class Expansion(
    Store,
    namedtuple(
        "Expansion",
        "pool A kernel_mask indptr indices values norm2 bits origin n_sv n_sv_union n_sv_sum "
        "max_abs_coefficient open tile scores abs_scores tracked f settled doubt exact tables classes "
        "class_of n_sv_per_class pointers",
    ),
):
    """m classifiers over one list of stored vectors.

    pool                the kernels
    A (m, capacity)     coefficients; only the first n_sv_union columns are defined
    kernel_mask (capacity,)   the kernels with a non-zero coefficient, as bits
    indptr (capacity+1,) indices, values (nnz capacity,)   the stored vectors, sparse
    norm2 (capacity,)   their squared norms
    bits (capacity, words)   their columns as bits, of vectors of 0 and 1: lookup.py
    origin (capacity,)  their examples, as row numbers of the data
    n_sv (m,)           non-zero coefficients per kernel
    n_sv_union (1,)     stored vectors
    n_sv_sum (1,)       non-zero coefficients over all kernels, the papers' #SV
    open                the open block: open_block.py
    tile                room for one tile of work
    scores (m C, R)     outputs of the block's rows so far; of more than two classes kernel i has rows i C ..
                        (i + 1) C - 1, else C = 1
    abs_scores (m C, R) the same with absolute coefficients, for the kernels that are tracked (m,) for ties
    f (m,)              outputs of the last call of `outputs`
    settled, doubt (m, R) exact (m C, R)   plain sums where rounding decides: ties.py
    max_abs_coefficient (m,)    largest absolute coefficient of each kernel
    tables              kernel values on data of whole numbers: lookup.py; None for more than two
                        classes
    None for two classes:
    classes             what the learner sees of C classes: classes.py
    class_of (m+1, capacity)    the class in which each kernel holds -A[i, j]; last that in which
                        all hold A[i, j]
    n_sv_per_class (m, C)      non-zero coefficients of each kernel and class
    pointers            to the engine's functions for this record: by_address.py
    """


class Pointers(
    Addresses,
    namedtuple(
        "Pointers",
        "read open_block prepare add_contributions accumulate sum_looked_up resum_exactly plain_sums "
        "plain_looked_up self_kernels",
    ),
):
    """Addresses of functions of expansion.py, ties.py and others for one record: by_address.py."""


def make_expansion(pool: Pool, d: int, block: int = BLOCK, classes: int | None = None) -> Expansion:
    """Return an empty expansion for vectors of d features; ``reserve`` gives it room.

    classes: how many, where there are more than two.
    """
    m = pool.kind.size
    rows = m * (classes or 1)
    R = whole_lanes(block)
    return Expansion(
        pool=pool,
        A=np.empty((m, 0)),
        kernel_mask=np.empty(0, np.uint64),
        indptr=np.zeros(1, np.int64),
        indices=np.empty(0, np.int32),
        values=np.empty(0),
        norm2=np.empty(0),
        bits=np.empty((0, words(d) if classes is None else 0), np.uint64),
        origin=np.empty(0, np.int64),
        n_sv=np.zeros(m, np.int64),
        n_sv_union=np.zeros(1, np.int64),
        n_sv_sum=np.zeros(1, np.int64),
        max_abs_coefficient=np.zeros(m),
        open=make_block(d, block, R, bool(pool.called[0])),
        tile=make_tile(R, 1),
        scores=np.zeros((rows, R)),
        abs_scores=np.zeros((rows, R)),
        tracked=np.zeros(m, np.bool_),
        f=np.zeros(m),
        settled=np.zeros((m, R), np.bool_),
        doubt=np.zeros((m, R), np.bool_),
        exact=np.zeros((rows, R)),
        tables=make_tables(pool) if classes is None else None,
        classes=make_classes(m, classes),
        class_of=None if classes is None else np.empty((m + 1, 0), np.int32),
        n_sv_per_class=None if classes is None else np.zeros((m, classes), np.int64),
        pointers=Pointers(*[NO_POINTER] * len(Pointers._fields)),
    )


def with_columns(array: np.ndarray, used: int, columns: int) -> np.ndarray:
    """Return a matrix of that many columns: the first `used` are this one's, the others are not set."""
    larger = np.empty((len(array), columns), array.dtype)
    larger[:, :used] = array[:, :used]
    return larger


def reserve(E: Expansion, vectors: int, nnz: int, longest: int) -> Expansion:
    """Return E with room for this many more vectors and non-zeros, and for blocks of rows this long.

    Pages are only touched when used, so that asking for a whole stream's worth costs address space alone.
    Room grows by half at least: a stream that comes row by row is not copied for each of them.
    """
    n = E.n_sv_union[0]
    used = E.indptr[n]
    if n + vectors > E.norm2.size:
        vectors = max(vectors, n // 2)
        E = E._replace(
            A=with_columns(E.A, n, n + vectors),
            class_of=None if E.class_of is None else with_columns(E.class_of, n, n + vectors),
            kernel_mask=grown(E.kernel_mask, n, n + vectors),
            indptr=grown(E.indptr, n + 1, n + 1 + vectors),
            norm2=grown(E.norm2, n, n + vectors),
            bits=grown(E.bits, n, n + vectors),
            origin=grown(E.origin, n, n + vectors),
        )
    if used + nnz > E.values.size:
        nnz = max(nnz, used // 2)
        indices, values = (grown(array, used, used + nnz) for array in (E.indices, E.values))
        E = E._replace(indices=indices, values=values)
    larger = with_room(E.open, longest)
    if larger is not E.open:
        E = E._replace(open=larger, tile=E.tile._replace(doubtful_rows=np.zeros_like(larger.rows)))
    return E if E.pointers.add_contributions != NO_POINTER else E._replace(pointers=_pointers(E))


def _pointers(E: Expansion) -> Pointers:
    stream = empty_stream(E.classes is not None)
    plain = (E.open.rows, 0, 0, E.tile.row_index, 0, E.doubt)
    return pointers_of(
        Pointers,
        {
            "read": (_read, E, stream, 0),
            "open_block": (_open_block, E, stream, 0),
            "prepare": (prepare, E, stream, 0),
            "accumulate": (accumulate, E, E.tile, 0, 0, 0, 0),
            "plain_sums": (plain_sums, E, *plain),
            "sum_looked_up": (sum_looked_up, E, 0, 0),
            "plain_looked_up": (plain_looked_up, E, *plain),
            "resum_exactly": (resum_exactly, E, 0, E.f),
            "add_contributions": (_add_contributions, E, E.tile, 0, 0, 0, 0),
            "self_kernels": (called_own, E, 0, E.f),
        },
    )


@method(Expansion)
@compiled
def outputs(E, stream, t):
    """f (m,): f_i(x_t) of all m classifiers, margins of class y where there are more than two classes
    (classes.py). The array is reused by the next call.

    The sign of each is that of the plain sum over the stored vectors in their order, kernels by the C
    library's exp: where rounding could decide it, the plain sum is returned (ties.py).
    """
    call(E.pointers.read, (E, stream, t))
    return E.f


@compiled_without_refcounts
def _read(E, stream, t):
    """Write the outputs of round t into E.f."""
    if not is_open(E.open, t):
        call(E.pointers.open_block, (E, stream, t))
    r = row_of(E.open, t)
    f = E.f if E.classes is None else E.classes.scores.reshape(-1)
    for k in range(f.size):
        f[k] = E.scores[k, r]
    if is_sign_uncertain(E, stream, t, r, E.doubt):
        call(E.pointers.resum_exactly, (E, r, f))
    if E.classes is not None:
        margins(E.classes, stream.label[t], E.f)


@method(Expansion)
@compiled
def self_kernels(E, t):
    """kappa_i(x_t, x_t) (m,) of the round of the last call of `outputs`."""
    r = row_of(E.open, t)
    values = own_values(E.pool, E.open.row_norm2[r])
    if E.pool.called[0]:
        call(E.pointers.self_kernels, (E, r, values))
    return values


@method(Expansion)
@compiled_without_refcounts
def add(E, stream, t, a):
    """Store example t with coefficients a (m,), one for each kernel; 0 leaves a kernel as it is."""
    n, r = E.n_sv_union[0], row_of(E.open, t)
    start, stop = row(stream, t)
    at = E.indptr[n]
    for k in range(start, stop):
        E.indices[at] = stream.indices[k]
        E.values[at] = stream.values[k]
        at += 1
    E.indptr[n + 1] = at
    E.norm2[n] = E.open.row_norm2[r]
    E.origin[n] = stream.order[t]
    E.kernel_mask[n] = 0
    for i in range(a.size):
        E.A[i, n] = a[i]
        if a[i] != 0.0:
            E.kernel_mask[n] |= bit(i)
            E.n_sv[i] += 1
            E.max_abs_coefficient[i] = max(E.max_abs_coefficient[i], abs(a[i]))
            E.n_sv_sum[0] += 1
    if E.classes is not None:
        label, rival = E.classes.label[0], E.classes.rival
        E.class_of[a.size, n] = label
        for i in range(a.size):
            E.class_of[i, n] = rival[i]
            if a[i] != 0.0:
                E.n_sv_per_class[i, label] += 1
                E.n_sv_per_class[i, rival[i]] += 1
    E.n_sv_union[0] = n + 1
    if t + 1 < E.open.stop[0]:
        call(E.pointers.add_contributions, (E, E.tile, n, n + 1, r + 1, n_rows(E.open)))


@method(Expansion)
@compiled
def add_beside(S, E, stream, t, a):
    """`add` to S for the classes that E adds to and takes from."""
    if S.classes is not None:
        S.classes.rival[:] = E.classes.rival
    add(S, stream, t, a)


@method(Expansion)
@compiled_without_refcounts
def count_once(E):
    """Count every stored vector once in #SV: the kernels of this learner share one list."""
    E.n_sv_sum[0] = E.n_sv_union[0]


@method(Expansion)
@compiled_without_refcounts
def count_twice(E, i):
    """Count the vector stored last twice for kernel i, as a learner that lists it twice does."""
    E.n_sv[i] += 1
    E.n_sv_sum[0] += 1


@method(Expansion)
@compiled
def scale(E, i, c):
    """f_i <- c f_i in the coefficients themselves, c > 0. It is slow, since it ends the open block.

    The next round's outputs are summed afresh, so that where blocks begin decides no rounding.
    """
    for j in range(E.n_sv_union[0]):
        E.A[i, j] *= c
    E.max_abs_coefficient[i] *= c
    invalidate(E.open)


@method(Expansion)
@compiled
def forget(E, i, last):
    """f_i <- 0, of a kernel whose coefficients are in the `last` vectors stored last."""
    for j in range(max(0, E.n_sv_union[0] - last), E.n_sv_union[0]):
        E.A[i, j] = 0.0
    E.n_sv_sum[0] -= E.n_sv[i]
    E.n_sv[i] = 0
    E.max_abs_coefficient[i] = 0.0
    C = E.scores.shape[0] // E.f.size
    E.scores[i * C : (i + 1) * C] = 0.0
    E.abs_scores[i * C : (i + 1) * C] = 0.0
    E.exact[i * C : (i + 1) * C] = 0.0
    if E.classes is not None:
        E.n_sv_per_class[i] = 0


@method(Expansion)
@compiled
def forget_all(E):
    """f_i <- 0 for all kernels; the room of the vectors stored is free again."""
    for i in range(E.f.size):
        forget(E, i, 0)
    E.n_sv_union[0] = 0
    E.open.n_stored[0] = 0
    if E.tables is not None:
        forget_stored(E.tables)


# ------------------------------------------------------------------ classifiers f_i = scale_i E_i, in a ball

# Throughout: scale (m,); norm2 (m,) the squared norms ||f_i||^2, kept by ||f + c kappa(x, .)||^2 = ||f||^2 +
# 2 c f(x) + c^2 kappa(x, x).


@method(Expansion)
@compiled
def project(E, scale, norm2, R):
    """f_i <- f_i / max(1, ||f_i|| / R) for every kernel."""
    for i in range(scale.size):
        norm2[i] = max(norm2[i], 0.0)  # of f_i = 0, up to rounding
        if norm2[i] > R * R:
            scale[i] *= R / math.sqrt(norm2[i])
            norm2[i] = R * R
        if scale[i] < LEAST_SCALE:
            E.scale(i, scale[i])
            scale[i] = 1.0


@method(Expansion)
@compiled
def shrink(E, scale, c, start, stop):
    """f_i <- c f_i for kernels i = start .. stop - 1, c > 0."""
    for i in range(start, stop):
        scale[i] *= c
        if scale[i] < LEAST_SCALE:
            E.scale(i, scale[i])
            scale[i] = 1.0


# ------------------------------------------------------------------ blocks


@compiled
def _open_block(E, stream, t):
    """Lay out the block that starts at round t, and compute its outputs against all stored vectors."""
    begin_block(E, stream, t)
    open_rows(E, stream, E.tile, 0, n_rows(E.open))


@compiled
def begin_block(E, stream, t):
    """Lay out the block that starts at round t; `open_rows` computes its outputs."""
    fill_block(E.open, stream, t)
    track(E)
    call(E.pointers.prepare, (E, stream, t))
    E.open.n_stored[0] = E.n_sv_union[0]


@partial(compiled, nogil=True)
def open_rows(E, stream, tile, low, high):
    """Compute the outputs of the open block's rows low .. high - 1 against all stored vectors.

    low: a multiple of LANES. What is written belongs to these rows or to ``tile``: threads may share a block.
    """
    stop = whole_lanes(high)
    E.scores[:, low:stop] = 0.0
    E.abs_scores[:, low:stop] = 0.0
    if may_look_up(E):
        call(E.pointers.sum_looked_up, (E, low, high))
    else:
        call(E.pointers.add_contributions, (E, tile, 0, E.n_sv_union[0], low, high))
    resum_rows(E, stream, tile, low, high)


@compiled
def _add_contributions(E, tile, start, stop, low, high):
    """Add the share of stored vectors start .. stop - 1 to the outputs of the rows low .. high - 1."""
    low, high = low // LANES * LANES, whole_lanes(high)
    J = tile.dots.shape[0]
    first = start
    while first < stop:
        count = min(J, stop - first)
        dot_products(E, E.open.rows, low, high, first, count, tile.dots)
        call(E.pointers.accumulate, (E, tile, first, count, low, high))
        first += J
