"""Nothing to tune: Gaussian processes on features as they come and scaled online, and linear ones.

For classes an ensemble as E-GPC's (egpc.py), for numbers one of Bayesian regressions. Their members are
fixed; what the kernels' widths and the features' scales should be is read off the rows seen so far.

x the row, x~ the row scaled online: less the mean of what has been seen, this row included, divided by its
standard deviation, held in [-10, 10]; 0 where a feature has not varied

| members, of x and of x~ alike | prior variance | drift in a round |
|---|---|---|
| classes: Gaussians of width med/4, med/2, med | 10 | 0; of med/2 also 0.01 |
| classes: linear in [1; x/s] | 1, 100 | 0; of 1 also 0.01 |
| numbers: Gaussians of width med, 4 med; linear in [1; x/s] | 100, 10^4 times the noise | 0, 10^-4, 10^-2 |

med is the root mean squared distance of two rows, sqrt(2 sum_j var_j), and s the largest |x_j| (1 for x~), of
the first 300 rows (FIRST): of those so far until they have come, fixed then.
A Gaussian's features are sines and cosines of D random directions, those of x the same for all widths.
"""

import math

import numpy as np

from omkl.engine.probit import excess, learn_label, move
from omkl.engine.verbs import (
    compiled,
    discount_by,
    fma,
    gains,
    hold,
    leave,
    linear_outputs,
    sincos,
    weighted_output,
)

FIRST = 300  # rows from which widths and scales are read
WIDTHS = (0.25, 0.5, 1.0)
WIDE_WIDTHS = (1.0, 4.0)  # of numbers
FARTHEST = 10.0  # of a scaled feature
NU = 10.0  # prior variance of the Gaussians' parameters
WIDE = 100.0  # prior variance of every second linear member
DRIFT = 0.01  # variance that the parameters of the members that drift gain in a round
SHARE = 0.001  # share of the weights that is given back to all members alike in every round
SHARE_OF_NUMBERS = 0.01
RATIOS = (100.0, 1e4)  # of a prior variance to the noise's
DRIFTS = (0.0, 1e-4, 1e-2)
MEMORY = 20.0  # rounds over which the squared error of the prediction fades
KERNELS, LINEAR = 6, 4  # members without drift; two more of each have one
SINCOS_LIMIT = 1e5  # up to here sincos has the C library's accuracy


