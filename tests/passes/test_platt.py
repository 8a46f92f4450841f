"""Online Platt scaling against a second program: an extended Kalman filter of matrices, with late labels."""

import numpy as np
import pytest

import omkl
from omkl.passes.platt import Platt
from omkl.passes.said import Said

RNG = np.random.default_rng(8)


def margins_of(scores):
    """Each class's score less the largest of the others'; of two classes the score itself."""
    if scores.shape[1] == 1:
        return scores
    others = np.where(np.eye(scores.shape[1], dtype=bool), -np.inf, scores[:, None, :])
    return scores - others.max(axis=2)


def probabilities_by_hand(scores, labels, delay):
    """Return P (T, C) of rounds whose labels arrive in batches of so many rounds."""
    z, T = margins_of(scores), len(scores)
    binary = z.shape[1] == 1
    mean = np.tile([1.0, 0.0], (z.shape[1], 1))
    covariance = np.tile(10.0 * np.eye(2), (z.shape[1], 1, 1))
    P = np.empty((T, max(2, z.shape[1])))
    known, squares = 0, np.square(z).mean(axis=1)

    def features(t):
        scale = np.sqrt((squares[:known].sum() + squares[t]) / (known + 1)) or 1.0
        return np.stack([z[t] / scale, np.ones(z.shape[1])], axis=1)

    for t in range(T):
        if t % delay == 0:
            while known < t:  # the batch before: each label with what was known before it
                x = features(known)
                for c in range(z.shape[1]):
                    right = float(labels[known] == (1 if binary else c))
                    p, moved = 1 / (1 + np.exp(-mean[c] @ x[c])), covariance[c] @ x[c]
                    r = p * (1 - p)
                    divisor = 1 + r * (x[c] @ moved)
                    mean[c] += moved * (right - p) / divisor
                    covariance[c] = covariance[c] - r * np.outer(moved, moved) / divisor
                known += 1
        one = 1 / (1 + np.exp(-(mean * features(t)).sum(axis=1)))
        P[t] = [1 - one[0], one[0]] if binary else one / one.sum()
    return P


@pytest.mark.parametrize("delay", [1, 7])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_equal_those_by_hand(classes, delay):
    labels = RNG.integers(0, classes, 60)
    scores = RNG.normal(size=(60, 1 if classes == 2 else classes))
    scores += 2.0 * (2 * labels[:, None] - 1 if classes == 2 else np.eye(classes)[labels])
    P = Platt(classes).in_turn(Said(scores, labels), delay)
    np.testing.assert_allclose(P, probabilities_by_hand(scores, labels, delay), rtol=1e-8)


@pytest.mark.parametrize("delay", [1, 5])
def test_a_label_is_not_used_before_it_arrives(delay):
    """The probabilities of a run are those of its scores, made with the labels that have arrived."""
    X = RNG.normal(size=(80, 3))
    y = (X[:, 0] + 0.5 * RNG.normal(size=80) > 0).astype(int)
    how = {"order": "file", "reps": 1, "yardsticks": [], "exec": "serial", "delay": delay}
    rows = omkl.run((X, y), algo="omkc_dd", calibration="platt", **how).rounds()
    expected = probabilities_by_hand(rows["score"].to_numpy()[:, None], y, delay)
    np.testing.assert_allclose(rows[["P 0", "P 1"]].to_numpy(), expected, rtol=1e-6)
