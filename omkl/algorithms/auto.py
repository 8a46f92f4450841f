"""Nothing to tune: members of several kinds on features as they come and scaled online, and a stack of them.

What the kernels' widths and the features' scales should be is read off the rows seen so far. For numbers see
auto_regression.py.

x the row, x~ the row scaled online: less the mean of what has been seen, this row included, divided by its
standard deviation, held in [-10, 10]; 0 where a feature has not varied

| members, of x and of x~ alike | with | margin |
|---|---|---|
| Gaussian processes, width med/2, med | probit, prior variance 10, drift 0; of med/2 also 0.01 | mu / s |
| linear in [1; x/s] | probit, prior variance 1, drift 0.01 | mu / s |
| linear in [1; x/s] | AROW, r = 10 | theta . z |
| KRLS-T of width med/2, med | noise 0.02, 0.1; each stores 2 size vectors | the mean |
| passive-aggressive, width med/5 | C = 1; they store 20 size rows together | f |

and one linear in [1; x~; (x~^2 - 1)/sqrt 2], probit, prior variance 1, whose covariance stays diagonal.
All kernels are Gaussians. med is the root mean squared distance of two rows, sqrt(2 sum_j var_j), and s the
largest |x_j| (1 for x~), of the first 300 rows: of those so far until they have come, fixed then. KRLS-T
begins in round 20 with the width of then. Features are sines and cosines of `size` random directions, those
of x the same for all widths. Of more than 500 columns there are no vectors, and of linear members' matrices
only the diagonals. Probit and its s: engine/probit.py; the stack: engine/stack.py.
"""

import math

import numpy as np

from omkl.engine.api import compiled, gains, hinge, leave, linear_outputs
from omkl.engine.classes import strongest_rival
from omkl.engine.members import lift_row, linear_gains, linear_leave, scale_row
from omkl.engine.probit import move, steps
from omkl.engine.stack import answers, note_margins, over_rivals, scaled_margins, teach
from omkl.engine.tracker import GAUSSIAN, gaussian_values, learn_row, row_outputs, used

WIDTHS = (0.5, 1.0)
NU = 10.0  # prior variance of the Gaussian processes' parameters
DRIFT = 0.01  # variance that the parameters of the members that drift gain in a round
R_AROW = 10.0
NOISES = (0.02, 0.1)  # of KRLS-T, by widths
BEGIN = 20  # rounds before KRLS-T begins
NARROW = 0.2  # width of the passive-aggressive kernels
C_PA = 1.0
KERNELS = 4  # Gaussian processes without drift; two more have one
MEMBERS = 17  # 6 Gaussian processes, 2 linear, the squares, 2 by AROW, 4 KRLS-T, 2 passive-aggressive


@compiled
def auto(
    stream, F, mean, m2, seen, known, theta, P, last, beta, R, late, sigma, gamma, tau, nu, S, slate, ssigma,
    begun, X, ages, Q, V, a, rows, born, worth, b,
    squares, eta, B, blast, own, O, olast, omega, W, trace, learn,
):  # fmt: skip
    """Predict with P > 1/2 of the stack's probability P, and learn members and stack.

    mean, m2 (d,) means of the features, and sums of squared deviations from them, of seen (1,) rows
    known (3,) width of x, width of x~, s   F the directions, of x and of x~
    Probit members: theta (6, 2 size), P, last the Gaussians' means, covariances, and what these are still to
    lose: features are multiplied by the root of the prior variance, whose covariance is I
    beta (2, d + 1), R, late the same of the linear ones, or sigma the diagonal
    gamma, tau (2, d + 1) means and variances of [1; x~] and [0; (x~^2 - 1)/sqrt 2]
    AROW: nu (2, d + 1); S, slate, ssigma as R, late, sigma
    KRLS-T: begun (2,) the widths, 0 before   X (4, d, 2 size), ages, Q, V, a: see engine/tracker.py
    Passive-aggressive: rows (2, d, 20 size) x and x~   born, worth (20 size,) when each was stored, from 1
    on, and its coefficients' squares; the one worth least goes   b (2, 20 size) coefficients
    The stack: squares (17,) sums of squared margins   eta, B, blast its learners   own, O, olast, omega (17,)
    the members by themselves   W (9,) weights
    With more than two classes there are such probit members for each class c against all others; the other
    members learn as the learners of their name do, and share their matrices; the stack sees margins over the
    strongest other class, and its probabilities are divided by their sum. What belongs to one class has a
    first side (C,), C = 1 for two classes.
    Deviations: none.
    """
    rows_seen, probits = (mean, m2, seen, known), (theta, P, last, beta, R, late, sigma, gamma, tau)
    arow, trackers = (nu, S, slate, ssigma), (begun, X, ages, Q, V, a)
    passive, stack = (rows, born, worth, b), (squares, eta, B, blast, own, O, olast, omega, W)
    keep = np.ones(MEMBERS, np.bool_)
    rounds_of_classes(stream, F, rows_seen, probits, arow, trackers, passive, stack, trace, learn, keep, True)


