"""Ensembles on random features: Gaussian processes (Lu et al. 2022), two levels of VAW (arXiv 2503.20087)."""

import math

import numpy as np

from .expansion import Expansions
from .features import frequencies, lifted
from .weights import TINY


def density(y, mu, v):
    """-log N(y; mu, v)."""
    return math.log(2 * math.pi * v) / 2 + (y - mu) ** 2 / (2 * v)


def iegp(X, y, kernels, *, D, features, nu, tau, drift, normalise="none", rng):
    """Each kernel's Bayesian linear regression; weights by the densities of what they predicted.

    Reports -log N(y; mean, variance) of the mixture of the kernels' Gaussians.
    """
    m = len(kernels)
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    theta, S, w = np.zeros((m, 2 * D)), [nu * np.eye(2 * D) for _ in range(m)], [1 / m] * m
    for t in range(len(y)):
        z = lifted(V, X[t])
        S = [own + drift * np.eye(2 * D) for own in S]
        mu = [theta[i] @ z[i] for i in range(m)]
        v = [z[i] @ S[i] @ z[i] + tau for i in range(m)]
        mean = sum(w[i] * mu[i] for i in range(m))
        variance = sum(w[i] * (v[i] + mu[i] ** 2) for i in range(m)) - mean**2
        E.record(mean, y[t], [], [density(y[t], mean, variance), variance])
        loss = [density(y[t], mu[i], v[i]) for i in range(m)]
        w = [max(w[i] * math.exp(min(loss) - loss[i]), TINY) for i in range(m)]
        w = [max(w_i / sum(w), TINY) for w_i in w]
        for i in range(m):
            gain = S[i] @ z[i] / v[i]
            theta[i] += gain * (y[t] - mu[i])
            S[i] = S[i] - np.outer(gain, gain) * v[i]
    return E.result(np.array(w))


class Forecaster:
    """A and b; the prediction is z . A^-1 b with z z' in A already."""

    def __init__(self, n, lam):
        self.A, self.b = lam * np.eye(n), np.zeros(n)

    def predict(self, z):
        self.A += np.outer(z, z)
        return z @ np.linalg.solve(self.A, self.b)


def vaw2(X, y, kernels, *, D, features, lam1, lam2, normalise="none", rng):
    """A forecaster on each kernel's features, and one on their predictions; each solved in every round."""
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    first, second = [Forecaster(2 * D, lam1) for _ in kernels], Forecaster(len(kernels), lam2)
    for t in range(len(y)):
        z = lifted(V, X[t])
        p = np.array([own.predict(z_i) for own, z_i in zip(first, z, strict=True)])
        E.record(second.predict(p), y[t], [])
        for own, z_i in zip(first, z, strict=True):
            own.b += y[t] * z_i
        second.b += y[t] * p
    return E.result()
