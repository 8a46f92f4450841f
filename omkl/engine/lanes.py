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
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

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
        _spread(context, builder, value, own, kind.width, kind.dtype)
        if isinstance(kind, Lanes)
        else context.cast(builder, value, own, kind)
        for value, own in zip(args, signature.args, strict=True)
    ]


@intrinsic
def fma(typingctx, a, b, c):
    """a * b + c with one rounding."""
    kind = _lanes_among((a, b, c)) or types.float64

    def codegen(context, builder, signature, args):
        return _llvm(builder, "fma", *_alike(context, builder, signature, args))

    return kind(*(own if isinstance(own, Lanes) else types.float64 for own in (a, b, c))), codegen


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
