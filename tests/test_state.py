"""A learner's arrays: their shapes from its YAML, and the memory that they would take."""

import numpy as np
import pytest
from engine_cases import assert_same, clouds, state, stream_of

from omkl import runner
from omkl import state as arrays
from omkl.cells import expand, run_cell
from omkl.config import algo_spec, plan
from omkl.errors import UserError
from omkl.learner import Learner
from omkl.state import Sides


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
        (["algo=bomkc_fogd", "algo.D=3000000000"], r"algo\.D=3000000000: bomkc_fogd takes [\d,.]+ GiB"),
        (["algo=ridge_features", "algo.D=1000000"], r"algo\.D=1000000: ridge_features takes [\d,.]+ GiB"),
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


def _plan(tmp_path, *words):
    rows = "".join(f"{i % 5} 1:{i} 2:{i % 7}\n" for i in range(40))
    (tmp_path / "mine.libsvm").write_text(rows)
    here = [f"data={tmp_path / 'mine.libsvm'}", f"store={tmp_path / 'store'}", "exec=serial", "yardsticks=[]"]
    if "fogd" in words[0]:
        (tmp_path / "mine.libsvm").write_text("+1 1:1\n-1 1:2\n")
        return plan([*words, *here])
    return plan([*words, *here, "task=regression"])
