"""What decides the results of an estimator beside its rows, for the keys of its cells."""

import ast
import hashlib
import importlib.metadata
import inspect
import json
import math
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparing.columns import is_float
from omkl.errors import UserError
from omkl.files import hash_of, sources
from omkl.others.traits import SEEDS, params_of

REVISION = 4  # of estimators' passes: raise it when they have other results, or their names
distributions = cache(importlib.metadata.packages_distributions)


def packages_of(files: Iterable[Path]) -> set[str]:
    """Return the packages and modules that files import, by their first names."""
    names: list[str] = []
    for path in files:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names}


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
        return sorted(values, key=as_json) if isinstance(value, set | frozenset) else values

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
            for name, step in steps_of(model):
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


def steps_of(model: Any) -> list[tuple[str, Any]]:
    steps = model.steps.items() if isinstance(model.steps, Mapping) else model.steps
    return [(name, step) for name, step in steps if step not in (None, "passthrough")]


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


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
