"""Naive twins of the compiled learners: written from the papers and ALGORITHMS.md, slow and obvious.

Every twin is `twin(X, y, kernels, *, <hyperparameters>, normalise="none", rng=None) -> Result`: X is dense
(T, d) in stream order, y (T,) is +1/-1, kernels a list of flat dicts. Hyperparameters have no defaults here
(conf/ is their home). `TWINS` maps a learner's name to its twin.
"""

from .budget import bomkc_bogd, bomkc_bpas, bomkc_forgetron, bomkc_rbp
from .expansion import Result
from .omkc import omkc_dd, omkc_ddpa, omkc_ds, omkc_sd, omkc_ss, omkc_u
from .perceptron import perceptron, perceptron_star, perceptron_u
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
        majority,
        arow,
        bomkc_rbp,
        bomkc_forgetron,
        bomkc_bogd,
        bomkc_bpas,
    )
}

__all__ = ["TWINS", "Result", *TWINS]
