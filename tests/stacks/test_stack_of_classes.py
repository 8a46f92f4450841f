"""The stack on members' margins: what it sees of them, and that it beats what a mixture of them can."""

import numpy as np
import pytest
from scipy.stats import norm
from support.engine_cases import dataset

from omkl.algorithms import function
from omkl.config import learner_spec
from omkl.engine.stream import make_stream
from omkl.stacks.new_learner import new_learner

answers, note_margins, over_rivals, scaled_margins, teach = map(
    function("stack").py_func.__globals__.get,
    ("answers", "note_margins", "over_rivals", "scaled_margins", "teach"),
)
S = 8  # learners


def fresh(k):
    """What a stack of k members begins with: learners, members by themselves, both weights."""
    learners = np.zeros((S, k + 1)), np.tile(np.eye(k + 1), (S, 1, 1)), np.zeros((S, k + 1))
    own = np.zeros((k, 2)), np.tile(np.eye(2), (k, 1, 1)), np.zeros((k, 2))
    return learners, own, np.full(k, 1 / k), np.full(S + 1, 1 / (S + 1))


def stacked(margins, y):
    """P - 1/2 in each round, of the stack and of the members' mixture; margins (T, k), y (T,)."""
    learners, own, w, W = fresh(margins.shape[1])
    squares, made = np.zeros(margins.shape[1]), np.empty((len(y), 2))
    for t, label in enumerate(y):
        M = margins[t : t + 1].copy()
        z = scaled_margins(M, squares, t)
        E = answers(z, learners, own, w)
        made[t] = E[0] @ W, E[0, S]
        teach(z, E, np.array([label]), learners, own, w, W)
        note_margins(M, squares)
    return made


def test_margins_of_more_classes_are_over_the_strongest_other_class():
    M = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, -1.0]])
    over_rivals(M)
    np.testing.assert_array_equal(M, [[-2.0, 0.0], [1.0, 0.0], [-1.0, -1.0]])
    two = np.array([[0.3, -0.4]])
    over_rivals(two)
    np.testing.assert_array_equal(two, [[0.3, -0.4]])


def test_margins_are_over_the_root_mean_square_of_the_earlier_ones_and_rounding_is_0():
    squares = np.array([0.0, 8.0, 8.0, 8.0])
    z = scaled_margins(np.array([[0.5, 1.0, 100.0, -1e-13]]), squares, 2)
    np.testing.assert_array_equal(z, [[0.5, 0.5, 5.0, 0.0]])
    denormal = np.array([1e-323, 0.0, 0.0, 0.0])  # whose mean is 0
    assert scaled_margins(np.array([[0.5, 0.0, 0.0, 0.0]]), denormal, 6)[0, 0] == 0.5


def test_members_that_know_nothing_leave_it_exactly_undecided():
    learners, own, w, _ = fresh(3)
    assert (answers(np.zeros((1, 3)), learners, own, w) == 0.0).all()


def test_a_label_that_every_answer_excluded_leaves_weights():
    learners, own, w, W = fresh(2)
    certain = np.full((1, S + 1), 0.5)  # as where erf rounds to 1
    teach(np.full((1, 2), 5.0), certain, np.array([-1.0]), learners, own, w, W)
    np.testing.assert_allclose(W, 1 / (S + 1))


def test_it_beats_every_member_and_their_mixture():
    """Each member knows one of two terms that add up: neither of them, nor any mean of answers, is right."""
    rng = np.random.default_rng(0)
    margins = rng.normal(size=(4000, 2))
    y = np.where(margins[:, 0] - 0.5 * margins[:, 1] > 0, 1.0, -1.0)
    P = stacked(margins, y)[1000:]
    wrong, mixture = ((own * y[1000:] <= 0).mean() for own in P.T)
    members = [(side * margins[1000:, i] * y[1000:] <= 0).mean() for i, side in ((0, 1), (1, -1))]
    assert wrong < 0.02
    assert wrong < 0.2 * min(mixture, *members)


def test_it_follows_members_whose_worth_changes():
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], 4000)
    good, bad = y + rng.normal(size=4000), rng.normal(size=4000)
    now = np.arange(4000) < 2000
    margins = np.stack([np.where(now, good, bad), np.where(now, bad, good)], axis=1)
    P = stacked(margins, y)[:, 0]
    assert ((P * y <= 0)[2200:].mean()) < 1.1 * norm.cdf(-1)  # what the good one errs


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_auto_are_calibrated(classes):
    """Of labels drawn with known probabilities, the log loss comes near their entropy."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3))
    f = np.stack([2.0 * X[:, 0], X[:, 1] * X[:, 2], -X[:, 0]], axis=1)[:, :classes]
    known = np.exp(f) / np.exp(f).sum(1, keepdims=True)
    labels = (rng.random((1500, 1)) > known.cumsum(1)).sum(1)
    y = labels.astype(float) if classes > 2 else 2.0 * labels - 1.0
    rows = dataset(X, y)
    stream = make_stream(rows.indptr, rows.indices, rows.values, y, np.arange(1500), classes)
    trace, _ = new_learner(learner_spec("auto"), {}, None, 3, 1, classes=classes).run(stream)
    two = classes == 2
    at_label = 0.5 + trace.score * y if two else trace.class_scores[np.arange(1500), labels]
    loss = -np.log(at_label[500:]).mean()
    entropy = -(known * np.log(known)).sum(1)[500:].mean()
    assert entropy - 0.05 < loss < entropy + 0.1
