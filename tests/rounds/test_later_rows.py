"""No prediction depends on later rows: these change, and earlier scores stay the same to the last bit."""

from dataclasses import replace

import numpy as np
import pytest

from omkl.config import learner_spec, learner_specs, pool
from omkl.config.words import learner_setting
from omkl.passes.one_pass import whole_pass
from omkl.testing.cases import dataset
from omkl.testing.twins import SEED

T, D, HALF = 120, 12, 60
# A learner that chooses its kernel by a permutation of all rows does so as its paper says.
LEARNERS = sorted(spec.name for spec in learner_specs().values() if not (spec.setup or spec.is_stack))
STACKS = ["auto", "stack(members=[arow(scale=ranks),krls_t(budget=20,scale=online)])"]
WIDE = "krls_t(kernel=bounded(sigma=1 median),budget=20,scale=online)"
STACKS += ["auto_regression", f"stack_regression(members=[ridge(scale=ranks),last_value,{WIDE}])"]


def rows(task, classes, is_changed):
    """Sparse rows; where `is_changed`, those from HALF on are dense, larger, with gaps and other labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(T, D)) * (rng.random((T, D)) < 0.1)
    y = X[:, :6].sum(axis=1) + 0.1 * rng.normal(size=T)
    if is_changed:
        X[HALF:], y[HALF:] = 50.0 * rng.normal(size=(T - HALF, D)), -7.0 * y[HALF:]
        X[HALF + 20 :, 1] = np.nan
    if task == "regression":
        return replace(dataset(X, y), task=task)
    if classes == 2:
        return dataset(X, np.where(y > 0, 1.0, -1.0))
    return dataset(X, np.digitize(y, [-0.2, 0.2]), classes=classes)


def earlier_scores(name, task, classes, words):
    setting = learner_setting(name) if "(" in name else None
    spec = learner_spec(setting.learner if setting else name)
    params = setting.params if setting else {}
    kernels = pool(spec.usual_pool or "gauss3") if spec.kernels == "pool" else None
    for is_changed in (False, True):
        data = rows(task, classes, is_changed)
        made = spec.usual(task) | params
        trace = whole_pass(spec, made, kernels, data, np.arange(T), SEED, scaling=words).trace
        scores = trace.score if trace.class_scores is None else trace.class_scores
        yield scores[:HALF]


@pytest.mark.parametrize("words", [{}, {"scale": "online"}, {"scale": "ranks"}, {"delay": 7}], ids=str)
@pytest.mark.parametrize("name", [*LEARNERS, *STACKS])
def test_no_prediction_depends_on_later_rows(name, words):
    spec = learner_spec(name.split("(")[0])
    for task in spec.tasks:
        for classes in (2, 3) if task == "classification" else (2,):
            if spec.takes(classes):
                first, second = earlier_scores(name, task, classes, words)
                np.testing.assert_array_equal(first, second, f"{task} {classes}")


@pytest.mark.parametrize("name", ["raker", "krls_t", "ridge"])
def test_targets_scaled_online_are_not_those_to_come(name):
    first, second = earlier_scores(name, "regression", 2, {"target": "online", "scale": "ranks"})
    np.testing.assert_array_equal(first, second)
