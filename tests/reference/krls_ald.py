"""KRLS with approximate linear dependence (Engel, Mannor, Meir 2004): least squares, solved every round."""

import numpy as np

from .projectron import Dictionary


def krls_ald(X, y, kernels, *, nu, normalise="none", rng=None):
    """a minimises sum_t (y_t - beta_t' K a)^2 over the examples that were projected, beta_t of the dictionary
    of their time; those that entered it have a beta of their own."""
    E = Dictionary(X, y, kernels, normalise)
    M, b = np.zeros((0, 0)), np.zeros(0)  # the sums of beta beta' and of beta y
    for t in range(len(y)):
        f = sum(a * E.kappa(0, j, t) for a, j in zip(E.a[0], E.held[0], strict=True))
        E.record(f, y[t], [True])
        beta, _, delta = E.projection(0, t)
        if delta > nu or (not len(beta) and delta > 0):
            E.append(0, t, 0.0)
            M, beta = np.pad(M, (0, 1)), np.append(np.zeros(len(beta)), 1.0)
        if len(beta):
            M, b = M + np.outer(beta, beta), np.append(b, np.zeros(len(beta) - len(b))) + beta * y[t]
            E.a[0] = E.solved(0, E.gram[0], np.linalg.solve(M, b)).tolist()
    E.weights.w = None
    return E.finish()
