"""Prediction with expert advice: Hedge weights over m classifiers, and sampling by them."""

import math

import numpy as np

from omkl.engine.classes import choose
from omkl.engine.conventions import SMALLEST_WEIGHT, is_mistake, normalise, vote
from omkl.engine.jit import compiled
from omkl.engine.lanes import largest_of

_LARGEST_LOSS = 1e300
# Share of the weights up to which a difference of votes is rounding. A weight is multiplied and divided once
# in each round: equal ones were seen to differ by 7e-13 after a million rounds, and 4e-12 after three.
_BALANCED = 1e-11


@compiled
def weighted_vote(w, f, c):
    """sum_i w_i vote(f_i) of the classifiers with c (m,) true, and exactly 0 where the votes tie."""
    score, size = 0.0, 0.0
    for i in range(f.size):
        if c[i]:
            score += w[i] * vote(f[i])
            size += w[i]
    return score if abs(score) > _BALANCED * size else _from_the_heaviest(c, w, f)


@compiled
def weighted_output(w, f):
    """sum_i w_i f_i in the order of the kernels."""
    score = 0.0
    for i in range(f.size):
        score += w[i] * f[i]
    return score


@compiled
def mean_vote(f):
    """(1/m) sum_i vote(f_i), counted in whole votes: an even split is exactly 0 for every m."""
    score = 0.0
    for i in range(f.size):
        score += vote(f[i])
    return score / f.size


@compiled
def _from_the_heaviest(c, w, f):
    """That sum from the largest weight to the smallest, taken for 0 each time that it is rounding.

    So rounding neither makes a winner of a tie nor hides the lighter votes that decide behind one: the sign
    is that of exact arithmetic.
    """
    score, size, i = 0.0, 0.0, -1
    for _ in range(w.size):
        i = _next_heaviest(w, i)
        if c[i]:
            score += w[i] * vote(f[i])
            size += w[i]
            if abs(score) <= _BALANCED * size:
                score, size = 0.0, 0.0
    return score


@compiled
def _next_heaviest(w, last):
    """The classifier that follows this one by weight, among equals by number; the first one for -1."""
    following = -1
    for i in range(w.size):
        follows = last < 0 or w[i] < w[last] or (w[i] == w[last] and i > last)
        if follows and (following < 0 or w[i] > w[following]):
            following = i
    return following


@compiled
def class_vote(classes, w, c):
    """The margin of the class scores sum_i w_i [vote_i = k] over the classifiers with c (m,) true."""
    count_votes(classes, w, c)
    label, rival = classes.label[0], -1
    for k in range(classes.total.size):
        if k != label and (rival < 0 or _lead(classes, c, w, k, rival) > 0.0):
            rival = k
    margin = _lead(classes, c, w, label, rival)
    choose(classes, margin, rival)
    return margin


@compiled
def count_votes(classes, w, c):
    """total_k <- sum_i w_i [vote_i = k] over the classifiers with c (m,) true."""
    classes.total[:] = 0.0
    for i in range(w.size):
        if c[i]:
            classes.total[classes.vote[i]] += w[i]


@compiled
def _lead(classes, c, w, one, other):
    """The votes of one class less those of another, exactly 0 where they tie."""
    total, vote = classes.total, classes.vote
    lead = total[one] - total[other]
    if abs(lead) > _BALANCED * (total[one] + total[other]) or total[one] + total[other] == 0.0:
        return lead
    return _from_the_heaviest(c & ((vote == one) | (vote == other)), w, np.where(vote == one, 1.0, -1.0))


@compiled
def mistakes(y, f):
    """z (m,): which of the outputs f (m,) err on label y."""
    z = np.empty(f.size, np.bool_)
    for i in range(f.size):
        z[i] = is_mistake(y, f[i])
    return z


@compiled
def discount(w, beta, z):
    """Hedge: w_i <- w_i beta where z_i is true, then the weights sum to 1 again."""
    for i in range(w.size):
        if z[i]:
            w[i] = max(w[i] * beta, SMALLEST_WEIGHT)
    normalise(w)


@compiled
def discount_by(w, beta, loss):
    """Hedge with losses (m,) of any sign: w_i <- w_i beta**loss_i, then the weights sum to 1 again.

    The least loss is taken off them all first, which normalising undoes: a large gain cannot overflow. The
    loss of an output that is no number counts as the largest there is.
    """
    least = _LARGEST_LOSS
    for i in range(w.size):
        least = min(least, _limited(loss[i]))
    for i in range(w.size):
        w[i] = max(w[i] * math.pow(beta, _limited(loss[i]) - least), SMALLEST_WEIGHT)
    normalise(w)


@compiled
def _limited(loss):
    if not loss <= _LARGEST_LOSS:
        return _LARGEST_LOSS
    return max(loss, -_LARGEST_LOSS)


@compiled
def sampling_share(w, sampling):
    """q (m,): w_i / max_j w_j, or w_i / sum_j w_j, which is w_i."""
    return w / largest_of(w) if sampling == "max" else w / 1.0


@compiled
def smoothed(q, delta, floor):
    """p (m,): (1 - delta) q_i + delta / m, or + delta."""
    return (1.0 - delta) * q + (delta / q.size if floor == "delta/m" else delta)


@compiled
def bernoulli(rng, p):
    """Independent draws, one per kernel in order: true with probability p_i."""
    c = np.empty(p.size, np.bool_)
    for i in range(p.size):
        c[i] = rng.random() < p[i]
    return c


@compiled
def multinomial(rng, p):
    """One kernel i with probability p_i, by one draw: the first whose cumulated probability exceeds it."""
    u, cumulated = rng.random(), 0.0
    for i in range(p.size):
        cumulated += p[i]
        if u < cumulated:
            return i
    return p.size - 1
