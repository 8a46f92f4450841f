"""AdaRaker and AdaMKL: instances of a multi-kernel learner on intervals of growing length.

Shen, Chen, Giannakis (2018), Algorithm 2. Rounds are numbered from 1. Intervals of level j are 2^j rounds
long and follow one another from round 2^j on, so that every round lies in one interval of each level up to
log2 of its number. At a power of two all of them begin again.
Throughout: m kernels; n levels that are active in the round; W (levels, m) Hedge weights of every instance,
each row of sum 1; h (levels,) the logarithms of the instances' votes; number (1,) rounds learnt so far;
eta0 > 0, eta^(I) = min(1/2, eta0 / sqrt(|I|)); lam >= 0 regularisation.
Deviations: with (24) as printed, equation (23) raises the votes of the instances that do worse; the sign is
put right, h <- h + eta^(I) (l(f) - l(f^(I))), as the proof needs it and the authors' code has it. As printed,
an instance has no vote in its first round and eta^(I) after it; where no instance has one (all predict 0),
the prediction is 0. eta0 is not printed: 10 is about the best of 0.1 to 20 over their four streams.
"""

import math

import numpy as np

from omkl.engine.api import (
    compiled,
    discount_by,
    gradient_step,
    linear_outputs,
    loss_of,
    losses,
    slopes,
    weighted_output,
)
from omkl.engine.methods import Expansion, Features, Stream, Trace


@compiled
def _active(number, levels):
    """How many levels have an interval in this round, at most `levels`."""
    count = 0
    while count < levels and number >> count > 0:
        count += 1
    return count


@compiled
def _begins(number, level):
    """Whether an interval of this level begins with this round."""
    return number % (1 << level) == 0


@compiled
def _rates(levels, eta0):
    """eta^(I) of every level: min(1/2, eta_0 / sqrt(|I|))."""
    return np.minimum(0.5, eta0 / np.sqrt(2.0 ** np.arange(levels)))


@compiled
def _vote_of(h, f):
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


@compiled
def adaraker(stream: Stream, F: Features, theta, W, h, number, trace: Trace, learn, eta0, lam, loss, kept):
    """AdaRaker: Algorithm 2 of Shen et al. (2018), a Raker on each interval, which begins with theta = 0.

    theta (levels, m, 2D) parameters   z (m, 2D) features of x_t
    kept: an instance goes on from one interval of its level to the next, as in the authors' code: theta and W
    stay where an interval begins; only the vote is eta^(I), in that round too
    """
    levels, m = W.shape
    rate = _rates(levels, eta0)
    out, f = np.zeros((levels, m)), np.zeros(levels)
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        n = _active(number[0] + 1, levels)
        votes = h[:n].copy()
        for j in range(n):
            out[j] = linear_outputs(theta[j], z)
            if _begins(number[0] + 1, j):
                _begin(votes, out, j, rate[j], kept)
            f[j] = weighted_output(W[j], out[j])
        score = _vote_of(votes, f[:n])
        trace.record(t, score, y)
        if not learn:
            continue
        number[0] += 1
        for j in range(n):
            if _begins(number[0], j) and not kept:
                theta[j], W[j], votes[j] = 0.0, 1.0 / m, math.log(rate[j])
            else:
                votes[j] += rate[j] * (loss_of(loss, y, score) - loss_of(loss, y, f[j]))
            discount_by(W[j], math.exp(-rate[j]), losses(loss, y, out[j]))
            gradient_step(theta[j], z, rate[j], lam, slopes(loss, y, out[j]))
        h[:n] = votes


@compiled
def _begin(votes, out, j, rate, kept):
    """Begin an interval of level j: a fresh one predicts 0 and has no vote yet."""
    if kept:
        votes[j] = math.log(rate)
    else:
        out[j], votes[j] = 0.0, -np.inf


