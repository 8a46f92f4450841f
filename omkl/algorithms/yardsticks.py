"""Kernel-free yardsticks: those without a model of the features."""

from omkl.engine.api import compiled
from omkl.engine.classes import class_of, lead_of, note_class_scores, winner_of
from omkl.engine.methods import Stream, Trace


@compiled
def majority(stream: Stream, balance, trace: Trace, learn):
    """Predict the class seen more often so far; a draw is a mistake.

    balance (1, 1) sum of the labels so far; with more than two classes (C, 1), how often each was seen
    """
    for t in range(stream.T):
        y = stream.y[t]
        score, rival = lead_of(stream, t, balance)
        note_class_scores(trace, t, balance)
        trace.record(t, score, y, predicted=winner_of(stream, t, score, rival))
        if learn:
            balance[class_of(stream, t), 0] += y


@compiled
def running_mean(stream: Stream, total, trace: Trace, learn):
    """Predict the mean of the targets so far, 0 at the start.

    total (2,) their sum and their number
    """
    for t in range(stream.T):
        y = stream.y[t]
        trace.record(t, total[0] / max(total[1], 1.0), y)
        if learn:
            total[0] += y
            total[1] += 1.0


@compiled
def last_value(stream: Stream, last, trace: Trace, learn):
    """Predict the target of the round before (persistence), 0 at the start.

    last (1,) that target
    """
    for t in range(stream.T):
        y = stream.y[t]
        trace.record(t, last[0], y)
        if learn:
            last[0] = y


@compiled
def last_label(stream: Stream, last, trace: Trace, learn):
    """Predict the label of the round before (no change); the first round is a mistake.

    last (1, 1) that label, 0 at the start; with more than two classes (C, 1), 1 for that class
    """
    for t in range(stream.T):
        y = stream.y[t]
        score, rival = lead_of(stream, t, last)
        note_class_scores(trace, t, last)
        trace.record(t, score, y, predicted=winner_of(stream, t, score, rival))
        if learn:
            last[:] = 0.0
            last[class_of(stream, t), 0] = y
