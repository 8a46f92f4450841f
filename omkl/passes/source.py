"""What decides a learner's results beside its settings: a folder's source, the packages of an estimator.

It is part of the key of a cell. That of one of ours is empty, as its file has a revision. An estimator's
class is found here, too: its module is a file of the folder whose YAML names it, or of an installed package.
"""

import hashlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from omkl import conf
from omkl.config import Setting, members_of
from omkl.config.kernel_kinds import PARTS
from omkl.config.learners import LearnerSpec, learner_specs
from omkl.errors import UserError, suggest
from omkl.files import hash_of, sources
from omkl.passes.adapters import REFITTED
from omkl.passes.objects import Identity, ObjectSpec, distributions


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


def sources_of_others() -> dict[str, str]:
    """Return what the learners of the user's folders are made of, by learner."""
    return {name: source(spec) for name, spec in learner_specs().items() if not conf.of_omkl("algo", name)}


def source(spec: LearnerSpec, params: Mapping[str, Any] | None = None) -> str:
    """Return what tells a folder's learner from others of its name, empty for one of ours.

    Of a stack with these hyperparameters it is a hash of what its members are. Of a compiled learner it is a
    hash of its module, of those that this imports, and of what its YAML says about its function and state; of
    an estimator see `code_identity`.
    """
    if isinstance(spec, ObjectSpec):
        spec.check_versions()
        return spec.source
    if spec.is_stack:
        members = [_identity(file) for file in members_of(spec, spec.defaults if params is None else params)]
        return f"stack {hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()}"
    if conf.of_omkl("algo", spec.name):
        return ""
    if spec.estimator:
        return code_identity(spec)
    from omkl.algorithms import function

    state = {name: resource.written() for name, resource in spec.state.items()}
    said = [spec.function, spec.setup, spec.draws_as, spec.kernels, state]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    folder = conf.file("algo", spec.name).parents[2] / "algorithms"
    for name in filter(None, (spec.function, spec.setup)):
        compiled = function(name, name == spec.function)
        module = Path(getattr(compiled, "py_func", compiled).__code__.co_filename)
        if module.parent == folder:  # a function of ours has a revision
            digest.update(hash_of(sources(module)).encode())
    return digest.hexdigest()


def _identity(member: Setting) -> list[Any]:
    """Return all that decides what a member of a stack does."""
    spec, kernels = member.spec, member.kernel_pool
    pool = kernels and {part: kernels[part] for part in PARTS}
    return [spec.name, member.params, pool, member.scaling, spec.revision, source(spec)]
