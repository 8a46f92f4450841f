"""Ties of the weighted vote are mistakes, in every learner that votes by weights: rounding decides none."""

import numpy as np
import pytest
from reference import TWINS
from support.engine_cases import csr_of, dataset, one_pass

from omkl import seeds
from omkl.config import learner_names, learner_spec
from omkl.engine import experts
from omkl.engine.experts import discount, discount_by
from omkl.engine.stream import make_stream
from omkl.passes import Learner

# Its coefficients are ridge solutions: what cancels in exact arithmetic is rounding of them.
FOLDING = ("bomkc_ahpatron",)
VOTING = [
    *(
        (name, {})
        for name in learner_names()
        if name.startswith(("omkc_", "omklp_")) and name not in ("omkc_u", "omkc_fpl", "omklp_sua")
    ),
    *(
        (name, {"budget": 6})  # trackers, which are for regression too, do not vote
        for name in learner_names()
        if learner_spec(name).budget and name not in FOLDING and "regression" not in learner_spec(name).tasks
    ),
    ("omklp_sua", {"beta": 0.5, "delta": 0.5}),
    ("omklp_mua", {"delta": 0.5}),
    ("omkc_ds", {"sampling": "sum"}),
    ("bomkc_fogd", {"D": 4}),
    ("bomkc_spa", {"predict": "votes", "beta": 1.0, "eta": 1.0}),
    ("bomkc_spa", {"predict": "votes", "beta": 1.0, "eta": 1.0, "discount": "zero_one"}),
]


def weighted_vote(w, f, c=None):
    """The vote of the classifiers with c (m,) true, by default of all."""
    return experts.weighted_vote(w, f, np.ones(f.size, np.bool_) if c is None else c)


def hedged(errors, beta, rng):
    """Weights (m,) of kernels that made these many mistakes (m,), each in rounds of its own."""
    w, left = np.full(len(errors), 1 / len(errors)), np.array(errors)
    while left.any():
        z = (left > 0) & (rng.random(left.size) < 0.5)
        left = left - z
        discount(w, beta, z)
    return w


def in_order(w, f):
    """The sum as it is read: from the first kernel to the last."""
    return sum((w * f).tolist())


def test_a_small_lead_decides_and_rounding_does_not():
    f = np.array([-1.0, 1.0])
    assert weighted_vote(np.array([0.5 + 1e-10, 0.5]), f) < 0
    assert weighted_vote(np.array([0.5 + 1e-12, 0.5]), f) == 0.0  # as rounding makes of equal ones


