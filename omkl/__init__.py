"""omkl: online learning with (multiple) kernels."""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

if TYPE_CHECKING:
    from omkl.experiments.calls import bounds as bounds
    from omkl.experiments.calls import claims as claims
    from omkl.experiments.calls import figure as figure
    from omkl.experiments.calls import fit as fit
    from omkl.experiments.calls import load_model as load_model
    from omkl.experiments.calls import look as look
    from omkl.experiments.calls import report as report
    from omkl.experiments.calls import results as results
    from omkl.experiments.calls import run as run
    from omkl.experiments.calls import sweep as sweep
    from omkl.experiments.calls import table as table
    from omkl.experiments.calls import tune as tune
    from omkl.experiments.learner_choice import learner as learner
    from omkl.experiments.lists import datasets as datasets
    from omkl.experiments.lists import learners as learners
    from omkl.experiments.lists import papers as papers
    from omkl.experiments.lists import pools as pools
    from omkl.experiments.own_kernel import kernel as kernel
    from omkl.experiments.results import Results as Results
    from omkl.experiments.trained_model import Model as Model
    from omkl.experiments.tune import Tuning as Tuning

__all__ = [
    "Model",
    "Results",
    "Tuning",
    "__version__",
    "bounds",
    "claims",
    "datasets",
    "figure",
    "fit",
    "kernel",
    "learner",
    "learners",
    "load_model",
    "look",
    "papers",
    "pools",
    "report",
    "results",
    "run",
    "sweep",
    "table",
    "tune",
]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that defines it: importing omkl alone stays fast."""
    if name not in __all__:
        raise AttributeError(f"module 'omkl' has no attribute {name!r}")
    return importlib.import_module("omkl.experiments").named(name)


def __dir__() -> list[str]:
    return __all__
