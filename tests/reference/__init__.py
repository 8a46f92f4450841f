"""Naive twins of the compiled learners: written from the papers, slow and obvious.

Every twin is `twin(X, y, kernels, *, <hyperparameters>, normalise="none", rng=None) -> Result`: X is dense
(T, d) in stream order, y (T,) is +1/-1, kernels a list of flat dicts. Hyperparameters have no defaults here
(conf/ is their home). normalise is the pool's; a learner with a hyperparameter of that name (bomkc_spa,
bomkc_bpas) takes the pool's as pool_normalise. `TWINS` maps a learner's name to its twin: each function of
this form in the modules of this folder, found by itself. The modules that twins are written with (classes,
expansion, kernels, losses, slots, weights) are those of omkl/testing/plain.

`MANY` has those for more than two classes, in modules of their own: `twin(X, label, n_classes, kernels, *,
...) -> ClassResult`, label (T,) the classes 0 .. n_classes - 1.
"""

from omkl.testing.plain import Result, lend, twins

lend(__name__)
TWINS = twins(__name__)
globals().update(TWINS)
MANY = twins(__name__, form=("X", "label", "n_classes", "kernels"))

__all__ = ["MANY", "TWINS", "Result"]
