"""Budgets: a number of vectors per kernel, or the learner whose size is to be matched."""

from typing import Any

from omkl.config.learners import LearnerSpec, learner_spec
from omkl.config.parameters import domain
from omkl.errors import UserError


def check_budget(value: Any) -> int | dict[str, Any]:
    """Return a budget in canonical form: a number, or ``{"match": learner, **hyperparameters given}``.

    Raises ValueError that says what would be right.
    """
    value = domain("budget").check(value)
    if not isinstance(value, dict):
        return value
    params = matched_params(value)
    return {name: params.get(name, value[name]) for name in ("match", *sorted(value.keys() - {"match"}))}


def to_match(value: Any) -> bool:
    """Whether a hyperparameter's value is the size of another learner, still without its number."""
    return isinstance(value, dict) and "match" in value


def matched_params(budget: dict[str, Any], task: str = "classification") -> dict[str, Any]:
    """Return all hyperparameters of the learner to be matched. Raises ValueError where one is not right."""
    spec = _spec(budget["match"])
    params = spec.usual(task)
    for name, value in budget.items():
        if name == "match":
            continue
        if name not in params:
            raise ValueError(f"{spec.name} has no hyperparameter '{name}'; it has {', '.join(params)}")
        try:
            params[name] = spec.hyperparameters[name].check(value)
        except ValueError as error:
            raise ValueError(f"{name} of {spec.name} {error}") from None
    try:
        spec.check_together(params)
    except UserError as error:
        raise ValueError(str(error)) from None
    return params


def _spec(name: str) -> LearnerSpec:
    try:
        spec = learner_spec(name)
    except UserError as error:
        raise ValueError(str(error)) from None
    if spec.kernels != "pool" or spec.budget:
        raise ValueError(f"match: {name} has no size to match; take a learner of a pool without a budget")
    return spec
