"""results/omkl.md gives the reasons for the rank of OMKL-O, next to rows that differ in them."""

import math

import numpy as np
import pytest

import omkl.data
from omkl.config import learner_spec, pool
from omkl.passes import run_pass
from omkl.publications import read_paper
from omkl.publications.paper import Paper


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read_paper("omkl")


def text_about(paper: Paper, about: str) -> str:
    (text,) = [text for text in paper.deviations if about in text]
    return text


def test_the_condition_of_theorem_8_is_stated(paper):
    usual = learner_spec("omklo_da").defaults
    product = usual["R"] ** 2 * math.log(1 / usual["beta"])
    assert product > 1
    text = text_about(paper, "Theorem 8")
    assert f"R = {usual['R']:g}" in text
    assert f"{product:.1f}" in text
    assert 2**2 * math.log(1 / usual["beta"]) < 1  # the row next to it


def test_the_step_size_of_theorem_10_is_stated(paper):
    usual, m = learner_spec("omklo_sua").defaults, len(pool("paper16")["kernels"])
    R, delta, rate = usual["R"], usual["delta"], math.log(1 / usual["beta"])
    a, b = R**2 / 2 + math.log(m) / rate, rate * R**2 * m**2 / (2 * delta**2) + m / (2 * delta)
    assert usual["eta"] is None
    assert f"{math.sqrt(a / b):.4f}" in text_about(paper, "Theorem 10")


def test_tuned_rows_follow_the_seven(paper):
    (table,) = paper.tables.values()
    six, doubling, tuned, within = table.runs
    assert (len(six.words["algo"]), doubling.words["algo"]) == (6, "omklp_da1")
    for run, word, value in ((tuned, "algo.eta", 0.1), (within, "algo.R", 2)):
        assert run.words[word] == value
        assert (run.words["data"], run.words["reps"]) == (six.words["data"], six.words["reps"])
        assert run.extra
        ((_, label),) = run.labels.items()
        assert label.endswith(f"{word.removeprefix('algo.')} = {value}")


def test_a_larger_step_halves_the_mistakes_on_breast(shared_data, monkeypatch):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    data, spec = omkl.data.find("breast").load(), learner_spec("omklo_sua")

    def error(eta):
        orders = (omkl.data.order(data, "permuted", 1, rep) for rep in range(10))
        passes = [
            run_pass(spec, {**spec.defaults, "eta": eta}, pool("paper16"), data, *one) for one in orders
        ]
        return 100 * np.mean([figures["mistake_rate"] for figures in passes])

    assert error(None) > 30 > 20 > error(0.1)
