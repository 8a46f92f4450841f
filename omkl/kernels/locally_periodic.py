"""A periodic kernel whose periods resemble each other less the farther apart they are (Duvenaud, 2014)."""

import math


def locally_periodic(product, norm2, other_norm2, sigma, period, length):
    """exp(-2 sin(pi r / period)^2 / length^2 - r^2 / (2 sigma^2)), r = ||x - x'||."""
    square = max(norm2 + other_norm2 - 2.0 * product, 0.0)
    sine = math.sin(math.pi / period * math.sqrt(square))
    return math.exp(-2.0 / length**2 * (sine * sine) - square / (2.0 * sigma**2))
