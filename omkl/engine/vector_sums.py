"""Sums of kernel values over a tile of pairs, vector by vector: for vectors that belong to few kernels."""

import numpy as np

from omkl.engine.arith import fma
from omkl.engine.class_sums import add_to_classes, raise_values
from omkl.engine.jit import compiled
from omkl.engine.kernels import of_distance, vanishes
from omkl.engine.pool import form_of
from omkl.engine.tile_values import first_values

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
def accumulate_by_vector(E, sides, tile, first, count, low, high, nearest, farthest):
    """`accumulate` (kernel_sums.py) with the same bits: of each vector only the values of the kernels that
    have stored it, and those from which these follow. nearest, farthest: of the tile's squared distances
    """
    pool, scratch, rows, row_norm2 = E.pool, tile.scratch, high - low, E.open.row_norm2[low:high]
    squares, K, chosen = scratch.squares, scratch.K, scratch.chosen
    for j in range(count):
        stored_by = E.stored_by[first + j]
        chosen[0] = j
        start, steps, begun = 0, 0, False
        for at in range(pool.order.size):
            i = pool.order[at]
            if pool.chain[at] < 0:
                start, steps, begun = at, 0, False
            else:
                steps += pool.chain[at]
            near = of_distance(pool.kind[i])
            if stored_by & bit(i) == np.uint64(0) or (near and vanishes(form_of(pool, i), nearest)):
                continue
            if not begun:
                form = form_of(pool, pool.order[start])
                first_values(form, first, 1, E.norm2, row_norm2, tile.dots, scratch, farthest)
                steps += 0 if near else form[3] - 1
                begun = True
            raise_values(near, 1, rows, steps, squares, K)
            steps = 0
            if sides is not None:
                terms = (E.A[i], sides[i], sides[-1], i * (E.F.shape[0] // (sides.shape[0] - 1)))
                add_to_classes(*terms, first, 1, chosen, low, rows, K, near, E.F, E.G, E.tracked[i])
                continue
            a, k, f, g = E.A[i, first + j], K[0], E.F[i, low : low + rows], E.G[i, low : low + rows]
            if not near:
                for r in range(rows):
                    f[r] = f[r] + a * k[r]
            elif E.tracked[i]:
                size = abs(a)
                for r in range(rows):
                    f[r] = fma(a, k[r], f[r])
                    g[r] = fma(size, k[r], g[r])
            else:
                for r in range(rows):
                    f[r] = fma(a, k[r], f[r])
