"""Losses of a prediction f of y, and their slopes in f."""

import math

import numpy as np
from numba import njit

# The choices of `loss` (see omkl/learner/choices.py).
SQUARED, LOGISTIC, HINGE = 0, 1, 2


@njit(cache=True)
def loss_of(kind, y, f):
    """(y - f)^2, log(1 + exp(-y f)) or max(0, 1 - y f)."""
    if kind == SQUARED:
        return (y - f) * (y - f)
    if kind == LOGISTIC:
        return max(-y * f, 0.0) + math.log1p(math.exp(-abs(f)))  # |y| = 1
    return max(0.0, 1.0 - y * f)


@njit(cache=True)
def slope_of(kind, y, f):
    """The loss's derivative in f; at the hinge's corner that of its flat side."""
    if kind == SQUARED:
        return 2.0 * (f - y)
    if kind == LOGISTIC:
        e = math.exp(-abs(f))
        return -y * (e if y * f > 0.0 else 1.0) / (1.0 + e)
    return -y if y * f < 1.0 else 0.0


@njit(cache=True)
def losses(kind, y, f):
    """The losses of all outputs f (m,)."""
    values = np.empty(f.size)
    for i in range(f.size):
        values[i] = loss_of(kind, y, f[i])
    return values


@njit(cache=True)
def slopes(kind, y, f):
    """The slopes of all outputs f (m,)."""
    values = np.empty(f.size)
    for i in range(f.size):
        values[i] = slope_of(kind, y, f[i])
    return values
