"""Rules that compare, where both sides are the same number: the papers' ≥ and > decide."""

import math

import numpy as np

from omkl.testing.cases import dataset, one_pass

LINEAR = {"normalise": "none", "kernels": [{"kind": "linear"}]}


def test_bogd_learns_from_a_margin_of_exactly_1():
    data = dataset(np.ones((4, 1)), np.ones(4))  # f(x) = 0, 1, 2, 2
    _, trace = one_pass("bomkc_bogd", data, LINEAR, eta=1.0, lam=0.0)
    assert trace.n_sv_sum.tolist() == [0, 1, 2, 2]


def test_projectronpp_takes_a_step_that_is_just_as_good_as_none():
    """tau (2 loss - tau norm2 - 2 U sqrt(residual)) >= 0, of x = (a, b) beside the stored (1, 0)."""
    U = 0.25 * math.sqrt(11.0 / math.log(11.0))
    equal, b = next(
        (a, b) for b in np.arange(16, 32) / 64 for a in near_equality(b, U) if gain(a, b, U) == 0.0
    )
    below = next(a for a in near_equality(b, U) if gain(a, b, U) < 0.0)
    for a, steps in ((equal, True), (below, False)):
        data = dataset([[1.0, 0.0], [a, b]], [1.0, 1.0])
        learner, _ = one_pass("bomkc_projectronpp", data, LINEAR, budget=10)
        assert (learner.state["B"].A.ravel()[0] > 1.0) == steps


def near_equality(b, U):
    """The numbers around that a whose gain is 0."""
    low, high = 0.1, 0.9
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gain(middle, b, U) > 0.0 else (low, middle)
    return (low * (1.0 + k * 2.0**-53) for k in range(-50, 50))


def gain(a, b, U):
    """What decides, in the order in which the learner computes it."""
    loss, norm2 = 1.0 - a, a * a
    residual = (a * a + b * b) - norm2
    return 2.0 * loss - min(1.0, loss / norm2) * norm2 - 2.0 * U * math.sqrt(residual)
