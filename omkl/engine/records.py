"""Records of arrays that compiled code reads where they lie: one pointer, however many arrays there are.

Numba hands over a named tuple field by field, an array in five words and two for each side. An Expansion is
380 words then, for every function that takes one: learners with a budget took up to a third longer, and
compiling half as long again. A Record is laid out once in memory, as words of 8 bytes, and compiled code
loads from there what it uses. No record changes while compiled code runs (what its arrays hold does), so
LLVM may load a word once.

A record has methods, in compiled code as in Python: compiled functions that take it first (`method`).
A field that is None costs nothing: code behind ``if record.field is not None`` is left out (`AbsentFields`).
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core import ir as numba_ir
from numba.core.consts import ConstantInference
from numba.core.rewrites import Rewrite, register_rewrite
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

_WORD = ir.IntType(64)
_Dispatcher: Any = types.Dispatcher


class Record:
    """Mixed into a named tuple of arrays, whole and real numbers, tuples of those, None and other records.

    Compiled code takes it as a pointer, reads its fields by name and calls its methods, no more. An array
    read there must not be returned to Python, except where the record lives on: it does not keep its memory
    alive. Nor may an array of a record be resized or reshaped in place: its words would stay as they are.
    """

    def __init_subclass__(cls) -> None:
        typeof_impl.register(cls)(_typeof)

    @property
    def address(self) -> int:
        """Where the record's words lie, which live as long as it does."""
        held: Any = vars(self)
        if "words" not in held:
            words = np.array(_words(tuple(self)), np.int64)  # type: ignore[arg-type]
            held.setdefault("words", (words, words.ctypes.data))  # of two threads, one's words stay
        return held["words"][1]

    def __getstate__(self) -> None:
        """A copy lies elsewhere: it takes the fields alone."""


def method(*kinds: type) -> Callable[[Any], Any]:
    """Make a compiled function a method of these records, or of all records of a class: ``E.add(...)``."""

    def added(function: Any) -> Any:
        for kind in kinds:
            setattr(kind, function.__name__, function)
        return function

    return added


class RecordType(types.Type):
    """Numba's type of a Record: its class, and the names and types of its fields."""

    def __init__(self, record: type, fields: tuple[tuple[str, Any], ...]) -> None:
        for field, kind in fields:
            if not _fits(kind):
                raise TypeError(f"{record.__name__}.{field} is of type {kind}, which a record cannot hold")
        self.record, self.fields = record, dict(fields)
        # part of the symbols of all functions that take it, so that it had better be short
        super().__init__(f"{record.__name__}_{hashlib.sha256(repr(fields).encode()).hexdigest()[:16]}")

    def place(self, name: str) -> int:
        """The number of the field's first word."""
        before = list(self.fields)[: list(self.fields).index(name)]
        return sum(_length(self.fields[other]) for other in before)


_types: dict[tuple, RecordType] = {}  # by `_form`, since numba takes a millisecond for an Expansion


def _typeof(record: Any, context: Any) -> RecordType:
    held = vars(record)
    if "type" not in held:
        form = _form(record)
        if form not in _types:
            kinds = [(name, typeof_impl(value, context)) for name, value in record._asdict().items()]
            _types[form] = RecordType(type(record), tuple(kinds))
        held["type"] = _types[form]
    return held["type"]


def _form(value: Any) -> Any:
    """What decides numba's type of a field."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    if isinstance(value, tuple):
        return type(value), *map(_form, value)
    return type(value)


def _fits(kind: Any) -> bool:
    if hasattr(kind, "types"):  # a tuple
        return all(map(_fits, kind.types))
    if isinstance(kind, types.Array):
        return kind.ndim > 0
    return isinstance(kind, RecordType) or kind in (types.none, types.int64, types.float64)


def _words(fields: tuple) -> list[int]:
    """The words of these fields, one after another."""
    words: list[int] = []
    for value in fields:
        if isinstance(value, np.ndarray):
            words += value.__array_interface__["data"][0], *value.shape, *value.strides
        elif isinstance(value, Record):
            words.append(value.address)
        elif isinstance(value, tuple):
            words += _words(value)
        elif value is not None:
            words.append(int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value))
    return words


def _length(kind: Any) -> int:
    """How many words a field of this type has."""
    if isinstance(kind, types.Array):
        return 1 + 2 * kind.ndim
    if hasattr(kind, "types"):  # a tuple
        return sum(map(_length, kind.types))
    return 0 if kind == types.none else 1


register_model(RecordType)(models.OpaqueModel)


@unbox(RecordType)
def _unbox(kind, record, c):
    address = c.pyapi.object_getattr_string(record, "address")
    pointer = cgutils.alloca_once_value(c.builder, cgutils.get_null_value(cgutils.voidptr_t))
    with c.builder.if_then(cgutils.is_not_null(c.builder, address)):  # Ctrl-C leaves none, and an exception
        c.builder.store(c.pyapi.long_as_voidptr(address), pointer)
        c.pyapi.decref(address)
    return NativeValue(c.builder.load(pointer), is_error=c.pyapi.c_api_error())


class Method(types.BoundFunction):
    """Numba's type of a method, whose key is the compiled function."""

    def get_impl_key(self, signature: Any) -> Any:
        return _Dispatcher(self.typing_key).get_impl_key(signature)


