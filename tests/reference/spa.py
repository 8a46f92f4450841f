"""BOMKC(SPA) (Lu, Hoi, Sahoo), Algorithm 1."""

import math

import numpy as np

from .omkc import hinges
from .rounds import rounds
from .weights import RealWeights, Weights


def bomkc_spa(
    X, y, kernels, *, alpha, beta, eta, gamma, delta, discount, predict, normalise, pool_normalise="none", rng
):
    """p_i = (1 - delta) w_i / max w + delta, rho_i = min(alpha, loss_i) / beta, loss_i = max(0, 1 - d_i).

    After the prediction, for each kernel in order: a uniform u < p_i is c_i = 1; only then another u < rho_i
    is Z_i = 1; then a step of min(eta / rho_i, loss_i / (||e||^2 kappa_i(x, x))); normalise false:
    kappa(x, x) counts as 1. Every weight is multiplied by gamma^loss_i in every round (discount 'zero_one':
    by gamma where d_i <= 0). Losses up to 1e-9 count as 0.
    predict 'current': sum_i w_i f_i; 'votes': sum_i w_i vote(f_i); 'averaged': sum_i w_i times the mean of
    f_i(x_t) over the classifiers of rounds 1 .. t.
    """
    E = rounds(X, y, kernels, pool_normalise)
    W = {"hinge": RealWeights, "zero_one": Weights}[discount](E.m)
    sums = 0.0
    for t in E:
        w, sums = W.w, sums + E.values() if predict == "averaged" else sums
        if predict == "votes":
            E.vote(W)
        else:
            E.mix(w, sums[..., t] / (t + 1) if predict == "averaged" else E.f)
        loss, steps = hinges(E.d), np.zeros(E.m)
        for i in range(E.m):
            own = E.own(i) if normalise else 1.0
            full = loss[i] / (E.sides * own) if own > 0 else math.inf
            rho = min(alpha, loss[i]) / beta
            if rng.random() < (1 - delta) * (w[i] / max(w)) + delta and rng.random() < rho:
                steps[i] = min(eta / rho, full)
        W.discount(gamma, {"hinge": loss, "zero_one": E.d <= 0}[discount])
        E.learn(steps)
    return E.result(W.w)
