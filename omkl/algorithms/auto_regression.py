"""Nothing to tune, for numbers: Bayesian regressions and trackers on rows as they come and scaled online.

x the row, x~ the row scaled online: less the mean of what has been seen, this row included, divided by its
standard deviation, held in [-10, 10]; 0 where a feature has not varied. med is the root mean squared distance
of two rows, sqrt(2 sum_j var_j), and s the largest |x_j| (1 for x~), of the first 300 rows: of those so far
until they have come, fixed then.

| members, of x and of x~ alike | prior variance | drift in a round |
|---|---|---|
| Gaussians of width med, 4 med; linear in [1; x/s] | 100, 10^4 times the noise | 0, 10^-4, 10^-2 |

Besides these, four trackers on stored rows (krls_t.py), of prior variance 1, without drift:

| tracker | of | width | noise |
|---|---|---|---|
| Laplacian | x | med | 10^-4 |
| Gaussian | x, x~ | 2 med | 10^-3 |
| half a Gaussian, half a Gaussian of each feature | x~ | med | 10^-3 |

A tracker's kernel may not change while rows are stored. It begins after 10 rounds, and again after 30, 100
and 300 (BEGINNINGS), from the rows that it has stored, with the width as known then.

The members are combined by what they have erred: two means of them, one that follows the last rounds and one
that remembers all, and the first of these corrected by two linear regressions on the members.
"""

import math

import numpy as np

from omkl.algorithms.error_scale import TAILS, distance_from_rows, learn_scale, scale_of_error, surprise
from omkl.engine.api import compiled, discount_by, gains, leave, linear_outputs, weighted_output
from omkl.engine.members import lift_row, linear_gains, linear_leave, scale_row
from omkl.engine.probit import move
from omkl.engine.tracker import ADDITIVE, GAUSSIAN, LAPLACIAN, begin_again, learn_target, row_outputs

WIDTHS = (1.0, 4.0)
RATIOS = (100.0, 1e4)  # of a prior variance to the noise's
DRIFTS = (0.0, 1e-4, 1e-2)
KINDS = (LAPLACIAN, GAUSSIAN, ADDITIVE, GAUSSIAN)  # of the trackers, the first two of x
TRACKED = (1.0, 2.0, 1.0, 2.0)  # their widths
NOISES = (1e-4, 1e-3, 1e-3, 1e-3)
COLUMNS = 500  # features of which each has a Gaussian of its own
BEGINNINGS = (10, 30, 100, 300)
SHARES = (0.01, 0.001)  # share of each mean's weights that is given back to all members alike in every round
RATES = (1.0 / 50.0, 1.0 / 200.0)  # of the weights after many rounds
PRECISIONS = (30.0, 1000.0)  # of the corrections' coefficients, where the errors have variance 1
OUTLIER = 10.0  # ranges of the targets beyond these: a target further away counts as one there
SETTLED = 50  # rounds after which that is so
MEMORY = 20.0  # rounds over which squared errors fade


