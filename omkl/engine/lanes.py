"""Lanes: several numbers side by side as one value of compiled code, which numba lacks.

    total = zeros(8)
    for k in range(start, stop):
        total += values[k] * load(total, rows, (slot[indices[k]], lane))
    store(total, out, (j, place))

Such a value stays in vector registers from one step of a loop to the next: left to LLVM's loop vectoriser,
sums go to memory and back, and each loop pays its overlap checks. What is computed with lanes is a plain
function that serves all widths. A number stands for all lanes. Each lane has the bits of the same
operations on numbers, in the order in which they are written: nothing is fused that is not written as `fma`.
Write ``|`` and ``&`` between comparisons. No index may be negative: numba's own ``array[index]`` looks for
negative ones, which costs something in a loop; `item` does not.
"""

import operator
from functools import partial
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from omkl.engine.jit import compiled_without_refcounts

LANES = 8  # rows are padded to a multiple of this, so that loops over lanes leave no remainder


def numbers_in_registers(features: str) -> int:
    """Return how many numbers the vector registers of a processor hold; features: as LLVM writes them."""
    known = features.split(",")
    if "+avx512f" in known:
        return 32 * 8
    return 16 * 4 if "+avx" in known else 32 * 2 if "+neon" in known else 16 * 2


# What stays in registers from one step of a loop to the next must leave room for what the step itself needs.
_settings: Any = config
ROOM = numbers_in_registers(_settings.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten())
LARGE = ROOM > 8 * LANES


class Lanes(types.Type):
    """Numba's type of so many numbers of one type."""

    def __init__(self, width: int, dtype: Any = types.float64) -> None:
        self.width, self.dtype = width, dtype
        super().__init__(f"Lanes({width}, {dtype})")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        number = ir.IntType(1) if kind.dtype == types.boolean else manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, kind.width))


# ------------------------------------------------------------------ operators

_OPERATORS = {  # of real numbers, and of others
    operator.add: ("fadd", "add"),
    operator.iadd: ("fadd", "add"),
    operator.sub: ("fsub", "sub"),
    operator.isub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"),
    operator.imul: ("fmul", "mul"),
    operator.lshift: ("", "shl"),
    operator.rshift: ("", "ashr"),
    operator.and_: ("", "and_"),
    operator.or_: ("", "or_"),
}
_COMPARISONS = {operator.lt: "<", operator.gt: ">", operator.eq: "=="}


def _lanes_among(kinds: Any) -> Any:
    """The type of the first lanes among these types, None where all are numbers."""
    return next((kind for kind in kinds if isinstance(kind, Lanes)), None)


def _spread(context: Any, builder: Any, value: Any, kind: Any, width: int, dtype: Any) -> Any:
    """Lanes that all hold this number of type `kind`; lanes as they are."""
    if isinstance(kind, Lanes):
        return value
    value, lane = context.cast(builder, value, kind, dtype), ir.IntType(32)
    vector = ir.VectorType(value.type, width)
    one = builder.insert_element(vector(ir.Undefined), value, lane(0))
    return builder.shuffle_vector(one, vector(ir.Undefined), ir.VectorType(lane, width)(None))


def _in_each_lane(function: Any, compares: bool, code: Any) -> None:
    """Let numba compile this operator of two lanes, or of lanes and a number, by its code."""

    @type_callable(function)
    def typed(context):
        def result(a, b):
            lanes = _lanes_among((a, b))
            known = all(isinstance(kind, (Lanes, types.Number)) for kind in (a, b))
            return (Lanes(lanes.width, types.boolean) if compares else lanes) if lanes and known else None

        return result

    def lower(context, builder, signature, args):
        lanes = _lanes_among(signature.args)
        a, b = (
            _spread(context, builder, value, kind, lanes.width, lanes.dtype)
            for value, kind in zip(args, signature.args, strict=True)
        )
        return code(builder, lanes.dtype, a, b)

    for kinds in ((Lanes, Lanes), (Lanes, types.Number), (types.Number, Lanes)):
        lower_builtin(function, *kinds)(lower)


