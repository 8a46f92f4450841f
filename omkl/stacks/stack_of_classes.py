"""A stack: probit learners on the margins of an ensemble's members.

A Bayes mixture converges to the best member; these learn what the members know together.

Throughout: C functions, one for each class against all others, C = 1 for two classes; k members
M (C, k) the members' margins   z (C, k) what the stack sees of them: `scaled_margins`
S learners, one for each pair of VARIANCES and DRIFTS: learner s answers Phi((mean_i z_i + eta_s . x_s) /
sqrt(1 + v)), x_s = sqrt(variance_s) [z; 1]. eta_s ~ N(0, I) at first, learns as the members of probit.py, and
its covariance gains drift_s / variance_s on its diagonal in each round.
One more is the Bayes mixture of the members, each by itself such a learner: z_i + tau_i . [z_i; sqrt(0.1)].
The answer is the mixture of all S + 1 by the weights W. All functions share learners and weights, and teach
them one after the other.
"""

import math

import numpy as np

from omkl.engine.api import linear_outputs
from omkl.engine.jit import compiled
from omkl.engine.lanes import fma
from omkl.engine.probit import excess, learn_label, move, reweigh, steps
from omkl.engine.rank_one import gains, hold, leave

FARTHEST = 5.0  # of a scaled margin
ROUNDING = 1e-12  # margins that count as 0: members that know nothing must not answer by rounding
VARIANCES = (0.01, 0.1)
DRIFTS = (0.0, 1e-5, 1e-4, 1e-3)
OFFSET = 0.1  # prior variance of a member's own bias
SHARE = 0.001  # of the weights, given back to all alike in every round
LEAST = 2.0**-53  # probability of a label, for the weights


@compiled
def over_rivals(M):
    """M_ci <- M_ci - max_{b != c} M_bi, of more than two classes."""
    if len(M) == 1:
        return
    for i in range(M.shape[1]):
        first, second, best = -math.inf, -math.inf, 0
        for c in range(len(M)):
            if M[c, i] > first:
                first, second, best = M[c, i], first, c
            elif M[c, i] > second:
                second = M[c, i]
        for c in range(len(M)):
            M[c, i] -= second if c == best else first


@compiled
def scaled_margins(M, squares, count):
    """z (C, k): margins over the root mean square of the member's `count` earlier ones, in [-5, 5]."""
    z = np.zeros(M.shape)
    for i in range(squares.size):
        square = squares[i] / count if count > 0 else 0.0  # 0 of margins near 1e-162, too
        scale = math.sqrt(square) if square > 0.0 else 1.0
        for c in range(len(M)):
            if abs(M[c, i]) > ROUNDING:
                z[c, i] = min(max(M[c, i] / scale, -FARTHEST), FARTHEST)
    return z


@compiled
def answers(z, linear, own, w):
    """(C, S + 1): P - 1/2 of the learners, and of the members' mixture by the weights w (k,).

    linear, own: means, covariances, and what these are still to lose, of the learners and of the members
    """
    S = len(linear[0])
    E = np.empty((len(z), S + 1))
    for c in range(len(z)):
        x, y = _inputs(z[c], S)
        _, mu, v = _linear_moments(linear, x, z[c], c == 0, False)
        for s in range(S):
            E[c, s] = 0.5 * math.erf(mu[s] / math.sqrt(2.0 * (1.0 + v[s])))
        _, mu, v = _own_moments(own, y, z[c], False)
        E[c, S] = excess(w, mu, v)
    return E


@compiled
def teach(z, E, target, linear, own, w, W):
    """Learn the labels target (C,), +1 or -1, of answers E."""
    S = len(linear[0])
    surprise = np.zeros(S + 1)
    for c in range(len(z)):
        x, y = _inputs(z[c], S)
        g, mu, v = _linear_moments(linear, x, z[c], c == 0, True)
        _, step, divisor = steps(mu, v, target[c])
        move(linear[0], step, g)
        leave(linear[2], g, divisor)
        g, mu, v = _own_moments(own, y, z[c], True)
        step, divisor = learn_label(w, mu, v, target[c], SHARE)
        move(own[0], step, g)
        leave(own[2], g, divisor)
        for s in range(S + 1):
            surprise[s] -= math.log(max(0.5 + target[c] * E[c, s], LEAST))
    reweigh(W, surprise, SHARE)


@compiled
def note_margins(M, squares):
    """squares_i <- squares_i + sum_c M_ci^2."""
    for c in range(len(M)):
        for i in range(squares.size):
            squares[i] = fma(M[c, i], M[c, i], squares[i])


@compiled
def _inputs(z, S):
    """x (S, k + 1), those of the same variance one after another, and y (k, 2)."""
    k = z.size
    x, y = np.empty((S, k + 1)), np.empty((k, 2))
    for s in range(S):
        root = math.sqrt(VARIANCES[s // len(DRIFTS)])
        for i in range(k):
            x[s, i] = root * z[i]
        x[s, k] = root
    for i in range(k):
        y[i, 0], y[i, 1] = z[i], math.sqrt(OFFSET)
    return x, y


@compiled
def _linear_moments(linear, x, z, first, keep):
    """Gains, mu and v (S,); first: of the classes, whose round begins with the drift."""
    theta, P, last = linear
    g, v = np.empty(x.shape), np.empty(len(x))
    for s in range(len(x)):
        drift = DRIFTS[s % len(DRIFTS)] / VARIANCES[s // len(DRIFTS)] if first or not keep else 0.0
        own = gains(P[s : s + 1], last[s : s + 1], x[s : s + 1], drift, keep)
        v[s : s + 1] = linear_outputs(x[s : s + 1], own)
        hold(v[s : s + 1], P[s : s + 1], last[s : s + 1], own, drift, keep)
        g[s] = own[0]
    return g, linear_outputs(theta, x) + np.mean(z), np.maximum(v, 0.0)


@compiled
def _own_moments(own, y, z, keep):
    """Gains, mu and v (k,)."""
    theta, P, last = own
    g = gains(P, last, y, 0.0, keep)
    v = linear_outputs(y, g)
    hold(v, P, last, g, 0.0, keep)
    return g, linear_outputs(theta, y) + z, np.maximum(v, 0.0)
