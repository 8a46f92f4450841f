"""Budget online multiple kernel learning: budgeted passive-aggressive learners.

A component of online multiple kernel classification, as bomkc_rbp.py says, whose letters are used here.
"""

import math
from functools import partial

import numpy as np

from omkl.engine.api import compiled, compiled_without_refcounts, discount, hinge, mistakes
from omkl.engine.methods import Budget, Stream, Trace
from omkl.engine.slot_values import least_slots

_TOGETHER = 32  # slots whose costs stay in the first-level cache until they are compared
_LATER = np.iinfo(np.int64).max  # than any example's number


@compiled
def bomkc_bpas(stream: Stream, B: Budget, w, trace: Trace, learn, gamma, C, normalise):
    """Budgeted passive-aggressive "simple" (Wang and Vucetic 2010): the cheapest vector makes room.

    tau step   a_r coefficients, b_r = a_r kappa(x_r, x) / kappa(x, x) + y tau that of x in place of r
    cost_r = 1/2 ||change||^2 + C loss after it: that loss is the same for every r, and
    ||change||^2 = a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)) + tau^2 kappa(x, x)

    On rows of 0 and 1, terms cancel exactly and many costs tie, so rounding moves the counts. On the first
    5000 rows of a9a the learner makes 1129 mistakes, with f summed from left to right and costs without a
    sum. With other orders of summation, or with the whole cost of each r, it makes 1088 to 1139.

    Deviations: kappa(x, x) is taken for 1 with every kernel, as in the authors' code, unless `normalise`.
    With it polynomials of unscaled data multiply their coefficients by kappa again and again: these stay
    within range. Of equally cheap vectors the oldest goes, the first in the authors' list. With more than two
    classes tau is the loss over 2 kappa(x, x), and a_r^2 the sum over classes.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        k = B.kernel_values(t)
        kxx = B.self_kernels(t) if normalise else np.ones(f.size)
        cheapest = _cheapest(B, k, kxx, normalise)
        for i in range(f.size):
            loss = hinge(y, f[i])
            if loss == 0.0 or kxx[i] == 0.0 or kxx[i] == math.inf:
                continue
            tau = min(C, loss / (B.n_changed() * kxx[i]))
            if B.has_room(i):
                B.add(stream, t, i, B.used(i), tau * y)
            else:
                r = cheapest[i]
                before = B.held(r, i)
                B.add(stream, t, i, r, tau * y)
                B.put_more(r, i, before, k[r, i], kxx[i])


@compiled
def _cheapest(B, k, kxx, normalise):
    """r (m,): the slot with the least a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)), the oldest of
    several.
    """
    r, least, oldest = np.zeros(kxx.size, np.int64), np.full(kxx.size, np.inf), np.full(kxx.size, _LATER)
    cost = np.empty((_TOGETHER, kxx.size))
    _find_cheapest(*B.slots(), k, kxx, normalise, r, least, oldest, cost)
    return r


@partial(compiled_without_refcounts, error_model="numpy")
def _find_cheapest(A, own_kernels, born, k, kxx, normalise, r, least, oldest, cost):
    for first in range(0, len(A), _TOGETHER):
        stop = min(first + _TOGETHER, len(A))
        if normalise:
            for s in range(first, stop):
                for i in range(kxx.size):
                    cost[s - first, i] = A[s, i] * A[s, i] * (own_kernels[s, i] - k[s, i] * k[s, i] / kxx[i])
        else:
            _costs(A[first:stop].reshape(-1), k[first:stop].reshape(-1), cost.reshape(-1))
        least_slots(cost, born, first, stop, r, least, oldest)


@compiled_without_refcounts
def _costs(a, k, cost):
    """The costs where every kappa(x, x) is 1; flat arrays, for vector code."""
    for q in range(a.size):
        cost[q] = a[q] * a[q] * (1.0 - k[q] * k[q])