@compiled
def adaraker_authors(
    stream: Stream, F: Features, theta, W, h, number, T, trace: Trace, learn, eta, lam, loss
):
    """AdaRaker as the authors' code runs it, T rounds in all: on squared losses, or on classes (logistic).

    Levels k = 1 .. n, n = floor(log2(t - 1)) + 1, with votes of eta_k and steps `_step`; their parameters and
    kernel weights never start again, only a vote is set to eta_k where (t - 1) mod 2^(k-1) is 0. h holds the
    votes themselves, of sum 1 over all floor(log2 T) + 1 levels, of which the inactive ones predict 0. Kernel
    weights W, discounted by eta, are not held at sum 1. An output, of a kernel or a level, is judged by its
    `_errors`.
    Deviations: the authors' code prints 1 as the error of round 1, whatever it predicts, which adds nearly
    1 / T to the mean squared error. Here it is (y - f)^2, f = 0. On classes a score of 0 is a mistake.
    """
    created = _active(T[0], W.shape[0])
    out, f = np.zeros(W.shape), np.zeros(created)
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        n = min(max(_active(number[0], created), 1), created)
        votes = h[:created].copy()
        for j in range(n):
            if _begins(number[0], j):
                votes[j] = _rate(j, loss)
            out[j] = linear_outputs(theta[j], z)
            f[j] = weighted_output(W[j], out[j]) / W[j].sum()
        trace.record(t, weighted_output(votes, f) / votes.sum(), y)
        if not learn:
            continue
        number[0] += 1
        for j in range(n):
            errors = _errors(loss, y, out[j])
            if loss == "squared":
                W[j] = W[j] * eta ** _rescaled(errors, 1e-12) + 1e-12
                if W[j].max() > 1e10:
                    W[j] /= W[j].sum()
            else:
                W[j] = W[j] / W[j].sum() * eta**errors + 1e-4
            gradient_step(theta[j], z, _step(j, loss), lam, slopes(loss, y, out[j]))
        judged = _rescaled(_errors(loss, y, f[:n]), 1e-10)
        votes[:n] = votes[:n] * _rate(n - 1, loss) ** judged + 1e-10
        h[:created] = votes / votes.sum()


@compiled
def _rate(j, loss):
    """eta_k of level k = j + 1: min(1/2, 1 / sqrt(2^k)) on classes, a tenth of it on squared losses."""
    c = 0.1 if loss == "squared" else 1.0
    return min(0.5 * c, c / math.sqrt(2.0 ** (j + 1)))


@compiled
def _step(j, loss):
    """The step size of that level: eta_k on classes, eta_k / 10 on squared losses."""
    eta = _rate(j, loss)
    return eta / 10.0 if loss == "squared" else eta


@compiled
def _errors(loss, y, f):
    """(y - f)^2, or 1 where the output is of the wrong sign: one of 0 is not."""
    if loss == "squared":
        return np.square(y - f)
    return 1.0 * (y * f < 0.0)


@compiled
def _rescaled(errors, least):
    """Errors rescaled to [-1, 1]; 1 where they are all the same."""
    middle, half = (errors.max() + errors.min()) / 2.0, (errors.max() - errors.min()) / 2.0
    return (errors - middle + least) / (half + least)


@compiled
def adamkl(stream: Stream, E: Expansion, scale, W, h, number, trace: Trace, learn, eta0, lam, loss, kept):
    """AdaMKL: AdaRaker's ensemble over instances of OMKR, for comparison (Shen et al. 2018, section 4).

    E holds every kernel `levels` times, its values computed once; f_ji = scale_ji E_(j m + i)
    kept: as of ``adaraker``
    Deviations: the paper defines it nowhere. Here its instances are those of AdaRaker with functions in the
    kernels' spaces in place of random features, each storing every example of its interval, or, where it is
    kept, every example.
    """
    levels, m = W.shape
    rate = _rates(levels, eta0)
    out, f = np.zeros((levels, m)), np.zeros(levels)
    for t in range(stream.T):
        y = stream.y[t]
        n = _active(number[0] + 1, levels)
        out[:] = (scale * E.outputs(stream, t)).reshape(levels, m)
        votes = h[:n].copy()
        for j in range(n):
            if _begins(number[0] + 1, j):
                _begin(votes, out, j, rate[j], kept)
            f[j] = weighted_output(W[j], out[j])
        score = _vote_of(votes, f[:n])
        trace.record(t, score, y, E)
        if not learn:
            continue
        number[0] += 1
        if _begins(number[0], n - 1) and not kept:
            E.forget_all()
        a = np.zeros((levels, m))
        for j in range(n):
            if _begins(number[0], j) and not kept:
                for i in range(m):
                    E.forget(j * m + i, 1 << j)
                scale[j * m : j * m + m], W[j], votes[j] = 1.0, 1.0 / m, math.log(rate[j])
            else:
                votes[j] += rate[j] * (loss_of(loss, y, score) - loss_of(loss, y, f[j]))
            discount_by(W[j], math.exp(-rate[j]), losses(loss, y, out[j]))
            E.shrink(scale, 1.0 - rate[j] * lam, j * m, j * m + m)
            a[j] = -rate[j] * slopes(loss, y, out[j]) / scale[j * m : j * m + m]
        E.add(stream, t, a.ravel())
        h[:n] = votes
