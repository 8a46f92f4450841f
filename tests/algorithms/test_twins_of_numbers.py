"""Learners of numbers against their naive twins on targets: predictions, and what they report beside them."""

import dataclasses

import numpy as np
import pytest
from reference import TWINS

from omkl.config import learner_names, learner_spec
from omkl.testing import twins
from omkl.testing.cases import clouds, dataset, numbers

SHORT = 90
CASES = [(name, {}) for name in learner_names() if "regression" in learner_spec(name).tasks]
CASES += [
    ("krls_t", {"lam": 0.8}),
    ("krls_t", {"power": "ml", "lam": 0.97}),
    ("ridge", {"drift": 0.01}),
    ("krls_t_pool", {"lam": 0.8}),
    ("iegp", {"drift": 0.01}),
]


@pytest.mark.parametrize(("name", "over"), CASES)
def test_predictions_and_measures_are_the_twin_s(name, over):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(SHORT, 3)).round(3)
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 - 0.3 + rng.normal(0, 0.1, SHORT)
    data = dataclasses.replace(dataset(X, y, "numbers"), task="regression")
    over = twins.small(name) | over
    passes = twins.both(name, TWINS[name], data, np.arange(SHORT), twins.pools_of(name)[0], **over)
    twins.assert_equal(name, data, np.arange(SHORT), passes)
    if "mse" in passes.figures and "nlpd" in learner_spec(name).measures:
        assert passes.trace.further.any()


@pytest.mark.parametrize(("offset", "scale"), [(0.3, 0.1), (20.0, 5.0)])
@pytest.mark.parametrize("name", [name for name, over in CASES if not over])
def test_targets_of_an_offset_and_a_scale_are_learnt_as_by_the_twin(name, offset, scale):
    data = numbers(clouds(SHORT), offset, scale)
    passes = twins.both(
        name, TWINS[name], data, np.arange(SHORT), twins.pools_of(name)[0], **twins.small(name)
    )
    twins.assert_equal(name, data, np.arange(SHORT), passes)
