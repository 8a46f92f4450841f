"""`auto` of two classes with some of its members alone, to see what each kind adds."""

import numpy as np

from omkl.algorithms.auto import KERNELS, LINEAR, NU, WIDTHS, _learn, _lines, _moments
from omkl.engine.members import lift_row, scale_row
from omkl.engine.probit import excess
from omkl.engine.verbs import compiled


@compiled
def auto_parts(
    stream,
    F,
    mean,
    m2,
    seen,
    known,
    theta,
    P,
    last,
    beta,
    R,
    late,
    sigma,
    W,
    trace,
    learn,
    scaled,
    linear,
    drifts,
):
    """As `auto` (omkl/algorithms/auto.py); the members left out have no weight.

    scaled, linear, drifts: whether members on scaled features, linear ones, and those with a drift stay
    """
    d, D = mean.size, F.V.shape[1] // 2
    x, z, h = np.zeros((2, d)), np.zeros((KERNELS + 2, 2 * D)), np.zeros((LINEAR + 2, d + 1))
    new_mean, new_m2, new_known = np.zeros(d), np.zeros(d), np.zeros(3)
    mu, v = np.zeros(W.size), np.zeros(W.size)
    for t in range(stream.T):
        _keep(W, scaled, linear, drifts)
        scale_row(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        lift_row(F, stream, t, x, new_known, WIDTHS, NU, z)
        z[KERNELS], z[KERNELS + 1] = z[1], z[4]
        _lines(x, new_known[2], h)
        parts = (theta, P, last), (beta, R, late, sigma)
        g, k = _moments(parts, z, h, mu, v, learn)
        trace.record(t, excess(W, mu, v), stream.y[t])
        if learn:
            _learn(parts, W, g, k, mu, v, stream.y[t])
            mean[:], m2[:], known[:] = new_mean, new_m2, new_known
            seen[0] += 1


@compiled
def _keep(W, scaled, linear, drifts):
    """Divide the weights of the members that stay by their sum; the others' are as good as 0."""
    total = 0.0
    for i in range(W.size):
        j = i - KERNELS - 2  # of a linear member, from 0
        on_scaled = i in (3, 4, 5, 7) or j in (2, 3, 5)
        has_drift = i in (6, 7) or j in (4, 5)
        if (on_scaled and not scaled) or (j >= 0 and not linear) or (has_drift and not drifts):
            W[i] = 1e-300
        total += W[i]
    for i in range(W.size):
        W[i] /= total
