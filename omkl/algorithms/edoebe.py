"""Ensembles on random features of several kernels: E-DOEBE.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t, z_i . z_i = 1; P (m, 2D, 2D) one matrix for each
kernel, of which ``engine.rank_one`` makes a rank-one update a round; g (m, 2D) = P_i z_i.
"""

import math

import numpy as np

from omkl.engine.api import (
    compiled,
    discount_by,
    gains,
    hold,
    leave,
    linear_outputs,
    surprise,
    weighted_output,
)
from omkl.engine.methods import Features, Stream, Trace


@compiled
def edoebe(
    stream: Stream,
    F: Features,
    theta,
    P,
    last,
    beta,
    R,
    late,
    W,
    trace: Trace,
    learn,
    linear,
    drift,
    drifts,
    tau,
    taus,
    share,
):
    """An ensemble over kernels, drifts and noises, with nothing to tune: after E-DOEBE (Waxman and Djuric
    2024).

    The recursions of IE-GP, with every combination of a kernel, a drift and a variance of the noise as a
    member, and a share of the weights given back in each round.
    Members (l, k, i): drift l, noise k, kernel i, in this order; then those linear in [1; x]
    theta (members, 2D) posterior means   P their covariances   last what P is still to lose; beta, R, late
    the same of the linear members   mu, v mean and variance of a member's prediction   W their weights
    drift l of 0 .. drifts - 1 is 0 for l = 0, else drift / 10^(l - 1); noise k is tau / 10^k, k < taus
    w_i <- w_i N(y; mu_i, v_i), of sum 1, and of that (1 - share) w_i + share / members
    Reports -log N(y; f, variance) of the ensemble's prediction, and its variance.
    Deviations: v is at least the noise, and of linear members see `hold`: both hold but for rounding.
    """
    m, groups, members = F.z.shape[0], drifts * taus, W.size
    z, x = np.zeros(theta.shape), np.zeros(beta.shape)
    mu, v, surprises = np.zeros(members), np.zeros(members), np.zeros(members)
    line = v[m * groups :]
    for t in range(stream.T):
        y = stream.y[t]
        features = F.lift(stream, t)
        for k in range(groups):
            z[k * m : (k + 1) * m] = features
        g, h = np.zeros(z.shape), np.zeros(x.shape)
        for l in range(drifts):
            low, high, s = l * taus, (l + 1) * taus, _drift(drift, l)
            g[m * low : m * high] = _gains(P, last, z, m * low, m * high, s, learn)
            if linear:
                _fill(stream, t, x, low, high)
                h[low:high] = _gains(R, late, x, low, high, s, learn)
                line[low:high] = linear_outputs(x[low:high], h[low:high])
                hold(line[low:high], R[low:high], late[low:high], h[low:high], s, learn)
        mu[: m * groups], v[: m * groups] = linear_outputs(theta, z), linear_outputs(z, g)
        _add_noise(v[: m * groups], m, taus, tau)
        if linear:
            mu[m * groups :] = linear_outputs(beta, x)
            _add_noise(line, 1, taus, tau)
        f = weighted_output(W, mu)
        variance = weighted_output(W, v + np.square(mu - f))
        trace.record(t, f, y)
        trace.further[t, 0] = surprise(y - f, variance)
        trace.further[t, 1] = variance
        if not learn:
            continue
        for i in range(members):
            surprises[i] = surprise(y - mu[i], v[i])
        discount_by(W, math.exp(-1.0), surprises)
        for i in range(members):
            W[i] = (1.0 - share) * W[i] + share / members
        _move(theta, last, g, mu[: m * groups], v[: m * groups], y)
        if linear:
            _move(beta, late, h, mu[m * groups :], v[m * groups :], y)


@compiled
def _drift(drift, l):
    return 0.0 if l == 0 else drift / 10.0 ** (l - 1)


@compiled
def _gains(P, last, z, low, high, drift, keep):
    """`gains` of the members low .. high - 1."""
    return gains(P[low:high], last[low:high], z[low:high], drift, keep)


@compiled
def _fill(stream, t, x, low, high):
    """x_k <- [1; x_t]."""
    start, stop = stream.row(t)
    for k in range(low, high):
        x[k] = 0.0
        x[k, 0] = 1.0
        for j in range(start, stop):
            x[k, 1 + stream.indices[j]] = stream.values[j]


@compiled
def _add_noise(v, m, taus, tau):
    """Add its noise to the variance of each member, of m for each drift and noise."""
    for i in range(v.size):
        v[i] = max(v[i], 0.0) + tau / 10.0 ** ((i // m) % taus)


@compiled
def _move(theta, last, g, mu, v, y):
    for i in range(mu.size):
        step = (y - mu[i]) / v[i]
        for j in range(theta.shape[1]):
            theta[i, j] += step * g[i, j]
    leave(last, g, v)
