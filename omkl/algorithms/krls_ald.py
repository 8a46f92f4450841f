"""Kernel recursive least squares: one with a dictionary (Engel, Mannor, Meir 2004)."""

import math

from omkl.engine.api import compiled, distance, grow, projection, solution, times
from omkl.engine.methods import Budget, Stream, Trace


@compiled
def krls_ald(stream: Stream, B: Budget, G, P, trace: Trace, learn, nu):
    """Kernel recursive least squares with a dictionary: Engel, Mannor, Meir (2004), Figure 1.

    Least squares over the span of the dictionary, which examples enter that are not nearly in the span.

    G factored Gram matrix K of the dictionary   beta = K^-1 k (a in the paper), delta squared distance of x
    from the span   P inverse of the sum of beta beta' over all examples   a coefficients (alpha)   e error
    Where delta > nu, and at the first x: a <- [a - beta e / delta; e / delta]
    else q = P beta / (1 + beta' P beta), P <- P - q beta' P, a <- a + K^-1 q e
    Deviations: with G in place of K^-1 the same products cost the same. A delta that is rounding is 0.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)[0]
        trace.record(t, f, y, B)
        kxx, n = B.self_kernels(t)[0], B.used(0)
        if not learn or kxx == math.inf:
            continue
        k, kss = B.kernel_values(t)[:n, 0].copy(), B.own_kernels(0)
        u, _, delta = distance(G, k, kxx, kss)
        beta = projection(G, k, kxx, kss, u)
        e = y - f
        if delta > nu or (n == 0 and delta > 0.0):
            B.move(0, -e / delta, beta)
            grow(G, u, delta)
            B.add(stream, t, 0, n, e / delta)
            P[n, :n], P[:n, n], P[n, n] = 0.0, 0.0, 1.0
        elif n > 0:
            B.move(0, e, solution(G, _gain(P[:n, :n], beta)))


@compiled
def _gain(P, beta):
    """q (n,), and P <- P - q beta' P in place: symmetric to the last bit, as q is P beta / c."""
    u, c = times(P, beta), 1.0
    for s in range(u.size):
        c += beta[s] * u[s]
    c = c if c > 0.0 else 1.0  # P is positive definite, but for one of a forged model
    for s in range(u.size):
        row = P[s]
        for q in range(u.size):
            row[q] -= (u[s] * u[q]) / c
    return u / c
