"""The conventions on which counts depend, in one place (docs/numbers.md says why).

Ties, underflow and sign(0) decide mistakes, so nothing here is written a second time, but for the naive twins
(`omkl.testing.definitions`), which must not use what they check.
"""

import math

import numpy as np

from omkl.engine.jit import compiled

SMALLEST_WEIGHT = np.finfo(np.float64).tiny
# A passive-aggressive step ends at y f = 1 exactly, so that a repeated example has a loss of 0 or of rounding
# noise: losses up to this count as 0.
LEAST_LOSS = 1e-9
LARGEST_COEFFICIENT = 1e100  # its square times that of a kernel value can still be held


@compiled
def vote(f):
    """The class that output f votes for: +1 if f >= 0, else -1."""
    return 1.0 if f >= 0.0 else -1.0


@compiled
def is_mistake(y, score):
    """Whether a score (of one kernel or of the ensemble) errs on label y: one of exactly 0 or NaN does."""
    return not y * score > 0.0


def are_mistakes(y, scores):
    """`is_mistake` of labels (n,) and scores (n,), or of one of each."""
    return np.logical_not(y * scores > 0.0)


def chosen_of_two(scores):
    """The classes (n,) that scores (n,) choose of two: 1 for a score above 0, else 0."""
    return (scores > 0.0).astype(np.int64)


def are_novel(scores):
    """Which of the rows with these scores (n,) are novel: those below 0; NaN is."""
    return np.logical_not(scores >= 0.0)


@compiled
def hinge(y, f):
    """max(0, 1 - y f), and exactly 0 up to LEAST_LOSS."""
    loss = 1.0 - y * f
    return loss if loss > LEAST_LOSS else 0.0


@compiled
def within_range(a):
    """A coefficient kept finite: within +-LARGEST_COEFFICIENT, and 0 where it is no number."""
    if math.isnan(a):
        return 0.0
    return min(max(a, -LARGEST_COEFFICIENT), LARGEST_COEFFICIENT)


@compiled
def normalise(w):
    """Scale the weights (m,) to sum 1, in place; one that underflows stays at the smallest normal number."""
    total = 0.0
    for i in range(w.size):
        total += w[i]
    for i in range(w.size):
        w[i] = max(w[i] / total, SMALLEST_WEIGHT)
