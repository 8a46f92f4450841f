"""Sums of kernel values over a tile of pairs, all kernels of a pool together, in the order of its plan."""

import numpy as np

from omkl.engine.class_sums import add_to_classes, raise_values
from omkl.engine.jit import compiled
from omkl.engine.kernels import of_distance, vanishes
from omkl.engine.ladder_sums import add_ladder
from omkl.engine.pool import form_of
from omkl.engine.tile_values import distances, first_values

_FEW = 8  # a vector belongs to few kernels if at most one in so many has stored it


@compiled
def bit(i):
    """The bit of kernel i in a set of kernels; beyond 64 kernels some share one."""
    return np.uint64(1) << np.uint64(i % 64)


@compiled
def belong_to_few(E):
    """Whether the stored vectors belong to few kernels on average."""
    terms = 0
    for i in range(E.n_sv.size):
        terms += E.n_sv[i]
    return _FEW * terms <= E.size[0] * E.n_sv.size


@compiled
def accumulate(E, sides, tile, first, count, low, high):
    """F[i, r] += sum_j A[i, j] kappa_i(x_j, x_r), j = first .. first + count - 1 in this order, for the
    block's rows low <= r < high; G[i, r] += sum_j |A[i, j]| kappa_i(x_j, x_r) for the kernels tracked.

    E       the Expansion: expansion_record.py has its fields
    sides   E's, which is None for two classes; with more F (m C, R) has a row for each kernel and class, and
            x_j adds to that of its own class what it takes from that of its rival
    tile    its dots[j, r - low] are the dot products of stored vector first + j with the block's row r

    Each F[i, r] is one left-to-right sum over j, however the stored vectors are cut into tiles. What adds
    exactly 0 is skipped: kernels that have underflowed on the whole tile, vectors that no kernel of a chain
    has stored, and where vectors belong to few kernels, all after the last that has stored the vector.
    """
    pool, scratch, row_norm2 = E.pool, tile.scratch, E.open.row_norm2[low:high]
    nearest, farthest = distances(first, count, E.norm2, row_norm2, tile.dots, scratch)
    together = 1 if belong_to_few(E) else count
    for j in range(0, count, together):
        start, stored_by = 0, np.uint64(0)
        for k in range(j, j + together):
            stored_by |= E.stored_by[first + k]
        while start < pool.order.size:
            stop = pool.group_end[start]
            last = _last(pool, start, stop, stored_by, nearest)
            if last > start:
                picked = _pick(pool.order, start, last, E.stored_by, first, j, together, scratch.chosen)
                form = form_of(pool, pool.order[start])
                first_values(form, first, picked, E.norm2, row_norm2, tile.dots, scratch, farthest)
                if of_distance(form[0]) and sides is None:
                    add_ladder(E, start, last, first, picked, scratch.chosen, low, high - low, scratch.K)
                else:
                    _add_each(E, sides, scratch, start, last, first, picked, low, high - low)
            start = stop


@compiled
def _last(pool, start, stop, stored_by, nearest):
    """The place after the last of a chain's kernels that are in this set and do not vanish."""
    while stop > start:
        i = pool.order[stop - 1]
        if stored_by & bit(i) and not (of_distance(pool.kind[i]) and vanishes(form_of(pool, i), nearest)):
            break
        stop -= 1
    return stop


@compiled
def _pick(order, start, last, stored_by, first, j, count, chosen):
    """List in chosen (J,) the tile's vectors j .. that one of the kernels order[start:last] has stored."""
    if count == 1:
        chosen[0] = j
        return 1
    kernels, picked = np.uint64(0), 0
    for at in range(start, last):
        kernels |= bit(order[at])
    for k in range(j, j + count):
        chosen[picked] = k
        picked += (stored_by[first + k] & kernels) != np.uint64(0)
    return picked


@compiled
def _add_each(E, sides, scratch, start, last, first, picked, low, rows):
    """Add the values of the kernels order[start:last] one by one: to classes, or those of polynomials, whose
    products are rounded before they are added, as by definition. K holds those of the first.
    """
    pool, squares, K, chosen = E.pool, scratch.squares, scratch.K, scratch.chosen
    for at in range(start, last):
        i = pool.order[at]
        near, steps = of_distance(pool.kind[i]), pool.chain[at]
        if at == start:
            steps = 0 if near else pool.degree[i] - 1
        raise_values(near, picked, rows, steps, squares, K)
        if sides is not None:
            terms = (E.A[i], sides[i], sides[-1], i * (E.F.shape[0] // (sides.shape[0] - 1)))
            place = (first, picked, chosen, low, rows, K)
            add_to_classes(*terms, *place, near, E.F, E.G, E.tracked[i])
            continue
        f = E.F[i, low : low + rows]
        for q in range(picked):
            a, k = E.A[i, first + chosen[q]], K[q]
            for r in range(rows):
                f[r] = f[r] + a * k[r]
