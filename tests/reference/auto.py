"""The learner without a knob, in plain steps: matrices of numpy, scales from the rows seen so far."""

import math
from itertools import product

import numpy as np
from scipy.special import log_ndtr, ndtr

from .classes import Notes, classes_of
from .expansion import Expansions
from .krls_t import Tracker
from .scaled_rows import Members
from .weights import TINY


class Rows(Members):
    """All rows x and x~ so far, for kernels between them."""

    def __init__(self, X, D, rng):
        super().__init__(X, D, rng)
        self.x, self.meds = ([], []), []

    def features(self, t):
        made = super().features(t)
        for known, row in zip(self.x, self.rows, strict=True):
            known.append(row)
        self.meds.append(self.med)
        return made

    def value(self, r, width, j, t):
        """A Gaussian of rows j and t."""
        return math.exp(-np.sum((self.x[r][j] - self.x[r][t]) ** 2) / (2 * width**2))


class Probit:
    """mu = offset + theta . z, theta ~ N(0, S); one label at a time, moments of the posterior."""

    def __init__(self, size, variance, drift=0.0, diagonal=False):
        self.theta, self.S, self.drift, self.diagonal = (
            np.zeros(size),
            variance * np.eye(size),
            drift,
            diagonal,
        )

    def drift_on(self):
        self.S = self.S + self.drift * np.eye(len(self.S))

    def predict(self, z, offset=0.0):
        """mu / sqrt(1 + v)."""
        self.z, self.v = z, z @ self.S @ z
        self.u = (offset + self.theta @ z) / math.sqrt(1 + self.v)
        return self.u

    def learn(self, y):
        log_p = log_ndtr(y * self.u)
        rho = math.exp(-(self.u**2) / 2 - math.log(2 * math.pi) / 2 - log_p)
        g = self.S @ self.z
        self.theta = self.theta + y * rho / math.sqrt(1 + self.v) * g
        change = rho * (rho + y * self.u) / (1 + self.v) * np.outer(g, g)
        self.S = self.S - (np.diag(np.diag(change)) if self.diagonal else change)
        return log_p


class ProbitMembers:
    """Those of one class against all others."""

    def __init__(self, D, d):
        gaussians = [Probit(2 * D, 10.0) for _ in range(4)] + [Probit(2 * D, 10.0, 0.01) for _ in range(2)]
        lines = [Probit(d + 1, 1.0, 0.01) for _ in range(2)]
        self.each = [*gaussians, *lines, Probit(2 * d + 1, 1.0, diagonal=True)]

    def predict(self, z, lines):
        squares = np.append(lines[1], (lines[1][1:] ** 2 - 1) / math.sqrt(2))
        for own in self.each:
            own.drift_on()
        rows = [*z, z[0], z[2], *lines, squares]
        return [own.predict(x) for own, x in zip(self.each, rows, strict=True)]

    def learn(self, y):
        for own in self.each:
            own.learn(y)


def sides(scores, y):
    """Hinge loss, and who moves by how much: the true class and its strongest rival; y (C,) signs."""
    if len(y) == 1:
        return max(0.0, 1 - y[0] * scores[0]), {0: y[0]}
    true = int(np.argmax(y))
    rival = max((c for c in range(len(y)) if c != true), key=lambda c: (scores[c], -c))
    return max(0.0, 1 - scores[true] + scores[rival]), {true: 1.0, rival: -1.0}


class Arow:
    """r = 10; the difference of two classes takes the step, half of it each."""

    def __init__(self, n, C):
        self.theta, self.S = np.zeros((C, n)), np.eye(n)

    def predict(self, z):
        self.z = z
        return self.theta @ z

    def learn(self, y):
        loss, moves = sides(self.theta @ self.z, y)
        if loss > 0:
            g, n = self.S @ self.z, len(moves)
            over = self.z @ g + 10.0 / n
            for c, side in moves.items():
                self.theta[c] += side * loss / n / over * g
            self.S = self.S - np.outer(g, g) / over


class Passive:
    """Passive-aggressive kernels of x and x~ on the same stored rows; the one worth least goes."""

    def __init__(self, M, C, vectors):
        self.M, self.C, self.vectors, self.held = M, C, vectors, []

    def predict(self, t):
        width = [0.2 * med if med > 0 else 1.0 for med in self.M.med]
        self.t, self.f = t, np.zeros((self.C, 2))
        for j, a in self.held:
            for r in range(2):
                self.f[:, r] += a[:, r] * self.M.value(r, width[r], j, t)
        return self.f

    def learn(self, y):
        a, needed = np.zeros((self.C, 2)), False
        for r in range(2):
            loss, moves = sides(self.f[:, r], y)
            needed |= loss > 0
            for c, side in moves.items():
                a[c, r] = side * min(loss / len(moves), 1.0)
        if needed:
            if len(self.held) == self.vectors:
                self.held.pop(int(np.argmin([np.sum(own**2) for _, own in self.held])))
            self.held.append((self.t, a))


