"""Ensemble of Gaussian processes with a probit likelihood: plain matrices, scipy's normal distribution."""

import math

import numpy as np
from scipy.special import log_ndtr, ndtr

from .classes import Notes, classes_of
from .expansion import Expansions
from .features import frequencies, lifted
from .weights import TINY


class Ensemble:
    """theta_i and Sigma_i of every kernel's features, and of [1; x] where linear."""

    def __init__(self, sizes, variances, drift, share):
        self.theta = [np.zeros(n) for n in sizes]
        self.S = [nu * np.eye(n) for n, nu in zip(sizes, variances, strict=True)]
        self.w, self.drift, self.share = [1 / len(sizes)] * len(sizes), drift, share

    def predict(self, z):
        """sum_i w_i (p_i - 1/2)."""
        self.z = z
        self.S = [S + self.drift * np.eye(len(S)) for S in self.S]
        self.mu = [a @ z_i for a, z_i in zip(self.theta, z, strict=True)]
        self.v = [z_i @ S @ z_i for z_i, S in zip(z, self.S, strict=True)]
        p = [ndtr(mu / math.sqrt(1 + v)) for mu, v in zip(self.mu, self.v, strict=True)]
        return sum(w * (p_i - 0.5) for w, p_i in zip(self.w, p, strict=True))

    def learn(self, y):
        u = [y * mu / math.sqrt(1 + v) for mu, v in zip(self.mu, self.v, strict=True)]
        log_p = log_ndtr(u)
        w = [max(w_i * math.exp(own - max(log_p)), TINY) for w_i, own in zip(self.w, log_p, strict=True)]
        self.w = [(1 - self.share) * max(w_i / sum(w), TINY) + self.share / len(w) for w_i in w]
        for i, (u_i, v) in enumerate(zip(u, self.v, strict=True)):
            rho = math.exp(-(u_i**2) / 2 - math.log(2 * math.pi) / 2 - log_p[i])
            g = self.S[i] @ self.z[i]
            self.theta[i] = self.theta[i] + y * rho / math.sqrt(1 + v) * g
            self.S[i] = self.S[i] - rho * (rho + u_i) / (1 + v) * np.outer(g, g)


def members(X, kernels, D, features, nu, linear, nu_linear, rng):
    """Function of t: the features of all members; their sizes and prior variances."""
    V = frequencies(kernels, X.shape[1], D, features, rng)
    own = [np.append(1.0, x) for x in X] if linear else None
    sizes = [2 * D] * len(kernels) + [X.shape[1] + 1] * linear
    return (
        lambda t: lifted(V, X[t]) + ([own[t]] if linear else []),
        sizes,
        [nu] * len(kernels) + [nu_linear] * linear,
    )


def ensembles(made, z, y):
    """Two classes: the score is P - 1/2. More: an ensemble for each against all others, P_c / sum of them."""
    C = classes_of(y)
    E, each = Notes() if C else Expansions(None, 0, len(y)), [made() for _ in range(C or 1)]
    for t, own in enumerate(y):
        scores = [G.predict(z(t)) for G in each]
        if C:
            P = np.array(scores) + 0.5
            E.record((P / P.sum()).tolist(), own)
        else:
            E.record(scores[0], own, [])
        for c, G in enumerate(each):
            G.learn(own if not C else 1.0 if c == own else -1.0)
    return E.result()


def egpc(X, y, kernels, *, D, features, nu, linear, nu_linear, drift, share, normalise="none", rng):
    z, *form = members(X, kernels, D, features, nu, linear, nu_linear, rng)
    return ensembles(lambda: Ensemble(*form, drift, share), z, y)


egpc.apart = "one ensemble for each class, whose probabilities need not add up to 1"
