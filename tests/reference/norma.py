"""NORMA (Kivinen, Smola, Williamson 2004) from its equations: every coefficient changes in every round."""

import math

import numpy as np

from .classes import classes_of
from .losses import slope_of
from .rounds import ClassSlots
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

    def shifted_margin(self, t, offset):
        """Record g(x_t) = f_t(x_t) + offset; return its margin and a step's direction."""
        return self.y[t] * self.predict(t, offset), self.y[t]

    def step(self, t, shrink, alpha):
        """Equations (11) and (12), and of round t + 1's sum in Fig. 1 the terms that it still has."""
        terms = [(shrink * a, i) for a, i in zip(self.a[0], self.held[0], strict=True)]
        if np.any(alpha):
            terms.append((alpha, t))
        if self.tau is not None:
            terms = [(a, i) for a, i in terms if i >= (t + 1) - self.tau]
        self.keep(terms)

    def keep(self, terms):
        self.a[0], self.held[0] = [a for a, _ in terms], [i for _, i in terms]
        self.n_sv[0] = len(terms)

    def finish(self):
        result = super().finish()
        result.weights = None
        return result


class ClassDescent(Descent, ClassSlots):
    """The same of more classes, with an offset of each."""

    def shifted_margin(self, t, offset):
        return self.note(self.value(0, t) + offset, t)


def descent(X, y, *form):
    return (Descent if classes_of(y) is None else ClassDescent)(X, y, *form)


def rate(eta, step, t):
    return {"constant": eta, "sqrt": eta / math.sqrt(t + 1)}[step]


def norma(X, y, kernels, *, lam, rho, eta, step, tau, offset, normalise="none", rng=None):
    """Soft margin loss, equations (13) to (16): sigma = 1 if y g <= rho, or if the margin of g is."""
    E = descent(X, y, kernels, normalise, tau)
    b = E.zero
    for t in range(len(y)):
        margin, direction = E.shifted_margin(t, b)
        e = rate(eta, step, t)
        sigma = 1 if margin <= rho else 0
        E.step(t, 1 - e * lam, e * sigma * direction)
        if offset:
            b = b + e * sigma * direction
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


def norma_growing(X, y, kernels, *, lam, rho, eta, eps, t0, normalise="none", rng=None):
    """The truncated NORMA of section V-D: f_{t+1} keeps the last s_{t+1} terms, eta_t = eta / sqrt(t).

    s_t = t while t <= t0, later ceil(t^(1/2 + eps)), but never fewer than before.
    """
    E, until = descent(X, y, kernels, normalise, None), theorem_6(eta * lam, eps) if t0 is None else t0
    s = 1
    for t in range(1, len(y) + 1):  # rounds counted from 1
        margin, direction = E.shifted_margin(t - 1, 0.0)
        e, sigma = eta / math.sqrt(t), 1 if margin <= rho else 0
        E.step(t - 1, 1 - e * lam, e * sigma * direction)
        s = t + 1 if t + 1 <= until else max(s, math.ceil((t + 1) ** (0.5 + eps)))
        E.keep([(a, i) for a, i in zip(E.a[0], E.held[0], strict=True) if i + 1 > t - s])
    return E.finish()


def theorem_6(a, eps, most=100_000):
    """t0 of Appendix C by trying every t: inf if the three conditions fail at `most`."""

    def hold(t):
        root, s = a / math.sqrt(t), math.ceil(t ** (0.5 + eps))
        return root <= 1 and math.exp(-a * t**eps) <= root and s <= 3 * t / 4

    failing = [t for t in range(1, most + 1) if not hold(t)]
    return math.inf if failing[-1:] == [most] else failing[-1] + 1 if failing else 1


def norma_logistic(X, y, kernels, *, lam, eta, step, tau, offset, normalise="none", rng=None):
    """Equation (9) for ln(1 + exp(-y g)), whose slope is -y / (1 + exp(y g)); score P(+1) - 1/2."""
    E, b = Descent(X, y, kernels, normalise, tau), 0.0
    for t in range(len(y)):
        g = E.f(0, t) + b
        E.record(math.tanh(g / 2) / 2, y[t], [True])
        a = -rate(eta, step, t) * slope_of("logistic", y[t], g)
        E.step(t, 1 - rate(eta, step, t) * lam, a)
        b = b + a if offset else b
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


def norma_novelty(X, y, kernels, *, loss, nu, lam, eta, step, start, tau, normalise="none", rng=None):
    """Equation (20) with rho moved by minus the gradient of max(0, rho - f(x)) - nu rho; rho_1 = start.

    Or gradient descent on ln(1 + exp(rho - f(x))) - nu rho.
    """
    E, rho = Descent(X, y, kernels, normalise, tau), start
    for t in range(len(y)):
        f = E.f(0, t)
        novel = f < rho
        E.record(f - rho, 1, [True])
        E.mistakes[-1] = novel
        e = rate(eta, step, t)
        if loss == "logistic":
            s = -slope_of("logistic", 1.0, f - rho)
            E.step(t, 1 - e * lam, e * s)
            rho = rho + e * nu - e * s
        else:
            E.step(t, 1 - e * lam, e if novel else 0)
            rho = rho - e * (1 - nu) if novel else rho + e * nu
    return E.finish()
