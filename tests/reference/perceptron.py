"""Perceptrons with one kernel, the mean kernel and the best kernel."""

import numpy as np

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
