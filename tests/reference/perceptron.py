"""Perceptrons with one kernel, the mean kernel and the best kernel."""

import math

import numpy as np

from .norma import Descent
from .rounds import rounds


def perceptron(X, y, kernels, *, normalise="none", rng=None):
    """Kernel perceptron (Rosenblatt 1958) with the pool's only kernel: a step of 1 on d <= 0, so at f = 0."""
    if len(kernels) != 1:
        raise ValueError(f"perceptron takes one kernel, not {len(kernels)}")
    E = rounds(X, y, kernels, normalise)
    for _ in E:
        if E.mix([1.0]) <= 0:
            E.learn_together([1.0])
    return E.result()


def perceptron_u(X, y, kernels, *, normalise="none", rng=None):
    """One perceptron with the mean kernel (1/m) sum_i kappa_i (Hoi et al. 2013, section 5).

    All kernels share their coefficients, so its output is the mean of the m outputs f_i.
    """
    E = rounds(X, y, kernels, normalise)
    for _ in E:
        if E.mean() <= 0:
            E.learn_together(np.ones(E.m))
    return E.shared()


def perceptron_star(X, y, kernels, *, select, separate=None, normalise="none", rng=None):
    """The perceptron with the best single kernel, over the whole stream from scratch.

    select 'prefix': fewest mistakes on the first ceil(T / 10) examples (Hoi et al. 2013);
    'hindsight': fewest mistakes over all the data in the order `separate` (T,) (BOMKL). First on ties.
    """
    if select == "prefix":
        trial = np.arange(-(-len(y) // 10))
    elif select == "hindsight":
        trial = np.asarray(separate)
    else:
        raise ValueError(f"unknown select {select!r}")
    counts = [sum(perceptron(X[trial], y[trial], [k], normalise=normalise).mistakes) for k in kernels]
    best = counts.index(min(counts))
    made = perceptron(X, y, [kernels[best]], normalise=normalise)
    made.chosen = best
    return made


# ------------------------------------------------------------------ alma
# ALMA_p (Gentile 2001) for p = 2 with a kernel: w = sum_i c_i x^_i, x^ = x / ||x||.


def alma(X, y, kernels, *, alpha, C, normalise="none", rng=None):
    """x^ . z^ = kappa(x, z) / sqrt(kappa(x, x) kappa(z, z)); an x of length 0 is passed over."""
    E, k, square = Descent(X, y, kernels, normalise, None), 1, 0.0
    B = math.sqrt(8) / alpha
    for t in range(len(y)):
        length = math.sqrt(E.kappa(0, t, t))
        wx = E.f(0, t) / length if length > 0 else 0.0  # the coefficients held are those of x, c / ||x||
        E.record(wx, y[t], [True])
        gamma = B / math.sqrt(k)
        if length == 0 or y[t] * wx > (1 - alpha) * gamma:
            continue
        eta = C / math.sqrt(k)
        square = square + 2 * eta * y[t] * wx + eta**2  # ||w'||^2 of w' = w + eta y x^
        E.append(0, t, eta * y[t] / length)
        shrink = max(1.0, math.sqrt(square))
        E.scale(0, 1 / shrink)
        square = square / shrink**2
        k = k + 1
    return E.finish()
