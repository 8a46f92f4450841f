"""The module and the class that a YAML's ``estimator: module:Class`` names.

The module is a file of the folder that the YAML is in, or of an installed package.
"""

import hashlib
import importlib.util
import inspect
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from omkl import conf
from omkl.config.learners import LearnerSpec
from omkl.errors import UserError, suggest
from omkl.others.identity import Identity, distributions
from omkl.others.traits import REFITTED


@cache
def _loaded(estimator: str, where: Path) -> Any:
    name, _, attribute = estimator.partition(":")
    file = _own_module(name, where)
    module = _imported(name, where)
    target = getattr(module, attribute, None)
    if not inspect.isclass(target) and not (file and inspect.isfunction(target)):
        classes = [key for key, value in vars(module).items() if inspect.isclass(value)]
        raise UserError(f"{where}: {name} has no class '{attribute}'{suggest(attribute, classes)}")
    return target


def estimator_class(spec: LearnerSpec) -> Any:
    """Return the class of an estimator, or the function of its folder. Raises UserError where it is not."""
    return _loaded(str(spec.estimator), conf.file("algo", spec.name))


def code_identity(spec: LearnerSpec) -> str:
    """Return what decides an estimator's results beside its arguments, for the keys of its cells.

    This is its name and the versions of its packages: that of an installed module, or those that the folder's
    module imports, with a hash of the source then.
    """
    where = conf.file("algo", spec.name)
    name, identity = str(spec.estimator).partition(":")[0], Identity(spec.name)
    if file := _own_module(name, where):
        identity.file(file)
    else:
        identity.package(name.partition(".")[0])
    return identity.text(str(spec.estimator), *([REFITTED] if spec.refit else []))


def _own_module(name: str, where: Path) -> Path | None:
    """Return the file of a module of the folder that a YAML is in, None for one of an installed package."""
    file = where.parents[2].joinpath(*name.split(".")).with_suffix(".py")
    top = name.partition(".")[0]
    installed = importlib.util.find_spec(top)
    if file.is_file() and installed is not None:
        other = installed.origin or f"the package {top}"
        raise UserError(f"{where}: about.estimator: {name} is {file} and {other}; rename the file")
    if file.is_file():
        return file
    if installed is None or top not in distributions():
        raise UserError(
            f"{where}: about.estimator: there is no {name}, neither an installed package nor the file {file}"
        )
    return None


def _imported(name: str, where: Path) -> ModuleType:
    """Return a module; those of a folder are in a package of that folder, so that names do not clash."""
    file = _own_module(name, where)
    if file:
        package = f"omkl_folder_{hashlib.sha256(str(where.parents[2]).encode()).hexdigest()[:12]}"
        if package not in sys.modules:
            sys.modules[package] = ModuleType(package)
            sys.modules[package].__path__ = [str(where.parents[2])]
        name = f"{package}.{name}"
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        why = f"cannot be imported: {type(error).__name__}: {error}"
        raise UserError(f"{file or f'{where}: about.estimator: {name}'}: {why}") from error
