"""Standard deviations of `auto_regression` that follow the row: coverage, and what they know."""

import numpy as np
import pytest
from reference import TWINS
from scipy import stats
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2

import omkl.data
from omkl.config import learner_spec
from omkl.engine.stream import part
from omkl.models.asked import density_interval, score_and_std
from omkl.stacks.new_learner import new_learner
from omkl.testing import twins
from omkl.testing.cases import case_stream, csr_of

SPEC = learner_spec("auto_regression")
TWIN = "stack_regression", TWINS["stack_regression"]
WORDS = ["ridge", "krls_t(budget=20, scale=ranks)", "iegp(pool=gauss3, D=4, scale=online)"]


def learnt(X, y):
    """The learner after one pass; predictions, standard deviations and degrees of freedom of its rounds."""
    data = omkl.data.from_arrays(X, y, task="regression")
    learner = new_learner(SPEC, {}, None, data.d, 1)
    trace, _ = learner.run(case_stream(data))
    return learner, trace.score, np.sqrt(trace.further[:, 1]), trace.further[:, 2]


def covered(y, score, std, degrees, share):
    """In percent, of the rounds (T - 1,) from the second on, which intervals hold their target."""
    half = stats.norm.ppf(0.975) * std * stats.t.ppf(0.5 + share / 2, degrees) / stats.t.ppf(0.975, degrees)
    return 100.0 * (np.abs(y - score) <= half)[1:]


def growing_with_a_feature(seed, n=3000):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(6 * X[:, 1]) + X[:, 2] + X[:, 0] * rng.normal(size=n)


def stream(kind, seed, n=2000):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, size=(n, 3))
    y, noise = np.sin(2 * X[:, 0]) + X[:, 1], rng.normal(size=n)
    if kind == "t":
        return X, y + 0.3 * rng.standard_t(2, n)
    if kind == "drift":
        return X, np.where(np.arange(n) < n // 2, y, -y) + 0.2 * noise
    return X, y + np.linspace(0.1, 2.0, n) * noise


def diabetes(seed):
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order]


STREAMS = {
    "diabetes": diabetes,
    "friedman1": lambda seed: make_friedman1(2000, noise=1.0, random_state=seed),
    "friedman2": lambda seed: make_friedman2(2000, noise=100.0, random_state=seed),
    **{kind: lambda seed, kind=kind: stream(kind, seed) for kind in ("t", "drift", "growing")},
    "growing with a feature": growing_with_a_feature,
}


@pytest.mark.parametrize("name", STREAMS)
def test_intervals_hold_their_share(name):
    X, y = STREAMS[name](1)
    _, *told = learnt(X, y)
    assert 93.0 <= covered(y, *told, 0.95).mean() <= 97.0
    assert 45.0 <= covered(y, *told, 0.5).mean() <= 55.0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_intervals_follow_a_feature(seed):
    X, y = growing_with_a_feature(seed)
    _, *told = learnt(X, y)
    held, third = covered(y, *told, 0.95), np.digitize(X[1:, 0], np.quantile(X[:, 0], [1 / 3, 2 / 3]))
    for i in range(3):
        assert 93.0 <= held[third == i].mean() <= 97.0


def test_far_from_all_rows_intervals_are_wider():
    for seed in range(4):
        X, y = growing_with_a_feature(seed, 1000) if seed % 2 else stream("growing", seed, 1000)
        learner, *_ = learnt(X, y)
        usual = score_and_std(learner, *csr_of(X))[1].max()
        for far in (1e6, -1e6):
            assert score_and_std(learner, *csr_of(np.full((1, 3), far)))[1][0] > usual
            assert score_and_std(learner, *csr_of(np.array([[0.5, far, 0.5]])))[1][0] > usual


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_one_target_of_1e9_is_forgotten_within_200_rounds(noise):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(700, 3)), 1.0 + noise * rng.normal(size=700)
    y[300] = 1e9
    _, score, std, _ = learnt(X, y)
    assert std[500:].max() < (3.0 * noise or 2.0)  # equal targets have a range of 9 since
    assert np.abs(score - 1.0)[500:].max() < max(3.0 * noise, 0.1)


