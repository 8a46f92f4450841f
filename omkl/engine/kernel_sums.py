"""Sums of kernel values over a tile of pairs, all kernels of a pool together, in the order of its plan."""

import numpy as np

from omkl.engine.arith import fma
from omkl.engine.class_sums import add_to_classes, raise_values
from omkl.engine.jit import compiled
from omkl.engine.kernels import of_distance, row_values, vanishes
from omkl.engine.pool import form_of
from omkl.engine.tile_values import bases, distances, first_values
from omkl.engine.vector_sums import accumulate_by_vector, belong_to_few, bit


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
    has stored, and more where vectors belong to few kernels (vector_sums.py).
    """
    pool, A, norm2, F, G, tracked = E.pool, E.A, E.norm2, E.F, E.G, E.tracked
    dots, scratch, rows, row_norm2 = tile.dots, tile.scratch, high - low, E.open.row_norm2[low:high]
    squares, K, chosen = scratch.squares, scratch.K, scratch.chosen
    nearest, farthest = distances(first, count, norm2, row_norm2, dots, scratch)
    if count == 1 or belong_to_few(E):
        accumulate_by_vector(E, sides, tile, first, count, low, high, nearest, farthest)
        return
    place = 0
    while place < pool.order.size:
        stop = pool.group_end[place]
        if of_distance(pool.kind[pool.order[place]]):
            while stop > place and vanishes(form_of(pool, pool.order[stop - 1]), nearest):
                stop -= 1
        picked = _pick(pool.order, place, stop, E.stored_by, first, count, chosen)
        for at in range(place, stop if picked else place):
            i = pool.order[at]
            chain = pool.chain[at]
            form = form_of(pool, i)
            if sides is not None:
                if chain < 0:
                    first_values(form, first, picked, norm2, row_norm2, dots, scratch, farthest)
                    chain = 0 if of_distance(form[0]) else pool.degree[i] - 1
                raise_values(of_distance(form[0]), picked, rows, chain, squares, K)
                terms = (A[i], sides[i], sides[-1], i * (F.shape[0] // (sides.shape[0] - 1)))
                place_of = (first, picked, chosen, low, rows, K)
                add_to_classes(*terms, *place_of, of_distance(form[0]), F, G, tracked[i])
                continue
            f, g = F[i, low : low + rows], G[i, low : low + rows]
            if not of_distance(form[0]):
                if chain < 0:
                    bases(form, first, picked, norm2, row_norm2, dots, scratch)
                    chain = pool.degree[i] - 1
                _times_add(A[i], first, picked, chosen, rows, chain, squares, K, f)
                continue
            if chain == 2 and tracked[i]:
                _fourth_powers_add_both(A[i], first, picked, chosen, rows, K, f, g)
                continue
            if chain == 2:
                _fourth_powers_add(A[i], first, picked, chosen, rows, K, f)
                continue
            if chain < 0:
                for q in range(picked):
                    row_values(form, farthest, squares[chosen[q]], rows, K[q])
            else:
                for q in range(picked):
                    k = K[q]
                    for _ in range(chain):
                        for r in range(rows):
                            k[r] = k[r] * k[r]
            _add(A[i], first, picked, chosen, rows, K, f)
            if tracked[i]:
                _add_absolute(A[i], first, picked, chosen, rows, K, g)
        place = pool.group_end[place]


@compiled
def _pick(order, place, stop, stored_by, first, count, chosen):
    """List in chosen (J,) the vectors of the tile that one of the kernels order[place:stop] has stored."""
    kernels = np.uint64(0)
    for at in range(place, stop):
        kernels |= bit(order[at])
    picked = 0
    for j in range(count):
        chosen[picked] = j
        picked += (stored_by[first + j] & kernels) != np.uint64(0)
    return picked


# What makes LLVM turn the loops below into vector code: rows taken as views, an inner loop over r from 0,
# and `while` for the outer loop in steps of four (with range(0, n, 4) it gives up: 4 times slower).


@compiled
def _fourth_powers_add(a, first, picked, chosen, rows, K, out):
    """K <- K**4 and _add, in one pass: most of the engine's time is spent here."""
    q = 0
    while q + 4 <= picked:
        a0, a1 = a[first + chosen[q]], a[first + chosen[q + 1]]
        a2, a3 = a[first + chosen[q + 2]], a[first + chosen[q + 3]]
        u, v, w, x = K[q], K[q + 1], K[q + 2], K[q + 3]
        for r in range(rows):
            k0, k1, k2, k3 = u[r] * u[r], v[r] * v[r], w[r] * w[r], x[r] * x[r]
            k0, k1, k2, k3 = k0 * k0, k1 * k1, k2 * k2, k3 * k3
            u[r], v[r], w[r], x[r] = k0, k1, k2, k3
            out[r] = fma(a3, k3, fma(a2, k2, fma(a1, k1, fma(a0, k0, out[r]))))
        q += 4
    while q < picked:
        a0, u = a[first + chosen[q]], K[q]
        for r in range(rows):
            k0 = u[r] * u[r]
            k0 = k0 * k0
            u[r] = k0
            out[r] = fma(a0, k0, out[r])
        q += 1


