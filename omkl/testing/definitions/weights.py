"""Hedge weights, and the votes that they weigh, decided without rounding.

A weight is beta^e / sum_j beta^e_j, e what its kernel has lost so far. Learners draw by these numbers in
double precision (w); votes are counted in whole numbers, from the exponents.
"""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

TINY = np.finfo(np.float64).tiny
UNIT = 10**10  # of an exponent, where losses are real numbers: differences below 1e-10 are rounding


def hedge(w, beta, z):
    """w_i beta^z_i, divided by their sum (taken in index order); an underflow stays at TINY."""
    w = [max(w[i] * beta, TINY) if z[i] else w[i] for i in range(len(w))]
    total = 0.0
    for i in range(len(w)):
        total += w[i]
    return np.array([max(w[i] / total, TINY) for i in range(len(w))])


def hedge_by(w, beta, loss):
    """w_i beta^(loss_i - least loss), divided by their sum; an underflow stays at TINY."""
    least = min(loss)
    w = [max(float(w_i) * float(beta) ** float(l_i - least), TINY) for w_i, l_i in zip(w, loss, strict=True)]
    total = 0.0
    for w_i in w:
        total += w_i
    return np.array([max(w_i / total, TINY) for w_i in w])


class Weights:
    """Weights of counted mistakes: e_i is a whole number, and beta the fraction that it is written as."""

    def __init__(self, m):
        self.w, self.e, self.beta = np.full(m, 1 / m), [0] * m, None

    def discount(self, beta, z):
        self.w, self.beta = hedge(self.w, beta, z), beta
        self.e = [e + bool(z_i) for e, z_i in zip(self.e, z, strict=True)]

    def vote(self, f, used):
        """sum_i w_i vote(f_i) over the used kernels; vote +1 if f >= 0, else -1; exactly 0 is a tie."""
        votes = Counter()
        for e, f_i, u in zip(self.e, f, used, strict=True):
            if u:
                votes[e] += 1 if f_i >= 0 else -1
        score, sign = self.quotient(votes, Counter(self.e))
        return score if score != 0 else sign * 5e-324

    def quotient(self, votes, every):
        """sum_e votes[e] beta^e / sum_e every[e] beta^e, and its sign."""
        beta, low, high = Fraction(str(self.beta or 1)), min(every), max(every)

        def whole(counts):
            p, q = beta.numerator, beta.denominator
            return sum(n * p ** (e - low) * q ** (high - e) for e, n in counts.items())

        won = whole(votes)
        return won / whole(every), (won > 0) - (won < 0)


class RealWeights(Weights):
    """Weights of real losses: e_i in whole units. What does not cancel is summed to 60 digits."""

    def discount(self, beta, loss):
        self.w, self.beta = hedge_by(self.w, beta, loss), beta
        self.e = [e + round(float(l_i) * UNIT) for e, l_i in zip(self.e, loss, strict=True)]

    def quotient(self, votes, every):
        with localcontext() as context:
            context.prec = 60
            rate, low = Decimal(str(self.beta or 1)).ln(), min(every)

            def number(counts):
                return sum(n * (rate * (e - low) / UNIT).exp() for e, n in counts.items() if n)

            won = number(votes)
            return float(won / number(every)), (won > 0) - (won < 0)
