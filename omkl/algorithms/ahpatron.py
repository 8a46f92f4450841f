"""Aggressive perceptrons in a ball, with a budget that is halved: Ahpatron, AVP, and AVP that projects.

Li and Liao, "Ahpatron: a new budgeted online kernel learning machine with tighter mistake bound" (2024,
arXiv 2312.07032), and the same authors' projection of vectors that are cheap to project (Opt-Sub-Algs).

Throughout: m kernels, one but for bomkc_ahpatron; f (m,) outputs; norm2 (m,) squared norms ||f_i||^2 (N^2);
U radius of the ball that they are held in; eps: an example is learnt where y f < 1 - eps; eta step (lambda).
Deviations: a margin that is short by rounding is not short. The papers suppose kappa(x, x) = 1; other values
stand in its place. Once coefficients are solutions, an output that is rounding beside its terms is 0.
"""

import math

import numpy as np

from omkl.engine.api import (
    LEAST_LOSS,
    compiled,
    discount,
    distance,
    factored,
    grow,
    is_mistake,
    mistakes,
    projection,
    solution,
    within_range,
)
from omkl.engine.methods import Budget, Expansion, Stream, Trace

SAME = 1e-9  # relative difference up to which two coefficients are of the same size


@compiled
def avp(stream: Stream, E: Expansion, scale, norm2, trace: Trace, learn, U, eta, eps):
    """AVP: Ahpatron without a budget.

    scale (1,) with f = scale E
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = scale[0] * E.outputs(stream, t)[0]
        trace.record(t, f, y, E)
        kxx = E.self_kernels(t)[0]
        if learn and _is_short(y, f, eps, kxx):
            E.add(stream, t, np.full(1, eta * y / scale[0]))
            norm2[0] += eta * (eta * (E.n_changed() * kxx) + 2.0 * y * f)
            E.project(scale, norm2, U)


@compiled
def ahpatron(stream: Stream, B: Budget, norm2, trace: Trace, learn, eta, eps, ridge):
    """Ahpatron: a full budget is folded into half of its vectors. U = sqrt(budget) / 2; see ``_learn``."""
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))
        trace.record(t, f[0], y, B)
        if learn:
            _learn(B, stream, t, 0, norm2, y, f[0], B.self_kernels(t)[0], eta, eps, ridge)


@compiled
def bomkc_ahpatron(stream: Stream, B: Budget, norm2, w, trace: Trace, learn, gamma, eta, eps, ridge):
    """Ahpatron as a component of online multiple kernel classification, as in bomkc_rbp.py.

    w (m,) Hedge weights   gamma in (0, 1) their discount
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        kxx = B.self_kernels(t)
        for i in range(f.size):
            _learn(B, stream, t, i, norm2, y, f[i], kxx[i], eta, eps, ridge)


@compiled
def _is_short(y, f, eps, kxx):
    """Whether y f < 1 - eps, of an example that can be stored."""
    return 1.0 - eps - y * f > LEAST_LOSS and kxx < math.inf


@compiled
def _learn(B, stream, t, i, norm2, y, f, kxx, eta, eps, ridge):
    """f_i <- f_i + eta y kappa_i(x, .) on a short margin, then into the ball of radius U."""
    if not _is_short(y, f, eps, kxx):
        return
    if not B.has_room(i):
        _fold(B, t, i, norm2, ridge)
        f = B.output_again(t, i)
    B.add(stream, t, i, B.used(i), eta * y)
    norm2[i] = within_range(norm2[i] + eta * (eta * (B.n_changed() * kxx) + 2.0 * y * f))
    _into_ball(B, i, norm2, math.sqrt(B.budget()) / 2.0)


@compiled
def _into_ball(B, i, norm2, U):
    norm2[i] = max(norm2[i], 0.0)
    if norm2[i] > U * U:
        B.scale(i, U / math.sqrt(norm2[i]))
        norm2[i] = U * U


@compiled
def _fold(B, t, i, norm2, ridge):
    """Keep half of kernel i's vectors, and fold the others into them.

    L the first half of those with |a| >= median |a|, R the rest: a_L += (K_LL + r I)^-1 K_LR a_R, r the
    ridge; then a_L is scaled so that the norm is as before.
    """
    a, K = B.columns(i), B.gram(i)
    kept, rest = _halves(B.sizes(i), B.ages(i))
    K_LL, b, a_L = np.empty((kept.size, kept.size)), np.zeros((kept.size, a.shape[1])), a[kept]
    for p in range(kept.size):
        row = K[kept[p]]
        for q in range(kept.size):
            K_LL[p, q] = row[kept[q]]
        for s in rest:
            for c in range(a.shape[1]):
                b[p, c] += row[s] * a[s, c]
        K_LL[p, p] += ridge
    G, size2 = factored(K_LL), 0.0
    for c in range(a.shape[1]):
        a_L[:, c] += solution(G, b[:, c].copy())
        for p in range(kept.size):
            for q in range(kept.size):
                size2 += a_L[p, c] * (K[kept[p], kept[q]] * a_L[q, c])
    if not 0.0 < size2 < math.inf:
        size2, norm2[i] = 1.0, 0.0
    for p in range(kept.size):
        for c in range(a.shape[1]):
            a[kept[p], c] = within_range(a_L[p, c] * math.sqrt(norm2[i] / size2))
    for s in rest[::-1]:
        B.remove(t, i, s)


@compiled
def _halves(size, born):
    """Slots of the first half (in order of age) of those of at least the median size, and the other slots.

    Sizes that differ by rounding are the same.
    """
    least = np.median(size) * (1.0 - SAME)
    order, keep = np.argsort(born), np.zeros(size.size, np.bool_)
    left = size.size // 2
    for s in order:
        if left > 0 and size[s] >= least:
            keep[s] = True
            left -= 1
    kept = np.empty(size.size // 2, np.int64)
    n = 0
    for s in order:
        if keep[s]:
            kept[n] = s
            n += 1
    return kept[:n], np.flatnonzero(~keep)  # n is half of them, but where the median overflows


@compiled
def avp_ogs(stream: Stream, B: Budget, G, norm2, change, T, trace: Trace, learn, U, eps, c):
    """AVP that projects an example on the stored ones where that costs little, T rounds in all.

    G factored Gram matrix of the stored vectors   beta = K^-1 k, the coefficients of the projection
    change (1,) Delta: 1 and the squared norms of what was learnt from mistakes
    eta = c U / sqrt(U^2 + Delta)
    An example within the squared distance 100 / T of the span is projected, and one whose kappa(x, x) is 0
    always, since it would leave K without an inverse. As K is symmetric, beta' K a =
    k . a = f and beta' K beta = k . beta, the squared norm of the projection.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))[0]
        trace.record(t, f, y, B)
        kxx, n = B.self_kernels(t)[0], B.used(0)
        if not (learn and _is_short(y, f, eps, kxx)):
            continue
        k, kss = B.kernel_values(t)[:n, 0].copy(), B.own_kernels(0)
        u, size2, residual = distance(G, k, kxx, kss)
        projects = (n > 0 or kxx == 0.0) and residual <= 100.0 / T[0]
        size2 = size2 if projects else kxx
        if is_mistake(y, f):
            change[0] = within_range(change[0] + size2)
        eta = c * U / math.sqrt(U * U + change[0])
        if projects:
            B.move(0, eta * y, projection(G, k, kxx, kss, u))
        else:
            grow(G, u, residual)
            B.add(stream, t, 0, n, eta * y)
        norm2[0] = within_range(norm2[0] + eta * (eta * size2 + 2.0 * y * f))
        _into_ball(B, 0, norm2, U)
