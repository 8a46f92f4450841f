"""Regression learners: special cases, limits, the figures of the authors' code, what they refuse."""

import math

import numpy as np
import pytest
from support.engine_cases import assert_same, case_stream, clouds, fresh_learner, one_pass, state, traced

import omkl.data
from omkl.config import learner_spec, plan, pool
from omkl.errors import OmklError, UserError
from omkl.passes import Learner, run_pass
from omkl.runs.cells import expand

GAUSSIAN = {"kind": "gaussian", "sigma": 1.3}
ONE = {"normalise": "none", "kernels": [GAUSSIAN]}
WIDE = {"normalise": "none", "kernels": [GAUSSIAN, {"kind": "gaussian", "sigma": 4.0}]}


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_one_kernel_is_its_own_learner(loss):
    data, how = clouds(T=150), {"eta": 0.3, "loss": loss}
    _, single = one_pass("rff", data, kernel=GAUSSIAN, **how)
    _, several = one_pass("raker", data, ONE, **how)
    assert_same(traced(single), traced(several))
    alone, single = one_pass("okr", data, kernel=GAUSSIAN, **how)
    learner, several = one_pass("omkr", data, ONE, **how)
    assert_same(traced(single), traced(several))
    np.testing.assert_array_equal(state(alone)["A"], state(learner)["A"])


def test_fogd_of_one_kernel_is_descent_on_the_hinge_loss_over_the_same_features():
    data = clouds(T=150)
    V = np.random.default_rng(0).normal(size=(1, 30, data.d))
    learners = []
    for name, own in (("bomkc_fogd", {"eta": 0.3}), ("rff", {"eta": 0.3, "lam": 0.0, "loss": "hinge"})):
        spec = learner_spec(name)
        params = {**spec.usual(data.task), "D": 30, "features": "iid", **own}
        learners.append(Learner(spec, params, ONE, data.d, 1, frequencies=V))
    fogd, rff = (learner.run(case_stream(data))[0] for learner in learners)
    np.testing.assert_array_equal(fogd.mistake[1:], rff.mistake[1:])  # f = 0 votes +1, and is rff's mistake
    np.testing.assert_array_equal(learners[0].state["theta"], learners[1].state["theta"])


def test_the_step_of_a_pass_is_one_over_root_T():
    data = clouds(T=144)
    assert_same(traced(one_pass("okr", data, eta=None)[1]), traced(one_pass("okr", data, eta=1 / 12)[1]))


def test_many_features_are_the_kernel_itself():
    """Raker becomes OMKR, AdaRaker AdaMKL, RFF OKR."""
    data, how = clouds(T=60, d=2), {"features": "iid", "D": 20_000}
    pairs = [
        ("raker", {}, "omkr", {"beta": math.exp(-0.5)}, WIDE),
        ("adaraker", {}, "adamkl", {}, WIDE),
        ("rff", {"kernel": GAUSSIAN}, "okr", {"kernel": GAUSSIAN}, ONE),
    ]
    for features, own, kernels, other, given in pairs:
        lifted = one_pass(features, data, given, **how, **own)[1].score
        exact = one_pass(kernels, data, given, **other)[1].score
        np.testing.assert_allclose(lifted, exact, atol=0.05)


def test_adaraker_forgets_at_powers_of_two():
    """In round 3 only the interval of rounds 2 and 3 votes: a Raker that saw round 2 alone."""
    data = clouds(T=3)
    V = np.random.default_rng(0).normal(size=(2, 50, data.d))
    spec, raker = learner_spec("adaraker"), learner_spec("raker")
    trace, _ = Learner(spec, {**spec.usual("regression"), "eta0": 0.4}, WIDE, data.d, 1, frequencies=V).run(
        case_stream(data)
    )
    params = {**raker.usual("regression"), "eta": 0.4 / math.sqrt(2)}
    alone = Learner(raker, params, WIDE, data.d, 1, frequencies=V)
    expected, _ = alone.run(case_stream(data, np.array([1, 2])))
    assert trace.score.tolist() == [0.0, 0.0, pytest.approx(expected.score[1], rel=1e-12)]


