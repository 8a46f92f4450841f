"""Classifiers held in a ball of their reproducing kernel Hilbert space: one scale factor per kernel.

Throughout: scale (m,) with f_i = scale_i E_i, where E_i is what the expansion holds; norm2 (m,) the squared
norms ||f_i||^2, kept by ||f + c kappa(x, .)||^2 = ||f||^2 + 2 c f(x) + c^2 kappa(x, x).
"""

import math

from omkl.engine import expansion
from omkl.engine.jit import compiled

LEAST_SCALE = 1e-100  # below this a scale goes into the coefficients: one step's are divided by it


@compiled
def project(E, scale, norm2, R):
    """f_i <- f_i / max(1, ||f_i|| / R) for every kernel."""
    for i in range(scale.size):
        norm2[i] = max(norm2[i], 0.0)  # of f_i = 0, up to rounding
        if norm2[i] > R * R:
            scale[i] *= R / math.sqrt(norm2[i])
            norm2[i] = R * R
        if scale[i] < LEAST_SCALE:
            expansion.scale(E, i, scale[i])
            scale[i] = 1.0


@compiled
def shrink(E, scale, c, start, stop):
    """f_i <- c f_i for kernels i = start .. stop - 1, c > 0."""
    for i in range(start, stop):
        scale[i] *= c
        if scale[i] < LEAST_SCALE:
            expansion.scale(E, i, scale[i])
            scale[i] = 1.0
