"""One learner on one stream: its state, a pass, its compiled code, and a pass as a job for a worker.

``Learner``, ``run_pass`` and ``warm_up`` are what callers need; they are imported when first used, since they
load the compiled code.
"""

import importlib
from typing import Any

_HOMES = {
    "Learner": "packing",  # with which come its copies and pickles
    "run_pass": "one_pass",
    "warm_up": "precompile",
}

__all__ = ["Learner", "run_pass", "warm_up"]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
