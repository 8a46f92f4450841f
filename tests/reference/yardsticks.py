"""Learners without kernels that every table prints beside the others."""

import numpy as np

from .classes import Notes, best, classes_of, margin
from .expansion import Expansions


def left_to_right(products):
    """Sum over the last axis in index order (np.cumsum is sequential, np.sum is pairwise)."""
    return np.cumsum(products, axis=-1)[..., -1]


def majority(X, y, kernels=(), *, normalise="none", rng=None):
    """The class seen more often so far: score = sum of the earlier labels, 0 at the start."""
    if classes_of(y):
        return seen(y, lambda counts, one: counts + one)
    E, total = Expansions(None, 0, len(y)), 0.0
    for t in range(len(y)):
        E.record(total, y[t], [])
        total += y[t]
    return E.result()


def running_mean(X, y, kernels=(), *, normalise="none", rng=None):
    """The mean of the earlier targets, 0 at the start."""
    E = Expansions(None, 0, len(y))
    for t in range(len(y)):
        E.record(sum(y[:t]) / t if t else 0.0, y[t], [])
    return E.result()


def last_value(X, y, kernels=(), *, normalise="none", rng=None):
    """The target of the round before, 0 at the start."""
    E = Expansions(None, 0, len(y))
    for t in range(len(y)):
        E.record(y[t - 1] if t else 0.0, y[t], [])
    return E.result()


def last_label(X, y, kernels=(), *, normalise="none", rng=None):
    """The label of the round before, 0 at the start."""
    return seen(y, lambda counts, one: one) if classes_of(y) else last_value(X, y)


def seen(y, after):
    """Predict by counts of each class, which a round changes by its class."""
    E, counts = Notes(), np.zeros(classes_of(y))
    for own in y:
        E.record(counts, own)
        counts = after(counts, np.arange(len(counts)) == own) * 1.0
    return E.result()


def arow(X, y, kernels=(), *, r, covariance="diagonal", normalise="none", rng=None):
    """AROW (Crammer, Kulesza, Dredze 2009), Fig. 1: mu (d,) mean, S (d, d) covariance or its diagonal (d,).

    On y mu.x < 1: v = x'Sx, b = 1/(v + r), a = max(0, 1 - y mu.x) b, mu += a S y x, S -= b S x x' S
    (diagonal: S_ii -= b (S_ii x_i)^2).
    """
    if classes_of(y):
        return top_1(X, y, r)
    d = X.shape[1]
    E, mu = Expansions(None, 0, len(y)), np.zeros(d)
    S = {"diagonal": np.ones(d), "full": np.eye(d)}[covariance]
    for t in range(len(y)):
        x = X[t]
        margin = left_to_right(mu * x)
        E.record(margin, y[t], [])
        if y[t] * margin < 1:
            Sx = S * x if covariance == "diagonal" else left_to_right(S * x)
            b = 1 / (left_to_right(x * Sx) + r)
            a = max(0.0, 1 - y[t] * margin) * b
            mu = mu + a * y[t] * Sx
            S = S - b * (Sx * Sx if covariance == "diagonal" else np.outer(Sx, Sx))
    return E.result()


def top_1(X, y, r):
    """Top-1 (Crammer, Dredze, Kulesza 2009): x belongs to its class with +1, to its rival with -1."""
    C = classes_of(y)
    E, mu, S = Notes(), np.zeros((C, X.shape[1])), np.ones((C, X.shape[1]))
    for x, own in zip(X, y, strict=True):
        s = mu @ x
        E.record(s, own)
        if margin(s, own) >= 1:
            continue
        q = best(s, without=own)
        b = 1 / (S[own] @ x**2 + S[q] @ x**2 + r)
        for c, sign in ((own, 1), (q, -1)):
            mu[c] = mu[c] + sign * (1 - margin(s, own)) * b * S[c] * x
            S[c] = S[c] - b * (S[c] * x) ** 2
    return E.result()
