"""Losses by their definitions."""

import math


def loss_of(name, y, f):
    """The loss of prediction f."""
    if name == "squared":
        return (y - f) ** 2
    if name == "logistic":
        return math.log1p(math.exp(-y * f)) if y * f > -700 else -y * f
    return max(0.0, 1 - y * f)


def slope_of(name, y, f):
    """Its derivative in f."""
    if name == "squared":
        return -2 * (y - f)
    if name == "logistic":
        return -y * math.exp(-y * f) if y * f > 700 else -y / (1 + math.exp(y * f))
    return -y if 1 - y * f > 0 else 0.0
