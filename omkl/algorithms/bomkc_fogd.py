"""Gradient descent with several kernels: Fourier online gradient descent.

Lu, Hoi, Sahoo, "Budget online multiple kernel learning", section 4.3.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t; theta (m, 2D) parameters of the kernels' functions;
f (m,) = theta_i . z_i; w (m,) Hedge weights, held at sum 1; eta > 0 step size. With more than two classes
theta has such an array for each, (C, m, 2D), and f is of margins.
"""

from omkl.engine.api import compiled, discount, mistakes, slopes
from omkl.engine.methods import Features, Stream, Trace


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
