"""ALMA_p (Gentile 2001) for p = 2 with a kernel: w = sum_i c_i x^_i, x^ = x / ||x||."""

import math

from .norma import Descent


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
