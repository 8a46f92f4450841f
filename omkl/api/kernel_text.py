"""The text of a Python function as a module of its own, and whether it has changed since it was a kernel."""

import ast
import inspect
import math
import sys
import textwrap
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from omkl.errors import UserError, show

PRODUCTS = ("product", "norm2", "other_norm2")  # the first arguments of a kernel: these, or
ROWS = ("indices", "values", "other_indices", "other_values")
_made: dict[str, tuple[FunctionType, Any]] = {}  # by name, what was made a kernel, and what it did then


def text_of(function: Any) -> str:
    """Return a module that defines a function like this one, with what it uses from outside.

    Raises UserError for what cannot be written down.
    """
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise UserError(f"omkl.kernel takes a function that is written with def, got {show(function)}")
    name = function.__name__
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise UserError(
            f"the text of {name} cannot be found ({error}): define it in a file or a notebook's cell, or "
            f"write kernels/{name}.py in a folder of your own"
        ) from None
    made: Any = tree.body[0]
    made.decorator_list, made.name, made.returns = [], name, None
    for argument in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs):
        argument.annotation = None  # which may use names that the module does not have
    made.args.defaults, made.args.kw_defaults = [], [None] * len(made.args.kwonlyargs)
    lines = [_definition(name, other, value) for other, value in sorted(_outside(function).items())]
    return "\n".join([*lines, "", "", ast.unparse(made), ""])


def lines_of(function: FunctionType, text: str) -> dict[str, Any]:
    """Return the file of a function, and by line of its text (`text_of`) the line where that was written."""
    source, first = inspect.getsourcelines(function)
    written: Any = ast.parse(textwrap.dedent("".join(source))).body[0]
    made: Any = ast.parse(text).body[-1]
    both = zip(_statements(made), _statements(written), strict=True)
    lines = {str(own.lineno): first + other.lineno - 1 for own, other in both}
    return {"file": inspect.getsourcefile(function), "lines": lines}


def _statements(function: ast.AST) -> list[Any]:
    """Return a function and its statements, in the order of its text."""
    inner = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    return [function, *sorted(inner, key=lambda node: (node.lineno, node.col_offset))]


def _definition(function: str, name: str, value: Any) -> str:
    """Return the line that defines what a function uses from outside."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    is_compiled = isinstance(value, BuiltinFunctionType) or hasattr(value, "py_func")
    if own and home not in (None, "__main__") and is_compiled:
        return f"from {home} import {own} as {name}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"{name} = float('{value}')"
    if isinstance(value, bool | int | float):
        return f"{name} = {value!r}"
    raise UserError(
        f"{function} uses {name}, a {type(value).__name__}: a kernel may use modules, compiled functions of "
        "modules, and numbers from outside itself; move the rest into it"
    )


def _outside(function: FunctionType) -> dict[str, Any]:
    """Return what a function uses from outside by name, also in the functions and lambdas inside it."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
    free = dict(inspect.getclosurevars(function).nonlocals)
    return {name: function.__globals__[name] for name in names if name in function.__globals__} | free


def defaults_of(function: FunctionType) -> dict[str, Any]:
    """Return the defaults of a function's own parameters, which are its usual values."""
    own = inspect.signature(function).parameters.values()
    return {
        one.name: one.default.item() if isinstance(one.default, np.generic) else one.default
        for one in own
        if one.default is not one.empty and one.name not in (*PRODUCTS, *ROWS)
    }


# ------------------------------------------------------------------ what was edited since


def remember(function: FunctionType) -> None:
    """Keep what a function does now, for `check_current`."""
    _made[function.__name__] = function, _doing(function)


def check_current() -> None:
    """Raise UserError for a function that was edited after it was made a kernel, as %autoreload does."""
    for name, (function, doing) in _made.items():
        now = vars(sys.modules.get(function.__module__, ast)).get(name, function)
        now = now if isinstance(now, FunctionType) and now.__qualname__ == function.__qualname__ else function
        if _doing(now) != doing:
            raise UserError(
                f"{name} was edited after omkl.kernel({name}), which keeps the text that it had; call "
                f"omkl.kernel({name}, ...) again"
            )


def _doing(function: FunctionType) -> Any:
    """Return what a function computes: its instructions, and the numbers that it uses from outside."""
    outside = {
        name: repr(value)
        for name, value in _outside(function).items()
        if isinstance(value, bool | int | float | np.generic)
    }
    return _instructions(function.__code__), function.__defaults__, outside


def _instructions(code: CodeType) -> Any:
    """Return the instructions and constants of a code object, without the lines where they stand."""
    consts = [
        _instructions(const) if isinstance(const, CodeType) else (type(const), const)
        for const in code.co_consts
    ]
    return code.co_code, consts, code.co_names, code.co_varnames