def test_the_twin_makes_the_same_of_an_outlier():
    rng = np.random.default_rng(5)
    for y in (np.ones(80), rng.normal(size=80)):
        X = rng.normal(size=(80, 2)).round(3)
        y[60] = 1e9
        data = omkl.data.from_arrays(X, y, task="regression")
        passes = twins.both(*TWIN, data, np.arange(80), None, members=WORDS)
        twins.assert_equal("stack_regression", data, np.arange(80), passes)


def test_the_twin_makes_the_same_of_a_far_row_when_errors_have_become_small():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(280, 3))
    y = X[:, 2] + np.where(np.arange(280) < 240, 3.0 * rng.normal(size=280), 0.0)
    X[265, 1], X[266, 0] = 10.0, -10.0
    data, order = omkl.data.from_arrays(X, y, task="regression"), np.arange(280)
    passes = twins.both(*TWIN, data, order, None, members=WORDS)
    twins.assert_equal("stack_regression", data, order, passes)


def test_other_units_of_the_targets_give_the_same_intervals_in_these():
    X, y = growing_with_a_feature(4, 300)
    _, _, std, degrees = learnt(X, y)
    _, _, other, other_degrees = learnt(X, 1e-3 * y - 7.0)
    np.testing.assert_allclose(other[2:], 1e-3 * std[2:], rtol=1e-4)
    np.testing.assert_array_equal(other_degrees, degrees)


def test_nothing_looks_ahead():
    X, y = growing_with_a_feature(5, 400)
    later = X.copy(), y.copy()
    later[0][250:] *= 9.0
    later[1][250:] += 50.0
    for own, other in zip(learnt(X, y)[1:], learnt(*later)[1:], strict=True):
        np.testing.assert_array_equal(own[:250], other[:250])
    y[250] = -33.0  # a round's own target
    for own, other in zip(learnt(X, y)[1:], learnt(*later)[1:], strict=True):
        np.testing.assert_array_equal(own[:251][:250], other[:250])


def test_more_columns_later_go_on():
    X, y = growing_with_a_feature(6, 300)
    data = omkl.data.from_arrays(X, y, task="regression")
    rounds = case_stream(data)
    learner = new_learner(SPEC, {}, None, 3, 1)
    first = learner.run(part(rounds, 0, 150))[0].further
    learner.add_features(5)
    second = learner.run(part(rounds, 150, 300))[0].further
    wider = new_learner(SPEC, {}, None, 3, 1)
    whole = wider.run(rounds)[0].further
    np.testing.assert_array_equal(first, whole[:150])
    np.testing.assert_allclose(second[:, 2], whole[150:, 2])


def test_intervals_of_a_model_are_those_of_the_density():
    X, y = stream("t", 7, 600)
    learner, *_ = learnt(X, y)
    mean, std = score_and_std(learner, *csr_of(X[:5]))
    for share in (0.5, 0.95):
        low, high = density_interval(learner, share, *csr_of(X[:5]))
        assert low + high == pytest.approx(2.0 * mean)
        if share == 0.95:
            assert high - mean == pytest.approx(stats.norm.ppf(0.975) * std)


def test_the_density_is_student_s():
    X, y = stream("t", 8)
    data = omkl.data.from_arrays(X, y, task="regression")
    trace, _ = new_learner(SPEC, {}, None, data.d, 1).run(case_stream(data))
    nlpd, variance, degrees = trace.further.T
    assert variance[:2].tolist() == [0.0, 0.0]  # nothing is known of errors then
    variance[:2] = 1.0
    assert len(set(degrees)) > 5
    scale = np.sqrt(variance) * stats.norm.ppf(0.975) / stats.t.ppf(0.975, degrees)
    np.testing.assert_allclose(nlpd, -stats.t.logpdf(y - trace.score, degrees, scale=scale), rtol=1e-9)
