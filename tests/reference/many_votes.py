"""More than two classes: perceptrons, OMKC, OMKL, OM-2, SPA on unbounded lists.

S (m, C) scores f_ic(x_t) of kernel i and class c; y the true class, r_i its strongest rival for kernel i;
margins d_i = f_iy - f_ir; z_i = [d_i <= 0]. A step s adds s kappa_i(x_t, .) to class y and takes it from r_i.
"""

import math
from decimal import Decimal, localcontext

import numpy as np

from .classes import Classes, best, class_votes
from .omkc import Growing, bernoulli, leader, ratios, smooth
from .omkl import multinomial
from .weights import RealWeights, Weights


class Rounds(Classes):
    """Every round: S, d, r, and the votes."""

    def __init__(self, X, label, n_classes, kernels, normalise):
        super().__init__(X, n_classes, kernels, normalise)
        self.label, self.T = label, len(label)

    def __iter__(self):
        for t, y in enumerate(self.label):
            S = self.scores(t)
            r = [best(s, without=y) for s in S]
            self.votes = [best(s) for s in S]
            yield t, y, S, np.array([s[y] - s[q] for s, q in zip(S, r, strict=True)]), r

    def vote(self, W, y, used=None):
        self.record(class_votes(W, self.votes, self.C, used), y)

    def mix(self, w, S, y):
        """Combined scores sum_i w_i f_ic, noted; returns them."""
        totals = [sum(w_i * s[c] for w_i, s in zip(w, S, strict=True)) for c in range(self.C)]
        self.record(totals, y)
        return totals

    def learn(self, t, steps, y, r):
        for i, a in enumerate(steps):
            self.step(t, i, float(a), y, r[i])


def perceptron(X, label, n_classes, kernels, *, normalise="none", rng=None):
    """On f_y <= f_r: f_y + kappa(x, .), f_r - kappa(x, .)."""
    E = Rounds(X, label, n_classes, kernels, normalise)
    for t, y, S, d, r in E:
        E.record(S[0], y)
        E.learn(t, d <= 0, y, r)
    return E.result()


def perceptron_u(X, label, n_classes, kernels, *, normalise="none", rng=None):
    """The same with the mean of the kernels: one rival for all."""
    E = Rounds(X, label, n_classes, kernels, normalise)
    for t, y, S, _, _ in E:
        totals = [sum(s[c] for s in S) / E.m for c in range(n_classes)]
        E.record(totals, y)
        r = best(totals, without=y)
        if totals[y] <= totals[r]:
            E.learn(t, [1] * E.m, y, [r] * E.m)
    return E.result()


def omkc_u(X, label, n_classes, kernels, *, normalise="none", rng=None):
    """Each kernel one vote."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y)
        E.learn(t, d <= 0, y, r)
    return E.result()


def omkc_dd(X, label, n_classes, kernels, *, beta, normalise="none", rng=None):
    """Every kernel votes for its argmax; those with d <= 0 are discounted and updated."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y)
        W.discount(beta, d <= 0)
        E.learn(t, d <= 0, y, r)
    return E.result(W.w)


def omkc_ds(X, label, n_classes, kernels, *, beta, sampling, normalise="none", rng):
    """Only kernels with c_i ~ Bernoulli(q_i) vote."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y, bernoulli(rng, ratios(W.w, sampling)))
        W.discount(beta, d <= 0)
        E.learn(t, d <= 0, y, r)
    return E.result(W.w)


def omkc_sd(X, label, n_classes, kernels, *, beta, delta, sampling, floor, variant, normalise="none", rng):
    """Only kernels with m_i ~ Bernoulli(p_i) move."""
    assert variant == "standard"
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        z = bernoulli(rng, smooth(ratios(W.w, sampling), delta, floor)) & (d <= 0)
        E.vote(W, y)
        W.discount(beta, z)
        E.learn(t, z, y, r)
    return E.result(W.w)


def omkc_ss(X, label, n_classes, kernels, *, beta, delta, sampling, floor, normalise="none", rng):
    """Only kernels with m_i ~ Bernoulli(p_i) vote and move."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        drawn = bernoulli(rng, smooth(ratios(W.w, sampling), delta, floor))
        E.vote(W, y, drawn)
        W.discount(beta, drawn & (d <= 0))
        E.learn(t, drawn & (d <= 0), y, r)
    return E.result(W.w)


def hinges(d):
    """max(0, 1 - d), 0 up to 1e-9."""
    return [1 - d_i if 1 - d_i > 1e-9 else 0.0 for d_i in d]


