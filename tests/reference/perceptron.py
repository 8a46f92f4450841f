"""Perceptrons with one kernel, the mean kernel and the best kernel."""

import numpy as np

from .expansion import Expansions
from .kernels import pool_rows


def run(rows, y):
    """Kernel perceptron (Rosenblatt 1958): on y f(x) <= 0 (so at f = 0 too) add y kappa(x, .)."""
    E = Expansions(rows, 1, len(y))
    for t in range(len(y)):
        f = E.F[0, t]
        E.record(f, y[t], [True])
        if y[t] * f <= 0:
            E.add(t, np.array([y[t]]))
    return E


def perceptron(X, y, kernels, *, normalise="none", rng=None):
    """One perceptron with the pool's only kernel."""
    if len(kernels) != 1:
        raise ValueError(f"perceptron takes one kernel, not {len(kernels)}")
    return run(pool_rows(X, kernels, normalise), y).result()


def perceptron_u(X, y, kernels, *, normalise="none", rng=None):
    """One perceptron with the mean kernel (1/m) sum_i kappa_i (Hoi et al. 2013, section 5).

    All kernels share their coefficients, so its output is the mean of the m outputs f_i.
    """
    E = Expansions(pool_rows(X, kernels, normalise), len(kernels), len(y))
    for t in range(len(y)):
        total = 0.0
        for f in E.F[:, t]:
            total += f
        score = total / len(kernels)
        E.record(score, y[t], [True] + [False] * (len(kernels) - 1))
        if y[t] * score <= 0:
            E.add(t, np.full(len(kernels), y[t]))
    r = E.result()
    r.n_sv_per_kernel, r.coefficients = r.n_sv_per_kernel[:1], r.coefficients[:1]
    return r


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
    counts = [sum(run(pool_rows(X[trial], [k], normalise), y[trial]).mistakes) for k in kernels]
    best = counts.index(min(counts))
    return run(pool_rows(X, [kernels[best]], normalise), y).result(chosen=best)
