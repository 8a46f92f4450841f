"""How the engine and the learners are compiled: by numba, on the first call, and kept on disk."""

import dis
import json
import os
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.runtime import rtsys

from omkl.engine.choices import choice
from omkl.engine.machine_code import late

INNER, BY_ADDRESS = "inner", "by address"  # who calls a version, where that is not Python
_njit: Any = numba.njit  # whose types do not know all its options


def compiled(function: Callable, **options: Any) -> Any:
    """Return a function that numba compiles, with options of its `njit`.

    Numba makes a version of its own where a caller writes a whole number, as in ``B.used(0)``, or True, and
    again of all that this version calls. Here that is an int64 or a bool like any other, and a text a choice
    (choices.py): a learner then compiles and loads a fifth less code. Versions that only compiled code
    calls have no wrapper for Python, and no machine code of their own: see machine_code.py.
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


def _dispatcher(function: Callable, options: dict, role: str = "") -> Any:
    """Return numba's dispatcher of a function; role: who calls it, where that is not Python.

    Python's threads run beside it. What is called by address is made before it is saved.
    """
    usual = {"no_cfunc_wrapper": True, "no_cpython_wrapper": bool(role), "nogil": not role}
    dispatcher = _njit(cache=True, **{**usual, **options})(function)
    own = dispatcher.compile

    def compile_late(signature: Any) -> Any:
        with late():
            return own(signature)

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
    known = Path(path).parent.parent / LINES
    if not known.is_file():
        return path, line
    content = json.loads(known.read_text(encoding="utf-8"))
    return content["file"], str(content["lines"].get(line or "", ""))


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
    path, line = _as_written(path, places[-1] if places else "")
    at = f":{line}" if line else ""
    return f"{path}{at}: {function.__name__} cannot be compiled: {text[:300]}"
