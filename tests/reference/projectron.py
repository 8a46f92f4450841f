"""Projectron, Projectron++ with a budget (Orabona, Keshet, Caputo 2009); the Gram system is solved anew."""

import math

import numpy as np

from .slots import Slots

SPAN, ROUNDING = 1e-8, 1e-10  # an example is in the span; an output or coefficient is 0


class Spans(Slots):
    """Slots whose outputs count as 0 beside much larger terms, with projections on the stored vectors."""

    def __init__(self, *form):
        super().__init__(*form)
        self.gram = [np.zeros((0, 0)) for _ in range(self.m)]

    def f(self, i, t):
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        total = 0.0
        for term in terms:
            total += term
        return 0.0 if abs(total) <= ROUNDING * sum(map(abs, terms)) else total

    def append(self, i, t, a):
        column = [self.kappa(i, j, t) for j in [*self.held[i], t]]
        self.gram[i] = np.block([[self.gram[i], np.array([column[:-1]]).T], [np.array([column])]])
        super().append(i, t, a)

    def projection(self, i, t):
        """d = K^-1 k, k^T d, and kappa(x, x) - k^T d; exactly the stored vector itself where x is one."""
        held, own = self.held[i], self.kappa(i, t, t)
        k = [self.kappa(i, j, t) for j in held]
        for s, j in enumerate(held):
            if k[s] == own == self.kappa(i, j, j):
                return np.eye(len(held))[s], own, 0.0
        if not held:
            return np.zeros(0), 0.0, own
        scale = np.sqrt(np.diag(self.gram[i]))  # of unit diagonal: vectors' sizes are no matter of condition
        v = np.linalg.solve(self.gram[i] / np.outer(scale, scale), k / scale)
        norm2 = float((k / scale) @ v)
        v = np.where(np.abs(v) <= ROUNDING * np.abs(v).max(), 0.0, v)
        return v / scale, norm2, own - norm2 if own - norm2 > SPAN * own else 0.0

    def mistake(self, i, t):
        d, _, residual = self.projection(i, t)
        if not self.full(i) and residual > 0:
            self.append(i, t, self.y[t])
        else:
            self.move(i, self.y[t], d)

    def move(self, i, c, d):
        new = [a + c * d_s for a, d_s in zip(self.a[i], d, strict=True)]
        self.a[i] = [b if abs(b) > ROUNDING * abs(a) else 0.0 for a, b in zip(self.a[i], new, strict=True)]


def bomkc_projectron(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """On y f <= 0 append y; if full (or in the span already) add y times its projection instead."""
    E = Spans(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        _, z = E.predict(t)
        E.discount(gamma, z)
        for i in range(E.m):
            if z[i]:
                E.mistake(i, t)
    return E.finish()


def bomkc_projectronpp(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """Moreover, on 0 < y f < 1 add y tau times the projection, tau = min(loss / ||projection||^2, 1), if
    tau (2 loss - tau ||projection||^2 - 2 U ||residual||) >= 0, U = sqrt((B + 1) / ln(B + 1)) / 4."""
    E = Spans(X, y, kernels, normalise, budget)
    U = math.sqrt((budget + 1) / math.log(budget + 1)) / 4
    for t in range(len(y)):
        f, z = E.predict(t)
        E.discount(gamma, z)
        for i in range(E.m):
            loss = 1 - y[t] * f[i]
            if z[i]:
                E.mistake(i, t)
            elif loss > 1e-9:
                d, size, residual = E.projection(i, t)
                tau = min(loss / size, 1) if size > 0 else 0
                if tau * (2 * loss - tau * size - 2 * U * math.sqrt(residual)) >= 0:
                    E.move(i, y[t] * tau, d)
    return E.finish()