def _operator(names: tuple[str, str]) -> Any:
    return lambda builder, dtype, a, b: getattr(builder, names[dtype != types.float64])(a, b)


def _comparison(sign: str) -> Any:
    return lambda builder, dtype, a, b: (
        builder.fcmp_ordered(sign, a, b) if dtype == types.float64 else builder.icmp_signed(sign, a, b)
    )


for _function, _names in _OPERATORS.items():
    _in_each_lane(_function, False, _operator(_names))
for _function, _sign in _COMPARISONS.items():
    _in_each_lane(_function, True, _comparison(_sign))


# ------------------------------------------------------------------ functions of numbers or of lanes


def _llvm(builder: Any, name: str, *args: Any) -> Any:
    """Call a function that LLVM has for numbers and for vectors of them."""
    kind = args[0].type
    suffix = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
    declared = ir.FunctionType(kind, [kind] * len(args))
    function = cgutils.get_or_insert_function(builder.module, declared, f"llvm.{name}.{suffix}")
    return builder.call(function, args)


def _alike(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """The arguments, as what is returned is: real numbers, or lanes of them."""
    kind = signature.return_type
    return [
        _spread(context, builder, value, given, kind.width, kind.dtype)
        if isinstance(kind, Lanes)
        else context.cast(builder, value, given, kind)
        for value, given in zip(args, signature.args, strict=True)
    ]


@intrinsic
def fma(typingctx, a, b, c):
    """a * b + c with one rounding."""
    kind = _lanes_among((a, b, c)) or types.float64

    def codegen(context, builder, signature, args):
        return _llvm(builder, "fma", *_alike(context, builder, signature, args))

    return kind(*(given if isinstance(given, Lanes) else types.float64 for given in (a, b, c))), codegen


@intrinsic
def absolute(typingctx, lanes):
    """|lanes|."""
    return lanes(lanes), lambda context, builder, signature, args: _llvm(builder, "fabs", *args)


@intrinsic
def where(typingctx, chosen, a, b):
    """The lanes of a where they are chosen, else those of b; or one of two numbers."""
    kind = _lanes_among((a, b)) or (Lanes(chosen.width) if isinstance(chosen, Lanes) else types.float64)

    def codegen(context, builder, signature, args):
        return builder.select(args[0], *(_alike(context, builder, kind(*signature.args[1:]), args[1:])))

    return kind(chosen, a, b), codegen


def _reinterpreted(of: Any, to: Any) -> Any:
    @intrinsic
    def reinterpreted(typingctx, x):
        kind = Lanes(x.width, to) if isinstance(x, Lanes) else to

        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], context.get_value_type(kind))

        return kind(x if isinstance(x, Lanes) else of), codegen

    return reinterpreted


bits_of, number_of = (  # the bits of a float64 as an int64, and the number that has these bits
    _reinterpreted(types.float64, types.int64),
    _reinterpreted(types.int64, types.float64),
)


@intrinsic
def sum_onto(typingctx, total, lanes):
    """total + lanes, one lane after the other."""

    def codegen(context, builder, signature, args):
        total, lanes = args
        for q in range(signature.args[1].width):
            total = builder.fadd(total, builder.extract_element(lanes, ir.IntType(32)(q)))
        return total

    return types.float64(types.float64, lanes), codegen


