"""More than two classes: an ensemble of Gaussian processes for each against all others."""

import numpy as np

from .egpc import Ensemble, members
from .many_others import Notes


def egpc(
    X, label, n_classes, kernels, *, D, features, nu, linear, nu_linear, drift, share, normalise="none", rng
):
    """Probabilities P_c / sum of them."""
    z, *form = members(X, kernels, D, features, nu, linear, nu_linear, rng)
    E, each = Notes(), [Ensemble(*form, drift, share) for _ in range(n_classes)]
    for t, y in enumerate(label):
        P = np.array([0.5 + own.predict(z(t)) for own in each])
        E.record((P / P.sum()).tolist(), y)
        for c, own in enumerate(each):
            own.learn(1.0 if c == y else -1.0)
    return E.result()


egpc.apart = "one ensemble for each class, whose probabilities need not add up to 1"
