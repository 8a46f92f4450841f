"""Online multiple kernel classification: Hoi, Jin, Zhao, Yang (Machine Learning 90, 2013).

Throughout: m kernels; f (m,) outputs f_i(x_t); z (m,) true where kernel i errs; w (m,) Hedge weights,
summing to 1; beta in (0, 1) discount; q, p (m,) sampling probabilities; delta in [0, 1] their smoothing.
"""

import math

import numpy as np

from omkl.engine.api import any_of, bernoulli, compiled, discount, hinge, mistakes, sampling_share, smoothed
from omkl.engine.kernels import GAUSSIAN, POLYNOMIAL
from omkl.engine.methods import Expansion, Stream, Trace


@compiled
def omkc_u(stream: Stream, E: Expansion, trace: Trace, learn):
    """OMKC(U) of Lu et al., section 4.3: every kernel that errs is updated, all votes weigh the same."""
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.mean_vote(f), y, E)
        z = mistakes(y, f)
        if learn and any_of(z):
            E.add(stream, t, y * z)


@compiled
def omkc_dd(stream: Stream, E: Expansion, w, trace: Trace, learn, beta):
    """OMKC with deterministic update and combination: Algorithm 1 of Hoi et al. (2013)."""
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, beta, z)
        if any_of(z):
            E.add(stream, t, y * z)


@compiled
def omkc_ds(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, sampling):
    """OMKC with deterministic update and stochastic combination: Algorithm 2 of Hoi et al. (2013).

    c (m,) the combined classifiers, c_i ~ Bernoulli(q_i)
    Deviations: q_i = w_i / max_j w_j; equation (6) is lost from the text.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = bernoulli(rng, sampling_share(w, sampling))
        trace.record(t, E.weighted_vote(w, f, c), y, E, c)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, beta, z)
        if any_of(z):
            E.add(stream, t, y * z)


@compiled
def omkc_sd(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, delta, sampling, floor, variant):
    """OMKC with stochastic update and deterministic combination: Algorithm 3 of Hoi et al. (2013).

    c (m,) the kernels that may be updated, c_i ~ Bernoulli(p_i) (m_i(t) in the paper)
    Deviations: q_i as in omkc_ds. variant=published repeats a slip of the BOMKL authors' code, which adds the
    vectors of the polynomial kernels to the first Gaussians.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = bernoulli(rng, smoothed(sampling_share(w, sampling), delta, floor))
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        z = mistakes(y, f) & c
        discount(w, beta, z)
        if any_of(z):
            if variant == "published":
                _add_as_published(E, stream, t, y, z)
            else:
                E.add(stream, t, y * z)


