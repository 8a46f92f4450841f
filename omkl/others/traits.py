"""What an estimator of another package is: its kind, its parameters, its tasks, its last step.

The one place that knows scikit-learn's and river's forms apart.
"""

import inspect
from dataclasses import dataclass, fields
from typing import Any

from omkl.errors import UserError

SEEDS = ("random_state", "seed")
EACH_ROUND = 100  # rows below which an estimator is fitted again in each round
REFITTED = f"refitted in each round below {EACH_ROUND} rows"  # in the keys of cells
NO_STEP = (None, "passthrough", "drop")


def is_estimator(value: Any) -> bool:
    """Whether a value is an estimator, or a class of estimators."""
    return any(hasattr(value, name) for name in ("partial_fit", "learn_one", "get_params", "_get_params"))


def of_river(model: Any) -> bool:
    """Whether an estimator learns a row by ``learn_one``, as river's do; else it is as scikit-learn's are."""
    return hasattr(model, "learn_one")


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline, also of one that is the last step; of others the model itself."""
    while steps := getattr(model, "steps", None):
        model = list(steps.values())[-1] if isinstance(steps, dict) else steps[-1][1]
    return model


@dataclass(frozen=True)
class Refit:
    """An estimator with ``fit`` and ``predict`` that is fitted again as rows come: see `omkl.refit`."""

    model: Any
    grow: float = 1.1
    window: int | None = 10_000
    first: int = 2

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return its parameters, as an estimator does."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def changed(self) -> dict[str, Any]:
        """Return the parameters of refitting that are not as usual."""
        return {
            field.name: value
            for field in fields(self)[1:]
            if (value := getattr(self, field.name)) != field.default
        }


def is_a(model: Any, name: str) -> bool:
    """Whether a model is one of these classes of scikit-learn, which holds others."""
    return any(
        base.__name__ == name and base.__module__.startswith(("sklearn.pipeline", "sklearn.compose"))
        for base in type(model).__mro__
    )


def params_of(model: Any) -> dict[str, Any] | None:
    """Return an object's parameters, None for an object that does not say them."""
    if inspect.isclass(model):
        return None
    if hasattr(model, "get_params"):
        return dict(model.get_params(deep=False))
    if not hasattr(model, "_get_params"):
        return None
    return {name: getattr(model, name, value) for name, value in model._get_params().items()}


_TASKS = {"classifier": ["classification"], "regressor": ["regression"]}


def says_parameters(model: Any) -> bool:
    """Whether an object says its parameters, so that a copy can be made of it."""
    return isinstance(model, Refit) or params_of(model) is not None


def tasks_of(model: Any) -> list[str]:
    """Return the tasks that an object is for. Raises UserError for another kind, such as a clusterer."""
    last = last_step(model)
    kind = getattr(last, "_estimator_type", None)
    if not of_river(last):
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
    if of_river(model):
        return bool(getattr(model, "_multiclass", True))
    tags = getattr(getattr(model, "__sklearn_tags__", dict)(), "classifier_tags", None)
    return bool(getattr(tags, "multi_class", True))
