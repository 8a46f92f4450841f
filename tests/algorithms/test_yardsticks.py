"""The linear yardsticks know a constant, and of up to 500 features the whole covariance."""

import dataclasses

import numpy as np
import pytest
from reference import TWINS
from support.engine_cases import case_stream, dataset, matrix_of, one_pass
from support.twin_cases import stream

from omkl.algorithms import function
from omkl.config import learner_spec, plan
from omkl.engine.stream import part
from omkl.passes.one_pass import run_pass
from omkl.rounds.learner import Learner
from omkl.rounds.scaling import Scaling
from omkl.stacks.new_learner import new_learner
from omkl.testing.twins import both

LINEAR = {"kernel": {"kind": "linear"}}
ORDER = np.arange(400)


def rows(seed=0, T=400, d=5, shift=0.0):
    """Numbers of mean 0 (plus a shift), of which 5 % are positive by chance alone."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(T, d)) + shift, np.where(rng.random(T) < 0.05, 1.0, -1.0)


def numbers(data):
    rng = np.random.default_rng(1)
    return dataclasses.replace(data, task="regression", y=1.0 + 0.1 * rng.normal(size=data.T))


@pytest.mark.parametrize("scale", [{}, {"scale": "online"}])
@pytest.mark.parametrize("shift", [0.0, 3.0])
@pytest.mark.parametrize(("name", "most"), [("arow", 1.3), ("perceptron", 3.0)])
def test_few_positives_cost_little_more_than_the_constant_answer(name, most, shift, scale):
    """An unregularised perceptron may make three times its mistakes."""
    data = dataset(*rows(T=3000, shift=shift))
    spec = learner_spec(name)
    made = run_pass(spec, spec.defaults, None, data, np.arange(data.T), 1, scaling=scale)
    assert made["mistakes"] <= most * (data.y > 0).sum()


@pytest.mark.parametrize("scale", [{}, {"scale": "online"}])
def test_ridge_knows_the_constant(scale):
    data = numbers(dataset(*rows(T=3000)))
    ridge, mean = (
        run_pass(spec, spec.defaults, None, data, np.arange(data.T), 1, scaling=scale)
        for spec in map(learner_spec, ("ridge", "running_mean"))
    )
    assert ridge["mse"] <= 1.3 * mean["mse"]


def test_the_perceptron_is_that_of_rows_with_a_constant():
    X, y = stream(T=120, seed=5)
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0)
    own, ones = dataset(X, y), dataset(np.hstack([X, np.ones((len(X), 1))]), y)
    made, other = one_pass("perceptron", own)[1], one_pass("perceptron", ones, **LINEAR)[1]
    np.testing.assert_array_equal(made.mistake, other.mistake)
    np.testing.assert_allclose(made.score, other.score, atol=1e-12)


@pytest.mark.parametrize(("name", "over"), [("arow", {}), ("arow", {"bias": False}), ("ridge", {})])
@pytest.mark.parametrize("d", [500, 501])
def test_up_to_500_features_have_a_matrix(name, over, d):
    X, y = rows(T=40, d=d)
    data = dataset(X, y if name == "arow" else y + 0.1 * X[:, 0])
    passes = both(
        name,
        TWINS[name],
        dataclasses.replace(data, task="classification" if name == "arow" else "regression"),
        np.arange(40),
        None,
        **over,
    )
    np.testing.assert_allclose(passes.trace.score, passes.result.scores, rtol=1e-9, atol=1e-12)
    assert passes.learner.state["P"].shape[-1] == (501 if d == 500 else 1)


@pytest.mark.parametrize("name", ["arow", "ridge"])
def test_columns_that_come_late_are_those_that_were_0(name):
    """Of more than 500 features the diagonal goes on, of the matrix so far."""
    X, y = rows(T=90, d=520)
    X[:30, 5:], X[30:60, 10:] = 0.0, 0.0
    spec, whole = learner_spec(name), case_stream(dataset(X[:60, :10], y[:60]))
    at_once = Learner(spec, spec.defaults, None, 10, 1)
    late = Learner(spec, spec.defaults, None, 5, 1)
    expected, _ = at_once.run(whole)
    first, _ = late.run(part(whole, 0, 30))
    late.add_features(10)
    rest, _ = late.run(part(whole, 30, 60))
    np.testing.assert_array_equal(np.concatenate([first.score, rest.score]), expected.score)
    matrix = np.diag(two_classes(late.state["P"], 2)).copy()
    np.testing.assert_allclose(two_classes(late.state["sigma"], 1), matrix, rtol=1e-9)
    late.add_features(520)
    assert two_classes(late.state["P"], 2).shape == (1, 1)
    np.testing.assert_allclose(two_classes(late.state["sigma"], 1)[:11], matrix, rtol=1e-9)
    np.testing.assert_array_equal(
        two_classes(late.state["sigma"], 1)[11:], spec.defaults.get("lam", 1.0) ** -1
    )
    trace, _ = late.run(part(case_stream(dataset(X, y)), 60, 90))
    assert np.isfinite(trace.score).all()
    assert (two_classes(late.state["sigma"], 1)[:11] <= matrix + 1e-12).all()


def two_classes(array, ndim):
    """The array of the one class that two classes have, or of a regression."""
    return array[0] if array.ndim > ndim else array


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["edoebe", "auto_regression"])
def test_a_feature_of_size_1e9_does_not_end_an_ensemble_with_linear_members(name, late):
    X, _ = rows(T=900)
    X[:, 1] = 1e9 * (1.0 + X[:, 1]) * (np.arange(900) > 400) if late else X[:, 1] + 1.7e9
    _, trace = one_pass(name, dataclasses.replace(dataset(X, np.ones(900)), task="regression", y=X[:, 0]))
    assert np.sqrt(np.square(trace.score - X[:, 0]).mean()) < (3.0 if late else 0.3)


@pytest.mark.parametrize(("name", "over"), [("arow", {}), ("arow", {"bias": False}), ("ridge", {})])
def test_means_of_1e9_times_the_spread_break_nothing(name, over):
    """P x is rounding alone then: P and the weights stay as large as they are."""
    X, y = rows(T=2000)
    X[:, 1] += 1.7e9
    learner = Learner(learner_spec(name), {**learner_spec(name).defaults, **over}, None, 5, 1)
    trace, _ = learner.run(case_stream(dataset(X, y)))
    assert np.isfinite(trace.score).all()
    P = two_classes(learner.state["P"], 2)
    assert np.abs(P).max() <= 1.0 / learner.params.get("lam", 1.0) + 1e-9
    assert (np.diag(P) >= -1e-9).all()


@pytest.mark.parametrize("name", ["arow", "perceptron"])
def test_scaling_leaves_the_constant(name):
    """The 1 is not among the features that are centred: a stream scaled before gives the same."""
    data = dataset(*rows(shift=2.0))
    spec = learner_spec(name)
    scaling = Scaling(data.d, "online")
    scaled, _ = scaling.scaled(case_stream(data), True)
    kernels = {"normalise": "none", "kernels": [spec.defaults["kernel"]]} if name == "perceptron" else None
    expected = Learner(spec, spec.defaults, kernels, data.d, 1).run(scaled)[0]
    own = new_learner(spec, spec.defaults, kernels, data.d, 1, scaling=Scaling(data.d, "online"))
    np.testing.assert_array_equal(own.run(case_stream(data))[0].score, expected.score)
    assert matrix_of(data).mean() > 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [("algo=arow", True), ("algo=arow algo.arow.full=false yardsticks=[]", False), ("algo=alma", True)],
)
def test_a_note_says_whose_matrix_is_a_diagonal(words, said, tmp_path):
    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{1 - 2 * (t % 2)} {t % 7 + 1}:1 600:{t}\n" for t in range(20)))
    note = "wide has 600 features, more than 500: AROW keeps the diagonal of the matrix alone"
    assert (note in plan([*words.split(), f"data={path}"]).about_data) == said


@pytest.mark.parametrize(
    ("T", "prefix", "rounds"),
    [(20, 0.1, 2), (21, 0.1, 3), (3, 0.1, 1), (100, 0.29, 29), (100, 0.07, 7), (5, 0.0, 1)],
)
def test_the_prefix_of_perceptron_star_is_rounded_up(T, prefix, rounds):
    """0.07 * 100 is 7.000000000000001 in floating point, and seven rounds all the same."""
    seen = []
    function("best_kernel", compiled=False)(
        lambda name, state, stop, apart: seen.append((stop, apart)),
        {"kernels": [{"kind": "linear"}]},
        {"select": "prefix", "prefix": prefix},
        T,
    )
    assert seen == [(rounds, False)]
