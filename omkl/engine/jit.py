"""How the engine and the learners are compiled: by numba, on the first call, and kept on disk."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numba
from numba import types
from numba.core.runtime import rtsys

from omkl.engine.choices import choice
from omkl.engine.late_code import late

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
