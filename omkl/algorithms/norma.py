"""NORMA, stochastic gradient descent with a kernel: Kivinen, Smola, Williamson (2004).

f_{t+1} = (1 - eta_t lam) f_t - eta_t l'(f_t(x_t), y_t) kappa(x_t, .), equation (9).

Throughout: one kernel; B the expansion, f_t = scale B; eta_t = eta, or eta / sqrt(t) with step = 1; sigma
whether the round is a margin error; b (1,) the offset, rho (1,) the margin where it adapts; now (1,) rounds
learnt; born (tau,) the round of each stored term: f_t keeps those of the last tau rounds, all if tau is 0.
"""

import math

from numba import njit

from omkl.engine.budget import outputs, put, remove
from omkl.engine.budget import scale as multiply
from omkl.engine.trace import record

SQRT = 1  # place in the choices of `step`
LEAST_SCALE = 1e-30  # below this the scale goes into the coefficients: new ones are divided by it


@njit(cache=True)
def norma(stream, B, scale, b, now, born, trace, learn, lam, rho, eta, step, offset):
    """Classification with the soft margin loss max(0, rho - y g(x)), g = f + b: equations (15), (16).

    Deviations: none. (The scale is section II-D's second way, which serves eta / sqrt(t) too; its cache of
    the powers of 1 - lam eta serves a constant eta only.)
    """
    for t in range(stream.T):
        y = stream.y[t]
        g = scale[0] * outputs(B, stream, t)[0] + b[0]
        record(trace, t, g, y, B)
        if not learn:
            continue
        eta_t = _rate(now, eta, step)
        sigma = not y * g > rho
        _descend(B, stream, t, scale, now, born, eta_t * lam, eta_t * sigma * y)
        if offset:
            b[0] += eta_t * sigma * y


@njit(cache=True)
def norma_nu(stream, B, scale, b, rho, now, born, trace, learn, nu, eta, step, offset):
    """Classification with the nu trick, loss max(0, rho - y g(x)) - nu rho, lam = 1: below equation (19).

    Deviations: none. (The paper leaves rho_1 open: 0.)
    """
    for t in range(stream.T):
        y = stream.y[t]
        g = scale[0] * outputs(B, stream, t)[0] + b[0]
        record(trace, t, g, y, B)
        if not learn:
            continue
        eta_t = _rate(now, eta, step)
        sigma = not y * g > rho[0]
        _descend(B, stream, t, scale, now, born, eta_t, eta_t * sigma * y)
        rho[0] += eta_t * (nu - sigma)
        if offset:
            b[0] += eta_t * sigma * y


@njit(cache=True)
def _rate(now, eta, step):
    """eta_t of the round that is being learnt."""
    return eta / math.sqrt(now[0] + 1.0) if step == SQRT else eta


@njit(cache=True)
def _descend(B, stream, t, scale, now, born, decay, a):
    """f <- (1 - decay) f + a kappa(x_t, .), less the term that is tau rounds old."""
    scale[0] *= 1.0 - decay
    if scale[0] < LEAST_SCALE:
        multiply(B, 0, scale[0])
        scale[0] = 1.0
    n = B.n_sv[0]
    for s in range(n if born.size else 0):
        if born[s] == now[0] - born.size:
            born[s] = born[n - 1]
            remove(B, t, 0, s)
            break
    if a != 0.0:
        n = B.n_sv[0]
        put(B, stream, t, 0, n, a / scale[0])
        if born.size:
            born[n] = now[0]
    now[0] += 1
