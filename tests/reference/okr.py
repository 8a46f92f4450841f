"""Online kernel regression with one kernel, several (Sahoo, Hoi, Li 2014), and an ensemble over intervals."""

import math

import numpy as np

from .expansion import Expansions
from .features import hedged
from .kernels import pool_rows
from .losses import loss_of, slope_of
from .norma import rate


def learnt(E, t, keep, a):
    """f_i <- keep_i f_i + a_i kappa_i(x_t, .)."""
    E.F = E.F * keep[:, None]
    E.columns = [column * keep for column in E.columns]
    E.add(t, a, np.ones(len(a), bool))  # every example is stored


def okr(X, y, kernels, *, eta, step, lam, loss, normalise="none", rng=None):
    """One kernel, step eta, or 1 / sqrt(T); or eta / sqrt(t), with 1 for eta where there is none."""
    first = eta if eta is not None else 1 if step == "sqrt" else 1 / math.sqrt(len(y))
    E = Expansions(pool_rows(X, kernels, normalise), 1, len(y))
    for t in range(len(y)):
        f = E.F[0, t]
        E.record(f, y[t], [True])
        eta = rate(first, step, t)
        learnt(E, t, np.array([1 - eta * lam]), np.array([-eta * slope_of(loss, y[t], f)]))
    return E.result()


def omkr(X, y, kernels, *, eta, step, lam, beta, loss, normalise="none", rng=None):
    """Every kernel learns by itself; w_i <- w_i beta^loss_i."""
    first = eta
    m = len(kernels)
    E, w = Expansions(pool_rows(X, kernels, normalise), m, len(y)), [1 / m] * m
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(sum(w_i * f_i for w_i, f_i in zip(w, f, strict=True)), y[t], [True] * m)
        w = hedged(w, -math.log(beta), [loss_of(loss, y[t], f_i) for f_i in f])
        eta = rate(first, step, t)
        a = np.array([-eta * slope_of(loss, y[t], f_i) for f_i in f])
        learnt(E, t, np.full(m, 1 - eta * lam), a)
    return E.result(np.array(w))


def adamkl(X, y, kernels, *, eta0, lam, loss, levels, kept, normalise="none", rng=None):
    """OMKR on every interval of 2^j rounds, voting as AdaRaker's instances do; kept: as of `adaraker`."""
    m, rows = len(kernels), pool_rows(X, kernels, normalise)
    E = Expansions(lambda t: np.tile(rows(t), (levels, 1)), levels * m, len(y))
    w, log_h = [[1 / m] * m for _ in range(levels)], [None] * levels
    eta = [min(0.5, eta0 / math.sqrt(2**j)) for j in range(levels)]
    for t in range(1, len(y) + 1):
        n, target = min(t.bit_length(), levels), y[t - 1]
        new = [j for j in range(n) if t % 2**j == 0]
        f, out = [], []
        before = E.n_sv
        for j in range(n):
            own = slice(j * m, j * m + m)
            if j in new and kept:
                log_h[j] = math.log(eta[j])
            elif j in new:
                E.F[own], E.n_sv = 0, np.where(np.isin(np.arange(levels * m) // m, new), 0, E.n_sv)
                E.columns = [np.where(np.arange(levels * m) // m == j, 0.0, c) for c in E.columns]
                w[j], log_h[j] = [1 / m] * m, None
            out.append(E.F[own, t - 1].copy())
            f.append(sum(w_i * f_i for w_i, f_i in zip(w[j], out[j], strict=True)))
        voting = {j: log_h[j] for j in range(n) if log_h[j] is not None}
        vote = {j: math.exp(h - max(voting.values())) for j, h in voting.items()}
        score = sum(v * f[j] for j, v in vote.items()) / sum(vote.values()) if vote else 0.0
        after, E.n_sv = E.n_sv, before  # as they were before the round
        E.record(score, target, [True] * (levels * m))
        E.n_sv = after
        if n - 1 in new and not kept:  # the longest begins, and with it all
            E.stored, E.columns = [], []
        keep, a = np.ones(levels * m), np.zeros(levels * m)
        for j in range(n):
            r = loss_of(loss, target, score) - loss_of(loss, target, f[j])
            log_h[j] = math.log(eta[j]) if log_h[j] is None else log_h[j] + eta[j] * r
            w[j] = hedged(w[j], eta[j], [loss_of(loss, target, f_i) for f_i in out[j]])
            keep[j * m : j * m + m] = 1 - eta[j] * lam
            a[j * m : j * m + m] = [-eta[j] * slope_of(loss, target, f_i) for f_i in out[j]]
        learnt(E, t - 1, keep, a)
    return E.result()
