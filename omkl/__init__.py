"""omkl: online learning with (multiple) kernels."""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from omkl.experiments.calls import datasets as datasets
    from omkl.experiments.calls import learners as learners
    from omkl.experiments.calls import pools as pools
    from omkl.experiments.calls import results as results
    from omkl.experiments.calls import run as run
    from omkl.experiments.calls import sweep as sweep
    from omkl.experiments.calls import tune as tune
    from omkl.experiments.learner_choice import learner as learner
    from omkl.experiments.results import Results as Results
    from omkl.experiments.tune import Tuning as Tuning

_HOMES = {
    **dict.fromkeys(("run", "sweep", "tune", "results", "learners", "datasets", "pools"), "calls"),
    "learner": "learner_choice",
    "Results": "results",
    "Tuning": "tune",
}
__all__ = [
    "Results",
    "Tuning",
    "__version__",
    "datasets",
    "learner",
    "learners",
    "pools",
    "results",
    "run",
    "sweep",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that defines it: importing omkl alone stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'omkl' has no attribute {name!r}")
    return getattr(importlib.import_module(f"omkl.experiments.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
