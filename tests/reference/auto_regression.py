"""The learner of numbers without a knob, in plain steps: one Bayesian regression for each member."""

import numpy as np
from scipy import stats

from .expansion import Expansions
from .scaled_rows import Members
from .weights import TINY


class Regressions(Members):
    """Its members: every drift x ratio of prior variance to noise x 4 Gaussians, then the same x 2 linear."""

    widths = (1.0, 4.0)
    pairs = tuple((drift, ratio) for drift in (0.0, 1e-4, 1e-2) for ratio in (1e2, 1e4))


def auto_regression(X, y, kernels=(), *, D, normalise="none", rng):
    """The noise's variance is 1, the prior's the ratio; weights by squared error, a percent given back."""
    M, E = Regressions(X, D, rng), Expansions(None, 0, len(y))
    forms = [
        (*pair, n)
        for n, copies in ((2 * D, 4), (X.shape[1] + 1, 2))
        for pair in M.pairs
        for _ in range(copies)
    ]
    theta = [np.zeros(n) for *_, n in forms]
    S = [ratio * np.eye(n) for _, ratio, n in forms]
    w, q = np.full(len(forms), 1 / len(forms)), 0.0
    for t in range(len(y)):
        gaussians, lines = M.features(t)
        z = [*(len(M.pairs) * gaussians), *(len(M.pairs) * lines)]
        S = [own + drift * ratio * np.eye(n) for own, (drift, ratio, n) in zip(S, forms, strict=True)]
        center = y[: max(t, 1)].mean()
        p = center + np.array([a @ z_i for a, z_i in zip(theta, z, strict=True)])
        held = p.clip(y[:t].min(), y[:t].max()) if t else np.zeros(len(p))
        f = w @ held
        scale = np.sqrt(q / 2) if q > 0 else np.sqrt(0.5)
        E.record(f, y[t], [], [-stats.t.logpdf(y[t] - f, 4, scale=scale), 2 * scale**2])
        if t:
            q += max(1 / 20, 1 / t) * ((y[t] - f) ** 2 - q)
        if t > 1 and q > 0:
            loss = (1 / 50 + 50 / (101 + t)) / q * (y[t] - held) ** 2
            w = np.maximum(w * np.exp(loss.min() - loss), TINY)
            w = 0.99 * np.maximum(w / w.sum(), TINY) + 0.01 / len(w)
        for i in range(len(forms)):
            gain = S[i] @ z[i] / (1 + z[i] @ S[i] @ z[i])
            S[i] = S[i] - np.outer(gain, S[i] @ z[i])
            theta[i] = theta[i] + gain * (y[t] - p[i])
    return E.result()


auto_regression.near = 1e-5  # wide Gaussians of a large prior variance have large condition numbers