def omkc_ddpa(X, label, n_classes, kernels, *, beta, C, normalise="none", rng=None):
    """Steps min(C, loss / 2): the change of two classes has twice the squared norm."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y)
        W.discount(beta, d <= 0)
        E.learn(t, [min(C, loss / 2) for loss in hinges(d)], y, r)
    return E.result(W.w)


def omkc_dspa(X, label, n_classes, kernels, *, beta, C, normalise="none", rng):
    """The same steps; only kernels with c_i ~ Bernoulli(q_i) vote."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y, bernoulli(rng, ratios(W.w, "max")))
        W.discount(beta, d <= 0)
        E.learn(t, [min(C, loss / 2) for loss in hinges(d)], y, r)
    return E.result(W.w)


def omkc_sdpa(X, label, n_classes, kernels, *, beta, delta, C, normalise="none", rng):
    """The same steps; only kernels with m_i ~ Bernoulli(p_i) move."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        drawn = bernoulli(rng, smooth(ratios(W.w, "max"), delta, "delta/m"))
        E.vote(W, y)
        W.discount(beta, drawn & (d <= 0))
        E.learn(t, [min(C, loss / 2) * u for loss, u in zip(hinges(d), drawn, strict=True)], y, r)
    return E.result(W.w)


def omkc_sspa(X, label, n_classes, kernels, *, beta, delta, C, normalise="none", rng):
    """The same steps; only kernels with m_i ~ Bernoulli(p_i) vote and move."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        drawn = bernoulli(rng, smooth(ratios(W.w, "max"), delta, "delta/m"))
        E.vote(W, y, drawn)
        W.discount(beta, drawn & (d <= 0))
        E.learn(t, [min(C, loss / 2) * u for loss, u in zip(hinges(d), drawn, strict=True)], y, r)
    return E.result(W.w)


def omkc_fpl(X, label, n_classes, kernels, *, eta, normalise="none", rng):
    """The class scores of the perturbed leader."""
    E, counts = Rounds(X, label, n_classes, kernels, normalise), [0] * len(kernels)
    for t, y, S, d, r in E:
        (chosen,) = np.flatnonzero(leader(rng, counts, eta, t + 1))
        E.record(S[chosen], y)
        counts = [n + int(d_i <= 0) for n, d_i in zip(counts, d, strict=True)]
        E.learn(t, d <= 0, y, r)
    return E.result()


def omkc_growing(X, label, n_classes, kernels, *, beta, first, every, normalise="none", rng=None):
    """The kernels that have entered vote, each for its argmax."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Growing()
    with localcontext() as context:
        context.prec = 60
        for t, y, _, d, r in E:
            while len(W.w) < min(E.m, first + t // every):
                W.enter()
            n, totals = len(W.w), [Decimal()] * E.C
            for w, v in zip(W.w, E.votes[:n], strict=True):
                totals[v] += w * n / E.m
            near = Decimal("1e-50")  # closer ones tie
            E.record([next(float(a) for a in totals if abs(a - b) < near) for b in totals], y)
            z = (d <= 0) & (np.arange(E.m) < n)
            W.discount(beta, z[:n])
            E.learn(t, z, y, r)
        return E.result(W.shares(E.m))


def omklp_da2(X, label, n_classes, kernels, *, beta, gamma, normalise="none", rng=None):
    """nu_i = z_i (1/2 + min(gamma, -d_i))."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), RealWeights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y)
        W.discount(beta, [0.5 + min(gamma, -d_i) if d_i <= 0 else 0.0 for d_i in d])
        E.learn(t, d <= 0, y, r)
    return E.result(W.w)


def omklp_da1_doubling(X, label, n_classes, kernels, *, normalise="none", rng=None):
    """beta_k of equation (5); a segment ends when its best kernel has 2^k mistakes."""
    E, W, k, counts = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels)), 0, 0
    for t, y, _, d, r in E:
        E.vote(W, y)
        W.discount(2 ** (k / 2) / (math.sqrt(math.log(E.m)) + 2 ** (k / 2)), d <= 0)
        counts = counts + (d <= 0)
        if min(counts) == 2**k:
            k, counts, W = k + 1, 0, Weights(E.m)
        E.learn(t, d <= 0, y, r)
    return E.result(W.w)


