"""Copies of estimators: fresh ones, which have learnt nothing, and some with other parameters."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from omkl.errors import UserError, suggest
from omkl.others.traits import SEEDS, Refit, of_river, params_of


def with_params(model: Any, values: Mapping[str, Any]) -> Any:
    """Return a copy of an estimator with these parameters, of a Refit those of its model.

    Raises UserError for a parameter that it does not have.
    """
    if isinstance(model, Refit):
        return replace(model, model=with_params(model.model, values))
    name, known = type(model).__name__, all_params(model)
    for key in values:
        if key not in known:
            raise UserError(f"{name} has no parameter '{key}'{suggest(key, known)}")
    if not of_river(model):
        from sklearn.base import clone

        return clone(model).set_params(**values)
    return model.clone(dict(values), include_attributes=False)


def all_params(model: Any) -> dict[str, Any]:
    """Return the parameters of an estimator and of what it holds, by name, of a Refit those of its model."""
    model = model.model if isinstance(model, Refit) else model
    return dict(model.get_params()) if hasattr(model, "get_params") else params_of(model) or {}


def fresh(model: Any, seed: int) -> Any:
    """Return a copy of an estimator that has learnt nothing; seed: where it names none."""
    seed %= 2**32
    if isinstance(model, Refit):
        return replace(model, model=fresh(model.model, seed))
    if of_river(model):
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