@compiled
def auto_regression(
    stream, F, mean, m2, seen, known, target, errors, theta, P, last, beta, R, late, sigma,
    Q, V, A, X, kept, ages, width, columns, W, eta, S, left, faded,
    levels, rho, G, behind, quantiles, trace, learn,
):  # fmt: skip
    """Predict a mean of the members' two means and two corrections, and learn each by itself.

    mean, m2 (d,) means of the features, and sums of squared deviations from them, of seen (1,) rows
    known (3,) width of x, width of x~, s   F the directions, of x and of x~
    target (3,) sum of the targets, the least and the largest
    errors (2,) mean squared error of the prediction: fading, q, and of all rounds, q~
    Members (l, k, r, w): drift l, ratio k, features r as they come or scaled, width w, in this order; then
    the linear ones (l, k, r), and the trackers. theta (24, 2 size), P, last means, covariances, and what
    these are still to lose, of features times the root of the ratio: the noise's variance is 1.
    beta (12, d + 1), R, late, sigma the same of the linear ones. Q, V, A, X, kept, ages (4, ...),
    width (4,), columns (1,) as of omkl/engine/tracker.py
    A member's p_i is the mean of the targets before plus mu_i, held between the least and the largest target;
    0 in the first round, from which it learns the mean alone.

    The means g_j = sum_i w_ji p_i, W (2, 40): w_i <- w_i exp(-rate (y - p_i)^2), of sum 1, and of that
    (1 - S) w_i + S / 40, S of SHARES; rate = (1/50 + 50/(100 + t)) / q of the first, (1/200 + 50/(100 + t)) /
    q~ of the second, with the error of round t in q and q~, from the third round on
    The corrections g_1 + eta_j . z_j, held as the members, eta (2, 40), z_i = p_i - g_1: Bayesian regressions
    of y - g_1 with a prior precision of PRECISIONS, in units of the root of q~. S and left are covariance and
    what it is still to lose, of features divided by the root of the precision
    The four are weighted by exp(-L_j / (2 q)), faded (4,): L_j <- (1 - 1/20) L_j + (y - g_j)^2.
    Reports -log p(y_t), the squared standard deviation, and the degrees of freedom of the density of
    error_scale.py, where levels, rho, G, behind, quantiles are; 1 and 4 while all targets are the same.
    Deviations: none.
    """
    rows_seen, regressions = (mean, m2, seen, known), (theta, P, last, beta, R, late, sigma)
    trackers, means = (Q, V, A, X, kept, ages, width, columns), (target, errors, W, faded)
    keep = np.ones(W.shape[1], np.bool_)
    corrections, scale = (eta, S, left), (levels, rho, G, behind, quantiles)
    rounds_of_numbers(
        stream, F, rows_seen, regressions, trackers, means, corrections, scale, trace, learn, keep, True
    )


