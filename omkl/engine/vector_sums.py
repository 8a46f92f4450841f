"""Sums of kernel values over a tile of pairs, vector by vector: of one alone, or of those of few kernels."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.class_sums import add_to_classes, raise_values
from omkl.engine.jit import compiled
from omkl.engine.kernels import of_distance, vanishes
from omkl.engine.pool import form_of
from omkl.engine.tile_values import first_values
from omkl.engine.vector_code import LANES, SIZE, VECTOR, arrays_of, pointer_to, spread, vector_at

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
    K, chosen = scratch.K, scratch.chosen
    for j in range(count):
        stored_by, start = E.stored_by[first + j], 0
        chosen[0] = j
        while start < pool.order.size:
            stop = pool.group_end[start]
            last = _last(pool, start, stop, stored_by, nearest)
            if last > start:
                form = form_of(pool, pool.order[start])
                first_values(form, first, 1, E.norm2, row_norm2, tile.dots, scratch, farthest)
                if of_distance(form[0]) and sides is None:
                    ladder, own = (pool.order, pool.chain, start, last), (E.A, first + j, E.tracked)
                    r = 0
                    while r + 32 <= rows:
                        _add_ladder_32(*ladder, *own, K, r, E.F, E.G, low + r)
                        r += 32
                    while r < rows:
                        _add_ladder_8(*ladder, *own, K, r, E.F, E.G, low + r)
                        r += 8
                else:
                    _add_each(E, sides, scratch, start, last, first + j, low, rows)
            start = stop


@compiled
def _last(pool, start, stop, stored_by, nearest):
    """The place after the last of a chain's kernels that have stored a vector, and do not vanish."""
    while stop > start:
        i = pool.order[stop - 1]
        if stored_by & bit(i) and not (of_distance(pool.kind[i]) and vanishes(form_of(pool, i), nearest)):
            break
        stop -= 1
    return stop


@compiled
def _add_each(E, sides, scratch, start, last, j, low, rows):
    """Add vector j's values of the kernels order[start:last]; those of the first are in K[0]."""
    pool, squares, K, chosen = E.pool, scratch.squares, scratch.K, scratch.chosen
    for at in range(start, last):
        i = pool.order[at]
        near, steps = of_distance(pool.kind[i]), pool.chain[at]
        if at == start:
            steps = 0 if near else pool.degree[i] - 1
        raise_values(near, 1, rows, steps, squares, K)
        if sides is not None:
            terms = (E.A[i], sides[i], sides[-1], i * (E.F.shape[0] // (sides.shape[0] - 1)))
            place = (j - chosen[0], 1, chosen, low, rows, K)
            add_to_classes(*terms, *place, near, E.F, E.G, E.tracked[i])
            continue
        a, k, f = E.A[i, j], K[0], E.F[i, low : low + rows]
        for r in range(rows if a != 0.0 else 0):
            f[r] = f[r] + a * k[r]


def _add_ladder(width):
    """Return the intrinsic that adds one vector's values of a ladder's kernels to `width` rows.

    The values stay in registers from kernel to kernel, and there is one short loop instead of one for each.
    """

    @intrinsic
    def add_ladder(typingctx, order, chain, start, last, A, j, tracked, K, r, F, G, at):
        """F[i, at + q] += A[i, j] kappa_i, fused, and G[i, at + q] += |A[i, j]| kappa_i where tracked, for
        q < width and i in order[start:last]; kappa of the first is K[0, r + q].
        """
        signature = types.void(order, chain, start, last, A, j, tracked, K, r, F, G, at)

        def codegen(context, builder, signature, args):
            order, chain, start, last, A, j, tracked, K, r, F, G, at = arrays_of(
                context, builder, signature, args
            )
            double = ir.DoubleType()
            fma, fabs = (
                cgutils.get_or_insert_function(
                    builder.module, ir.FunctionType(kind, [kind] * inputs), f"llvm.{name}"
                )
                for kind, inputs, name in ((VECTOR, 3, f"fma.v{LANES}f64"), (double, 1, "fabs.f64"))
            )
            parts = [SIZE(u) for u in range(0, width, LANES)]
            values = [
                cgutils.alloca_once_value(
                    builder, builder.load(vector_at(builder, K, SIZE(0), builder.add(r, u)), align=8)
                )
                for u in parts
            ]

            def add(sums, i, a):
                a = spread(builder, a)
                for u, value in zip(parts, values, strict=True):
                    place = vector_at(builder, sums, i, builder.add(at, u))
                    total = builder.call(fma, [a, builder.load(value), builder.load(place, align=8)])
                    builder.store(total, place, align=8)

            with cgutils.for_range_slice(builder, start, last, SIZE(1), SIZE) as (place, _):
                i = builder.load(pointer_to(builder, order, place))
                squarings = builder.load(pointer_to(builder, chain, place))  # -1 of the first
                with cgutils.for_range(builder, squarings, intp=SIZE):
                    for value in values:
                        k = builder.load(value)
                        builder.store(builder.fmul(k, k), value)
                a = builder.load(pointer_to(builder, A, i, j))
                with builder.if_then(builder.fcmp_unordered("!=", a, double(0.0))):
                    add(F, i, a)
                    noted = builder.load(pointer_to(builder, tracked, i))
                    with builder.if_then(builder.icmp_unsigned("!=", noted, noted.type(0))):
                        add(G, i, builder.call(fabs, [a]))
            return context.get_dummy_value()

        return signature, codegen

    return add_ladder


_add_ladder_32, _add_ladder_8 = _add_ladder(32), _add_ladder(LANES)
