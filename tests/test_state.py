"""A learner's arrays: their shapes from its YAML, and the memory that they would take."""

import numpy as np
import pytest
from engine_cases import assert_same, clouds, one_pass, state, stream_of

from omkl import runner
from omkl import state as arrays
from omkl.config import algo_spec, plan
from omkl.errors import UserError
from omkl.learner import Learner
from omkl.state import Sides


def test_shapes_and_fills():
    sides = Sides({"D": 7, "levels": 3, "tau": None, "start": 0.25}, m=2, d=5)
    assert sides.shape({"shape": ["m", "2D", 4]}) == (2, 14, 4)
    assert sides.shape({"shape": ["levels m", "tau", "d"]}) == (6, 0, 5)
    np.testing.assert_array_equal(sides.array({"shape": ["m"], "fill": "1/m"}), [0.5, 0.5])
    np.testing.assert_array_equal(sides.array({"shape": [1], "fill": "start"}), [0.25])
    assert sides.array({"shape": [2], "dtype": "int"}).dtype == np.int64


def test_a_window_beyond_the_pass_takes_no_more_room_than_the_pass():
    data = clouds()
    kernel = {"kind": "gaussian", "sigma": 2.0}
    spec = algo_spec("norma")
    params = {**spec.defaults, "kernel": kernel, "tau": 10**15}
    learner = Learner(spec, params, {"normalise": "none", "kernels": [kernel]}, data.d, 1, rounds=data.T)
    trace, _ = learner.run(stream_of(data))
    same, its = one_pass("norma", data, kernel=kernel, tau=data.T + 1)
    np.testing.assert_array_equal(trace.score, its.score)
    assert_same(state(learner), state(same))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (["algo=bomkc_fogd", "algo.D=3000000000"], r"algo\.D=3000000000: bomkc_fogd would take [\d,]+ GiB"),
        (["algo=ridge_features", "algo.D=1000000"], r"algo\.D=1000000: ridge_features would take [\d,]+ GiB"),
        (["algo=bomkc_nogd", "algo.budget=350"], r"algo\.budget=350: bomkc_nogd would take 0 GiB"),
    ],
)
def test_a_state_larger_than_the_memory_is_refused_before_any_work(tmp_path, monkeypatch, word, said):
    rows = "".join(f"{(-1) ** i} 1:{i} 2:{i % 7}\n" for i in range(400))
    (tmp_path / "mine.libsvm").write_text(rows)
    if "350" in said:
        monkeypatch.setattr(arrays, "memory", lambda: 10**6)
    words = [*word, f"data={tmp_path / 'mine.libsvm'}", f"store={tmp_path / 'store'}", "exec=serial"]
    task = ["task=regression"] if "ridge" in said else []
    with pytest.raises(UserError, match=said):
        runner.run_plan(plan([*words, *task]))
    assert not (tmp_path / "store").exists()
