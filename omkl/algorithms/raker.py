"""Gradient descent with several kernels: Raker (Shen, Chen, Giannakis 2018), its relatives, and OMKR.

On random features: m Gaussian kernels; z (m, 2D) features of x_t; theta (m, 2D) parameters of the kernels'
functions (levels, m, 2D where there is one for each interval); f (m,) = theta_i . z_i; w (m,) Hedge weights,
held at sum 1 (the paper's w bar); eta > 0 step size; lam >= 0 regularisation. With more than two classes
theta has such an array for each, (C, m, 2D), and f is of margins.
On stored vectors (okr, omkr): every example is stored; scale (m,) with f_i = scale_i E_i; f_i <- (1 - eta_t
lam) f_i - eta_t l'(f_i) kappa_i(x_t, .); eta_t = eta or eta / sqrt(t), number (1,) rounds learnt so far.
Of all: the squared loss is (y - f)^2, so that its gradient is 2 (f - y) z; the paper prints (f - y) z in an
example, the authors' code the former. lam enters as the gradient of lam / 2 ||theta||^2, which the paper has
in its objective (2) and leaves out of its update (16).
"""

import math

from omkl.engine.api import (
    compiled,
    discount,
    discount_by,
    linear_outputs,
    losses,
    mistakes,
    rate,
    rate_of_pass,
    slopes,
    times,
    weighted_output,
)
from omkl.engine.methods import Expansion, Features, Stream, Trace


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


@compiled
def bomkc_fogd(stream: Stream, F: Features, theta, w, trace: Trace, learn, gamma, eta):
    """Fourier online gradient descent (Lu et al. 2016) on the hinge loss, in a Hedge vote of all kernels.

    gamma in (0, 1) discount of a kernel's weight after its mistake
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = F.outputs(theta, z, stream, t)
        trace.record(t, F.weighted_vote(w, f), y, F)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        F.descend(theta, z, eta, 0.0, slopes("hinge", y, f))


@compiled
def ridge_features(stream: Stream, F: Features, theta, P, trace: Trace, learn, lam):
    """Recursive ridge regression on one kernel's random features: the baseline for gradient descent on them.

    theta (1, 2D) = P sum_s y_s z_s   P (2D, 2D) the inverse of lam I + sum_s z_s z_s', I / lam at the start
    k (2D,) gain
    """
    n = P.shape[0]
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = linear_outputs(theta, z)
        trace.record(t, f[0], y)
        if not learn:
            continue
        k, b = times(P, z[0]), 1.0
        for i in range(n):
            b += k[i] * z[0, i]
        b = b if b > 0.0 else 1.0  # P is positive definite, but for one of a forged model
        step = (y - f[0]) / b
        for i in range(n):
            theta[0, i] += step * k[i]
            P[i] -= k[i] / b * k


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
