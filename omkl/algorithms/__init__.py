"""The learners, one module per paper or name. A learner is found by its function's name: no list is kept.

The functions of stacks stand in the room of all that these are made of.

The folders ``algorithms`` of OMKL_PATH are part of this package, after its own: their modules are imported
as ours are, and may use ours and each other.
"""

import importlib
import pkgutil
import re
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from omkl.errors import UserError, suggest
from omkl.paths import extensions

_STACKS = "omkl.stacks.stacking"
_added: list[str] = []  # to __path__
_one_at_a_time = threading.RLock()  # the first calls of a process may come from several threads


def functions() -> dict[str, Any]:
    """Return every public function of the package's modules by name: compiled ones, and the setups.

    Raises UserError where two modules define the same name.
    """
    found_functions: dict[str, Any] = {}
    homes: dict[str, ModuleType] = {}
    for module in _modules():
        for name, value in vars(module).items():
            here = getattr(getattr(value, "py_func", value), "__module__", None) == module.__name__
            if name.startswith("_") or not callable(value) or isinstance(value, type) or not here:
                continue
            if name in found_functions:
                both = f"{homes[name].__file__} and {module.__file__}"
                raise UserError(f"learner function '{name}' is defined twice in omkl.algorithms: {both}")
            found_functions[name], homes[name] = value, module
    return found_functions


def _modules() -> list[ModuleType]:
    with _one_at_a_time:
        _extend()
        found = [
            _known(each) or _imported(each) for each in pkgutil.iter_modules(__path__) if not _gone(each)
        ]
        return [*found, importlib.import_module(_STACKS)]


def _of_one_module(name: str) -> dict[str, Any]:
    """Return a function of ours by its name, without the others' modules, whose import takes .15 s.

    Empty where there is none, and where a folder of the user's may have it.
    """
    if extensions() or _added or name not in _homes():
        return {}
    return {name: getattr(importlib.import_module(_homes()[name]), name)}


@cache
def _homes() -> dict[str, str]:
    """Return the module of each public function that is written in our own modules."""
    written = re.compile(r"^def ([a-z]\w*)\(", re.M)
    modules = {f"{__name__}.{path.stem}": path for path in sorted(Path(__path__[0]).glob("[a-z]*.py"))}
    modules[_STACKS] = Path(__path__[0]).parents[1].joinpath(*_STACKS.split(".")).with_suffix(".py")
    texts = {module: path.read_text(encoding="utf-8") for module, path in modules.items()}
    return {name: module for module, text in texts.items() for name in written.findall(text)}


def _extend() -> None:
    """Put the folders of OMKL_PATH behind the package's own; their modules have other names than ours."""
    folders = [path for path in __path__ if path not in _added]
    _added[:] = [str(folder / "algorithms") for folder in extensions()]
    __path__[:] = [*folders, *(path for path in _added if path not in folders)]


def _gone(module_info: pkgutil.ModuleInfo) -> bool:
    """Whether a module is a link that leads nowhere: what a folder of the user's has of them is left out."""
    finder: Any = module_info.module_finder
    path = Path(finder.path, f"{module_info.name}.py")
    return path.is_symlink() and not path.exists()


def _known(module_info: pkgutil.ModuleInfo) -> ModuleType | None:
    """Return a module that is imported already, unless it came from a folder that is no longer there."""
    module = sys.modules.get(f"{__name__}.{module_info.name}")
    finder: Any = module_info.module_finder
    return module if module and Path(str(module.__file__)).parent == Path(finder.path) else None


def _imported(module_info: pkgutil.ModuleInfo) -> ModuleType:
    finder: Any = module_info.module_finder
    path, name = Path(finder.path, f"{module_info.name}.py"), f"{__name__}.{module_info.name}"
    sys.modules.pop(name, None)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if finder.path not in _added:
            raise
        raise UserError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error


def function(name: str, compiled: bool = True) -> Any:
    """Return the function of this name, a learner's or a setup, which is not compiled.

    Raises UserError when no module defines it, or a learner's is not compiled.
    """
    all_functions = _of_one_module(name) or functions()
    if name not in all_functions:
        folders = f" or in {', '.join(_added)}" if _added else ""
        raise UserError(f"no function '{name}' in omkl.algorithms{folders}{suggest(name, all_functions)}")
    if compiled and not hasattr(all_functions[name], "py_func"):
        path = sys.modules[all_functions[name].__module__].__file__
        raise UserError(f"{path}: {name} is not compiled; write @njit(cache=True) above it")
    return all_functions[name]
