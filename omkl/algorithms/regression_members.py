"""The members of ``auto_regression``, and the rows that they see.

Regressions on features, and trackers on stored rows: each learns by itself, what targets are above a center.
"""

import math
from collections import namedtuple

import numpy as np

from omkl.engine.api import compiled, fma, gains, hold, leave, linear_outputs, sincos
from omkl.engine.lanes import exponentials
from omkl.engine.probit import move
from omkl.engine.records import Record
from omkl.engine.tracker import JITTER, WORTH_STORING, exchange, move_coefficients, place, slot_for

FIRST = 300  # rows from which widths and scales are read
FARTHEST = 10.0  # of a scaled feature
SINCOS_LIMIT = 1e5  # up to here sincos has the C library's accuracy
WIDTHS = (1.0, 4.0)
RATIOS = (100.0, 1e4)  # of a prior variance to the noise's
DRIFTS = (0.0, 1e-4, 1e-2)
LAPLACIAN, GAUSSIAN, ADDITIVE = range(3)
KINDS = (LAPLACIAN, GAUSSIAN, ADDITIVE, GAUSSIAN)  # of the trackers, the first two of x
TRACKED = (1.0, 2.0, 1.0, 2.0)  # their widths
NOISES = (1e-4, 1e-3, 1e-3, 1e-3)
COLUMNS = 500  # features of which each has a Gaussian of its own


# ------------------------------------------------------------------ rows, as they come and scaled online


class Rows(Record, namedtuple("Rows", "mean m2 seen known")):
    """What the rows so far say of the next.

    mean, m2 (d,)   means of the features, and sums of squared deviations from them, of seen (1,) rows
    known (3,)      width of x, width of x~, and s: of the first rows
    """

    @compiled
    def scale(rows, stream, t, x):
        """Fill x (2, d) with the row as it comes and scaled; return `known` with this row."""
        raw, scaled, known = x[0], x[1], rows.known.copy()
        start, stop = stream.row(t)
        raw[:] = 0.0
        for k in range(start, stop):
            raw[stream.indices[k]] = stream.values[k]
        count, total, varying, largest = rows.seen[0] + 1.0, 0.0, 0, known[2]
        for j in range(raw.size):
            delta = raw[j] - rows.mean[j]
            mean = rows.mean[j] + delta / count
            variance = (rows.m2[j] + delta * (raw[j] - mean)) / count
            scaled[j] = 0.0
            if variance > 0.0:
                scaled[j] = min(max((raw[j] - mean) / math.sqrt(variance), -FARTHEST), FARTHEST)
                total += variance
                varying += 1
            largest = max(largest, abs(raw[j]))
        if rows.seen[0] < FIRST:
            known[0], known[1], known[2] = math.sqrt(2.0 * total), math.sqrt(2.0 * varying), largest
        return known

    @compiled
    def see(rows, raw, known):
        """Count the row that `scale` has filled in."""
        rows.seen[0] += 1
        for j in range(raw.size):
            delta = raw[j] - rows.mean[j]
            rows.mean[j] += delta / rows.seen[0]
            rows.m2[j] += delta * (raw[j] - rows.mean[j])
        rows.known[:] = known


# ------------------------------------------------------------------ regressions on features


class Regressions(Record, namedtuple("Regressions", "theta P last beta R late sigma")):
    """Gaussians (l, k, r, w): drift l, ratio k, features r as they come or scaled, width w, in this order;
    then the linear members (l, k, r).

    theta (24, 2 size), P, last   means, covariances, and what these are still to lose, of features times the
                                  root of the ratio: the noise's variance is 1
    beta (12, d + 1), R, late     the same of the linear members
    sigma (12, d + 1)             the diagonal alone, where R has no room for the features
    """

    @compiled
    def predict(regressions, F, stream, t, x, known, p, v, keep):
        """Fill p and v (36,) with the outputs, and 1 and the variances around them.

        Returns the features (4, 2D) of one Gaussian of each kind, and for `learn` Sigma_i z_i of the
        Gaussians and of the linear members.
        """
        theta, beta = regressions.theta, regressions.beta
        n, z, h = len(theta), np.empty(theta.shape), np.empty(beta.shape)
        features = _lift(F, stream, t, x, known)
        _spread(features, x, known[2], z, h)
        a, b = _gaussian_gains(regressions, z, keep), _linear_gains(regressions, h, keep, v[n:])
        p[:n], p[n:], v[:n] = linear_outputs(theta, z), linear_outputs(beta, h), linear_outputs(z, a)
        for i in range(v.size):
            v[i] = 1.0 + max(v[i], 0.0)
        return features, a, b

    @compiled
    def learn(regressions, e, v, a, b):
        """Learn what the outputs lack, e (36,); v, a, b of `predict`."""
        n = len(a)
        step = e / v
        move(regressions.theta, step[:n], a)
        leave(regressions.last, a, v[:n])
        move(regressions.beta, step[n:], b)
        if regressions.R.shape[-1] == b.shape[1]:
            leave(regressions.late, b, v[n:])
            return
        sigma = regressions.sigma
        for i in range(len(b)):
            for j in range(b.shape[1]):
                sigma[i, j] = max(sigma[i, j] - b[i, j] * b[i, j] / v[n + i], 0.0)


