"""Choices reach compiled code as words: their order does not matter, and those that it lacks are reported."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit

from omkl.algorithms import function
from omkl.config import learner_spec, learner_specs
from omkl.engine.choices import Choice
from omkl.engine.jit import compiled
from omkl.errors import UserError
from omkl.passes import run_pass
from omkl.rounds.compiled_values import check_choices


def with_choices(name: str, key: str, choices: list):
    spec = learner_spec(name)
    own = dataclasses.replace(spec.hyperparameters[key], domain=choices)
    return dataclasses.replace(spec, hyperparameters={**spec.hyperparameters, key: own})


def passed(spec, **params) -> float:
    rng = np.random.default_rng(7)
    data = SimpleNamespace(
        name="made",
        indptr=np.arange(0, 121, 2),
        indices=np.tile(np.array([0, 1], np.int32), 60),
        values=rng.random(120),
        y=rng.random(60),
        d=2,
        T=60,
        n_classes=2,
        content_hash="",
        task="regression",
    )
    return run_pass(spec, {**spec.defaults, **params}, None, data, np.arange(60), 0)["mse"]


@pytest.mark.parametrize("choices", [["huber", "squared", "eps"], ["huber"], ["eps", "huber"]])
def test_a_choice_keeps_its_meaning_wherever_it_stands_in_the_list(choices):
    right = passed(learner_spec("norma_regression"), loss="huber")
    assert right != passed(learner_spec("norma_regression"), loss="squared")
    assert passed(with_choices("norma_regression", "loss", choices), loss="huber") == right


def test_choices_that_the_compiled_code_lacks_are_reported_whatever_is_chosen():
    spec = with_choices("norma_regression", "loss", ["squared", "cubic", "eps", "huber"])
    with pytest.raises(UserError, match=r"norma_regression.yaml: loss.domain: .*know 'cubic' and 'eps'"):
        passed(spec, loss="squared")


def test_the_code_of_every_learner_knows_all_but_one_word_of_each_choice():
    checked = set()
    for spec in learner_specs().values():
        compiled = function(spec.function)
        code = compiled.py_func.__code__
        for name, own in spec.hyperparameters.items():
            if name in code.co_varnames[: code.co_argcount] and isinstance(own.domain, list):
                check_choices(compiled, name, own.domain, spec.name)
                checked.add((spec.name, name))
    assert {("bomkc_spa", "discount"), ("okr", "loss"), ("omkc_sd", "floor")} < checked


@compiled
def slope(loss, x):
    if loss == "squared":
        return 2.0 * x
    return 3.0 * x if loss != "delta/m" else 4.0 * x


@compiled
def slopes(loss, x):
    return slope(loss, x), slope("squared", x), slope("other", x)


@njit
def slopes_of_a_user(loss, x):
    return slope(loss, x), slope("squared", x), slope("other", x)


@pytest.mark.parametrize("function", [slopes, slopes_of_a_user])
def test_a_choice_is_compared_with_words(function):
    for word, factor in {"squared": 2.0, "delta/m": 4.0, "other": 3.0}.items():
        assert function(Choice(word), 1.0) == (factor, 2.0, 3.0)
        assert function.py_func(word, 1.0) == (factor, 2.0, 3.0)
