"""A stack of learners that stand alone: it sees nothing of a row but the members' margins.

What it computes: omkl/engine/stack.py. How members pass a stream: omkl/passes/stacked.py.
"""

import numpy as np

from omkl.engine.api import compiled
from omkl.engine.classes import strongest_rival, winner
from omkl.engine.stack import answers, note_margins, over_rivals, scaled_margins, teach


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