@compiled
def rounds_of_classes(
    stream, F, rows_seen, probits, arow, trackers, passive, stack, trace, learn, keep, stacked
):
    """All rounds. keep (17,): which members the stack sees; stacked: else their Bayes mixture answers."""
    mean, m2, seen, known = rows_seen
    squares, eta, B, blast, own, O, olast, omega, W = stack
    learners, by_themselves = (eta, B, blast), (own, O, olast)
    d, D, C = mean.size, F.V.shape[1] // 2, len(probits[0])
    x, z, h = np.zeros((2, d)), np.zeros((KERNELS + 2, 2 * D)), np.zeros((2, d + 1))
    new_mean, new_m2, new_known = np.zeros(d), np.zeros(d), np.zeros(3)
    M, y = np.zeros((C, MEMBERS)), np.zeros(C)
    for t in range(stream.T):
        scale_row(stream, t, mean, m2, seen[0], known, x, new_mean, new_m2, new_known)
        lift_row(F, stream, t, x, new_known, WIDTHS, NU, z)
        z[KERNELS], z[KERNELS + 1] = z[0], z[2]  # the narrow ones again, with a drift
        _lines(x, new_known[2], h)
        for c in range(C):
            y[c] = F.target(stream, t, c)
            _probits(probits, c, z, h, M[c, :9], y[c], learn)
        _arow(arow, h, M[:, 9:11], y, learn)
        if trackers[1].shape[1] == d:
            _trackers(trackers, seen[0], new_known, x, M[:, 11:15], y, learn)
            _passive(passive, new_known, x, M[:, 15:], y, learn)
        over_rivals(M)
        for i in range(MEMBERS):
            if not keep[i]:
                M[:, i] = 0.0
        scaled = scaled_margins(M, squares, seen[0] * C)
        E = answers(scaled, learners, by_themselves, omega)
        for c in range(C):
            total = 0.0
            for s in range(W.size):
                total += W[s] * E[c, s]
            F.note_excess(c, total if stacked else E[c, W.size - 1])
        trace.record(t, F.margin_of_excesses(stream, t), stream.y[t], F)
        if learn:
            teach(scaled, E, y, learners, by_themselves, omega, W)
            note_margins(M, squares)
            mean[:], m2[:], known[:] = new_mean, new_m2, new_known
            seen[0] += 1


@compiled
def _lines(x, s, h):
    """h <- [1; x / s] and [1; x~]."""
    for r in range(2):
        scale = s if r == 0 and s > 0.0 else 1.0
        h[r, 0] = 1.0
        for j in range(x.shape[1]):
            h[r, 1 + j] = x[r, j] / scale


@compiled
def _probits(probits, c, z, h, f, y, learn):
    """Fill f (9,) with mu / sqrt(1 + v) of the probit members of class c, and learn its label y."""
    theta, P, last, beta, R, late, sigma, gamma, tau = probits
    theta, P, last, gamma, tau = theta[c], P[c], last[c], gamma[c], tau[c]
    beta, R, late, sigma = beta[c], R[c], late[c], sigma[c]
    g, lines, mu, v = np.empty(z.shape), len(z) + len(h), np.empty(f.size), np.empty(f.size)
    g[:KERNELS] = gains(P[:KERNELS], last[:KERNELS], z[:KERNELS], 0.0, learn)
    g[KERNELS:] = gains(P[KERNELS:], last[KERNELS:], z[KERNELS:], DRIFT / NU, learn)
    mu[: len(z)], v[: len(z)] = linear_outputs(theta, z), linear_outputs(z, g)
    k = linear_gains(R, late, sigma, h, DRIFT, learn, v[len(z) : lines])
    mu[len(z) : lines] = linear_outputs(beta, h)
    q = _squares(h[1])
    l = tau * q
    mu[lines], v[lines] = np.sum(linear_outputs(gamma, q)), np.sum(linear_outputs(q, l))
    for i in range(f.size):
        v[i] = max(v[i], 0.0)
        f[i] = mu[i] / math.sqrt(1.0 + v[i])
    if not learn:
        return
    _, step, divisor = steps(mu, v, y)
    move(theta, step[: len(z)], g)
    leave(last, g, divisor[: len(z)])
    move(beta, step[len(z) : lines], k)
    linear_leave(R, late, sigma, k, divisor[len(z) : lines])
    for i in range(len(gamma)):
        for j in range(gamma.shape[1]):
            gamma[i, j] += step[lines] * l[i, j]
            tau[i, j] = max(tau[i, j] - l[i, j] * l[i, j] / divisor[lines], 0.0)


