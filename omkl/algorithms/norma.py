"""NORMA, stochastic gradient descent with a kernel: Kivinen, Smola, Williamson (2004).

f_{t+1} = (1 - eta_t lam) f_t - eta_t l'(f_t(x_t), y_t) kappa(x_t, .), equation (9).

Throughout: one kernel; f = scale E, or scale B with the terms of the last tau rounds; eta_t = eta, or eta /
sqrt(t); sigma whether the round is a margin error; b (1,) the offset. Where c = 1 - lam eta_t stays and tau
is given, section II-D's first way is used (a cache of powers), else its second (a scale).

Without a window f is an Expansion E, with one a Budget B, whose slots are used again; the other is None.
scale (1,)   now (2,) LEARNT rounds, those of them when B was last REWRITTEN   tau the length of window (3,
tau), whose rows are BORN the round of the term in each slot, ALPHA its coefficient when it was new, and POWER
1, c, c^2, ... where every round shrinks f by the same c: the cache of section II-D and Fig. 1. There the
scale is the power of the rounds since B was last rewritten: with alpha_i c^(t - i - 1) for the term of round
i, in the round t that no further power is left for, or none that is not tiny.
"""

import math

import numpy as np

from omkl.engine.api import compiled, rate, slope_of
from omkl.engine.classes import combined
from omkl.engine.lanes import any_of
from omkl.engine.methods import Budget, Expansion, Stream, Trace

BORN, ALPHA, POWER = 0, 1, 2  # rows of `window`
LEARNT, REWRITTEN = 0, 1  # of `now`
LEAST_SCALE = 1e-30  # below this the scale goes into the coefficients: new ones are divided by it
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
    terms = _either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        g = _shifted(terms, scale, scale[0] * terms.outputs(stream, t)[0], b)
        trace.record(t, g, y, terms)
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        sigma = not y * g > rho
        _descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y, step != "sqrt")
        if offset:
            _shift(terms, b, eta_t * sigma * y)


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
    terms = _either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        g = scale[0] * terms.outputs(stream, t)[0] + b[0]
        trace.record(t, g, y, terms)
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        sigma = not y * g > rho[0]
        _descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y, step != "sqrt")
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
        _drop(B, window, t, now[LEARNT] - kept_terms(now[LEARNT] + 2, eps, until))  # rounds from 0
        _descend_unlike(B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y)


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
    terms = _either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        g = scale[0] * terms.outputs(stream, t)[0] + b[0]
        trace.record(t, 0.5 * math.tanh(0.5 * g), y, terms)
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        a = -eta_t * slope_of("logistic", y, g)
        _descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, a, step != "sqrt")
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
    terms = _either(E, B)
    for t in range(stream.T):
        y = stream.y[t]
        f = scale[0] * terms.outputs(stream, t)[0]
        trace.record(t, f, y, terms)
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
        _descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * slope, step != "sqrt")
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
    terms = _either(E, B)
    for t in range(stream.T):
        f = scale[0] * terms.outputs(stream, t)[0]
        novel = not f >= rho[0]
        trace.record(t, f - rho[0], 1.0, terms)
        trace.mistake[t] = novel
        if not learn:
            continue
        eta_t = rate(now, eta, step)
        s = 1.0 * novel if loss == "hinge" else -slope_of("logistic", 1.0, f - rho[0])
        _descend(E, B, scale, now, window, stream, t, 1.0 - eta_t * lam, eta_t * s, step != "sqrt")
        rho[0] += eta_t * (nu - s)


# ------------------------------------------------------------------ an expansion that shrinks and forgets


@compiled
def _either(E, B):
    """The store that there is."""
    if E is None:
        return B
    return E


@compiled
def _shifted(terms, scale, f, b):
    """g = f + b of b (C, 1), C = 1 for two classes; with more the margin of g."""
    if terms.classes is None:
        return f + b[0, 0]
    classes = terms.classes
    if not any_of(b[:, 0]):
        return f
    for c in range(len(b)):
        classes.total[c] = scale[0] * classes.scores[0, c] + b[c, 0]
    g = combined(classes)
    classes.rival[0] = classes.chosen[1]
    return g


@compiled
def _shift(terms, b, a):
    """b <- b + a, of the round's class; its rival's falls."""
    for c in range(len(b)):
        b[c, 0] += a * terms.direction(0, c, 1.0)


@compiled
def _descend(E, B, scale, now, window, stream, t, c, a, alike):
    """f <- c f + a kappa(x_t, .), less the term that leaves the window: the end of a round that is learnt.

    alike: c is the same in every round.
    """
    if B is not None:
        _drop(B, window, t, now[LEARNT] - window.shape[1])
        if alike:
            _shrink(B.columns(0), scale, now, window, c)
    _step_down(E, B, scale, now, window, stream, t, c, a, alike)


@compiled
def _descend_unlike(B, scale, now, window, stream, t, c, a):
    """f <- c f + a kappa(x_t, .), where c may change and nothing leaves; window (2, n) of B's n slots."""
    _step_down(None, B, scale, now, window, stream, t, c, a, False)


@compiled
def _step_down(E, B, scale, now, window, stream, t, c, a, alike):
    if B is None or not alike:
        scale[0] *= c
        if scale[0] < LEAST_SCALE:
            _either(E, B).scale(0, scale[0])
            scale[0] = 1.0
    if a != 0.0:
        if E is not None:
            E.add(stream, t, np.full(1, a / scale[0]))
        if B is not None:
            s = B.n_sv[0]
            window[BORN, s], window[ALPHA, s] = now[LEARNT], a
            B.add(stream, t, 0, s, a / scale[0])
    now[LEARNT] += 1


@compiled
def _shrink(a, scale, now, window, c):
    """f <- c f by the cache of powers, f of the coefficients scale a (n, 1), or (n, C)."""
    tau = window.shape[1]
    coming = now[LEARNT] + 1
    if coming == 1:
        window[POWER, 0] = 1.0
    if coming < tau:
        window[POWER, coming] = window[POWER, coming - 1] * c
    age = coming - now[REWRITTEN]
    if age < tau and window[POWER, age] >= LEAST_SCALE:
        scale[0] = window[POWER, age]
        return
    scale[0], now[REWRITTEN] = 1.0, coming
    for s in range(len(a)):
        power = window[ALPHA, s] * window[POWER, coming - int(window[BORN, s]) - 1]
        for k in range(a.shape[1]):
            a[s, k] = power if a.shape[1] == 1 else power * np.sign(a[s, k])


@compiled
def _drop(B, window, t, born):
    """Empty the slots whose terms are of this round or of an earlier one."""
    s = 0
    while s < B.n_sv[0]:
        if window[BORN, s] <= born:
            last = B.n_sv[0] - 1
            window[BORN, s], window[ALPHA, s] = window[BORN, last], window[ALPHA, last]
            B.remove(t, 0, s)
        else:
            s += 1
