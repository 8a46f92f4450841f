"""The Gaussian with a scale for each feature (automatic relevance determination; Neal, 1996)."""

import math

from omkl.engine.sparse_rows import next_pair


def ard(indices, values, other_indices, other_values, sigma, scales):
    """exp(-sum_j ((x_j - x'_j) / scales_j)^2 / (2 sigma^2))."""
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        column, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        u = (x - z) / scales[column]
        total += u * u
    return math.exp(-total / (2.0 * sigma**2))
