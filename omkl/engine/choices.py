"""Choices in compiled code: ``if loss == "hinge"``.

A choice is a number there, a hash of its word: all choices are of one type, and a comparison costs nothing.
A word that is handed to a function of the engine, as in ``slopes("hinge", y, f)``, becomes one.
"""

import hashlib
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)

_NUMBER = ir.IntType(64)


class Choice:
    """What is chosen, as compiled code takes it."""

    def __init__(self, word: str) -> None:
        self.number = _number(word)


def _number(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little", signed=True)


class ChoiceType(types.Type):
    """Numba's type of all choices."""

    def can_convert_from(self, typingctx: Any, other: Any) -> Conversion | None:
        return Conversion.safe if isinstance(other, types.StringLiteral) else None


choice = ChoiceType("choice")
typeof_impl.register(Choice)(lambda value, context: choice)


@register_model(ChoiceType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _NUMBER)


@unbox(ChoiceType)
def _unbox(kind, value, c):
    number = c.pyapi.object_getattr_string(value, "number")
    place = cgutils.alloca_once_value(c.builder, _NUMBER(0))
    with c.builder.if_then(cgutils.is_not_null(c.builder, number)):  # Ctrl-C leaves none, and an exception
        c.builder.store(c.pyapi.long_as_longlong(number), place)
        c.pyapi.decref(number)
    return NativeValue(c.builder.load(place), is_error=c.pyapi.c_api_error())


@lower_cast(types.StringLiteral, ChoiceType)
def _of_word(context, builder, kind, to, value):
    return _NUMBER(_number(kind.literal_value))


def _compared(function: Any, sign: str) -> None:
    @type_callable(function)
    def typed(context):
        def result(a, b):
            known = isinstance(a, ChoiceType) and isinstance(b, types.StringLiteral)
            return types.boolean if known else None

        return result

    @lower_builtin(function, ChoiceType, types.StringLiteral)
    def lower(context, builder, signature, args):
        return builder.icmp_signed(sign, args[0], _NUMBER(_number(signature.args[1].literal_value)))


_compared(operator.eq, "==")
_compared(operator.ne, "!=")
