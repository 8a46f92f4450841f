"""The intersection kernel of histograms (Swain and Ballard, 1991)."""

from omkl.engine.sparse_rows import next_pair


def intersection(indices, values, other_indices, other_values):
    """sum_j min(x_j, x'_j)."""
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        total += min(x, z)
    return total
