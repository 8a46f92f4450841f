"""More than two classes: AROW on random features, one Sigma for all."""

import numpy as np

from .arow_features import Lifted, updated
from .classes import best
from .many_others import Notes


def many(X, label, C, kernels, diagonal, r, c, D, features, linear, linear_scale, rng):
    """The difference of two rows has covariance 2 Sigma and takes AROW's step, half of it from each row."""
    E, L = Notes(), Lifted(X, kernels, D, features, c, linear, linear_scale, rng)
    theta, S = np.zeros((C, L.n)), np.eye(L.n)
    for t, y in enumerate(label):
        z = L.z(t)
        s = theta @ z
        q = best(s.tolist(), without=y)
        q = next(k for k in range(C) if k != y and s[q] - s[k] <= 1e-12)
        margin = s[y] - s[q] if abs(s[y] - s[q]) > 1e-12 else 0.0
        E.notes.append((margin <= 0, y if margin > 0 else q if margin < 0 else min(y, q), margin))
        loss = 1 - margin
        if loss > 1e-9:
            beta = 1 / (2 * z @ S @ z + r)
            change = loss * beta * (2 * S @ z)
            theta[y] += change / 2
            theta[q] -= change / 2
            S = updated(S, z, 1 / (2 * beta), diagonal)
    return E.result()


def arow_features(
    X, label, n_classes, kernels, *, r, c, D, features, linear, linear_scale, normalise="none", rng
):
    """One kernel, or the features of all side by side."""
    return many(X, label, n_classes, kernels, False, r, c, D, features, linear, linear_scale, rng)


def arow_features_diagonal(
    X, label, n_classes, kernels, *, r, c, D, features, linear, linear_scale, normalise="none", rng
):
    """Sigma stays diagonal."""
    return many(X, label, n_classes, kernels, True, r, c, D, features, linear, linear_scale, rng)


arow_features.adapted = arow_features_diagonal.adapted = {"r": 2.0}  # of two classes in this form
