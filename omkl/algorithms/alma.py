"""Kernel perceptrons and ALMA: ALMA, a perceptron with a margin."""

import math

import numpy as np

from omkl.engine.api import compiled
from omkl.engine.methods import Expansion, Stream, Trace


@compiled
def alma(stream: Stream, E: Expansion, scale, norm2, k, trace: Trace, learn, alpha, C):
    """ALMA_2, the approximate maximal margin algorithm, with a kernel: Gentile (2001).

    Steps C / sqrt(k) on examples within the margin (1 - alpha) gamma_k, ||w|| <= 1.
    w = scale E and norm2 (1,) its squared norm; x^ = x / ||x||   k (1,) number of the next correction
    gamma_k = B / sqrt(k), B = sqrt(8) / alpha   alpha in (0, 1] accuracy of the margin; 1 makes it 0
    Deviations: x with kappa(x, x) = 0 has no x^; nothing is learnt from it.
    """
    B = math.sqrt(8.0) / alpha
    for t in range(stream.T):
        y = stream.y[t]
        wx = scale[0] * E.outputs(stream, t)[0]
        length = math.sqrt(E.self_kernels(t)[0])
        if length > 0.0:
            wx /= length
        trace.record(t, wx, y, E)
        if not learn or not length > 0.0 or y * wx > (1.0 - alpha) * B / math.sqrt(k[0]):
            continue
        eta = C / math.sqrt(k[0])
        norm2 += 2.0 * eta * y * wx + eta * eta
        E.add(stream, t, np.full(1, eta * y / (length * scale[0])))
        E.project(scale, norm2, 1.0)
        k[0] += 1
