"""Online multiple kernel learning (Jin, Hoi, Yang 2010), Algorithms 2-6 and equation (5).

Letters as in omkc.py, whose Algorithm 1 this paper's is; q (m,) = w / sum w, which is w here; R bound of the
norms; eta step size. Hedge with any losses: w_i beta^loss_i, divided by their sum, after the least loss has
been taken off all (a common factor). A kernel is drawn from p by one uniform number u: the first i with
u < p_1 + .. + p_i.
"""

import math

import numpy as np

from .omkc import bernoulli, omkc_dd, start
from .weights import RealWeights, Weights, hedge_by


def omklp_da1(X, y, kernels, *, beta, normalise="none", rng=None):
    """Algorithm 1 is Algorithm 1 of the OMKC paper."""
    return omkc_dd(X, y, kernels, beta=beta, normalise=normalise, rng=rng)


def multinomial(rng, p):
    u, total = rng.random(), 0.0
    for i in range(len(p)):
        total += p[i]
        if u < total:
            return i
    return len(p) - 1


def omklp_da2(X, y, kernels, *, beta, gamma, normalise="none", rng=None):
    """Algorithm 2: nu_i = z_i (1/2 + min(gamma, -y f_i)), w_i beta^nu_i."""
    E, _, every = start(X, y, kernels, normalise)
    W = RealWeights(E.m)
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = y[t] * f <= 0
        nu = [0.5 + min(gamma, -y[t] * f[i]) if z[i] else 0.0 for i in range(len(f))]
        W.discount(beta, nu)
        E.add(t, y[t] * z)
    return E.result(W.w)


def omklp_da1_doubling(X, y, kernels, *, normalise="none", rng=None):
    """Algorithm 1 with beta_k of equation (5). Segment k ends with the round in which the best kernel makes
    its 2^k-th mistake of the segment; then the weights restart at 1/m.
    """
    E, W, every = start(X, y, kernels, normalise)
    m, k, segment = E.m, 0, []
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = y[t] * f <= 0
        W.discount(2 ** (k / 2) / (math.sqrt(math.log(m)) + 2 ** (k / 2)), z)
        segment.append(z)
        if min(np.sum(segment, axis=0)) == 2**k:
            k, segment, W = k + 1, [], Weights(m)
        E.add(t, y[t] * z)
    return E.result(W.w)


def omklp_sua(X, y, kernels, *, beta, delta, normalise="none", rng):
    """Algorithm 3: only the kernel drawn from p = (1 - delta) q + delta/m moves; draw after predicting."""
    E, W, every = start(X, y, kernels, normalise)
    m = E.m
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        chosen = multinomial(rng, (1 - delta) * W.w + delta / m)
        z = (np.arange(m) == chosen) & (y[t] * f <= 0)
        W.discount(beta, z)
        E.add(t, y[t] * z)
    return E.result(W.w)


def omklp_mua(X, y, kernels, *, beta, delta, normalise="none", rng):
    """Algorithm 4: kernels with m_i ~ Bernoulli(p_i) move; p_1 = 1, then p_i = (1 - delta) q_i + delta."""
    E, W, every = start(X, y, kernels, normalise)
    p = np.ones(E.m)
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = bernoulli(rng, p) & (y[t] * f <= 0)
        W.discount(beta, z)
        p = (1 - delta) * W.w + delta
        E.add(t, y[t] * z)
    return E.result(W.w)


def mix(w, f):
    """sum_i w_i f_i in index order."""
    score = 0.0
    for w_i, f_i in zip(w, f, strict=True):
        score += w_i * f_i
    return score


def step_and_project(E, t, a, R):
    """f_i + a_i kappa_i(x_t, .), divided by max(1, ||f_i|| / R); ||f_i||^2 = sum_j a_ij f_i(x_j)."""
    E.add(t, a)
    for i in range(E.m):
        square = sum(column[i] * E.F[i, s] for s, column in zip(E.stored, E.columns, strict=True))
        divisor = max(1.0, math.sqrt(max(square, 0.0)) / R)
        E.F[i] = E.F[i] / divisor
        for column in E.columns:
            column[i] = column[i] / divisor


def omklo_da(X, y, kernels, *, beta, R, normalise="none", rng=None):
    """Algorithm 5: outputs are combined; in a mistake of the ensemble all kernels move."""
    E, W, every = start(X, y, kernels, normalise)
    w = W.w
    for t in range(len(y)):
        f = E.F[:, t]
        score = mix(w, f)
        E.record(score, y[t], every)
        if y[t] * score <= 0:
            w = hedge_by(w, beta, -y[t] * f)
            step_and_project(E, t, np.full(len(w), y[t]), R)
    return E.result(w)


def omklo_sua(X, y, kernels, *, beta, R, delta, eta, normalise="none", rng):
    """Algorithm 6: in a mistake of the ensemble one kernel, drawn from p, moves by eta / p_i.

    eta None: Theorem 10's, sqrt(a / b).
    """
    E, W, every = start(X, y, kernels, normalise)
    w = W.w
    m = len(w)
    if eta is None:
        a = R**2 / 2 + math.log(m) / math.log(1 / beta)
        b = math.log(1 / beta) * R**2 * m**2 / (2 * delta**2) + m / (2 * delta)
        eta = math.sqrt(a / b)
    for t in range(len(y)):
        f = E.F[:, t]
        score = mix(w, f)
        E.record(score, y[t], every)
        if y[t] * score <= 0:
            p = (1 - delta) * w + delta / m
            chosen = multinomial(rng, p)
            m_ = (np.arange(m) == chosen) / p
            w = hedge_by(w, beta, -eta * m_ * y[t] * f)
            step_and_project(E, t, eta * m_ * y[t], R)
    return E.result(w)
