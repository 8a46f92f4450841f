"""Ensembles on random features of several kernels: Gaussian processes of classes.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t, z_i . z_i = 1; P (m, 2D, 2D) one matrix for each
kernel, of which ``engine.rank_one`` makes a rank-one update a round; g (m, 2D) = P_i z_i.
"""

import numpy as np

from omkl.engine.api import compiled, gains, hold, leave, linear_outputs
from omkl.engine.methods import Features, Stream, Trace
from omkl.engine.probit import excess, learn_label, move


@compiled
def egpc(
    stream: Stream, F: Features, theta, P, last, beta, R, late, W, trace: Trace, learn, linear, drift, share
):
    """An ensemble of Gaussian processes that classifies: a probit likelihood, by assumed-density filtering.

    The family of IE-GP with its Gaussian likelihood replaced: members are linear in features z_i of x_t, with
    theta_i ~ N(0, Sigma_i); the moments of the posterior after one label are those of a probit regression in
    one dimension (Minka 2001, section 3.2).
    z random features of the kernels, and [1; x] of a linear member   mu, v mean and variance of theta_i . z_i
    p_i = Phi(mu / sqrt(1 + v)) member i's probability of label +1, Phi the normal distribution; P = sum_i w_i
    p_i Predict with P > 1/2; then w_i <- w_i p_i(y), of sum 1, and of that (1 - share) w_i + share / members.
    theta (m, 2D), P (m, 2D, 2D) mean and covariance of each kernel's member, last what P is still to lose
    beta (1, d + 1), R, late the same of the linear member, where there is one   W (members,) the weights
    drift what the diagonal of every covariance gains in a round
    With more than two classes there are such an ensemble for each class c against all others, and their
    probabilities are divided by their sum: all have a first side (C,), C = 1 for two classes.
    Deviations: the score is P - 1/2, of which a sum of odd functions is 0 where no member knows anything.
    """
    x, mu, v = np.zeros((1, R.shape[-1])), np.zeros(W.shape[-1]), np.zeros(W.shape[-1])
    for t in range(stream.T):
        z = F.lift(stream, t)
        if linear:
            _row(stream, t, x[0])
        for c in range(len(theta)):
            kernels, line = (theta[c], P[c], last[c]), (beta[c], R[c], late[c])
            g, h = _moments(kernels, line, z, x, mu, v, linear, drift, learn)
            F.note_excess(c, excess(W[c], mu, v))
            if learn:
                _learn(kernels, line, W[c], g, h, mu, v, F.target(stream, t, c), linear, share)
        trace.record(t, F.margin_of_excesses(stream, t), stream.y[t], F)


@compiled
def _row(stream, t, x):
    """x <- [1; x_t]."""
    start, stop = stream.row(t)
    x[:] = 0.0
    x[0] = 1.0
    for k in range(start, stop):
        x[1 + stream.indices[k]] = stream.values[k]


@compiled
def _moments(kernels, line, z, x, mu, v, linear, drift, keep):
    """Fill mu and v (members,); returns P_i z_i (m, 2D) and the linear member's (1, d + 1).

    kernels, line: theta, P, last of the kernels, and beta, R, late
    """
    (theta, P, last), (beta, R, late), m = kernels, line, len(z)
    g = gains(P, last, z, drift, keep)
    mu[:m], v[:m] = linear_outputs(theta, z), linear_outputs(z, g)
    h = np.zeros(x.shape)
    if linear:
        h = gains(R, late, x, drift, keep)
        mu[m:], v[m:] = linear_outputs(beta, x), linear_outputs(x, h)
        hold(v[m:], R, late, h, drift, keep)
    for i in range(v.size):
        v[i] = max(v[i], 0.0)
    return g, h


@compiled
def _learn(kernels, line, w, g, h, mu, v, y, linear, share):
    """Learn label y: weights, means, and what the covariances lose in the next round."""
    m = len(g)
    step, divisor = learn_label(w, mu, v, y, share)
    move(kernels[0], step[:m], g)
    leave(kernels[2], g, divisor[:m])
    if linear:
        move(line[0], step[m:], h)
        leave(line[2], h, divisor[m:])
