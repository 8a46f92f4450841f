"""NORMA (Kivinen, Smola, Williamson 2004) from its equations: every coefficient changes in every round."""

import math

from .slots import Slots


class Descent(Slots):
    """f_t = sum_{i >= t - tau} alpha_i kappa(x_i, .), i and t counted from 1."""

    def __init__(self, X, y, kernels, normalise, tau):
        assert len(kernels) == 1
        super().__init__(X, y, kernels, normalise, math.inf)
        self.tau = tau

    def predict(self, t, offset=0.0):
        """Record g(x_t) = f_t(x_t) + offset and return it."""
        g = self.f(0, t) + offset
        self.record(g, self.y[t], [True])
        return g

    def step(self, t, shrink, alpha):
        """Equations (11) and (12), and of round t + 1's sum in Fig. 1 the terms that it still has."""
        terms = [(shrink * a, i) for a, i in zip(self.a[0], self.held[0], strict=True)]
        if alpha != 0:
            terms.append((alpha, t))
        if self.tau is not None:
            terms = [(a, i) for a, i in terms if i >= (t + 1) - self.tau]
        self.a[0], self.held[0] = [a for a, _ in terms], [i for _, i in terms]
        self.n_sv[0] = len(terms)

    def finish(self):
        result = super().finish()
        result.weights = None
        return result


def rate(eta, step, t):
    return {"constant": eta, "sqrt": eta / math.sqrt(t + 1)}[step]


def norma(X, y, kernels, *, lam, rho, eta, step, tau, offset, normalise="none", rng=None):
    """Soft margin loss, equations (13) to (16): sigma = 1 if y g <= rho."""
    E, b = Descent(X, y, kernels, normalise, tau), 0.0
    for t in range(len(y)):
        g = E.predict(t, b)
        e = rate(eta, step, t)
        sigma = 1 if y[t] * g <= rho else 0
        E.step(t, 1 - e * lam, e * sigma * y[t])
        if offset:
            b = b + e * sigma * y[t]
    return E.finish()


def norma_nu(X, y, kernels, *, nu, lam, eta, step, tau, offset, normalise="none", rng=None):
    """The nu trick, equation (19) and the update below it, where lam = 1; rho starts at 0."""
    E, b, rho = Descent(X, y, kernels, normalise, tau), 0.0, 0.0
    for t in range(len(y)):
        g = E.predict(t, b)
        e = rate(eta, step, t)
        sigma = 1 if y[t] * g <= rho else 0
        E.step(t, 1 - e * lam, e * sigma * y[t])
        if offset:
            b = b + e * sigma * y[t]
        rho = rho + e * (nu - sigma)
    return E.finish()


def norma_regression(X, y, kernels, *, loss, lam, eta, step, nu, start, tau, normalise="none", rng=None):
    """Gradient descent (9) on the squared loss, that of (22) with eps, that of (23) with sigma.

    eps and sigma start at `start`, and move as in (22) unless nu is None.
    """
    E, width = Descent(X, y, kernels, normalise, tau), start
    for t in range(len(y)):
        delta = y[t] - E.predict(t)
        e = rate(eta, step, t)
        sign = int(delta > 0) - int(delta < 0)
        if loss == "squared":
            E.step(t, 1 - e * lam, e * delta)
            continue
        if loss == "eps":
            beyond = abs(delta) > width
            slope = sign if beyond else 0
        else:
            beyond = abs(delta) >= width
            slope = sign if beyond else delta / width
        E.step(t, 1 - e * lam, e * slope)
        if nu is not None:
            width = width + e * (1 - nu) if beyond else width - e * nu
    return E.finish()


def norma_novelty(X, y, kernels, *, nu, lam, eta, step, start, tau, normalise="none", rng=None):
    """Equation (20) with rho moved by minus the gradient of max(0, rho - f(x)) - nu rho; rho_1 = start."""
    E, rho = Descent(X, y, kernels, normalise, tau), start
    for t in range(len(y)):
        f = E.f(0, t)
        novel = f < rho
        E.record(f - rho, 1, [True])
        E.mistakes[-1] = novel
        e = rate(eta, step, t)
        E.step(t, 1 - e * lam, e if novel else 0)
        rho = rho - e * (1 - nu) if novel else rho + e * nu
    return E.finish()
