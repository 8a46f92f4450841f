"""Online multiple kernel classification (Hoi, Jin, Zhao, Yang 2013, Machine Learning 90), Algorithms 1-4.

Letters of all twins: f (m,) outputs f_i(x_t); W Hedge weights, W.w (m,) of sum 1; z (m,) 1 where kernel i
errs (y f_i <= 0); beta discount; q, p (m,) sampling probabilities; c, m_ (m,) the Bernoulli draws c_i, m_i;
delta smoothing. A round is: draw (stochastic twins), predict, record, discount the weights, store.
"""

import math
from decimal import Decimal, localcontext

import numpy as np

from .expansion import Expansions
from .kernels import pool_rows
from .weights import Weights


def start(X, y, kernels, normalise):
    """Empty classifiers, weights 1/m, and the draw 'every kernel'."""
    m = len(kernels)
    return Expansions(pool_rows(X, kernels, normalise), m, len(y)), Weights(m), np.ones(m, dtype=bool)


def ratios(w, sampling):
    """Equation (6): q_i = w_i / max_j w_j ('max') or w_i / sum_j w_j = w_i ('sum': the weights sum to 1)."""
    return w / {"max": max(w), "sum": 1.0}[sampling]


def smooth(q, delta, floor):
    """p_i = (1 - delta) q_i + delta/m (equation before Algorithm 3), or + delta (BOMKL)."""
    return (1 - delta) * q + {"delta/m": delta / len(q), "delta": delta}[floor]


def bernoulli(rng, p):
    """m independent draws, one uniform each in index order: u_i < p_i."""
    return np.array([rng.random() < p_i for p_i in p])


def omkc_u(X, y, kernels, *, normalise="none", rng=None):
    """Uniform combination: w_i = 1/m for ever."""
    E, W, every = start(X, y, kernels, normalise)
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = y[t] * f <= 0
        E.add(t, y[t] * z)
    return E.result(W.w)


def omkc_dd(X, y, kernels, *, beta, normalise="none", rng=None):
    """Algorithm 1: every kernel is combined and every kernel that errs is updated."""
    E, W, every = start(X, y, kernels, normalise)
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = y[t] * f <= 0
        W.discount(beta, z)
        E.add(t, y[t] * z)
    return E.result(W.w)


def omkc_ds(X, y, kernels, *, beta, sampling, normalise="none", rng):
    """Algorithm 2: kernels with c_i ~ Bernoulli(q_i) are combined, all are updated as in Algorithm 1."""
    E, W, _ = start(X, y, kernels, normalise)
    for t in range(len(y)):
        c = bernoulli(rng, ratios(W.w, sampling))
        f = E.F[:, t]
        E.record(W.vote(f, c), y[t], c)
        z = y[t] * f <= 0
        W.discount(beta, z)
        E.add(t, y[t] * z)
    return E.result(W.w)


def omkc_sd(X, y, kernels, *, beta, delta, sampling, floor, variant, normalise="none", rng):
    """Algorithm 3: every kernel is combined; z, w and f move only where m_i ~ Bernoulli(p_i) is 1.

    variant 'published': the slip of the authors' code. The vector of the i-th
    polynomial (a linear kernel is one) goes to the i-th Gaussian, so polynomials stay at 0: they always vote
    +1, always err and are discounted whenever sampled. A Gaussian that errs too lists the vector twice.
    """
    E, W, every = start(X, y, kernels, normalise)
    owner = {"standard": list(range(E.m)), "published": shifted_owner(kernels)}[variant]
    for t in range(len(y)):
        m_ = bernoulli(rng, smooth(ratios(W.w, sampling), delta, floor))
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = m_ & (y[t] * f <= 0)
        W.discount(beta, z)
        vectors = np.zeros(E.m, dtype=int)
        for i in range(E.m):
            vectors[owner[i]] += z[i]
        E.add(t, y[t] * vectors, vectors)
    return E.result(W.w)


def shifted_owner(kernels):
    """Who receives kernel i's vectors: the j-th Gaussian those of the j-th polynomial, else i itself."""
    gaussians = [i for i, k in enumerate(kernels) if k["kind"] == "gaussian"]
    polynomials = [i for i, k in enumerate(kernels) if k["kind"] in ("polynomial", "linear")]
    owner = list(range(len(kernels)))
    for i, g in zip(
        polynomials, gaussians, strict=False
    ):  # a polynomial without a Gaussian keeps its vectors
        owner[i] = g
    return owner


def omkc_ss(X, y, kernels, *, beta, delta, sampling, floor, normalise="none", rng):
    """Algorithm 4: the kernels with m_i ~ Bernoulli(p_i) are combined, and the same ones are updated."""
    E, W, _ = start(X, y, kernels, normalise)
    for t in range(len(y)):
        m_ = bernoulli(rng, smooth(ratios(W.w, sampling), delta, floor))
        f = E.F[:, t]
        E.record(W.vote(f, m_), y[t], m_)
        z = m_ & (y[t] * f <= 0)
        W.discount(beta, z)
        E.add(t, y[t] * z)
    return E.result(W.w)


