"""Gradient descent with several kernels: OKR and OMKR, on stored vectors.

Every example is stored; scale (m,) with f_i = scale_i E_i; f_i <- (1 - eta_t lam) f_i - eta_t l'(f_i)
kappa_i(x_t, .); eta_t = eta or eta / sqrt(t), number (1,) rounds learnt so far; w (m,) Hedge weights, held at
sum 1; lam >= 0 regularisation. The squared loss is (y - f)^2, so that its gradient is 2 (f - y) kappa.
"""

from omkl.engine.api import compiled, discount_by, losses, rate, rate_of_pass, slopes, weighted_output
from omkl.engine.methods import Expansion, Stream, Trace


@compiled
def okr(stream: Stream, E: Expansion, scale, number, T, trace: Trace, learn, eta, step, lam, loss):
    """Online gradient descent on one kernel, the components of OMKR.

    eta not a number: 1 / sqrt(T), T rounds of the pass, as in the experiments of Shen et al. (2018), or
    1 / sqrt(t) where the step falls
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = scale * E.outputs(stream, t)
        trace.record(t, f[0], y, E)
        if learn:
            eta_t = rate_of_pass(number, eta, step, T)
            number[0] += 1
            E.shrink(scale, 1.0 - eta_t * lam, 0, scale.size)
            E.add(stream, t, -eta_t * slopes(loss, y, f) / scale)


@compiled
def omkr(stream: Stream, E: Expansion, scale, w, number, trace: Trace, learn, eta, step, lam, beta, loss):
    """Online multiple kernel regression (Sahoo, Hoi, Li 2014): Hedge over kernels that learn by themselves.

    w (m,) Hedge weights, held at sum 1   beta in (0, 1) discount: w_i <- w_i beta^(loss of f_i)
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = scale * E.outputs(stream, t)
        trace.record(t, weighted_output(w, f), y, E)
        if learn:
            eta_t = rate(number, eta, step)
            number[0] += 1
            discount_by(w, beta, losses(loss, y, f))
            E.shrink(scale, 1.0 - eta_t * lam, 0, scale.size)
            E.add(stream, t, -eta_t * slopes(loss, y, f) / scale)
