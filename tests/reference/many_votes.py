"""Perceptrons and Hedge's votes for more than two classes (ALGORITHMS.md section 14).

S (m, C) scores f_ic(x_t) of kernel i and class c; r the strongest rival of the true class y.
"""

from .classes import Classes, best, class_votes, margin
from .weights import Weights


def perceptron(X, label, C, kernels, *, normalise="none", rng=None):
    """On f_y <= f_r: f_y + kappa(x, .), f_r - kappa(x, .)."""
    E = Classes(X, C, kernels, normalise)
    for t, y in enumerate(label):
        (s,) = E.scores(t)
        E.record(s, y)
        if margin(s, y) <= 0:
            E.step(t, 0, 1.0, y, best(s, without=y))
    return E.result()


def omkc_dd(X, label, C, kernels, *, beta, normalise="none", rng=None):
    """Every kernel votes for its argmax; those with f_iy <= f_ir are discounted and updated."""
    E, W = Classes(X, C, kernels, normalise), Weights(len(kernels))
    for t, y in enumerate(label):
        S = E.scores(t)
        E.record(class_votes(W, [best(s) for s in S], C), y)
        z = [margin(s, y) <= 0 for s in S]
        W.discount(beta, z)
        for i, s in enumerate(S):
            E.step(t, i, float(z[i]), y, best(s, without=y))
    return E.result(W.w)
