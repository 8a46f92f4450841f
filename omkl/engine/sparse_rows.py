"""Two sparse rows side by side: what a kernel of features one by one is written with."""

from omkl.engine.jit import compiled_without_refcounts


@compiled_without_refcounts
def next_pair(indices, values, other_indices, other_values, i, j):
    """The next column that one of two rows has: (column, value, other value, i, j), with the places after it.

    i, j: the places in the rows so far, from 0. A row without the column has the value 0 there. There must be
    a next one: ``while i < indices.size or j < other_indices.size``.
    """
    if j == other_indices.size or (i < indices.size and indices[i] < other_indices[j]):
        return indices[i], values[i], 0.0, i + 1, j
    if i == indices.size or other_indices[j] < indices[i]:
        return other_indices[j], 0.0, other_values[j], i, j + 1
    return indices[i], values[i], other_values[j], i + 1, j + 1
