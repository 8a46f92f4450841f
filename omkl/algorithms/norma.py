"""NORMA, stochastic gradient descent with a kernel: Kivinen, Smola, Williamson (2004).

f_{t+1} = (1 - eta_t lam) f_t - eta_t l'(f_t(x_t), y_t) kappa(x_t, .), equation (9).

Throughout: one kernel; f = scale E, or scale B with the terms of the last tau rounds (kernel_descent.py);
eta_t = eta, or eta / sqrt(t); sigma whether the round is a margin error; b (1,) the offset. Where c = 1 - lam
eta_t stays and tau is given, section II-D's first way is used (a cache of powers), else its second (a scale).
"""

import math

import numpy as np

from omkl.engine.api import compiled, rate, slope_of
from omkl.engine.kernel_descent import descend, descend_unlike, drop, either, shift, shifted
from omkl.engine.methods import Budget, Expansion, Stream, Trace

NEVER = 2.0**52  # a round that no stream reaches


@compiled
def norma(
    stream: Stream,
    E: Expansion | None,
    B: Budget | None,
    scale,
    b,
    now,
    window,
    trace: Trace,
    learn,
    lam,
    rho,
    eta,
    step,
    offset,
):
    """Classification with the soft margin loss max(0, rho - y g(x)), g = f + b: equations (15), (16).

    Deviations: none.
    """
    store = either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        g = shifted(store, scale, scale[0] * store.outputs(stream, t)[0], b)
        trace.record(t, g, y, store)
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        sigma = not y * g > rho
        descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y, step != "sqrt")
        if offset:
            shift(store, b, eta_t * sigma * y)


@compiled
def norma_nu(
    stream: Stream,
    E: Expansion | None,
    B: Budget | None,
    scale,
    b,
    rho,
    now,
    window,
    trace: Trace,
    learn,
    nu,
    lam,
    eta,
    step,
    offset,
):
    """Classification with the nu trick, loss max(0, rho - y g(x)) - nu rho: below equation (19).

    rho (1,) the margin, which adapts, from 0 (the paper leaves rho_1 open)
    Deviations: lam, which the paper sets to 1, is free, as its footnote 1 suggests.
    """
    store = either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        g = scale[0] * store.outputs(stream, t)[0] + b[0]
        trace.record(t, g, y, store)
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        sigma = not y * g > rho[0]
        descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y, step != "sqrt")
        rho[0] += eta_t * (nu - sigma)
        if offset:
            b[0] += eta_t * sigma * y


@compiled
def norma_growing(stream: Stream, B: Budget, scale, now, window, trace: Trace, learn, lam, rho, eta, eps, t0):
    """Classification with the soft margin loss and the slowly growing expansion of Theorem 6.

    f_t has the terms of the last s_t rounds: s_t = t up to round t0, then max(t0, ceil(t^(1/2 + eps))).
    eta_t = eta / sqrt(t)   window (2, slots): the round of each term   t0 the theorem's, where not a number
    Deviations: as printed, s_t falls to ceil(t^(1/2 + eps)) after t0, which the proof's s_{t+1} in {s_t,
    s_t + 1} excludes; here it waits until that is larger.
    """
    until = first_truncated(eta * lam, eps) if math.isnan(t0) else t0
    for t in range(stream.T):
        y = stream.y[t]
        f = scale[0] * B.outputs(stream, t)[0]
        trace.record(t, f, y, B)
        if not learn:
            continue
        eta_t = rate(now, eta, "sqrt")
        sigma = not y * f > rho
        drop(B, window, t, now[0] - kept_terms(now[0] + 2, eps, until))  # rounds from 0
        descend_unlike(B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y)


@compiled
def kept_terms(t, eps, t0):
    """s_t of round t, counted from 1."""
    return t if t <= t0 else max(t0, math.ceil(t ** (0.5 + eps)))


@compiled
def first_truncated(a, eps):
    """t0 of Theorem 6 with a = eta lam < 1, from its proof: from it on, for all t,

    exp(-a t^eps) <= a / sqrt(t) and ceil(t^(1/2 + eps)) <= 3 t / 4. NEVER where it is above that.
    """
    if a == 0.0:
        return NEVER
    t, most = 1.0, math.log(NEVER)
    low = max(0.0, math.log(0.5 / (a * eps)) / eps)  # of ln t, from which the excess rises
    if low >= most or _excess(most, a, eps) < 0.0:
        return NEVER
    if _excess(low, a, eps) < 0.0:
        high = most
        for _ in range(100):
            middle = 0.5 * (low + high)
            if _excess(middle, a, eps) < 0.0:
                low = middle
            else:
                high = middle
        t = math.ceil(math.exp(high))
    root = math.log(4.0 / 3.0) / (0.5 - eps)  # of ln t: t^(1/2 + eps) = 3 t / 4
    if root >= most:
        return NEVER
    least = math.ceil(math.exp(root) + 4.0 / (3.0 * (0.5 - eps)) + 2.0)
    while least > 1.0 and math.ceil((least - 1.0) ** (0.5 + eps)) <= 0.75 * (least - 1.0):
        least -= 1.0
    return max(t, least)


