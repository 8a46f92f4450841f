"""The learner of numbers without a knob, in plain steps: one Bayesian regression for each member, trackers on
stored rows, and the means and corrections that combine them."""

import math

import numpy as np

from .error_scale import ErrorScale, density
from .expansion import Expansions
from .krls_t import JITTER, Tracker
from .scaled_rows import Members
from .weights import TINY


class Regressions(Members):
    """Its members: every drift x ratio of prior variance to noise x 4 Gaussians, then the same x 2 linear."""

    widths = (1.0, 4.0)
    pairs = tuple((drift, ratio) for drift in (0.0, 1e-4, 1e-2) for ratio in (1e2, 1e4))


class Kernel:
    """A kernel of rows that are given one after the other; as of the learners' kernels."""

    def __init__(self, kind, rows, width, columns):
        self.kind, self.rows, self.width, self.columns = kind, rows, width, columns

    def kappa(self, i, j, t):
        apart = (self.rows[j] - self.rows[t]) ** 2
        s = apart.sum() / self.width**2
        if self.kind == "laplacian":
            return math.exp(-math.sqrt(s))
        each = np.exp(-apart[: self.columns] / 4).mean()
        return math.exp(-s / 2) if self.kind == "gaussian" else (math.exp(-s / 2) + each) / 2


class Trackers:
    """Four of them: kind, row, width in med and noise; anew after 10, 30, 100 and 300 rounds."""

    forms = (
        ("laplacian", 0, 1.0, 1e-4),
        ("gaussian", 0, 2.0, 1e-3),
        ("additive", 1, 1.0, 1e-3),
        ("gaussian", 1, 2.0, 1e-3),
    )

    def __init__(self, budget):
        self.budget, self.rows, self.own = budget, ([], []), []

    def predict(self, t, rows):
        for known, row in zip(self.rows, rows, strict=True):
            known.append(row)
        return np.array([own.predict(t)[0][0] for own in self.own] or np.zeros(4))

    def variances(self):
        """Of their outputs, in units of the noise: of a tracker that knows no row, the prior's."""
        noises = [noise for *_, noise in self.forms]
        return [own.s2 / own.noise - 1 for own in self.own] or [(1 + JITTER) / noise for noise in noises]

    def learn(self, t, y, center, med):
        for own in self.own:
            own.learn(t, np.array([y[t] - center]))
        if t + 1 in (10, 30, 100, 300):
            held, self.own = [own.held for own in self.own] or [[]] * 4, []
            for (kind, r, share, noise), known in zip(self.forms, held, strict=True):
                kernel = Kernel(kind, self.rows[r], share * med[r] if med[r] > 0 else 1.0, 500)
                self.own.append(Tracker(kernel, 0, 1, self.budget, noise, 1.0))
                for j in known:
                    self.own[-1].predict(j)
                    self.own[-1].learn(j, np.array([y[j] - y[: t + 1].mean()]))


class Mean:
    """The members' mean, by the weights of their squared errors."""

    def __init__(self, k, share, rate):
        self.w, self.share, self.rate = np.full(k, 1 / k), share, rate

    def learn(self, t, error, q):
        loss = (self.rate + 50 / (101 + t)) / q * error**2
        w = np.maximum(self.w * np.exp(loss.min() - loss), TINY)
        self.w = (1 - self.share) * np.maximum(w / w.sum(), TINY) + self.share / len(w)


class Correction:
    """A Bayesian regression of the first mean's error on what the members say beyond it, in units."""

    def __init__(self, k, precision):
        self.eta, self.S = np.zeros(k), np.eye(k) / precision

    def predict(self, z):
        self.z = z
        return self.eta @ z

    def learn(self, error):
        gain = self.S @ self.z / (1 + self.z @ self.S @ self.z)
        self.S = self.S - np.outer(gain, self.S @ self.z)
        self.eta = self.eta + gain * (error - self.eta @ self.z)


def auto_regression(X, y, kernels=(), *, size, normalise="none", rng):
    """The noise's variance is 1, the prior's the ratio; weights by squared error, some given back."""
    M, E = Regressions(X, size, rng), Expansions(None, 0, len(y))
    forms = [
        (*pair, n)
        for n, copies in ((2 * size, 4), (X.shape[1] + 1, 2))
        for pair in M.pairs
        for _ in range(copies)
    ]
    theta = [np.zeros(n) for *_, n in forms]
    S = [ratio * np.eye(n) for _, ratio, n in forms]
    trackers, k = Trackers(4 * size), len(forms) + 4
    means = [Mean(k, 1e-2, 1 / 50), Mean(k, 1e-3, 1 / 200)]
    corrections = [Correction(k, 30), Correction(k, 1000)]
    q, q_all, L = 0.0, 0.0, np.zeros(4)
    few = X.shape[1] <= 500
    scale, y = ErrorScale(), np.array(y, float)  # y: as they are learnt
    for t in range(len(y)):
        gaussians, lines = M.features(t)
        z = [*(len(M.pairs) * gaussians), *(len(M.pairs) * lines)]
        S = [own + drift * ratio * np.eye(n) for own, (drift, ratio, n) in zip(S, forms, strict=True)]
        center = y[: max(t, 1)].mean()
        p = center + np.array([a @ z_i for a, z_i in zip(theta, z, strict=True)])
        both = np.append(p, center + trackers.predict(t, M.rows))
        low, high = (y[:t].min(), y[:t].max()) if t else (0, 0)
        held = both.clip(low, high)
        first = np.clip(means[0].w @ held, low, high)
        unit = np.sqrt(q_all)
        beyond = (held - first) / unit if unit > 0 else np.zeros(k)
        moved = [np.clip(first + unit * own.predict(beyond), low, high) for own in corrections]
        g = np.array([first, np.clip(means[1].w @ held, low, high), *moved])
        weights = np.exp(-(L - L.min()) / (2 * q)) if q > 0 else np.ones(4)
        f = np.clip(weights @ g / weights.sum(), low, high)
        k_i = [z_i @ own @ z_i for z_i, own in zip(z, S, strict=True)] + trackers.variances()
        far = np.mean(np.log1p(k_i) / 2)
        std, degrees = scale.predict(far, gaussians[2], M.rows[1] if few else [], low, high)
        E.record(f, y[t], [], [density(y[t] - f, std, degrees), std**2, degrees])
        error = abs(y[t] - f)
        if t >= 50:
            most = 10 * (high - low if high > low else abs(center))
            y[t] = np.clip(y[t], low - most, high + most) if most > 0 else y[t]
        if t:
            q += max(1 / 20, 1 / t) * ((y[t] - f) ** 2 - q)
            q_all += ((y[t] - f) ** 2 - q_all) / t
            L = 0.95 * L + (y[t] - g) ** 2
        if t > 1 and q > 0:
            means[0].learn(t, y[t] - held, q)
            means[1].learn(t, y[t] - held, q_all)
        if unit > 0:
            for own in corrections:
                own.learn((y[t] - first) / unit)
        for i in range(len(forms)):
            gain = S[i] @ z[i] / (1 + z[i] @ S[i] @ z[i])
            S[i] = S[i] - np.outer(gain, S[i] @ z[i])
            theta[i] = theta[i] + gain * (y[t] - p[i])
        trackers.learn(t, y, center, M.med)
        scale.learn(error, y[: t + 1].min(), y[: t + 1].max())
    return E.result()


auto_regression.near = 1e-4  # wide Gaussians with little noise have large condition numbers
