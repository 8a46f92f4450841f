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


def with_bias(X, bias=True):
    """Rows [1; x], the 1 a 0 without bias."""
    return np.hstack([np.full((len(X), 1), float(bias)), X])


def covariance(n, full=True):
    """I (n, n), or its diagonal (n,) of more than 500 features besides the bias."""
    return np.eye(n) if full and n <= 501 else np.ones(n)


def times(S, x):
    return S * x if S.ndim == 1 else left_to_right(S * x)


def less(S, b, g):
    """S - b g g'; of a diagonal the diagonal of this."""
    return S - b * (g * g if S.ndim == 1 else np.outer(g, g))


def with_squares(X):
    """Rows [x_1, x_1^2, x_2, x_2^2, ...]."""
    return np.stack([X, X * X], axis=2).reshape(len(X), -1)


def arow(X, y, kernels=(), *, r, bias, full, squares, normalise="none", rng=None):
    """AROW (Crammer, Kulesza, Dredze 2009), Fig. 1: mu mean, S covariance or its diagonal.

    On y mu.x < 1: v = x'Sx, b = 1/(v + r), a = max(0, 1 - y mu.x) b, mu += a S y x, S -= b S x x' S.
    """
    X = with_bias(with_squares(X) if squares else X, bias)
    if classes_of(y):
        return top_1(X, y, r, full)
    E, mu, S = Expansions(None, 0, len(y)), np.zeros(X.shape[1]), covariance(X.shape[1], full)
    for t in range(len(y)):
        x = X[t]
        margin = left_to_right(mu * x)
        E.record(margin, y[t], [])
        if y[t] * margin < 1:
            g = times(S, x)
            b = 1 / (left_to_right(x * g) + r)
            a = max(0.0, 1 - y[t] * margin) * b
            mu, S = mu + a * y[t] * g, less(S, b, g)
    return E.result()


def top_1(X, y, r, full):
    """Top-1 (Crammer, Dredze, Kulesza 2009): x belongs to its class with +1, to its rival with -1."""
    C = classes_of(y)
    E, mu = Notes(), np.zeros((C, X.shape[1]))
    S = [covariance(X.shape[1], full) for _ in range(C)]
    for x, own in zip(X, y, strict=True):
        s = mu @ x
        E.record(s, own)
        if margin(s, own) >= 1:
            continue
        q = best(s, without=own)
        g, h = times(S[own], x), times(S[q], x)
        b = 1 / (g @ x + h @ x + r)
        a = (1 - margin(s, own)) * b
        mu[own], mu[q] = mu[own] + a * g, mu[q] - a * h
        S[own], S[q] = less(S[own], b, g), less(S[q], b, h)
    return E.result()


def ridge(X, y, kernels=(), *, lam, drift, normalise="none", rng=None):
    """w = (lam I + sum x x')^-1 sum y x over [1; x], solved in every round; of many features as `arow` is.

    With drift the inverse gains drift / lam on its diagonal in each round, before it learns.
    """
    X = with_bias(X)
    n = X.shape[1]
    E, A, moment = Expansions(None, 0, len(y)), lam * np.eye(n), np.zeros(n)
    if n > 501:
        return diagonal_ridge(X, y, lam, drift)
    for x, target in zip(X, y, strict=True):
        w = np.linalg.solve(A, moment)
        E.record(w @ x, target, [])
        if drift:
            A = np.linalg.inv(np.linalg.inv(A) + drift / lam * np.eye(n))
            moment = A @ w
        A, moment = A + np.outer(x, x), moment + target * x
    return E.result()


def diagonal_ridge(X, y, lam, drift):
    """w += S x (y - w.x) / (1 + x'Sx), and S -= (S x)^2 / (1 + x'Sx), S the diagonal I / lam at first."""
    E, w, S = Expansions(None, 0, len(y)), np.zeros(X.shape[1]), np.full(X.shape[1], 1 / lam)
    for x, target in zip(X, y, strict=True):
        f, S = left_to_right(w * x), S + drift / lam
        g = S * x
        E.record(f, target, [])
        b = 1 / (1 + left_to_right(g * x))
        w, S = w + (target - f) * b * g, S - b * g**2
    return E.result()
