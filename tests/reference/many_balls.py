"""More than two classes: Ahpatron and its relatives, whose classifiers stay in a ball."""

import math

import numpy as np

from .ahpatron import short
from .classes import best
from .many_budget import ClassSlots


class ClassBalls(ClassSlots):
    """sum_c ||f_c||^2 = norm2 <= U^2; a step of eta adds 2 eta^2 kappa(x, x) + 2 eta d to it."""

    def __init__(self, *form, U, eta, eps, ridge=1.0, exact=False):
        super().__init__(*form)
        self.norm2, self.exact = [0.0] * self.m, exact
        self.U, self.eta, self.eps, self.ridge = U, eta, eps, ridge

    def learn(self, i, t, d, r):
        if not short(1, d, self.eps):
            return
        if self.full(i):
            self.fold(i)
            s = sum(self.terms(i, t))
            r = best(s, without=self.y[t])
            d = s[self.y[t]] - s[r]
        self.append(i, t, self.pair(t, r, self.eta))
        more = 2 * self.eta**2 * self.kappa(i, t, t) + 2 * self.eta * d
        self.norm2[i] = max(self.norm2[i] + more, 0.0)
        if self.norm2[i] > self.U**2:
            self.scale(i, self.U / math.sqrt(self.norm2[i]))
            self.norm2[i] = self.U**2

    def fold(self, i):
        a, held = np.array(self.a[i]), self.held[i]
        size = np.sqrt((a**2).sum(1) / 2)
        large = [s for s in range(len(a)) if size[s] >= np.median(size) * (1 - 1e-9)]
        L = large[: len(a) // 2]
        R = [s for s in range(len(a)) if s not in L]
        K = np.array([[self.kappa(i, p, q) for q in held] for p in held])
        ridge = self.ridge * np.eye(len(L))
        new = a[L] + np.linalg.solve(K[np.ix_(L, L)] + ridge, K[np.ix_(L, R)] @ a[R])
        size2 = sum(new[:, c] @ K[np.ix_(L, L)] @ new[:, c] for c in range(self.C))
        if size2 <= 0:
            size2, self.norm2[i] = 1.0, 0.0
        self.a[i] = list(new * math.sqrt(self.norm2[i] / size2))
        self.held[i] = [held[s] for s in L]


def alone(E):
    """One kernel, whose scores are the prediction's."""
    for t, y in enumerate(E.y):
        d, r, vote = E.judge(0, t, y)
        E.notes.append((d <= 0, vote, d))
        E.learn(0, t, d, r)
    E.weights.w = None
    return E.finish()


def ahpatron(X, label, n_classes, kernels, *, budget, eta, eps, ridge, normalise="none", rng=None):
    """On d < 1 - eps a step of eta, folded to half first where full."""
    form = (X, label, n_classes, kernels, normalise, budget)
    return alone(ClassBalls(*form, U=math.sqrt(budget) / 2, eta=eta, eps=eps, ridge=ridge))


def avp(X, label, n_classes, kernels, *, U, eta, eps, normalise="none", rng=None):
    """With room for all."""
    form = (X, label, n_classes, kernels, normalise, len(label))
    return alone(ClassBalls(*form, U=U, eta=eta, eps=eps, exact=True))


def bomkc_ahpatron(
    X, label, n_classes, kernels, *, budget, gamma, eta, eps, ridge, normalise="none", rng=None
):
    """A vote of one for each kernel."""
    form = (X, label, n_classes, kernels, normalise, budget)
    E = ClassBalls(*form, U=math.sqrt(budget) / 2, eta=eta, eps=eps, ridge=ridge)
    for t in range(len(label)):
        d, r = E.predict(t)
        E.discount(gamma, [d_i <= 0 for d_i in d])
        for i in range(E.m):
            E.learn(i, t, d[i], r[i])
    return E.finish()
