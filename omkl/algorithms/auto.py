"""Nothing to tune: Gaussian processes on features as they come and scaled online, and linear ones.

An ensemble as E-GPC's (egpc.py). Its members are fixed; what the kernels' widths and the features' scales
should be is read off the rows seen so far. For numbers see auto_regression.py.

x the row, x~ the row scaled online: less the mean of what has been seen, this row included, divided by its
standard deviation, held in [-10, 10]; 0 where a feature has not varied

| members, of x and of x~ alike | prior variance | drift in a round |
|---|---|---|
| Gaussians of width med/4, med/2, med | 10 | 0; of med/2 also 0.01 |
| linear in [1; x/s] | 1, 100 | 0; of 1 also 0.01 |

med is the root mean squared distance of two rows, sqrt(2 sum_j var_j), and s the largest |x_j| (1 for x~), of
the first 300 rows: of those so far until they have come, fixed then.
A Gaussian's features are sines and cosines of D random directions, those of x the same for all widths.
"""

import math

import numpy as np

from omkl.engine.members import lift_row, linear_gains, linear_leave, scale_row
from omkl.engine.probit import excess, learn_label, move
from omkl.engine.verbs import (
    compiled,
    gains,
    leave,
    linear_outputs,
)

WIDTHS = (0.25, 0.5, 1.0)
NU = 10.0  # prior variance of the Gaussians' parameters
WIDE = 100.0  # prior variance of every second linear member
DRIFT = 0.01  # variance that the parameters of the members that drift gain in a round
SHARE = 0.001  # share of the weights that is given back to all members alike in every round
KERNELS, LINEAR = 6, 4  # members without drift; two more of each have one


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
        scale_row(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        lift_row(F, stream, t, x, new_known, WIDTHS, NU, z)
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
    k[:LINEAR] = linear_gains(R[:LINEAR], late[:LINEAR], sigma[:LINEAR], h[:LINEAR], 0.0, keep, line[:LINEAR])
    k[LINEAR:] = linear_gains(
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
    linear_leave(R, late, sigma, k, divisor[members:])
