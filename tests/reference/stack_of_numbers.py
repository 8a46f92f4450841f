"""A stack of numbers: the twins of its members, each on all targets less their mean, two means of them, and
corrections of the first."""

import copy

import numpy as np

from omkl.config import learner_spec, members_of

from .error_scale import ErrorScale, density
from .expansion import Expansions
from .features import frequencies
from .stack import drawn_seeds, seen_by, twin_of
from .weights import TINY


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


class StackOfNumbers:
    """Mixes k members' predictions of a round."""

    def __init__(self, k):
        self.means = [Mean(k, 1e-2, 1 / 50), Mean(k, 3e-3, 1 / 200)]
        self.corrections = [Correction(k, 30), Correction(k, 1000)]
        self.q, self.q_all, self.L, self.t = 0.0, 0.0, np.zeros(4), 0
        self.bias, self.total = np.zeros(k), 0.0

    def predict(self, p, low, high):
        self.held, self.unit = (p + self.bias).clip(low, high), np.sqrt(self.q_all)
        self.first = np.clip(self.means[0].w @ self.held, low, high)
        beyond = (self.held - self.first) / self.unit if self.unit > 0 else np.zeros(len(p))
        moved = [np.clip(self.first + self.unit * own.predict(beyond), low, high) for own in self.corrections]
        self.g = np.array([self.first, np.clip(self.means[1].w @ self.held, low, high), *moved])
        weights = np.exp(-(self.L - self.L.min()) / (2 * self.q)) if self.q > 0 else np.ones(4)
        self.f = float(np.clip(weights @ self.g / weights.sum(), low, high))
        return self.f

    def learn(self, y, std):
        t = self.t
        if t:
            self.q += max(1 / 10, 1 / t) * ((y - self.f) ** 2 - self.q)
            self.q_all += ((y - self.f) ** 2 - self.q_all) / t
            self.L = 0.9 * self.L + (y - self.g) ** 2
        if t > 1 and self.q > 0:
            self.means[0].learn(t, y - self.held, self.q)
            self.means[1].learn(t, y - self.held, self.q_all)
        if self.unit > 0:
            for own in self.corrections:
                own.learn((y - self.first) / self.unit)
        self.t += 1
        if std > 0:
            std = max(std, np.sqrt(self.q_all) / 100)
            self.total = (self.total or 30 / std) * (1 - 1 / 300) + 1 / std
            self.bias += (y - self.held) / std / self.total


def learnt_targets(y):
    """The targets as they are learnt: after 50 rounds within ten ranges of those before."""
    learnt = []
    for t, target in enumerate(y):
        low, high = (min(learnt), max(learnt)) if t else (0, 0)
        most = 10 * (high - low if high > low else abs(np.mean(learnt or [0])))
        learnt.append(float(np.clip(target, low - most, high + most)) if t >= 50 and most > 0 else target)
    return np.array(learnt)


def stacked_numbers(settings, X, y, rng):
    own, draws = copy.deepcopy(rng), drawn_seeds(settings, rng)
    learnt = learnt_targets(y)
    center = np.array([learnt[: max(t, 1)].mean() for t in range(len(y))])
    told = [
        twin_of(member, X, learnt - center, np.random.default_rng(n))
        for member, n in zip(settings, draws, strict=True)
    ]
    P = np.stack([scores for scores, *_ in told], axis=1)
    stds = [
        np.log(further[:, member.spec.measures.index("variance")]) / 2
        for member, (*_, further) in zip(settings, told, strict=True)
        if "variance" in member.spec.measures
    ]
    far = np.mean(stds, axis=0) if stds else np.zeros(len(y))
    rows = seen_by("online", X)
    ((V,),) = [frequencies([{"sigma": np.sqrt(2 * X.shape[1])}], X.shape[1], 50, "orthogonal", own)]
    E, stack, scale = Expansions(None, 0, len(y)), StackOfNumbers(len(settings)), ErrorScale()
    for t in range(len(y)):
        low, high = (learnt[:t].min(), learnt[:t].max()) if t else (0, 0)
        f = stack.predict(center[t] + P[t], low, high)
        angle = V @ rows[t]
        random = np.concatenate([np.sin(angle), np.cos(angle)]) / np.sqrt(50)
        std, degrees = scale.predict(far[t], random, rows[t] if X.shape[1] <= 500 else [], low, high)
        known = std if scale.n else 0.0
        E.record(f, y[t], [], [density(y[t] - f, std, degrees), known**2, degrees])
        stack.learn(learnt[t], known)
        scale.learn(abs(y[t] - f), learnt[: t + 1].min(), learnt[: t + 1].max())
    return E.result()


def stack_regression(X, y, kernels=(), *, members, normalise="none", rng):
    return stacked_numbers(members_of(learner_spec("stack_regression"), {"members": members}), X, y, rng)


def auto_regression(X, y, kernels=(), *, normalise="none", rng):
    return stacked_numbers(members_of(learner_spec("auto_regression"), {}, X.shape[1]), X, y, rng)


stack_regression.near = auto_regression.near = 1e-4  # as near as its members: KRLS-T solves systems
