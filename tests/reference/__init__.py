"""Naive twins of the compiled learners: written from the papers and ALGORITHMS.md, slow and obvious.

Every twin is `twin(X, y, kernels, *, <hyperparameters>, normalise="none", rng=None) -> Result`: X is dense
(T, d) in stream order, y (T,) is +1/-1, kernels a list of flat dicts. Hyperparameters have no defaults here
(conf/ is their home). normalise is the pool's; a learner with a hyperparameter of that name (bomkc_spa) takes
the pool's as pool_normalise. `TWINS` maps a learner's name to its twin.
"""

from .expansion import Result
from .om2 import om2
from .omkc import omkc_dd, omkc_ddpa, omkc_ds, omkc_sd, omkc_ss, omkc_u
from .omkl import omklo_da, omklo_sua, omklp_da1, omklp_da1_doubling, omklp_da2, omklp_mua, omklp_sua
from .perceptron import perceptron, perceptron_star, perceptron_u
from .spa import bomkc_spa
from .yardsticks import arow, majority

TWINS = {
    twin.__name__: twin
    for twin in (
        perceptron,
        perceptron_u,
        perceptron_star,
        omkc_u,
        omkc_dd,
        omkc_ds,
        omkc_sd,
        omkc_ss,
        omkc_ddpa,
        omklp_da1,
        omklp_da2,
        omklp_da1_doubling,
        omklp_sua,
        omklp_mua,
        omklo_da,
        omklo_sua,
        om2,
        bomkc_spa,
        majority,
        arow,
    )
}

__all__ = ["TWINS", "Result", *TWINS]
