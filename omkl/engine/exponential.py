"""exp of numbers that are not positive: most of what a kernel value costs.

Its chain of fused multiply-adds is long, and a processor that sees one chain after the other waits for most
of it. `exponentials` therefore lays two vectors side by side, where LLVM's loop vectoriser takes one. The
scalar forms are the same operations, and so give the same bits.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.arith import MAGIC, MAGIC_BITS
from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.vector_code import LANES, LARGE, arrays_of, spread, vector_at

# exp(x) is exactly 0 below this, as in the C library (round to nearest: half of the smallest subnormal).
EXP_ZERO = -745.1332191019412
# From here on every argument gives 0 without being computed: a product that underflows costs several others,
# and a larger negative argument would overflow the integer part.
FLOOR = -746.0
NORMAL = -700.0  # above it no result is subnormal

_LOG2E = 1.4426950408889634
_LN2_HI = 6.93147180369123816490e-01  # fdlibm's split: 32 bits, so that n * _LN2_HI is exact
_LN2_LO = 1.90821492927058770002e-10
# exp(r) = 1 + r + r**2 q(r), |r| <= ln 2 / 2, q interpolating at ten Chebyshev nodes: relative error 1.6e-17.
_POLYNOMIAL = (
    2.510038549551032e-08,
    2.7620088445409746e-07,
    2.7557268459997064e-06,
    2.4801521295954376e-05,
    0.00019841269863053618,
    0.0013888888917213717,
    0.008333333333330062,
    0.04166666666662413,
    0.16666666666666669,
    0.5000000000000001,
    1.0,
    1.0,
)


def _exp(builder: Any, x: Any, normal: bool) -> Any:
    """Return exp(x), x = n ln 2 + r <= 0, of a number or a vector; normal: it is above NORMAL.

    Otherwise the power of two comes in two factors: the first product is exact and the second rounds once,
    also into the subnormals.
    """
    lanes = x.type.count if isinstance(x.type, ir.VectorType) else 0
    whole = ir.VectorType(ir.IntType(64), lanes) if lanes else ir.IntType(64)
    name = f"llvm.fma.v{lanes}f64" if lanes else "llvm.fma.f64"
    fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(x.type, [x.type] * 3), name)

    def number(value: float, kind: Any = x.type) -> Any:
        return kind([value] * lanes) if lanes else kind(value)

    def power_of_two(n: Any) -> Any:
        shifted = builder.shl(builder.add(n, number(1023, whole)), number(52, whole))
        return builder.bitcast(shifted, x.type)

    if not normal:
        inside = builder.fcmp_ordered(">", x, number(FLOOR))
        x = builder.select(inside, x, number(0.0))
    shifted = builder.call(fma, [x, number(_LOG2E), number(MAGIC)])
    n = builder.sub(builder.bitcast(shifted, whole), number(MAGIC_BITS, whole))
    integer = builder.fsub(shifted, number(MAGIC))
    r = builder.call(fma, [integer, number(-_LN2_HI), x])
    r = builder.call(fma, [integer, number(-_LN2_LO), r])
    p = number(_POLYNOMIAL[0])
    for coefficient in _POLYNOMIAL[1:]:
        p = builder.call(fma, [p, r, number(coefficient)])
    if normal:
        return builder.fmul(p, power_of_two(n))
    half = builder.ashr(n, number(1, whole))
    p = builder.fmul(builder.fmul(p, power_of_two(half)), power_of_two(builder.sub(n, half)))
    return builder.select(inside, p, number(0.0))


@intrinsic
def exp_neg(typingctx, x):
    """exp(x) for x <= 0, within 1 ulp where the result is normal, with gradual underflow to exactly 0."""
    return types.float64(types.float64), lambda context, builder, signature, args: _exp(
        builder, args[0], normal=False
    )


@intrinsic
def exp_neg_normal(typingctx, x):
    """exp_neg(x), the same bits, for NORMAL < x <= 0: there one exact factor serves."""
    return types.float64(types.float64), lambda context, builder, signature, args: _exp(
        builder, args[0], normal=True
    )


def _lanes(width: int, normal: bool) -> Any:
    """Return the intrinsic behind `exponentials` for so many numbers at once."""
    kind = ir.VectorType(ir.DoubleType(), width)

    @intrinsic
    def lanes(typingctx, factor, given, at, out):
        signature = types.void(factor, given, at, out)

        def codegen(context, builder, signature, args):
            factor, given, at, out = arrays_of(context, builder, signature, args)
            x = builder.load(vector_at(builder, given, at, kind=kind), align=8)
            x = builder.fmul(spread(builder, factor, width), x)
            builder.store(_exp(builder, x, normal), vector_at(builder, out, at, kind=kind), align=8)
            return context.get_dummy_value()

        return signature, codegen

    return lanes


_WIDTH = 2 * LANES if LARGE else LANES  # numbers in two vector registers
_any, _normal = _lanes(_WIDTH, normal=False), _lanes(_WIDTH, normal=True)


@compiled_without_refcounts
def exponentials(factor, given, count, normal, out):
    """out[q] = exp(factor given[q]), q < count, of numbers <= 0; normal: above NORMAL. out may be given."""
    at = 0
    if normal:
        while at + _WIDTH <= count:
            _normal(factor, given, at, out)
            at += _WIDTH
        for q in range(at, count):
            out[q] = exp_neg_normal(factor * given[q])
    else:
        while at + _WIDTH <= count:
            _any(factor, given, at, out)
            at += _WIDTH
        for q in range(at, count):
            out[q] = exp_neg(factor * given[q])
