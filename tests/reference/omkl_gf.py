"""OMKL-GF with one node (Ghari and Shen 2020), and with the slips of the authors' code."""

import math

import numpy as np

from .expansion import Expansions
from .features import frequencies, lifted
from .weights import TINY


def omkl_gf(X, y, kernels, *, D, features, draws, lam, variant, normalise="none", rng):
    """A = what `draws` draws by p = (1 - eta) w + eta / m give; only A predicts and learns."""
    m = len(kernels)
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    theta, w, settled = np.zeros((m, 2 * D)), np.full(m, 1 / m), False
    for t in range(len(y)):
        z, eta = np.array(lifted(V, X[t])), 1 / math.sqrt(t + 1)
        if not settled:
            p = (1 - eta) * w + eta / m
            A = set()
            for _ in range(draws):
                i = min(int(np.searchsorted(np.cumsum(p), rng.random())), m - 1)
                A.add(min(i + 1, m - 1) if variant == "authors" else i)
            q = 1 - (1 - p) ** draws
        A = sorted(A)
        f = (theta * z).sum(1)
        score = sum(w[i] * f[i] for i in A) / sum(w[i] for i in A)
        E.record(score, y[t], [])
        loss = np.zeros(m)
        for i in A:
            theta[i] -= eta * (2 * (f[i] - y[t]) * z[i] + 2 * lam * theta[i])
            loss[i] = eta * ((f[i] - y[t]) ** 2 + lam * theta[i] @ theta[i]) / q[i]
        w = np.maximum(w * np.exp(loss.min() - loss), TINY)
        w = np.maximum(w / w.sum(), TINY)
        settled |= variant == "authors" and (score - y[t]) ** 2 < 1e-4
    return E.result(w)


omkl_gf.near = 1e-6  # its first steps, of size 1 and 1 / sqrt(2), multiply the rounding of narrow kernels
