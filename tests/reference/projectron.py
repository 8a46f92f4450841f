"""Projectron, Projectron++ with a budget (Orabona, Keshet, Caputo 2009); Gram systems are solved exactly."""

import math

import numpy as np

from .classes import classes_of
from .rounds import ClassSlots
from .slots import Slots

SPAN, ROUNDING = 1e-8, 1e-10  # an example is in the span; an output or coefficient is 0


def products(a, b):
    """The products of two arrays without rounding, as sums p + e of two of the same shape (Dekker 1971)."""
    p = a * b
    (a1, a2), (b1, b2) = (((c := 134217729.0 * x) - (c - x), x - (c - (c - x))) for x in (a, b))
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def solve(K, inverse, k):
    """K^-1 k to the last places, whatever BLAS there is: refined by residuals without rounding.

    inverse: nearly K's. Each step leaves the share of the error that inverse K differs from 1, 1e-6 at most.
    Raises ArithmeticError where it is no inverse.
    """
    d = step = inverse @ k
    for _ in range(100):
        if not np.abs(step).max() > 1e-9 * np.abs(d).max():
            return d
        terms = np.concatenate(products(K, -d), axis=1).tolist()
        step = inverse @ [math.fsum([k_s, *row]) for k_s, row in zip(k, terms, strict=True)]
        d = d + step
    raise ArithmeticError("the Gram matrix has no inverse that could be refined")


class Spans(Slots):
    """Slots whose outputs count as 0 beside much larger terms, with projections on the stored vectors."""

    def __init__(self, *form):
        super().__init__(*form)
        self.gram = [np.zeros((0, 0)) for _ in range(self.m)]
        self.inverse = [None] * self.m

    def f(self, i, t):
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        total = 0.0
        for term in terms:
            total += term
        return 0.0 if abs(total) <= ROUNDING * sum(map(abs, terms)) else total

    def append(self, i, t, a):
        column = [self.kappa(i, j, t) for j in [*self.held[i], t]]
        self.gram[i] = np.block([[self.gram[i], np.array([column[:-1]]).T], [np.array([column])]])
        self.inverse[i] = None
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
        K = self.gram[i]
        d = self.solved(i, K, np.array(k))
        norm2 = math.fsum(np.concatenate(products(np.array(k), d)))
        size = np.abs(d) * np.sqrt(np.diag(K))
        d = np.where(size <= ROUNDING * size.max(), 0.0, d)
        return d, norm2, own - norm2 if own - norm2 > SPAN * own else 0.0

    def solved(self, i, K, k):
        """K^-1 k."""
        if self.inverse[i] is None:
            scale = np.sqrt(np.outer(np.diag(K), np.diag(K)))  # vectors' sizes are no matter of condition
            self.inverse[i] = np.linalg.inv(K / scale) / scale
        return solve(K, self.inverse[i], k)

    def mistake(self, i, t, e):
        d, _, residual = self.projection(i, t)
        if not self.full(i) and residual > 0:
            self.append(i, t, e)
        else:
            self.move(i, e, d)

    def move(self, i, c, d):
        new = [a + c * d_s for a, d_s in zip(self.a[i], d, strict=True)]
        self.a[i] = [self.cut(b, a) for a, b in zip(self.a[i], new, strict=True)]

    def cut(self, b, a):
        return b if abs(b) > ROUNDING * abs(a) else 0.0


class ClassSpans(ClassSlots, Spans):
    """Scores that differ by rounding are the same, and coefficients that are rounding are 0."""

    exact = False

    def cut(self, b, a):
        return np.where(np.abs(b) > ROUNDING * np.abs(a), b, 0.0)


class Dictionary(Spans):
    """One kernel and as many vectors as there are: K^-1 grows by its block formula."""

    def __init__(self, X, y, kernels, normalise):
        super().__init__(X, y, kernels, normalise, len(y))
        self.inverse = [np.zeros((0, 0))]

    def append(self, i, t, a):
        k = np.array([self.kappa(i, j, t) for j in self.held[i]])
        beta, inverse = self.solved(i, self.gram[i], k), self.inverse[i]
        delta = self.kappa(i, t, t) - k @ beta
        super().append(i, t, a)
        corner = np.append(beta, -1.0)
        self.inverse[i] = np.pad(inverse, (0, 1)) + np.outer(corner, corner) / delta

    def solved(self, i, K, k):
        d = self.inverse[i] @ k
        return d + self.inverse[i] @ (k - K @ d)  # a step towards the last places


def spans(X, y, *form):
    """Slots with projections on what they store."""
    return (Spans if classes_of(y) is None else ClassSpans)(X, y, *form)


def bomkc_projectron(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """On d <= 0 append e; if full (or in the span already) add e times its projection instead."""
    E = spans(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if d[i] <= 0:
                E.mistake(i, t, e[i])
    return E.finish()


def bomkc_projectronpp(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """Moreover, on 0 < d < 1 add e tau times the projection, tau = min(loss / ||projection||^2, 1), if
    tau (2 loss - tau ||projection||^2 - 2 U ||residual||) >= 0, U = sqrt((B + 1) / ln(B + 1)) / 4; squared
    norms are those of changes, so ||e||^2 of kappa's."""
    E = spans(X, y, kernels, normalise, budget)
    U = math.sqrt((budget + 1) / math.log(budget + 1)) / 4
    for t in range(len(y)):
        margins, e = E.margins(t)
        E.discount(gamma, margins <= 0)
        for i in range(E.m):
            loss = 1 - margins[i]
            if margins[i] <= 0:
                E.mistake(i, t, e[i])
            elif loss > 1e-9:
                d, size, residual = E.projection(i, t)
                size, residual = E.sides * size, E.sides * residual
                tau = min(loss / size, 1) if size > 0 else 0
                if tau * (2 * loss - tau * size - 2 * U * math.sqrt(residual)) >= 0:
                    E.move(i, e[i] * tau, d)
    return E.finish()
