"""E-DOEBE (Waxman, Djuric 2024): every kernel x drift x noise a Bayesian regression, in plain steps."""

import math

import numpy as np

from .ensembles import density
from .expansion import Expansions
from .features import frequencies, lifted
from .weights import TINY


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
