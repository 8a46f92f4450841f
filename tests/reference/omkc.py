"""Online multiple kernel classification (Hoi, Jin, Zhao, Yang 2013, Machine Learning 90), Algorithms 1-4.

Letters of all twins: d (m,) margins of the kernels (rounds.py); W Hedge weights, W.w (m,) of sum 1; z (m,)
1 where kernel i errs (d_i <= 0); beta discount; q, p (m,) sampling probabilities; c, m_ (m,) the Bernoulli
draws c_i, m_i; delta smoothing. A round is: draw (stochastic twins), predict, record, discount the weights,
store.
"""

import math
from decimal import Decimal, localcontext

import numpy as np

from .rounds import rounds
from .weights import Weights


def start(X, y, kernels, normalise):
    """Empty classifiers and weights 1/m."""
    return rounds(X, y, kernels, normalise), Weights(len(kernels))


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
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        E.vote(W)
        E.learn(E.d <= 0)
    return E.result(W.w)


def omkc_dd(X, y, kernels, *, beta, normalise="none", rng=None):
    """Algorithm 1: every kernel is combined and every kernel that errs is updated."""
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        E.vote(W)
        z = E.d <= 0
        W.discount(beta, z)
        E.learn(z)
    return E.result(W.w)


def omkc_ds(X, y, kernels, *, beta, sampling, normalise="none", rng):
    """Algorithm 2: kernels with c_i ~ Bernoulli(q_i) are combined, all are updated as in Algorithm 1."""
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        E.vote(W, bernoulli(rng, ratios(W.w, sampling)))
        z = E.d <= 0
        W.discount(beta, z)
        E.learn(z)
    return E.result(W.w)


def omkc_sd(X, y, kernels, *, beta, delta, sampling, floor, variant, normalise="none", rng):
    """Algorithm 3: every kernel is combined; z, w and f move only where m_i ~ Bernoulli(p_i) is 1.

    variant 'published': the slip of the authors' code. The vector of the i-th
    polynomial (a linear kernel is one) goes to the i-th Gaussian, so polynomials stay at 0: they always vote
    +1, always err and are discounted whenever sampled. A Gaussian that errs too lists the vector twice.
    """
    E, W = start(X, y, kernels, normalise)
    owner = {"standard": list(range(E.m)), "published": shifted_owner(kernels)}[variant]
    for _ in E:
        m_ = bernoulli(rng, smooth(ratios(W.w, sampling), delta, floor))
        E.vote(W)
        z = m_ & (E.d <= 0)
        W.discount(beta, z)
        vectors = np.zeros(E.m, dtype=int)
        for i in range(E.m):
            vectors[owner[i]] += z[i]
        E.learn(vectors, vectors)
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
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        m_ = bernoulli(rng, smooth(ratios(W.w, sampling), delta, floor))
        E.vote(W, m_)
        z = m_ & (E.d <= 0)
        W.discount(beta, z)
        E.learn(z)
    return E.result(W.w)


def omkc_ddpa(X, y, kernels, *, beta, C, normalise="none", rng=None):
    """Algorithm 1 with passive-aggressive components (authors' code): on d < 1 a step of min(C, 1 - d).

    Hedge still discounts on d <= 0. With more classes 1 - d is divided by the direction's squared norm, 2.
    A step ends at d = 1 exactly, so a repeated example has a loss of 0 or of rounding noise: losses up to
    1e-9 count as 0.
    """
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        E.vote(W)
        W.discount(beta, E.d <= 0)
        E.learn(aggressive(E, C))
    return E.result(W.w)


def hinges(d):
    """max(0, 1 - d), 0 up to 1e-9."""
    return [1 - d_i if 1 - d_i > 1e-9 else 0.0 for d_i in d]


def aggressive(E, C):
    """min(C, loss / ||e||^2)."""
    return np.array([min(C, loss / E.sides) for loss in hinges(E.d)])


def omkc_dspa(X, y, kernels, *, beta, C, normalise="none", rng):
    """Section 6 with the steps of omkc_ddpa: Algorithm 2 where kernels with q_i are combined."""
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        E.vote(W, bernoulli(rng, ratios(W.w, "max")))
        W.discount(beta, E.d <= 0)
        E.learn(aggressive(E, C))
    return E.result(W.w)


def omkc_sdpa(X, y, kernels, *, beta, delta, C, normalise="none", rng):
    """Algorithm 3 with these steps: f and w move only where m_i is 1."""
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        m_ = bernoulli(rng, smooth(ratios(W.w, "max"), delta, "delta/m"))
        E.vote(W)
        W.discount(beta, m_ & (E.d <= 0))
        E.learn(np.where(m_, aggressive(E, C), 0.0))
    return E.result(W.w)


def omkc_sspa(X, y, kernels, *, beta, delta, C, normalise="none", rng):
    """Algorithm 4 with these steps: only kernels with m_i = 1 vote and move."""
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        m_ = bernoulli(rng, smooth(ratios(W.w, "max"), delta, "delta/m"))
        E.vote(W, m_)
        W.discount(beta, m_ & (E.d <= 0))
        E.learn(np.where(m_, aggressive(E, C), 0.0))
    return E.result(W.w)


def leader(rng, counts, eta, t):
    """argmin_i eta_t L_i - q_i, q_i = -ln(1 - u_i) an exponential draw."""
    m = len(counts)
    rate = math.sqrt(math.log(m) / (2 * t)) if eta is None else eta
    q = [-math.log1p(-rng.random()) for _ in range(m)]
    return min(range(m), key=lambda i: (rate * counts[i] - q[i], i))


def omkc_fpl(X, y, kernels, *, eta, normalise="none", rng):
    """The output of the perturbed leader of Hutter and Poland (2005); every kernel that errs is updated."""
    E, _ = start(X, y, kernels, normalise)
    counts = [0] * E.m
    for t in E:
        E.choose(leader(rng, counts, eta, t + 1))
        z = E.d <= 0
        counts = [n + int(z_i) for n, z_i in zip(counts, z, strict=True)]
        E.learn(z)
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
        """Their shares of a pool of m."""
        return [w * len(self.w) / m for w in self.w]


def omkc_growing(X, y, kernels, *, beta, first, every, normalise="none", rng=None):
    """Algorithm 1 on the first kernels; the next one enters after every so many rounds, empty."""
    E, W = rounds(X, y, kernels, normalise), Growing()
    with localcontext() as context:
        context.prec = 60
        for t in E:
            while len(W.w) < min(E.m, first + t // every):
                W.enter()
            n = len(W.w)
            E.vote_of_shares(W.shares(E.m))
            z = (E.d <= 0) & (np.arange(E.m) < n)
            W.discount(beta, z[:n])
            E.learn(z)
        while len(W.w) < min(E.m, first):
            W.enter()
        return E.result(np.array([*map(float, W.shares(E.m)), *[1 / E.m] * (E.m - len(W.w))]))
