"""Online multiple kernel classification: Hoi, Jin, Zhao, Yang (Machine Learning 90, 2013).

Throughout: m kernels; f (m,) outputs f_i(x_t); z (m,) true where kernel i errs; w (m,) Hedge weights,
summing to 1; beta in (0, 1) discount; q, p (m,) sampling probabilities; delta in [0, 1] their smoothing.
"""

import numpy as np

from omkl.engine.arith import any_of
from omkl.engine.classes import sides
from omkl.engine.conventions import hinge
from omkl.engine.expansion import add, count_twice, outputs
from omkl.engine.experts import (
    bernoulli,
    discount,
    mean_vote,
    mistakes,
    sampling_share,
    smoothed,
    weighted_vote,
    weighted_vote_of,
)
from omkl.engine.jit import compiled
from omkl.engine.kernels import GAUSSIAN, POLYNOMIAL
from omkl.engine.stream import record, record_combined

STANDARD, PUBLISHED = 0, 1  # the choices of omkc_sd's `variant`


@compiled
def omkc_u(stream, E, trace, learn):
    """OMKC(U) of Lu et al., section 4.3: every kernel that errs is updated, all votes weigh the same."""
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        record(trace, t, mean_vote(f, E.classes), y, E)
        z = mistakes(y, f)
        if learn and any_of(z):
            add(E, stream, t, y * z)


@compiled
def omkc_dd(stream, E, w, trace, learn, beta):
    """OMKC with deterministic update and combination: Algorithm 1 of Hoi et al. (2013)."""
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        record(trace, t, weighted_vote(w, f, E.classes), y, E)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, beta, z)
        if any_of(z):
            add(E, stream, t, y * z)


@compiled
def omkc_ds(stream, E, w, trace, rng, learn, beta, sampling):
    """OMKC with deterministic update and stochastic combination: Algorithm 2 of Hoi et al. (2013).

    c (m,) the combined classifiers, c_i ~ Bernoulli(q_i)
    Deviations: q_i = w_i / max_j w_j; equation (6) is lost from the text.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        c = bernoulli(rng, sampling_share(w, sampling))
        record_combined(trace, t, weighted_vote_of(c, w, f, E.classes), y, E, c)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, beta, z)
        if any_of(z):
            add(E, stream, t, y * z)


@compiled
def omkc_sd(stream, E, w, trace, rng, learn, beta, delta, sampling, floor, variant):
    """OMKC with stochastic update and deterministic combination: Algorithm 3 of Hoi et al. (2013).

    c (m,) the kernels that may be updated, c_i ~ Bernoulli(p_i) (m_i(t) in the paper)
    Deviations: q_i as in omkc_ds. variant=published repeats a slip of the BOMKL authors' code, which adds the
    vectors of the polynomial kernels to the first Gaussians.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        c = bernoulli(rng, smoothed(sampling_share(w, sampling), delta, floor))
        record(trace, t, weighted_vote(w, f, E.classes), y, E)
        if not learn:
            continue
        z = mistakes(y, f) & c
        discount(w, beta, z)
        if any_of(z):
            if variant == PUBLISHED:
                _add_as_published(E, stream, t, y, z)
            else:
                add(E, stream, t, y * z)


@compiled
def omkc_ss(stream, E, w, trace, rng, learn, beta, delta, sampling, floor):
    """OMKC with stochastic update and combination: Algorithm 4 of Hoi et al. (2013).

    c (m,) the kernels that are combined and may be updated, c_i ~ Bernoulli(p_i)
    Deviations: q_i as in omkc_ds.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        c = bernoulli(rng, smoothed(sampling_share(w, sampling), delta, floor))
        record_combined(trace, t, weighted_vote_of(c, w, f, E.classes), y, E, c)
        if not learn:
            continue
        z = mistakes(y, f) & c
        discount(w, beta, z)
        if any_of(z):
            add(E, stream, t, y * z)


@compiled
def omkc_ddpa(stream, E, w, trace, learn, beta, C):
    """OMKC(D,D) with passive-aggressive components (the BOMKL authors' code; in no table).

    On y f_i < 1 kernel i adds y min(C, 1 - y f_i), with more than two classes half the loss, since it changes
    two of them; the weights are discounted where y f_i <= 0.   a (m,) new coefficients

    On rows of 0 and 1, terms cancel exactly, so rounding decides votes. On the first 5000 rows of a9a the
    learner makes 926 mistakes, with f_i summed from left to right. In other orders it makes 934 to 960.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        record(trace, t, weighted_vote(w, f, E.classes), y, E)
        if not learn:
            continue
        discount(w, beta, mistakes(y, f))
        a = np.empty(f.size)
        for i in range(f.size):
            a[i] = y * min(C, hinge(y, f[i]) / sides(E.classes))
        if any_of(a):
            add(E, stream, t, a)


@compiled
def _add_as_published(E, stream, t, y, z):
    """Store example t for the kernels with z (m,), the i-th polynomial's vector with the i-th Gaussian.

    A Gaussian that errs as well lists the vector twice, and #SV counts it twice.
    """
    kind = E.pool.kind
    gaussians, polynomials = np.flatnonzero(kind == GAUSSIAN), np.flatnonzero(kind == POLYNOMIAL)
    vectors = z.astype(np.float64)
    for i in range(min(polynomials.size, gaussians.size)):
        vectors[gaussians[i]] += vectors[polynomials[i]]
        vectors[polynomials[i]] = 0.0
    add(E, stream, t, y * vectors)
    for i in range(z.size):
        if vectors[i] > 1.0:
            count_twice(E, i)
