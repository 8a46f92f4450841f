"""AROW on random features (Crammer, Kulesza, Dredze 2009), with all of Sigma or its diagonal; any classes."""

import numpy as np

from .classes import Notes, best, classes_of
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


def more_classes(X, label, kernels, diagonal, r, c, D, features, linear, linear_scale, rng):
    """One Sigma for all: the difference of two rows has covariance 2 Sigma and takes AROW's step, half of it
    from each row.
    """
    C = classes_of(label)
    E, L = Notes(), Lifted(X, kernels, D, features, c, linear, linear_scale, rng)
    theta, S = np.zeros((C, L.n)), np.eye(L.n)
    for t, y in enumerate(label):
        z = L.z(t)
        s = theta @ z
        q = best(s.tolist(), without=y)
        q = next(k for k in range(C) if k != y and s[q] - s[k] <= 1e-12)
        margin = s[y] - s[q] if abs(s[y] - s[q]) > 1e-12 else 0.0
        E.notes.append((margin <= 0, y if margin > 0 else q if margin < 0 else min(y, q), margin, s.tolist()))
        loss = 1 - margin
        if loss > 1e-9:
            beta = 1 / (2 * z @ S @ z + r)
            change = loss * beta * (2 * S @ z)
            theta[y] += change / 2
            theta[q] -= change / 2
            S = updated(S, z, 1 / (2 * beta), diagonal)
    return E.result()


def arow_features(X, y, kernels, *, r, c, D, features, full, linear, linear_scale, normalise="none", rng):
    """One kernel, or the features of all side by side."""
    form = more_classes if classes_of(y) else two_classes
    return form(X, y, kernels, not full, r, c, D, features, linear, linear_scale, rng)


arow_features.adapted = {"r": 2.0}  # two classes in the form for more
arow_features_pool = arow_features
