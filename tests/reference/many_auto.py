"""More than two classes: the learner without a knob, an ensemble for each class against all others."""

import numpy as np

from .auto import Drifting, Members
from .many_others import Notes


def auto(X, label, n_classes, kernels=(), *, D, normalise="none", rng):
    """Probabilities P_c / sum of them."""
    M = Members(X, D, rng)
    E, each = Notes(), [Drifting(M.sizes, M.variances, 0.0, 1e-3) for _ in range(n_classes)]
    for t, y in enumerate(label):
        P = np.array([0.5 + own.predict(M.z(t)) for own in each])
        E.record((P / P.sum()).tolist(), y)
        for c, own in enumerate(each):
            own.learn(1.0 if c == y else -1.0)
    return E.result()


auto.apart = "one ensemble for each class, whose probabilities need not add up to 1"
