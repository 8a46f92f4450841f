"""Ensembles on random features of several kernels: IE-GP.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t, z_i . z_i = 1; P (m, 2D, 2D) one matrix for each
kernel, of which ``engine.rank_one`` makes a rank-one update a round; g (m, 2D) = P_i z_i.
"""

import math

import numpy as np

from omkl.engine.api import compiled, discount_by, gains, leave, linear_outputs, surprise, weighted_output
from omkl.engine.methods import Features, Stream, Trace


@compiled
def iegp(stream: Stream, F: Features, theta, P, last, w, trace: Trace, learn, tau, drift):
    """Incremental ensemble of Gaussian processes (Lu, Karanikolas, Giannakis 2022), static and dynamic.

    theta (m, 2D) posterior means   P their covariances (Sigma), nu I at the start   drift what the diagonal
    of P gains in a round   mu, v (m,) mean and variance of kernel i's prediction   tau the noise's variance
    w (m,) weights, held at sum 1   Reports -log N(y; f, variance) of the ensemble's prediction, and this
    variance.
    Deviations: v is at least tau, as it is but for rounding.
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        g = gains(P, last, z, drift, learn)
        mu, v = linear_outputs(theta, z), np.maximum(linear_outputs(z, g), 0.0) + tau
        f = weighted_output(w, mu)
        variance = weighted_output(w, v + np.square(mu - f))
        trace.record(t, f, y)
        trace.further[t, 0] = surprise(y - f, variance)
        trace.further[t, 1] = variance
        if not learn:
            continue
        surprises = np.empty(w.size)
        for i in range(w.size):
            surprises[i] = surprise(y - mu[i], v[i])
        discount_by(w, math.exp(-1.0), surprises)
        for i in range(w.size):
            a, g_i, step = theta[i], g[i], (y - mu[i]) / v[i]
            for j in range(a.size):
                a[j] += step * g_i[j]
        leave(last, g, v)
