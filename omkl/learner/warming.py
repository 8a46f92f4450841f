"""Compiled code is made, or loaded from disk, before a clock or a worker starts."""

import sys
from typing import Any

import numpy as np

from omkl.algorithms import function
from omkl.engine import numba_cache
from omkl.learner.compiling import compiling
from omkl.learner.one_pass import run_pass
from omkl.learner.resources import absent, limits


def version(spec: Any, params: dict) -> str:
    """Return the name of what is compiled: of a function, one for each set of resources that it lacks."""
    return "-without_".join((spec.function, *absent(spec.state, params)))


def warm_up(settings: list[tuple[Any, dict]]) -> None:
    """Compile what will run, or load it from the cache on disk, before any clock or worker starts.

    settings: (LearnerSpec, hyperparameters). Says on stderr when it compiles; one process does at a time.
    """
    from omkl.data import Dataset

    rows = (np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    tiny = Dataset("", *rows, 1, "classification", "")
    pool = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]}
    versions = {version(spec, params): (spec, params) for spec, params in settings}
    told = False
    with compiling(versions) as missing:
        for name, (spec, params) in versions.items():
            new = "-" in name or not numba_cache.has(function(spec.function))
            if not told and new and name in missing:
                print("compiling the learners (once; kept on disk) ...", file=sys.stderr, flush=True)
                told = True
            usual = spec.usual(tiny.task)
            if version(spec, usual) != version(spec, params):
                usual |= {limit: params[limit] and 2 for limit in limits(spec.state)}
            run_pass(spec, usual, pool if spec.kernels == "pool" else None, tiny, np.arange(2), 0)
