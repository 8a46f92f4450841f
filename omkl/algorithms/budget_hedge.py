"""Budget kernel learners as components of online multiple kernel classification: Lu et al., section 4.3.

Every kernel is updated in every round by the same single-kernel learner, with a budget of its own; the
prediction is Hedge's weighted vote. With a pool of one kernel they are the single-kernel learners.

Throughout: m kernels; B the classifiers, at most `budget` stored vectors in each, kernel i's in slots s;
f (m,) outputs f_i(x_t); z (m,) true where kernel i errs; w (m,) Hedge weights; gamma in (0, 1) their
discount; a coefficients; k (slots, m) kernel values kappa_i(x_s, x_t).
"""

import math
from functools import partial

import numpy as np

from omkl.engine.api import (
    LARGEST_COEFFICIENT,
    compiled,
    compiled_without_refcounts,
    discount,
    hinge,
    mistakes,
    multinomial,
    within_range,
)
from omkl.engine.methods import Budget, Stream, Trace
from omkl.engine.slot_values import least_slots

_TOGETHER = 32  # slots whose costs stay in the first-level cache until they are compared
_LATER = np.iinfo(np.int64).max  # than any example's number


@compiled
def bomkc_rbp(stream: Stream, B: Budget, w, trace: Trace, rng, learn, gamma):
    """Randomised budget perceptron (Cavallanti, Cesa-Bianchi, Gentile 2007): a random vector makes room."""
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        for i in range(f.size):
            if z[i]:
                s = B.used(i) if B.has_room(i) else int(rng.random() * B.budget())
                B.add(stream, t, i, s, y)


@compiled
def bomkc_forgetron(stream: Stream, B: Budget, w, Q, M, H, trace: Trace, learn, gamma):
    """Self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008, section 5): shrink, then drop the oldest.

    Q (m,) damage of all removals   M (m,) mistakes   r the oldest vector's slot, s that of the new one
    H (m, slots, slots) kernel values: H[i, s] of the vector in slot s with those that were stored before it
    delta = |a_r|, mu = y_r f'(x_r) with f' after the addition   phi factor, the largest in (0, 1] with
    (delta^2 - 2 delta mu) phi^2 + 2 delta phi + Q - (15/32) M <= 0
    Deviations: polynomials are shrunk by the same rule, although it supposes kappa(x, x) <= 1. With more than
    two classes a vector is added to y_r and taken from its rival. Inner products are halved, so that its norm
    stays kappa(x, x): mu is half the margin.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k = B.kernel_values(t)
        for i in range(f.size):
            if not z[i]:
                continue
            M[i] += 1
            phi, s = 1.0, B.used(i)
            if not B.has_room(i):
                r = s = B.oldest_slot(i)
                delta = _largest(B.columns(i)[r])
                mu = within_range(_margin_at_oldest(B, H[i], i, y, k[r, i]))
                phi = _shrinking(delta * delta - 2.0 * delta * mu, 2.0 * delta, Q[i] - 15.0 / 32.0 * M[i])
                damage = delta * phi
                Q[i] += damage * damage + 2.0 * damage * (1.0 - phi * mu)
                Q[i] = min(Q[i], 15.0 / 32.0 * M[i])  # as it is but for rounding
                if phi < 1.0:
                    B.scale(i, phi)
            for q in range(B.used(i)):
                H[i, s, q] = k[q, i]
            B.add_over_oldest(stream, t, i, y * phi)


@compiled
def _largest(a):
    """The largest |a_c| of a vector's coefficients in all classes."""
    largest = 0.0
    for c in range(a.size):
        largest = max(largest, abs(a[c]))
    return largest


@compiled
def _margin_at_oldest(B, H, i, y, k):
    """y_r f_i' at kernel i's own oldest vector x_r, f' = f + y kappa(x, .), k = kappa(x_r, x).

    Every other vector was stored later, and knows its kernel value with x_r.
    """
    r, margin, a = B.oldest_slot(i), 0.0, B.columns(i)
    own = B.own_kernels(i)[r]
    for c in range(a.shape[1]):
        if a[r, c] == 0.0:
            continue
        total = 0.0
        for s in range(len(a)):
            total += a[s, c] * (H[s, r] if s != r else own)
        margin += math.copysign(1.0, a[r, c]) * (total + B.direction(i, c, y) * k)
    return margin / B.sides()


@compiled
def _shrinking(a, b, c):
    """The largest phi in (0, 1] with a phi^2 + b phi + c <= 0, where b > 0; c < 0 but in a forged model."""
    if a + b + c <= 0.0 or not c < 0.0:
        return 1.0
    return -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))


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
def _removal_probabilities(size, own, removal):
    """p (slots,): 1 / B each, or 1 - (B - 1) |a_s| sqrt(kappa_ss) / sum_j |a_j| sqrt(kappa_jj); size: |a|.

    Deviations: where the second is negative it is 0, and the others are scaled to the sum 1 again.
    """
    norm = size * np.sqrt(np.minimum(own, LARGEST_COEFFICIENT))
    if removal == "uniform" or norm.sum() == 0.0:
        return np.full(size.size, 1.0 / size.size)
    p = np.maximum(1.0 - (size.size - 1) / norm.sum() * norm, 0.0)
    return p / p.sum()


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
        own = B.self_kernels(t) if normalise else np.ones(f.size)
        cheapest = _cheapest(B, k, own, normalise)
        for i in range(f.size):
            loss = hinge(y, f[i])
            if loss == 0.0 or own[i] == 0.0 or own[i] == math.inf:
                continue
            tau = min(C, loss / (B.sides() * own[i]))
            if B.has_room(i):
                B.add(stream, t, i, B.used(i), tau * y)
            else:
                r = cheapest[i]
                before = B.held(r, i)
                B.add(stream, t, i, r, tau * y)
                B.put_more(r, i, before, k[r, i], own[i])


@compiled
def _cheapest(B, k, own, normalise):
    """r (m,): the slot with the least a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)), the oldest of
    several.
    """
    r, least, oldest = np.zeros(own.size, np.int64), np.full(own.size, np.inf), np.full(own.size, _LATER)
    cost = np.empty((_TOGETHER, own.size))
    _find_cheapest(*B.slots(), k, own, normalise, r, least, oldest, cost)
    return r


@partial(compiled_without_refcounts, error_model="numpy")
def _find_cheapest(A, own_kernels, born, k, own, normalise, r, least, oldest, cost):
    for first in range(0, len(A), _TOGETHER):
        stop = min(first + _TOGETHER, len(A))
        if normalise:
            for s in range(first, stop):
                for i in range(own.size):
                    cost[s - first, i] = A[s, i] * A[s, i] * (own_kernels[s, i] - k[s, i] * k[s, i] / own[i])
        else:
            _costs(A[first:stop].reshape(-1), k[first:stop].reshape(-1), cost.reshape(-1))
        least_slots(cost, born, first, stop, r, least, oldest)


@compiled_without_refcounts
def _costs(a, k, cost):
    """The costs where every kappa(x, x) is 1; flat arrays, for vector code."""
    for q in range(a.size):
        cost[q] = a[q] * a[q] * (1.0 - k[q] * k[q])
