"""A stack of learners that stand alone: it combines what they say, of classes and of numbers.

What it computes: stack_of_classes.py, stack_of_numbers.py, and error_scale.py. How members pass a stream:
omkl/stacks/stack.py.
"""

import math

import numpy as np

from omkl.engine.api import compiled
from omkl.engine.classes import strongest_rival, winner
from omkl.engine.methods import Features, Stream, Trace
from omkl.engine.running_scale import within_reach
from omkl.stacks.error_scale import TAILS, ErrorScale, distance_from_rows, surprise
from omkl.stacks.stack_of_classes import answers, note_margins, over_rivals, scaled_margins, teach
from omkl.stacks.stack_of_numbers import Corrections, Means


@compiled
def stack(stream, margins, squares, seen, eta, B, blast, own, O, olast, omega, W, trace, learn):
    """Predict with P > 1/2 of the mixture's probability P, then learn the label.

    margins (T, C, k) of the k members, C = 1 for two classes, else their scores of each class; changed to
    those over the strongest other class   squares (k,) sums of squared margins of seen (1,) rounds
    eta (8, k + 1), B, blast the learners: means, covariances, and what these are still to lose
    own (k, 2), O, olast, omega (k,) the members by themselves, and their weights   W (9,) weights of all
    With more than two classes each class is learnt against all others, by the same learners, and the
    probabilities are divided by their sum.
    Deviations: none.
    """
    learners, by_themselves = (eta, B, blast), (own, O, olast)
    C = margins.shape[1]
    P, target = np.zeros(C), np.zeros(C)
    for t in range(stream.T):
        M = margins[t]
        over_rivals(M)
        z = scaled_margins(M, squares, seen[0] * C)
        E = answers(z, learners, by_themselves, omega)
        for c in range(C):
            P[c] = 0.0
            for s in range(W.size):
                P[c] += W[s] * E[c, s]
        _targets(stream.label, stream.y, t, target)
        _record(trace, trace.class_scores, stream.label, stream.y[t], t, P)
        if learn:
            teach(z, E, target, learners, by_themselves, omega, W)
            note_margins(M, squares)
            seen[0] += 1


@compiled
def _targets(label, y, t, target):
    """target (C,) <- 1 for round t's class and -1 for all others; of two classes its label."""
    if label is None:
        target[0] = y[t]
    if label is not None:
        target[:] = -1.0
        target[label[t]] = 1.0


@compiled
def _record(trace, class_scores, label, y, t, P):
    """Note round t, of P - 1/2 for each class."""
    if label is None:
        trace.record(t, P[0], y)
    if label is not None:
        total = P.sum() + 0.5 * P.size
        for c in range(P.size):
            P[c] = (0.5 + P[c]) / total if total > 0.0 else 1.0 / P.size
        rival = strongest_rival(P, label[t])
        margin = P[label[t]] - P[rival]
        trace.record(t, margin, y, predicted=winner(margin, label[t], rival))
        if t < len(class_scores):
            class_scores[t] = P


@compiled
def stack_regression(
    stream: Stream,
    margins,
    F: Features,
    means: Means,
    corrections: Corrections,
    scale: ErrorScale,
    trace: Trace,
    learn,
):
    """Predict a mean of the members' two means and two corrections, and learn how much each says.

    stream: rows scaled online, whose features and random features F the scale of the errors follows
    margins (T, 2, k) of the k members: predictions less the mean of the targets before the round, and the
    logs of their standard deviations, NaN of a member that tells none
    Reports -log p(y_t), the squared standard deviation, and the degrees of freedom of the density of
    error_scale.py, whose state is scale; while all targets are the same, of deviation 1 and 4 degrees, and 0.
    Deviations: none.
    """
    p, g = np.zeros(margins.shape[2]), np.zeros(4)
    x = np.zeros((scale.rho.shape[1] - 4 - F.z.shape[1]) // 2)
    for t in range(stream.T):
        y = stream.y[t]
        center = means.center(y)
        for i in range(p.size):
            p[i] = means.held(center + means.bias[i] + margins[t, 0, i])
        lines, k = means.combine(corrections, p, g, learn)
        f = means.mean(g)
        _fill(stream, t, x)
        U = distance_from_rows(margins[t, 1])
        told, std, tail = scale.predict(U, F.lift(stream, t)[0], x, means.target, learn)
        trace.record(t, f, y)
        trace.further[t, 0] = surprise(y - f, std, tail)
        is_known = scale.levels[4] > 0.0
        trace.further[t, 1], trace.further[t, 2] = std * std if is_known else 0.0, TAILS[tail, 0]
        if not learn:
            continue
        error, y, unit = abs(y - f), within_reach(means.target, y), math.sqrt(means.errors[1])
        corrections.learn(lines, k, (y - g[0]) / unit if unit > 0.0 else 0.0)
        means.learn(p, g, y, f)
        if is_known:
            means.learn_bias(p, y, std)
        if means.target[1] < means.target[2]:
            scale.learn(U, means.target, error, told)


@compiled
def _fill(stream, t, x):
    """x <- the first features of round t's row."""
    start, stop = stream.row(t)
    x[:] = 0.0
    for k in range(start, stop):
        if stream.indices[k] < x.size:
            x[stream.indices[k]] = stream.values[k]
