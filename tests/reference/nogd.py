"""NOGD (Lu, Hoi, Wang, Zhao, Liu 2016), Algorithm 3, with its features and linear weights as printed."""

import math

import numpy as np

from .classes import classes_of
from .projectron import ClassSpans, Spans


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


class ClassFeatures(ClassSpans):
    """The same of more classes."""

    step = 0.0

    def size(self, i, terms):
        if not self.full(i):
            return self.zero
        return np.maximum(super().size(i, terms), max(self.step, np.abs(self.a[i]).max()))


def bomkc_nogd(X, y, kernels, *, budget, gamma, eta, rank, normalise="none", rng=None):
    """Until B vectors: on d < 1 append eta e. Then K = V D V^T, its k = rank B largest eigenvalues;
    v = D^1/2 V^T a; f = v . z(x), z = D^-1/2 V^T k(x); on d < 1, v <- v + eta z e.

    Eigenvalues within 1e-6 of the k-th stay too; those below 1e-8 of the largest do not. Losses up to 1e-9
    are 0, and so is, with features, an output below 1e-10 of its terms a k, a = V D^-1/2 v, max |a| or eta.
    """
    E = (Features if classes_of(y) is None else ClassFeatures)(X, y, kernels, normalise, budget)
    E.step = eta
    features, v = [None] * E.m, [None] * E.m
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if features[i] is not None:
                z_t = features[i] @ np.array([E.kappa(i, j, t) for j in E.held[i]])
                apart = np.abs(E.value(i, t) - z_t @ v[i])  # the same function
                assert (apart <= 1e-8 * np.maximum(eta, np.abs(E.a[i]).sum(axis=0))).all()
            if 1 - d[i] <= 1e-9:
                continue
            if features[i] is None:
                E.append(i, t, eta * e[i])
                if not E.full(i):
                    continue
                features[i], back = feature_map(E.gram[i], rank, budget)
                v[i] = back @ np.array(E.a[i])
            else:
                v[i] = v[i] + np.multiply.outer(z_t, eta * e[i])
            E.a[i] = list(features[i].T @ v[i])
    return E.finish()


def feature_map(gram, rank, budget):
    """D^-1/2 V' and D^1/2 V' of the largest eigenvalues D of the Gram matrix, and their vectors V."""
    D, V = np.linalg.eigh(gram)
    k = max(1, math.floor(rank * budget + 0.5))
    kept = (D[-k] * (1 - 1e-6) <= D) & (1e-8 * D[-1] <= D)
    root = np.sqrt(D[kept])[:, None]
    return V[:, kept].T / root, root * V[:, kept].T
