"""Naive twins of the compiled learners: written from the papers and ALGORITHMS.md, slow and obvious.

Every twin is `twin(X, y, kernels, *, <hyperparameters>, normalise="none", rng=None) -> Result`: X is dense
(T, d) in stream order, y (T,) is +1/-1, kernels a list of flat dicts. Hyperparameters have no defaults here
(conf/ is their home). normalise is the pool's; a learner with a hyperparameter of that name (bomkc_spa,
bomkc_bpas) takes the pool's as pool_normalise. `TWINS` maps a learner's name to its twin: each function of
this form in the modules of this folder, found by itself.
"""

import importlib
import inspect
import pkgutil

from .expansion import Result


def _twins():
    found = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__:
                form = list(inspect.signature(value).parameters)
                if form[:3] == ["X", "y", "kernels"] and "rng" in form:
                    found[name] = value
    return found


TWINS = _twins()
globals().update(TWINS)

__all__ = ["TWINS", "Result"]
