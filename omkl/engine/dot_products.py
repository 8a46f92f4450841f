"""Dot products of a tile of stored vectors with examples laid side by side: the one place they are made."""

from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.jit import compiled
from omkl.engine.open_block import in_lists, listed_products
from omkl.engine.vector_code import LANES, LARGE, SIZE, VECTOR, arrays_of, pointer_to, spread, vector_at

_LEAST_DENSE = 48  # columns; with fewer, laying vectors side by side costs what it gains


def _lane_sums(width):
    """Return the intrinsic behind dot_products for `width` lanes at once.

    Left to LLVM's loop vectoriser, the running sums are loaded and stored once per four features and every
    pass pays its overlap checks: 2.5 times slower. Here they stay in vector registers from the first
    feature to the last. Products and sums are rounded one by one, as in the plain loop.
    """

    @intrinsic
    def lane_sums(typingctx, indices, values, start, stop, slot, rows, lane, out, j, place):
        """out[j, place + r] = sum_k values[k] rows[slot[indices[k]], lane + r], k from start, r < width."""
        signature = types.void(indices, values, start, stop, slot, rows, lane, out, j, place)

        def codegen(context, builder, signature, args):
            indices, values, first, last, slot, rows, lane, out, j, place = arrays_of(
                context, builder, signature, args
            )
            parts = [SIZE(u) for u in range(0, width, LANES)]
            sums = [cgutils.alloca_once_value(builder, VECTOR(None)) for _ in parts]
            lanes = [builder.add(lane, u) for u in parts]
            with cgutils.for_range_slice(builder, first, last, SIZE(1), SIZE) as (k, _):
                column = builder.sext(builder.load(pointer_to(builder, indices, k)), SIZE)
                at = builder.sext(builder.load(pointer_to(builder, slot, column)), SIZE)
                value = spread(builder, builder.load(pointer_to(builder, values, k)))
                for total, own in zip(sums, lanes, strict=True):
                    product = builder.fmul(value, builder.load(vector_at(builder, rows, at, own), align=8))
                    builder.store(builder.fadd(builder.load(total), product), total)
            for total, u in zip(sums, parts, strict=True):
                at = vector_at(builder, out, j, builder.add(place, u))
                builder.store(builder.load(total), at, align=8)
            return context.get_dummy_value()

        return signature, codegen

    return lane_sums


_ROWS = 64 if LARGE else 32
_lane_sums_most, _lane_sums_32, _lane_sums_8 = _lane_sums(_ROWS), _lane_sums(32), _lane_sums(8)
_VECTORS = LANES if LARGE else LANES // 2


