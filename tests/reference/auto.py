"""The learner without a knob, in plain steps: matrices of numpy, scales from the rows seen so far."""

import math

import numpy as np

from .classes import Notes, classes_of
from .expansion import Expansions
from .krls_t import Tracker
from .scaled_rows import Members
from .stack import Probit, Stack, over_rivals


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
