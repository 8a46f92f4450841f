"""Instances of a learner on intervals of the rounds, and a vote among them (Shen, Chen, Giannakis 2018).

Rounds are numbered from 1. Intervals of level j are 2^j rounds long and follow one another from round 2^j on,
so that every round lies in one interval of each level up to log2 of its number. At a power of two all of them
begin anew.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def active(number, levels):
    """How many levels have an interval in this round, at most `levels`."""
    count = 0
    while count < levels and number >> count > 0:
        count += 1
    return count


@njit(cache=True)
def begins(number, level):
    """Whether an interval of this level begins with this round."""
    return number % (1 << level) == 0


@njit(cache=True)
def rates(levels, eta0):
    """eta^(I) of every level: min(1/2, eta_0 / sqrt(|I|))."""
    return np.minimum(0.5, eta0 / np.sqrt(2.0 ** np.arange(levels)))


@njit(cache=True)
def vote_of(h, f):
    """sum_j exp(h_j) f_j / sum_j exp(h_j), 0 where all votes are 0.

    h holds the votes' logarithms (that of 0 is -inf), so that none can overflow.
    """
    largest = h.max()
    if largest == -np.inf:
        return 0.0
    total, score = 0.0, 0.0
    for j in range(f.size):
        vote = math.exp(h[j] - largest)
        total += vote
        score += vote * f[j]
    return score / total
