"""Kernel perceptrons and ALMA: perceptrons, single-kernel rivals of the OMKC and BOMKL papers."""

import math

import numpy as np

from omkl.engine.api import any_of, compiled, is_mistake, mistakes
from omkl.engine.methods import Expansion, Stream, Trace


@compiled
def perceptron(stream: Stream, E: Expansion, trace: Trace, learn):
    """Kernel perceptron (Rosenblatt 1958; Freund and Schapire 1999): on y f(x) <= 0 store (x, y).

    f (1,) output of the one kernel
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, f[0], y, E)
        if learn and is_mistake(y, f[0]):
            E.add(stream, t, np.full(1, y))


@compiled
def perceptron_u(stream: Stream, E: Expansion, trace: Trace, learn):
    """Perceptron with the mean kernel (1/m) sum_i kappa_i: Perceptron(u) of Hoi et al. (2013), section 5.1.

    f (m,) outputs f_i(x_t) of kernels that share one list of vectors, which #SV counts once
    With more than two classes all kernels move against the strongest rival of the mean scores.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        score = E.mean_output(f)
        trace.record(t, score, y, E)
        if learn and is_mistake(y, score):
            E.unite(f)
            E.add(stream, t, np.full(f.size, y))
            E.count_once()


@compiled
def component_perceptrons(stream, E, count, learn):
    """All m single-kernel perceptrons side by side; count (m,) collects the mistakes of each."""
    for t in range(stream.T):
        y = stream.y[t]
        z = mistakes(y, E.outputs(stream, t))
        count += z
        if learn and any_of(z):
            E.add(stream, t, y * z)


def best_kernel(run, pool: dict, params: dict, T: int) -> dict:
    """Choose the kernel of perceptron_star: the pool with its one best kernel (the first on ties).

    ``select: prefix`` counts the mistakes on the first ``prefix`` share of the stream (Hoi et al. 2013,
    section 5.1), ``select: hindsight`` over one whole permutation apart (Lu et al., section 4.3), the same
    for every repetition. run(name, state, stop, apart) runs a function over that part of the stream.
    """
    count = np.zeros(len(pool["kernels"]), np.int64)
    hindsight = params["select"] == "hindsight"
    stop = T if hindsight else math.ceil(round(params["prefix"] * T, 6))
    run(component_perceptrons, {"count": count}, max(1, stop), hindsight)
    return {**pool, "kernels": [pool["kernels"][int(count.argmin())]]}