@compiled
def auto(stream, F, mean, m2, seen, known, theta, P, last, beta, R, late, sigma, W, trace, learn):
    """Predict with P > 1/2 of the ensemble's probability P; learn as E-GPC.

    mean, m2 (d,) means of the features, and sums of squared deviations from them, of seen (1,) rows
    known (3,) width of x, width of x~, s   F the directions, of x and of x~
    theta (8, 2D), P, last the Gaussians' means, covariances, and what these are still to lose: features are
    multiplied by the root of the prior variance, whose covariance is I
    beta (6, d + 1), R, late the same of the linear members; with more than 500 features R holds the bias
    alone, and sigma (6, d + 1) the diagonal   W (14,) the weights
    With more than two classes there are such an ensemble for each class c against all others, and their
    probabilities are divided by their sum: all have a first side (C,), C = 1 for two classes.
    Deviations: none.
    """
    d, D = mean.size, F.V.shape[1] // 2
    x, z, h = np.zeros((2, d)), np.zeros((KERNELS + 2, 2 * D)), np.zeros((LINEAR + 2, d + 1))
    new_mean, new_m2, new_known = np.zeros(d), np.zeros(d), np.zeros(3)
    mu, v = np.zeros(W.shape[-1]), np.zeros(W.shape[-1])
    for t in range(stream.T):
        _scale(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        _lift(F, stream, t, x, new_known, WIDTHS, NU, z)
        z[KERNELS], z[KERNELS + 1] = z[1], z[4]  # the middle ones again, with a drift
        _lines(x, new_known[2], h)
        for c in range(len(theta)):
            own = (theta[c], P[c], last[c]), (beta[c], R[c], late[c], sigma[c])
            g, k = _moments(own, z, h, mu, v, learn)
            F.note_excess(c, excess(W[c], mu, v))
            if learn:
                _learn(own, W[c], g, k, mu, v, F.target(stream, t, c))
        trace.record(t, F.margin_of_excesses(stream, t), stream.y[t], F)
        if learn:
            mean[:], m2[:], known[:] = new_mean, new_m2, new_known
            seen[0] += 1


@compiled
def _scale(stream, t, mean, m2, seen, known, x, new_mean, new_m2, new_known):
    """Fill x (2, d) with the row as it comes and scaled, and means, deviations and scales with this row."""
    raw, scaled = x[0], x[1]
    start, stop = stream.row(t)
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
def _lift(F, stream, t, x, known, widths, variance, z):
    """Fill z with the Gaussians' features, those of x in all widths first, then those of x~."""
    D = F.V.shape[1] // 2
    F.p[:] = 0.0
    start, stop = stream.row(t)
    for k in range(start, stop):
        _add(F.p[:D], stream.values[k], F.V[stream.indices[k], :D])
    for j in range(x.shape[1]):
        if x[1, j] != 0.0:
            _add(F.p[D:], x[1, j], F.V[j, D:])
    scale = math.sqrt(variance / D)
    for r in range(2):
        p = F.p[r * D : (r + 1) * D]
        for w in range(len(widths)):
            own = z[len(widths) * r + w]
            width = known[r] * widths[w]
            over = 1.0 / width if width > 0.0 else 1.0
            for q in range(D):
                own[q], own[D + q] = sincos(p[q] * over)
            for q in range(D):
                if not abs(p[q] * over) < SINCOS_LIMIT:
                    own[q], own[D + q] = math.sin(p[q] * over), math.cos(p[q] * over)
            for q in range(2 * D):
                own[q] *= scale


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
    line = v[members:]
    k[:LINEAR] = _linear_gains(
        R[:LINEAR], late[:LINEAR], sigma[:LINEAR], h[:LINEAR], 0.0, keep, line[:LINEAR]
    )
    k[LINEAR:] = _linear_gains(
        R[LINEAR:], late[LINEAR:], sigma[LINEAR:], h[LINEAR:], DRIFT, keep, line[LINEAR:]
    )
    mu[:members], v[:members] = linear_outputs(theta, z), linear_outputs(z, g)
    mu[members:] = linear_outputs(beta, h)
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
    _linear_leave(R, late, sigma, k, divisor[members:])


@compiled
def _linear_gains(R, late, sigma, h, drift, keep, v):
    """`gains` of linear members, by the diagonal sigma where R has no room for the features; fill v."""
    if R.shape[-1] == h.shape[1]:
        k = gains(R, late, h, drift, keep)
        v[:] = linear_outputs(h, k)
        hold(v, R, late, k, drift, keep)
        return k
    k = np.empty(h.shape)
    for i in range(len(h)):
        for j in range(h.shape[1]):
            own = sigma[i, j] + drift
            k[i, j] = own * h[i, j]
            if keep:
                sigma[i, j] = own
    v[:] = linear_outputs(h, k)
    return k


@compiled
def _linear_leave(R, late, sigma, k, divisor):
    """`leave` of linear members."""
    if R.shape[-1] == k.shape[1]:
        leave(late, k, divisor)
        return
    for i in range(len(k)):
        for j in range(k.shape[1]):
            sigma[i, j] = max(sigma[i, j] - k[i, j] * k[i, j] / divisor[i], 0.0)


@compiled
def auto_regression(
    stream, F, mean, m2, seen, known, target, theta, P, last, beta, R, late, sigma, W, trace, learn
):
    """Predict the members' weighted mean, and learn each as a Bayesian regression.

    mean, m2, seen, known, F as of ``auto``
    target (4,) sum of the targets, the least and the largest, and the fading mean q of squared errors
    Members (l, k, r, w): drift l, ratio k, features r as they come or scaled, width w, in this order; then
    the linear ones (l, k, r). theta (24, 2D), P, last as of ``auto``, of features times the root of the
    ratio: the noise's variance is 1. beta (12, d + 1), R, late, sigma the same of the linear ones
    W (36,) weights
    A member predicts the mean of the targets before plus mu_i, held between the least and the largest target;
    0 in the first round, from which it learns the mean alone.
    w_i <- w_i exp(-eta (y - p_i)^2), of sum 1, and of that (1 - S) w_i + S / 36, S = SHARE_OF_NUMBERS;
    eta = (1/50 + 50/(100 + t)) / q, with the error of round t in q, from the third round on
    Reports -log of the density of Student's t with 4 degrees of freedom, of mean f and variance q, and this
    variance; 1 where q is 0.
    Deviations: none.
    """
    d, D, gaussians, linear = mean.size, F.V.shape[1] // 2, len(theta), len(beta)
    x, own, z, h = np.zeros((2, d)), np.zeros((4, 2 * D)), np.zeros(theta.shape), np.zeros(beta.shape)
    new_mean, new_m2, new_known = np.zeros(d), np.zeros(d), np.zeros(3)
    mu, v, loss = np.zeros(W.size), np.zeros(W.size), np.zeros(W.size)
    line = v[gaussians:]
    for t in range(stream.T):
        y = stream.y[t]
        _scale(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        _lift(F, stream, t, x, new_known, WIDE_WIDTHS, 1.0, own)
        s = new_known[2] if new_known[2] > 0.0 else 1.0
        for g in range(len(DRIFTS) * len(RATIOS)):
            root = math.sqrt(RATIOS[g % len(RATIOS)])
            for i in range(4):
                for j in range(2 * D):
                    z[4 * g + i, j] = root * own[i, j]
            for r in range(2):
                h[2 * g + r, 0] = root
                for j in range(d):
                    h[2 * g + r, 1 + j] = root * (x[r, j] / s if r == 0 else x[r, j])
        a, b = np.empty(z.shape), np.empty(h.shape)
        for l in range(len(DRIFTS)):
            low, high = l * gaussians // len(DRIFTS), (l + 1) * gaussians // len(DRIFTS)
            a[low:high] = gains(P[low:high], last[low:high], z[low:high], DRIFTS[l], learn)
            low, high = l * linear // len(DRIFTS), (l + 1) * linear // len(DRIFTS)
            b[low:high] = _linear_gains(
                R[low:high], late[low:high], sigma[low:high], h[low:high], DRIFTS[l], learn, line[low:high]
            )
        mu[:gaussians], v[:gaussians] = linear_outputs(theta, z), linear_outputs(z, a)
        mu[gaussians:] = linear_outputs(beta, h)
        center = target[0] / seen[0] if seen[0] > 0 else y
        for i in range(W.size):
            loss[i] = min(max(center + mu[i], target[1]), target[2])
            v[i] = 1.0 + max(v[i], 0.0)
        f = weighted_output(W, loss)
        trace.record(t, f, y)
        trace.further[t, 0] = _surprise(y - f, target[3])
        trace.further[t, 1] = target[3] if target[3] > 0.0 else 1.0
        if not learn:
            continue
        if seen[0] > 0:
            n = seen[0] + 1.0  # of rounds, this one included
            target[3] += max(1.0 / MEMORY, 1.0 / (n - 1.0)) * (np.square(y - f) - target[3])
            if target[3] > 0.0 and n > 2.0:
                eta = (1.0 / 50.0 + 50.0 / (100.0 + n)) / target[3]
                for i in range(W.size):
                    loss[i] = eta * np.square(y - loss[i])
                discount_by(W, math.exp(-1.0), loss)
                for i in range(W.size):
                    W[i] = (1.0 - SHARE_OF_NUMBERS) * W[i] + SHARE_OF_NUMBERS / W.size
        target[1], target[2] = (min(target[1], y), max(target[2], y)) if seen[0] > 0 else (y, y)
        for i in range(W.size):
            mu[i] = (y - center - mu[i]) / v[i]
        target[0] += y
        move(theta, mu[:gaussians], a)
        leave(last, a, v[:gaussians])
        move(beta, mu[gaussians:], b)
        _linear_leave(R, late, sigma, b, v[gaussians:])
        mean[:], m2[:], known[:] = new_mean, new_m2, new_known
        seen[0] += 1


@compiled
def _surprise(error, variance):
    """-log of the density of Student's t: 4 degrees of freedom, mean 0, this variance; 1 in place of 0."""
    scale = math.sqrt(0.5 * variance) if variance > 0.0 else math.sqrt(0.5)
    u = error / scale
    return math.log(scale) + 2.5 * math.log1p(0.25 * u * u) - math.log(0.375)