@intrinsic(prefer_literal=True)
def exchanged(typingctx, a, b, step):
    """a and b, of which each block of `step` lanes with an odd number in a, and the one before it in b, have
    changed places: with three steps, 4, 2 and 1, eight lines of eight lanes are transposed.
    """
    width, by = a.width, step.literal_value

    def codegen(context, builder, signature, args):
        kind = ir.VectorType(ir.IntType(32), width)
        low = [q if not q & by else width + q - by for q in range(width)]
        high = [q + by if not q & by else width + q for q in range(width)]
        parts = [builder.shuffle_vector(*args[:2], kind(lanes)) for lanes in (low, high)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(a, 2)(a, b, step), codegen


@intrinsic
def count_ones(typingctx, word):
    """How many bits of a word are 1."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


# ------------------------------------------------------------------ to and from arrays


@intrinsic(prefer_literal=True)
def zeros(typingctx, count):
    """So many zeros; the count is a number written in the source, or a constant of the module."""
    if not isinstance(count, types.IntegerLiteral):
        return None
    kind = Lanes(count.literal_value)
    return kind(count), lambda context, builder, signature, args: context.get_value_type(kind)(None)


def _place(context: Any, builder: Any, array: Any, of: Any, index: Any, at: Any, width: int = 1) -> Any:
    """Where this index of a C-contiguous array lies, from which so many numbers are wanted."""
    opened = context.make_array(array)(context, builder, of)
    kinds: Any = index if isinstance(index, types.BaseTuple) else [index]
    places = [
        context.cast(builder, place, kind, types.int64 if kind.signed else types.uint64)
        for place, kind in zip(
            cgutils.unpack_tuple(builder, at) if kinds is index else [at], kinds, strict=True
        )
    ]
    sides, steps = (cgutils.unpack_tuple(builder, part) for part in (opened.shape, opened.strides))
    checked = context.enable_boundscheck
    if checked:
        last = builder.add(places[-1], places[-1].type(width - 1))
        cgutils.do_boundscheck(context, builder, last, sides[-1], len(places) - 1)
    return cgutils.get_item_pointer2(
        context, builder, opened.data, sides, steps, "C", places, boundscheck=checked
    )


def _contiguous(array: Any) -> bool:
    return isinstance(array, types.Array) and array.layout == "C"


@intrinsic
def load(typingctx, like, array, index):
    """The lanes of a contiguous array from this index on, as many as `like` has."""
    if not _contiguous(array):
        return None
    kind = Lanes(like.width, array.dtype)

    def codegen(context, builder, signature, args):
        place = _place(context, builder, array, args[1], signature.args[2], args[2], kind.width)
        return builder.load(builder.bitcast(place, context.get_value_type(kind).as_pointer()), align=8)

    return kind(like, array, index), codegen


@intrinsic
def item(typingctx, array, index):
    """The number of a contiguous array at this index."""
    if not _contiguous(array):
        return None

    def codegen(context, builder, signature, args):
        place = _place(context, builder, array, args[0], signature.args[1], args[1])
        return context.unpack_value(builder, array.dtype, place)

    return array.dtype(array, index), codegen


@intrinsic
def store(typingctx, value, array, index):
    """Write lanes, or a number, to a contiguous array, from this index on."""
    lanes = isinstance(value, Lanes)
    if not _contiguous(array) or (lanes and value.dtype != array.dtype):
        return None
    kind, width = (value, value.width) if lanes else (array.dtype, 1)

    def codegen(context, builder, signature, args):
        place = _place(context, builder, array, args[1], signature.args[2], args[2], width)
        if lanes:
            vector = context.get_value_type(kind)
            builder.store(args[0], builder.bitcast(place, vector.as_pointer()), align=8)
        else:
            context.pack_value(builder, kind, args[0], place)
        return context.get_dummy_value()

    return types.void(kind, array, index), codegen


# ------------------------------------------------------------------ any, max, sin, cos and exp
# `any_of` and `largest_of` stand in loops of nearly every learner for numpy's `any` and `max`: a process that
# loads compiled code with those imports much of scipy first, which takes a quarter of a second.
#
# Nothing in the engine is compiled with fastmath. Where a fused multiply-add pays it is written as one, so
# that every value is the same whatever loop, block or vector width it is computed in.

MAGIC = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, held in the low bits
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))


@compiled_without_refcounts
def any_of(values):
    """Whether any of these values (n,) is not 0."""
    count = 0
    for i in range(values.size):
        count += values[i] != 0.0
    return count > 0


@compiled_without_refcounts
def largest_of(values):
    """The largest of at least one value (n,)."""
    largest = values[0]
    for i in range(1, values.size):
        largest = max(largest, values[i])
    return largest


_TWO_OVER_PI = 0.6366197723675814
_PIO2_HI = 1.5707963267948966
_PIO2_LO = 6.123233995736766e-17
_PIO2_REST = -1.4973849048591833e-33  # matters where x is next to a multiple of pi / 2


@njit(cache=True, inline="always")
def sincos(x):
    """sin(x) and cos(x) for |x| <= 1e5, within 1 ulp: fdlibm's polynomials on [-pi/4, pi/4].

    Branch-free, so that a loop over it becomes vector code.
    """
    shifted = fma(x, _TWO_OVER_PI, MAGIC)
    n = np.float64(shifted).view(np.int64) - MAGIC_BITS
    whole = shifted - MAGIC
    r = fma(whole, -_PIO2_LO, fma(whole, -_PIO2_HI, x))
    r = fma(whole, -_PIO2_REST, r)
    q = r * r
    s = 1.58969099521155010221e-10
    s = fma(s, q, -2.50507602534068634195e-08)
    s = fma(s, q, 2.75573137070700676789e-06)
    s = fma(s, q, -1.98412698298579493134e-04)
    s = fma(s, q, 8.33333333332248946124e-03)
    s = fma(s, q, -1.66666666666666324348e-01)
    s = fma(s * q, r, r)
    c = -1.13596475577881948265e-11
    c = fma(c, q, 2.08757232129817482790e-09)
    c = fma(c, q, -2.75573143513906633035e-07)
    c = fma(c, q, 2.48015872894767294178e-05)
    c = fma(c, q, -1.38888888888741095749e-03)
    c = fma(c, q, 4.16666666666666019037e-02)
    c = fma(c * q, q, fma(-0.5, q, 1.0))
    odd = (n & 1) != 0
    sine, cosine = (c if odd else s), (s if odd else c)
    return (-sine if (n & 2) != 0 else sine), (-cosine if ((n + 1) & 2) != 0 else cosine)


# exp of numbers that are not positive is most of what a kernel value costs. One function serves numbers and
# lanes, and so gives the same bits. Nothing in it branches: LLVM makes vectors of a loop over it.

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
_inlined = partial(compiled_without_refcounts, inline="always")


@_inlined
def _parts(x):
    """(exp(r), n) of x = n ln 2 + r, n a whole number."""
    shifted = fma(x, _LOG2E, MAGIC)
    integer = shifted - MAGIC
    r = fma(integer, -_LN2_LO, fma(integer, -_LN2_HI, x))
    p = fma(2.510038549551032e-08, r, 2.7620088445409746e-07)
    p = fma(p, r, 2.7557268459997064e-06)
    p = fma(p, r, 2.4801521295954376e-05)
    p = fma(p, r, 0.00019841269863053618)
    p = fma(p, r, 0.0013888888917213717)
    p = fma(p, r, 0.008333333333330062)
    p = fma(p, r, 0.04166666666662413)
    p = fma(p, r, 0.16666666666666669)
    p = fma(p, r, 0.5000000000000001)
    p = fma(p, r, 1.0)
    return fma(p, r, 1.0), bits_of(shifted) - MAGIC_BITS


@_inlined
def _power_of_two(n):
    return number_of((n + 1023) << 52)


@compiled_without_refcounts
def exp_neg_normal(x):
    """exp_neg(x), the same bits, for NORMAL < x <= 0: there one exact factor serves."""
    p, n = _parts(x)
    return p * _power_of_two(n)


@compiled_without_refcounts
def exp_neg(x):
    """exp(x) of a number or lanes <= 0, within 1 ulp where it is normal, with gradual underflow to exactly 0.

    The power of two comes in two factors: the first product is exact and the second rounds once, also into
    the subnormals.
    """
    inside = x > FLOOR
    p, n = _parts(where(inside, x, 0.0))
    half = n >> 1
    return where(inside, p * _power_of_two(half) * _power_of_two(n - half), 0.0)


@compiled_without_refcounts
def exponentials(factor, given, count, normal, out):
    """out[q] = exp(factor given[q]), q < count, of numbers <= 0; normal: above NORMAL. out may be given."""
    if normal:
        for q in range(count):
            out[q] = exp_neg_normal(factor * given[q])
    else:
        for q in range(count):
            out[q] = exp_neg(factor * given[q])
