"""Estimators of other packages: what they are called, what decides their results, and fresh copies.

An object of scikit-learn's kind has ``get_params`` and ``partial_fit``, one of river's ``_get_params`` and
``learn_one``. What it has learnt does not count: each pass begins with a copy of the same parameters.
"""

import ast
import copy
import hashlib
import importlib.metadata
import inspect
import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from omkl.config.learners import LearnerSpec, given
from omkl.config.parameters import Parameter, parse_search
from omkl.data.preparing.columns import is_float
from omkl.errors import OmklError, UserError, suggest
from omkl.files import hash_of, sources
from omkl.passes.adapters import REFITTED, SEEDS, Refit, last_step, learnable, params_of

REVISION = 4  # of estimators' passes: raise it when they have other results, or their names
_TASKS = {"classifier": ["classification"], "regressor": ["regression"]}
distributions = cache(importlib.metadata.packages_distributions)


def packages_of(files: Iterable[Path]) -> set[str]:
    """Return the packages and modules that files import, by their first names."""
    names: list[str] = []
    for path in files:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names}


# ------------------------------------------------------------------ what an object is


@dataclass(frozen=True)
class ObjectSpec(LearnerSpec):
    """The objects of one class as a learner, whose parameters are those that are not the class's defaults.

    source: what decides results beside these parameters    packages: their versions, by name
    models: the objects, by their parameters as JSON
    is_kept: whether all code that decides results is known, so that the store keeps the cells
    """

    source: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict)
    is_kept: bool = True

    def checked(self, params: Mapping[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        """Return the parameters, which the object's own class checks."""
        return dict(params)

    def check_versions(self) -> None:
        """Raise OmklError where a worker has another version of a package than the process that planned."""
        for name, version in self.packages.items():
            try:
                here = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                here = "none"
            if here != version:
                raise OmklError(f"{self.label}: this worker has {name} {here}, and the command {version}")

    def object_of(self, params: Mapping[str, Any]) -> Any:
        """Return the object with these parameters. Raises UserError where this process does not have it."""
        model = self.models.get(_json(params))
        if model is None and self.hyperparameters and self.models:  # what is searched has another value
            changed = {name: params[name] for name in self.hyperparameters}
            return with_params(next(iter(self.models.values())), changed)
        if model is None:
            raise UserError(f"the class {self.name} was defined again: give an object of it to this call")
        return model

    def fresh(self, params: Mapping[str, Any], seed: int) -> Any:
        """Return a copy of the object with these parameters that has learnt nothing.

        seed: where the object names none. Raises UserError for an object that this process does not have.
        """
        try:
            return fresh(self.object_of(params), seed)
        except (RuntimeError, TypeError, ValueError) as error:  # of a constructor that is not as usual
            raise UserError(f"algo={self.name}: {' '.join(str(error).split())}") from None


class Identity:
    """The packages, and the sources outside of packages, of all that an estimator consists of."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.packages: dict[str, str] = {}
        self.files: set[Path] = set()
        self.is_kept = True  # else its code is of a notebook, a script or a function, and may change

    def package(self, top: str) -> None:
        """Keep the versions of the packages that a module belongs to."""
        for each in distributions().get(top, []):
            self.packages[each] = importlib.metadata.version(each)

    def file(self, path: Path) -> None:
        """Keep a source outside of packages with all that it imports."""
        if path not in self.files:
            self.files |= {*sources(path)}
            for each in packages_of(self.files):
                self.package(each)

    def text(self, *homes: str) -> str:
        """Return what a key holds of the code: where it comes from, hashes of sources, versions."""
        files = hash_of(sorted(self.files)) if self.files else ""
        versions = [f"{name} {self.packages[name]}" for name in sorted(self.packages)]
        return "; ".join(filter(None, [f"estimator {REVISION}", *homes, files, *versions]))

    def named(self, item: Any) -> str:
        """Return the name of a class or a function, and keep where its code comes from."""
        module, name = item.__module__ or "", item.__qualname__
        top = module.partition(".")[0]
        if top in distributions() and "<" not in name:
            self.package(top)
            return f"{top}.{name}"
        if top == "builtins":
            return name
        file = getattr(sys.modules.get(module), "__file__", None)
        if "<" not in name and file and module != "__main__":
            self.file(Path(file))
            return name
        self.is_kept = False
        return item.__name__

    def value(self, value: Any, key: str) -> Any:
        """Return a parameter as JSON holds it; key: its name, for a message."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, list | tuple | set | frozenset | slice | Mapping):
            return self._collection(value, key)
        if isinstance(value, np.ufunc):
            return f"numpy.{value.__name__}"
        if inspect.isclass(value) or inspect.isfunction(value) or _is_compiled(value):
            return self.named(value)
        if params_of(value) is not None:
            return {"kind": self.named(type(value)), **self.params(value)}
        if (array := _array_of(value)) is not None:
            digest = hashlib.sha256(array.dtype.str.encode() + array.tobytes()).hexdigest()[:16]
            return {"kind": "array", "shape": list(array.shape), "sha256": digest}
        raise self._no_key(value, key)

    def _collection(self, value: Any, key: str) -> Any:
        if isinstance(value, slice):
            return [value.start, value.stop, value.step]
        if isinstance(value, Mapping):
            return {_key_text(name): self.value(one, key) for name, one in value.items()}
        values = [self.value(one, key) for one in value]
        return sorted(values, key=_json) if isinstance(value, set | frozenset) else values

    def _no_key(self, value: Any, key: str) -> UserError:
        texts = "numbers, texts, arrays or objects with get_params"
        return UserError(
            f"algo={self.name}: {key} is {type(value).__name__}, of which a key of results cannot be made; "
            f"give {'a whole number or None' if key in SEEDS else texts}"
        )

    def params(self, model: Any) -> dict[str, Any]:
        """Return the parameters of an object that are not its class's defaults; those of steps by step."""
        values: dict[str, Any] = {}
        if hasattr(model, "steps"):
            for name, step in _steps_of(model):
                values |= {f"{name}__{key}": param for key, param in self.params(step).items()}
            return values
        usual = _usual(type(model))  # type: ignore[arg-type]
        for key, value in (params_of(model) or {}).items():
            param = self.value(value, key)
            if key not in usual or self.value(usual[key], key) != param:
                values[key] = param
        return values


def _array_of(value: Any) -> np.ndarray | None:
    """Return a value as an array of numbers or texts, a sparse one as dense; None of what is no array."""
    if not (hasattr(value, "toarray") or hasattr(value, "__array__")):
        return None
    array = np.ascontiguousarray(value.toarray() if hasattr(value, "toarray") else value)
    return None if array.dtype == object else array


def _is_compiled(value: Any) -> bool:
    """Whether a value is a function of a package's compiled module, and no method of an object."""
    top = (getattr(value, "__module__", None) or "").partition(".")[0]
    owner = getattr(value, "__self__", None)
    return inspect.isbuiltin(value) and top in distributions() and (owner is None or inspect.ismodule(owner))


def _steps_of(model: Any) -> list[tuple[str, Any]]:
    steps = model.steps.items() if isinstance(model.steps, Mapping) else model.steps
    return [(name, step) for name, step in steps if step not in (None, "passthrough")]


def says_parameters(model: Any) -> bool:
    """Whether an object says its parameters, so that a copy can be made of it."""
    return isinstance(model, Refit) or params_of(model) is not None


@cache
def _usual(kind: Any) -> dict[str, Any]:
    """Return the parameters of an object of a class that is made without arguments, where that can be."""
    try:
        return params_of(kind()) or {}
    except (TypeError, ValueError):
        signature = inspect.signature(kind).parameters
        return {
            name: parameter.default
            for name, parameter in signature.items()
            if parameter.default is not parameter.empty
        }


def _key_text(name: Any) -> str:
    """Return a key of a mapping as text; that of the label "1" is not that of the label 1."""
    text = str(name)
    reads_as_other = text in ("True", "False", "None") or is_float(text)
    return repr(name) if isinstance(name, str) and reads_as_other else text


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _tasks(model: Any) -> list[str]:
    """Return the tasks that an object is for. Raises UserError for another kind, such as a clusterer."""
    last = last_step(model)
    kind = getattr(last, "_estimator_type", None)
    if not hasattr(last, "learn_one"):
        kind = last.__sklearn_tags__().estimator_type if hasattr(last, "__sklearn_tags__") else kind
    else:
        names = {
            base.__name__.lower() for base in type(last).__mro__ if base.__module__.startswith("river.base")
        }
        kind = next((name for name in ("classifier", "regressor", "clusterer") if name in names), kind)
        kind = "anomaly detector" if hasattr(last, "score_one") and kind is None else kind
    if kind not in (None, *_TASKS):
        what = str(kind).replace("_", " ")
        raise UserError(f"algo={type(last).__name__}: it is a {what}; a classifier or a regressor is needed")
    return _TASKS.get(str(kind), [*_TASKS["classifier"], *_TASKS["regressor"]])


def takes_many(model: Any) -> bool:
    """Whether an estimator takes more than two classes, as far as its package says."""
    model = model.model if isinstance(model, Refit) else model
    if hasattr(model, "learn_one"):
        return bool(getattr(model, "_multiclass", True))
    tags = getattr(getattr(model, "__sklearn_tags__", dict)(), "classifier_tags", None)
    return bool(getattr(tags, "multi_class", True))


def with_params(model: Any, values: Mapping[str, Any]) -> Any:
    """Return a copy of an estimator with these parameters, of a Refit those of its model.

    Raises UserError for a parameter that it does not have.
    """
    if isinstance(model, Refit):
        return replace(model, model=with_params(model.model, values))
    name, known = type(model).__name__, _all_params(model)
    for key in values:
        if key not in known:
            raise UserError(f"{name} has no parameter '{key}'{suggest(key, known)}")
    if not hasattr(model, "learn_one"):
        from sklearn.base import clone

        return clone(model).set_params(**values)
    return model.clone(dict(values), include_attributes=False)


def _all_params(model: Any) -> dict[str, Any]:
    """Return the parameters of an estimator and of what it holds, by name, of a Refit those of its model."""
    model = model.model if isinstance(model, Refit) else model
    return dict(model.get_params()) if hasattr(model, "get_params") else params_of(model) or {}


def spec_of(
    model: Any, occasion: str = "", several: Mapping[str, Any] = {}
) -> tuple[ObjectSpec, dict[str, Any]]:
    """Return the learner of an object's class, and the object's parameters; this process then knows both.

    occasion: what tells the cells of one call from others where the store does not keep them
    several: where to look for parameters, as `search` of a learner's file says it, or lists of values; None
    for one that another setting has another value of
    Raises UserError for what does not learn row by row, or does not say its parameters.
    """
    if inspect.isclass(model):
        raise UserError(f"algo={model.__name__} is a class: give an object, {model.__name__}(...)")
    learns = learnable(model, f"algo={type(model).__name__}")
    refit = model if isinstance(model, Refit) else None
    estimator = refit.model if refit else model
    kind = type(estimator)
    if params_of(estimator) is None:
        raise UserError(
            f"algo={kind.__name__} does not say its parameters, which are part of the keys of results: "
            "derive it from sklearn.base.BaseEstimator or river.base.Base"
        )
    steps = [type(step) for _, step in _steps_of(estimator)] if hasattr(estimator, "steps") else []
    classes = steps or [kind]
    names = [each.__name__ for each in classes]
    name = "+".join(names) + (".refit" if refit else "")
    identity = Identity(name)
    tasks, params = _tasks(estimator), identity.params(estimator)
    if refit:
        params |= {f"refit_{key}": value for key, value in refit.changed().items()}
    homes = dict.fromkeys(identity.named(each) for each in (kind, *classes))
    homes |= dict.fromkeys([REFITTED] if refit else [])
    source, top = (
        identity.text(*homes, "" if identity.is_kept else occasion),
        kind.__module__.partition(".")[0],
    )
    package = ", ".join(distributions().get(top, []))
    label = " | ".join(names) + (", refitted" if refit else "")
    hyperparameters = {}
    for key, where in several.items():
        params[key] = identity.value(_all_params(model)[key], key)  # also where it is the default
        if where is None:
            continue
        try:
            search = parse_search(where, "", lambda value: value, params[key], tasks)
        except ValueError as error:
            raise UserError(f"algo={name}: {key}: {error}") from None
        hyperparameters[key] = Parameter(params[key], "", "a parameter of the object", search)
    spec = _known(
        ObjectSpec(
            hyperparameters=hyperparameters,
            name=f"{top}.{name}" if package else name,
            function=name,
            label=label + (f" ({package})" if package else ""),
            cite=package or kind.__module__,
            tasks=tasks,
            kernels="none",
            revision=1,
            classes="many" if takes_many(learns) else "two",
            estimator=f"{kind.__module__}:{kind.__qualname__}",
            source=source,
            packages=identity.packages,
            is_kept=identity.is_kept,
        )
    )
    spec.models[_json(params)] = model
    return spec, params


def _known(spec: ObjectSpec) -> ObjectSpec:
    """Return the spec of that name and source that this process knows, or this one, which it then knows."""
    before = given.get(spec.name)
    searching = bool(spec.hyperparameters or getattr(before, "hyperparameters", None))
    if isinstance(before, ObjectSpec) and before.source == spec.source and not searching:
        return before
    given[spec.name] = spec
    return spec


# ------------------------------------------------------------------ fresh copies


def fresh(model: Any, seed: int) -> Any:
    """Return a copy of an estimator that has learnt nothing; seed: where it names none."""
    seed %= 2**32
    if isinstance(model, Refit):
        return replace(model, model=fresh(model.model, seed))
    if hasattr(model, "learn_one"):
        return _fresh_of_river(model, seed)
    from sklearn.base import clone

    copy = clone(model)
    unset = {name for name, value in copy.get_params().items() if value is None}
    seeds = sorted(name for name in unset if name.rpartition("__")[2] in SEEDS)
    if seeds:
        copy.set_params(**{name: (seed + at) % 2**32 for at, name in enumerate(seeds)})
    return copy


def _fresh_of_river(value: Any, seed: int) -> Any:
    """Return an object of river without what it has learnt, and so all that it consists of."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_fresh_of_river(one, seed + at) for at, one in enumerate(value))
    if isinstance(value, dict):
        return {key: _fresh_of_river(one, seed + at) for at, (key, one) in enumerate(value.items())}
    if inspect.isclass(value) or not hasattr(value, "_get_params"):
        return copy.deepcopy(value)
    if hasattr(value, "steps"):
        steps = [
            (name, _fresh_of_river(one, seed + at)) for at, (name, one) in enumerate(value.steps.items())
        ]
        return type(value)(*steps)
    params = params_of(value) or {}
    signature = inspect.signature(type(value).__init__).parameters
    if any(
        parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in signature.values()
    ):
        return value.clone()
    arguments = {name: _fresh_of_river(value, seed + at) for at, (name, value) in enumerate(params.items())}
    return type(value)(
        **arguments | {name: seed % 2**32 for name in SEEDS if name in arguments and arguments[name] is None}
    )
