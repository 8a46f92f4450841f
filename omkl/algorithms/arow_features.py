"""AROW on random features: second order, with a memory that does not depend on the length of the stream.

Adaptive regularisation of weights (Crammer, Kulesza, Dredze 2009, Figure 1) on z = [c phi_1(x) .. c phi_m(x);
1; x / s], phi_i(x) = [sin V_i x; cos V_i x] / sqrt(D): what FOGD is to gradient descent.

Throughout: s the largest |x_j| so far, that of this example too, or 1   c the scale of the features
loss = max(0, 1 - y theta . z)   r > 0 regularisation   v = z . Sigma z + r
With more than two classes theta has a row for each, the margin is over the strongest rival alone, and all
classes share Sigma: the difference of two rows, whose covariance is 2 Sigma, takes AROW's step, and each of
the two half of it. So r is divided by 2, and two classes of the one form are those of the other with 2 r.
"""

import numpy as np

from omkl.engine.api import compiled, gains, hinge, hold, leave, linear_outputs
from omkl.engine.classes import margins, rounded_margins
from omkl.engine.methods import Features, Stream, Trace

# Margins, or differences of scores, that count as 0: steps for equal rows with both labels cancel up to
# rounding, which must not decide a mistake. Steps are of the size of the hinge loss, whose unit is 1.
ROUNDING = 1e-12


@compiled
def arow_features(
    stream: Stream,
    F: Features,
    theta,
    P,
    last,
    sigma,
    largest,
    trace: Trace,
    learn,
    r,
    c,
    full,
    linear,
    linear_scale,
):
    """AROW with a full matrix Sigma (n, n): P (1, n, n), of which the last step is still to be taken.

    Where it is not full, sigma (n,) is the diagonal of its update, as in the paper for text; P has no room.
    theta (C, 1, n), C = 1 for two classes   linear whether x is among the features
    largest (1,) of |x_j| learnt so far
    Deviations: none.
    """
    z = np.zeros((1, sigma.size))
    for t in range(stream.T):
        y = stream.y[t]
        s = _assemble(F, stream, t, c, linear, linear_scale, largest, z)
        f = _margin(F, theta, z, stream, t)
        trace.record(t, f, y, F)
        if not learn:
            continue
        largest[0] = max(largest[0], s)
        loss = hinge(y, f)
        if not loss > 0.0:
            continue
        if full:
            g = gains(P, last, z, 0.0, True)
            v = linear_outputs(z, g)
            hold(v, P, last, g, 0.0, True)
            v += r / F.n_changed()
            _step(F, theta, g[0], y * loss / F.n_changed() / v[0])
            leave(last, g, v)
        else:
            sigma_z = sigma * z[0]
            over = max(np.sum(sigma_z * z[0]), 0.0) + r / F.n_changed()
            _step(F, theta, sigma_z, y * loss / F.n_changed() / over)
            for j in range(sigma_z.size):
                sigma[j] = max(sigma[j] - sigma_z[j] * sigma_z[j] / over, 0.0)


@compiled
def _assemble(F, stream, t, c, linear, linear_scale, largest, z):
    """Fill z (1, n) with the features of round t; returns the largest |x_j|."""
    x, features = z[0], F.lift(stream, t)
    at = 0
    for i in range(features.shape[0]):
        for j in range(features.shape[1]):
            x[at] = c * features[i, j]
            at += 1
    x[at] = 1.0
    x[at + 1 :] = 0.0
    start, stop = stream.row(t)
    s = 0.0
    for k in range(start, stop):
        s = max(s, abs(stream.values[k]))
    scale = max(largest[0], s)
    scale = scale if linear_scale and scale > 0.0 else 1.0
    if linear:
        for k in range(start, stop):
            x[at + 1 + stream.indices[k]] = stream.values[k] / scale
    return s


@compiled
def _margin(F, theta, z, stream, t):
    """theta . z, or of the true class less that of its strongest rival; 0 where it is at most ROUNDING."""
    if F.classes is None:
        f = linear_outputs(theta[0], z)
        return f[0] if abs(f[0]) > ROUNDING else 0.0
    f = np.empty(1)
    for k in range(len(theta)):
        F.classes.scores[0, k] = linear_outputs(theta[k], z)[0]
    margins(F.classes, stream.label[t], f)
    rounded_margins(F.classes, np.full((1, len(theta)), 0.5), ROUNDING, f)
    return f[0]


@compiled
def _step(F, theta, g, a):
    """theta <- theta + a g, of two classes; else so for the true class, and less for its rival."""
    for k in range(len(theta)):
        step = a * F.direction(0, k, 1.0)
        if step != 0.0:
            for j in range(g.size):
                theta[k, 0, j] += step * g[j]
