"""Online kernel regression with one kernel and with several (Sahoo, Hoi, Li 2014).

Throughout: m kernels; f (m,) outputs f_i(x_t); scale (m,) with f_i = scale_i E_i; eta > 0 step size; lam >= 0
regularisation: f_i <- (1 - eta lam) f_i - eta l'(f_i) kappa_i(x_t, .), every example stored. The squared
loss is (y - f)^2.
"""

import math

from numba import njit

from omkl.engine.expansion import add, outputs
from omkl.engine.experts import discount_by, weighted_output
from omkl.engine.losses import losses, slopes
from omkl.engine.projection import shrink
from omkl.engine.trace import record


@njit(cache=True)
def okr(stream, E, scale, T, trace, learn, eta, lam, loss):
    """Online gradient descent on one kernel, the components of OMKR.

    eta not a number: 1 / sqrt(T), T rounds of the pass, as in the experiments of Shen et al. (2018)
    """
    step = 1.0 / math.sqrt(T[0]) if math.isnan(eta) else eta
    for t in range(stream.T):
        y = stream.y[t]
        f = scale * outputs(E, stream, t)
        record(trace, t, f[0], y, E)
        if learn:
            shrink(E, scale, 1.0 - step * lam, 0, scale.size)
            add(E, stream, t, -step * slopes(loss, y, f) / scale)


@njit(cache=True)
def omkr(stream, E, scale, w, trace, learn, eta, lam, beta, loss):
    """Online multiple kernel regression (Sahoo, Hoi, Li 2014): Hedge over kernels that learn by themselves.

    w (m,) Hedge weights, held at sum 1   beta in (0, 1) discount: w_i <- w_i beta^(loss of f_i)
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = scale * outputs(E, stream, t)
        record(trace, t, weighted_output(w, f), y, E)
        if learn:
            discount_by(w, beta, losses(loss, y, f))
            shrink(E, scale, 1.0 - eta * lam, 0, scale.size)
            add(E, stream, t, -eta * slopes(loss, y, f) / scale)
