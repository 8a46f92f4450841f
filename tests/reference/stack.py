"""A stack: the twins of its members, each on all rows, and a stack of probit learners on their margins."""

import importlib
import math
from itertools import product

import numpy as np
from scipy.special import log_ndtr, ndtr

from omkl.config import learner_spec, members_of

from . import medians
from .classes import Notes, classes_of
from .expansion import Expansions
from .scaling import ranked_rows, scaled_rows
from .weights import TINY


class Probit:
    """mu = offset + theta . z, theta ~ N(0, S); one label at a time, moments of the posterior."""

    def __init__(self, size, variance, drift=0.0, diagonal=False):
        self.theta, self.S, self.drift, self.diagonal = (
            np.zeros(size),
            variance * np.eye(size),
            drift,
            diagonal,
        )

    def drift_on(self):
        self.S = self.S + self.drift * np.eye(len(self.S))

    def predict(self, z, offset=0.0):
        """mu / sqrt(1 + v)."""
        self.z, self.v = z, z @ self.S @ z
        self.u = (offset + self.theta @ z) / math.sqrt(1 + self.v)
        return self.u

    def learn(self, y):
        log_p = log_ndtr(y * self.u)
        rho = math.exp(-(self.u**2) / 2 - math.log(2 * math.pi) / 2 - log_p)
        g = self.S @ self.z
        self.theta = self.theta + y * rho / math.sqrt(1 + self.v) * g
        change = rho * (rho + y * self.u) / (1 + self.v) * np.outer(g, g)
        self.S = self.S - (np.diag(np.diag(change)) if self.diagonal else change)
        return log_p


class Stack:
    """Eight probit learners on the members' margins, their Bayes mixture, and a mixture of the nine."""

    def __init__(self, k):
        pairs = product((0.01, 0.1), (0.0, 1e-5, 1e-4, 1e-3))
        self.learners = [Probit(k + 1, variance, drift) for variance, drift in pairs]
        self.own = [Probit(2, 1.0) for _ in range(k)]
        for own in self.own:
            own.S[1, 1] = 0.1
        self.w, self.W = np.full(k, 1 / k), np.full(9, 1 / 9)
        self.squares, self.seen = np.zeros(k), 0

    def predict(self, M):
        """P - 1/2 of every class; M (C, k)."""
        root = np.sqrt(self.squares / max(self.seen, 1))
        scale = np.where(root > 0, root, 1.0)
        self.z = np.where(np.abs(M) > 1e-12, np.clip(M / scale, -5, 5), 0.0)
        self.squares, self.seen = self.squares + (M**2).sum(axis=0), self.seen + len(M)
        for own in self.learners:
            own.drift_on()
        self.e = np.array([self.excesses(z) for z in self.z])
        return self.e @ self.W

    def excesses(self, z):
        linear = [ndtr(own.predict(np.append(z, 1.0), z.mean())) - 0.5 for own in self.learners]
        own = [ndtr(one.predict(np.array([a, 1.0]), a)) - 0.5 for one, a in zip(self.own, z, strict=True)]
        return [*linear, float(np.dot(self.w, own))]

    def learn(self, y):
        log_P = np.zeros(9)
        for z, e, own in zip(self.z, self.e, y, strict=True):
            self.excesses(z)
            for learner in self.learners:
                learner.learn(own)
            self.w = reweighed(self.w, np.array([one.learn(own) for one in self.own]))
            log_P += np.log(np.maximum(0.5 + own * e, 2.0**-53))
        self.W = reweighed(self.W, log_P)


def reweighed(w, log_p):
    """Bayes, and a share of 0.001 to all alike."""
    w = np.maximum(w * np.exp(log_p - log_p.max()), TINY)
    return (1 - 1e-3) * np.maximum(w / w.sum(), TINY) + 1e-3 / len(w)


def over_rivals(M):
    """Margins over the strongest other class."""
    if len(M) == 1:
        return M
    return np.array([M[c] - np.delete(M, c, axis=0).max(axis=0) for c in range(len(M))])


def seen_by(scale, X):
    """The rows as members of this scaling see them."""
    if scale is None:
        return X
    made = {"online": scaled_rows, "ranks": ranked_rows}[scale]
    return np.array(made(X.tolist())).reshape(X.shape)


def twin_of(member, X, y, rng):
    """What a member says by its twin: scores (T,), those of more than two classes, and its measures."""
    given = member.kernel_pool or {"kernels": [], "normalise": "none"}
    hyper = {name: value for name, value in member.params.items() if name != "kernel"}
    hyper["pool_normalise" if "normalise" in hyper else "normalise"] = given["normalise"]
    twin = importlib.import_module(str(__package__)).TWINS[member.learner]
    X = seen_by(member.scaling.get("scale"), X)
    return medians.told(twin, X, y, given["kernels"], rng=rng, **hyper)


def margins(member, X, y, rng):
    """Margins (T, C) of a member by its twin, C = 1 for two classes; log odds of probabilities."""
    scores, of_classes, _ = twin_of(member, X, y, rng)
    if member.spec.probabilities:
        P = np.clip(scores[:, None] + 0.5 if of_classes is None else of_classes, 1e-6, 1 - 1e-6)
        return np.log(P / (1 - P))
    return scores[:, None] if of_classes is None else of_classes


def drawn_seeds(settings, rng):
    """A seed for each member; those that have the same random features, and draw nothing else, share it."""
    first = {}
    return [
        first.setdefault(str([member.kernel_pool["kernels"], member.params["D"], member.scaling]), int(seed))
        if member.learner in ("iegp", "egpc", "arow_features", "ridge_features")
        else int(seed)
        for member, seed in zip(settings, rng.integers(2**63, size=len(settings)), strict=True)
    ]


def stacked(settings, X, y, rng):
    C, draws = classes_of(y), drawn_seeds(settings, rng)
    parts = [margins(own, X, y, np.random.default_rng(n)) for own, n in zip(settings, draws, strict=True)]
    E, learners = Notes() if C else Expansions(None, 0, len(y)), Stack(len(settings))
    for M, label in zip(np.stack(parts, axis=2), y, strict=True):
        P = learners.predict(over_rivals(M))
        if C:
            E.record(((P + 0.5) / (P + 0.5).sum()).tolist(), label)
        else:
            E.record(float(P[0]), label, [])
        learners.learn(np.where(np.arange(C) == label, 1.0, -1.0) if C else np.array([label]))
    return E.result()


def stack(X, y, kernels=(), *, members, normalise="none", rng):
    return stacked(members_of(learner_spec("stack"), {"members": members}), X, y, rng)


def auto(X, y, kernels=(), *, normalise="none", rng):
    return stacked(members_of(learner_spec("auto"), {}, X.shape[1], classes_of(y) or 2), X, y, rng)


stack.apart = "each class against all others, and probabilities that need not add up to 1"
stack.near = 1e-5  # as near as its members: KRLS-T solves systems
auto.apart, auto.near = stack.apart, stack.near
