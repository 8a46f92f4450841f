"""Kernels beyond the engine's own, which it calls by address; conf/kernel has their parameters.

Each is a function of the dot product and the squared norms of two vectors, or of their non-zeros: see
called_kernels.py.
"""

import math

from omkl.engine.called_kernels import next_pair


def tanimoto(product, norm2, other_norm2):
    """x.x' / (||x||^2 + ||x'||^2 - x.x'), 1 of two rows that are 0.

    The Tanimoto kernel (Ralaivola et al., 2005): of rows of 0 and 1 that of Jaccard, from the dot product.
    """
    union = norm2 + other_norm2 - product
    return product / union if union > 0.0 else 1.0


def cosine(product, norm2, other_norm2):
    """x.x' / (||x|| ||x'||), 0 where a vector is 0.

    The cosine of the angle between two vectors.
    """
    square = norm2 * other_norm2
    return product / math.sqrt(square) if square > 0.0 else 0.0


def sigmoid(product, norm2, other_norm2, scale, coef0):
    """tanh(scale x.x' + coef0).

    The sigmoid kernel, of neural networks (Vapnik, 1995). Only in part positive (Lin and Lin, 2003).
    """
    return math.tanh(scale * product + coef0)


def locally_periodic(product, norm2, other_norm2, sigma, period, length):
    """exp(-2 sin(pi r / period)^2 / length^2 - r^2 / (2 sigma^2)), r = ||x - x'||.

    A periodic kernel whose periods resemble each other less the farther apart they are (Duvenaud, 2014).
    """
    square = max(norm2 + other_norm2 - 2.0 * product, 0.0)
    sine = math.sin(math.pi / period * math.sqrt(square))
    return math.exp(-2.0 / length**2 * (sine * sine) - square / (2.0 * sigma**2))


def intersection(indices, values, other_indices, other_values):
    """sum_j min(x_j, x'_j).

    The intersection kernel of histograms (Swain and Ballard, 1991).
    """
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        total += min(x, z)
    return total


def jaccard(indices, values, other_indices, other_values):
    """sum_j min(x_j, x'_j) / sum_j max(x_j, x'_j), 1 of two rows that are 0.

    The kernel of Jaccard's index, of counts that of Ruzicka: what two rows share of what both have.
    """
    shared, whole = 0.0, 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        shared += min(x, z)
        whole += max(x, z)
    return shared / whole if whole > 0.0 else 1.0


def chi2(indices, values, other_indices, other_values, gamma):
    """exp(-gamma sum_j (x_j - x'_j)^2 / (x_j + x'_j)).

    The exponential chi^2 kernel of histograms (Zhang et al., 2007).
    """
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        if x + z > 0.0:
            total += (x - z) * (x - z) / (x + z)
    return math.exp(-gamma * total)


def ard(indices, values, other_indices, other_values, sigma, scales):
    """exp(-sum_j ((x_j - x'_j) / scales_j)^2 / (2 sigma^2)).

    The Gaussian with a scale for each feature (automatic relevance determination; Neal, 1996).
    """
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        column, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        u = (x - z) / scales[column]
        total += u * u
    return math.exp(-total / (2.0 * sigma**2))


def periodic_each(indices, values, other_indices, other_values, period, length):
    """exp(-2 sum_j sin(pi (x_j - x'_j) / period)^2 / length^2).

    The periodic kernel of every feature, multiplied (MacKay, 1998): positive semidefinite in any dimension.
    """
    total = 0.0
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        sine = math.sin(math.pi * (x - z) / period)
        total += sine * sine
    return math.exp(-2.0 * total / length**2)


def bounded(indices, values, other_indices, other_values, sigma, length):
    """exp(-sum_j u_j^2 / (1 + u_j^2 / (2 length^2)) / (2 sigma^2)), u = x - x'.

    The Gaussian of differences of which none counts more than 2 length^2 (Geman, McClure, 1987). The product
    over the features of exp(-length^2 (1 - k_j) / sigma^2), k_j = 1 / (1 + u_j^2 / (2 length^2)): a sum of
    kernels of some features each (an additive Gaussian process: Duvenaud, Nickisch, Rasmussen, 2011).
    """
    total, over = 0.0, 0.5 / length**2
    i = j = 0
    while i < indices.size or j < other_indices.size:
        _, x, z, i, j = next_pair(indices, values, other_indices, other_values, i, j)
        square = (x - z) * (x - z)
        if square > 0.0:
            total += 1.0 / (1.0 / square + over)  # also of one that overflows
    return math.exp(-total / (2.0 * sigma**2))


def spectrum(indices, values, other_indices, other_values, k):
    """sum_u n_u n'_u, n_u how often the run u of k letters is in a text.

    The spectrum kernel of texts (Leslie et al., 2002): how many runs of k letters two of them share.

    A text is a row whose column j holds the code of letter j: see docs/kernels.md.
    """
    total, n, other = 0.0, values.size, other_values.size
    for shift in range(1 - n, other):  # letter i stands over letter i + shift
        run = 0
        for i in range(max(0, -shift), min(n, other - shift)):
            run = run + 1 if values[i] == other_values[i + shift] else 0
            if run >= k:
                total += 1.0
    return total
