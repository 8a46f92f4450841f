"""Online multiple kernel learning: Jin, Hoi, Yang (Algorithmic Learning Theory, 2010).

Throughout: m kernels; f (m,) outputs f_i(x_t); z (m,) true where kernel i errs; w (m,) Hedge weights, held at
sum 1, so that they are the paper's q; beta in (0, 1) discount; p (m,) sampling probabilities; delta in [0, 1]
their smoothing. Algorithm 1 is OMKC's omkc_dd, too.
"""

import math

import numpy as np

from omkl.engine.api import (
    any_of,
    bernoulli,
    compiled,
    discount,
    discount_by,
    is_mistake,
    mistakes,
    multinomial,
    smoothed,
)
from omkl.engine.methods import Expansion, Stream, Trace


@compiled
def omklp_da1(stream: Stream, E: Expansion, w, count, k, trace: Trace, learn, beta):
    """OMKL-P, deterministic (1): Algorithm 1 of Jin et al. (2010); beta not a number: that of equation (5).

    count (m,) mistakes of each kernel inside the segment   k (1,) number of the segment, both for (5)
    Deviations: the paper does not say what a new segment does to the weights: they restart at 1/m, since the
    proof of Theorem 5 pays ln m for each segment. The classifiers continue.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        z = mistakes(y, f)
        if math.isnan(beta):
            _discount_by_doubling(w, z, count, k)
        else:
            discount(w, beta, z)
        if any_of(z):
            E.add(stream, t, y * z)


@compiled
def _discount_by_doubling(w, z, count, k):
    """Discount by the segment's beta, and begin the next when every kernel has erred 2^k times."""
    root = 2.0 ** (k[0] / 2.0)
    discount(w, root / (math.sqrt(math.log(w.size)) + root), z)
    count += z
    if count.min() >= 2.0 ** k[0]:
        k[0] += 1
        count[:] = 0
        w[:] = 1.0 / w.size


@compiled
def omklp_da2(stream: Stream, E: Expansion, w, trace: Trace, learn, beta, gamma):
    """OMKL-P, deterministic (2): Algorithm 2 of Jin et al. (2010).

    nu (m,) degree of misclassification   gamma > 0 its largest level
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        z = mistakes(y, f)
        nu = z * (0.5 + np.minimum(gamma, -y * f))
        discount_by(w, beta, nu)
        if any_of(z):
            E.add(stream, t, y * z)


@compiled
def omklp_sua(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, delta):
    """OMKL-P, stochastic, single update: Algorithm 3 of Jin et al. (2010).

    i the one kernel that may be updated, drawn with probability p_i
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        i = multinomial(rng, smoothed(w, delta, "delta/m"))
        z = np.zeros(f.size, np.bool_)
        z[i] = is_mistake(y, f[i])
        discount(w, beta, z)
        if z[i]:
            E.add(stream, t, y * z)


@compiled
def omklp_mua(stream: Stream, E: Expansion, w, p, trace: Trace, rng, learn, beta, delta):
    """OMKL-P, stochastic, multiple updates: Algorithm 4 of Jin et al. (2010).

    c (m,) the kernels that may be updated, c_i ~ Bernoulli(p_i) (m_i in the paper)
    p_i = 1 in round 1, as printed. A start with p_i = 1/m makes 2.5 mistakes more on wdbc in the mean over 20
    permutations, between 22 fewer and 32 more on a single one.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        c = bernoulli(rng, p)
        z = mistakes(y, f) & c
        discount(w, beta, z)
        p[:] = smoothed(w, delta, "delta")
        if any_of(z):
            E.add(stream, t, y * z)


@compiled
def omklo_da(stream: Stream, E: Expansion, w, scale, norm2, trace: Trace, learn, beta, R):
    """OMKL-O, deterministic: Algorithm 5 of Jin et al. (2010). Learns only from the ensemble's mistakes.

    scale, norm2 (m,) f_i = scale_i E_i and its squared norm   R largest norm of a classifier
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.scaled(scale, E.outputs(stream, t))
        score = E.weighted_output(w, f)
        trace.record(t, score, y, E)
        if not learn or not is_mistake(y, score):
            continue
        discount_by(w, beta, -y * f)
        norm2 += 2.0 * y * f + E.n_changed() * E.self_kernels(t)
        E.add(stream, t, y / scale)
        E.project(scale, norm2, R)


@compiled
def omklo_sua(stream: Stream, E: Expansion, w, scale, norm2, trace: Trace, rng, learn, beta, R, delta, eta):
    """OMKL-O, stochastic, single update: Algorithm 6 of Jin et al. (2010).

    i the one kernel that is updated   step (m,) eta m~_i: eta / p_i for the kernel drawn, 0 for the others
    eta > 0 step size, not a number for that of Theorem 10   a, b the theorem's
    Deviations: none. (eta = sqrt(a / b) as printed; the bound that is printed with it belongs to
    sqrt(a / (b T)), which needs the number of rounds.)
    """
    m = w.size
    if math.isnan(eta):
        a = R * R / 2.0 + math.log(m) / math.log(1.0 / beta)
        b = math.log(1.0 / beta) * np.square(R * m / delta) / 2.0 + m / (2.0 * delta)
        eta = math.sqrt(a / b)
    for t in range(stream.T):
        y = stream.y[t]
        f = E.scaled(scale, E.outputs(stream, t))
        score = E.weighted_output(w, f)
        trace.record(t, score, y, E)
        if not learn or not is_mistake(y, score):
            continue
        p = smoothed(w, delta, "delta/m")
        i = multinomial(rng, p)
        step = np.zeros(m)
        step[i] = eta / p[i]
        discount_by(w, beta, -step * y * f)
        norm2 += 2.0 * y * step * f + np.square(step) * (E.n_changed() * E.self_kernels(t))
        E.add(stream, t, y * step / scale)
        E.project(scale, norm2, R)
