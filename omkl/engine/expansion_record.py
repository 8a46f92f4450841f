"""The record of m classifiers over one list of stored vectors (expansion.py): its fields, how it is made."""

from collections import namedtuple

import numpy as np

from omkl.engine.by_address import NO_ENTRY, Addresses
from omkl.engine.classes import make_classes
from omkl.engine.lookup_tables import make_tables, words
from omkl.engine.open_block import make_block, whole_lanes
from omkl.engine.pool import Pool
from omkl.engine.records import Record
from omkl.engine.tile import make_tile

BLOCK = 128


class Expansion(
    Record,
    namedtuple(
        "Expansion",
        "pool A stored_by indptr indices values norm2 bits origin size n_sv largest "
        "open tile F G tracked f settled doubt exact tables classes sides touched entries",
    ),
):
    """m classifiers over one list of stored vectors.

    pool                the kernels
    A (m, capacity)     coefficients; only columns below size[0] are defined
    stored_by (capacity,)   the kernels with a non-zero coefficient, as bits
    indptr (capacity+1,) indices, values (nnz capacity,)   the stored vectors, sparse
    norm2 (capacity,)   their squared norms
    bits (capacity, words)   their columns as bits, of vectors of 0 and 1: lookup_tables.py
    origin (capacity,)  their examples, as row numbers of the data
    size (2,)           stored vectors (the union), non-zero coefficients over all kernels (the papers' #SV)
    n_sv (m,)           non-zero coefficients per kernel
    open                the open block: open_block.py
    tile                room for one tile of work
    F (m C, R)          outputs of the block's rows so far; of more than two classes kernel i has rows i C ..
                        (i + 1) C - 1, else C = 1
    G (m C, R)          the same with absolute coefficients, for the kernels that are tracked (m,) for ties
    f (m,)              outputs of the last call of `outputs`
    settled, doubt (m, R) exact (m C, R)   plain sums where rounding decides: ties.py
    largest (m,)        largest absolute coefficient of each kernel
    tables              kernel values on data of whole numbers: lookup_tables.py; None for more than two
                        classes
    None for two classes:
    classes             what the learner sees of C classes: classes.py
    sides (m+1, capacity)   the class in which each kernel holds -A[i, j]; last that in which all hold A[i, j]
    touched (m, C)      non-zero coefficients of each kernel and class
    entries             the engine's functions for this record: by_address.py
    """


class Entries(
    Addresses,
    namedtuple(
        "Entries", "read open_block prepare serve accumulate sum_looked_up settle plain_sums plain_looked_up"
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
        stored_by=np.empty(0, np.uint64),
        indptr=np.zeros(1, np.int64),
        indices=np.empty(0, np.int32),
        values=np.empty(0),
        norm2=np.empty(0),
        bits=np.empty((0, words(d) if classes is None else 0), np.uint64),
        origin=np.empty(0, np.int64),
        size=np.zeros(2, np.int64),
        n_sv=np.zeros(m, np.int64),
        largest=np.zeros(m),
        open=make_block(d, block, R),
        tile=make_tile(R, 1),
        F=np.zeros((rows, R)),
        G=np.zeros((rows, R)),
        tracked=np.zeros(m, np.bool_),
        f=np.zeros(m),
        settled=np.zeros((m, R), np.bool_),
        doubt=np.zeros((m, R), np.bool_),
        exact=np.zeros((rows, R)),
        tables=make_tables(pool) if classes is None else None,
        classes=make_classes(m, classes),
        sides=None if classes is None else np.empty((m + 1, 0), np.int32),
        touched=None if classes is None else np.zeros((m, classes), np.int64),
        entries=Entries(*[NO_ENTRY] * len(Entries._fields)),
    )


def wider(array: np.ndarray, used: int, columns: int) -> np.ndarray:
    """Return a matrix of that many columns: the first `used` are this one's, the others are not set."""
    wider = np.empty((len(array), columns), array.dtype)
    wider[:, :used] = array[:, :used]
    return wider
