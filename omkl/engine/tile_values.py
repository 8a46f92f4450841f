"""What the kernel values of a tile begin with: squared distances, and kernels that follow from no other."""

import numpy as np

from omkl.engine.jit import compiled
from omkl.engine.kernels import of_distance, row_values


@compiled
def distances(first, count, norm2, row_norm2, dots, scratch):
    """Squared distances of a tile into scratch.squares; returns the smallest, and a bound of the largest."""
    rows = row_norm2.size
    near = scratch.nearest
    largest_norm2, largest_row = 0.0, 0.0
    for r in range(rows):
        near[r] = np.inf
        largest_row = max(largest_row, row_norm2[r])
    for j in range(count):
        own = norm2[first + j]
        largest_norm2 = max(largest_norm2, own)
        dot, square = dots[j], scratch.squares[j]
        for r in range(rows):
            distance = own + row_norm2[r] - 2.0 * dot[r]
            distance = distance if distance > 0.0 else 0.0
            square[r] = distance
            near[r] = distance if distance < near[r] else near[r]
    nearest = np.inf
    for r in range(rows):
        nearest = min(nearest, near[r])
    return nearest, 2.0 * (largest_norm2 + largest_row)


@compiled
def bases(form, first, picked, norm2, row_norm2, dots, scratch):
    """squares, K <- scale x_j.x_r + coef0; for cosine divided by the roots of its values at x_j and x_r."""
    _, scale, constant, _, cosine = form
    rows = row_norm2.size
    roots = scratch.nearest
    for r in range(rows):
        roots[r] = _inverse_root(scale * row_norm2[r] + constant) if cosine else 1.0
    for q in range(picked):
        j = scratch.chosen[q]
        own = _inverse_root(scale * norm2[first + j] + constant) if cosine else 1.0
        dot, base, k = dots[j], scratch.squares[q], scratch.K[q]
        for r in range(rows):
            b = (scale * dot[r] + constant) * own * roots[r]
            base[r] = b
            k[r] = b


@compiled
def _inverse_root(x):
    return 1.0 / np.sqrt(x) if x > 0.0 else 0.0


@compiled
def first_values(form, first, picked, norm2, row_norm2, dots, scratch, farthest):
    """K of a kernel that follows from no other; of a polynomial its base."""
    if of_distance(form[0]):
        for q in range(picked):
            row_values(form, farthest, scratch.squares[scratch.chosen[q]], row_norm2.size, scratch.K[q])
    else:
        bases(form, first, picked, norm2, row_norm2, dots, scratch)
