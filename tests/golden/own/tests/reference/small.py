"""The perceptron, round by round."""

import numpy as np

from .expansion import Expansions


def tiny(X, y, kernels, *, eta, normalise="none", rng=None):
    E, v = Expansions(None, 0, len(y)), np.zeros(X.shape[1])
    for t in range(len(y)):
        f = 0.0
        for value, weight in zip(X[t], v, strict=True):
            f += value * weight
        E.record(f, y[t], [])
        if y[t] * f <= 0:
            v = v + eta * y[t] * X[t]
    return E.result()
