"""A pool of m kernels as a *plan*: their order of evaluation, and how each follows from the one before it.

Gaussians are ordered from wide to narrow; where one width is half of another, kappa_{sigma/2} = kappa_sigma^4
costs two squarings instead of an exp. Such a ladder restarts after ``MAX_SQUARINGS`` squarings, so that its
relative error stays below 1e-12. The formulas are in kernels.py.
"""

from collections import namedtuple

import numpy as np

from omkl.engine.called_kernels import called
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernels import CALLED, MAX_SQUARINGS, constants, of_distance, own_value, place, step, value
from omkl.engine.records import Record


class Pool(
    Record, namedtuple("Pool", "kind rate shape degree order chain group_end cosine called entry numbers")
):
    """The plan of a pool's evaluation.

    kind (m,) int8, rate, shape (m,) float64, degree (m,) int64   the kernels' constants, see kernels.py
    order (m,) int64    the kernels in order of evaluation
    chain (m,) int64    per place in that order: -1 starts afresh, s >= 0 continues from the value before it:
                        s squarings for a Gaussian, s further factors for a polynomial
    group_end (m,) int64   per place: first place after the chain it belongs to
    cosine (1,) bool    divide by sqrt(kappa(x, x) kappa(x', x'))
    called (1,) bool    whether some kernel is called by address: called_kernels.py
    entry (m, 2) int64, numbers (m, 2) int64    of such a kernel its entry, address and count of its numbers

    The numbers live as long as the Pool, in its attribute ``kept``. A Pool holds in its own process alone.
    """


def make_pool(kernels: list[dict], normalise: str = "none") -> Pool:
    """Return the evaluation plan of a list of kernels.

    kernels: mappings as in conf/pool, such as ``{kind: gaussian, sigma: 2.0}``. normalise: ``none`` or
    ``cosine``, which divides polynomials by the root of their values at both vectors.
    """
    m = len(kernels)
    of = [constants(kernel) for kernel in kernels]
    order = sorted(range(m), key=lambda i: place(*of[i]))
    chain = np.full(m, -1, np.int64)
    squarings = 0
    for at in range(1, m):
        further = step(of[order[at - 1]], of[order[at]])
        ladder = further >= 0 and of_distance(of[order[at]][0])
        if ladder and squarings + further > MAX_SQUARINGS:
            ladder, further = False, -1
        squarings = squarings + further if ladder else 0
        chain[at] = further
    ends = [next((q for q in range(p + 1, m) if chain[q] < 0), m) for p in range(m)]
    kind, rate, shape, degree = (np.array(values) for values in zip(*of, strict=True))
    entry, numbers = np.zeros((m, 2), np.int64), np.zeros((m, 2), np.int64)
    kept: dict[str, np.ndarray] = {}
    for i in np.flatnonzero(kind == CALLED):
        entry[i], own = called(kernels[i], normalise == "cosine")
        own = kept.setdefault(f"{kernels[i]}", own)  # copies of a kernel share them
        numbers[i] = own.ctypes.data, own.size
    made = Pool(
        kind.astype(np.int8),
        rate.astype(np.float64),
        shape.astype(np.float64),
        degree.astype(np.int64),
        np.array(order),
        chain,
        np.array(ends),
        np.array([normalise == "cosine"]),
        np.array([bool((kind == CALLED).any())]),
        entry,
        numbers,
    )
    vars(made)["kept"] = kept
    return made


@compiled_without_refcounts
def form_of(pool, i):
    """The constants of kernel i, as the functions of kernels.py take them."""
    return pool.kind[i], pool.rate[i], pool.shape[i], pool.degree[i], pool.cosine[0]


@compiled_without_refcounts
def pool_value(pool, i, dot, norm2, other_norm2):
    """kappa_i of two vectors from their dot product and squared norms, by its definition; none is called."""
    return value(form_of(pool, i), dot, norm2, other_norm2)


@compiled
def own_values(pool, norm2):
    """kappa_i(x, x) (m,) of an example with this squared norm; 0 of kernels that are called."""
    own = np.empty(pool.kind.size)
    for i in range(own.size):
        own[i] = own_value(form_of(pool, i), norm2) if pool.kind[i] != CALLED else 0.0
    return own
