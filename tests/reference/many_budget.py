"""More than two classes: learners with a budget. A slot holds one number a class.

The vector of slot s is a (n_classes,), f_c = sum_s a_sc kappa(x_s, .); a step of size s stores s (e_y - e_r).
"""

import math

import numpy as np

from .budget import draw, largest_root, passive_cost, removal_probabilities
from .classes import ClassResult, best, class_votes
from .nogd import feature_map
from .projectron import ROUNDING, Spans
from .slots import Slots


class ClassSlots(Slots):
    """Slots with coefficients of all classes; `y` are the classes. exact: nothing is taken for rounding."""

    exact = True

    def __init__(self, X, label, n_classes, kernels, normalise, budget):
        super().__init__(X, label, kernels, normalise, budget)
        self.C, self.notes = n_classes, []

    def terms(self, i, t):
        return [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]

    def size(self, i, terms):
        """What the scores are known relative to."""
        return sum((np.abs(term) for term in terms), np.zeros(self.C))

    def judge(self, i, t, y):
        """The margin of class y at x_t, its strongest rival, and the vote of kernel i."""
        s, terms = np.zeros(self.C), self.terms(i, t)
        for term in terms:
            s = s + term
        r, g = best(s, without=y), 0 if self.exact else ROUNDING * self.size(i, terms)
        margin = s[y] - s[r]
        if not self.exact:
            r = next(c for c in range(self.C) if c != y and s[r] - s[c] <= g[r] + g[c])
            margin = s[y] - s[r] if abs(s[y] - s[r]) > g[y] + g[r] else 0.0
        return margin, r, y if margin > 0 else r if margin < 0 else min(y, r)

    def note(self, totals, y):
        r = best(totals, without=y)
        self.notes.append((totals[y] <= totals[r], best(totals), totals[y] - totals[r]))

    def predict(self, t):
        """Record the weighted vote; return margins and rivals of all kernels."""
        y = self.y[t]
        d, r, votes = zip(*(self.judge(i, t, y) for i in range(self.m)), strict=True)
        self.note(class_votes(self.weights, votes, self.C), y)
        return d, r

    def pair(self, t, r, size=1.0):
        """size (e_y - e_r)."""
        a = np.zeros(self.C)
        a[self.y[t]], a[r] = size, -size
        return a

    def finish(self):
        self.stored = sorted({j for held in self.held for j in held})
        table = np.zeros((self.m, self.C, len(self.stored)))
        for i in range(self.m):
            for a, j in zip(self.a[i], self.held[i], strict=True):
                table[i, :, self.stored.index(j)] += a
        made = [np.array(part) for part in zip(*self.notes, strict=True)]
        n_sv = np.array([len(held) for held in self.held])
        return ClassResult(*made, n_sv, np.array(self.stored, int), table, self.weights.w)


def bomkc_rbp(X, label, n_classes, kernels, *, budget, gamma, normalise="none", rng):
    """A mistake is stored; a random slot makes room."""
    E = ClassSlots(X, label, n_classes, kernels, normalise, budget)
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            if d[i] <= 0 and E.full(i):
                E.replace(i, int(rng.random() * budget), t, E.pair(t, r[i]))
            elif d[i] <= 0:
                E.append(i, t, E.pair(t, r[i]))
    return E.finish()


def bomkc_forgetron(X, label, n_classes, kernels, *, budget, gamma, normalise="none", rng=None):
    """With inner products halved: ||e_y - e_r||^2 = 1, and mu is half a margin, of x_r's class and rival."""
    E = ClassSlots(X, label, n_classes, kernels, normalise, budget)
    Q, M = [0.0] * E.m, [0] * E.m
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            if d[i] > 0:
                continue
            M[i] += 1
            if not E.full(i):
                E.append(i, t, E.pair(t, r[i]))
                continue
            s = E.oldest[i]
            old, a = E.held[i][s], E.a[i][s]
            scores = sum(E.terms(i, old)) + E.pair(t, r[i]) * E.kappa(i, t, old)
            mu, delta = (scores[np.argmax(a)] - scores[np.argmin(a)]) / 2, a.max()
            phi = largest_root(delta**2 - 2 * delta * mu, 2 * delta, Q[i] - 15 / 32 * M[i])
            Q[i] += (delta * phi) ** 2 + 2 * (delta * phi) * (1 - phi * mu)
            Q[i] = min(Q[i], 15 / 32 * M[i])
            E.scale(i, phi)
            E.replace_oldest(i, t, E.pair(t, r[i], phi))
    return E.finish()


