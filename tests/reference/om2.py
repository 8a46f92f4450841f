"""OM-2 (Jie et al. 2010): every kernel's theta_j holds one expansion for each class, of two classes too."""

import math

import numpy as np

from .classes import classes_of
from .rounds import Labels


def om2(X, y, kernels, *, p, aggressive, normalise="none", rng=None):
    """s_jc = theta_jc(x); score_c = sum_j w_j s_jc; margin = score_y - its strongest rival's.

    n_j^2 = ||theta_j||^2 over all classes, from machine epsilon; w_j = (n_j / ||n||_q)^(q-2) / q, all 1 at
    the start; q = p / (p - 1), or 2 ln m (at least 2) where p is None.
    Update when margin <= 1 by eta = min(1, 1 - margin / m^(2/q)); not aggressive: margin <= 0, eta = 1.
    Norms are summed directly: ||theta_jc||^2 = sum_s a_cs theta_jc(x_s). All kernels share one list.
    """
    label = y if classes_of(y) else np.where(y > 0, 0, 1)
    E, w = Labels(X, label, kernels, normalise), np.ones(len(kernels))
    E.C = classes_of(y) or 2
    E.lists = [{c: [] for c in range(E.C)} for _ in kernels]
    q = max(2.0, 2 * math.log(E.m)) if p is None else p / (p - 1)
    a = np.zeros((E.C, len(label)))
    for t in E:
        margin = E.mix(w)
        if margin > (1 if aggressive else 0):
            continue
        eta = min(1.0, 1 - margin / E.m ** (2 / q)) if aggressive else 1.0
        E.learn_together([eta] * E.m)
        a[label[t], t], a[E.rival, t] = eta, -eta
        n2 = [np.finfo(float).eps + sum(float(a_c @ (K @ a_c)) for a_c in a) for K in E.K]
        n = np.sqrt(np.maximum(n2, 0.0))
        norm = max(n) * sum((n_j / max(n)) ** q for n_j in n) ** (1 / q)
        w = (n / norm) ** (q - 2) / q
    made = E.result()
    if classes_of(y) is None:  # the one function is that of class +1
        made.scores, made.predicted = made.scores * y / 2, None
        made.n_sv_per_kernel, made.coefficients = made.n_sv_per_kernel[:1], made.coefficients[:1, 0]
        made.combined = np.searchsorted(made.stored, np.arange(len(y)))
    return made
