"""The learners, one module per paper. A learner is found by the name of its function: no list is kept."""

import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from omkl import engine
from omkl.engine import numba_cache
from omkl.errors import UserError, suggest


def functions() -> dict[str, Any]:
    """Return every public function of the package's modules by name: compiled ones, and the setups.

    Raises UserError where two modules define the same name.
    """
    known = {}
    for module_info in pkgutil.iter_modules(__path__):
        module = sys.modules.get(f"{__name__}.{module_info.name}") or _imported(module_info)
        for name, value in vars(module).items():
            here = getattr(getattr(value, "py_func", value), "__module__", None) == module.__name__
            if name.startswith("_") or not callable(value) or not here:
                continue
            if name in known:
                raise UserError(f"learner function '{name}' is defined twice in omkl.algorithms")
            known[name] = value
    return known


def _imported(module_info: pkgutil.ModuleInfo) -> ModuleType:
    for helper in pkgutil.iter_modules(engine.__path__):
        importlib.import_module(f"{engine.__name__}.{helper.name}")  # not in the folder of who uses it first
    finder: Any = module_info.module_finder
    with numba_cache.apart(Path(finder.path, f"{module_info.name}.py")):
        return importlib.import_module(f"{__name__}.{module_info.name}")


def function(name: str) -> Any:
    """Return the function of this name. Raises UserError when no module defines it."""
    known = functions()
    if name not in known:
        raise UserError(f"no function '{name}' in omkl.algorithms{suggest(name, known)}")
    return known[name]
