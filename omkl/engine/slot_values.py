"""Kernel values where every kernel has stored vectors of its own (budgeted.py), sums and searches over them.

Kernel values are computed for TILE pairs of one kernel at a time, slots x rows, since a pass over many is
vector code. They are kept for few rows, so that they stay in the second-level cache until they are read.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.called_kernels import called_of_slot
from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.kernels import CALLED, all_vanish, of_distance, plain_cosine, row_values
from omkl.engine.pool import form_of
from omkl.engine.vector_code import LANES, SIZE, VECTOR, arrays_of, spread, vector_at

_WHOLE = ir.VectorType(SIZE, LANES)


TILE = 256  # values of each kernel that are laid side by side
_NEAR = 2**17  # values (a mebibyte) that the rows in K may take: more are as slow as memory


def rows_together(R: int, values: int) -> int:
    """Return of how many rows of a block of R kernel values are kept at once, at this many a row."""
    return min(R, TILE, max(2 * LANES, _NEAR // max(values, 1) // LANES * LANES))


@compiled_without_refcounts
def most(n_sv):
    """How many slots are in use, of any kernel."""
    in_use = 0
    for i in range(n_sv.size):
        in_use = max(in_use, n_sv[i])
    return in_use


@compiled_without_refcounts
def slot_values(form, norm2, row_norm2, dot, rows, squares, out):
    """out[r] = kappa of a stored vector with the block's first rows; polynomials exactly as by definition.

    squares (rows,) scratch. The kernel's constants, not the pool: only so do the loops become vector code.
    """
    largest = 0.0
    for r in range(rows):
        largest = max(largest, row_norm2[r])
        squares[r] = _square(norm2 + row_norm2[r] - 2.0 * dot[r]) if of_distance(form[0]) else dot[r]
    _values(form, 2.0 * (norm2 + largest), squares, rows, out)
    if form[4] and not of_distance(form[0]):
        for r in range(rows):
            out[r] = plain_cosine(form, dot[r], norm2, row_norm2[r])


@compiled_without_refcounts
def _square(distance):
    return distance if distance > 0.0 else 0.0


@compiled_without_refcounts
def _values(form, largest, given, count, out):
    """out[r] = kappa of the squared distance, or of the dot product given[r], none above ``largest``."""
    if of_distance(form[0]):
        if all_vanish(form, largest, given, count):  # most of raw data's narrow kernels
            out[:count] = 0.0
        else:
            row_values(form, largest, given, count, out)
        return
    _, scale, constant, degree, _ = form
    for r in range(count):
        given[r] = scale * given[r] + constant
        out[r] = given[r]
    for _ in range(degree - 1):
        for r in range(count):
            out[r] = out[r] * given[r]


@compiled_without_refcounts
def fill_slots(B, low, rows):
    """B.K[r, s, i] = kappa_i of slot s with the block's row low + r, r < rows; 0 in slots not in use.

    rows: a multiple of LANES    B.tile (m + 1, TILE) scratch: a part of the slots, to be transposed
    """
    pool, n_sv, holds, norm2, row_norm2 = B.pool, B.n_sv, B.holds, B.norm2, B.open.row_norm2
    dots, tile, K = B.dots, B.tile, B.K
    m, in_use = n_sv.size, most(n_sv)
    given = tile[m]
    together, largest_row = given.size // rows, 0.0
    for r in range(low, low + rows):
        largest_row = max(largest_row, row_norm2[r])
    first = 0
    while first < in_use:
        for i in range(m):
            form = form_of(pool, i)
            stop, at, largest = min(first + together, n_sv[i]), 0, 0.0
            for s in range(first, stop):
                e = holds[s, i]
                largest = max(largest, norm2[e])
                if form[0] == CALLED:
                    called_of_slot(B, i, e, low, rows, tile[i, at:])
                    at += rows
                    continue
                for r in range(low, low + rows, LANES):
                    if of_distance(form[0]):
                        _squares(norm2[e], row_norm2, r, dots, e, given, at)
                    else:
                        _copies(norm2[e], row_norm2, r, dots, e, given, at)
                    at += LANES
            if form[0] != CALLED:
                _values(form, 2.0 * (largest + largest_row), given, at, tile[i])
            if form[4] and form[0] != CALLED and not of_distance(form[0]):
                for q in range(at):
                    e, r = holds[first + q // rows, i], low + q % rows
                    tile[i, q] = plain_cosine(form, dots[e, r], norm2[e], row_norm2[r])
            for q in range(at, together * rows):
                tile[i, q] = 0.0
        for s in range(first, min(first + together, in_use)):
            _transpose(tile, (s - first) * rows, rows, s, m, K)
        first += together


@compiled_without_refcounts
def _transpose(tile, at, rows, s, m, K):
    """K[r, s, i] = tile[i, at + r], r < rows."""
    if m < LANES:
        for i in range(m):
            for r in range(rows):
                K[r, s, i] = tile[i, at + r]
        return
    for i in range(0, m, LANES):
        for r in range(0, rows, LANES):
            _transpose_square(tile, min(i, m - LANES), at + r, K, r, s)  # the last may overlap


@compiled_without_refcounts
def sum_slots(A, K, r, n, f, g):
    """f[i] = sum_s A[s, i] K[r, s, i], s < n, left to right; g[i] the same of the absolute values."""
    m = f.size
    if m < LANES:
        for i in range(m):
            total, size = 0.0, 0.0
            for s in range(n):
                term = A[s, i] * K[r, s, i]
                total += term
                size += abs(term)
            f[i], g[i] = total, size
        return
    i = 0
    while i < m:
        if i + 2 * LANES <= m:
            _sums_16(A, K, r, n, i, f, g)
            i += 2 * LANES
        else:
            _sums_8(A, K, r, n, min(i, m - LANES), f, g)  # the last may overlap
            i += LANES


def _lanes(squares):
    """Return the intrinsic behind `fill_slots`: squared distances, or the dot products, of LANES rows."""

    @intrinsic
    def lanes(typingctx, norm2, row_norm2, r, dots, e, out, at):
        """out[at + q] = max(0, norm2 + row_norm2[r + q] - 2 dots[e, r + q]), or dots[e, r + q]."""
        signature = types.void(norm2, row_norm2, r, dots, e, out, at)

        def codegen(context, builder, signature, args):
            norm2, row_norm2, r, dots, e, out, at = arrays_of(context, builder, signature, args)
            result = builder.load(vector_at(builder, dots, e, r), align=8)
            if squares:
                own = builder.load(vector_at(builder, row_norm2, r), align=8)
                result = builder.fsub(
                    builder.fadd(spread(builder, norm2), own), builder.fmul(VECTOR([2.0] * LANES), result)
                )
                zero = VECTOR(None)
                result = builder.select(builder.fcmp_ordered(">", result, zero), result, zero)
            builder.store(result, vector_at(builder, out, at), align=8)
            return context.get_dummy_value()

        return signature, codegen

    return lanes


_squares, _copies = _lanes(True), _lanes(False)


@intrinsic
def _transpose_square(typingctx, tile, i, at, K, r, s):
    """K[r + q, s, i + k] = tile[i + k, at + q] for k, q < LANES, in registers."""
    signature = types.void(tile, i, at, K, r, s)

    def codegen(context, builder, signature, args):
        size, lane = ir.IntType(64), ir.IntType(32)
        tile, i, at, K, r, s = arrays_of(context, builder, signature, args)
        v = [
            builder.load(vector_at(builder, tile, builder.add(i, size(k)), at), align=8) for k in range(LANES)
        ]
        step = LANES // 2
        while step:
            for k in (k for k in range(LANES) if not k & step):
                low = [q if not q & step else LANES + q - step for q in range(LANES)]
                high = [q + step if not q & step else LANES + q for q in range(LANES)]
                v[k], v[k + step] = (
                    builder.shuffle_vector(
                        v[k], v[k + step], ir.Constant(ir.VectorType(lane, LANES), [lane(q) for q in mask])
                    )
                    for mask in (low, high)
                )
            step //= 2
        for q in range(LANES):
            builder.store(v[q], vector_at(builder, K, builder.add(r, size(q)), s, i), align=8)
        return context.get_dummy_value()

    return signature, codegen


def _sums(width):
    """Return the intrinsic behind `sum_slots` for `width` kernels at once.

    Left to LLVM's loop vectoriser, f and g are loaded and stored for every slot. Here they stay in registers.
    Products and sums are rounded one by one, as in the plain loop.
    """

    @intrinsic
    def sums(typingctx, A, K, r, n, i, f, g):
        signature = types.void(A, K, r, n, i, f, g)

        def codegen(context, builder, signature, args):
            size = ir.IntType(64)
            A, K, r, n, i, f, g = arrays_of(context, builder, signature, args)
            form = ir.FunctionType(VECTOR, [VECTOR])
            fabs = cgutils.get_or_insert_function(builder.module, form, f"llvm.fabs.v{LANES}f64")
            parts = [builder.add(i, size(k)) for k in range(0, width, LANES)]
            totals = [cgutils.alloca_once_value(builder, VECTOR(None)) for _ in parts]
            sizes = [cgutils.alloca_once_value(builder, VECTOR(None)) for _ in parts]
            with cgutils.for_range(builder, n, intp=size) as loop:
                for at, total, whole in zip(parts, totals, sizes, strict=True):
                    a = builder.load(vector_at(builder, A, loop.index, at), align=8)
                    k = builder.load(vector_at(builder, K, r, loop.index, at), align=8)
                    term = builder.fmul(a, k)
                    builder.store(builder.fadd(builder.load(total), term), total)
                    builder.store(builder.fadd(builder.load(whole), builder.call(fabs, [term])), whole)
            for at, total, whole in zip(parts, totals, sizes, strict=True):
                builder.store(builder.load(total), vector_at(builder, f, at), align=8)
                builder.store(builder.load(whole), vector_at(builder, g, at), align=8)
            return context.get_dummy_value()

        return signature, codegen

    return sums


_sums_16, _sums_8 = _sums(2 * LANES), _sums(LANES)


# ------------------------------------------------------------------ search among the slots


@compiled_without_refcounts
def least_slots(cost, born, first, stop, r, least, oldest):
    """Go on with slots first to stop - 1 of every kernel in a search for the slot of the least cost.

    cost (stop - first, m) of these slots, never the least where it is NaN
    born (S, m) ages of all slots: of several the one with the least age is the oldest, and goes first
    r, least, oldest (m,) the best slots so far, their costs and ages
    """
    m = r.size
    if m < LANES:
        for s in range(first, stop):
            for i in range(m):
                c = cost[s - first, i]
                if c < least[i] or (c == least[i] and born[s, i] < oldest[i]):
                    r[i], least[i], oldest[i] = s, c, born[s, i]
        return
    i = 0
    while i < m:
        if i + 2 * LANES <= m:
            _search_16(cost, born, first, stop, i, r, least, oldest)
            i += 2 * LANES
        else:
            _search_8(cost, born, first, stop, min(i, m - LANES), r, least, oldest)  # the last may overlap
            i += LANES


def _search(width: int) -> Any:
    """Return the intrinsic behind `least_slots` for `width` kernels at once: the best stay in registers."""

    @intrinsic
    def search(typingctx, cost, born, first, stop, i, r, least, oldest):
        signature = types.void(cost, born, first, stop, i, r, least, oldest)

        def codegen(context, builder, signature, args):
            cost, born, first, stop, i, r, least, oldest = arrays_of(context, builder, signature, args)
            parts = []
            for k in range(0, width, LANES):
                at = builder.add(i, SIZE(k))
                best = [
                    vector_at(builder, least, at),
                    vector_at(builder, oldest, at, kind=_WHOLE),
                    vector_at(builder, r, at, kind=_WHOLE),
                ]
                kept = [cgutils.alloca_once_value(builder, builder.load(b, align=8)) for b in best]
                parts.append((at, best, kept))
            with cgutils.for_range_slice(builder, first, stop, SIZE(1), SIZE) as (s, _):
                slot = spread(builder, s)
                for at, _, kept in parts:
                    c = builder.load(vector_at(builder, cost, builder.sub(s, first), at), align=8)
                    age = builder.load(vector_at(builder, born, s, at, kind=_WHOLE), align=8)
                    before = [builder.load(k) for k in kept]
                    tie = builder.fcmp_ordered("==", c, before[0])
                    older = builder.and_(tie, builder.icmp_signed("<", age, before[1]))
                    better = builder.or_(builder.fcmp_ordered("<", c, before[0]), older)
                    for new, old, to in zip((c, age, slot), before, kept, strict=True):
                        builder.store(builder.select(better, new, old), to)
            for _, best, kept in parts:
                for value, to in zip(kept, best, strict=True):
                    builder.store(builder.load(value), to, align=8)
            return context.get_dummy_value()

        return signature, codegen

    return search


_search_16, _search_8 = _search(2 * LANES), _search(LANES)