@compiled
def omkc_ss(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, delta, sampling, floor):
    """OMKC with stochastic update and combination: Algorithm 4 of Hoi et al. (2013).

    c (m,) the kernels that are combined and may be updated, c_i ~ Bernoulli(p_i)
    Deviations: q_i as in omkc_ds.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = bernoulli(rng, smoothed(sampling_share(w, sampling), delta, floor))
        trace.record(t, E.weighted_vote(w, f, c), y, E, c)
        if not learn:
            continue
        z = mistakes(y, f) & c
        discount(w, beta, z)
        if any_of(z):
            E.add(stream, t, y * z)


@compiled
def omkc_ddpa(stream: Stream, E: Expansion, w, trace: Trace, learn, beta, C):
    """OMKC(D,D) with passive-aggressive components (the BOMKL authors' code; in no table).

    On y f_i < 1 kernel i adds y min(C, 1 - y f_i), with more than two classes half the loss, since it changes
    two of them; the weights are discounted where y f_i <= 0.   a (m,) new coefficients

    On rows of 0 and 1, terms cancel exactly, so rounding decides votes. On the first 5000 rows of a9a the
    learner makes 926 mistakes, with f_i summed from left to right. In other orders it makes 934 to 960.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        discount(w, beta, mistakes(y, f))
        a = _aggressive(y, f, C, E.n_changed())
        if any_of(a):
            E.add(stream, t, a)


@compiled
def omkc_dspa(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, C):
    """OMKC(D,S) with passive-aggressive components: the combination of omkc_ds, the steps of omkc_ddpa.

    Section 6 of Hoi et al. (2013) proposes such components and defines none; so for omkc_sdpa and omkc_sspa.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = bernoulli(rng, sampling_share(w, "max"))
        trace.record(t, E.weighted_vote(w, f, c), y, E, c)
        if not learn:
            continue
        discount(w, beta, mistakes(y, f))
        a = _aggressive(y, f, C, E.n_changed())
        if any_of(a):
            E.add(stream, t, a)


@compiled
def omkc_sdpa(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, delta, C):
    """OMKC(S,D) with passive-aggressive components: kernels with c_i ~ Bernoulli(p_i) take the step."""
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = bernoulli(rng, smoothed(sampling_share(w, "max"), delta, "delta/m"))
        trace.record(t, E.weighted_vote(w, f), y, E)
        if not learn:
            continue
        discount(w, beta, mistakes(y, f) & c)
        a = _aggressive(y, f, C, E.n_changed()) * c
        if any_of(a):
            E.add(stream, t, a)


@compiled
def omkc_sspa(stream: Stream, E: Expansion, w, trace: Trace, rng, learn, beta, delta, C):
    """OMKC(S,S) with passive-aggressive components: kernels with c_i ~ Bernoulli(p_i) vote and step."""
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = bernoulli(rng, smoothed(sampling_share(w, "max"), delta, "delta/m"))
        trace.record(t, E.weighted_vote(w, f, c), y, E, c)
        if not learn:
            continue
        discount(w, beta, mistakes(y, f) & c)
        a = _aggressive(y, f, C, E.n_changed()) * c
        if any_of(a):
            E.add(stream, t, a)


@compiled
def omkc_fpl(stream: Stream, E: Expansion, M, now, trace: Trace, rng, learn, eta):
    """OMKC that follows the perturbed leader in place of Hedge: section 6 of Hoi et al. (2013).

    The prediction is that of the kernel with the least eta_t M_i - q_i, M (m,) the mistakes so far, q (m,)
    fresh exponential draws: Hutter and Poland (2005). eta_t = eta, or sqrt(ln m / (2 t)) where eta is not a
    number, for which they bound the regret by 2 sqrt(2 T ln m). Every kernel that errs is updated.
    The score is the leader's output. now (1,) rounds learnt   c (m,) true at the leader
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        c = _leader(rng, M, math.sqrt(math.log(M.size) / (2.0 * (now[0] + 1.0))) if math.isnan(eta) else eta)
        trace.record(t, E.weighted_output(c * 1.0, f), y, E, c)
        if not learn:
            continue
        z = mistakes(y, f)
        for i in range(z.size):
            M[i] += z[i]
        if any_of(z):
            E.add(stream, t, y * z)
        now[0] += 1


@compiled
def omkc_growing(stream: Stream, E: Expansion, w, now, trace: Trace, learn, beta, first, every):
    """OMKC(D,D) on a pool that grows: the first kernels at once, then the next one every so many rounds.

    The finite form of the infinite pool of section 6 of Hoi et al. (2013). A kernel that is still to come
    counts as a specialist asleep (Freund, Schapire, Singer, Warmuth 1997): it keeps its weight 1/m, and the n
    that are there share n/m. So each enters with the mean weight of those before it, with f_i = 0.
    now (1,) rounds learnt   c (m,) the kernels that are there
    """
    m = w.size
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        n = min(m, first + now[0] // every)
        c = np.arange(m) < n
        trace.record(t, E.weighted_vote(w, f, c), y, E, c)
        if not learn:
            continue
        z = mistakes(y, f) & c
        discount(w[:n], beta, z[:n])
        for i in range(n):
            w[i] *= n / m
        if any_of(z):
            E.add(stream, t, y * z)
        now[0] += 1


@compiled
def _aggressive(y, f, C, n_changed):
    """The steps y min(C, 1 - y f_i) (m,), or of half the loss where two classes change."""
    a = np.empty(f.size)
    for i in range(f.size):
        a[i] = y * min(C, hinge(y, f[i]) / n_changed)
    return a


@compiled
def _leader(rng, M, eta):
    """One kernel as a mask (m,): that with the least eta M_i - q_i, q_i ~ Exp(1) in the kernels' order."""
    least, leader = np.inf, 0
    for i in range(M.size):
        perturbed = eta * M[i] + math.log1p(-rng.random())
        if perturbed < least:
            least, leader = perturbed, i
    c = np.zeros(M.size, np.bool_)
    c[leader] = True
    return c


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
    E.add(stream, t, y * vectors)
    for i in range(z.size):
        if vectors[i] > 1.0:
            E.count_twice(i)
