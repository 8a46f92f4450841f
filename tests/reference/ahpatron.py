"""Ahpatron, AVP (Li and Liao 2024) and AVP with projections, written from their definitions."""

import math

import numpy as np

from .projectron import ROUNDING, Dictionary
from .slots import Slots


def short(y, f, eps):
    """y f < 1 - eps, by more than rounding."""
    return 1 - eps - y * f > 1e-9


class Balls(Slots):
    """Functions whose norms are kept; `f` is 0 where it is rounding beside its terms."""

    def __init__(self, X, y, kernels, normalise, budget, exact=False):
        super().__init__(X, y, kernels, normalise, budget)
        self.norm2, self.exact = [0.0] * self.m, exact

    def f(self, i, t):
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        total = sum(terms)
        return 0.0 if not self.exact and abs(total) <= ROUNDING * sum(map(abs, terms)) else total

    def step(self, i, t, f, U, eta, eps, ridge):
        if not short(self.y[t], f, eps):
            return
        if self.full(i):
            self.fold(i, ridge)
            f = sum(a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True))
        self.append(i, t, eta * self.y[t])
        self.grow(i, eta**2 * self.kappa(i, t, t) + 2 * eta * self.y[t] * f, U)

    def grow(self, i, more, U):
        self.norm2[i] = max(self.norm2[i] + more, 0.0)
        if self.norm2[i] > U**2:
            self.scale(i, U / math.sqrt(self.norm2[i]))
            self.norm2[i] = U**2

    def fold(self, i, ridge):
        """The first half of the vectors of at least the median size take over the others."""
        a, held = np.array(self.a[i]), self.held[i]
        large = [s for s in range(len(a)) if abs(a[s]) >= np.median(np.abs(a)) * (1 - 1e-9)]
        L = large[: len(a) // 2]
        R = [s for s in range(len(a)) if s not in L]
        K = np.array([[self.kappa(i, p, q) for q in held] for p in held])
        new = a[L] + np.linalg.solve(K[np.ix_(L, L)] + ridge * np.eye(len(L)), K[np.ix_(L, R)] @ a[R])
        size2 = new @ K[np.ix_(L, L)] @ new
        if size2 <= 0:
            size2, self.norm2[i] = 1.0, 0.0
        self.a[i] = (new * math.sqrt(self.norm2[i] / size2)).tolist()
        self.held[i] = [held[s] for s in L]
        self.n_sv[i] = len(L)


def single(X, y, kernels, normalise, budget, U, eta, eps, ridge, exact):
    E = Balls(X, y, kernels, normalise, budget, exact)
    for t in range(len(y)):
        f = E.f(0, t)
        E.record(f, y[t], [True])
        E.step(0, t, f, U, eta, eps, ridge)
    E.weights.w = None
    return E.finish()


def ahpatron(X, y, kernels, *, budget, eta, eps, ridge, normalise="none", rng=None):
    """On y f < 1 - eps append eta y, folded to half first where full; the norm stays within sqrt(B) / 2."""
    return single(X, y, kernels, normalise, budget, math.sqrt(budget) / 2, eta, eps, ridge, False)


def avp(X, y, kernels, *, U, eta, eps, normalise="none", rng=None):
    """The same with room for all."""
    return single(X, y, kernels, normalise, len(y), U, eta, eps, 1.0, True)


def bomkc_ahpatron(X, y, kernels, *, budget, gamma, eta, eps, ridge, normalise="none", rng=None):
    """A vote of one for each kernel; weights by gamma where it errs."""
    E = Balls(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        f, z = E.predict(t)
        E.discount(gamma, z)
        for i in range(E.m):
            E.step(i, t, f[i], math.sqrt(budget) / 2, eta, eps, ridge)
    return E.finish()


def avp_ogs(X, y, kernels, *, U, eps, c, normalise="none", rng=None):
    """Projected on the stored vectors where the squared distance from their span is at most 100 / T."""
    T, Delta, norm2 = len(y), 1.0, 0.0
    E = Dictionary(X, y, kernels, normalise)
    for t in range(T):
        f = E.f(0, t)
        E.record(f, y[t], [True])
        if not short(y[t], f, eps):
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
