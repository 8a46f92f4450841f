"""KRLS with approximate linear dependence (Engel, Mannor, Meir 2004): least squares, solved every round."""

import numpy as np

from .projectron import Dictionary


def krls_ald(X, y, kernels, *, nu, normalise="none", rng=None):
    """a minimises sum_t (y_t - beta_t' K a)^2 over the examples that were projected, beta_t of the dictionary
    of their time; those that entered it have a beta of their own. So K a = P sum_t beta_t y_t,
    P = (sum_t beta_t beta_t')^-1."""
    E = Dictionary(X, y, kernels, normalise)
    P, b = np.zeros((0, 0)), np.zeros(0)
    for t in range(len(y)):
        f = sum(a * E.kappa(0, j, t) for a, j in zip(E.a[0], E.held[0], strict=True))
        E.record(f, y[t], [True])
        beta, _, delta = E.projection(0, t)
        n = len(beta)
        if delta > nu:
            E.append(0, t, 0.0)
            P = np.block([[P, np.zeros((n, 1))], [np.zeros((1, n)), np.ones((1, 1))]])
            b = np.append(b, y[t])
        elif n:
            P = np.linalg.inv(np.linalg.inv(P) + np.outer(beta, beta))
            b = b + beta * y[t]
        else:
            continue
        E.a[0] = E.solved(0, E.gram[0], P @ b).tolist()
    E.weights.w = None
    return E.finish()
