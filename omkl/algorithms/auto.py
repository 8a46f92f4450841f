"""One learner without a knob: Gaussian processes on features as they come and scaled online, and linear ones.

An ensemble as E-GPC's (egpc.py), whose members are fixed; what their kernels' widths and the features' scales
should be is read off the rows seen so far.

x the row, x~ the row scaled online: less the mean of what has been seen, this row included, divided by its
standard deviation, held in [-10, 10]; 0 where a feature has not varied
Members, for x and for x~:
3 Gaussians of width med (1/4, 1/2, 1), prior variance NU, and the middle one once more with a drift
2 linear ones [1; x / s], of prior variance 1 and 100, and the first once more with a drift
med is the root mean squared distance of two rows, sqrt(2 sum_j var_j), and s the largest |x_j| (1 for x~), of
the first FIRST rows: of those so far until they have come, fixed then.
A Gaussian's features are sines and cosines of D random directions, those of x the same for all widths.
"""

import math

import numpy as np

from omkl.engine.arith import fma, sincos
from omkl.engine.classes import predicted
from omkl.engine.features import linear_outputs
from omkl.engine.jit import compiled
from omkl.engine.probit import excess, learn_label, margin_of_probabilities, move, note_probability
from omkl.engine.rank_one import gains, leave
from omkl.engine.stream import record_classes, record_score, row

FIRST = 300  # rows from which widths and scales are read
WIDTHS = (0.25, 0.5, 1.0)
FARTHEST = 10.0  # of a scaled feature
NU = 10.0  # prior variance of the Gaussians' parameters
WIDE = 100.0  # prior variance of every second linear member
DRIFT = 0.01  # variance that the parameters of the members that drift gain in a round
SHARE = 0.001  # share of the weights that is given back to all members alike in every round
KERNELS, LINEAR = 6, 4  # members without drift; two more of each have one
SINCOS_LIMIT = 1e5  # up to here sincos has the C library's accuracy


