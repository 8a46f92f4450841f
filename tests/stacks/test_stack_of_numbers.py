"""Stacks of numbers: what members learn, who may be one, where they run, and that nothing looks ahead."""

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor
from support.extension import write

import omkl
from omkl.algorithms import function
from omkl.cli import main
from omkl.config import learner_spec, members_of
from omkl.engine.running_scale import targets_less_mean, within_reach
from omkl.engine.stream import make_stream
from omkl.errors import UserError
from omkl.models.asked import density_interval, score_and_std
from omkl.paths import EXTENSIONS
from omkl.stacks.new_learner import new_learner
from omkl.testing.cases import csr_of

Means = function("stack_regression").py_func.__globals__["Means"]

WORDS = ["ridge", "krls_t(budget=30, scale=ranks)", "iegp(pool=gaussian(sigma=1 median), D=10, drift=0.01)"]
SMALL = {"reps": 1, "yardsticks": [], "progress": False, "exec": "serial"}


def numbers(T=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3))
    return X, 50.0 + 10.0 * np.sin(2.0 * X[:, 0]) + 5.0 * X[:, 1] + rng.normal(size=T)


def learnt(X, y, members=WORDS):
    learner = new_learner(learner_spec("stack_regression"), {"members": members}, None, X.shape[1], 1)
    trace, _ = learner.run(make_stream(*csr_of(X), y, np.arange(len(y))))
    return learner, trace


def test_members_learn_targets_less_the_mean_of_those_before():
    y = np.array([3.0, 5.0, -2.0])
    np.testing.assert_array_equal(targets_less_mean(y, np.zeros(4), True), [0.0, 2.0, -6.0])
    np.testing.assert_array_equal(
        targets_less_mean(y, np.array([8.0, 3.0, 5.0, 2.0]), False), [-1.0, 1.0, -6.0]
    )
    many = np.append(np.tile([0.0, 1.0], 30), 1e9)
    assert targets_less_mean(many, np.zeros(4), True)[60] == 11.0 - 0.5  # ten ranges away


def test_it_errs_less_than_its_members_alone():
    X, y = numbers(1500)
    X[:, 2] = np.arange(1500) % 7
    y += np.where(np.arange(1500) % 7 > 3, 20.0, 0.0)

    def error(members):
        return np.square(learnt(X, y, members)[1].score - y)[300:].mean()

    assert error(WORDS) < min(error([word]) for word in WORDS)


def test_nothing_looks_ahead():
    X, y = numbers()
    later = X.copy(), y.copy()
    later[0][250:] *= 9.0
    later[1][250:] += 50.0
    first, other = learnt(X, y)[1], learnt(*later)[1]
    np.testing.assert_array_equal(first.score[:250], other.score[:250])
    np.testing.assert_array_equal(first.further[:250, 1:], other.further[:250, 1:])
    later = X.copy(), y.copy()
    later[1][250] = -33.0  # a round's own target
    other = learnt(*later)[1]
    np.testing.assert_array_equal(first.score[:251], other.score[:251])
    np.testing.assert_array_equal(first.further[:251, 1:], other.further[:251, 1:])


def test_its_density_and_intervals_are_those_of_its_errors():
    X, y = numbers(1500)
    learner, trace = learnt(X, y)
    half = 1.959964 * np.sqrt(trace.further[:, 1])
    assert 0.93 < np.mean((np.abs(trace.score - y) <= half)[100:]) < 0.97
    mean, std = score_and_std(learner, *csr_of(X[:5]))
    low, high = density_interval(learner, 0.95, *csr_of(X[:5]))
    np.testing.assert_allclose(high - low, 2 * 1.959964 * std, rtol=1e-6)
    np.testing.assert_allclose(low + high, 2 * mean)


