"""LaSVM (Bordes, Ertekin, Weston, Bottou 2005) without bias; all gradients from the kernel matrix."""

import math

import numpy as np

from .losses import slope_of
from .slots import Slots


def lasvm(X, y, kernels, *, C, normalise="none", rng=None):
    """Process the example, reprocess the stored one with the largest gradient, forget the useless.

    alpha (T,) in [0, C], f = K (y alpha); what comes within 1e-9 of a bound is on it, and equal are gradients
    within 1e-9 of each other.
    """
    E = Slots(X, y, kernels, normalise, len(y))
    K = np.array([[E.kappa(0, j, t) for t in range(len(y))] for j in range(len(y))])
    alpha, kept = np.zeros(len(y)), []

    def step(j):
        alpha[j] += y[j] * (y[j] - K[j] @ (y * alpha)) / K[j, j]
        alpha[j] = 0.0 if alpha[j] <= 1e-9 * C else C if alpha[j] >= C * (1 - 1e-9) else alpha[j]

    for t in range(len(y)):
        f = K[t] @ (y * alpha)
        E.record(f, y[t], [True])
        if 1 - y[t] * f > 1e-9 and K[t, t] > 0:
            kept.append(t)
            step(t)
        g = y - K @ (y * alpha)
        able = [j for j in kept if abs(g[j]) >= 1e-3 and (alpha[j] < C if y[j] * g[j] > 0 else alpha[j] > 0)]
        if able:
            largest = max(abs(g[j]) for j in able)
            step(min(j for j in able if abs(g[j]) >= largest * (1 - 1e-9)))
        g = y - K @ (y * alpha)
        kept = [j for j in kept if alpha[j] != 0 or y[j] * g[j] > 1e-9]
        E.n_sv[0] = len(kept)
    E.held[0], E.a[0], E.weights.w = kept, [y[j] * alpha[j] for j in kept], None
    return E.finish()


# ------------------------------------------------------------------ dualsgd
# Dual space gradient descent (Le, Nguyen, Nguyen, Phung 2016), one plain step after the other.


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