@compiled
def auto(stream, F, mean, m2, seen, known, theta, P, last, beta, R, late, sigma, W, trace, learn):
    """Predict with P > 1/2 of the ensemble's probability P; learn as E-GPC.

    mean, m2 (d,) means of the features, and sums of squared deviations from them, of seen (1,) rows
    known (3,) width of x, width of x~, s   F the directions, of x and of x~
    theta (8, 2D), P, last the Gaussians' means, covariances, and what these are still to lose: features are
    multiplied by the root of the prior variance, whose covariance is I
    beta (6, d + 1), R, late the same of the linear members; with more than 512 features R holds the bias
    alone, and sigma (6, d + 1) the diagonal   W (14,) the weights
    With more than two classes there are such an ensemble for each class against all others, and their
    probabilities are divided by their sum.
    Deviations: none.
    """
    d, D = mean.size, F.V.shape[1] // 2
    x, z, h = np.zeros((2, d)), np.zeros((KERNELS + 2, 2 * D)), np.zeros((LINEAR + 2, d + 1))
    new_mean, new_m2, new_known = np.zeros(d), np.zeros(d), np.zeros(3)
    mu, v = np.zeros(W.shape[-1]), np.zeros(W.shape[-1])
    for t in range(stream.T):
        _scale(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        _lift(F, stream, t, x, new_known, z)
        _lines(x, new_known[2], h)
        if theta.ndim == 2:
            parts = (theta, P, last), (beta, R, late, sigma)
            g, k = _moments(parts, z, h, mu, v, learn)
            record_score(trace, t, excess(W, mu, v), stream.y[t])
            if learn:
                _learn(parts, W, g, k, mu, v, stream.y[t])
        if theta.ndim == 3:
            for c in range(len(theta)):
                own = (theta[c], P[c], last[c]), (beta[c], R[c], late[c], sigma[c])
                g, k = _moments(own, z, h, mu, v, learn)
                note_probability(F.classes, c, 0.5 + excess(W[c], mu, v))
                if learn:
                    _learn(own, W[c], g, k, mu, v, 1.0 if c == stream.label[t] else -1.0)
            f = margin_of_probabilities(F.classes, stream.label[t])
            record_score(trace, t, f, 1.0, predicted(F.classes))
            record_classes(trace, t, F.classes)
        if learn:
            mean[:], m2[:], known[:] = new_mean, new_m2, new_known
            seen[0] += 1


@compiled
def _scale(stream, t, mean, m2, seen, known, x, new_mean, new_m2, new_known):
    """Fill x (2, d) with the row as it comes and scaled, and means, deviations and scales with this row."""
    raw, scaled = x[0], x[1]
    start, stop = row(stream, t)
    raw[:] = 0.0
    for k in range(start, stop):
        raw[stream.indices[k]] = stream.values[k]
    count, total, varying, largest = seen + 1.0, 0.0, 0, known[2]
    for j in range(raw.size):
        delta = raw[j] - mean[j]
        new_mean[j] = mean[j] + delta / count
        new_m2[j] = m2[j] + delta * (raw[j] - new_mean[j])
        variance = new_m2[j] / count
        scaled[j] = 0.0
        if variance > 0.0:
            scaled[j] = min(max((raw[j] - new_mean[j]) / math.sqrt(variance), -FARTHEST), FARTHEST)
            total += variance
            varying += 1
        largest = max(largest, abs(raw[j]))
    new_known[:] = known
    if seen < FIRST:
        new_known[0] = math.sqrt(2.0 * total)
        new_known[1] = math.sqrt(2.0 * varying)
        new_known[2] = largest


@compiled
def _lift(F, stream, t, x, known, z):
    """Fill z with the Gaussians' features: of x in three widths, of x~, and the middle ones again."""
    D = F.V.shape[1] // 2
    F.p[:] = 0.0
    start, stop = row(stream, t)
    for k in range(start, stop):
        _add(F.p[:D], stream.values[k], F.V[stream.indices[k], :D])
    for j in range(x.shape[1]):
        if x[1, j] != 0.0:
            _add(F.p[D:], x[1, j], F.V[j, D:])
    scale = math.sqrt(NU / D)
    for r in range(2):
        p = F.p[r * D : (r + 1) * D]
        for w in range(3):
            own = z[3 * r + w]
            width = known[r] * WIDTHS[w]
            over = 1.0 / width if width > 0.0 else 1.0
            for q in range(D):
                own[q], own[D + q] = sincos(p[q] * over)
            for q in range(D):
                if not abs(p[q] * over) < SINCOS_LIMIT:
                    own[q], own[D + q] = math.sin(p[q] * over), math.cos(p[q] * over)
            for q in range(2 * D):
                own[q] *= scale
        z[KERNELS + r] = z[3 * r + 1]


@compiled
def _add(p, a, v):
    """p <- p + a v."""
    for q in range(p.size):
        p[q] = fma(a, v[q], p[q])


@compiled
def _lines(x, s, h):
    """Fill h with the linear members' features: [1; x / s] and 10 times that, of x~, and the first again."""
    root = math.sqrt(WIDE)
    for r in range(2):
        scale = s if r == 0 and s > 0.0 else 1.0
        own, wide, drifting = h[2 * r], h[2 * r + 1], h[LINEAR + r]
        own[0] = 1.0
        for j in range(x.shape[1]):
            own[1 + j] = x[r, j] / scale
        for j in range(own.size):
            wide[j], drifting[j] = root * own[j], own[j]


@compiled
def _moments(parts, z, h, mu, v, keep):
    """Fill mu and v (members,); returns Sigma_i z_i of the Gaussians and of the linear members."""
    (theta, P, last), (beta, R, late, sigma) = parts
    members = len(z)
    g, k = np.empty(z.shape), np.empty(h.shape)
    g[:KERNELS] = gains(P[:KERNELS], last[:KERNELS], z[:KERNELS], 0.0, keep)
    g[KERNELS:] = gains(P[KERNELS:], last[KERNELS:], z[KERNELS:], DRIFT / NU, keep)
    if R.shape[-1] == h.shape[1]:
        k[:LINEAR] = gains(R[:LINEAR], late[:LINEAR], h[:LINEAR], 0.0, keep)
        k[LINEAR:] = gains(R[LINEAR:], late[LINEAR:], h[LINEAR:], DRIFT, keep)
    else:
        for i in range(len(h)):
            gain = 0.0 if i < LINEAR else DRIFT
            for j in range(h.shape[1]):
                own = sigma[i, j] + gain
                k[i, j] = own * h[i, j]
                if keep:
                    sigma[i, j] = own
    mu[:members], v[:members] = linear_outputs(theta, z), linear_outputs(z, g)
    mu[members:], v[members:] = linear_outputs(beta, h), linear_outputs(h, k)
    for i in range(v.size):
        v[i] = max(v[i], 0.0)
    return g, k


@compiled
def _learn(parts, w, g, k, mu, v, y):
    """Learn label y: weights, means, and what the covariances lose."""
    (theta, _, last), (beta, R, late, sigma) = parts
    members = len(g)
    step, divisor = learn_label(w, mu, v, y, SHARE)
    move(theta, step[:members], g)
    leave(last, g, divisor[:members])
    move(beta, step[members:], k)
    if R.shape[-1] == k.shape[1]:
        leave(late, k, divisor[members:])
    else:
        for i in range(len(k)):
            for j in range(k.shape[1]):
                sigma[i, j] = max(sigma[i, j] - k[i, j] * k[i, j] / divisor[members + i], 0.0)
