"""A learner's arrays: their shapes from its YAML, and the memory that they would take."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from engine_cases import assert_same, clouds, state, stream_of

import omkl.data
from omkl.bounds.svm import Batch
from omkl.config import algo_spec, plan, pool
from omkl.data import compact, registry
from omkl.data.dataset import MANY
from omkl.errors import UserError
from omkl.learner import Learner, run_pass
from omkl.learner import resources as arrays
from omkl.learner.job import run_cell
from omkl.learner.resources import Sides
from omkl.run import runner
from omkl.run.cells import expand


def test_shapes_and_fills():
    sides = Sides({"D": 7, "levels": 3, "tau": 9, "start": 0.25}, m=2, d=5)
    assert sides.shape({"shape": ["m", "2D", 4]}) == (2, 14, 4)
    assert sides.shape({"shape": ["levels m", "tau", "d"]}) == (6, 0, 5)
    np.testing.assert_array_equal(sides.array({"shape": ["m"], "fill": "1/m"}), [0.5, 0.5])
    np.testing.assert_array_equal(sides.array({"shape": [1], "fill": "start"}), [0.25])
    assert sides.array({"shape": [2], "dtype": "int"}).dtype == np.int64


@pytest.mark.parametrize("tau", [150, 10**15])
def test_a_window_gets_its_room_as_rounds_come(tau):
    """However long, however the stream is cut, and beyond a pass whose length was told."""
    data = clouds()
    kernel = {"kind": "gaussian", "sigma": 2.0}
    spec = algo_spec("norma")
    params = {**spec.defaults, "kernel": kernel, "tau": tau}
    learners = [
        Learner(spec, params, {"normalise": "none", "kernels": [kernel]}, data.d, 1, rounds=rounds)
        for rounds in (None, 2 * data.T, 10)
    ]
    twice = np.concatenate([np.arange(data.T)] * 2)
    parts = ([twice], [twice[:200], twice[200:]], [twice[:1], twice[1:300], twice[300:]])
    scores = []
    for learner, rows in zip(learners, parts, strict=True):
        scores.append(np.concatenate([learner.run(stream_of(data, part))[0].score for part in rows]))
        assert learner.state["window"].shape == (3, min(tau, 2 * data.T + 1))
    for learner, score in zip(learners[1:], scores[1:], strict=True):
        np.testing.assert_array_equal(score, scores[0])
        assert_same(state(learner), state(learners[0]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["algo=bomkc_fogd", "algo.D=3000000000"],
            r"algo\.D=3000000000 with d = 1: bomkc_fogd takes [\d,.]+ GiB",
        ),
        (
            ["algo=ridge_features", "algo.D=1000000"],
            r"algo\.D=1000000 with d = 2: ridge_features takes [\d,.]+ GiB",
        ),
    ],
)
def test_a_state_larger_than_the_memory_is_refused_before_any_work(tmp_path, words, said):
    asked = _plan(tmp_path, *words)
    with pytest.raises(UserError, match=said):
        runner.run_plan(asked)
    assert not (tmp_path / "store").exists()
    with pytest.raises(UserError, match=said):  # on another machine: that cell fails
        run_cell(expand(asked)[0].job)


def test_what_fits_is_run_and_what_is_there_needs_no_memory(tmp_path, monkeypatch):
    asked = _plan(tmp_path, "algo=rff", "algo.D=10", "reps=1")
    assert len(runner.run_plan(asked).cells) == 1
    monkeypatch.setattr(arrays, "memory", lambda: 0)
    assert runner.run_plan(asked).reused == 1
    assert arrays.bytes_needed(algo_spec("rff"), {"D": 10}, 1, 2) == 8 * (3 * 10 * 2 + 20)


LEARNERS = ("perceptron", "arow", "omkc_dd", "bomkc_rbp", "bomkc_spa", "bomkc_fogd", "perceptron_star")


@pytest.mark.parametrize("name", LEARNERS)
def test_columns_are_counted_by_those_in_use_where_there_are_very_many(name):
    """Not a bit of a result changes, and the room for 2^31 columns is never asked for."""
    few = clouds(T=80)
    spec = algo_spec(name)
    names = np.array([0, 7, 2**24, 2**30, 2**31 - 2], np.int32)
    many = dataclasses.replace(few, indices=names[few.indices], d=2**31 - 1)
    used = pool("paper16" if spec.usual_pool is None else spec.usual_pool) if spec.kernels == "pool" else None
    params = spec.defaults | ({"budget": 10} if "budget" in spec.defaults else {})

    def figures(data):
        found = run_pass(spec, params, used, data, np.arange(data.T), 1)
        return {key: value for key, value in found.items() if key != "seconds"}

    right = figures(few)
    found, peak = peak_bytes(figures, many)
    assert found == right
    assert peak < 2**26
    assert many.indices.max() == 2**31 - 2  # the data themselves are as they were


def test_up_to_that_many_columns_nothing_is_renumbered():
    data = dataclasses.replace(clouds(T=5), d=MANY)
    assert compact(data) is data
    names = [registry.entry(name) for name in registry.names()]
    assert max(item.d for item in names) < MANY  # random features are drawn for all columns of these


def test_two_lines_that_name_the_last_column_take_no_room(tmp_path):
    (tmp_path / "mine.libsvm").write_text("1 1:1\n-1 2147483647:1\n")
    words = ["algo=perceptron,omkc_dd,bomkc_fogd,rff", f"data={tmp_path / 'mine.libsvm'}", "reps=2"]
    asked = plan([*words, "yardsticks=[majority,arow]", f"store={tmp_path / 'store'}", "exec=serial"])
    outcome, peak = peak_bytes(runner.run_plan, asked)
    assert not outcome.failed
    assert len(outcome.cells) == 12
    assert set(outcome.cells["T"]) == {2}
    batch, more = peak_bytes(Batch, omkl.data.load(asked.data[0]), pool("paper16"))
    assert batch.fit(15, 1.0).norm2 > 0
    assert max(peak, more) < 2**28


def peak_bytes(function, *args):
    """Return what the call returns and the most bytes that numpy and Python held for it."""
    tracemalloc.start()
    try:
        return function(*args), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _plan(tmp_path, *words):
    rows = "".join(f"{i % 5} 1:{i} 2:{i % 7}\n" for i in range(40))
    (tmp_path / "mine.libsvm").write_text(rows)
    here = [f"data={tmp_path / 'mine.libsvm'}", f"store={tmp_path / 'store'}", "exec=serial", "yardsticks=[]"]
    if "fogd" in words[0]:
        (tmp_path / "mine.libsvm").write_text("+1 1:1\n-1 1:2\n")
        return plan([*words, *here])
    return plan([*words, *here, "task=regression"])