class Kernel:
    """What a tracker asks of a set of kernels; its width is that of round 20."""

    def __init__(self, M, r, share):
        self.M, self.r, self.share = M, r, share

    def kappa(self, _, j, t):
        med = self.M.meds[20][self.r]
        return self.M.value(self.r, self.share * (med if med > 0 else 1.0), j, t)


class Stack:
    """Eight probit learners on the members' margins, their Bayes mixture, and a mixture of the nine."""

    def __init__(self, k):
        pairs = product((0.01, 0.1), (0.0, 1e-5, 1e-4, 1e-3))
        self.learners = [Probit(k + 1, variance, drift) for variance, drift in pairs]
        self.own = [Probit(2, 1.0) for _ in range(k)]
        for own in self.own:
            own.S[1, 1] = 0.1
        self.w, self.W = np.full(k, 1 / k), np.full(9, 1 / 9)
        self.squares, self.seen = np.zeros(k), 0

    def predict(self, M):
        """P - 1/2 of every class; M (C, k)."""
        root = np.sqrt(self.squares / max(self.seen, 1))
        scale = np.where(root > 0, root, 1.0)
        self.z = np.where(np.abs(M) > 1e-12, np.clip(M / scale, -5, 5), 0.0)
        self.squares, self.seen = self.squares + (M**2).sum(axis=0), self.seen + len(M)
        for own in self.learners:
            own.drift_on()
        self.e = np.array([self.excesses(z) for z in self.z])
        return self.e @ self.W

    def excesses(self, z):
        linear = [ndtr(own.predict(np.append(z, 1.0), z.mean())) - 0.5 for own in self.learners]
        own = [ndtr(one.predict(np.array([a, 1.0]), a)) - 0.5 for one, a in zip(self.own, z, strict=True)]
        return [*linear, float(np.dot(self.w, own))]

    def learn(self, y):
        log_P = np.zeros(9)
        for z, e, own in zip(self.z, self.e, y, strict=True):
            self.excesses(z)
            for learner in self.learners:
                learner.learn(own)
            self.w = reweighed(self.w, np.array([one.learn(own) for one in self.own]))
            log_P += np.log(np.maximum(0.5 + own * e, 2.0**-53))
        self.W = reweighed(self.W, log_P)


def reweighed(w, log_p):
    """Bayes, and a share of 0.001 to all alike."""
    w = np.maximum(w * np.exp(log_p - log_p.max()), TINY)
    return (1 - 1e-3) * np.maximum(w / w.sum(), TINY) + 1e-3 / len(w)


def over_rivals(M):
    """Margins over the strongest other class."""
    if len(M) == 1:
        return M
    return np.array([M[c] - np.delete(M, c, axis=0).max(axis=0) for c in range(len(M))])


def auto(X, y, kernels=(), *, size, normalise="none", rng):
    classes = classes_of(y)
    C, d, M = classes or 1, X.shape[1], Rows(X, size, rng)
    E = Notes() if classes else Expansions(None, 0, len(y))
    probits, arows = [ProbitMembers(size, d) for _ in range(C)], [Arow(d + 1, C) for _ in range(2)]
    form = [(r, share, noise) for r in range(2) for share, noise in zip(M.widths, (0.02, 0.1), strict=True)]
    trackers = [Tracker(Kernel(M, r, share), 0, C, 2 * size, noise, 1.0) for r, share, noise in form]
    passive, stack = Passive(M, C, 20 * size), Stack(17)
    for t, own in enumerate(y):
        signs = np.where(np.arange(C) == own, 1.0, -1.0) if classes else np.array([own])
        margins = np.zeros((C, 17))
        gaussians, lines = M.features(t)
        margins[:, :9] = [each.predict(gaussians, lines) for each in probits]
        margins[:, 9:11] = np.transpose([each.predict(z) for each, z in zip(arows, lines, strict=True)])
        if t >= 20:
            margins[:, 11:15] = np.transpose([each.predict(t)[0] for each in trackers])
        margins[:, 15:] = passive.predict(t)
        P = stack.predict(over_rivals(margins))
        if classes:
            E.record(((P + 0.5) / (P + 0.5).sum()).tolist(), own)
        else:
            E.record(float(P[0]), own, [])
        for each, sign in zip(probits, signs, strict=True):
            each.learn(sign)
        for each in (*arows, passive, stack):
            each.learn(signs)
        if t >= 20:
            for each in trackers:
                each.learn(t, signs)
    return E.result()


auto.apart = "one ensemble for each class, whose probabilities need not add up to 1"
auto.near = 1e-6  # KRLS-T solves systems whose condition number is large
