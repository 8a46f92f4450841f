"""scikit-learn estimators of all learners: ``from omkl.sklearn import OmkcSsClassifier``.

An estimator's name is the learner's in CamelCase with its task: ``Classifier``, ``Regressor`` or
``NoveltyDetector``. Its arguments are the learner's hyperparameters with their defaults; ``help`` shows them.
``names()`` lists the estimators, which are made from conf/algo: a new learner has one at once. Variants of a
paper and plain yardsticks are imported in the same way, and are not listed.
"""

from functools import cache
from typing import Any

from omkl.estimators.arguments import estimator_specs, listed_learners, make_class, no_such_estimator
from omkl.sklearn.by_task import (
    Classifier,
    NoveltyDetector,
    Regressor,
    WeightedClassifier,
    WeightedRegressor,
)

_BASES: dict[str, type] = {
    "classification": Classifier,
    "regression": Regressor,
    "novelty": NoveltyDetector,
    "weighted classification": WeightedClassifier,
    "weighted regression": WeightedRegressor,
}


def names() -> list[str]:
    """Return the names of the estimators, without those of a paper's variants and of plain yardsticks."""
    return list(listed_learners())


@cache
def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in estimator_specs():
        raise no_such_estimator(__name__, name)
    return make_class(name, _BASES, __name__)


def __dir__() -> list[str]:
    return sorted(["names", *names()])
