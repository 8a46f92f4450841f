"""How large the next error will be: levels of log errors, a ridge regression of them, and two quantiles."""

import math

import numpy as np
from scipy import stats

TAILS = (1, 1.2, 1.4, 1.6, 1.8, 2, 2.25, 2.5, 3, 3.5, 4, 5, 7, 12, 20)
SPREAD = math.pi / math.sqrt(8)


class ErrorScale:
    """levels: of the last 20, 100 and all rounds; U_mean: mean of U; a: of the two quantiles"""

    def __init__(self):
        self.n, self.levels, self.U_mean, self.a = 0, np.zeros(3), 0.0, np.zeros((2, 3))
        self.rho = self.G = None

    def predict(self, U, random, x, low, high):
        """The standard deviation and the degrees of freedom; U, random, x: of the row."""
        self.U, held = U, np.clip(x, -3, 3)
        if not self.n:
            return 1.0, 4
        apart = (self.levels[[0, 2]] - self.levels[1]) / SPREAD
        far = U - self.U_mean
        features = (
            [0.5],
            math.sqrt(0.3) * apart,
            [math.sqrt(0.3) * np.clip(far, -0.5, 0.5)],
            random,
            *(math.sqrt(0.05) * np.array([value, abs(value)]) for value in held),
        )
        self.phi = np.concatenate(features)
        if self.rho is None:
            self.rho, self.G = np.zeros(len(self.phi)), np.eye(len(self.phi))
        self.G = self.G + 1e-4 * np.eye(len(self.phi))
        h = max(far - 0.5, 0)
        more = SPREAD * (self.rho @ self.phi)
        self.delta = more + h if more > 0 else more * math.exp(-h) + h
        held = np.clip(self.delta, -3, 3)
        self.c = np.array([1, max(held, 0), min(held, 0)])
        first = np.log([1.96 * 1.1, 0.6745]) + (np.euler_gamma + math.log(2)) / 2  # less the mean of log|z|
        self.quantiles = first + self.a @ self.c
        std = math.exp(self.levels[1] + self.delta + self.quantiles[0]) / stats.norm.ppf(0.975)
        ratios = [math.log(stats.t.ppf(0.975, nu) / stats.t.ppf(0.75, nu)) for nu in TAILS]
        best = np.argmin(np.abs(np.array(ratios) - (self.quantiles[0] - self.quantiles[1])))
        return float(np.clip(std, 1e-12 * (high - low), high - low)), TAILS[best]

    def learn(self, error, low, high):
        """low, high: of the targets, the round's among them."""
        if high == low:
            return
        u = math.log(max(error, 1e-12 * (high - low)))
        self.n += 1
        if self.n == 1:
            self.levels[:], self.U_mean = u, self.U
            return
        gain = self.G @ self.phi / (1 + self.phi @ self.G @ self.phi)
        off = np.clip((u - self.levels[1]) / SPREAD - self.rho @ self.phi, -2 / SPREAD, 2 / SPREAD)
        self.G = self.G - np.outer(gain, self.G @ self.phi)
        self.rho = self.rho + off * gain
        above = u - self.levels[1] - self.delta > self.quantiles
        rate = max(1 / 50, 2 / (10 + self.n))
        self.a = self.a + rate * np.outer(above - np.array([0.05, 0.5]), self.c * [1, 3, 3])
        self.a[:, 1:] = self.a[:, 1:].clip(-0.5, 0.5)
        rates = np.maximum([1 / 20, 1 / 100, 0], 1 / self.n)
        self.levels = self.levels + rates * np.clip(u - self.levels, -3, 3)
        self.U_mean += max(1 / 100, 1 / self.n) * (self.U - self.U_mean)


def density(error, std, degrees):
    """-log p of Student's t with the 95 % interval of a normal density of this standard deviation."""
    return -stats.t.logpdf(error, degrees, scale=std * stats.norm.ppf(0.975) / stats.t.ppf(0.975, degrees))
