"""More than two classes: NORMA, learners on random features, yardsticks."""

import math

import numpy as np

from .classes import ClassResult, best, class_votes, margin
from .features import frequencies, hedged, lifted
from .losses import loss_of, slope_of
from .many_budget import ClassSlots
from .norma import rate, theorem_6
from .weights import Weights


class Notes:
    """What a twin without stored vectors reports."""

    def __init__(self):
        self.notes = []

    def record(self, totals, y):
        r = best(totals, without=y)
        self.notes.append((totals[y] <= totals[r], best(totals), totals[y] - totals[r]))

    def result(self, weights=None):
        made = [np.array(part) for part in zip(*self.notes, strict=True)]
        return ClassResult(*made, np.zeros(0, int), np.zeros(0, int), np.zeros((0, 0, 0)), weights)


def norma(X, label, n_classes, kernels, *, lam, rho, eta, step, tau, offset, normalise="none", rng=None):
    """g_c = f_c + b_c; on g_y - g_r <= rho a step of eta_t, and of the offsets."""
    E, b = ClassSlots(X, label, n_classes, kernels, normalise, math.inf), np.zeros(n_classes)
    for t, y in enumerate(label):
        s = sum(E.terms(0, t), np.zeros(n_classes)) + b
        E.note(s, y)
        r, e = best(s, without=y), rate(eta, step, t)
        short = s[y] - s[r] <= rho
        E.scale(0, 1 - e * lam)
        if short:
            E.append(0, t, E.pair(t, r, e))
        if tau is not None:
            kept = [(a, j) for a, j in zip(E.a[0], E.held[0], strict=True) if j >= t + 1 - tau]
            E.a[0], E.held[0] = [a for a, _ in kept], [j for _, j in kept]
        if short and offset:
            b = b + E.pair(t, r, e)
    E.weights.w = None
    return E.finish()


def norma_growing(X, label, n_classes, kernels, *, lam, rho, eta, eps, t0, normalise="none", rng=None):
    """The same steps without offsets, eta_t = eta / sqrt(t); f_{t+1} keeps the last s_{t+1} terms."""
    E, s = ClassSlots(X, label, n_classes, kernels, normalise, math.inf), 1
    until = theorem_6(eta * lam, eps) if t0 is None else t0
    for t, y in enumerate(label):
        totals = sum(E.terms(0, t), np.zeros(n_classes))
        E.note(totals, y)
        r, e = best(totals, without=y), rate(eta, "sqrt", t)
        E.scale(0, 1 - e * lam)
        if totals[y] - totals[r] <= rho:
            E.append(0, t, E.pair(t, r, e))
        s = t + 2 if t + 2 <= until else max(s, math.ceil((t + 2) ** (0.5 + eps)))
        kept = [(a, j) for a, j in zip(E.a[0], E.held[0], strict=True) if j >= t + 1 - s]
        E.a[0], E.held[0] = [a for a, _ in kept], [j for _, j in kept]
    E.weights.w = None
    return E.finish()


class Linear(Notes):
    """theta (m, n_classes, 2D) on random features."""

    def __init__(self, X, n_classes, kernels, D, features, rng):
        super().__init__()
        self.X, self.V = X, frequencies(kernels, X.shape[1], D, features, rng)
        self.theta = np.zeros((len(kernels), n_classes, 2 * D))

    def scores(self, t):
        self.z = lifted(self.V, self.X[t])
        return [theta @ z for theta, z in zip(self.theta, self.z, strict=True)]

    def descend(self, S, y, eta, lam, loss):
        """theta_c - eta (slope z + lam theta_c), slope the loss's of the margin for y, its negative for r."""
        for i, s in enumerate(S):
            slope = slope_of(loss, 1.0, margin(s, y))
            r = best(s, without=y)
            self.theta[i] = (1 - eta * lam) * self.theta[i]
            self.theta[i, y] -= eta * slope * self.z[i]
            self.theta[i, r] += eta * slope * self.z[i]


def rff(X, label, n_classes, kernels, *, D, features, eta, lam, loss, normalise="none", rng):
    """One kernel, step eta or 1 / sqrt(T)."""
    E = Linear(X, n_classes, kernels, D, features, rng)
    for t, y in enumerate(label):
        S = E.scores(t)
        E.record(S[0], y)
        E.descend(S, y, 1 / math.sqrt(len(label)) if eta is None else eta, lam, loss)
    return E.result()


def raker(X, label, n_classes, kernels, *, D, features, eta, step, lam, loss, normalise="none", rng):
    """Combined scores sum_i w_i f_ic, w_i by the loss of the margin."""
    E, w = Linear(X, n_classes, kernels, D, features, rng), [1 / len(kernels)] * len(kernels)
    for t, y in enumerate(label):
        S = E.scores(t)
        E.record(sum(w_i * s for w_i, s in zip(w, S, strict=True)), y)
        e = rate(eta, step, t)
        w = hedged(w, e, [loss_of(loss, 1.0, margin(s, y)) for s in S])
        E.descend(S, y, e, lam, loss)
    return E.result(np.array(w))


def bomkc_fogd(X, label, n_classes, kernels, *, D, features, gamma, eta, normalise="none", rng):
    """Votes, and gradient descent on the hinge loss of the margin."""
    E, W = Linear(X, n_classes, kernels, D, features, rng), Weights(len(kernels))
    for t, y in enumerate(label):
        S = E.scores(t)
        E.record(class_votes(W, [best(s) for s in S], n_classes), y)
        W.discount(gamma, [margin(s, y) <= 0 for s in S])
        E.descend(S, y, eta, 0.0, "hinge")
    return E.result(W.w)


def majority(X, label, n_classes, kernels=(), *, normalise="none", rng=None):
    """The class seen most often so far."""
    E, counts = Notes(), [0.0] * n_classes
    for y in label:
        E.record(counts, y)
        counts[y] += 1
    return E.result()


def last_label(X, label, n_classes, kernels=(), *, normalise="none", rng=None):
    """The class of the round before."""
    E, last = Notes(), [0.0] * n_classes
    for y in label:
        E.record(last, y)
        last = [float(c == y) for c in range(n_classes)]
    return E.result()


def arow(X, label, n_classes, kernels=(), *, r, normalise="none", rng=None):
    """Top-1 (Crammer, Dredze, Kulesza 2009): x belongs to y with +1 and to the strongest rival with -1."""
    E, mu, S = Notes(), np.zeros((n_classes, X.shape[1])), np.ones((n_classes, X.shape[1]))
    for x, y in zip(X, label, strict=True):
        s = mu @ x
        E.record(s, y)
        if margin(s, y) >= 1:
            continue
        q = best(s, without=y)
        b = 1 / (S[y] @ x**2 + S[q] @ x**2 + r)
        for c, sign in ((y, 1), (q, -1)):
            mu[c] = mu[c] + sign * (1 - margin(s, y)) * b * S[c] * x
            S[c] = S[c] - b * (S[c] * x) ** 2
    return E.result()