@compiled
def _squares(h):
    """[1; x~] and [0; (x~^2 - 1) / sqrt 2]."""
    q = np.zeros((2, h.size))
    q[0] = h
    for j in range(1, h.size):
        q[1, j] = (h[j] * h[j] - 1.0) / math.sqrt(2.0)
    return q


@compiled
def _rivals(f, y):
    """The true class and its strongest rival of scores f (C,); 0 and -1 of two classes."""
    if f.size == 1:
        return 0, -1
    label = 0
    for c in range(f.size):
        if y[c] > 0.0:
            label = c
    return label, strongest_rival(f, label)


@compiled
def _loss(f, y):
    """Hinge loss of scores f (C,), and the numbers (C,) by which a step moves them."""
    label, rival = _rivals(f, y)
    side = np.zeros(f.size)
    side[label] = 1.0
    if rival < 0:
        side[0] = y[0]
        return hinge(y[0], f[0]), side
    side[rival] = -1.0
    return hinge(1.0, f[label] - f[rival]), side


@compiled
def _arow(arow, h, f, y, learn):
    """AROW of x and of x~: fill f (C, 2), and learn."""
    nu, S, late, sigma = arow
    sides = min(len(f), 2)  # a step moves the true class, and its rival where there are more than two
    for r in range(2):
        for c in range(len(f)):
            f[c, r] = linear_outputs(nu[c, r : r + 1], h[r : r + 1])[0]
        loss, side = _loss(f[:, r], y)
        if not (learn and loss > 0.0):
            continue
        v = np.empty(1)
        k = linear_gains(S[r : r + 1], late[r : r + 1], sigma[r : r + 1], h[r : r + 1], 0.0, True, v)
        v[0] = max(v[0], 0.0) + R_AROW / sides
        for c in range(len(f)):
            move(nu[c, r : r + 1], np.array([side[c] * loss / sides / v[0]]), k)
        linear_leave(S[r : r + 1], late[r : r + 1], sigma[r : r + 1], k, v)


@compiled
def _trackers(trackers, seen, known, x, f, y, learn):
    """KRLS-T of x and x~ in both widths: fill f (C, 4), 0 before they begin, and learn."""
    begun, X, ages, Q, V, a = trackers
    f[:] = 0.0
    if seen < BEGIN:
        return
    for i in range(len(X)):
        r, wide = i // len(WIDTHS), i % len(WIDTHS)
        med = begun[r] if begun[r] > 0.0 else known[r] if known[r] > 0.0 else 1.0
        if learn:
            begun[r] = med
        kernel, coefficients = (GAUSSIAN, WIDTHS[wide] * med, 0), a[:, i].T
        k, v, s2 = row_outputs(kernel, V[i], coefficients, X[i], ages[i], x[r], NOISES[wide], f[:, i])
        if learn:
            learn_row(Q[i], V[i], coefficients, X[i], ages[i], x[r], k, v, y - f[:, i], s2)


@compiled
def _passive(passive, known, x, f, y, learn):
    """Passive-aggressive kernels of x and x~: fill f (C, 2), and store the row where either needs it."""
    rows, born, worth, b = passive
    steps, needed = np.zeros(f.shape), False
    sides, n = min(len(f), 2), used(born)
    for r in range(2):
        width = NARROW * known[r] if known[r] > 0.0 else 1.0
        k = gaussian_values(rows[r], n, x[r], width)
        for c in range(len(f)):
            f[c, r] = 0.0
            for s in range(k.size):
                f[c, r] += k[s] * b[c, r, s]
        loss, side = _loss(f[:, r], y)
        needed = needed or loss > 0.0
        for c in range(len(f)):
            steps[c, r] = side[c] * min(loss / sides, C_PA)
    if not (learn and needed):
        return
    slot = n
    if n == born.size:
        slot = 0
        for s in range(1, n):
            if worth[s] < worth[slot] or (worth[s] == worth[slot] and born[s] < born[slot]):
                slot = s
    born[slot], worth[slot] = born.max() + 1, 0.0
    for r in range(2):
        rows[r, :, slot] = x[r]
        for c in range(len(f)):
            b[c, r, slot] = steps[c, r]
            worth[slot] += steps[c, r] * steps[c, r]
