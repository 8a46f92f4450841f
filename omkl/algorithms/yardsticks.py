"""Kernel-free yardsticks, shown in every table; the linear perceptron is in perceptron.py."""

import numpy as np

from omkl.engine.classes import strongest_rival, winner
from omkl.engine.verbs import compiled


@compiled
def majority(stream, balance, trace, learn):
    """Predict the class seen more often so far; a draw is a mistake.

    balance (1, 1) sum of the labels so far; with more than two classes (C, 1), how often each was seen
    """
    for t in range(stream.T):
        y = stream.y[t]
        score, rival = _lead(stream.label, t, balance)
        _note_scores(trace.class_scores, t, balance)
        trace.record(t, score, y, predicted=_winner(stream.label, t, score, rival))
        if learn:
            _of(stream.label, t, balance)[0] += y


# What is learnt has a first side of classes, 1 for two of them: where label (T,) is None. With more, the
# round's class and its strongest rival take the parts of the two signs.


@compiled
def _of(label, t, values):
    """The array of round t's class."""
    if label is None:
        return values[0]
    return values[label[t]]


@compiled
def _lead(label, t, scores):
    """The score of round t's class less its strongest rival's, of scores (C, 1), and that rival."""
    if label is None:
        return scores[0, 0], 0
    rival = strongest_rival(scores[:, 0], label[t])
    return scores[label[t], 0] - scores[rival, 0], rival


@compiled
def _note_scores(own, t, scores):
    if own is not None and t < len(own):
        for c in range(len(scores)):
            own[t, c] = scores[c, 0]


@compiled
def _winner(label, t, margin, rival):
    if label is None:
        return -1
    return winner(margin, label[t], rival)


@compiled
def running_mean(stream, total, trace, learn):
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
def last_value(stream, last, trace, learn):
    """Predict the target of the round before (persistence), 0 at the start.

    last (1,) that target
    """
    for t in range(stream.T):
        y = stream.y[t]
        trace.record(t, last[0], y)
        if learn:
            last[0] = y


@compiled
def last_label(stream, last, trace, learn):
    """Predict the label of the round before (no change); the first round is a mistake.

    last (1, 1) that label, 0 at the start; with more than two classes (C, 1), 1 for that class
    """
    for t in range(stream.T):
        y = stream.y[t]
        score, rival = _lead(stream.label, t, last)
        _note_scores(trace.class_scores, t, last)
        trace.record(t, score, y, predicted=_winner(stream.label, t, score, rival))
        if learn:
            last[:] = 0.0
            _of(stream.label, t, last)[0] = y


@compiled
def arow(stream, mu, sigma, trace, learn, r):
    """AROW: adaptive regularisation of weights (Crammer, Kulesza, Dredze 2009, Figure 1), linear.

    mu (1, d) mean weights    sigma (1, d) their variances    r > 0 regularisation
    v confidence x' Sigma x    alpha, b step sizes (beta in the paper)
    With more than two classes mu and sigma (C, d): the margin is over the strongest rival alone, v is of both
    classes, and both are updated (top-1, as in Crammer, Dredze, Kulesza, "Multi-class confidence weighted
    algorithms", 2009).
    Deviations: Sigma is kept diagonal, as the paper does for text: the diagonal of its update.
    """
    for t in range(stream.T):
        y = stream.y[t]
        start, stop = stream.row(t)
        x, columns = stream.values[start:stop], stream.indices[start:stop]
        margin, rival = _margin(trace, stream.label, t, mu, x, columns)
        trace.record(t, margin, y, predicted=_winner(stream.label, t, margin, rival))
        if not learn or y * margin >= 1.0:
            continue
        own, other = _of(stream.label, t, sigma), sigma[rival]
        v = _confidence(own, x, columns)
        if stream.label is not None:
            v += _confidence(other, x, columns)
        b = 1.0 / (v + r)
        alpha = (1.0 - y * margin) * b
        _update(_of(stream.label, t, mu), own, x, columns, alpha, y, b)
        if stream.label is not None:
            _update(mu[rival], other, x, columns, alpha, -y, b)


@compiled
def _margin(trace, label, t, mu, x, columns):
    """mu.x, or the margin of round t's class and its strongest rival."""
    scores = np.empty((len(mu), 1))
    for c in range(len(mu)):
        scores[c, 0] = _product(mu[c], x, columns)
    _note_scores(trace.class_scores, t, scores)
    return _lead(label, t, scores)


@compiled
def _product(mu, x, columns):
    total = 0.0
    for k in range(x.size):
        total += mu[columns[k]] * x[k]
    return total


@compiled
def _confidence(sigma, x, columns):
    total = 0.0
    for k in range(x.size):
        total += sigma[columns[k]] * x[k] * x[k]
    return total


@compiled
def _update(mu, sigma, x, columns, alpha, y, b):
    for k in range(x.size):
        j = columns[k]
        mu[j] += alpha * sigma[j] * y * x[k]
        sigma[j] -= b * np.square(sigma[j] * x[k])