@pytest.mark.parametrize("m", [4, 10, 16])
def test_an_even_split_of_equal_weights_is_zero(m):
    rng, rounding = np.random.default_rng(0), 0
    for _ in range(50):
        w, f = hedged([7] * m, 0.8, rng), rng.permutation(np.repeat([1.0, -1.0], m // 2))
        rounding += in_order(w, f) != 0
        assert weighted_vote(w, f) == 0.0
        assert weighted_vote(w, f, np.ones(m, np.bool_)) == 0.0
        c = np.zeros(m, np.bool_)
        c[[np.flatnonzero(f > 0)[0], np.flatnonzero(f < 0)[0]]] = True
        assert weighted_vote(w, f, c) == 0.0
        c[np.flatnonzero(~c)[0]] = True
        assert weighted_vote(w, f, c) * f[c].sum() > 0
    assert rounding > 25


def test_weights_that_differ_may_tie():
    # 4 = 5 x 0.8: four kernels without a mistake against five with one
    rng = np.random.default_rng(0)
    for _ in range(50):
        order = rng.permutation(9)
        errors, f = np.repeat([3, 4], [4, 5])[order], np.repeat([1.0, -1.0], [4, 5])[order]
        assert weighted_vote(hedged(errors, 0.8, rng), f) == 0.0


@pytest.mark.parametrize("light", [60, 200, 1000])
def test_the_lighter_kernels_decide_behind_a_tie(light):
    """Of weights 1, 1, 1, 1 and 0.8^60 = 2e-6, 0.8^200 = 4e-20 or 0.8^1000 = 1e-97."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        order = rng.permutation(5)
        errors = np.array([5, 5, 5, 5, 5 + light])[order]
        for vote in (1.0, -1.0):
            f = np.array([1.0, 1.0, -1.0, -1.0, vote])[order]
            assert vote * weighted_vote(hedged(errors, 0.8, rng), f) > 0


def test_empty_combinations_score_zero():
    assert weighted_vote(np.full(3, 1 / 3), np.ones(3), np.zeros(3, np.bool_)) == 0.0


def crowd(n):
    """n linear kernels and n squares in turn: on one feature they differ for x < 0 alone, n against n."""
    kinds = [{"kind": "linear"}, {"kind": "polynomial", "degree": 2, "scale": 1.0, "coef0": 0.0}]
    return {"normalise": "none", "kernels": kinds * n}


def few(seed, T=150):
    """Whole numbers on one feature, T of them, with random labels."""
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, (T, 1)).astype(float), rng.choice([-1.0, 1.0], T)


SIX = [{"kind": "gaussian", "sigma": s} for s in (0.1, 0.2, 0.4, 1.0, 2.0, 4.0)]


def named(value):
    return value if isinstance(value, str) else "-".join(map(str, value.values()))


@pytest.mark.parametrize(("name", "over"), VOTING, ids=named)
def test_ties_are_mistakes_as_in_exact_arithmetic(name, over):
    spec, ties = learner_spec(name), 0
    for at, n in enumerate((3, 5, 3, 5, 7, 9)):
        X, y = few(at)
        given = crowd(n)
        if spec.usual_pool:
            given, X = {"normalise": "none", "kernels": SIX}, X + np.linspace(0.0, 0.4, len(y))[:, None]
        hyper, seed = {**spec.defaults, **over}, seeds.learner_seed(at, name)
        learner = Learner(spec, hyper, given, 1, seed)
        trace, _ = learner.run(make_stream(*csr_of(X), y, np.arange(len(y))))
        normal = "pool_normalise" if "normalise" in hyper else "normalise"
        twin = TWINS[name](
            X, y, given["kernels"], **hyper, **{normal: "none"}, rng=np.random.default_rng(seed)
        )
        np.testing.assert_array_equal(np.flatnonzero(trace.mistake != twin.mistakes), [])
        np.testing.assert_array_equal(trace.score == 0, twin.scores == 0)
        np.testing.assert_allclose(learner.weights, twin.weights, rtol=1e-9)
        ties += (twin.scores == 0).sum()
    assert ties > 0


# -------------------------------------------------------------------- weights that would underflow

HEDGE = [
    *("omkc_dd", "omkc_ddpa", "omkc_ds", "omklp_da1", "bomkc_rbp", "bomkc_forgetron", "bomkc_bogd"),
    *("bomkc_bpas", "bomkc_projectron", "bomkc_projectronpp", "bomkc_ahpatron"),
]
TINY = np.finfo(float).tiny


@pytest.mark.parametrize("name", HEDGE)
def test_a_kernel_whose_weight_would_have_underflowed_can_win_it_back(name):
    """First the narrow Gaussian knows both rows, and one slope cannot; then no row is near another."""
    half = 800
    x = np.concatenate([np.tile([1.0, 2.0], half // 2), 100.0 * np.arange(1, half + 1)])
    y = np.concatenate([np.tile([1.0, -1.0], half // 2), -np.ones(half)])
    kernels = [{"kind": "linear"}, {"kind": "gaussian", "sigma": 0.1}]
    discounts = {key: 0.1 for key in ("beta", "gamma") if key in learner_spec(name).defaults}
    given = {"normalise": "none", "kernels": kernels}
    learner, trace = one_pass(name, dataset(x[:, None] / 3.0, y), given, **discounts)
    assert trace.mistake[:half].sum() == 2
    first, later = trace.mistake[half : half + 308], trace.mistake[half + 308 :]
    assert first.all()  # one for each power of ten down to the smallest normal number
    assert not later.any()
    assert learner.weights.tolist() == [1.0, TINY]


def test_weights_of_any_loss_stay_at_the_smallest_normal_number_and_come_back():
    w = np.array([0.5, 0.5])
    discount_by(w, 0.1, np.array([500.0, 0.0]))
    assert w.tolist() == [TINY / 0.5, 1.0]
    discount_by(w, 0.1, np.array([-400.0, 0.0]))
    np.testing.assert_allclose(w, [2 / 3, 1 / 3], rtol=1e-12)
    discount(w, 1e-300, np.array([False, True]))
    discount(w, 1e-300, np.array([False, True]))
    assert w.tolist() == [1.0, TINY]
