"""A learner's arrays: their shapes from its YAML, and the memory that they would take."""

import dataclasses
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from support.engine_cases import assert_same, case_stream, clouds, state

from omkl.config import learner_spec, plan, pool
from omkl.data import compact, registry
from omkl.data.dataset import MANY
from omkl.engine.expansion import BLOCK
from omkl.errors import UserError
from omkl.passes import Learner, run_pass
from omkl.passes.cell import run_cell
from omkl.runs import runner
from omkl.runs.cells import expand
from omkl.state import cost
from omkl.state.cost import bytes_needed
from omkl.state.resource import Setup
from omkl.state.state import grow_part, make, parse
from omkl.theorems.batch import Batch

HYPER = {"D": 7, "levels": 3, "tau": 9, "start": 0.25, "lam": 4.0}


def test_the_memory_of_a_pass_is_that_of_its_distinct_arrays():
    a = np.zeros((4, 5))
    assert cost.held_bytes({"a": a, "again": a}, (a.astype(np.int32), [a[1:]], 3, None)) == 160 + 80 + 120
    memory = []
    for T in (30, 60):
        dataset, kernel = clouds(T, 5), {"kernel": {"kind": "linear"}}
        figures = run_pass(learner_spec("perceptron"), kernel, None, dataset, np.arange(T), 0)
        memory.append(figures["memory"])
    assert 12 * 30 * 5 < memory[0] < memory[1]


def made(**forms):
    """The resources that these forms describe, for two kernels and five features."""
    pool = {"normalise": "none", "kernels": [{"kind": "linear"}] * 2}
    return make(parse(forms, HYPER), Setup(HYPER, pool, 5, block=8))


def test_shapes_and_fills():
    arrays = made(
        a={"shape": ["m", "2D", 4]},
        b={"shape": ["levels m", "d"], "fill": "1/m"},
        c={"shape": [1], "fill": "start"},
        e={"shape": [2], "dtype": "int"},
        f={"shape": ["m", "m"], "diagonal": "1/lam"},
        g={"shape": [3, "tau"], "grows": "e"},
    )
    assert [arrays[name].shape for name in "abg"] == [(2, 14, 4), (6, 5), (3, 0)]
    assert (set(arrays["b"].ravel()), arrays["c"][0], arrays["e"].dtype) == ({0.5}, 0.25, np.int64)
    np.testing.assert_array_equal(arrays["f"], [[0.25, 0.0], [0.0, 0.25]])
    stack = made(P={"shape": ["m", "tau", "tau"], "diagonal": "lam"})["P"]
    np.testing.assert_array_equal(stack, [4.0 * np.eye(9)] * 2)


def test_a_dictionary_has_no_limit_and_its_matrices_grow_with_it():
    forms = parse({"B": {"slots": "all"}, "G": {"shape": ["B", "B"]}, "g": {"shape": [2, "B"]}}, HYPER)
    arrays = make(forms, Setup(HYPER, {"normalise": "none", "kernels": [{"kind": "linear"}]}, 5, block=8))
    assert (arrays["G"].shape, arrays["g"].shape, bytes_needed(forms, Setup(HYPER))["G"]) == (
        (0, 0),
        (2, 0),
        0,
    )
    stream = case_stream(clouds(T=30))
    grow_part(forms, arrays, stream, learn=True)
    arrays["G"][3, 4] = 7.0
    grow_part(forms, arrays, stream, learn=False)
    assert (len(arrays["B"].A), arrays["G"].shape, arrays["g"].shape) == (30, (30, 30), (2, 30))
    arrays["B"].n_sv[0] = 30
    grow_part(forms, arrays, stream, learn=True)
    assert (arrays["G"].shape, arrays["G"][3, 4], arrays["G"].sum()) == ((60, 60), 7.0, 7.0)


def test_a_hyperparameter_may_stand_for_how_features_are_drawn():
    forms = parse(
        {"F": {"features": "D", "kind": {"how": {"plain": "iid", "odd": "squared"}}}}, {"D": 7, "how": "x"}
    )
    kernel = {"kind": "gaussian", "sigma": 0.5}
    plain, odd = (
        make(
            forms,
            Setup(
                {"D": 7, "how": how}, {"normalise": "none", "kernels": [kernel]}, 5, np.random.default_rng(1)
            ),
        )
        for how in ("plain", "odd")
    )
    np.testing.assert_allclose(odd["F"].V, 2.0 * plain["F"].V)  # 1 / sigma^2 in place of 1 / sigma