register_model(Method)(lambda manager, kind: manager[kind.this])


def _bound(function: Any, record: RecordType) -> Method:
    """The method of this type of record: its call is that of the function, with the record first."""

    class Call(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            called = _Dispatcher(function).get_call_type(self.context, (record, *args), kws)
            return called and called.as_method()

    return Method(Call, record)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record, name):
        function = getattr(record.record, name, None)
        if hasattr(function, "get_call_template"):
            return _bound(function, record)
        return record.fields.get(name)


@register_rewrite("before-inference")
class AbsentFields(Rewrite):
    """``record.field`` is the constant None where the record's type says so.

    Numba then prunes a branch on it before it infers types, as it does for an argument that is None.
    """

    def __init__(self, state: Any) -> None:
        self.arguments = state.args

    def match(self, func_ir: Any, block: Any, typemap: Any, calltypes: Any) -> bool:
        self.func_ir, self.block = func_ir, block
        self.absent = [
            statement
            for statement in block.find_insts(numba_ir.Assign)
            if isinstance(statement.value, numba_ir.Expr) and self._type(statement.value) == types.none
        ]
        return bool(self.absent)

    def _type(self, value: Any) -> Any:
        """The type of an argument, a record in it, or a field of theirs; None for anything else."""
        if isinstance(value, numba_ir.Var):
            try:
                return self._type(self.func_ir.get_definition(value))
            except KeyError:  # assigned at several places
                return None
        if isinstance(value, numba_ir.Arg):
            return self.arguments[value.index]
        if isinstance(value, numba_ir.Expr) and value.op == "getattr":
            record = self._type(value.value)
            record = record.type if isinstance(record, types.Optional) else record
            return record.fields.get(value.attr) if isinstance(record, RecordType) else None
        return None

    def apply(self) -> Any:
        for statement in self.absent:
            none = numba_ir.Const(None, statement.loc)
            definitions = self.func_ir._definitions[statement.target.name]
            definitions[definitions.index(statement.value)] = none
            statement.value = none
        self.func_ir._consts = ConstantInference(self.func_ir)  # it remembers what was no constant
        return self.block


@lower_getattr_generic(RecordType)
def _field(context, builder, record, pointer, name):
    words = builder.bitcast(pointer, _WORD.as_pointer())
    words = builder.gep(words, [_WORD(record.place(name))], inbounds=True)
    return _value(context, builder, record.fields[name], words)


def _value(context, builder, kind, words):
    """The value of a field of this type, from its words."""

    def load(place):
        word = builder.load(builder.gep(words, [_WORD(place)], inbounds=True))
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word

    if kind == types.none:
        return context.get_dummy_value()
    if isinstance(kind, types.BaseTuple):
        parts, place = [], 0
        for part in kind.types:
            parts.append(_value(context, builder, part, builder.gep(words, [_WORD(place)], inbounds=True)))
            place += _length(part)
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder)
        shape = [load(1 + k) for k in range(kind.ndim)]
        steps = [load(1 + kind.ndim + k) for k in range(kind.ndim)]
        count = shape[0]
        for size in shape[1:]:
            count = builder.mul(count, size, flags=["nsw"])
        array.data = builder.inttoptr(load(0), array.data.type)
        array.shape = cgutils.pack_array(builder, shape, ty=_WORD)
        array.strides = cgutils.pack_array(builder, steps, ty=_WORD)
        array.nitems = count
        array.itemsize = _WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, RecordType):
        return builder.inttoptr(load(0), ir.IntType(8).as_pointer())
    if kind == types.float64:
        return builder.bitcast(load(0), ir.DoubleType())
    return load(0)
