"""What a data set asks of a learner. A learner states its tasks, a data set its one."""

from collections.abc import Mapping
from typing import Any

TASKS = ("classification", "regression", "novelty")


def by_task(value: Any) -> bool:
    """Whether a default is a value for each task: ``{regression: squared, classification: logistic}``."""
    return isinstance(value, Mapping) and bool(value) and value.keys() <= set(TASKS)


def for_task(values: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return hyperparameters with this task's value of each that has values by task, else the first."""
    return {
        name: value.get(task, next(iter(value.values()))) if by_task(value) else value
        for name, value in values.items()
    }
