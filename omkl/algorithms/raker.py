"""Gradient descent with several kernels: Raker (Shen, Chen, Giannakis 2018).

Throughout: m Gaussian kernels; z (m, 2D) features of x_t; theta (m, 2D) parameters of the kernels' functions;
f (m,) = theta_i . z_i; w (m,) Hedge weights, held at sum 1 (the paper's w bar); eta > 0 step size; lam >= 0
regularisation. With more than two classes theta has such an array for each, (C, m, 2D), and f is of margins.
The squared loss is (y - f)^2, so that its gradient is 2 (f - y) z; the paper prints (f - y) z in an example,
the authors' code the former. lam enters as the gradient of lam / 2 ||theta||^2, which the paper has in its
objective (2) and leaves out of its update (16).
"""

import math

from omkl.engine.api import compiled, discount_by, losses, rate, slopes
from omkl.engine.methods import Features, Stream, Trace


@compiled
def rff(stream: Stream, F: Features, theta, T, trace: Trace, learn, eta, lam, loss):
    """Online gradient descent on one kernel's random features: equations (10) and (11) of Shen et al. (2018).

    eta not a number: 1 / sqrt(T), T rounds of the pass, as in their experiments
    """
    step = 1.0 / math.sqrt(T[0]) if math.isnan(eta) else eta
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = F.outputs(theta, z, stream, t)
        trace.record(t, f[0], y, F)
        if learn:
            F.descend(theta, z, step, lam, slopes(loss, y, f))


@compiled
def raker(stream: Stream, F: Features, theta, w, number, trace: Trace, learn, eta, step, lam, loss):
    """Raker: Algorithm 1 of Shen et al. (2018).

    eta_t = eta or eta / sqrt(t), the step size of w and of theta   number (1,) rounds learnt so far
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = F.outputs(theta, z, stream, t)
        trace.record(t, F.weighted_output(w, f), y, F)
        if not learn:
            continue
        eta_t = rate(number, eta, step)
        number[0] += 1
        discount_by(w, math.exp(-eta_t), losses(loss, y, f))
        F.descend(theta, z, eta_t, lam, slopes(loss, y, f))
