"""The sigmoid kernel, of neural networks (Vapnik, 1995). Only in part positive (Lin and Lin, 2003)."""

import math


def sigmoid(product, norm2, other_norm2, scale, coef0):
    """tanh(scale x.x' + coef0)."""
    return math.tanh(scale * product + coef0)
