"""How the engine and the learners are compiled: by numba, on the first call, and kept on disk."""

import dis
import hashlib
import json
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.runtime import rtsys
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

INNER, BY_ADDRESS = "inner", "by address"  # who calls a version, where that is not Python
_njit: Any = numba.njit  # whose types do not know all its options


def compiled(function: Callable, **options: Any) -> Any:
    """Return a function that numba compiles, with options of its `njit`.

    Numba makes a version of its own where a caller writes a whole number, as in ``B.used(0)``, or True, and
    again of all that this version calls. Here that is an int64 or a bool like any other, and a text a choice
    (`Choice`): a learner then compiles and loads a fifth less code. Versions that only compiled code
    calls have no wrapper for Python, and no machine code of their own: see `late`.
    """
    dispatcher = _dispatcher(function, options)
    dispatcher.inner = inner = cache(lambda: _dispatcher(function, options, INNER))

    def any_number(args: tuple, kws: dict) -> Any:
        return inner().get_call_template(
            tuple(map(_no_literal, args)), {name: _no_literal(kind) for name, kind in kws.items()}
        )

    dispatcher.get_call_template = any_number
    dispatcher.get_overload = lambda signature: inner().get_overload(signature)
    dispatcher.by_address = cache(lambda: _dispatcher(function, options, BY_ADDRESS))
    return dispatcher


def machine_code(function: Any, arguments: Sequence[Any]) -> Any:
    """Return the code of a compiled function for arguments of these types, which it no longer looks at.

    To find it takes longer than a round of most learners: of a record, the types of all fields count.
    """
    kinds = tuple(map(numba.typeof, arguments))
    function.compile(kinds)
    return function.overloads[kinds].entry_point


def _dispatcher(function: Callable, options: dict, role: str = "") -> Any:
    """Return numba's dispatcher of a function; role: who calls it, where that is not Python.

    Python's threads run beside it. What is called by address is made before it is saved.
    """
    usual = {"no_cfunc_wrapper": True, "no_cpython_wrapper": bool(role), "nogil": not role}
    dispatcher = _njit(cache=True, **{**usual, **options})(function)
    compile_now = dispatcher.compile

    def compile_late(signature: Any) -> Any:
        with late():
            return compile_now(signature)

    dispatcher.compile = compile_late
    files = dispatcher._cache
    if hasattr(files, "_load_overload"):  # of numba 0.59 to 0.68 at least
        files.load_overload = partial(_load, files)
    if role:
        key, save = files._index_key, files.save_overload
        files._index_key = lambda *of: (*key(*of), role)
        if role == BY_ADDRESS:
            files.save_overload = lambda kinds, made: (made.library.make(), save(kinds, made))
    return dispatcher


def _load(files: Any, kinds: Any, target: Any) -> Any:
    """Load a version from disk, as numba does, but without importing first all that it can compile.

    That takes half a second, and numba does it anyway before it compiles anything.
    """
    rtsys.initialize(target)  # what loaded code may call
    with files._guard_against_spurious_io_errors():
        return files._load_overload(kinds, target)


def _no_literal(kind: Any) -> Any:
    if isinstance(kind, types.StringLiteral):
        return choice
    return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral | types.BooleanLiteral) else kind


# Of a function that makes and returns no array, and calls none that returns one: numba counts no references
# in it, nor in what is first compiled for it. A learner that calls many of them in a round, such as SPA, is
# a tenth faster.
compiled_without_refcounts = partial(compiled, _nrt=False)


LINES = "lines.json"  # beside the text of a kernel that is made of a function: where its lines were written


def _as_written(path: str, line: str) -> tuple[str, str]:
    """Return file and line where the user wrote a line of a module, which may be one that omkl has made."""
    path_of_lines = Path(path).parent.parent / LINES
    if not path_of_lines.is_file():
        return path, line
    content = json.loads(path_of_lines.read_text(encoding="utf-8"))
    return content["file"], str(content["lines"].get(line or "", ""))


def fault_in_one_line(function: Any, said: str) -> str:
    """Return where a function cannot be compiled, and why, of what numba said in many lines."""
    path = function.__code__.co_filename
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", said).splitlines()]
    frame = rf'File "[^"]*{re.escape(os.path.basename(path))}", line (\d+)'
    places = [match[1] for line in lines if (match := re.search(frame, line))]
    if not places and (unknown := re.search(r"name '(\w+)' is not defined", said)):
        code = dis.get_instructions(function)
        places = [str(at.positions.lineno) for at in code if at.argval == unknown[1] and at.positions][:1]
    why = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File", "-"))]
    text = " ".join(why[: 2 if why and why[0].endswith(":") else 1])
    path, line = _as_written(path, places[-1] if places else "")
    at = f":{line}" if line else ""
    return f"{path}{at}: {function.__name__} cannot be compiled: {text[:300]}"


# ------------------------------------------------------------------ choices: ``if loss == "hinge"``
# A choice is a number there, a hash of its word: all choices are of one type, and a comparison costs nothing.
# A word that is handed to a function of the engine, as in ``slopes("hinge", y, f)``, becomes one.

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


# ------------------------------------------------------------------ late machine code
# Machine code is made of what Python calls or what is called by address, and of nothing else.
# Numba optimises each function that it compiles and makes machine code of it, also where the function is only
# called by compiled code, whose own machine code then holds a copy. That took half the time of a first run.
# Here such a function stays LLVM's intermediate code, which its callers copy: it is optimised in there. What
# is kept on disk of it is that code.
#
# Of numba's own parts this uses JITCodeLibrary and JITCPUCodegen, as they are from 0.59 to 0.68.

_codegen: Any = codegen
_Library: Any = _codegen.JITCodeLibrary
_set_env = _codegen.JITCPUCodegen.set_env


class LateLibrary(_Library):
    """The code of a function and of all that it calls; machine code once an address in there is wanted."""

    made = False

    def _optimize_final_module(self) -> None:
        """Leave that to `make`."""

    def _finalize_final_module(self) -> None:
        """End what can be linked, and with it machine code that was loaded from disk."""
        self._finalized = True
        if self._object_caching_enabled and self._compiled_object:
            self._make()

    def make(self) -> None:
        """Optimise the code and make machine code of it, once."""
        with global_compiler_lock:
            self._ensure_finalized()
            if not self.made:
                super()._optimize_final_module()
                self._make()

    def _make(self) -> None:
        self.made = True
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:  # of a function that this one calls
                self.codegen.set_env(variable.name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function, 0 where it is not in this library."""
        if not self.made:
            with suppress(NameError):
                self.get_function(name)
                self.make()
        return super().get_pointer_to_function(name) if self.made else 0

    def serialize_using_object_code(self) -> tuple:
        """What is kept on disk."""
        return super().serialize_using_object_code() if self.made else self.serialize_using_bitcode()


def _set_env_where_made(self: Any, name: str, environment: Any) -> None:
    """Let machine code find its globals; there may be none yet."""
    if self._engine.is_symbol_defined(name):
        _set_env(self, name, environment)


_codegen.JITCPUCodegen.set_env = _set_env_where_made


@contextmanager
def late() -> Iterator[None]:
    """Make late libraries of what is compiled or loaded meanwhile; other code of the process has numba's."""
    with global_compiler_lock:
        before = _codegen.JITCPUCodegen._library_class
        _codegen.JITCPUCodegen._library_class = LateLibrary
        try:
            yield
        finally:
            _codegen.JITCPUCodegen._library_class = before
