"""The perceptron on the features."""

from numba import njit


@njit(cache=True)
def tiny(stream, v, trace, learn, eta):
    """v (d,) its weights    eta step size"""
    for t in range(stream.T):
        start, stop = stream.row(t)
        f = 0.0
        for j in range(start, stop):
            f += v[stream.indices[j]] * stream.values[j]
        y = stream.y[t]
        trace.record(t, f, y)
        if learn and y * f <= 0.0:
            for j in range(start, stop):
                v[stream.indices[j]] += eta * y * stream.values[j]
