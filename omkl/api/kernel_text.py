"""The text of a Python function as a module of its own."""

import ast
import inspect
import math
import symtable
import sys
import textwrap
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from omkl.errors import UserError, show

PRODUCTS = ("product", "norm2", "other_norm2")  # the first arguments of a kernel: these, or
ROWS = ("indices", "values", "other_indices", "other_values")


def module_text(function: Any) -> str:
    """Return a module that defines a function as it is written, below what it uses from outside.

    Raises UserError for what cannot be written down.
    """
    lines, _ = _definition_lines(function)
    outside = _outside(function).items()
    imports = ["from __future__ import annotations", *(_line(function, *item) for item in outside)]
    return "\n".join([*imports, "", "", *lines, ""])


def lines_of(function: FunctionType) -> dict[str, Any]:
    """Return the file of a function, and by line of `module_text` the line where that was written."""
    lines, first = _definition_lines(function)
    above = module_text(function).count("\n") - len(lines)
    numbers = {str(above + number): first + number - 1 for number in range(1, len(lines) + 1)}
    return {"file": inspect.getsourcefile(function), "lines": numbers}


def defaults_of(function: FunctionType) -> dict[str, Any]:
    """Return the defaults of a function's own parameters, which are its usual values."""
    return {
        name: one.default.item() if isinstance(one.default, np.generic) else one.default
        for name, one in inspect.signature(function).parameters.items()
        if one.default is not one.empty and name not in (*PRODUCTS, *ROWS)
    }


def _definition_lines(function: Any) -> tuple[list[str], int]:
    """Return the lines of a function from ``def`` on, and the number of the first one in its file."""
    name = getattr(function, "__name__", "")
    if not isinstance(function, FunctionType) or name == "<lambda>" or name != function.__code__.co_name:
        raise UserError(f"omkl.kernel takes a function that is written with def, got {show(function)}")
    try:
        written, first = inspect.getsourcelines(function)
        text = textwrap.dedent("".join(written))
        decorators = ast.parse(text).body[0].lineno - 1
    except (OSError, TypeError, SyntaxError) as error:
        raise UserError(
            f"the text of {name} cannot be found ({error}): define it in a file or a notebook's cell, or "
            f"write kernels/{name}.py in a folder of your own"
        ) from None
    return text.splitlines()[decorators:], first + decorators


def _outside(function: FunctionType) -> dict[str, Any]:
    """Return what a function, its defaults and the functions inside it use from outside, by name."""
    text = "\n".join(["from __future__ import annotations", *_definition_lines(function)[0]])
    tables, names = [symtable.symtable(text, "kernel", "exec")], set[str]()
    while tables:
        symbols = tables.pop()
        names |= {one.get_name() for one in symbols.get_symbols() if one.is_referenced() and one.is_global()}
        tables += symbols.get_children()
    values = function.__globals__ | dict(inspect.getclosurevars(function).nonlocals)
    return {name: values[name] for name in sorted(names) if name in values}


def _line(function: FunctionType, name: str, value: Any) -> str:
    """Return the line that defines what a function uses from outside."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    module, written = getattr(value, "__module__", None), getattr(value, "__name__", None)
    is_compiled = isinstance(value, BuiltinFunctionType) or hasattr(value, "py_func")
    space = sys.modules.get(str(module)) if is_compiled and module != "__main__" else None
    if getattr(space, str(written), None) is value:
        return f"from {module} import {written} as {name}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"{name} = float('{value}')"
    if isinstance(value, bool | int | float):
        return f"{name} = {value!r}"
    raise UserError(
        f"{function.__name__} uses {name}, a {type(value).__name__}: a kernel may use modules, compiled "
        "functions of modules, and numbers from outside itself; move the rest into it"
    )
