"""The learner without a knob, in plain steps: matrices of numpy, scales from the rows seen so far."""

import numpy as np

from .egpc import Ensemble, ensembles
from .features import frequencies


class Members:
    """Features of the 14 members at each round: 6 Gaussians, 2 with a drift, 4 linear, 2 with a drift.

    rows, med: x and x~ of the last call of `features`, and the widths known then
    """

    variances = [10.0] * 8 + [1.0, 100.0, 1.0, 100.0, 1.0, 1.0]
    drifts = [0.0] * 6 + [0.01] * 2 + [0.0] * 4 + [0.01] * 2
    widths = (0.25, 0.5, 1.0)

    def __init__(self, X, D, rng):
        self.X, self.D, d = X, D, X.shape[1]
        self.V = frequencies([{"sigma": 1.0}] * 2, d, D, "orthogonal", rng) if d else [np.zeros((D, 0))] * 2
        self.sizes = [2 * D] * 8 + [1 + d] * 6

    def features(self, t):
        seen, first = self.X[: t + 1], self.X[: min(t + 1, 300)]
        varies = [
            rows.max(axis=0, initial=-np.inf) > rows.min(axis=0, initial=np.inf) for rows in (seen, first)
        ]
        sd = np.where(varies[0], seen.std(axis=0), 1)
        scaled = np.where(varies[0], (self.X[t] - seen.mean(axis=0)) / sd, 0).clip(-10, 10)
        width = np.sqrt(2 * first.var(axis=0)[varies[1]].sum()), np.sqrt(2 * varies[1].sum())
        self.rows, self.med = (self.X[t], scaled), width
        s = np.abs(first).max(initial=0.0)
        gaussians = []
        for V, x, med in zip(self.V, (self.X[t], scaled), width, strict=True):
            for share in self.widths:
                p = V @ x / (share * med if med > 0 else 1.0)
                gaussians.append(np.concatenate([np.sin(p), np.cos(p)]) / np.sqrt(self.D))
        lines = [np.append(1.0, x) for x in (self.X[t] / (s if s > 0 else 1.0), scaled)]
        return gaussians, lines

    def z(self, t):
        gaussians, lines = self.features(t)
        return [*gaussians, gaussians[1], gaussians[4], *np.repeat(lines, 2, axis=0), *lines]


class Drifting(Ensemble):
    """An ensemble whose members have drifts of their own."""

    def predict(self, z):
        drifts, self.drift = Members.drifts, 0.0
        self.S = [S + s * np.eye(len(S)) for S, s in zip(self.S, drifts, strict=True)]
        return super().predict(z)


def auto(X, y, kernels=(), *, D, normalise="none", rng):
    M = Members(X, D, rng)
    return ensembles(lambda: Drifting(M.sizes, M.variances, 0.0, 1e-3), M.z, y)


auto.apart = "one ensemble for each class, whose probabilities need not add up to 1"
