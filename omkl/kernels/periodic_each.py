"""The periodic kernel of every feature, multiplied (MacKay, 1998): positive semidefinite in any dimension."""

import math

from omkl.engine.sparse_rows import next_pair


def periodic_each(indices, values, other_indices, other_values, period, length):
    """exp(-2 sum_j sin(pi (x_j - x'_j) / period)^2 / length^2)."""
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        sine = math.sin(math.pi * (x - z) / period)
        total += sine * sine
    return math.exp(-2.0 * total / length**2)