@compiled
def _excess(log_t, a, eps):
    """The logarithm of a / sqrt(t) less that of exp(-a t^eps)."""
    return a * math.exp(eps * log_t) - 0.5 * log_t + math.log(a)


@compiled
def norma_logistic(
    stream: Stream,
    E: Expansion | None,
    B: Budget | None,
    scale,
    b,
    now,
    window,
    trace: Trace,
    learn,
    lam,
    eta,
    step,
    offset,
):
    """Classification with the logistic loss ln(1 + exp(-y g)), g = f + b, which section II names.

    The score is P(y = 1) - 1/2 with P(y = 1) = 1 / (1 + exp(-g)). The loss is never flat: every example is
    stored.
    """
    store = either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        g = scale[0] * store.outputs(stream, t)[0] + b[0]
        trace.record(t, 0.5 * math.tanh(0.5 * g), y, store)
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        a = -eta_t * slope_of("logistic", y, g)
        descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, a, step != "sqrt")
        if offset:
            b[0] += a


@compiled
def norma_regression(
    stream: Stream,
    E: Expansion | None,
    B: Budget | None,
    scale,
    width,
    now,
    window,
    trace: Trace,
    learn,
    loss,
    lam,
    eta,
    step,
    nu,
):
    """Regression with squared, eps-insensitive or Huber's loss: equations (21), (22), (24).

    delta = y - f(x)   width (1,) the paper's eps or sigma   nu the share of errors beyond it that it aims at,
    not a number for a width that stays
    Deviations: equation (24) lacks eta in the quadratic part's coefficient, and lam in 1 - eta; both are as
    equation (9) has them. The adaptive sigma moves by the signs of equation (22), as printed.
    """
    store = either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        f = scale[0] * store.outputs(stream, t)[0]
        trace.record(t, f, y, store)
        if not learn:
            continue
        delta = y - f
        beyond = abs(delta) >= width[0] if loss == "huber" else abs(delta) > width[0]
        if loss == "squared":
            slope = delta
        elif beyond:
            slope = np.sign(delta)
        else:
            slope = delta / width[0] if loss == "huber" else 0.0
        eta_t = rate(now, eta, step)
        descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * slope, step != "sqrt")
        if loss != "squared" and not math.isnan(nu):
            width[0] += eta_t * (beyond - nu)


@compiled
def norma_novelty(
    stream: Stream,
    E: Expansion | None,
    B: Budget | None,
    scale,
    rho,
    now,
    window,
    trace: Trace,
    learn,
    loss,
    nu,
    lam,
    eta,
    step,
):
    """Novelty detection, loss max(0, rho - f(x)) - nu rho: equation (20).

    Or with the logistic loss ln(1 + exp(rho - f(x))) - nu rho, which section II names: s = 1 / (1 + exp(f -
    rho)) in place of the indicator of f < rho, so that nu is the mean of s, which is above 1/2 of a novelty.

    The score is f(x) - rho; an example with f(x) < rho is novel, and counts as the trace's mistake. No label
    is read. rho (1,) adapts; the paper does not say where it starts.
    Deviations: the signs of rho's update are those of the loss's gradient. As printed, the threshold rises
    where it is missed already: rho outgrows f, and every example is novel. lam, 1 in (20), is free, as
    footnote 1 suggests: f holds about nu sqrt(t) / (lam eta) terms, which with nu = 0.01 and lam = 1 is less
    than one on USPS, and novelties come by the clock.
    """
    store = either(E, B)
    for t in range(stream.T):
        f = scale[0] * store.outputs(stream, t)[0]
        novel = not f >= rho[0]
        trace.record(t, f - rho[0], 1.0, store)
        trace.mistake[t] = novel
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        s = 1.0 * novel if loss == "hinge" else -slope_of("logistic", 1.0, f - rho[0])
        descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * s, step != "sqrt")
        rho[0] += eta_t * (nu - s)