@compiled
def _fourth_powers_add_both(a, first, picked, chosen, rows, K, out, absolute):
    """_fourth_powers_add, and absolute[r] += sum_q |a[first + chosen[q]]| K[q, r]."""
    q = 0
    while q + 2 <= picked:
        a0, a1 = a[first + chosen[q]], a[first + chosen[q + 1]]
        s0, s1 = abs(a0), abs(a1)
        u, v = K[q], K[q + 1]
        for r in range(rows):
            k0, k1 = u[r] * u[r], v[r] * v[r]
            k0, k1 = k0 * k0, k1 * k1
            u[r], v[r] = k0, k1
            out[r] = fma(a1, k1, fma(a0, k0, out[r]))
            absolute[r] = fma(s1, k1, fma(s0, k0, absolute[r]))
        q += 2
    if q < picked:
        a0, u = a[first + chosen[q]], K[q]
        for r in range(rows):
            k0 = u[r] * u[r]
            k0 = k0 * k0
            u[r] = k0
            out[r] = fma(a0, k0, out[r])
            absolute[r] = fma(abs(a0), k0, absolute[r])


@compiled
def _add(a, first, picked, chosen, rows, K, out):
    """out[r] += sum_q a[first + chosen[q]] K[q, r], left to right, four vectors a pass."""
    q = 0
    while q + 4 <= picked:
        a0, a1 = a[first + chosen[q]], a[first + chosen[q + 1]]
        a2, a3 = a[first + chosen[q + 2]], a[first + chosen[q + 3]]
        u, v, w, x = K[q], K[q + 1], K[q + 2], K[q + 3]
        for r in range(rows):
            out[r] = fma(a3, x[r], fma(a2, w[r], fma(a1, v[r], fma(a0, u[r], out[r]))))
        q += 4
    while q < picked:
        a0, u = a[first + chosen[q]], K[q]
        for r in range(rows):
            out[r] = fma(a0, u[r], out[r])
        q += 1


@compiled
def _add_absolute(a, first, picked, chosen, rows, K, out):
    for q in range(picked):
        size, k = abs(a[first + chosen[q]]), K[q]
        if size != 0.0:
            for r in range(rows):
                out[r] = fma(size, k[r], out[r])


@compiled
def _times_add(a, first, picked, chosen, rows, factors, bases, K, out):
    """K <- K bases**factors and _add, with products rounded before they are added: polynomials sum as by
    definition, bit for bit.
    """
    for q in range(picked):
        a0, base, k = a[first + chosen[q]], bases[q], K[q]
        for _ in range(factors):
            for r in range(rows):
                k[r] = k[r] * base[r]
        for r in range(rows):
            out[r] = out[r] + a0 * k[r]
