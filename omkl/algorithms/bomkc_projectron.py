"""Budget online multiple kernel learning: Projectrons.

A component of online multiple kernel classification, as bomkc_rbp.py says, whose letters are used here.
Projectron: G (m, slots, slots) factored Gram matrices; d (n,) coefficients of P kappa(x, .), the projection
of x on the span of the n stored vectors; residual its squared distance from x.
"""

import math

from omkl.engine.api import compiled, discount, distance, grow, hinge, mistakes, projection
from omkl.engine.methods import Budget, Stream, Trace


@compiled
def bomkc_projectron(stream: Stream, B: Budget, w, G, trace: Trace, learn, gamma):
    """Projectron: a mistake is stored while there is room, and projected on what is stored after that.

    Orabona, Keshet, Caputo, "Bounded kernel-based online learning" (2009).
    Deviations: the paper's eta, the distance from which on a mistake is stored, is 0 while there is room and
    infinite after that (as in the code of Lu et al. 2016). But an example with a residual of at most 1e-8
    kappa(x, x) is in the span already and is projected at once, since the inverse would grow to noise; and an
    output or coefficient that is rounding beside its terms is 0. The inverse is held as the factors L D L^T =
    K.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k, kxx = B.kernel_values(t), B.self_kernels(t)
        for i in range(f.size):
            if z[i] and kxx[i] < math.inf:
                n, kss = B.used(i), B.own_kernels(i)
                u, _, residual = distance(G[i], k[:n, i], kxx[i], kss)
                if B.has_room(i) and residual > 0.0:
                    grow(G[i], u, residual)
                    B.add(stream, t, i, n, y)
                else:
                    B.move(i, y, projection(G[i], k[:n, i], kxx[i], kss, u))


@compiled
def bomkc_projectronpp(stream: Stream, B: Budget, w, G, trace: Trace, learn, gamma):
    """Projectron++: also learns from margins below 1, by a projection where that is sure to help.

    Deviations: those of Projectron.
    tau = min(1, loss / norm2) step of a margin error, norm2 = ||P kappa(x, .)||^2
    U = 1/4 sqrt((budget + 1) / ln(budget + 1)) norm of the classifiers that it competes with: the step is
    taken if it goes nearer to all of these, tau (2 loss - tau norm2 - 2 U sqrt(residual)) >= 0
    With more than two classes norm2 and residual are doubled: two classes change.
    """
    n = B.budget() + 1.0
    U = 0.25 * math.sqrt(n / math.log(n))
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k, kxx = B.kernel_values(t), B.self_kernels(t)
        for i in range(f.size):
            loss = hinge(y, f[i])
            if kxx[i] == math.inf or not (z[i] or loss > 0.0):
                continue
            n, kss, step = B.used(i), B.own_kernels(i), 0.0
            u, norm2, residual = distance(G[i], k[:n, i], kxx[i], kss)
            if not z[i]:
                size2 = B.n_changed() * norm2
                tau = min(1.0, loss / size2) if size2 > 0.0 else 0.0
                if 2.0 * loss - tau * size2 >= 2.0 * U * math.sqrt(B.n_changed() * residual):
                    step = tau
            elif B.has_room(i) and residual > 0.0:
                grow(G[i], u, residual)
                B.add(stream, t, i, n, y)
            else:
                step = 1.0
            if step > 0.0:
                B.move(i, y * step, projection(G[i], k[:n, i], kxx[i], kss, u))