def bomkc_bogd(
    X, label, n_classes, kernels, *, budget, gamma, eta, lam, removal, clip, normalise="none", rng
):
    """All x (1 - eta lam); on d <= 1 a step of eta. |a_s| is that of a step: (1/2 sum_c a_sc^2)^1/2."""
    E = ClassSlots(X, label, n_classes, kernels, normalise, budget)
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            E.scale(i, 1 - eta * lam)
            if d[i] > 1:
                continue
            step = E.pair(t, r[i], eta)
            if not E.full(i):
                E.append(i, t, step)
            elif removal == "fifo":
                E.replace_oldest(i, t, step)
            else:
                own = [E.kappa(i, j, j) for j in E.held[i]]
                norms = [math.sqrt((a @ a) / 2 * k) for a, k in zip(E.a[i], own, strict=True)]
                p = {"uniform": [1 / budget] * budget, "nonuniform": removal_probabilities(norms)}[removal]
                s = draw(rng, p)
                E.a[i] = [a if j == s else a / (1 - p[j]) for j, a in enumerate(E.a[i])]
                if removal == "uniform":
                    E.a[i] = [np.clip(a, -eta * clip, eta * clip) for a in E.a[i]]
                E.replace(i, s, t, step)
    return E.finish()


def bomkc_bpas(X, label, n_classes, kernels, *, budget, gamma, C, normalise, pool_normalise="none", rng=None):
    """tau = min(C, loss / (2 kappa(x, x))); the vector whose replacement changes f least makes room."""
    E = ClassSlots(X, label, n_classes, kernels, pool_normalise, budget)
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            loss, own = 1 - d[i], E.kappa(i, t, t) if normalise else 1.0
            if loss <= 1e-9 or own == 0:
                continue
            step = E.pair(t, r[i], min(C, loss / (2 * own)))
            if not E.full(i):
                E.append(i, t, step)
                continue
            k = [E.kappa(i, j, t) for j in E.held[i]]
            own_r = [E.kappa(i, j, j) if normalise else 1.0 for j in E.held[i]]
            change = [passive_cost(a, k_r, o, own) for a, k_r, o in zip(E.a[i], k, own_r, strict=True)]
            s = min(range(budget), key=lambda q, c=change, held=E.held[i]: (c[q].sum(), held[q]))
            E.replace(i, s, t, E.a[i][s] * E.kappa(i, E.held[i][s], t) / own + step)
    return E.finish()


class ClassSpans(ClassSlots, Spans):
    """Scores that differ by rounding are the same, and coefficients that are rounding are 0."""

    exact = False

    def mistake(self, i, t, r):
        beta, _, residual = self.projection(i, t)
        if not self.full(i) and residual > 0:
            self.append(i, t, self.pair(t, r))
        else:
            self.move(i, self.pair(t, r), beta)

    def move(self, i, step, beta):
        new = [a + step * b for a, b in zip(self.a[i], beta, strict=True)]
        self.a[i] = [
            np.where(np.abs(b) > ROUNDING * np.abs(a), b, 0.0) for a, b in zip(self.a[i], new, strict=True)
        ]


def bomkc_projectron(X, label, n_classes, kernels, *, budget, gamma, normalise="none", rng=None):
    """A mistake is stored, or projected where the budget is full."""
    E = ClassSpans(X, label, n_classes, kernels, normalise, budget)
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            if d[i] <= 0:
                E.mistake(i, t, r[i])
    return E.finish()


def bomkc_projectronpp(X, label, n_classes, kernels, *, budget, gamma, normalise="none", rng=None):
    """Moreover steps on 0 < d < 1; squared norms of changes are twice those of two classes."""
    E = ClassSpans(X, label, n_classes, kernels, normalise, budget)
    U = math.sqrt((budget + 1) / math.log(budget + 1)) / 4
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            loss = 1 - d[i]
            if d[i] <= 0:
                E.mistake(i, t, r[i])
            elif loss > 1e-9:
                beta, size, residual = E.projection(i, t)
                tau = min(loss / (2 * size), 1) if size > 0 else 0
                if tau * (2 * loss - tau * 2 * size - 2 * U * math.sqrt(2 * residual)) >= 0:
                    E.move(i, E.pair(t, r[i], tau), beta)
    return E.finish()


class Mapped(ClassSpans):
    """NOGD's: from the map's making on, rounding is beside the largest coefficient and a step, too."""

    step = 0.0

    def size(self, i, terms):
        if not self.full(i):
            return np.zeros(self.C)
        return np.maximum(super().size(i, terms), max(self.step, np.abs(self.a[i]).max()))


def bomkc_nogd(X, label, n_classes, kernels, *, budget, gamma, eta, rank, normalise="none", rng=None):
    """As for two classes, v (k, n_classes)."""
    E = Mapped(X, label, n_classes, kernels, normalise, budget)
    E.step = eta
    features, v = [None] * E.m, [None] * E.m
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            if 1 - d[i] <= 1e-9:
                continue
            step = E.pair(t, r[i], eta)
            if features[i] is None:
                E.append(i, t, step)
                if not E.full(i):
                    continue
                features[i], back = feature_map(E.gram[i], rank, budget)
                v[i] = back @ np.array(E.a[i])
            else:
                k_t = np.array([E.kappa(i, j, t) for j in E.held[i]])
                v[i] = v[i] + np.outer(features[i] @ k_t, step)
            E.a[i] = list(features[i].T @ v[i])
    return E.finish()
