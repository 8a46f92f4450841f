"""The exponential chi^2 kernel of histograms (Zhang et al., 2007)."""

import math

from omkl.engine.sparse_rows import next_pair


def chi2(indices, values, other_indices, other_values, gamma):
    """exp(-gamma sum_j (x_j - x'_j)^2 / (x_j + x'_j))."""
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        if x + z > 0.0:
            total += (x - z) * (x - z) / (x + z)
    return math.exp(-gamma * total)
