"""Sums of the values of a ladder's kernels, or of one kernel: most of the engine's time is spent here."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.jit import compiled
from omkl.engine.vector_code import LANES, LARGE, SIZE, VECTOR, arrays_of, pointer_to, spread, vector_at


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