def omklp_sua(X, label, n_classes, kernels, *, beta, delta, normalise="none", rng):
    """Only the kernel drawn from p moves."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y)
        z = (np.arange(E.m) == multinomial(rng, (1 - delta) * W.w + delta / E.m)) & (d <= 0)
        W.discount(beta, z)
        E.learn(t, z, y, r)
    return E.result(W.w)


def omklp_mua(X, label, n_classes, kernels, *, beta, delta, normalise="none", rng):
    """Only kernels with m_i ~ Bernoulli(p_i) move; p_1 = 1."""
    E, W, p = Rounds(X, label, n_classes, kernels, normalise), Weights(len(kernels)), np.ones(len(kernels))
    for t, y, _, d, r in E:
        E.vote(W, y)
        z = bernoulli(rng, p) & (d <= 0)
        W.discount(beta, z)
        p = (1 - delta) * W.w + delta
        E.learn(t, z, y, r)
    return E.result(W.w)


def norms2(E):
    """sum_c ||f_ic||^2 of each kernel, by the Gram matrix."""
    made = []
    for i, lists in enumerate(E.lists):
        made.append(0.0)
        for terms in lists.values():
            made[i] += sum(a * b * E.K[i, j, k] for j, a in terms for k, b in terms)
    return made


def into_ball(E, R):
    """f_i / max(1, ||f_i|| / R)."""
    for lists, norm2 in zip(E.lists, norms2(E), strict=True):
        for c in lists if norm2 > R**2 else ():
            lists[c] = [(j, a * R / math.sqrt(norm2)) for j, a in lists[c]]


def omklo_da(X, label, n_classes, kernels, *, beta, R, normalise="none", rng=None):
    """In a mistake of the combined scores sum_i w_i f_ic: w_i beta^-d_i, a step of 1, the ball."""
    E, W = Rounds(X, label, n_classes, kernels, normalise), RealWeights(len(kernels))
    for t, y, S, d, r in E:
        totals = E.mix(W.w, S, y)
        if totals[y] <= totals[best(totals, without=y)]:
            W.discount(beta, list(-d))
            E.learn(t, [1] * E.m, y, r)
            into_ball(E, R)
    return E.result(W.w)


def omklo_sua(X, label, n_classes, kernels, *, beta, R, delta, eta, normalise="none", rng):
    """The same for one kernel, drawn from p, with the step eta / p_i."""
    m = len(kernels)
    E, W = Rounds(X, label, n_classes, kernels, normalise), RealWeights(m)
    if eta is None:
        log = math.log(1 / beta)
        eta = math.sqrt(
            (R**2 / 2 + math.log(m) / log) / (log * R**2 * m**2 / (2 * delta**2) + m / (2 * delta))
        )
    for t, y, S, d, r in E:
        totals = E.mix(W.w, S, y)
        if totals[y] <= totals[best(totals, without=y)]:
            p = (1 - delta) * W.w + delta / m
            steps = eta * (np.arange(m) == multinomial(rng, p)) / p
            W.discount(beta, list(-steps * d))
            E.learn(t, steps, y, r)
            into_ball(E, R)
    return E.result(W.w)


def om2(X, label, n_classes, kernels, *, p, aggressive, normalise="none", rng=None):
    """Jie et al. (2010): the rival of the weighted scores for all; ||theta_j||^2 over all classes."""
    E, u = Rounds(X, label, n_classes, kernels, normalise), np.ones(len(kernels))
    q = max(2.0, 2 * math.log(E.m)) if p is None else p / (p - 1)
    norm2 = np.full(E.m, np.finfo(float).eps)
    for t, y, S, _, _ in E:
        totals = E.mix(u, S, y)
        r = best(totals, without=y)
        margin = totals[y] - totals[r]
        if margin > (1 if aggressive else 0):
            continue
        eta = min(1.0, 1 - margin / E.m ** (2 / q)) if aggressive else 1.0
        norm2 = norm2 + [2 * eta * (s[y] - s[r]) + 2 * eta**2 * E.K[j, t, t] for j, s in enumerate(S)]
        E.learn(t, [eta] * E.m, y, [r] * E.m)
        n = np.sqrt(np.maximum(norm2, 0))
        u = (n / n.max() / sum((n / n.max()) ** q) ** (1 / q)) ** (q - 2) / q
    return E.result()


def bomkc_spa(
    X,
    label,
    n_classes,
    kernels,
    *,
    alpha,
    beta,
    eta,
    gamma,
    delta,
    discount,
    predict,
    normalise,
    pool_normalise="none",
    rng,
):
    """Steps min(eta / rho, loss / (2 kappa(x, x))), or loss / 2; the rest as for two classes."""
    E = Rounds(X, label, n_classes, kernels, pool_normalise)
    W = {"hinge": RealWeights, "zero_one": Weights}[discount](E.m)
    sums = np.zeros((E.m, n_classes, E.T))
    for t, y, S, d, r in E:
        sums += E.everywhere()
        if predict == "votes":
            E.vote(W, y)
        else:
            E.mix(W.w, S if predict == "current" else (sums[:, :, t] / (t + 1)).tolist(), y)
        loss, w, steps = hinges(d), W.w, []
        for i in range(E.m):
            own = E.K[i, t, t] if normalise else 1.0
            full = loss[i] / (2 * own) if own > 0 else math.inf
            rho = min(alpha, loss[i]) / beta
            drawn = rng.random() < (1 - delta) * (w[i] / max(w)) + delta and rng.random() < rho
            steps.append(min(eta / rho, full) if drawn else 0)
        W.discount(gamma, {"hinge": loss, "zero_one": d <= 0}[discount])
        E.learn(t, steps, y, r)
    return E.result(W.w)
