"""Budget online multiple kernel learning: SPA (Lu, Hoi, Sahoo).

The letters are those of bomkc_rbp.py.
"""

import math

import numpy as np

from omkl.engine.api import any_of, compiled, discount_by, hinge, mistakes, sampling_share, smoothed
from omkl.engine.methods import Expansion, Stream, Trace


@compiled
def bomkc_spa(
    stream: Stream,
    E: Expansion,
    S: Expansion,
    w,
    n,
    trace: Trace,
    rng,
    learn,
    alpha,
    beta,
    eta,
    gamma,
    delta,
    discount,
    predict,
    normalise,
):
    """Sparse passive-aggressive learning on a budget: Algorithm 1 of Lu, Hoi, Sahoo.

    f, loss (m,) outputs and hinge losses   w (m,) Hedge weights, held at sum 1 (theta)   a (m,) coefficients
    p (m,) probability that a kernel is looked at, delta its smoothing   rho that the example is then added
    alpha / beta the largest rho   eta > 0 step   gamma in (0, 1) discount   n (1,) rounds learned from
    S the expansion of coefficients s a, s the round that added a: the mean of f_i over rounds 1..t, the
    classifier before learning in each, is sum_s a_s (t - s) / t kappa_i(x_s, .) = f_i - S_i / t
    Deviations: the indentation is ambiguous; every kernel's weight is discounted in every round, by its hinge
    loss, which gives the published table. Options that differ from print: discount=zero_one by mistakes;
    predict=votes combines the signs of the outputs (the code that the authors uploaded does both);
    predict=averaged combines the running means, at the cost of S; normalise=false does not divide the loss
    by kappa_i(x, x) (the authors' code). With more than two classes the loss is also divided by 2.
    """
    loss, a = np.empty(w.size), np.empty(w.size)
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        if predict == "averaged":
            s = S.outputs(stream, t)
            score = E.weighted_difference(S, w, f, s, n[0] + 1.0)
        elif predict == "votes":
            score = E.weighted_vote(w, f)
        else:
            score = E.weighted_output(w, f)
        trace.record(t, score, y, E)
        if not learn:
            continue
        n[0] += 1
        p = smoothed(sampling_share(w, "max"), delta, "delta")
        kxx = E.n_changed() * (E.self_kernels(t) if normalise else np.ones(w.size))
        for i in range(w.size):
            a[i], loss[i] = 0.0, hinge(y, f[i])
            rho = min(alpha, loss[i]) / beta
            if rng.random() < p[i] and rng.random() < rho:
                a[i] = y * min(eta / rho, _full_step(loss[i], kxx[i]))
        discount_by(w, gamma, loss if discount == "hinge" else 1.0 * mistakes(y, f))
        if any_of(a):
            E.add(stream, t, a)
            if predict == "averaged":
                S.add_beside(E, stream, t, a * n[0])


@compiled
def _full_step(loss, kxx):
    """The step after which the loss is 0, loss / kxx; kxx: kappa(x, x), or what stands for it."""
    return loss / kxx if kxx > 0.0 else math.inf
