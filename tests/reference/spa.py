"""BOMKC(SPA) (Lu, Hoi, Sahoo), Algorithm 1."""

import math

import numpy as np

from .expansion import Expansions
from .kernels import kernel as one_kernel
from .kernels import pool_rows, squared_norms
from .omkl import mix
from .weights import RealWeights, Weights


def bomkc_spa(
    X, y, kernels, *, alpha, beta, eta, gamma, delta, discount, predict, normalise, pool_normalise="none", rng
):
    """p_i = (1 - delta) w_i / max w + delta, rho_i = min(alpha, loss_i) / beta, loss_i = max(0, 1 - y f_i).

    After the prediction, for each kernel in order: a uniform u < p_i is c_i = 1; only then another u < rho_i
    is Z_i = 1; then f_i + y min(eta / rho_i, loss_i / kappa_i(x, x)) kappa_i(x, .); normalise false:
    min(eta / rho_i, loss_i). Every weight is multiplied by gamma^loss_i in every round (discount 'zero_one':
    by gamma where y f_i <= 0). Losses up to 1e-9 count as 0.
    predict 'current': sum_i w_i f_i; 'votes': sum_i w_i vote(f_i); 'averaged': sum_i w_i times the mean of
    f_i(x_t) over the classifiers of rounds 1 .. t.
    """
    m, T = len(kernels), len(y)
    rows = pool_rows(X, kernels, pool_normalise)
    E, every = Expansions(rows, m, T), np.ones(m, dtype=bool)
    W = {"hinge": RealWeights, "zero_one": Weights}[discount](m)
    n = squared_norms(X)
    sums = np.zeros((m, T))
    for t in range(T):
        f = E.F[:, t]
        sums = sums + E.F
        w = W.w
        if predict == "votes":
            E.record(W.vote(f, every), y[t], every)
        else:
            E.record(mix(w, {"current": f, "averaged": sums[:, t] / (t + 1)}[predict]), y[t], every)
        a, loss = np.zeros(m), np.zeros(m)
        for i in range(m):
            loss[i] = 1 - y[t] * f[i] if 1 - y[t] * f[i] > 1e-9 else 0.0
            own = one_kernel(kernels[i], n[t : t + 1], n[t : t + 1], n[t : t + 1], X[t : t + 1], X[t])[0]
            if pool_normalise == "cosine":
                own = 1.0 if own > 0 else 0.0
            full = (loss[i] / own if own > 0 else math.inf) if normalise else loss[i]
            rho = min(alpha, loss[i]) / beta
            if rng.random() < (1 - delta) * (w[i] / max(w)) + delta and rng.random() < rho:
                a[i] = y[t] * min(eta / rho, full)
        W.discount(gamma, {"hinge": loss, "zero_one": y[t] * f <= 0}[discount])
        E.add(t, a)
    return E.result(W.w)
