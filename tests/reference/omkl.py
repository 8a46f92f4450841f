"""Online multiple kernel learning (Jin, Hoi, Yang 2010), Algorithms 2-6 and equation (5).

Letters as in omkc.py, whose Algorithm 1 this paper's is; q (m,) = w / sum w, which is w here; R bound of the
norms; eta step size. Hedge with any losses: w_i beta^loss_i, divided by their sum, after the least loss has
been taken off all (a common factor). A kernel is drawn from p by one uniform number u: the first i with
u < p_1 + .. + p_i.
"""

import math

import numpy as np

from .classes import classes_of
from .omkc import bernoulli, omkc_dd, start
from .rounds import Labels, rounds
from .weights import RealWeights, Weights, hedge_by


def omklp_da1(X, y, kernels, *, beta, normalise="none", rng=None):
    """Algorithm 1 is Algorithm 1 of the OMKC paper; beta None: that of equation (5), beta_k.

    Segment k ends with the round in which the best kernel makes its 2^k-th mistake of the segment; then the
    weights restart at 1/m.
    """
    if beta is not None:
        return omkc_dd(X, y, kernels, beta=beta, normalise=normalise, rng=rng)
    E, W = start(X, y, kernels, normalise)
    k, counts = 0, np.zeros(E.m)
    for _ in E:
        E.vote(W)
        z = E.d <= 0
        W.discount(2 ** (k / 2) / (math.sqrt(math.log(E.m)) + 2 ** (k / 2)), z)
        counts = counts + z
        if min(counts) == 2**k:
            k, counts, W = k + 1, np.zeros(E.m), Weights(E.m)
        E.learn(z)
    return E.result(W.w)


def multinomial(rng, p):
    u, total = rng.random(), 0.0
    for i in range(len(p)):
        total += p[i]
        if u < total:
            return i
    return len(p) - 1


def omklp_da2(X, y, kernels, *, beta, gamma, normalise="none", rng=None):
    """Algorithm 2: nu_i = z_i (1/2 + min(gamma, -d_i)), w_i beta^nu_i."""
    E, W = rounds(X, y, kernels, normalise), RealWeights(len(kernels))
    for _ in E:
        E.vote(W)
        W.discount(beta, [0.5 + min(gamma, -d_i) if d_i <= 0 else 0.0 for d_i in E.d])
        E.learn(E.d <= 0)
    return E.result(W.w)


def omklp_sua(X, y, kernels, *, beta, delta, normalise="none", rng):
    """Algorithm 3: only the kernel drawn from p = (1 - delta) q + delta/m moves; draw after predicting."""
    E, W = start(X, y, kernels, normalise)
    for _ in E:
        E.vote(W)
        z = (np.arange(E.m) == multinomial(rng, (1 - delta) * W.w + delta / E.m)) & (E.d <= 0)
        W.discount(beta, z)
        E.learn(z)
    return E.result(W.w)


def omklp_mua(X, y, kernels, *, beta, delta, normalise="none", rng):
    """Algorithm 4: kernels with m_i ~ Bernoulli(p_i) move; p_1 = 1, then p_i = (1 - delta) q_i + delta."""
    E, W = start(X, y, kernels, normalise)
    p = np.ones(E.m)
    for _ in E:
        E.vote(W)
        z = bernoulli(rng, p) & (E.d <= 0)
        W.discount(beta, z)
        p = (1 - delta) * W.w + delta
        E.learn(z)
    return E.result(W.w)


def omklo_da(X, y, kernels, *, beta, R, normalise="none", rng=None):
    """Algorithm 5: outputs are combined; in a mistake of the ensemble all kernels move."""
    E, w = rounds(X, y, kernels, normalise), np.full(len(kernels), 1 / len(kernels))
    for _ in E:
        if E.mix(w) <= 0:
            w = hedge_by(w, beta, -E.d)
            E.learn(np.ones(E.m))
            E.into_balls(R)
    return E.result(w)


def omklo_sua(X, y, kernels, *, beta, R, delta, eta, normalise="none", rng):
    """Algorithm 6: in a mistake of the ensemble one kernel, drawn from p, moves by eta / p_i.

    eta None: Theorem 10's, sqrt(a / b).
    """
    m = len(kernels)
    E, w = rounds(X, y, kernels, normalise), np.full(m, 1 / m)
    if eta is None:
        a = R**2 / 2 + math.log(m) / math.log(1 / beta)
        b = math.log(1 / beta) * R**2 * m**2 / (2 * delta**2) + m / (2 * delta)
        eta = math.sqrt(a / b)
    for _ in E:
        if E.mix(w) <= 0:
            p = (1 - delta) * w + delta / m
            steps = eta * ((np.arange(m) == multinomial(rng, p)) / p)
            w = hedge_by(w, beta, -steps * E.d)
            E.learn(steps)
            E.into_balls(R)
    return E.result(w)


# ------------------------------------------------------------------ om2
# OM-2 (Jie et al. 2010): every kernel's theta_j holds one expansion for each class, of two classes too.


def om2(X, y, kernels, *, p, aggressive, normalise="none", rng=None):
    """s_jc = theta_jc(x); score_c = sum_j w_j s_jc; margin = score_y - its strongest rival's.

    n_j^2 = ||theta_j||^2 over all classes, from machine epsilon; w_j = (n_j / ||n||_q)^(q-2) / q, all 1 at
    the start; q = p / (p - 1), or 2 ln m (at least 2) where p is None.
    Update when margin <= 1 by eta = min(1, 1 - margin / m^(2/q)); not aggressive: margin <= 0, eta = 1.
    Norms are summed directly: ||theta_jc||^2 = sum_s a_cs theta_jc(x_s). All kernels share one list.
    """
    label = y if classes_of(y) else np.where(y > 0, 0, 1)
    E, w = Labels(X, label, kernels, normalise), np.ones(len(kernels))
    E.C = classes_of(y) or 2
    E.lists = [{c: [] for c in range(E.C)} for _ in kernels]
    q = max(2.0, 2 * math.log(E.m)) if p is None else p / (p - 1)
    a = np.zeros((E.C, len(label)))
    for t in E:
        margin = E.mix(w)
        if margin > (1 if aggressive else 0):
            continue
        eta = min(1.0, 1 - margin / E.m ** (2 / q)) if aggressive else 1.0
        E.learn_together([eta] * E.m)
        a[label[t], t], a[E.rival, t] = eta, -eta
        n2 = [np.finfo(float).eps + sum(float(a_c @ (K @ a_c)) for a_c in a) for K in E.K]
        n = np.sqrt(np.maximum(n2, 0.0))
        norm = max(n) * sum((n_j / max(n)) ** q for n_j in n) ** (1 / q)
        w = (n / norm) ** (q - 2) / q
    made = E.result()
    if classes_of(y) is None:  # the one function is that of class +1
        made.scores, made.predicted = made.scores * y / 2, None
        made.n_sv_per_kernel, made.coefficients = made.n_sv_per_kernel[:1], made.coefficients[:1, 0]
        made.combined = np.searchsorted(made.stored, np.arange(len(y)))
    return made
