"""The cosine of the angle between two vectors."""

import math


def cosine(product, norm2, other_norm2):
    """x.x' / (||x|| ||x'||), 0 where a vector is 0."""
    square = norm2 * other_norm2
    return product / math.sqrt(square) if square > 0.0 else 0.0
