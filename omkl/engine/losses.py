"""Losses of a prediction f of y, their slopes in f, and the step sizes of gradient descent."""

import math

import numpy as np

from omkl.engine.jit import compiled


@compiled
def loss_of(kind, y, f):
    """(y - f)^2, log(1 + exp(-y f)) or max(0, 1 - y f)."""
    if kind == "squared":
        return (y - f) * (y - f)
    if kind == "logistic":
        return max(-y * f, 0.0) + math.log1p(math.exp(-abs(f)))  # |y| = 1
    return max(0.0, 1.0 - y * f)


@compiled
def surprise(e, v):
    """-log N(e; 0, v) of an error e."""
    return 0.5 * (math.log(2.0 * math.pi * v) + e * e / v)


@compiled
def slope_of(kind, y, f):
    """The loss's derivative in f; at the hinge's corner that of its flat side."""
    if kind == "squared":
        return 2.0 * (f - y)
    if kind == "logistic":
        e = math.exp(-abs(f))
        return -y * (e if y * f > 0.0 else 1.0) / (1.0 + e)
    return -y if y * f < 1.0 else 0.0


@compiled
def losses(kind, y, f):
    """The losses of all outputs f (m,)."""
    values = np.empty(f.size)
    for i in range(f.size):
        values[i] = loss_of(kind, y, f[i])
    return values


@compiled
def slopes(kind, y, f):
    """The slopes of all outputs f (m,)."""
    values = np.empty(f.size)
    for i in range(f.size):
        values[i] = slope_of(kind, y, f[i])
    return values


@compiled
def rate(done, eta, step):
    """eta_t = eta, or eta / sqrt(t), of the round t after the done (1,) rounds that have been learnt."""
    return eta / math.sqrt(done[0] + 1.0) if step == "sqrt" else eta


@compiled
def rate_of_pass(done, eta, step, T):
    """As `rate`; where eta is not a number, 1 / sqrt(T) in a pass of T (1,) rounds, or 1 / sqrt(t)."""
    if not math.isnan(eta):
        return rate(done, eta, step)
    return 1.0 / math.sqrt(done[0] + 1.0 if step == "sqrt" else T[0])
