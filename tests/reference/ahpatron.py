"""Ahpatron, AVP (Li and Liao 2024) and AVP with projections, written from their definitions."""

import math

import numpy as np

from .budget_hedge import ROUNDING, Dictionary
from .classes import classes_of
from .rounds import ClassSlots
from .slots import Slots


def short(d, eps):
    """d < 1 - eps, by more than rounding."""
    return 1 - eps - d > 1e-9


class Balls(Slots):
    """sum_c ||f_c||^2 = norm2 <= U^2; a step of eta adds ||e||^2 eta^2 kappa(x, x) + 2 eta d to it."""

    def __init__(self, *form, U, eta, eps, ridge=1.0, exact=False):
        super().__init__(*form)
        self.norm2, self.exact = [0.0] * self.m, exact
        self.U, self.eta, self.eps, self.ridge = U, eta, eps, ridge

    def f(self, i, t):
        """0 where it is rounding beside its terms."""
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        total = sum(terms)
        return 0.0 if not self.exact and abs(total) <= ROUNDING * sum(map(abs, terms)) else total

    def learn(self, i, t, d, e):
        if not short(d, self.eps):
            return
        if self.full(i):
            self.fold(i)
            d, e = self.plain_margin(i, t)
        self.append(i, t, self.eta * e)
        more = self.sides * self.eta**2 * self.kappa(i, t, t) + 2 * self.eta * d
        self.norm2[i] = max(self.norm2[i] + more, 0.0)
        if self.norm2[i] > self.U**2:
            self.scale(i, self.U / math.sqrt(self.norm2[i]))
            self.norm2[i] = self.U**2

    def fold(self, i):
        """The first half of the vectors of at least the median size take over the others."""
        a, held = np.array(self.a[i]), self.held[i]
        size = self.length(a)
        large = [s for s in range(len(a)) if size[s] >= np.median(size) * (1 - 1e-9)]
        L = large[: len(a) // 2]
        R = [s for s in range(len(a)) if s not in L]
        K = np.array([[self.kappa(i, p, q) for q in held] for p in held])
        ridge = self.ridge * np.eye(len(L))
        new = a[L] + np.linalg.solve(K[np.ix_(L, L)] + ridge, K[np.ix_(L, R)] @ a[R])
        size2 = sum(own @ K[np.ix_(L, L)] @ own for own in new.reshape(len(L), -1).T)
        if size2 <= 0:
            size2, self.norm2[i] = 1.0, 0.0
        self.a[i] = list(new * math.sqrt(self.norm2[i] / size2))
        self.held[i] = [held[s] for s in L]
        self.n_sv[i] = len(L)


class ClassBalls(Balls, ClassSlots):
    """The same of more classes."""


def balls(X, y, *form, **how):
    return (Balls if classes_of(y) is None else ClassBalls)(X, y, *form, **how)


def single(E):
    """One kernel, whose scores are the prediction's."""
    for t in range(len(E.y)):
        E.learn(0, t, *E.alone(t))
    E.weights.w = None
    return E.finish()


def ahpatron(X, y, kernels, *, budget, eta, eps, ridge, normalise="none", rng=None):
    """On d < 1 - eps append eta e, folded to half first where full; the norm stays within sqrt(B) / 2."""
    form = (X, y, kernels, normalise, budget)
    return single(balls(*form, U=math.sqrt(budget) / 2, eta=eta, eps=eps, ridge=ridge))


def avp(X, y, kernels, *, U, eta, eps, normalise="none", rng=None):
    """The same with room for all."""
    return single(balls(X, y, kernels, normalise, len(y), U=U, eta=eta, eps=eps, exact=True))


def bomkc_ahpatron(X, y, kernels, *, budget, gamma, eta, eps, ridge, normalise="none", rng=None):
    """A vote of one for each kernel; weights by gamma where it errs."""
    form = (X, y, kernels, normalise, budget)
    E = balls(*form, U=math.sqrt(budget) / 2, eta=eta, eps=eps, ridge=ridge)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            E.learn(i, t, d[i], e[i])
    return E.finish()


def avp_ogs(X, y, kernels, *, U, eps, c, normalise="none", rng=None):
    """Projected on the stored vectors where the squared distance from their span is at most 100 / T."""
    T, Delta, norm2 = len(y), 1.0, 0.0
    E = Dictionary(X, y, kernels, normalise)
    for t in range(T):
        f = E.f(0, t)
        E.record(f, y[t], [True])
        if not short(y[t] * f, eps):
            continue
        beta, size2, residual = E.projection(0, t)
        projects = (len(beta) > 0 or E.kappa(0, t, t) == 0) and residual <= 100 / T
        change = size2 if projects else E.kappa(0, t, t)
        Delta += change if y[t] * f <= 0 else 0
        lam = c * U / math.sqrt(U**2 + Delta)
        if projects:
            K, a = E.gram[0], np.array(E.a[0])
            norm2 += 2 * y[t] * lam * (beta @ K @ a) + lam**2 * (beta @ K @ beta)
            E.move(0, lam * y[t], beta)
        else:
            norm2 += 2 * y[t] * lam * f + lam**2 * change
            E.append(0, t, lam * y[t])
        if norm2 > U**2:
            E.scale(0, U / math.sqrt(norm2))
            norm2 = U**2
    E.weights.w = None
    return E.finish()