def test_adaraker_raises_the_vote_of_the_better_instance():
    """Constant targets: the instance of the longest interval does best, and ends with the largest vote."""
    data = clouds(T=255)
    data.y[:] = 1.0
    learner = fresh_learner("adaraker", WIDE, data.d, eta0=10.0, lam=0.0)
    learner.run(case_stream(data))
    h, rate = learner.state["h"][:8], np.minimum(0.5, 10 / np.sqrt(2.0 ** np.arange(8)))
    assert (h[7] - math.log(rate[7])) == max(h - np.log(rate))


def test_a_shrinking_scale_goes_into_the_coefficients():
    data, how = clouds(T=300), {"eta": 0.9, "lam": 0.9}  # 0.19^300 is below the smallest number
    learner, trace = one_pass("omkr", data, WIDE, **how)
    assert np.isfinite(state(learner)["A"]).all()
    assert (learner.state["scale"] > 1e-101).all()
    last = one_pass("omkr", data, WIDE, np.arange(250, 300), **how)[1]  # what was before has faded
    np.testing.assert_allclose(trace.score[-20:], last.score[-20:], rtol=0, atol=0.2)


REFERENCE = {"twitter": (2.63, 0.12), "tom": (1.66, 0.35), "energy": (14.38, 0.03), "air": (1.31, 0.15)}


@pytest.mark.parametrize("name", REFERENCE)
def test_authors_variant_gives_the_authors_errors(shared_data, monkeypatch, name):
    """3 seeds; the tolerance is two standard deviations over 20 seeds.

    They count 1 as the error of round 1, here it is y_1^2."""
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    data, spec = omkl.data.find(f"adaraker_{name}").load(), learner_spec("adaraker_authors")
    params = spec.usual("regression")
    found = [run_pass(spec, params, pool("gauss3"), data, np.arange(data.T), seed) for seed in range(3)]
    expected, spread = REFERENCE[name]
    printed = np.mean([figures["mse"] for figures in found]) + (1.0 - data.y[0] ** 2) / data.T
    assert 1e3 * printed == pytest.approx(expected, abs=spread)
    figures = found[0]
    assert figures["mistakes"] is figures["mistake_rate"] is None
    assert figures["curve"]["loss"][-1] == pytest.approx(figures["mse"] * data.T)
    assert len(figures["curve"]["t"]) == 100


def test_predictions_beyond_a_double_are_an_error_not_a_figure():
    data = clouds(T=40)
    wild = omkl.data.Dataset(**vars(data) | {"task": "regression", "y": data.y * 1e200})
    spec = learner_spec("omkr")
    with pytest.raises(OmklError, match=r"the prediction of round \d+ overflowed"):
        run_pass(spec, spec.defaults, ONE, wild, np.arange(40), 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["algo=raker", "pool=paper16"],
            "raker needs a pool of gaussian, laplacian, .* kernels, .* pool=paper16 has polynomial",
        ),
        (
            ["algo=adaraker", "pool=linear"],
            "needs a pool of gaussian, laplacian, .* kernels, .* has linear kernels",
        ),
        (
            ["algo=rff", "algo.kernel={kind:linear}"],
            "algo=rff: the kernel must be gaussian or .*, got linear",
        ),
        (
            ["algo=raker", "algo.loss=hinge", "data=air"],
            "loss=hinge is not for regression .*there loss is squared",
        ),
    ],
)
def test_a_learner_that_does_not_fit_is_refused(shared_data, monkeypatch, words, message):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    with pytest.raises(UserError, match=message):
        expand(plan(words))


def test_a_learner_has_its_usual_pool():
    planned = plan(["algo=raker,omkc_dd,bomkc_fogd"])
    assert [s.pool["name"] for s in planned.settings] == ["gauss3", "paper16", "gauss13"]
    assert [s.pool["name"] for s in plan(["algo=raker,omkc_dd", "pool=gauss13"]).settings] == ["gauss13"] * 2
