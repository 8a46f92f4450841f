"""NORMA, stochastic gradient descent with a kernel: Kivinen, Smola, Williamson (2004).

f_{t+1} = (1 - eta_t lam) f_t - eta_t l'(f_t(x_t), y_t) kappa(x_t, .), equation (9).

Throughout: one kernel; f = scale E, or scale B with the terms of the last tau rounds (descent.py); now (1,)
rounds learnt; eta_t = eta, or eta / sqrt(t); sigma whether the round is a margin error; b (1,) the offset.
The scale is the second way of section II-D: unlike the cache of powers of 1 - lam eta it serves every eta_t.
"""

import math

from numba import njit

from omkl.engine.descent import descend, output, record

SQRT = 1  # place in the choices of `step`


@njit(cache=True)
def norma(stream, E, B, scale, b, now, born, trace, learn, lam, rho, eta, step, offset):
    """Classification with the soft margin loss max(0, rho - y g(x)), g = f + b: equations (15), (16).

    Deviations: none.
    """
    for t in range(stream.T):
        y = stream.y[t]
        g = output(E, B, scale, stream, t) + b[0]
        record(trace, t, g, y, E, B)
        if not learn:
            continue
        eta_t = _rate(now, eta, step)
        sigma = not y * g > rho
        descend(E, B, scale, now, born, stream, t, 1.0 - eta_t * lam, eta_t * sigma * y)
        if offset:
            b[0] += eta_t * sigma * y


@njit(cache=True)
def norma_nu(stream, E, B, scale, b, rho, now, born, trace, learn, nu, eta, step, offset):
    """Classification with the nu trick, loss max(0, rho - y g(x)) - nu rho, lam = 1: below equation (19).

    rho (1,) the margin, which adapts
    Deviations: none. (The paper leaves rho_1 open: 0.)
    """
    for t in range(stream.T):
        y = stream.y[t]
        g = output(E, B, scale, stream, t) + b[0]
        record(trace, t, g, y, E, B)
        if not learn:
            continue
        eta_t = _rate(now, eta, step)
        sigma = not y * g > rho[0]
        descend(E, B, scale, now, born, stream, t, 1.0 - eta_t, eta_t * sigma * y)
        rho[0] += eta_t * (nu - sigma)
        if offset:
            b[0] += eta_t * sigma * y


@njit(cache=True)
def _rate(now, eta, step):
    """eta_t of the round that is being learnt."""
    return eta / math.sqrt(now[0] + 1.0) if step == SQRT else eta
