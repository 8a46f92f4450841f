"""Ensembles on random features: Gaussian processes (Lu et al. 2022), two levels of VAW (arXiv 2503.20087)."""

import math

import numpy as np
from scipy.special import log_ndtr, ndtr

from .classes import Notes, classes_of
from .expansion import Expansions
from .features import frequencies, lifted
from .weights import TINY


def density(y, mu, v):
    """-log N(y; mu, v)."""
    return math.log(2 * math.pi * v) / 2 + (y - mu) ** 2 / (2 * v)


def iegp(X, y, kernels, *, D, features, nu, tau, drift, normalise="none", rng):
    """Each kernel's Bayesian linear regression; weights by the densities of what they predicted.

    Reports -log N(y; mean, variance) of the mixture of the kernels' Gaussians.
    """
    m = len(kernels)
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    theta, S, w = np.zeros((m, 2 * D)), [nu * np.eye(2 * D) for _ in range(m)], [1 / m] * m
    for t in range(len(y)):
        z = lifted(V, X[t])
        S = [own + drift * np.eye(2 * D) for own in S]
        mu = [theta[i] @ z[i] for i in range(m)]
        v = [z[i] @ S[i] @ z[i] + tau for i in range(m)]
        mean = sum(w[i] * mu[i] for i in range(m))
        variance = sum(w[i] * (v[i] + mu[i] ** 2) for i in range(m)) - mean**2
        E.record(mean, y[t], [], [density(y[t], mean, variance), variance])
        loss = [density(y[t], mu[i], v[i]) for i in range(m)]
        w = [max(w[i] * math.exp(min(loss) - loss[i]), TINY) for i in range(m)]
        w = [max(w_i / sum(w), TINY) for w_i in w]
        for i in range(m):
            gain = S[i] @ z[i] / v[i]
            theta[i] += gain * (y[t] - mu[i])
            S[i] = S[i] - np.outer(gain, gain) * v[i]
    return E.result(np.array(w))


class Forecaster:
    """A and b; the prediction is z . A^-1 b with z z' in A already."""

    def __init__(self, n, lam):
        self.A, self.b = lam * np.eye(n), np.zeros(n)

    def predict(self, z):
        self.A += np.outer(z, z)
        return z @ np.linalg.solve(self.A, self.b)


def vaw2(X, y, kernels, *, D, features, lam1, lam2, normalise="none", rng):
    """A forecaster on each kernel's features, and one on their predictions; each solved in every round."""
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    first, second = [Forecaster(2 * D, lam1) for _ in kernels], Forecaster(len(kernels), lam2)
    for t in range(len(y)):
        z = lifted(V, X[t])
        p = np.array([own.predict(z_i) for own, z_i in zip(first, z, strict=True)])
        E.record(second.predict(p), y[t], [])
        for own, z_i in zip(first, z, strict=True):
            own.b += y[t] * z_i
        second.b += y[t] * p
    return E.result()


# ------------------------------------------------------------------ edoebe
# E-DOEBE (Waxman, Djuric 2024): every kernel x drift x noise a Bayesian regression, in plain steps.


def edoebe(X, y, kernels, *, D, features, nu, linear, tau, taus, drift, drifts, share, normalise="none", rng):
    """Members by drift, then noise, then kernel; the linear ones last. Reports the mixture's density."""
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    s = [0.0] + [drift / 10**l for l in range(drifts - 1)]
    pairs = [(s_l, tau / 10**k) for s_l in s for k in range(taus)]
    form = [(2 * D, i, *pair) for pair in pairs for i in range(len(kernels))]
    form += [(X.shape[1] + 1, -1, *pair) for pair in pairs] if linear else []
    theta, S, w = (
        [np.zeros(n) for n, *_ in form],
        [nu * np.eye(n) for n, *_ in form],
        [1 / len(form)] * len(form),
    )
    for t in range(len(y)):
        known = [*lifted(V, X[t]), np.append(1.0, X[t])]
        z = [known[i] for _, i, _, _ in form]
        S = [own + drift_i * np.eye(len(own)) for own, (_, _, drift_i, _) in zip(S, form, strict=True)]
        mu = [a @ z_i for a, z_i in zip(theta, z, strict=True)]
        v = [z_i @ own @ z_i + noise for z_i, own, (*_, noise) in zip(z, S, form, strict=True)]
        mean = sum(w_i * mu_i for w_i, mu_i in zip(w, mu, strict=True))
        variance = sum(w_i * (v_i + (mu_i - mean) ** 2) for w_i, v_i, mu_i in zip(w, v, mu, strict=True))
        E.record(mean, y[t], [], [density(y[t], mean, variance), variance])
        loss = [density(y[t], mu_i, v_i) for mu_i, v_i in zip(mu, v, strict=True)]
        w = [max(w_i * math.exp(min(loss) - own), TINY) for w_i, own in zip(w, loss, strict=True)]
        w = [(1 - share) * max(w_i / sum(w), TINY) + share / len(w) for w_i in w]
        for i in range(len(form)):
            gain = S[i] @ z[i] / v[i]
            theta[i] = theta[i] + gain * (y[t] - mu[i])
            S[i] = S[i] - np.outer(gain, gain) * v[i]
    return E.result()


edoebe.near = 1e-6  # the linear members of features as they come have large condition numbers


# ------------------------------------------------------------------ egpc
# Ensemble of Gaussian processes with a probit likelihood: plain matrices, scipy's normal distribution.


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


# ------------------------------------------------------------------ omkl_gf
# OMKL-GF with one node (Ghari and Shen 2020), and with the slips of the authors' code.


def omkl_gf(X, y, kernels, *, D, features, draws, lam, variant, normalise="none", rng):
    """A = what `draws` draws by p = (1 - eta) w + eta / m give; only A predicts and learns."""
    m = len(kernels)
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    theta, w, settled = np.zeros((m, 2 * D)), np.full(m, 1 / m), False
    for t in range(len(y)):
        z, eta = np.array(lifted(V, X[t])), 1 / math.sqrt(t + 1)
        if not settled:
            p = (1 - eta) * w + eta / m
            A = set()
            for _ in range(draws):
                i = min(int(np.searchsorted(np.cumsum(p), rng.random())), m - 1)
                A.add(min(i + 1, m - 1) if variant == "authors" else i)
            q = 1 - (1 - p) ** draws
        A = sorted(A)
        f = (theta * z).sum(1)
        score = sum(w[i] * f[i] for i in A) / sum(w[i] for i in A)
        E.record(score, y[t], [])
        loss = np.zeros(m)
        for i in A:
            theta[i] -= eta * (2 * (f[i] - y[t]) * z[i] + 2 * lam * theta[i])
            loss[i] = eta * ((f[i] - y[t]) ** 2 + lam * theta[i] @ theta[i]) / q[i]
        w = np.maximum(w * np.exp(loss.min() - loss), TINY)
        w = np.maximum(w / w.sum(), TINY)
        settled |= variant == "authors" and (score - y[t]) ** 2 < 1e-4
    return E.result(w)


omkl_gf.near = 1e-6  # its first steps, of size 1 and 1 / sqrt(2), multiply the rounding of narrow kernels
