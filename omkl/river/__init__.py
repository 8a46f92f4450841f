"""river models of all learners: ``from omkl.river import OmkcSsClassifier``; river must be installed.

The names and arguments are those of `omkl.sklearn`, with ``seed`` instead of ``random_state``, and
``calibration="platt"`` if nothing is said: bagging, bandits and drift wrappers ask for probabilities.
"""

import importlib.util
from functools import cache
from typing import Any

if importlib.util.find_spec("river") is None:
    raise ImportError("omkl.river needs the package river: pip install 'omkl[river]'")

from omkl.estimators.arguments import estimator_specs, listed_learners, make_class, no_such_estimator
from omkl.river.base import CLASSES, Classifier, NoveltyDetector, Regressor

_BASES: dict[str, type] = {"classification": Classifier, "regression": Regressor, "novelty": NoveltyDetector}


def names() -> list[str]:
    """Return the names of the models, without those of a paper's variants and of plain yardsticks.

    A learner that chooses its kernel by the first rows is no model.
    """
    return [name for name, spec in listed_learners().items() if not spec.setup]


@cache
def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in estimator_specs() or estimator_specs()[name][0].setup:
        raise no_such_estimator(__name__, name)
    how: Any = {"seed": "seed", "of_classes": {"classes": CLASSES}, "calibrated": True}
    return make_class(name, _BASES, __name__, **how)


def __dir__() -> list[str]:
    return sorted(["names", *names()])
