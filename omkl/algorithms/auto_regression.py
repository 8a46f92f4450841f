"""Nothing to tune, for numbers: Bayesian regressions on features as they come and scaled online.

x, x~, med and s as of classes (auto.py)

| members, of x and of x~ alike | prior variance | drift in a round |
|---|---|---|
| Gaussians of width med, 4 med; linear in [1; x/s] | 100, 10^4 times the noise | 0, 10^-4, 10^-2 |
"""

import math

import numpy as np

from omkl.engine.members import lift_row, linear_gains, linear_leave, scale_row
from omkl.engine.probit import move
from omkl.engine.verbs import compiled, discount_by, gains, leave, linear_outputs, weighted_output

WIDTHS = (1.0, 4.0)
SHARE = 0.01  # share of the weights that is given back to all members alike in every round
RATIOS = (100.0, 1e4)  # of a prior variance to the noise's
DRIFTS = (0.0, 1e-4, 1e-2)
MEMORY = 20.0  # rounds over which the squared error of the prediction fades


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
    w_i <- w_i exp(-eta (y - p_i)^2), of sum 1, and of that (1 - S) w_i + S / 36, S = SHARE;
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
        scale_row(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        lift_row(F, stream, t, x, new_known, WIDTHS, 1.0, own)
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
            b[low:high] = linear_gains(
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
                    W[i] = (1.0 - SHARE) * W[i] + SHARE / W.size
        target[1], target[2] = (min(target[1], y), max(target[2], y)) if seen[0] > 0 else (y, y)
        for i in range(W.size):
            mu[i] = (y - center - mu[i]) / v[i]
        target[0] += y
        move(theta, mu[:gaussians], a)
        leave(last, a, v[:gaussians])
        move(beta, mu[gaussians:], b)
        linear_leave(R, late, sigma, b, v[gaussians:])
        mean[:], m2[:], known[:] = new_mean, new_m2, new_known
        seen[0] += 1


@compiled
def _surprise(error, variance):
    """-log of the density of Student's t: 4 degrees of freedom, mean 0, this variance; 1 in place of 0."""
    scale = math.sqrt(0.5 * variance) if variance > 0.0 else math.sqrt(0.5)
    u = error / scale
    return math.log(scale) + 2.5 * math.log1p(0.25 * u * u) - math.log(0.375)
