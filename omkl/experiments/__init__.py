"""Experiments as objects: what the command line prints and Python returns.

calls has the functions of `omkl`; results, tune, paper_results, bounds_results and trained_model have what
they return. Each name is imported from its module when it is first used; `named` finds those that a module
has, too.
"""

import importlib
from typing import Any

_HOMES = {
    "bounds_results": ("Bounds",),
    "call": ("Call",),
    "calls": (
        *("bounds", "claims", "figure", "fit", "load_model", "look", "report", "results", "run", "sweep"),
        *("table", "tune"),
    ),
    "dry_runs": ("DryRun",),
    "learner_choice": ("learner",),
    "lists": ("data_rows", "datasets", "learners", "papers", "pools"),
    "trained_model": ("Model", "trained", "writable"),
    "own_kernel": ("kernel",),
    "page_source": ("PageSource", "chosen_words"),
    "paper_results": ("paper_claims", "paper_table", "plans_of", "selection_of", "with_claims"),
    "results": ("Results",),
    "tune": ("Study", "Tuning"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def named(name: str) -> Any:
    """Return what has this name, from the module that defines it."""
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return named(name)
