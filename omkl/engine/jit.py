"""How the engine and the learners are compiled: by numba, on the first call, and kept on disk."""

import dis
import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba import types
from numba.core.runtime import rtsys

_njit: Any = numba.njit  # whose types do not know all its options


def compiled(function: Callable, **options: Any) -> Any:
    """Return a function that numba compiles, with options of its `njit`.

    Numba makes a version of its own where a caller writes a whole number, as in ``used(B, 0)``, and again of
    all that this version calls. Here that number is an int64 like any other: a learner then compiles and
    loads a fifth less code.
    """
    dispatcher = _njit(cache=True, no_cfunc_wrapper=True, **options)(function)
    template = dispatcher.get_call_template

    def any_number(args: tuple, kws: dict) -> Any:
        return template(
            tuple(map(_no_literal, args)), {name: _no_literal(kind) for name, kind in kws.items()}
        )

    dispatcher.get_call_template = any_number
    if hasattr(dispatcher._cache, "_load_overload"):  # of numba 0.59 to 0.68 at least
        dispatcher._cache.load_overload = partial(_load, dispatcher._cache)
    return dispatcher


def _load(cache: Any, kinds: Any, target: Any) -> Any:
    """Load a version from disk, as numba does, but without importing first all that it can compile.

    That takes half a second, and numba does it anyway before it compiles anything.
    """
    rtsys.initialize(target)  # what loaded code may call
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(kinds, target)


def _no_literal(kind: Any) -> Any:
    return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind


# Of a function that makes and returns no array, and calls none that returns one: numba counts no references
# in it, nor in what is first compiled for it. A learner that calls many of them in a round, such as SPA, is
# a tenth faster.
compiled_without_refcounts = partial(compiled, _nrt=False)


def fault_in_one_line(function: Any, said: str) -> str:
    """Return where a function cannot be compiled, and why, of what numba said in many lines."""
    path = function.__code__.co_filename
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", said).splitlines()]
    own = rf'File "[^"]*{re.escape(os.path.basename(path))}", line (\d+)'
    places = [match[1] for line in lines if (match := re.search(own, line))]
    if not places and (unknown := re.search(r"name '(\w+)' is not defined", said)):
        code = dis.get_instructions(function)
        places = [str(at.positions.lineno) for at in code if at.argval == unknown[1] and at.positions][:1]
    why = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File", "-"))]
    text = " ".join(why[: 2 if why and why[0].endswith(":") else 1])
    at = f":{places[-1]}" if places else ""
    return f"{path}{at}: {function.__name__} cannot be compiled: {text[:300]}"
