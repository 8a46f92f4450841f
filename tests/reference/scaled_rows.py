"""Rows as they come and scaled online, and features of both, as the learners without a knob see them."""

import numpy as np

from .features import frequencies


class Members:
    """Features of Gaussians of these widths (times med) and of linear members, round after round.

    rows, med: x and x~ of the last call of `features`, and the widths known then
    """

    widths = (0.5, 1.0)

    def __init__(self, X, D, rng):
        self.X, d = X, X.shape[1]
        self.V = frequencies([{"sigma": 1.0}] * 2, d, D, "orthogonal", rng) if d else [np.zeros((D, 0))] * 2

    def features(self, t):
        seen, first = self.X[: t + 1], self.X[: min(t + 1, 300)]
        varies = [
            rows.max(axis=0, initial=-np.inf) > rows.min(axis=0, initial=np.inf) for rows in (seen, first)
        ]
        sd = np.where(varies[0], seen.std(axis=0), 1)
        scaled = np.where(varies[0], (self.X[t] - seen.mean(axis=0)) / sd, 0).clip(-10, 10)
        self.med = np.sqrt(2 * first.var(axis=0)[varies[1]].sum()), np.sqrt(2 * varies[1].sum())
        self.rows, s = (self.X[t], scaled), np.abs(first).max(initial=0.0)
        gaussians = []
        for V, x, med in zip(self.V, self.rows, self.med, strict=True):
            for share in self.widths:
                p = V @ x / (share * med if med > 0 else 1.0)
                gaussians.append(np.concatenate([np.sin(p), np.cos(p)]) / np.sqrt(len(p)))
        lines = [np.append(1.0, x) for x in (self.X[t] / (s if s > 0 else 1.0), scaled)]
        return gaussians, lines
