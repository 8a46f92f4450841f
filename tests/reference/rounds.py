"""The rounds of a learner with m kernels: a twin is written once, for two classes and for more.

Two classes are one function for each kernel, its label y is +1 or -1; C classes, whole numbers from 0, one
for each class, of which a step moves the true one and takes as much from its strongest rival r.
d (m,) margins: y f_i, or f_iy - f_ir   e direction of a step: y, or 1 at y and -1 at r   sides: ||e||^2
"""

import numpy as np

from .classes import Classes, best, class_votes, classes_of, noted
from .expansion import Expansions
from .kernels import kernel as one_kernel
from .kernels import pool_rows, squared_norms
from .slots import Slots


def rounds(X, y, kernels, normalise):
    """Vectors that stay, in a list for each kernel (and class)."""
    return (Signs if classes_of(y) is None else Labels)(X, y, kernels, normalise)


class Signs(Expansions):
    """Iterating over it gives the rounds' numbers; d, f as they are before the round."""

    sides = 1

    def __init__(self, X, y, kernels, normalise):
        super().__init__(pool_rows(X, kernels, normalise), len(kernels), len(y))
        self.X, self.y, self.kernels, self.cosine = X, y, kernels, normalise == "cosine"
        self.every, self.norms = np.ones(self.m, dtype=bool), squared_norms(X)

    def __iter__(self):
        for t, y in enumerate(self.y):
            self.t, self.f = t, self.F[:, t]
            self.d = y * self.f
            yield t

    def values(self):
        """(m, T): f_i of every example."""
        return self.F

    def own(self, i):
        """kappa_i(x_t, x_t)."""
        n, x = self.norms[self.t : self.t + 1], self.X[self.t : self.t + 1]
        value = one_kernel(self.kernels[i], n, n, n, x, self.X[self.t])[0]
        return float(value > 0) if self.cosine else value

    def note(self, score, used=None):
        self.record(score, self.y[self.t], self.every if used is None else used)
        return self.y[self.t] * score

    def vote(self, W, used=None):
        """Note the weighted vote of the used kernels."""
        self.note(W.vote(self.f, self.every if used is None else used), used)

    def mix(self, w, f=None):
        """Note sum_i w_i f_i in index order, and return its margin."""
        score = 0.0
        for w_i, f_i in zip(w, self.f if f is None else f, strict=True):
            score += w_i * f_i
        return self.note(score)

    def mean(self):
        """Note the mean of all outputs, of one shared list, and return its margin."""
        total = 0.0
        for f in self.f:
            total += f
        return self.note(total / self.m, [True] + [False] * (self.m - 1))

    def choose(self, i):
        """Note the output of kernel i."""
        self.note(self.f[i], np.arange(self.m) == i)

    def vote_of_shares(self, shares):
        """Note the vote of the first kernels, by weights of 60 digits."""
        total = sum(w if f_i >= 0 else -w for w, f_i in zip(shares, self.f, strict=False))
        self.note(float(total) if abs(total) > NEAR else 0.0, np.arange(self.m) < len(shares))

    def learn(self, steps, vectors=None):
        """Steps (m,) of all kernels, each in its own direction."""
        self.add(self.t, self.y[self.t] * np.asarray(steps), vectors)

    learn_together = learn  # in the direction of the last mix or mean

    def into_balls(self, R):
        """f_i divided by max(1, ||f_i|| / R); ||f_i||^2 = sum_j a_ij f_i(x_j)."""
        for i in range(self.m):
            square = sum(
                column[i] * self.F[i, s] for s, column in zip(self.stored, self.columns, strict=True)
            )
            divisor = max(1.0, np.sqrt(max(square, 0.0)) / R)
            self.F[i] = self.F[i] / divisor
            for column in self.columns:
                column[i] = column[i] / divisor

    def shared(self):
        """The Result of one list for all kernels."""
        made = self.result()
        made.n_sv_per_kernel, made.coefficients = made.n_sv_per_kernel[:1], made.coefficients[:1]
        return made


NEAR = 1e-50  # votes that are closer tie


