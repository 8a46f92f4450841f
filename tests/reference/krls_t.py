"""KRLS-T (Van Vaerenbergh, Lazaro-Gredilla, Santamaria 2012): mean mu and covariance Sigma of the function's
values at the stored vectors, every system solved by numpy; a pool of them weighted by what they predicted."""

import math

import numpy as np

from .budget_hedge import Dictionary
from .classes import classes_of
from .rounds import slots
from .weights import TINY

JITTER = 1e-6


class Tracker:
    """One kernel. held: the stored examples   K their kernel matrix   mu (n, C) Sigma (n, n)."""

    def __init__(self, E, i, C, budget, noise, lam, margin=None, power="unit"):
        self.E, self.i, self.budget, self.noise, self.lam, self.margin = E, i, budget, noise, lam, margin
        self.has_learnt, self.power, self.ratios = False, power, []  # e^2 / s2 of each round
        self.held, self.K, self.mu, self.Sigma = [], np.zeros((0, 0)), np.zeros((0, C)), np.zeros((0, 0))

    def predict(self, t):
        """Mean (C,) and variance of y_t; step 1 and 2."""
        if self.held and self.has_learnt:
            self.Sigma = self.lam * self.Sigma + (1 - self.lam) * self.K
            self.mu = math.sqrt(self.lam) * self.mu
        self.k = np.array([self.E.kappa(self.i, j, t) for j in self.held])
        self.size = max(1.0, self.E.kappa(self.i, t, t))
        self.own = self.E.kappa(self.i, t, t) + JITTER * self.size
        self.q = np.linalg.solve(self.K, self.k) if self.held else np.zeros(0)
        self.h = self.Sigma @ self.q
        self.gamma2 = max(self.own - self.k @ self.q, 1e-12)
        self.s2 = self.noise + self.gamma2 + self.q @ self.h
        self.mean = self.q @ self.mu
        return self.mean, self.s2

    def signal_power(self):
        """1, or the mean of e^2 / s2 over the rounds so far, by weights lam^age."""
        n = len(self.ratios)
        if self.power == "unit" or not sum(self.ratios):
            return 1.0
        return float(np.average(self.ratios, weights=[self.lam ** (n - 1 - t) for t in range(n)]))

    def learn(self, t, target):
        """Steps 3 and 4; target (C,)."""
        is_full = len(self.held) == self.budget
        self.has_learnt = not (is_full and self.margin is not None and min(target * self.mean) >= self.margin)
        if not self.has_learnt:
            return
        e, p = target - self.mean, self.h
        self.ratios.append(np.mean(e**2) / self.s2)
        if self.gamma2 >= 1e-5 * self.size:
            sigma_f2 = self.gamma2 + self.q @ self.h
            self.held.append(t)
            self.K = np.block([[self.K, self.k[:, None]], [self.k[None], np.array([[self.own]])]])
            self.Sigma = np.block([[self.Sigma, p[:, None]], [p[None], np.array([[sigma_f2]])]])
            self.mu, p = np.vstack([self.mu, self.mean]), np.append(p, sigma_f2)
        self.mu = self.mu + np.outer(p, e) / self.s2
        self.Sigma = self.Sigma - np.outer(p, p) / self.s2
        if len(self.held) > self.budget:
            Q = np.linalg.inv(self.K)
            cost = ((Q @ self.mu) ** 2).sum(axis=1) / np.diag(Q) ** 2
            r = int(np.argmax(cost <= cost.min() * (1 + 1e-6)))  # the oldest of those
            rest = [j for j in range(len(self.held)) if j != r]
            self.held = [self.held[j] for j in rest]
            self.K, self.Sigma = self.K[np.ix_(rest, rest)], self.Sigma[np.ix_(rest, rest)]
            self.mu = self.mu[rest]

    def coefficients(self):
        """K^-1 mu (n, C), forgotten once more as the next round begins, if the last one was learnt."""
        left = math.sqrt(self.lam) if self.has_learnt else 1.0
        return np.linalg.solve(self.K, left * self.mu) if self.held else self.mu


def surprise(target, mean, s2):
    """-log N(target; mean, s2), summed over the classes."""
    parts = zip(target, mean, s2, strict=True)
    return float(sum(math.log(2 * math.pi * v) / 2 + (a - b) ** 2 / (2 * v) for a, b, v in parts))


