"""Naive twins of the compiled learners: written from the papers, slow and obvious.

Every twin is `twin(X, y, kernels, *, <hyperparameters>, normalise="none", rng=None) -> Result`: X is dense
(T, d) in stream order, y (T,) is +1/-1, or the targets, or the classes as whole numbers 0 .. C - 1 where the
learner takes more than two; kernels a list of flat dicts. Hyperparameters have no defaults here (conf/ is
their home). normalise is the pool's; a learner with a hyperparameter of that name (bomkc_spa, bomkc_bpas)
takes the pool's as pool_normalise. `TWINS` maps a learner's name to its twin: each function of this form in
the modules of this folder, found by itself. The modules that twins are written with (classes, expansion,
kernels, losses, slots, weights) are those of omkl/testing/definitions. rounds.py has what differs between two
classes and more, so that one text of a learner serves both.
"""

from omkl.testing.definitions import Result, lend, twins

lend(__name__)
TWINS = twins(__name__)
globals().update(TWINS)

__all__ = ["TWINS", "Result"]
