"""Sums of kernel values over a tile of pairs, all kernels of a pool together, in the order of its plan."""

from collections import namedtuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.arith import fma
from omkl.engine.called_kernels import called_with_block
from omkl.engine.jit import compiled
from omkl.engine.kernels import CALLED, of_distance, row_values, vanishes
from omkl.engine.pool import form_of
from omkl.engine.records import Record
from omkl.engine.vector_code import LANES, LARGE, SIZE, VECTOR, arrays_of, pointer_to, spread, vector_at

_PAIRS = 2048  # stored vectors x rows of a tile: its kernel values stay in the first-level cache


class Scratch(Record, namedtuple("Scratch", "squares K nearest chosen")):
    """Room for the kernel values of a tile.

    squares, K (J, R), nearest (R,), and the vectors picked from the tile, chosen (J,)
    """


class Tile(Record, namedtuple("Tile", "dots scratch doubtful_rows row_index")):
    """Room for one tile of work.

    dots (J, R) scratch        dot products and kernel values of J stored vectors with R rows
    doubtful_rows (S+1, R) row_index (R,)   rows that are summed plainly, side by side: ties.py
    """


def make_tile(R: int, slots: int) -> Tile:
    """Return room for tiles of R rows, of a block that lays out this many columns (and row 0)."""
    J = max(LANES, _PAIRS // R // LANES * LANES)
    scratch = Scratch(np.zeros((J, R)), np.zeros((J, R)), np.zeros(R), np.zeros(J, np.int64))
    return Tile(np.zeros((J, R)), scratch, np.zeros((slots, R)), np.zeros(R, np.int64))


@compiled
def distances(first, count, norm2, row_norm2, dots, scratch):
    """Squared distances of a tile into scratch.squares; returns the smallest, and a bound of the largest."""
    rows = row_norm2.size
    near = scratch.nearest
    largest_norm2, largest_row = 0.0, 0.0
    for r in range(rows):
        near[r] = np.inf
        largest_row = max(largest_row, row_norm2[r])
    for j in range(count):
        own = norm2[first + j]
        largest_norm2 = max(largest_norm2, own)
        dot, square = dots[j], scratch.squares[j]
        for r in range(rows):
            distance = own + row_norm2[r] - 2.0 * dot[r]
            distance = distance if distance > 0.0 else 0.0
            square[r] = distance
            near[r] = distance if distance < near[r] else near[r]
    nearest = np.inf
    for r in range(rows):
        nearest = min(nearest, near[r])
    return nearest, 2.0 * (largest_norm2 + largest_row)


@compiled
def bases(form, first, picked, norm2, row_norm2, dots, scratch):
    """squares, K <- scale x_j.x_r + coef0; for cosine divided by the roots of its values at x_j and x_r."""
    _, scale, constant, _, cosine = form
    rows = row_norm2.size
    roots = scratch.nearest
    for r in range(rows):
        roots[r] = _inverse_root(scale * row_norm2[r] + constant) if cosine else 1.0
    for q in range(picked):
        j = scratch.chosen[q]
        own = _inverse_root(scale * norm2[first + j] + constant) if cosine else 1.0
        dot, base, k = dots[j], scratch.squares[q], scratch.K[q]
        for r in range(rows):
            b = (scale * dot[r] + constant) * own * roots[r]
            base[r] = b
            k[r] = b


@compiled
def _inverse_root(x):
    return 1.0 / np.sqrt(x) if x > 0.0 else 0.0


@compiled
def first_values(form, first, picked, norm2, row_norm2, dots, scratch, farthest):
    """K of a kernel that follows from no other; of a polynomial its base."""
    if of_distance(form[0]):
        for q in range(picked):
            row_values(form, farthest, scratch.squares[scratch.chosen[q]], row_norm2.size, scratch.K[q])
    else:
        bases(form, first, picked, norm2, row_norm2, dots, scratch)


@compiled
def _called(E, i, first, picked, dots, scratch, low, high):
    """K of kernel i, which is called by address."""
    for q in range(picked):
        j = first + scratch.chosen[q]
        start, stop = E.indptr[j], E.indptr[j + 1]
        dot, out = dots[scratch.chosen[q], : high - low], scratch.K[q, : high - low]
        vector = (dot, E.norm2[j], E.origin[j], E.indices[start:stop], E.values[start:stop], out)
        called_with_block(E.pool, i, E.open, low, high, *vector)


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
def accumulate(E, class_of, tile, first, count, low, high):
    """F[i, r] += sum_j A[i, j] kappa_i(x_j, x_r), j = first .. first + count - 1 in this order, for the
    block's rows low <= r < high; G[i, r] += sum_j |A[i, j]| kappa_i(x_j, x_r) for the kernels tracked.

    E       the Expansion
    class_of   E's, None for two classes; with more F (m C, R) has a row for each kernel and class, and
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
        start, kernel_mask = 0, np.uint64(0)
        for k in range(j, j + together):
            kernel_mask |= E.kernel_mask[first + k]
        while start < pool.order.size:
            stop = pool.group_end[start]
            last = _last(pool, start, stop, kernel_mask, nearest)
            if last > start:
                picked = _pick(pool.order, start, last, E.kernel_mask, first, j, together, scratch.chosen)
                form = form_of(pool, pool.order[start])
                if form[0] == CALLED:
                    _called(E, pool.order[start], first, picked, tile.dots, scratch, low, high)
                else:
                    first_values(form, first, picked, E.norm2, row_norm2, tile.dots, scratch, farthest)
                if of_distance(form[0]) and class_of is None:
                    add_ladder(E, start, last, first, picked, scratch.chosen, low, high - low, scratch.K)
                else:
                    _add_each(E, class_of, scratch, start, last, first, picked, low, high - low)
            start = stop


@compiled
def _last(pool, start, stop, kernel_mask, nearest):
    """The place after the last of a chain's kernels that are in this set and do not vanish."""
    while stop > start:
        i = pool.order[stop - 1]
        if kernel_mask & bit(i) and not (of_distance(pool.kind[i]) and vanishes(form_of(pool, i), nearest)):
            break
        stop -= 1
    return stop


@compiled
def _pick(order, start, last, kernel_mask, first, j, count, chosen):
    """List in chosen (J,) the tile's vectors j .. that one of the kernels order[start:last] has stored."""
    if count == 1:
        chosen[0] = j
        return 1
    kernels, picked = np.uint64(0), 0
    for at in range(start, last):
        kernels |= bit(order[at])
    for k in range(j, j + count):
        chosen[picked] = k
        picked += (kernel_mask[first + k] & kernels) != np.uint64(0)
    return picked


@compiled
def _add_each(E, class_of, scratch, start, last, first, picked, low, rows):
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
        if class_of is not None:
            terms = (
                E.A[i],
                class_of[i],
                class_of[-1],
                i * (E.F.shape[0] // (class_of.shape[0] - 1)),
            )
            place = (first, picked, chosen, low, rows, K)
            add_to_classes(*terms, *place, near, E.F, E.G, E.tracked[i])
            continue
        f = E.F[i, low : low + rows]
        for q in range(picked):
            a, k = E.A[i, first + chosen[q]], K[q]
            for r in range(rows):
                f[r] = f[r] + a * k[r]


# ------------------------------------------------------------------ sums of a ladder


@compiled
def add_ladder(E, start, last, first, picked, chosen, low, rows, K):
    """F[i, low + r] += sum_q A[i, first + chosen[q]] kappa_i, left to right and fused, and G the same of the
    absolute values where tracked, for r < rows and the kernels i of the places start .. last - 1.

    K (picked, rows)  kappa of the first of them; of each other it follows by squarings
    """
    ladder = (E.pool.order, E.pool.chain, start, last, E.A, E.tracked, E.F, E.G, first, chosen, K)
    q = 0
    while q + 4 <= picked:
        r = 0
        while r + _ROWS <= rows:
            _add_4(*ladder, q, r, low + r)
            r += _ROWS
        if r < rows:
            _add_4_x_8(*ladder, q, r, low + r)
        q += 4
    while q < picked:
        r = 0
        while r + 32 <= rows:
            _add_1_x_32(*ladder, q, r, low + r)
            r += 32
        while r < rows:
            _add_1_x_8(*ladder, q, r, low + r)
            r += 8
        q += 1


def _add(vectors, width):
    """Return the intrinsic behind `add_ladder` for so many vectors and rows.

    Their values stay in registers from kernel to kernel. Left to LLVM's loop vectoriser, they are loaded and
    stored for each kernel, and each loop pays its overlap checks.
    """

    @intrinsic
    def add(typingctx, order, chain, start, last, A, tracked, F, G, first, chosen, K, q, r, at):
        """`add_ladder` for the vectors chosen[q:] and the rows r .. of K, `at` .. of F."""
        signature = types.void(order, chain, start, last, A, tracked, F, G, first, chosen, K, q, r, at)

        def codegen(context, builder, signature, args):
            order, chain, start, last, A, tracked, F, G, first, chosen, K, q, r, at = arrays_of(
                context, builder, signature, args
            )
            kind = ir.DoubleType()
            fma, fabs = (
                cgutils.get_or_insert_function(builder.module, ir.FunctionType(of, [of] * inputs), name)
                for of, inputs, name in ((VECTOR, 3, f"llvm.fma.v{LANES}f64"), (kind, 1, "llvm.fabs.f64"))
            )
            places = [builder.add(q, SIZE(v)) for v in range(vectors)]
            parts = [SIZE(u) for u in range(0, width, LANES)]
            own = [builder.add(first, builder.load(pointer_to(builder, chosen, place))) for place in places]
            lines = [[vector_at(builder, K, place, builder.add(r, u)) for u in parts] for place in places]
            values = [
                [cgutils.alloca_once_value(builder, builder.load(place, align=8)) for place in line]
                for line in lines
            ]

            def add_to(sums, i, coefficients):
                factors = [spread(builder, a) for a in coefficients]
                for part, u in enumerate(parts):
                    place = vector_at(builder, sums, i, builder.add(at, u))
                    total = builder.load(place, align=8)
                    for a, value in zip(factors, values, strict=True):
                        total = builder.call(fma, [a, builder.load(value[part]), total])
                    builder.store(total, place, align=8)

            with cgutils.for_range_slice(builder, start, last, SIZE(1), SIZE) as (place, _):
                i = builder.load(pointer_to(builder, order, place))
                squarings = builder.load(pointer_to(builder, chain, place))  # -1 of the first
                with cgutils.for_range(builder, squarings, intp=SIZE):
                    for value in (value for line in values for value in line):
                        k = builder.load(value)
                        builder.store(builder.fmul(k, k), value)
                coefficients = [builder.load(pointer_to(builder, A, i, j)) for j in own]
                stored = [builder.fcmp_unordered("!=", a, kind(0.0)) for a in coefficients]
                some = stored[0]
                for one in stored[1:]:
                    some = builder.or_(some, one)
                with builder.if_then(some):
                    add_to(F, i, coefficients)
                    noted = builder.load(pointer_to(builder, tracked, i))
                    with builder.if_then(builder.icmp_unsigned("!=", noted, noted.type(0))):
                        add_to(G, i, [builder.call(fabs, [a]) for a in coefficients])
            return context.get_dummy_value()

        return signature, codegen

    return add


_ROWS = 16 if LARGE else 8  # of which the values of four vectors stay in registers
_add_4_x_8, _add_1_x_32, _add_1_x_8 = _add(4, 8), _add(1, 32), _add(1, 8)
_add_4 = _add(4, _ROWS) if LARGE else _add_4_x_8


# ------------------------------------------------------------------ sums of a ladder


@compiled
def raise_values(squared, picked, rows, steps, bases, K):
    """K <- K squared that often, or times its base that often."""
    for q in range(picked):
        k, base, left = K[q], bases[q], steps
        while squared and left >= 2:
            for r in range(rows):
                power = k[r] * k[r]
                k[r] = power * power
            left -= 2
        for _ in range(left):
            for r in range(rows):
                k[r] = k[r] * (k[r] if squared else base[r])


@compiled
def add_to_classes(a, rival, label, at, first, picked, chosen, low, rows, K, fused, F, G, tracked):
    """F[at + label_j] += a_j K_j, F[at + rival_j] -= a_j K_j, j = first + chosen[q], left to right.

    fused: by fused multiply-adds; polynomials sum as by definition. G adds |a_j| K_j to both where tracked.
    """
    for q in range(picked):
        j = first + chosen[q]
        c, k = a[j], K[q]
        if c == 0.0:
            continue
        up, down = F[at + label[j], low : low + rows], F[at + rival[j], low : low + rows]
        if fused and tracked:
            s, g, h = abs(c), G[at + label[j], low : low + rows], G[at + rival[j], low : low + rows]
            for r in range(rows):
                up[r] = fma(c, k[r], up[r])
                down[r] = fma(-c, k[r], down[r])
                g[r] = fma(s, k[r], g[r])
                h[r] = fma(s, k[r], h[r])
        elif fused:
            for r in range(rows):
                up[r] = fma(c, k[r], up[r])
                down[r] = fma(-c, k[r], down[r])
        else:
            for r in range(rows):
                up[r] = up[r] + c * k[r]
                down[r] = down[r] - c * k[r]
