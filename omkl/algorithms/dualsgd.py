"""The dual problem of support vector machines, online: dual space gradient descent."""

import numpy as np

from omkl.engine.api import compiled, gradient_step, linear_outputs, slope_of
from omkl.engine.methods import Budget, Features, Stream, Trace

SAME = 1e-9  # relative difference up to which coefficients are of the same size


@compiled
def dualsgd(stream: Stream, B: Budget, F: Features, theta, Z, number, T, trace: Trace, learn, k, lam, loss):
    """Stored vectors, of which the lightest move into random features: Le, Nguyen, Nguyen, Phung, "Dual space
    gradient descent for online learning" (2016), Algorithm 1, k-merging.

    f(x) = sum_s a_s kappa(x_s, x) + theta . z(x), of one Gaussian

    theta (1, 2D) the vectors that were moved   Z (budget, 2D) features of the stored ones, slot by slot
    In round t f is multiplied by (t - 1) / t and the example stored with -slope / (lambda t), lambda =
    lam / T in a pass of T rounds. Before that, in a full budget, the k vectors with the smallest |a| move
    into theta: a z(x_s) is added for each.   number (1,) rounds learnt so far
    Deviations: an example whose loss has no slope is not stored. Of coefficients equal up to rounding the
    oldest moves. The authors draw frequencies with 2 gamma in place of its root (variant=authors).
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = B.outputs(stream, t)[0] + linear_outputs(theta, z)[0]
        trace.record(t, f, y, B)
        if not learn:
            continue
        number[0] += 1
        keep = (number[0] - 1.0) / number[0]
        B.scale(0, keep)
        theta *= keep
        slope = slope_of(loss, y, f)
        if slope == 0.0:
            continue
        if not B.has_room(0):
            for _ in range(min(k, B.used(0))):
                _move(B, t, theta, Z, _lightest(B))
        Z[B.used(0)] = z[0]
        B.add(stream, t, 0, B.used(0), -slope * T[0] / (lam * number[0]))


@compiled
def _lightest(B):
    """The slot with the smallest |a|, the oldest of several."""
    size, born = np.abs(B.coefficients(0)), B.ages(0)
    least, best = size.min() * (1.0 + SAME), -1
    for s in range(size.size):
        if size[s] <= least and (best < 0 or born[s] < born[best]):
            best = s
    return best


@compiled
def _move(B, t, theta, Z, s):
    """Move the vector of slot s into theta; the last slot in use takes its number."""
    gradient_step(theta, Z[s : s + 1], -1.0, 0.0, B.coefficients(0)[s : s + 1])
    Z[s] = Z[B.used(0) - 1]
    B.remove(t, 0, s)
