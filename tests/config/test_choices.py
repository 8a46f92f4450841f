"""Choices reach compiled code by name: their order does not matter, and one that it lacks is reported."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from omkl.algorithms import function
from omkl.config import learner_spec, learner_specs
from omkl.errors import UserError
from omkl.learning import run_pass
from omkl.learning.learner import codes


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


def test_a_choice_that_the_compiled_code_lacks_is_reported_whatever_is_chosen():
    spec = with_choices("norma_regression", "loss", ["squared", "cubic", "eps", "huber"])
    with pytest.raises(UserError, match=r"norma_regression.yaml: loss.domain: .*'cubic'.*LOSS_CUBIC"):
        passed(spec, loss="squared")


def test_two_choices_of_one_number_are_reported(monkeypatch):
    compiled = function("norma_regression")
    monkeypatch.setitem(compiled.py_func.__globals__, "HUBER", 1)
    with pytest.raises(UserError, match="'eps' and 'huber' are the same number, 1"):
        codes(compiled, "loss", ["squared", "eps", "huber"], "norma_regression")


def test_every_word_of_every_learner_has_its_constant():
    known = {}
    for spec in learner_specs().values():
        compiled = function(spec.function)
        code = compiled.py_func.__code__
        for name, own in spec.hyperparameters.items():
            domain = own.domain
            if name in code.co_varnames[: code.co_argcount] and isinstance(domain, list):
                known[spec.name, name] = codes(compiled, name, domain, spec.name)
    assert known["bomkc_spa", "discount"] == {"hinge": 0, "zero_one": 1}
    assert known["okr", "loss"] == {"squared": 0, "logistic": 1, "hinge": 2}
    assert known["omkc_sd", "floor"] == {"delta/m": 0, "delta": 1}
