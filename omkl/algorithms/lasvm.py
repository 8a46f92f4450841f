"""The dual problem of support vector machines, online: LaSVM."""

import math

import numpy as np

from omkl.engine.api import LEAST_LOSS, compiled, hinge
from omkl.engine.methods import Budget, Stream, Trace

LEAST_GRADIENT = 1e-3  # below this no coordinate is worth a step
SAME = 1e-9  # relative difference up to which gradients, coefficients and their bounds are the same


@compiled
def lasvm(stream: Stream, B: Budget, g, label, trace: Trace, learn, C):
    """LaSVM, without bias: Bordes, Ertekin, Weston, Bottou, "Fast kernel classifiers with online and active
    learning" (2005). One process and one reprocess step a round; then what is of no use is forgotten.

    g (n,) gradients y_s - f(x_s) of the stored vectors, label (n,) their classes; a (n,) coefficients, with
    0 <= y_s a_s <= C. Process: an example with y f < 1 is stored with a = 0 and takes a step. A step adds
    g_s / kappa(x_s, x_s) to a_s, as far as its bounds allow. Reprocess: so does the stored vector with the
    largest |g_s| of those that may move that way, if it is at least 1e-3. Forgotten are vectors with a_s = 0
    and y_s f(x_s) >= 1.
    Deviations: the paper has a bias, and steps of pairs. An example that is stored already, in a second pass,
    is not stored again. Of gradients equal up to rounding the oldest vector's counts.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)[0]
        trace.record(t, f, y, B)
        if not learn:
            continue
        kxx, n = B.self_kernels(t)[0], B.used(0)
        if hinge(y, f) > 0.0 and 0.0 < kxx < math.inf and B.slot_of(stream, t, 0) < 0:
            k = np.append(B.kernel_values(t)[:n, 0], kxx)
            B.add(stream, t, 0, n, 0.0)
            g[n], label[n] = y - f, y
            _step(B, g, label, n, k, C)
        s = _steepest(B, g, label, C)
        if s >= 0:
            _step(B, g, label, s, B.gram_row(0, s), C)
        _forget(B, t, g, label)


@compiled
def _step(B, g, label, s, k, C):
    """Move vector s, whose kernel values with all are k (n,); what is within rounding of a bound is on it."""
    if not k[s] > 0.0:
        return  # in a forged model
    a, y = B.coefficients(0), label[s]
    alpha = y * (a[s] + g[s] / k[s])
    if not alpha > SAME * C:
        alpha = 0.0
    elif alpha >= (1.0 - SAME) * C:
        alpha = C
    change = y * alpha - a[s]
    a[s] = y * alpha
    for q in range(k.size):
        g[q] -= change * k[q]


@compiled
def _steepest(B, g, label, C):
    """The stored vector with the largest gradient of those that may move along it, -1 where none is large."""
    a, born, largest = B.coefficients(0), B.ages(0), LEAST_GRADIENT
    for s in range(a.size):
        if _may_move(a[s], g[s], label[s], C):
            largest = max(largest, abs(g[s]))
    best = -1
    for s in range(a.size):
        if abs(g[s]) >= (1.0 - SAME) * largest and _may_move(a[s], g[s], label[s], C):
            best = s if best < 0 or born[s] < born[best] else best
    return best


@compiled
def _may_move(a, g, y, C):
    """Whether y a stays within [0, C] in the direction of the gradient."""
    return y * a < C if y * g > 0.0 else y * a > 0.0


@compiled
def _forget(B, t, g, label):
    """Forget the vectors with a_s = 0 that are classified with a margin of 1."""
    a = B.coefficients(0)
    for s in range(a.size - 1, -1, -1):
        if a[s] == 0.0 and label[s] * g[s] <= LEAST_LOSS:
            last = B.used(0) - 1
            g[s], label[s] = g[last], label[last]
            B.remove(t, 0, s)
