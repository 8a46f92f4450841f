"""Kernel-free yardsticks: those without a model of the features."""

from omkl.engine.api import compiled
from omkl.engine.classes import strongest_rival, winner
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


# What is learnt has a first side of classes, 1 for two of them: where stream.label is None. With more, the
# round's class and its strongest rival take the parts of the two signs.
@compiled
def class_of(stream, t):
    """Round t's class, 0 of two."""
    return 0 if stream.label is None else stream.label[t]


@compiled
def lead_of(stream, t, scores):
    """The score of round t's class less its strongest rival's, of scores (C, 1), and the rival, -1 of two."""
    if stream.label is None:
        return scores[0, 0], -1
    label = stream.label[t]
    rival = strongest_rival(scores[:, 0], label)
    return scores[label, 0] - scores[rival, 0], rival


@compiled
def note_class_scores(trace, t, scores):
    if trace.class_scores is not None and t < len(trace.class_scores):
        for c in range(len(scores)):
            trace.class_scores[t, c] = scores[c, 0]


@compiled
def winner_of(stream, t, margin, rival):
    return -1 if stream.label is None else winner(margin, stream.label[t], rival)


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
