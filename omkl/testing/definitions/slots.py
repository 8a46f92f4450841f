"""The classifiers f_1 .. f_m of a twin with a budget: lists of slots that can be overwritten and scaled.

Sums are Python arithmetic, one number at a time: an output is the sum over a kernel's slots in the order of
their numbers.
"""

import numpy as np

from omkl.testing.definitions.expansion import Expansions
from omkl.testing.definitions.kernels import cosine, inner, kernel, squared_norms
from omkl.testing.definitions.weights import Weights


class Slots(Expansions):
    """f_i = sum_s a[i][s] kappa_i(x_j, .), j = held[i][s]; at most `budget` slots in each of m kernels."""

    sides, zero = 1, 0.0  # of a learner that is written for more classes too

    def __init__(self, X, y, kernels, normalise, budget):
        super().__init__(None, len(kernels), len(y))
        self.X, self.norms = np.asfortranarray(X, dtype=float), squared_norms(X)
        self.y, self.kernels, self.budget = y, kernels, budget
        self.one = {"none": kernel, "cosine": cosine}[normalise]
        self.a = [[] for _ in kernels]
        self.held = [[] for _ in kernels]
        self.oldest = [0] * self.m
        self.dots, self.rows = {}, {}
        self.weights = Weights(self.m)

    def kappa(self, i, j, t):
        """kappa_i(x_j, x_t)."""
        row = self.rows.get((i, j))
        if row is None:
            if j not in self.dots:
                self.dots[j] = inner(self.X, self.X[j])
            values = self.one(self.kernels[i], self.dots[j], self.norms, self.norms[j], self.X, self.X[j])
            row = self.rows[i, j] = memoryview(values)  # of Python's floats
        return row[t]

    def f(self, i, t):
        """f_i(x_t)."""
        total = 0.0
        for a, j in zip(self.a[i], self.held[i], strict=True):
            total += a * self.kappa(i, j, t)
        return total

    def predict(self, t):
        """Record round t's weighted vote; return f (m,) and which kernels err."""
        f = np.array([self.f(i, t) for i in range(self.m)])
        every = np.ones(self.m, dtype=bool)
        self.record(self.weights.vote(f, every), self.y[t], every)
        return f, self.y[t] * f <= 0

    def margins(self, t):
        """Record round t's weighted vote; return the margins y f (m,) and the directions y of steps."""
        f, _ = self.predict(t)
        return self.y[t] * f, [self.y[t]] * self.m

    def alone(self, t):
        """Record the output of one kernel; return its margin and direction."""
        f = self.f(0, t)
        self.record(f, self.y[t], [True])
        return self.y[t] * f, self.y[t]

    def plain_margin(self, i, t):
        """Margin and direction of kernel i, whatever is taken for rounding."""
        return self.y[t] * self.value(i, t), self.y[t]

    def value(self, i, t):
        """f_i(x_t) by its definition."""
        return Slots.f(self, i, t)

    def length(self, a):
        """|a|."""
        return np.abs(a)

    def along(self, a, score):
        """The margin of a stored vector with the sign of its coefficient."""
        return score if a > 0 else -score

    def discount(self, gamma, z):
        self.weights.discount(gamma, z)

    def full(self, i):
        return len(self.a[i]) == self.budget

    def append(self, i, t, a):
        assert not self.full(i)
        self.a[i].append(a)
        self.held[i].append(t)
        self.n_sv[i] += 1

    def replace(self, i, s, t, a):
        self.a[i][s], self.held[i][s] = a, t

    def replace_oldest(self, i, t, a):
        self.replace(i, self.oldest[i], t, a)
        self.oldest[i] = (self.oldest[i] + 1) % self.budget

    def scale(self, i, c):
        self.a[i] = [a * c for a in self.a[i]]

    def finish(self):
        """The Result; stored: all examples in use, coefficients by kernel."""
        self.stored = sorted({j for in_kernel in self.held for j in in_kernel})
        coefficients = np.zeros((self.m, len(self.stored)))
        for i in range(self.m):
            for a, j in zip(self.a[i], self.held[i], strict=True):
                coefficients[i, self.stored.index(j)] += a
        self.columns = list(coefficients.T)
        return self.result(self.weights.w)