def test_what_hyperparameters_leave_out_is_not_there():
    forms = {"E": {"expansion": True, "unless": "tau", "copies": "levels"}, "B": {"slots": "tau"}}
    assert made(**forms)["B"].limit[0] == 9
    assert "E" not in made(**forms)
    assert made(E={"expansion": True, "copies": "levels"})["E"].A.shape[0] == 6


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("round", "E: must be 'rounds' or have exactly one of the keys shape, expansion, slots, features"),
        ({"shape": ["n"]}, "E: 'n' is not a hyperparameter"),
        ({"shape": ["2 D"]}, "E: '2 D' is not a length such as m, 2D"),
        ({"shape": [1.5]}, "E: shape: 1.5 is not a length"),
        ({"shape": []}, "E: shape must be a list"),
        ({"shape": [1], "fil": 1}, "E: unknown key 'fil' (did you mean 'fill'?)"),
        ({"shape": [1], "fill": "1/n"}, "E: 'n' is not a hyperparameter"),
        ({"shape": [1], "dtype": "text"}, "E: dtype must be float or int, got 'text'"),
        ({"shape": ["tau"], "grows": "now"}, "E: grows: there is no array 'now'"),
        ({"shape": [1], "domain": "positive"}, "E: 'positive' is not a domain such as '(0, 1)'"),
        ({"shape": [2, 2], "gram": "B"}, "E: gram: there are no slots 'B'"),
        ({"slots": "budgt"}, "E: 'budgt' is not a hyperparameter"),
        ({"shape": ["E"]}, "E: 'E' is not a hyperparameter"),
        (
            {"features": "D", "kind": {"lam": {4.0: "idd"}}},
            "E: 'idd' is not a hyperparameter (did you mean 'iid'?)",
        ),
        (
            {"features": "D", "kind": {"lam": "iid"}},
            "E: kind must be a word or {hyperparameter: {value: kind}}",
        ),
        ({"features": "D"}, "E: kind is missing"),
        (
            {"features": "D", "kind": "orthogonl"},
            "E: 'orthogonl' is not a hyperparameter (did you mean 'orthogonal'?)",
        ),
        ({"expansion": True, "slots": "tau"}, "E: must be 'rounds' or have exactly one of the keys"),
    ],
)
def test_a_faulty_form_is_an_error(form, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse({"E": form}, HYPER)


@pytest.mark.parametrize("tau", [150, 10**15])
def test_a_window_gets_its_room_as_rounds_come(tau):
    """However long, however the stream is cut, and beyond a pass whose length was given."""
    data = clouds()
    kernel = {"kind": "gaussian", "sigma": 2.0}
    spec = learner_spec("norma")
    params = {**spec.defaults, "kernel": kernel, "tau": tau}
    learners = [
        Learner(spec, params, {"normalise": "none", "kernels": [kernel]}, data.d, 1, rounds=rounds)
        for rounds in (None, 2 * data.T, 10)
    ]
    twice = np.concatenate([np.arange(data.T)] * 2)
    parts = ([twice], [twice[:200], twice[200:]], [twice[:1], twice[1:300], twice[300:]])
    scores = []
    for learner, rows in zip(learners, parts, strict=True):
        scores.append(np.concatenate([learner.run(case_stream(data, part))[0].score for part in rows]))
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
    this_plan = _plan(tmp_path, *words)
    with pytest.raises(UserError, match=said):
        runner.run_plan(this_plan)
    assert not (tmp_path / "store").exists()
    with pytest.raises(UserError, match=said):  # on another machine: that cell fails
        run_cell(expand(this_plan)[0])


def test_what_fits_is_run_and_what_is_there_needs_no_memory(tmp_path, monkeypatch):
    this_plan = _plan(tmp_path, "algo=rff", "algo.D=10", "reps=1")
    assert len(runner.run_plan(this_plan).cells) == 1
    monkeypatch.setattr(cost, "memory", lambda: 0)
    assert runner.run_plan(this_plan).reused == 1
    needed = bytes_needed(learner_spec("rff").state, Setup({"D": 10}, d=2))
    assert needed == {"F": 8 * 3 * 10 * 2, "theta": 8 * 20, "T": 0}


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(("name", "block"), [("omkc_ss", 0), ("perceptron", 64), ("bomkc_rbp", 512)])
def test_open_blocks_and_tables_are_counted(name, block, classes):
    spec = learner_spec(name)
    params = spec.usual("classification")
    pools = (
        pool("paper16") if spec.kernels == "pool" else {"normalise": "none", "kernels": [params["kernel"]]}
    )
    setup = Setup(params, pools, 3000, block=block, classes=classes)
    (resource,) = [key for key, form in spec.state.items() if not hasattr(form, "shape")]
    needed = bytes_needed(spec.state, setup)[resource]
    held = cost.held_bytes(make(spec.state, replace(setup, block=block or BLOCK))[resource])
    assert held <= needed < 1.8 * held


def test_very_many_kernels_are_refused_before_a_block_is_made(tmp_path, monkeypatch):
    spec, kernels = learner_spec("omkc_ss"), [{"kind": "gaussian", "sigma": 1.0}] * 100_000
    many = Setup(spec.usual("classification"), {"normalise": "none", "kernels": kernels}, 4, block=65536)
    assert sum(bytes_needed(spec.state, many).values()) > 3 * 8 * 65536 * 100_000
    this_plan = _plan(tmp_path, "algo=okr", "reps=1")
    monkeypatch.setattr("omkl.state.cost.memory", lambda: 2**16)
    with pytest.raises(UserError, match=r"1 kernel with d = 2: okr takes 0\.0 GiB on data=mine"):
        runner.run_plan(this_plan)


LEARNERS = ("perceptron", "arow", "omkc_dd", "bomkc_rbp", "bomkc_spa", "bomkc_fogd", "perceptron_star")


@pytest.mark.parametrize("name", LEARNERS)
def test_columns_are_counted_by_those_in_use_where_there_are_very_many(name):
    """Not a bit of a result changes, and the room for 2^31 columns is never reserved."""
    few = clouds(T=80)
    spec = learner_spec(name)
    names = np.array([0, 7, 2**24, 2**30, 2**31 - 2], np.int32)
    many = dataclasses.replace(few, indices=names[few.indices], d=2**31 - 1)
    used = pool("paper16" if spec.usual_pool is None else spec.usual_pool) if spec.kernels == "pool" else None
    params = spec.defaults | ({"budget": 10} if "budget" in spec.defaults else {})

    def figures(data):
        cell = run_pass(spec, params, used, data, np.arange(data.T), 1)
        return {key: value for key, value in cell.items() if key != "seconds"}

    right = figures(few)
    wide, peak = peak_bytes(figures, many)
    assert wide == right
    assert peak < 2**26
    assert many.indices.max() == 2**31 - 2  # the data themselves are as they were


def test_up_to_that_many_columns_nothing_is_renumbered():
    data = dataclasses.replace(clouds(T=5), d=MANY)
    assert compact(data) is data
    names = [registry.entry(name) for name in registry.registered_names()]
    assert max(item.d for item in names) < MANY  # random features are drawn for all columns of these


def test_two_lines_that_name_the_last_column_take_no_room(tmp_path):
    (tmp_path / "mine.libsvm").write_text("1 1:1\n-1 2147483647:1\n")
    words = ["algo=perceptron,omkc_dd,bomkc_fogd,rff", f"data={tmp_path / 'mine.libsvm'}", "reps=2"]
    this_plan = plan([*words, "yardsticks=[majority,arow]", f"store={tmp_path / 'store'}", "exec=serial"])
    outcome, peak = peak_bytes(runner.run_plan, this_plan)
    assert not outcome.failed
    assert len(outcome.cells) == 12
    assert set(outcome.cells["T"]) == {2}
    batch, more = peak_bytes(Batch, this_plan.data[0].load(), pool("paper16"))
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