def tracked(E, C, targets, note, *, budget, noise, lam, share, margin=None, power="unit"):
    """All rounds of a tracker for each kernel; returns trackers and weights.

    note: called with t, the means (C,), the NLPD and the variances
    """
    m = len(E.kernels)
    trackers = [Tracker(E, i, C, budget, noise, lam, margin, power) for i in range(m)]
    w = [1 / m] * m
    for t, target in enumerate(targets):
        means, s2 = zip(*(own.predict(t) for own in trackers), strict=True)
        s2 = [own.signal_power() * v for own, v in zip(trackers, s2, strict=True)]
        mean = sum(w_i * one for w_i, one in zip(w, means, strict=True))
        spread = sum(w_i * (v + (one - mean) ** 2) for w_i, v, one in zip(w, s2, means, strict=True))
        note(t, mean, surprise(target, mean, spread), spread)
        loss = [surprise(target, one, [v] * C) for one, v in zip(means, s2, strict=True)]
        least = min(loss)
        w = [max(w_i * math.exp(least - own), TINY) for w_i, own in zip(w, loss, strict=True)]
        w = [(1 - share) * max(w_i / sum(w), TINY) + share / m for w_i in w]
        for own in trackers:
            own.learn(t, target)
        E.n_sv[:] = [len(own.held) for own in trackers]
    return trackers, w


def krls_t_pool(X, y, kernels, *, budget, noise, lam, share, normalise="none", rng=None, **one_kernel):
    """Two classes, or numbers; C classes are C means with targets +1 and -1, and one covariance."""
    E = slots(X, y, kernels, normalise, budget)
    C = classes_of(y)
    targets = np.where(np.arange(C) == y[:, None], 1.0, -1.0) if C else y[:, None]

    def note(t, mean, nlpd, variance):
        if C:
            E.note(mean, t)
        else:
            E.record(float(mean[0]), y[t], np.ones(E.m, bool), [nlpd, variance[0]])

    hyper = {"budget": budget, "noise": noise, "lam": lam, "share": share, **one_kernel}
    trackers, w = tracked(E, C or 1, targets, note, **hyper)
    E.held = [own.held for own in trackers]
    E.a = [list(own.coefficients()) if C else own.coefficients()[:, 0].tolist() for own in trackers]
    E.weights.w = np.array(w)
    return E.finish()


def krls_t(X, y, kernels, *, budget, noise, lam, margin=None, power="unit", normalise="none", rng=None):
    """One kernel."""
    hyper = {"budget": budget, "noise": noise, "lam": lam, "margin": margin, "power": power}
    made = krls_t_pool(X, y, kernels, **hyper, share=0.0, normalise=normalise)
    made.weights = None
    return made


krls_t.near = krls_t_pool.near = 1e-5  # the matrices of wide kernels have condition numbers above 1e7
krls_t_pool.apart = "the weights are by the densities of both classes' targets, each of which has the same"


# ------------------------------------------------------------------ krls_ald
# KRLS with approximate linear dependence (Engel, Mannor, Meir 2004): least squares, solved every round.


def krls_ald(X, y, kernels, *, nu, normalise="none", rng=None):
    """a minimises sum_t (y_t - beta_t' K a)^2 over the examples that were projected, beta_t of the dictionary
    of their time; those that entered it have a beta of their own."""
    E = Dictionary(X, y, kernels, normalise)
    M, b = np.zeros((0, 0)), np.zeros(0)  # the sums of beta beta' and of beta y
    for t in range(len(y)):
        f = sum(a * E.kappa(0, j, t) for a, j in zip(E.a[0], E.held[0], strict=True))
        E.record(f, y[t], [True])
        beta, _, delta = E.projection(0, t)
        if delta > nu or (not len(beta) and delta > 0):
            E.append(0, t, 0.0)
            M, beta = np.pad(M, (0, 1)), np.append(np.zeros(len(beta)), 1.0)
        if len(beta):
            M, b = M + np.outer(beta, beta), np.append(b, np.zeros(len(beta) - len(b))) + beta * y[t]
            E.a[0] = E.solved(0, E.gram[0], np.linalg.solve(M, b)).tolist()
    E.weights.w = None
    return E.finish()
