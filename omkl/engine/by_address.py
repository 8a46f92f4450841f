"""Functions of the engine that learners call by address, so that no learner compiles and loads them again.

Numba copies all that a function calls into that function's own machine code. The sums over kernel values are
most of the engine and the same for every learner: they are compiled once, and a learner only calls them.
A pointer is an address and a mark of the types of the arguments that it was compiled for.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.records import Record

Pointer = tuple[int, int]
NO_POINTER: Pointer = (0, 0)
_first = 0.0  # the share of a record's pointers that come last here: see begin_at


class Addresses(Record):
    """Mixed into a named tuple of pointers, which hold in their own process alone: a copy has none."""

    def __reduce__(self) -> tuple:
        return type(self), (NO_POINTER,) * len(self)  # type: ignore[arg-type]


def begin_at(share: float) -> None:
    """Compile functions from this share of their list on, since other processes begin at other ones."""
    global _first
    _first = share


def pointers_of(kind: Any, of: dict[str, tuple]) -> Any:
    """Return a named tuple of this kind: the `pointer_to` each (function, *arguments)."""
    first = int(_first * len(of))
    turns = [*of.items()][first:] + [*of.items()][:first]
    known: dict[int, Any] = {}  # the types of what several take: that of an Expansion takes 0.5 ms
    made = {}
    for name, (function, *given) in turns:
        kinds = tuple(known.get(id(value)) or known.setdefault(id(value), typeof(value)) for value in given)
        made[name] = pointer_to(function, kinds)
    return kind(**made)


@cache
def pointer_to(function: Any, kinds: tuple) -> Pointer:
    """Return the pointer to a compiled function that returns nothing, for arguments of these types.

    It is loaded from disk, or compiled.
    """
    function = function.by_address()
    function.compile(kinds)
    made = function.overloads[kinds]
    assert made.signature.return_type == types.none, "a function that is called by address returns nothing"
    return made.library.get_pointer_to_function(made.fndesc.llvm_func_name), _mark(kinds)


def _mark(kinds: Sequence[Any]) -> int:
    return int.from_bytes(hashlib.sha256(repr(kinds).encode()).digest()[:7], "big")


@intrinsic
def call(typingctx, pointer, arguments):
    """Call a function, in compiled code; arguments: a tuple, of the types that it was compiled for."""
    kinds = tuple(map(types.unliteral, arguments.types))
    mark = _mark(kinds)

    def generate(context, builder, signature, values):
        address, of_types = cgutils.unpack_tuple(builder, values[0])
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", of_types, of_types.type(mark))):
            context.call_conv.return_user_exc(builder, TypeError, ("a pointer to a function of other types",))
        kind = context.call_conv.get_function_type(types.none, kinds)
        callee = builder.inttoptr(address, kind.as_pointer())
        given = cgutils.unpack_tuple(builder, values[1])
        status, _ = context.call_conv.call_function(builder, callee, types.none, kinds, given)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.UniTuple(types.int64, 2), types.Tuple(kinds)), generate


@intrinsic
def array_at(typingctx, address, count):
    """An array of that many float64 at an address, in compiled code; its memory is kept by someone else."""
    kind = types.float64[::1]

    def generate(context, builder, signature, values):
        size = ir.IntType(64)
        array = context.make_array(kind)(context, builder)
        array.data = builder.inttoptr(values[0], array.data.type)
        array.shape = cgutils.pack_array(builder, [values[1]], ty=size)
        array.strides = cgutils.pack_array(builder, [size(8)], ty=size)
        array.nitems, array.itemsize = values[1], size(8)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    return kind(types.int64, types.int64), generate
