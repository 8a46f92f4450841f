"""What naive twins are written with, by definition and in plain steps; only `libm` is compiled.

A package of twins (``tests/reference``) borrows these modules: ``from .expansion import Expansions``.
"""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

from omkl.errors import UserError
from omkl.testing.definitions.expansion import Result as Result


def twin_names() -> list[str]:
    """Return the names of the modules that a package of twins borrows."""
    return [info.name for info in pkgutil.iter_modules(__path__)]


def lend(package: str) -> None:
    """Make the modules here modules of a package of twins too; the package must have been imported.

    Raises UserError where it has one of the name itself.
    """
    home = sys.modules[package]
    taken = {info.name: info for info in pkgutil.iter_modules(home.__path__)}
    for name in twin_names():
        if name in taken:
            finder: Any = taken[name].module_finder
            module = importlib.import_module(f"{__name__}.{name}")
            raise UserError(
                f"{finder.path}/{name}.py: the name is taken by {module.__file__}; rename the file"
            )
        module = importlib.import_module(f"{__name__}.{name}")
        sys.modules[f"{package}.{name}"] = module
        setattr(home, name, module)


def twins(package: str) -> dict[str, Callable[..., Any]]:
    """Return the twins of a package by name: its functions of (X, y, kernels, ..., rng).

    Raises UserError, with the file's name, for a module that cannot be imported.
    """
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.iter_modules(sys.modules[package].__path__):
        finder: Any = info.module_finder
        try:
            module = importlib.import_module(f"{package}.{info.name}")
        except (Exception, SystemExit) as error:
            why = f"cannot be imported: {type(error).__name__}: {error}"
            raise UserError(f"{finder.path}/{info.name}.py: {why}") from error
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__:
                parameters = tuple(inspect.signature(value).parameters)
                if parameters[:3] == ("X", "y", "kernels") and "rng" in parameters:
                    found[name] = value
    return found
