"""Budget online multiple kernel learning: bounded gradient descent.

A component of online multiple kernel classification, as bomkc_rbp.py says, whose letters are used here.
"""

import numpy as np

from omkl.engine.api import LARGEST_COEFFICIENT, compiled, discount, mistakes, multinomial, within_range
from omkl.engine.methods import Budget, Stream, Trace


@compiled
def bomkc_bogd(stream: Stream, B: Budget, w, trace: Trace, rng, learn, gamma, eta, lam, removal, clip):
    """Bounded online gradient descent (Zhao, Wang, Wu, Jin, Hoi 2012) on the hinge loss, lam/2 ||f||^2.

    eta step size   p (slots,) probabilities of removal   clip bound of |a| in steps (gamma in that paper)
    Deviations: removal=fifo drops the oldest vector, without rescaling or clipping, as the BOMKL authors did.
    uniform and nonuniform are the paper's: survivors are divided by 1 - p_s; uniform clips.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        B.scale_all(1.0 - eta * lam)
        for i in range(f.size):
            if y * f[i] > 1.0:
                continue
            if removal == "fifo" or B.has_room(i):
                B.add_over_oldest(stream, t, i, eta * y)
                continue
            a = B.columns(i)
            p = _removal_probabilities(B.sizes(i), B.own_kernels(i), removal)
            s = multinomial(rng, p)
            for j in range(p.size):
                for c in range(a.shape[1]):
                    if j != s and p[j] < 1.0:
                        a[j, c] = within_range(a[j, c] / (1.0 - p[j]))
                    if removal == "uniform":
                        a[j, c] = min(max(a[j, c], -eta * clip), eta * clip)
            B.add(stream, t, i, s, eta * y)


@compiled
def _removal_probabilities(size, kss, removal):
    """p (slots,): 1 / B each, or 1 - (B - 1) |a_s| sqrt(kappa_ss) / sum_j |a_j| sqrt(kappa_jj); size: |a|.

    Deviations: where the second is negative it is 0, and the others are scaled to the sum 1 again.
    """
    norm = size * np.sqrt(np.minimum(kss, LARGEST_COEFFICIENT))
    if removal == "uniform" or norm.sum() == 0.0:
        return np.full(size.size, 1.0 / size.size)
    p = np.maximum(1.0 - (size.size - 1) / norm.sum() * norm, 0.0)
    return p / p.sum()
