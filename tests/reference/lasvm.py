"""LaSVM (Bordes, Ertekin, Weston, Bottou 2005) without bias; all gradients from the kernel matrix."""

import numpy as np

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