def omkc_ddpa(X, y, kernels, *, beta, C, normalise="none", rng=None):
    """Algorithm 1 with passive-aggressive components (authors' code): on y f < 1 add y min(C, 1 - y f).

    Hedge still discounts on y f <= 0. A step ends at y f = 1 exactly, so a repeated example has a loss of 0
    or of rounding noise: losses up to 1e-9 count as 0.
    """
    E, W, every = start(X, y, kernels, normalise)
    for t in range(len(y)):
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        z = y[t] * f <= 0
        W.discount(beta, z)
        E.add(t, aggressive(y[t], f, C))
    return E.result(W.w)


def aggressive(y, f, C):
    """y min(C, 1 - y f_i) where the loss is above 1e-9, else 0."""
    return np.array([y * min(C, 1 - y * f_i) if 1 - y * f_i > 1e-9 else 0.0 for f_i in f])


def omkc_dspa(X, y, kernels, *, beta, C, normalise="none", rng):
    """Section 6 with the steps of omkc_ddpa: Algorithm 2 where kernels with q_i are combined."""
    E, W, _ = start(X, y, kernels, normalise)
    for t in range(len(y)):
        c = bernoulli(rng, ratios(W.w, "max"))
        f = E.F[:, t]
        E.record(W.vote(f, c), y[t], c)
        W.discount(beta, y[t] * f <= 0)
        E.add(t, aggressive(y[t], f, C))
    return E.result(W.w)


def omkc_sdpa(X, y, kernels, *, beta, delta, C, normalise="none", rng):
    """Algorithm 3 with these steps: f and w move only where m_i is 1."""
    E, W, every = start(X, y, kernels, normalise)
    for t in range(len(y)):
        m_ = bernoulli(rng, smooth(ratios(W.w, "max"), delta, "delta/m"))
        f = E.F[:, t]
        E.record(W.vote(f, every), y[t], every)
        W.discount(beta, m_ & (y[t] * f <= 0))
        E.add(t, np.where(m_, aggressive(y[t], f, C), 0.0))
    return E.result(W.w)


def omkc_sspa(X, y, kernels, *, beta, delta, C, normalise="none", rng):
    """Algorithm 4 with these steps: only kernels with m_i = 1 vote and move."""
    E, W, _ = start(X, y, kernels, normalise)
    for t in range(len(y)):
        m_ = bernoulli(rng, smooth(ratios(W.w, "max"), delta, "delta/m"))
        f = E.F[:, t]
        E.record(W.vote(f, m_), y[t], m_)
        W.discount(beta, m_ & (y[t] * f <= 0))
        E.add(t, np.where(m_, aggressive(y[t], f, C), 0.0))
    return E.result(W.w)


def leader(rng, counts, eta, t):
    """argmin_i eta_t L_i - q_i, q_i = -ln(1 - u_i) an exponential draw, and the index as a mask."""
    m = len(counts)
    rate = math.sqrt(math.log(m) / (2 * t)) if eta is None else eta
    q = [-math.log1p(-rng.random()) for _ in range(m)]
    chosen = min(range(m), key=lambda i: (rate * counts[i] - q[i], i))
    return np.arange(m) == chosen


def omkc_fpl(X, y, kernels, *, eta, normalise="none", rng):
    """The output of the perturbed leader of Hutter and Poland (2005); every kernel that errs is updated."""
    E, _, _ = start(X, y, kernels, normalise)
    counts = [0] * E.m
    for t in range(len(y)):
        c = leader(rng, counts, eta, t + 1)
        f = E.F[:, t]
        E.record(f[c][0], y[t], c)
        z = y[t] * f <= 0
        counts = [n + int(z_i) for n, z_i in zip(counts, z, strict=True)]
        E.add(t, y[t] * z)
    return E.result()


class Growing:
    """Hedge weights of a growing set to 60 digits: a new kernel gets the mean weight of those there."""

    def __init__(self):
        self.w = []

    def enter(self):
        n = len(self.w)
        self.w = [w * n / (n + 1) for w in self.w] + [1 / Decimal(n + 1)]

    def discount(self, beta, z):
        w = [w_i * Decimal(str(beta)) if z_i else w_i for w_i, z_i in zip(self.w, z, strict=True)]
        self.w = [w_i / sum(w) for w_i in w]

    def shares(self, m):
        """Their shares of a pool of m, each kernel to come at 1/m."""
        n = len(self.w)
        return np.array([float(w * n / m) for w in self.w] + [1 / m] * (m - n))


def omkc_growing(X, y, kernels, *, beta, first, every, normalise="none", rng=None):
    """Algorithm 1 on the first kernels; the next one enters after every so many rounds, empty."""
    E, _, _ = start(X, y, kernels, normalise)
    W = Growing()
    with localcontext() as context:
        context.prec = 60
        for t in range(len(y)):
            while len(W.w) < min(E.m, first + t // every):
                W.enter()
            n, f = len(W.w), E.F[:, t]
            total = sum(w if f_i >= 0 else -w for w, f_i in zip(W.w, f[:n], strict=True)) * n / E.m
            E.record(float(total) if abs(total) > Decimal("1e-50") else 0.0, y[t], np.arange(E.m) < n)
            z = (y[t] * f <= 0) & (np.arange(E.m) < n)
            W.discount(beta, z[:n])
            E.add(t, y[t] * z)
        while len(W.w) < min(E.m, first):
            W.enter()
        return E.result(W.shares(E.m))
