"""Budget learners as components of multi-kernel learning.

Every round: predict, record, discount the weights by gamma where a kernel errs, update every kernel by the
single-kernel learner's rule. Slots are numbered in the order they were first filled.
"""

import math

import numpy as np

from .rounds import slots


def bomkc_rbp(X, y, kernels, *, budget, gamma, normalise="none", rng):
    """On d <= 0 append e; if full, overwrite a uniformly random slot: floor(u B)."""
    E = slots(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if d[i] <= 0 and E.full(i):
                E.replace(i, int(rng.random() * budget), t, e[i])
            elif d[i] <= 0:
                E.append(i, t, e[i])
    return E.finish()


def bomkc_forgetron(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """Self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008): append, shrink, drop the oldest.

    With more than two classes inner products are halved: ||e||^2 = 1, and mu is half a margin, of x_r's class
    and rival.
    """
    E = slots(X, y, kernels, normalise, budget)
    Q, M = [0.0] * E.m, [0] * E.m
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if d[i] > 0:
                continue
            M[i] += 1
            if not E.full(i):
                E.append(i, t, e[i])
                continue
            s = E.oldest[i]
            r, a_r = E.held[i][s], E.a[i][s]
            delta = np.max(np.abs(a_r))
            mu = E.along(a_r, E.value(i, r) + e[i] * E.kappa(i, t, r))  # of f' = f + e kappa(x_t, .) at x_r
            phi = largest_root(delta**2 - 2 * delta * mu, 2 * delta, Q[i] - 15 / 32 * M[i])
            Q[i] += (delta * phi) ** 2 + 2 * (delta * phi) * (1 - phi * mu)
            Q[i] = min(Q[i], 15 / 32 * M[i])  # true of the root; rounding must not break it
            E.scale(i, phi)
            E.replace_oldest(i, t, e[i] * phi)
    return E.finish()


def largest_root(a, b, c):
    """Largest phi in (0, 1] with a phi^2 + b phi + c <= 0; c < 0 < b, so all is well from 0 to a root."""
    if a + b + c <= 0:
        return 1.0
    return -2 * c / (b + math.sqrt(b * b - 4 * a * c))


def bomkc_bogd(X, y, kernels, *, budget, gamma, eta, lam, removal, clip, normalise="none", rng):
    """Every round all coefficients x (1 - eta lam); if d <= 1 append eta e, if full in place of one."""
    E = slots(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            E.scale(i, 1 - eta * lam)
            if d[i] > 1:
                continue
            if not E.full(i):
                E.append(i, t, eta * e[i])
            elif removal == "fifo":
                E.replace_oldest(i, t, eta * e[i])
            else:
                own = [math.sqrt(E.kappa(i, j, j)) for j in E.held[i]]
                norms = [E.length(a) * k for a, k in zip(E.a[i], own, strict=True)]
                p = {"uniform": [1 / budget] * budget, "nonuniform": removal_probabilities(norms)}[removal]
                s = draw(rng, p)
                E.a[i] = [a if j == s else a / (1 - p[j]) for j, a in enumerate(E.a[i])]
                if removal == "uniform":
                    E.a[i] = [np.clip(a, -eta * clip, eta * clip) for a in E.a[i]]
                E.replace(i, s, t, eta * e[i])
    return E.finish()


def removal_probabilities(norms):
    """p_j = 1 - s |a_j| sqrt(kappa_jj), s = (B - 1) / sum of the norms; negative ones 0, then sum 1."""
    B, total = len(norms), 0.0
    for n in norms:
        total += n
    if total == 0:
        return [1 / B] * B
    p = [max(1 - (B - 1) / total * n, 0.0) for n in norms]
    rest = 0.0
    for p_j in p:
        rest += p_j
    return [p_j / rest for p_j in p]


def draw(rng, p):
    """Index j with probability p_j: the first at which the running sum exceeds one uniform number."""
    u, running = rng.random(), 0.0
    for j, p_j in enumerate(p):
        running += p_j
        if u < running:
            return j
    return len(p) - 1


def bomkc_bpas(X, y, kernels, *, budget, gamma, C, normalise, pool_normalise="none", rng=None):
    """tau = min(C, loss / (||e||^2 kappa(x, x))); if full replace r by (x, b_r), b_r = a_r kappa(x_r, x) /
    kappa(x, x) + tau e, with the least 1/2 ||f_new - f||^2 + C loss of f_new. Without normalise every
    kappa(x, x) counts as 1. Losses up to 1e-9 are 0; coefficients stay within 1e100.

    f_new(x) = f(x) + tau e kappa(x, x), the same loss for every r, and (f_new - f) = b_r kappa(x, .) -
    a_r kappa(x_r, .) has the squared norm a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)) +
    tau^2 kappa(x, x): r has the least a_r^2 (...), in which rounding does not choose between ties, and of
    several it is the one that arrived first.
    """
    E = slots(X, y, kernels, pool_normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            loss = 1 - d[i]
            own = E.kappa(i, t, t) if normalise else 1.0
            if loss <= 1e-9 or own == 0:
                continue
            tau = min(C, loss / (E.sides * own))
            if not E.full(i):
                E.append(i, t, tau * e[i])
                continue
            k = [E.kappa(i, j, t) for j in E.held[i]]
            own_r = [E.kappa(i, j, j) if normalise else 1.0 for j in E.held[i]]
            costs = [passive_cost(a, k_r, o, own) for a, k_r, o in zip(E.a[i], k, own_r, strict=True)]
            costs = costs if E.sides == 1 else [c.sum() for c in costs]
            s = min(range(budget), key=lambda r, costs=costs, held=E.held[i]: (costs[r], held[r]))
            b = E.a[i][s] * k[s] / own + tau * e[i]
            E.replace(i, s, t, np.clip(b, -1e100, 1e100))
    return E.finish()


def passive_cost(a_r, k, own_r, own):
    """What of ||f_new - f||^2 depends on r."""
    return a_r * a_r * (own_r - k * k / own)