@intrinsic
def _square_sums(typingctx, panel, j, slot, rows, lane, out):
    """out[v, r] = sum_k panel[k, v] rows[slot[k], lane + r] over all columns k, LANES r, _VECTORS v from j.

    All sums stay in registers, so that a column's rows are loaded once for several vectors: twice as fast as
    `_lane_sums` on dense rows, and as fast as a dgemm on some processors. Each sum is the same as there to
    the last bit: it only adds exact zeros where a vector lacks a column.
    """
    signature = types.void(panel, j, slot, rows, lane, out)

    def codegen(context, builder, signature, args):
        panel, first, slot, rows, lane, out = arrays_of(context, builder, signature, args)
        (columns,) = cgutils.unpack_tuple(builder, slot.shape)
        step = cgutils.unpack_tuple(builder, out.strides)[0]
        sums = [cgutils.alloca_once_value(builder, VECTOR(None)) for _ in range(_VECTORS)]
        with cgutils.for_range(builder, columns, intp=SIZE) as loop:
            at = builder.sext(builder.load(pointer_to(builder, slot, loop.index)), SIZE)
            lanes = builder.load(vector_at(builder, rows, at, lane), align=8)
            line = builder.add(builder.mul(loop.index, SIZE(LANES)), first)
            for j, total in enumerate(sums):
                value = builder.load(pointer_to(builder, panel, builder.add(line, SIZE(j))))
                product = builder.fmul(spread(builder, value), lanes)
                builder.store(builder.fadd(builder.load(total), product), total)
        for j, total in enumerate(sums):  # of a part of wider lines
            target = builder.bitcast(out.data, ir.IntType(8).as_pointer())
            target = builder.gep(target, [builder.mul(step, builder.add(first, SIZE(j)))])
            builder.store(builder.load(total), builder.bitcast(target, VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return signature, codegen


@compiled
def dot_products(E, rows, low, high, first, count, dots):
    """dots[j, r - low] = x_{first+j} . rows[:, r], low <= r < high: a left-to-right sum over non-zeros.

    E                         the Expansion: its stored vectors, and where its open block lays each column
    rows (S+1, R)             examples side by side, feature-major; a column's values are in the row that the
                              open block's `slot` names, and row 0 holds the 0 of absent columns. The open
                              block itself where it is in lists, which are read instead
    low, high                 multiples of LANES
    """
    indptr, indices, values, slot = E.indptr, E.indices, E.values, E.open.slot
    j = 0
    while j < count and in_lists(E.open):
        listed_products(E.open, indptr, indices, values, low, high, first + j, dots, j, 0)
        j += 1
    while j + LANES <= count and _dense(indptr, first + j, slot.size):
        _dense_products(indptr, indices, values, slot, rows, low, high, first + j, dots[j:])
        j += LANES
    while j < count:
        products(indptr, indices, values, slot, rows, low, high, first + j, dots, j, 0)
        j += 1


@compiled
def product_with(E, j, x):
    """x_j . x of the Expansion's stored vector j with a lane x (S+1,) of the open block."""
    dot = 0.0
    for k in range(E.indptr[j], E.indptr[j + 1]):
        dot += E.values[k] * x[E.open.slot[E.indices[k]]]
    return dot


@compiled
def used_products(B, high):
    """dots[e, r] = x_e . rows[:, r], r < high, of a Budget's stored vectors that a slot holds."""
    for e in range(B.users.size):
        if B.users[e] > 0:
            block_products(B, 0, high, e, 0)


@compiled
def block_products(B, low, high, e, place):
    """dots[e, place + r - low] = x_e . row r of the open block, low <= r < high, both multiples of LANES."""
    block, ends, indices, values = B.open, B.ends, B.indices, B.values
    if in_lists(block):
        listed_products(block, ends, indices, values, low, high, 2 * e, B.dots, e, place)
    else:
        products(ends, indices, values, block.slot, block.rows, low, high, 2 * e, B.dots, e, place)


@partial(compiled, inline="always")
def products(indptr, indices, values, slot, rows, low, high, first, dots, j, place):
    """dots[j, place + r - low] = x_first . rows[:, r], low <= r < high: `dot_products` of one vector."""
    start, stop, r = indptr[first], indptr[first + 1], low
    while r + _ROWS <= high:
        _lane_sums_most(indices, values, start, stop, slot, rows, r, dots, j, place + r - low)
        r += _ROWS
    while r + 32 <= high:
        _lane_sums_32(indices, values, start, stop, slot, rows, r, dots, j, place + r - low)
        r += 32
    while r < high:
        _lane_sums_8(indices, values, start, stop, slot, rows, r, dots, j, place + r - low)
        r += 8


@compiled
def _dense(indptr, first, d):
    """Whether LANES vectors from `first` on are dense enough to be laid side by side: two thirds, d large."""
    return d >= _LEAST_DENSE and 3 * (indptr[first + LANES] - indptr[first]) >= 2 * LANES * d


@compiled
def _dense_products(indptr, indices, values, slot, rows, low, high, first, dots):
    """`dot_products` of the LANES vectors from `first` on."""
    panel = np.zeros(LANES * slot.size)
    for j in range(LANES):
        for k in range(indptr[first + j], indptr[first + j + 1]):
            panel[LANES * indices[k] + j] = values[k]
    r = low
    while r < high:
        for j in range(0, LANES, _VECTORS):
            _square_sums(panel, j, slot, rows, r, dots[:, r - low :])
        r += LANES
