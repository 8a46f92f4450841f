"""Ensembles on random features of several kernels: Gaussian processes, two levels of VAW, and OMKL-GF.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t, z_i . z_i = 1; P (m, 2D, 2D) one matrix for each
kernel, of which ``engine.rank_one`` makes a rank-one update a round; g (m, 2D) = P_i z_i.
"""

import math

import numpy as np

from omkl.engine.api import (
    any_of,
    compiled,
    discount_by,
    gains,
    gradient_step,
    hold,
    leave,
    linear_outputs,
    weighted_output,
)
from omkl.engine.methods import Features, Stream, Trace
from omkl.engine.probit import excess, learn_label, move

SETTLED = 1e-4  # squared error below which the authors' code of OMKL-GF draws no more


@compiled
def iegp(stream: Stream, F: Features, theta, P, last, w, trace: Trace, learn, tau, drift):
    """Incremental ensemble of Gaussian processes (Lu, Karanikolas, Giannakis 2022), static and dynamic.

    theta (m, 2D) posterior means   P their covariances (Sigma), nu I at the start   drift what the diagonal
    of P gains in a round   mu, v (m,) mean and variance of kernel i's prediction   tau the noise's variance
    w (m,) weights, held at sum 1   Reports -log N(y; f, variance) of the ensemble's prediction, and this
    variance.
    Deviations: v is at least tau, as it is but for rounding.
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        g = gains(P, last, z, drift, learn)
        mu, v = linear_outputs(theta, z), np.maximum(linear_outputs(z, g), 0.0) + tau
        f = weighted_output(w, mu)
        variance = weighted_output(w, v + np.square(mu - f))
        trace.record(t, f, y)
        trace.further[t, 0] = _surprise(y, f, variance)
        trace.further[t, 1] = variance
        if not learn:
            continue
        surprise = np.empty(w.size)
        for i in range(w.size):
            surprise[i] = _surprise(y, mu[i], v[i])
        discount_by(w, math.exp(-1.0), surprise)
        for i in range(w.size):
            a, g_i, step = theta[i], g[i], (y - mu[i]) / v[i]
            for j in range(a.size):
                a[j] += step * g_i[j]
        leave(last, g, v)


@compiled
def _surprise(y, mu, v):
    """-log N(y; mu, v)."""
    return 0.5 * (math.log(2.0 * math.pi * v) + (y - mu) * (y - mu) / v)


@compiled
def vaw2(stream: Stream, F: Features, b, P, last, b2, P2, last2, trace: Trace, learn):
    """Two levels of the Vovk-Azoury-Warmuth forecaster (arXiv 2503.20087): of features, then of kernels.

    A forecaster's prediction is z . (lam I + sum_{s <= t} z_s z_s')^-1 b, b = sum_{s < t} y_s z_s: the
    current z counts before y is known. P, P2 the inverses without it: first level on z, second on p (1, m),
    the predictions of the first.   c (m,) = 1 + z_i . g_i, so that the inverse with z is P_i - g_i g_i' / c_i
    Deviations: none.
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        g = gains(P, last, z, 0.0, learn)
        c = 1.0 + np.maximum(linear_outputs(z, g), 0.0)
        p = np.empty(b2.shape)
        p[0] = linear_outputs(g, b) / c
        g2 = gains(P2, last2, p, 0.0, learn)
        c2 = 1.0 + np.maximum(linear_outputs(p, g2), 0.0)
        trace.record(t, linear_outputs(g2, b2)[0] / c2[0], y)
        if learn:
            _take(b, y, z)
            _take(b2, y, p)
            leave(last, g, c)
            leave(last2, g2, c2)


@compiled
def _take(b, y, z):
    """b <- b + y z."""
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += y * z[i, j]


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
    mu, v, surprise = np.zeros(members), np.zeros(members), np.zeros(members)
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
        trace.further[t, 0] = _surprise(y, f, variance)
        trace.further[t, 1] = variance
        if not learn:
            continue
        for i in range(members):
            surprise[i] = _surprise(y, mu[i], v[i])
        discount_by(W, math.exp(-1.0), surprise)
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


@compiled
def omkl_gf(
    stream: Stream,
    F: Features,
    theta,
    w,
    number,
    chosen,
    q,
    settled,
    trace: Trace,
    rng,
    learn,
    draws,
    lam,
    variant,
):
    """Multi-kernel learning that looks at some kernels only: OMKL-GF of Ghari and Shen (2020) with J = 1.

    `draws` kernels (M), drawn with replacement, predict and learn   number (1,) rounds learnt so far
    theta (m, 2D) parameters   w (m,) weights, held at sum 1
    eta = 1 / sqrt(t), the share of uniform draws and the step   p (m,) probabilities of a draw, (1 - eta) w +
    eta / m   chosen (m,) 1 where a kernel is drawn   q (m,) probability of that, 1 - (1 - p)^draws
    theta_i <- theta_i - eta (2 (f_i - y) z_i + 2 lam theta_i), w_i <- w_i exp(-eta (loss_i + lam
    ||theta_i||^2) / q_i) of the new theta_i
    Deviations: variant=authors has two slips of their code. Their search for the drawn kernel ends one
    further (but not behind the last), so that kernel 0 never is drawn; and after the first squared error
    below 1e-4 (settled (1,)) the kernels and q stay as they are.
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = linear_outputs(theta, z)
        eta = 1.0 / math.sqrt(number[0] + 1.0)
        now, odds = chosen.copy(), q.copy()
        if settled[0] == 0 or not any_of(chosen):  # none is chosen only in a forged model
            p = (1.0 - eta) * w + eta / w.size
            now[:] = 0
            for _ in range(draws):
                now[_drawn(rng, p, variant)] = 1
            for i in range(w.size):
                odds[i] = 1.0 - (1.0 - p[i]) ** draws
        total, score = 0.0, 0.0
        for i in range(w.size):
            if now[i]:
                total += w[i]
                score += w[i] * f[i]
        score /= total
        trace.record(t, score, y)
        if not learn:
            continue
        number[0] += 1
        chosen[:], q[:] = now, odds
        loss = np.zeros(w.size)
        for i in range(w.size):
            if now[i]:
                theta_i = theta[i : i + 1]
                gradient_step(theta_i, z[i : i + 1], eta, 2.0 * lam, np.full(1, 2.0 * (f[i] - y)))
                loss[i] = eta * ((f[i] - y) * (f[i] - y) + lam * linear_outputs(theta_i, theta_i)[0]) / q[i]
        discount_by(w, math.exp(-1.0), loss)
        if variant == "authors" and (score - y) * (score - y) < SETTLED:
            settled[0] = 1


@compiled
def _drawn(rng, p, variant):
    """One kernel, by one uniform number: the first whose cumulated probability is not below it."""
    u, cumulated, i = rng.random(), p[0], 0
    while u > cumulated and i < p.size - 1:
        i += 1
        cumulated += p[i]
    return min(i + 1, p.size - 1) if variant == "authors" else i
