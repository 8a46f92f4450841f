"""Online multiple kernel learning: OM-2."""

import math

import numpy as np

from omkl.engine.api import compiled
from omkl.engine.methods import Expansion, Stream, Trace

EPSILON = np.finfo(np.float64).eps  # all ||theta_j||^2 of OM-2 at the start


@compiled
def om2(stream: Stream, E: Expansion, u, norm2, trace: Trace, learn, p, aggressive):
    """OM-2, online multi-class multi-kernel learning with an l_p norm: Jie, Orabona, Fornoni, Caputo,
    Cesa-Bianchi (2010).

    f (m,) margins s_jy - s_jr, r the strongest rival of the weighted scores; for two classes the outputs s_j
    of the class +, of which those of the class - are the negatives, since an update adds eta for the true
    class and -eta for the other: margins are twice that (`margin_factor`)
    norm2 (m,) ||theta_j||^2 over both classes, less epsilon
    p in (1, 2], not a number for q = 2 ln m   q = p / (p - 1)
    u (m,) kernel weights, w in the paper; not of sum 1
    Deviations: q is at least 2, as the method needs; 2 ln m is below that for m = 1 and 2.
    """
    m = u.size
    q = max(2.0, 2.0 * math.log(m)) if math.isnan(p) else p / (p - 1.0)
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        score = E.weighted_output(u, f)
        trace.record(t, score, y, E)
        margin = E.margin_factor() * y * score
        if not learn or margin > (1.0 if aggressive else 0.0):
            continue
        eta = min(1.0, 1.0 - margin / m ** (2.0 / q)) if aggressive else 1.0
        f = E.unite(f)
        norm2 += 2.0 * E.margin_factor() * eta * y * f + 2.0 * eta * eta * E.self_kernels(t)
        E.add(stream, t, np.full(m, eta * y))
        E.count_once()
        u[:] = _weights(norm2, q)


@compiled
def _weights(norm2, q):
    """u_j (m,) = (n_j / ||theta||_{2,q})**(q - 2) / q, n_j = ||theta_j||; norms as shares of the largest."""
    square = np.maximum(norm2, 0.0) + EPSILON  # apart: in a large norm that cancels later it would vanish
    share = np.sqrt(square / square.max())
    return (share / (share**q).sum() ** (1.0 / q)) ** (q - 2.0) / q
