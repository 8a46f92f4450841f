"""NOGD (Lu, Hoi, Wang, Zhao, Liu 2016), Algorithm 3, with its features and linear weights as printed."""

import math

import numpy as np

from .projectron import Spans


class Features(Spans):
    """Outputs far below their terms, the largest coefficient and a step are 0, from the map's making on."""

    step = 0.0

    def f(self, i, t):
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        size = max([self.step, sum(map(abs, terms)), *map(abs, self.a[i])]) if self.full(i) else 0
        total = 0.0
        for term in terms:
            total += term
        return 0.0 if abs(total) <= 1e-10 * size else total


def bomkc_nogd(X, y, kernels, *, budget, gamma, eta, rank, normalise="none", rng=None):
    """Until B vectors: on y f < 1 append eta y. Then K = V D V^T, its k = rank B largest eigenvalues;
    v = D^1/2 V^T a; f = v . z(x), z = D^-1/2 V^T k(x); on y f < 1, v <- v + eta y z.

    Eigenvalues within 1e-6 of the k-th stay too; those below 1e-8 of the largest do not. Losses up to 1e-9
    are 0, and so is, with features, an output below 1e-10 of its terms a k, a = V D^-1/2 v, max |a| or eta.
    """
    E = Features(X, y, kernels, normalise, budget)
    E.step = eta
    features, v = [None] * E.m, [None] * E.m
    for t in range(len(y)):
        f, z = E.predict(t)
        E.discount(gamma, z)
        for i in range(E.m):
            if features[i] is not None:
                k_t = np.array([E.kappa(i, j, t) for j in E.held[i]])
                z_t = features[i] @ k_t
                assert abs(f[i] - v[i] @ z_t) <= 1e-8 * max(eta, np.abs(E.a[i]).sum())  # the same function
            if 1 - y[t] * f[i] <= 1e-9:
                continue
            if features[i] is None:
                E.append(i, t, eta * y[t])
                if not E.full(i):
                    continue
                features[i], back = feature_map(E.gram[i], rank, budget)
                v[i] = back @ E.a[i]
            else:
                v[i] = v[i] + eta * y[t] * z_t
            E.a[i] = (features[i].T @ v[i]).tolist()
    return E.finish()


def feature_map(gram, rank, budget):
    """D^-1/2 V' and D^1/2 V' of the largest eigenvalues D of the Gram matrix, and their vectors V."""
    D, V = np.linalg.eigh(gram)
    k = max(1, math.floor(rank * budget + 0.5))
    kept = (D[-k] * (1 - 1e-6) <= D) & (1e-8 * D[-1] <= D)
    root = np.sqrt(D[kept])[:, None]
    return V[:, kept].T / root, root * V[:, kept].T