@compiled
def rounds_of_numbers(
    stream, F, rows_seen, regressions, trackers, means, corrections, scale, trace, learn, keep, corrected
):
    """All rounds. keep (40,): the others predict the mean of the targets; corrected: whether g_1 is."""
    mean, m2, seen, known = rows_seen
    theta, P, last, beta, R, late, sigma = regressions
    target, errors, W, faded = means
    eta, S, left = corrections
    d, D = mean.size, F.V.shape[1] // 2
    x, own = np.zeros((2, d)), np.zeros((4, 2 * D))
    z, h = np.zeros(theta.shape), np.zeros(beta.shape)
    new_mean, new_m2, new_known = np.zeros(d), np.zeros(d), np.zeros(3)
    p, v, g = np.zeros(W.shape[1]), np.zeros(len(theta) + len(beta)), np.zeros(4)
    for t in range(stream.T):
        y = stream.y[t]
        scale_row(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        lift_row(F, stream, t, x, new_known, WIDTHS, 1.0, own)
        _spread(own, x, new_known[2], z, h)
        a, b = _gaussian_gains(P, last, z, learn), _line_gains(R, late, sigma, h, learn, v[len(theta) :])
        _outputs(theta, beta, z, h, a, p, v)
        tracked = _track(trackers, x, p[v.size :])
        mu = p.copy()
        center = target[0] / seen[0] if seen[0] > 0 else y
        for i in range(p.size):
            p[i] = _held(center + p[i], target) if keep[i] else _held(center, target)
        unit = math.sqrt(errors[1])
        lines, k = _combine(W, eta, S, left, target, unit, p, g, learn)
        if not corrected:
            g[2:] = g[0]
        f = _held(_mean_of(g, faded, errors[0]), target)
        U = distance_from_rows(v, tracked, NOISES)
        told, std, tail = scale_of_error(scale, U, own[2], x[1], target, learn)
        trace.record(t, f, y)
        trace.further[t, 0] = surprise(y - f, std, tail)
        trace.further[t, 1], trace.further[t, 2] = std * std, TAILS[tail, 0]
        if not learn:
            continue
        error, y = abs(y - f), _learnt(y, center, target, seen[0])
        _learn_means(seen[0], errors, W, faded, p, g, y, f)
        _learn_corrections(eta, left, lines, k, (y - g[0]) / unit if unit > 0.0 else 0.0)
        target[1], target[2] = (min(target[1], y), max(target[2], y)) if seen[0] > 0 else (y, y)
        target[0] += y
        if target[1] < target[2]:
            learn_scale(scale, U, target, error, told)
        for i in range(v.size):
            mu[i] = (y - center - mu[i]) / v[i]
        move(theta, mu[: len(theta)], a)
        leave(last, a, v[: len(theta)])
        move(beta, mu[len(theta) : v.size], b)
        linear_leave(R, late, sigma, b, v[len(theta) :])
        mean[:], m2[:], known[:] = new_mean, new_m2, new_known
        seen[0] += 1
        if seen[0] > BEGINNINGS[0]:
            _learn_trackers(trackers, tracked, x, y, y - center - mu[v.size :])
        if seen[0] in BEGINNINGS:
            _begin(trackers, known, target[0] / seen[0])


@compiled
def _spread(own, x, largest, z, h):
    """Fill z and h with the features of all Gaussians and linear members, from one of each kind."""
    s = largest if largest > 0.0 else 1.0
    for g in range(len(DRIFTS) * len(RATIOS)):
        root = math.sqrt(RATIOS[g % len(RATIOS)])
        for i in range(4):
            for j in range(own.shape[1]):
                z[4 * g + i, j] = root * own[i, j]
        for r in range(2):
            h[2 * g + r, 0] = root
            for j in range(x.shape[1]):
                h[2 * g + r, 1 + j] = root * (x[r, j] / s if r == 0 else x[r, j])


@compiled
def _gaussian_gains(P, last, z, learn):
    """Sigma_i z_i of the Gaussians."""
    a, each = np.empty(z.shape), len(z) // len(DRIFTS)
    for l in range(len(DRIFTS)):
        low, high = l * each, (l + 1) * each
        a[low:high] = gains(P[low:high], last[low:high], z[low:high], DRIFTS[l], learn)
    return a


@compiled
def _line_gains(R, late, sigma, h, learn, v):
    """Sigma_i h_i of the linear members; fill v with h_i' Sigma_i h_i."""
    b, each = np.empty(h.shape), len(h) // len(DRIFTS)
    for l in range(len(DRIFTS)):
        low, high = l * each, (l + 1) * each
        b[low:high] = linear_gains(
            R[low:high], late[low:high], sigma[low:high], h[low:high], DRIFTS[l], learn, v[low:high]
        )
    return b


@compiled
def _outputs(theta, beta, z, h, a, p, v):
    """Fill p with the outputs of the Gaussians and linear members, and v with the variances around them."""
    n = len(theta)
    p[:n], p[n : v.size], v[:n] = linear_outputs(theta, z), linear_outputs(beta, h), linear_outputs(z, a)
    for i in range(v.size):
        v[i] = 1.0 + max(v[i], 0.0)


@compiled
def _kernel(i, width, columns):
    """Kernel of tracker i."""
    return KINDS[i], width[i], columns[0]


@compiled
def _track(trackers, x, p):
    """Fill p with the trackers' outputs; returns what they learn from."""
    _, V, A, X, _, ages, width, columns = trackers
    tracked = [
        row_outputs(_kernel(0, width, columns), V[0], A[0], X[0], ages[0], x[0], NOISES[0], p[:1]),
    ]
    for i in range(1, p.size):
        kernel, row = _kernel(i, width, columns), x[i // 2]
        tracked.append(row_outputs(kernel, V[i], A[i], X[i], ages[i], row, NOISES[i], p[i : i + 1]))
    return tracked


@compiled
def _learn_trackers(trackers, tracked, x, y, e):
    """Learn target y of the row; e (4,) what the outputs lack."""
    Q, V, A, X, kept, ages, _, _ = trackers
    targets = np.array([y])
    for i in range(e.size):
        k, v, s2 = tracked[i]
        learn_target(Q[i], V[i], A[i], X[i], kept[i], ages[i], x[i // 2], targets, e[i : i + 1], k, v, s2)


@compiled
def _begin(trackers, known, center):
    """Begin with the widths as they are known, 1 where no feature varies."""
    Q, V, A, X, kept, ages, width, columns = trackers
    columns[0] = min(X.shape[1], COLUMNS)
    for i in range(width.size):
        med = known[i // 2]
        width[i] = TRACKED[i] * med if med > 0.0 else 1.0
        kernel = _kernel(i, width, columns)
        begin_again(kernel, Q[i], V[i], A[i], X[i], kept[i], ages[i], np.array([center]), NOISES[i])


@compiled
def _combine(W, eta, S, left, target, unit, p, g, learn):
    """Fill g (4,) with the two means and the two corrections of the first; returns z and S z of these."""
    lines = np.zeros(eta.shape)
    for j in range(2):
        g[j] = _held(weighted_output(W[j], p), target)  # not by rounding off targets that are all the same
    for j in range(2):
        over = 1.0 / (unit * math.sqrt(PRECISIONS[j])) if unit > 0.0 else 0.0
        for i in range(p.size):
            lines[j, i] = (p[i] - g[0]) * over
    k, moved = gains(S, left, lines, 0.0, learn), linear_outputs(eta, lines)
    for j in range(2):
        g[2 + j] = _held(g[0] + unit * moved[j], target)
    return lines, k


@compiled
def _learnt(y, center, target, seen):
    """y, held within OUTLIER ranges of the targets around these; their mean is the range of equal ones."""
    extent = target[2] - target[1]
    most = OUTLIER * (extent if extent > 0.0 else abs(center))
    return min(max(y, target[1] - most), target[2] + most) if seen >= SETTLED and most > 0.0 else y


@compiled
def _held(f, target):
    """f between the least and the largest target."""
    return min(max(f, target[1]), target[2])


@compiled
def _mean_of(g, faded, q):
    """The mean of g (4,), weighted by exp(-L_j / (2 q))."""
    least, total, f = faded.min(), 0.0, 0.0
    for j in range(g.size):
        w = math.exp(-0.5 * (faded[j] - least) / q) if q > 0.0 else 1.0
        total += w
        f += w * g[j]
    return f / total


@compiled
def _learn_means(seen, errors, W, faded, p, g, y, f):
    """Learn the weights of the two means, and the errors of the four."""
    n = seen + 1.0  # of rounds, this one included
    if seen > 0:
        errors[0] += max(1.0 / MEMORY, 1.0 / (n - 1.0)) * (np.square(y - f) - errors[0])
        errors[1] += (np.square(y - f) - errors[1]) / (n - 1.0)
        for j in range(4):
            faded[j] = (1.0 - 1.0 / MEMORY) * faded[j] + np.square(y - g[j])
    if n > 2.0 and errors[0] > 0.0:
        loss = np.empty(p.size)
        for j in range(2):
            rate = (RATES[j] + 50.0 / (100.0 + n)) / errors[j]
            for i in range(p.size):
                loss[i] = rate * np.square(y - p[i])
            discount_by(W[j], math.exp(-1.0), loss)
            for i in range(p.size):
                W[j, i] = (1.0 - SHARES[j]) * W[j, i] + SHARES[j] / p.size


@compiled
def _learn_corrections(eta, left, lines, k, e):
    """Learn the corrections; e the error of the first mean in units."""
    v, step = linear_outputs(lines, k), linear_outputs(eta, lines)
    for j in range(2):
        v[j] = 1.0 + max(v[j], 0.0)
        step[j] = (e - step[j]) / v[j]
    move(eta, step, k)
    leave(left, k, v)
