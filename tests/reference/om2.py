"""OM-2 (Jie et al. 2010) as a two-class method, with both classes' coefficients kept apart."""

import math

import numpy as np

from .expansion import Expansions
from .kernels import pool_rows


def om2(X, y, kernels, *, p, aggressive, normalise="none", rng=None):
    """theta_j holds one expansion for each class; s_jc = theta_jc(x); score_c = sum_j w_j s_jc.

    n_j^2 = ||theta_j||^2 over both classes, from machine epsilon; w_j = (n_j / ||n||_q)^(q-2) / q, all 1 at
    the start; q = p / (p - 1), or 2 ln m (at least 2) where p is None. margin = score_y - the other's score.
    Update when margin <= 1 by eta = min(1, 1 - margin / m^(2/q)); not aggressive: margin <= 0, eta = 1.
    Norms are summed directly: ||theta_jc||^2 = sum_s a_cs theta_jc(x_s). All kernels share one list of
    vectors, (1, n) coefficients of class +.
    """
    m, T = len(kernels), len(y)
    q = max(2.0, 2 * math.log(m)) if p is None else p / (p - 1)
    rows, every, w = pool_rows(X, kernels, normalise), np.ones(1, dtype=bool), np.ones(m)
    E = Expansions(rows, 1, T)
    theta, a = {c: np.zeros((m, T)) for c in (1, -1)}, {c: np.zeros(T) for c in (1, -1)}
    for t in range(T):
        score = {c: sum(w[j] * theta[c][j, t] for j in range(m)) for c in (1, -1)}
        E.record(score[1], y[t], every)
        true, other = (1, -1) if y[t] > 0 else (-1, 1)
        margin = score[true] - score[other]
        if margin > (1 if aggressive else 0):
            continue
        eta = min(1.0, 1 - margin / m ** (2 / q)) if aggressive else 1.0
        for c, sign in ((true, 1), (other, -1)):
            theta[c] = theta[c] + sign * eta * rows(t)
            a[c][t] = sign * eta
        E.stored.append(t)
        E.columns.append(np.array([a[1][t]]))
        E.n_sv = E.n_sv + 1
        n = np.array([
            math.sqrt(max(0.0, np.finfo(float).eps + sum(float(a[c] @ theta[c][j]) for c in (1, -1))))
            for j in range(m)
        ])  # fmt: skip
        largest = max(n)
        norm = largest * sum((n_j / largest) ** q for n_j in n) ** (1 / q)
        w = (n / norm) ** (q - 2) / q
    return E.result()