class Labels(Classes):
    """The same of C classes; r (m,) the rivals of the kernels, rival that of the prediction."""

    sides = 2

    def __init__(self, X, y, kernels, normalise):
        super().__init__(X, classes_of(y), kernels, normalise)
        self.y = y

    def __iter__(self):
        for t, y in enumerate(self.y):
            self.t, self.f = t, self.scores(t)
            self.r = [best(s, without=y) for s in self.f]
            self.d = np.array([s[y] - s[q] for s, q in zip(self.f, self.r, strict=True)])
            yield t

    def values(self):
        return self.everywhere()

    def own(self, i):
        return self.K[i, self.t, self.t]

    def note(self, totals):
        y = self.y[self.t]
        self.record(totals, y)
        self.rival = best(totals, without=y)
        return totals[y] - totals[self.rival]

    def vote(self, W, used=None):
        self.note(class_votes(W, [best(s) for s in self.f], self.C, used))

    def mix(self, w, f=None):
        f = self.f if f is None else f
        return self.note([sum(w_i * s[c] for w_i, s in zip(w, f, strict=True)) for c in range(self.C)])

    def mean(self):
        return self.note([sum(s[c] for s in self.f) / self.m for c in range(self.C)])

    def choose(self, i):
        self.note(self.f[i])

    def vote_of_shares(self, shares):
        totals = [0 * shares[0]] * self.C
        for w, s in zip(shares, self.f, strict=False):
            totals[best(s)] += w
        self.note([next(float(a) for a in totals if abs(a - b) < NEAR) for b in totals])

    def learn(self, steps, vectors=None):
        for i, a in enumerate(steps):
            self.step(self.t, i, float(a), self.y[self.t], self.r[i])

    def learn_together(self, steps):
        self.r = [self.rival] * self.m
        self.learn(steps)

    def into_balls(self, R):
        for i, lists in enumerate(self.lists):
            norm2 = 0.0
            for terms in lists.values():
                norm2 += sum(a * b * self.K[i, j, k] for j, a in terms for k, b in terms)
            for c in lists if norm2 > R**2 else ():
                lists[c] = [(j, a * R / np.sqrt(norm2)) for j, a in lists[c]]

    def shared(self):
        return self.result()


# ------------------------------------------------------------------ learners with a budget


def slots(X, y, kernels, normalise, budget):
    """Slots that can be overwritten and scaled."""
    return (Slots if classes_of(y) is None else ClassSlots)(X, y, kernels, normalise, budget)


class ClassSlots(Slots):
    """Slots whose coefficients are arrays (C,): f_c = sum_s a_sc kappa(x_s, .)."""

    sides = 2
    exact = True  # nothing is taken for rounding
    ROUNDING = 1e-10

    def __init__(self, X, y, kernels, normalise, budget):
        super().__init__(X, y, kernels, normalise, budget)
        self.C, self.zero, self.notes = classes_of(y), np.zeros(classes_of(y)), []

    def terms(self, i, t):
        return [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]

    def value(self, i, t):
        return sum(self.terms(i, t), self.zero)

    def size(self, i, terms):
        """What the scores are known relative to."""
        return sum((np.abs(term) for term in terms), self.zero)

    def judge(self, i, t):
        """The margin of kernel i at x_t, the direction of a step, and the kernel's vote."""
        y, terms = self.y[t], self.terms(i, t)
        s = sum(terms, self.zero)
        r, g = best(s, without=y), 0 if self.exact else self.ROUNDING * self.size(i, terms)
        margin = s[y] - s[r]
        if not self.exact:
            r = next(c for c in range(self.C) if c != y and s[r] - s[c] <= g[r] + g[c])
            margin = s[y] - s[r] if abs(s[y] - s[r]) > g[y] + g[r] else 0.0
        return margin, self.direction(t, r), y if margin > 0 else r if margin < 0 else min(y, r)

    def direction(self, t, r):
        e = np.zeros(self.C)
        e[self.y[t]], e[r] = 1.0, -1.0
        return e

    def note(self, totals, t):
        y = self.y[t]
        r = best(totals, without=y)
        mistake, lead = totals[y] <= totals[r], totals[y] - totals[r]
        self.notes.append((mistake, best(totals), lead, list(totals)))
        return totals[y] - totals[r], self.direction(t, r)

    def margins(self, t):
        d, e, votes = zip(*(self.judge(i, t) for i in range(self.m)), strict=True)
        self.note(class_votes(self.weights, votes, self.C), t)
        return np.array(d), e

    def alone(self, t):
        d, e, vote = self.judge(0, t)
        self.notes.append((d <= 0, vote, d))
        return d, e

    def plain_margin(self, i, t):
        s = self.value(i, t)
        r = best(s, without=self.y[t])
        return s[self.y[t]] - s[r], self.direction(t, r)

    def length(self, a):
        return np.sqrt((a**2).sum(-1) / 2)

    def along(self, a, scores):
        return (scores[np.argmax(a)] - scores[np.argmin(a)]) / 2

    def finish(self):
        self.stored = sorted({j for held in self.held for j in held})
        table = np.zeros((self.m, self.C, len(self.stored)))
        for i in range(self.m):
            self.n_sv[i] = len(self.held[i])
            for a, j in zip(self.a[i], self.held[i], strict=True):
                table[i, :, self.stored.index(j)] += a
        return noted(self.notes, self.n_sv, self.stored, table, self.weights.w)
