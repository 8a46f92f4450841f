"""The kernel of Jaccard's index, of counts that of Ruzicka: what two rows share of what both have."""

from omkl.engine.sparse_rows import next_pair


def jaccard(indices, values, other_indices, other_values):
    """sum_j min(x_j, x'_j) / sum_j max(x_j, x'_j), 1 of two rows that are 0."""
    shared, whole = 0.0, 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        shared += min(x, z)
        whole += max(x, z)
    return shared / whole if whole > 0.0 else 1.0
