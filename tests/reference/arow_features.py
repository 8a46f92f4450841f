"""AROW on random features (Crammer, Kulesza, Dredze 2009), with all of Sigma or its diagonal; any classes."""

import numpy as np

from .expansion import Expansions
from .features import frequencies, lifted


class Lifted:
    """z of each example: [c phi_i(x) of every kernel; 1; x / s]."""

    def __init__(self, X, kernels, D, features, c, linear, linear_scale, rng):
        self.X, self.V = X, frequencies(kernels, X.shape[1], D, features, rng)
        self.c, self.linear, self.scaled = c, linear, linear_scale
        self.n = len(self.z(0))

    def z(self, t):
        s = np.abs(self.X[: t + 1]).max(initial=0.0) if self.scaled else 1.0
        own = [self.X[t] / (s if s > 0 else 1.0)] if self.linear else []
        return np.concatenate([*(self.c * phi for phi in lifted(self.V, self.X[t])), [1.0], *own])


def updated(S, z, v, diagonal):
    """Sigma - Sigma z z' Sigma / v, or its diagonal."""
    S = S - np.outer(S @ z, S @ z) / v
    return np.diag(np.diag(S)) if diagonal else S


def two_classes(X, y, given, diagonal, r, c, D, features, linear, linear_scale, rng):
    E, L = Expansions(None, 0, len(y)), Lifted(X, given, D, features, c, linear, linear_scale, rng)
    theta, S = np.zeros(L.n), np.eye(L.n)
    for t in range(len(y)):
        z = L.z(t)
        m = theta @ z
        m = m if abs(m) > 1e-12 else 0.0
        E.record(m, y[t], [])
        loss = 1 - y[t] * m
        if loss > 1e-9:
            v = z @ S @ z + r
            theta = theta + loss / v * y[t] * S @ z
            S = updated(S, z, v, diagonal)
    return E.result()


def arow_features(X, y, kernels, *, r, c, D, features, linear, linear_scale, normalise="none", rng):
    """One kernel, or the features of all side by side."""
    return two_classes(X, y, kernels, False, r, c, D, features, linear, linear_scale, rng)


def arow_features_pool(X, y, kernels, *, r, c, D, features, linear, linear_scale, normalise="none", rng):
    """The same of a pool."""
    return two_classes(X, y, kernels, False, r, c, D, features, linear, linear_scale, rng)


def arow_features_diagonal(X, y, kernels, *, r, c, D, features, linear, linear_scale, normalise="none", rng):
    """Sigma stays diagonal."""
    return two_classes(X, y, kernels, True, r, c, D, features, linear, linear_scale, rng)
