"""Ensembles on random features of several kernels: two levels of VAW.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t, z_i . z_i = 1; P (m, 2D, 2D) one matrix for each
kernel, of which ``engine.rank_one`` makes a rank-one update a round; g (m, 2D) = P_i z_i.
"""

import numpy as np

from omkl.engine.api import compiled, gains, leave, linear_outputs
from omkl.engine.methods import Features, Stream, Trace


@compiled
def vaw2(stream: Stream, F: Features, b, P, last, b2, P2, last2, trace: Trace, learn):
    """Two levels of the Vovk-Azoury-Warmuth forecaster (arXiv 2503.20087): of features, then of kernels.

    A forecaster's prediction is z . (lam I + sum_{s <= t} z_s z_s')^-1 b, b = sum_{s < t} y_s z_s: the
    current z counts before y is known. P, P2 the inverses without it: first level on z, second on p (1, m),
    the predictions of the first.   c (m,) = 1 + z_i . g_i, so that the inverse with z is P_i - g_i g_i' / c_i
    Deviations: none.
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        g = gains(P, last, z, 0.0, learn)
        c = 1.0 + np.maximum(linear_outputs(z, g), 0.0)
        p = np.empty(b2.shape)
        p[0] = linear_outputs(g, b) / c
        g2 = gains(P2, last2, p, 0.0, learn)
        c2 = 1.0 + np.maximum(linear_outputs(p, g2), 0.0)
        trace.record(t, linear_outputs(g2, b2)[0] / c2[0], y)
        if learn:
            _take(b, y, z)
            _take(b2, y, p)
            leave(last, g, c)
            leave(last2, g2, c2)


@compiled
def _take(b, y, z):
    """b <- b + y z."""
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += y * z[i, j]
