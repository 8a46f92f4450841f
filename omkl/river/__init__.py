"""river models of all learners: ``from omkl.river import OmkcSsClassifier``; river must be installed.

The names and arguments are those of `omkl.sklearn`, with ``seed`` instead of ``random_state``.
"""

from functools import cache
from typing import Any

from omkl.estimators.arguments import estimator_specs, make_class, no_such_estimator
from omkl.river.base import NoveltyDetector, Regressor
from omkl.river.classifier import CLASSES, Classifier

__all__ = ["names"]
_BASES: dict[str, type] = {"classification": Classifier, "regression": Regressor, "novelty": NoveltyDetector}


def names() -> list[str]:
    """Return the names of all models: learners that choose their kernel by the first rows are none."""
    return [name for name, (spec, _) in estimator_specs().items() if not spec.setup]


@cache
def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in names():
        raise no_such_estimator(__name__, name)
    return make_class(name, _BASES, __name__, seed="seed", of_classes={"classes": CLASSES})


def __dir__() -> list[str]:
    return sorted([*globals(), *names()])
