"""Gradient descent with several kernels: ridge regression on random features of one.

z (1, 2D) features of x_t; theta (1, 2D) parameters, f = theta . z; lam > 0 regularisation.
"""

from omkl.engine.api import compiled, linear_outputs, times
from omkl.engine.methods import Features, Stream, Trace


@compiled
def ridge_features(stream: Stream, F: Features, theta, P, trace: Trace, learn, lam):
    """Recursive ridge regression on one kernel's random features: the baseline for gradient descent on them.

    theta (1, 2D) = P sum_s y_s z_s   P (2D, 2D) the inverse of lam I + sum_s z_s z_s', I / lam at the start
    k (2D,) gain
    """
    n = P.shape[0]
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = linear_outputs(theta, z)
        trace.record(t, f[0], y)
        if not learn:
            continue
        k, b = times(P, z[0]), 1.0
        for i in range(n):
            b += k[i] * z[0, i]
        b = b if b > 0.0 else 1.0  # P is positive definite, but for one of a forged model
        step = (y - f[0]) / b
        for i in range(n):
            theta[0, i] += step * k[i]
            P[i] -= k[i] / b * k