@compiled
def _lift(F, stream, t, x, known):
    """The features (4, 2D) of the Gaussians of x in all widths, then of x~."""
    D = F.V.shape[1] // 2
    z, scale = np.empty((2 * len(WIDTHS), 2 * D)), math.sqrt(1.0 / D)
    F.p[:] = 0.0
    start, stop = stream.row(t)
    for k in range(start, stop):
        _add(F.p[:D], stream.values[k], F.V[stream.indices[k], :D])
    for j in range(x.shape[1]):
        if x[1, j] != 0.0:
            _add(F.p[D:], x[1, j], F.V[j, D:])
    for r in range(2):
        p = F.p[r * D : (r + 1) * D]
        for w in range(len(WIDTHS)):
            z_i, width = z[len(WIDTHS) * r + w], known[r] * WIDTHS[w]
            over = 1.0 / width if width > 0.0 else 1.0
            for q in range(D):
                z_i[q], z_i[D + q] = sincos(p[q] * over)
            for q in range(D):
                if not abs(p[q] * over) < SINCOS_LIMIT:
                    z_i[q], z_i[D + q] = math.sin(p[q] * over), math.cos(p[q] * over)
            for q in range(2 * D):
                z_i[q] *= scale
    return z


@compiled
def _add(p, a, v):
    """p <- p + a v."""
    for q in range(p.size):
        p[q] = fma(a, v[q], p[q])


@compiled
def _spread(features, x, largest, z, h):
    """Fill z and h with the features of all Gaussians and linear members, from one of each kind."""
    s = largest if largest > 0.0 else 1.0
    for g in range(len(DRIFTS) * len(RATIOS)):
        root = math.sqrt(RATIOS[g % len(RATIOS)])
        for i in range(4):
            for j in range(features.shape[1]):
                z[4 * g + i, j] = root * features[i, j]
        for r in range(2):
            h[2 * g + r, 0] = root
            for j in range(x.shape[1]):
                h[2 * g + r, 1 + j] = root * (x[r, j] / s if r == 0 else x[r, j])


@compiled
def _gaussian_gains(regressions, z, keep):
    """Sigma_i z_i of the Gaussians."""
    P, last = regressions.P, regressions.last
    a, each = np.empty(z.shape), len(z) // len(DRIFTS)
    for l in range(len(DRIFTS)):
        low, high = l * each, (l + 1) * each
        a[low:high] = gains(P[low:high], last[low:high], z[low:high], DRIFTS[l], keep)
    return a


@compiled
def _linear_gains(regressions, h, keep, v):
    """Sigma_i h_i of the linear members; fill v with h_i' Sigma_i h_i."""
    R, late, sigma = regressions.R, regressions.late, regressions.sigma
    b, each, whole = np.empty(h.shape), len(h) // len(DRIFTS), R.shape[-1] == h.shape[1]
    for l in range(len(DRIFTS)):
        low, high, drift = l * each, (l + 1) * each, DRIFTS[l]
        if whole:
            b[low:high] = gains(R[low:high], late[low:high], h[low:high], drift, keep)
            v[low:high] = linear_outputs(h[low:high], b[low:high])
            hold(v[low:high], R[low:high], late[low:high], b[low:high], drift, keep)
            continue
        for i in range(low, high):
            for j in range(h.shape[1]):
                b[i, j] = (sigma[i, j] + drift) * h[i, j]
                if keep:
                    sigma[i, j] += drift
        v[low:high] = linear_outputs(h[low:high], b[low:high])
    return b


