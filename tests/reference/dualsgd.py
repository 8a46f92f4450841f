"""Dual space gradient descent (Le, Nguyen, Nguyen, Phung 2016), one plain step after the other."""

import math

import numpy as np

from .losses import slope_of
from .slots import Slots


def dualsgd(X, y, kernels, *, budget, k, D, lam, loss, variant, normalise="none", rng):
    """f <- (t - 1) / t f - slope T / (lam t) kappa(x, .); where full, the k smallest go into theta before."""
    (kernel,) = kernels
    gamma = kernel["gamma"] if "gamma" in kernel else 1 / (2 * kernel["sigma"] ** 2)
    V = rng.standard_normal((D, X.shape[1])) * (2 * gamma if variant == "authors" else math.sqrt(2 * gamma))
    Z = np.concatenate([np.sin(X @ V.T), np.cos(X @ V.T)], axis=1) / math.sqrt(D)
    E, theta, T = Slots(X, y, kernels, normalise, budget), np.zeros(2 * D), len(y)
    for t in range(T):
        f = E.f(0, t) + theta @ Z[t]
        E.record(f, y[t], [True])
        E.scale(0, t / (t + 1))
        theta = theta * (t / (t + 1))
        slope = slope_of(loss, y[t], f)
        if slope == 0:
            continue
        if E.full(0):
            for _ in range(min(k, budget)):
                a = np.abs(E.a[0])
                s = int(np.argmax(a <= a.min() * (1 + 1e-9)))
                theta = theta + E.a[0][s] * Z[E.held[0][s]]
                del E.a[0][s], E.held[0][s]
                E.n_sv[0] -= 1
        E.append(0, t, -slope * T / (lam * (t + 1)))
    E.weights.w = None
    return E.finish()