def test_omkl_stack_takes_its_task_from_its_members_or_the_data():
    X, y = numbers(120)
    assert omkl.stack("ridge", "krls_t").learner == "stack_regression"
    assert omkl.stack("arow", "krls_t").learner == "stack"
    either = omkl.stack("krls_t", "stack(members=[krls_t(noise=1)])")
    assert either.learner == "stack"
    for stack in (either, omkl.stack("krls_t", "ridge", SGDRegressor())):
        table = omkl.run(X, y=y, task="regression", algo=stack, **SMALL).cells
        assert list(table.algo) == ["stack_regression"]
    with pytest.raises(UserError, match="ridge is for regression; the members of this stack are for cl"):
        omkl.stack("arow", "ridge")


def test_words_of_a_command(tmp_path, capsys):
    data = "data=drift_numbers", "rounds=60", f"store={tmp_path}", "yardsticks=[]", "order=file", "reps=1"
    assert main(["run", "algo=stack(members=[ridge,krls_t])", *data]) == 0
    assert "Stack (regression)" in capsys.readouterr().out
    for member, said in (
        ("arow", "arow is for classification; the members of this stack are for regression"),
        ("krls_t(target=online)", "has no target=...: a stack has the targets less their mean"),
    ):
        assert main(["run", f"algo=stack(members=[ridge,{member}])", *data]) == 2
        assert said in capsys.readouterr().err


def test_a_stack_of_a_folder_is_a_learner(tmp_path, monkeypatch):
    mine = "about: {cite: mine, task: regression, stack: [ridge, 'krls_t(budget=9)', sgd]}"
    sgd = "task: regression, estimator: 'sklearn.linear_model:SGDRegressor', revision: 1"
    files = {"conf/algo/mine.yaml": mine, "conf/algo/sgd.yaml": f"about: {{label: k, cite: k, {sgd}}}"}
    monkeypatch.setenv(EXTENSIONS, str(write(tmp_path / "mine", files)))
    spec = learner_spec("mine")
    assert [member.learner for member in members_of(spec, {})] == ["ridge", "krls_t", "sgd"]
    X, y = numbers(80)
    assert omkl.run(X, y=y, task="regression", algo="mine", **SMALL).cells.mse.notna().all()


def test_sklearn_and_river():
    from omkl.river import StackRegressor as OfRiver
    from omkl.sklearn import StackRegressor

    X, y = numbers(200)
    whole = StackRegressor(members=WORDS, random_state=0).fit(X, y)
    parts = StackRegressor(members=WORDS, random_state=0)
    for start in range(0, 200, 50):
        parts.partial_fit(X[start : start + 50], y[start : start + 50])
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))
    _, std = whole.predict(X, return_std=True)
    assert (std > 0).all()
    model = OfRiver(members=WORDS)
    for row, target in zip(X, y, strict=True):
        model.learn_one(dict(enumerate(row)), target)
    assert abs(model.predict_one(dict(enumerate(X[-1]))) - y[-1]) < 10.0


@pytest.mark.parametrize(
    ("n", "least", "largest", "y", "held"),
    [
        (49, 0.0, 1.0, 1e9, 1e9),  # too few to say what is far
        (50, 0.0, 1.0, 1e9, 11.0),
        (50, 0.0, 1.0, -1e9, -10.0),
        (50, 2.0, 2.0, 1e9, 22.0),  # equal targets have the range of their mean
        (50, 0.0, 0.0, 1e9, 1e9),
    ],
)
def test_a_target_far_beyond_all_others_counts_as_one_within_reach(n, least, largest, y, held):
    assert within_reach(np.array([n * largest, least, largest, float(n)]), y) == held


def test_a_round_told_to_be_almost_certain_weighs_as_one_of_a_hundredth_of_the_usual_error():
    def bias_after(std):
        means = Means(np.zeros(4), np.ones(2), np.zeros(2), np.zeros(1), np.zeros((2, 2)), np.zeros(4))
        means.learn_bias(np.zeros(2), 1.0, 1.0)
        means.learn_bias(np.zeros(2), 1.0, std)
        return means.bias

    np.testing.assert_array_equal(bias_after(1e-9), bias_after(0.01))
    assert (bias_after(0.02) < bias_after(0.01)).all()