# ------------------------------------------------------------------ trackers on stored rows


class Trackers(Record, namedtuple("Trackers", "Q V A X kept ages width columns")):
    """The state of krls_t.py for each of four kernels, whose widths are known only as rows come.

    Q, V (4, budget, budget), A (4, budget, 1)   as in omkl/engine/tracker.py: the slots used are the first
    X (4, d, budget)      a column for each slot     kept (4, budget, 1)   the stored rows' targets
    ages (4, budget)      when each was stored, from 1 on; 0: an empty slot
    width (4,)            of the kernels     columns (1,)   features that the additive kernel is of
    All but the width are 0 at first. s = |x - x'|^2 / width^2:
    GAUSSIAN exp(-s / 2)     LAPLACIAN exp(-sqrt(s))
    ADDITIVE half a Gaussian, half the mean of exp(-(x_j - x'_j)^2 / 4) over the first columns: of features of
    variance 1. More of them may come later; what is stored must not notice
    """

    @compiled
    def predict(trackers, x, p, v):
        """Fill p and v (4,) with the outputs at x (2, d), and the variances of targets in units of the noise.

        Returns what `learn` needs of each.
        """
        tracked = [_output(trackers, 0, x[0], p, v)]
        for i in range(1, p.size):
            tracked.append(_output(trackers, i, x[i // 2], p, v))
        return tracked

    @compiled
    def learn(trackers, tracked, x, y, e):
        """Learn target y of the row; e (4,) what the outputs lack."""
        for i in range(e.size):
            _learn_row(trackers, i, x[i // 2], y, e[i], tracked[i])

    @compiled
    def begin(trackers, known, center):
        """Begin with the widths as they are known, 1 where no feature varies.

        Forget all but the stored rows, and learn them again, the oldest first; center: what their targets are
        less by.
        """
        f, v = np.zeros(len(KINDS)), np.zeros(len(KINDS))
        trackers.columns[0] = min(trackers.X.shape[1], COLUMNS)
        for i in range(f.size):
            med, ages = known[i // 2], trackers.ages[i]
            trackers.width[i] = TRACKED[i] * med if med > 0.0 else 1.0
            n = _used(ages)
            order = np.argsort(ages[:n])
            rows, targets = trackers.X[i][:, :n].T.copy()[order], trackers.kept[i, :n, 0].copy()[order]
            trackers.Q[i], trackers.V[i], trackers.A[i], trackers.ages[i] = 0.0, 0.0, 0.0, 0
            for s in range(n):
                found = _output(trackers, i, rows[s], f, v)
                _learn_row(trackers, i, rows[s], targets[s], targets[s] - center - f[i], found)


@compiled
def _output(trackers, i, x, f, variance):
    """Fill f_i and variance_i of tracker i at row x; return k, v = V k and s2, for `_learn_row`."""
    k, a = _kernel_values(trackers, i, x), trackers.A[i]
    v, s2, total = _times(trackers.V[i][: k.size], k), 1.0 + JITTER, 0.0
    for s in range(k.size):
        s2 -= k[s] * v[s]
        total = fma(k[s], a[s, 0], total)
    s2 = max(s2, 0.0) + NOISES[i]
    f[i], variance[i] = total, s2 / NOISES[i]
    return k, v, s2


@compiled
def _learn_row(trackers, i, x, y, e, found):
    """Tracker i learns row x of target y, whose output lacks e: stores it, or only what it says."""
    k, v, s2 = found
    Q, V, a, ages = trackers.Q[i], trackers.V[i], trackers.A[i], trackers.ages[i]
    q, gamma2, r, lacking = _times(Q[: k.size], k), 1.0 + JITTER, -1, np.array([e])
    for j in range(k.size):
        gamma2 -= k[j] * q[j]
    if gamma2 >= WORTH_STORING:
        r = slot_for(Q, a, ages, ages.size, q, gamma2, v, lacking, s2)
    if r < 0:
        s = (q - v) / math.sqrt(s2)
        move_coefficients(a, s, lacking, s2, 1.0)
        _add_product(V, s)
        return
    change = exchange(Q, V, a, r, q, gamma2, v, lacking, s2)
    place(Q, V, a, r, change, lacking, s2, 1.0)
    _add_products(Q, change[1], change[2])
    _add_and_take(V, change[0], change[3], change[4])
    ages[r] = ages.max() + 1
    trackers.X[i][:, r] = x
    trackers.kept[i, r] = y


@compiled
def _used(ages):
    """How many slots are used."""
    n = 0
    while n < ages.size and ages[n] > 0:
        n += 1
    return n


@compiled
def _kernel_values(trackers, i, x):
    """k (n,): kernel values of row x with the rows that tracker i stores."""
    n, kind, X, width = _used(trackers.ages[i]), KINDS[i], trackers.X[i], trackers.width[i]
    k = _squares(X, n, x, width)
    if kind == LAPLACIAN:
        for l in range(n):
            k[l] = math.sqrt(k[l])
    exponentials(-1.0 if kind == LAPLACIAN else -0.5, k, n, False, k)
    columns = min(trackers.columns[0], x.size)
    if kind == ADDITIVE and columns > 0:
        total, one, share = np.zeros(n), np.empty(n), 0.5 / columns
        for j in range(columns):
            a, p = X[j], x[j]
            for l in range(n):
                one[l] = (a[l] - p) * (a[l] - p)
            exponentials(-0.25, one, n, False, one)
            for l in range(n):
                total[l] += one[l]
        for l in range(n):
            k[l] = fma(share, total[l], 0.5 * k[l])
    return k


@compiled
def _squares(X, n, x, width):
    """s (n,) of row x and the stored rows, by one order of additions."""
    k, over, j = np.zeros(n), 1.0 / width, 0
    while j + 4 <= x.size:
        a, b, c, d = X[j], X[j + 1], X[j + 2], X[j + 3]
        p, q, r, s = x[j], x[j + 1], x[j + 2], x[j + 3]
        for l in range(n):
            t, u, v, w = (a[l] - p) * over, (b[l] - q) * over, (c[l] - r) * over, (d[l] - s) * over
            k[l] = fma(w, w, fma(v, v, fma(u, u, fma(t, t, k[l]))))
        j += 4
    while j < x.size:
        a, p = X[j], x[j]
        for l in range(n):
            t = (a[l] - p) * over
            k[l] = fma(t, t, k[l])
        j += 1
    return k


# Symmetric matrices: each element is computed by the same operations as its mirror image. Rows are taken in
# pairs and fours, so that what they share is read once.


@compiled
def _times(K, a):
    """K a of a symmetric K (n, n)."""
    out, n, j = np.zeros(a.size), a.size, 0
    while j + 4 <= n:
        b, c, d, e = K[j], K[j + 1], K[j + 2], K[j + 3]
        w, x, y, z = a[j], a[j + 1], a[j + 2], a[j + 3]
        for l in range(n):
            out[l] = fma(z, e[l], fma(y, d[l], fma(x, c[l], fma(w, b[l], out[l]))))
        j += 4
    while j < n:
        b, w = K[j], a[j]
        for l in range(n):
            out[l] = fma(w, b[l], out[l])
        j += 1
    return out


@compiled
def _add_product(V, s):
    """V <- V + s s'."""
    for j in range(s.size):
        row, s_j = V[j], s[j]
        for l in range(s.size):
            row[l] += s_j * s[l]


@compiled
def _add_products(Q, x, g):
    """Q <- Q + x x' - g g'."""
    for j in range(0, x.size - 1, 2):
        a, b, x_a, x_b, g_a, g_b = Q[j], Q[j + 1], x[j], x[j + 1], g[j], g[j + 1]
        for l in range(x.size):
            a[l] += x_a * x[l] - g_a * g[l]
            b[l] += x_b * x[l] - g_b * g[l]
    if x.size % 2:
        j = x.size - 1
        for l in range(x.size):
            Q[j, l] += x[j] * x[l] - g[j] * g[l]


@compiled
def _add_and_take(V, s, g, h):
    """V <- V + s s' - (g h' + h g')."""
    for j in range(0, s.size - 1, 2):
        a, b, s_a, s_b, g_a, g_b, h_a, h_b = V[j], V[j + 1], s[j], s[j + 1], g[j], g[j + 1], h[j], h[j + 1]
        for l in range(s.size):
            a[l] = a[l] + s_a * s[l] - (g_a * h[l] + h_a * g[l])
            b[l] = b[l] + s_b * s[l] - (g_b * h[l] + h_b * g[l])
    if s.size % 2:
        j = s.size - 1
        for l in range(s.size):
            V[j, l] = V[j, l] + s[j] * s[l] - (g[j] * h[l] + h[j] * g[l])
