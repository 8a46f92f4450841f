"""Saved models: what is read is what was written, and nothing else is read."""

import contextlib
import math
import os
import random
import re
import signal
import struct
import sys
import tracemalloc

import numpy as np
import pytest
from support.engine_cases import case_stream
from support.forged_models import Models, about_of, content, forged, trained

import omkl.data
from omkl.algorithms import function
from omkl.config import learner_names, learner_spec, pool
from omkl.engine.stream import part
from omkl.errors import Overflow, UserError
from omkl.models import model_file
from omkl.models.asked import score
from omkl.passes import Learner
from omkl.passes.packing import pack, unpack


def halves(stream, at):
    return part(stream, 0, at), part(stream, at, stream.T)


@pytest.mark.parametrize("name", learner_names())
def test_a_saved_learner_goes_on_as_if_it_had_never_stopped(name, tmp_path):
    learner, stream, at = trained(name)
    first, rest = halves(stream, at)
    learner.run(first)
    model_file.write_model(tmp_path / "model.omkl", learner, {"task": "any"})
    loaded, about = model_file.read_model(tmp_path / "model.omkl")
    assert about == {"task": "any"}
    mine, theirs = (one.run(rest)[0] for one in (learner, loaded))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    header, arrays = pack(learner)
    again, same = pack(loaded)
    assert header == again
    for key, array in arrays.items():
        np.testing.assert_array_equal(array, same[key], err_msg=key)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_save_killed_at_any_step_leaves_the_old_model_or_the_new(tmp_path):
    """The saving process kills itself at every seventh of its calls of C functions."""
    learner, stream, at = trained("omkc_ss")
    first, rest = halves(stream, at)
    learner.run(first)
    path, left = tmp_path / "model.omkl", []
    model_file.write_model(path, learner, {"rounds": at})
    learner.run(rest)
    for step in range(1, 10_000, 7):
        child = os.fork()
        if not child:
            calls = iter(range(step, 0, -1))

            def dies(frame, event, argument, calls=calls):
                if event == "c_call" and next(calls) == 1:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.setprofile(dies)
            model_file.write_model(path, learner, {"rounds": at + 1})
            os._exit(0)
        _, status = os.waitpid(child, 0)
        loaded, about = model_file.read_model(path)
        left.append(about["rounds"])
        if os.waitstatus_to_exitcode(status) == 0:
            break
    assert os.waitstatus_to_exitcode(status) == 0
    assert sorted(set(left)) == [at, at + 1]
    assert left == sorted(left)  # the old one until the new one is whole
    assert pack(loaded)[0] == pack(learner)[0]


@pytest.fixture
def model(tmp_path):
    learner, stream, at = trained("bomkc_rbp")
    learner.run(halves(stream, at)[0])
    model_file.write_model(tmp_path / "model.omkl", learner, {})
    return tmp_path / "model.omkl"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_arrays_with_nan_are_refused(model, value):
    """Their scores would be NaN, and every prediction a mistake, without a word."""
    header, arrays = content(model.read_bytes())
    at, tried = 0, 0
    for name, kind, shape in header["arrays"]:
        if kind == "<f8" and math.prod(shape):
            model.write_bytes(forged(header, arrays[:at] + struct.pack("<d", value) + arrays[at + 8 :]))
            with pytest.raises(UserError, match=r"is not a valid model: .*holds NaN or infinity") as error:
                model_file.read_model(model)
            assert name.partition(".")[0] in str(error.value)
            tried += 1
        at += math.prod(shape) * int(kind[-1])
    assert tried > 1


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_learner_that_overflowed_is_not_saved_and_the_file_stays(model, value):
    learner, before = model_file.read_model(model)[0], model.read_bytes()
    learner.state["B"].A[0, 0] = value
    with pytest.raises(Overflow, match=r"what the model has learnt overflowed \(B\.A\)"):
        model_file.write_model(model, learner, {})
    assert model.read_bytes() == before


def test_a_damaged_file_is_refused(model):
    raw = model.read_bytes()
    for at in (0, 15, 90, len(raw) - 1):
        model.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        with pytest.raises(
            UserError, match=r"model\.omkl is (damaged|not a model|a model of another version)"
        ):
            model_file.read_model(model)
    model.write_bytes(raw[:-10])
    with pytest.raises(UserError, match="damaged"):
        model_file.read_model(model)
    with pytest.raises(UserError, match="No such file"):
        model_file.read_model(model.with_name("none"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h: h["model"].update(learner="no_such"), "no_such"),
        (lambda h: h["model"].update(revision=99), "revision 99"),
        (lambda h: h["model"]["params"].update(gamma=7), "gamma"),
        (lambda h: h["model"]["params"].pop("gamma"), "hyperparameters"),
        (lambda h: h["model"].update(d=-1), "d must be"),
        (lambda h: h["model"].update(d=10**9), "d must be"),
        (lambda h: h["model"].update(block=0), "block must be"),
        (lambda h: h["model"]["rng"].update(bit_generator="MT19937"), "random generator"),
        (lambda h: h["model"]["rng"].pop("state"), "random generator"),
        (lambda h: h["model"]["pool"]["kernels"].pop(), r"'n_sv' is not of shape \(16,\)|is float64"),
        (lambda h: h["arrays"][0].__setitem__(2, [10**9, 10**9]), "longer or shorter than its header says"),
        (lambda h: h["arrays"][0].__setitem__(1, "|O"), "type or shape"),
        (lambda h: h["arrays"].pop(), "longer or shorter than its header says"),
        (lambda h: h["arrays"].append(["B.A", "<f8", [0]]), "given twice"),
        (lambda h: h["arrays"].append(["x.y", "<f8", [0]]), "no array 'x.y'"),
        (lambda h: h["about"].update(classes=["a"]), "its classes are not 2 different names"),
        (lambda h: h["about"].update(classes=["a", "a"]), "its classes are not 2 different names"),
        (lambda h: h["about"].update(classes=["a", ["b"]]), "its classes are not 2 different names"),
        (lambda h: h["about"].update(task="classification"), "the names of its classes are missing"),
        (lambda h: h["model"].update(classes=1000), "the names of its classes are missing"),
        (lambda h: h["about"].update(features=["a"]), "its features are not 5 different names"),
        (lambda h: h["about"].update(features=["a", "a"]), "its features are not 5 different names"),
        (lambda h: h["model"]["pool"]["kernels"].append({"kind": ["linear"] * 9}), "a list of kernels"),
    ],
)
def test_a_forged_header_is_refused(model, change, said):
    header, arrays = content(model.read_bytes())
    change(header)
    model.write_bytes(forged(header, arrays))
    with pytest.raises(UserError, match=said):
        model_file.read_model(model)


@pytest.mark.parametrize(
    "name", ["bomkc_rbp", "omkc_ss", "norma", "adaraker", "bomkc_nogd", "bomkc_forgetron"]
)
def test_whatever_the_arrays_hold_nothing_is_indexed_out_of_bounds(name, tmp_path):
    """Whole numbers of a model are changed at random: it is refused, or predicts and learns without harm."""
    learner, stream, at = trained(name)
    first, rest = halves(stream, at)
    learner.run(first)
    path, rng, refused = tmp_path / "model.omkl", random.Random(1), 0
    model_file.write_model(path, learner, {})
    header, arrays = content(path.read_bytes())
    places, start = [], 0
    for _, kind, shape in header["arrays"]:
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        places += (
            [(start + i, kind) for i in range(0, size, np.dtype(kind).itemsize)] if kind != "<f8" else []
        )
        start += size
    for _ in range(60):
        where, kind = rng.choice(places)
        value = rng.choice([-1, 2**31 - 1, -(2**31), 7, 2**62 if kind == "<i8" else 3])
        changed = bytearray(arrays)
        changed[where : where + np.dtype(kind).itemsize] = np.array(value & (2**64 - 1), "<u8").tobytes()[
            : np.dtype(kind).itemsize
        ]
        path.write_bytes(forged(header, bytes(changed)))
        try:
            loaded, _ = model_file.read_model(path)
        except UserError:
            refused += 1
            continue
        score(loaded, rest.indptr, rest.indices, rest.values)
        try:
            loaded.run(rest)
        except ZeroDivisionError:
            continue
    assert refused > 5


def saved(name, path):
    """The header and the arrays of a learner's model, as `omkl fit` would save it."""
    learner, stream, at = trained(name)
    learner.run(halves(stream, at)[0])
    model_file.write_model(path, learner, about_of(learner))
    return content(path.read_bytes())


def with_array(header, arrays, name, value):
    """The arrays' bytes with this value in all places of an array."""
    start = 0
    for entry, kind, shape in header["arrays"]:
        size = math.prod(shape) * int(kind[-1])
        if entry == name:
            return arrays[:start] + np.full(math.prod(shape), value, kind).tobytes() + arrays[start + size :]
        start += size
    raise KeyError(name)


@pytest.mark.parametrize(
    ("name", "array", "value", "said"),
    [
        ("bomkc_projectronpp", "G.", 0.0, "G: a factored Gram matrix has a diagonal that is not positive"),
        ("krls_ald", "G.", -1.0, "G: a factored Gram matrix has a diagonal that is not positive"),
        ("alma", "scale.", 0.0, "scale: must be a number > 0 and ≤ 1, got 0.0"),
        ("omklo_sua", "w.", 0.0, "w: must be a number > 0 and ≤ 1, got 0.0"),
        ("adaraker_authors", "W.", -1.0, "W: must be a number > 0"),
        ("omkl_gf", "q.", 0.0, "q: must be a number > 0 and ≤ 1, got 0.0"),
        ("alma", "k.", 0, "k: must be a whole number ≥ 1, got 0"),
        ("omkc_ss", "E.max_abs_coefficient", 0.0, "E: a coefficient is above the largest of its kernel"),
        ("norma", "now.", 2**40, "window: the rounds of the window's terms do not fit the rounds learnt"),
        ("norma", "window.", 59.0, "window: the rounds of the window's terms do not fit the rounds learnt"),
        ("raker", "number.", 2**41, "number: a counter is outside"),
    ],
)
def test_numbers_that_a_learner_cannot_go_on_with_are_refused(tmp_path, name, array, value, said):
    path = tmp_path / "model.omkl"
    header, arrays = saved(name, path)
    path.write_bytes(forged(header, with_array(header, arrays, array, value)))
    with pytest.raises(UserError, match=re.escape(f"is not a valid model: {said}")):
        model_file.read_model(path)


@pytest.mark.parametrize("name", [name for name in learner_names() if name != "auto"])
def test_no_learner_divides_by_an_array_of_zeros_or_of_opposite_signs(name, tmp_path):
    """Each plain array in turn: the model is refused, or predicts and learns without an error of Python.

    Of arrays of one name in several members of a stack, one: the members are learners with this test, too,
    as are those of auto, which is a stack.
    """
    path = tmp_path / "model.omkl"
    header, arrays = saved(name, path)
    rows = part(trained(name)[1], 100, 108)
    for array in {array.rpartition(":")[2]: array for array, _, _ in header["arrays"]}.values():
        for value in (0, -1, 1) if array.endswith(".") else ():
            path.write_bytes(forged(header, with_array(header, arrays, array, value)))
            with contextlib.suppress(UserError, Overflow):
                learner = model_file.read_model(path)[0]
                assert not np.isnan(score(learner, rows.indptr, rows.indices, rows.values)).any()
                learner.run(rows)


def test_a_score_that_is_no_number_is_an_overflow():
    learner, stream, rounds = trained("ridge_features")
    learner.run(part(stream, 0, rounds))
    learner.state["theta"][:] = np.nan
    with pytest.raises(Overflow, match="row"):
        score(learner, stream.indptr[:3], stream.indices, stream.values)


def test_vectors_whose_median_overflows_are_all_folded():
    """Fewer than half of them are as large as that; the others' numbers were never written, and were used."""
    size, born = np.full(8, 1.7e308), np.arange(8)
    kept, rest = function("bomkc_ahpatron").py_func.__globals__["_halves"].py_func(size, born)
    assert (kept.size, rest.tolist()) == (0, list(range(8)))
    kept, rest = function("bomkc_ahpatron").py_func.__globals__["_halves"].py_func(np.arange(8.0), born)
    assert (kept.tolist(), rest.tolist()) == ([4, 5, 6, 7], [0, 1, 2, 3])


LARGER = [
    ("raker", lambda h: h["model"]["params"].update(D=10**7)),
    ("raker", lambda h: h["model"].update(d=2**24)),
    ("iegp", lambda h: h["model"]["params"].update(D=30_000)),
    ("bomkc_projectronpp", lambda h: h["model"]["params"].update(budget=10**5)),
    ("adamkl", lambda h: h["model"]["params"].update(levels=10**6)),
    ("omkc_ss", lambda h: h["model"].update(block=65536)),
    ("omkc_ss", lambda h: h["model"].update(classes=1000)),
    ("omkc_ss", lambda h: h["model"]["pool"].update(kernels=[{"kind": "linear"}] * 2000)),
    ("omkc_ss", lambda h: h["model"]["pool"].update(kernels=[PRODUCT])),
    ("norma", lambda h: h["model"]["params"].update(tau=10**12)),
]
PRODUCT = {
    "kind": "polynomial",
    "degree": [*range(1, 900)],
    "scale": [*range(1, 900)],
    "coef0": [*range(900)],
}


def peak_of(call, *args):
    """The most bytes that numpy and Python held for a call."""
    tracemalloc.start()
    try:
        call(*args)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def read_and_score(path, rows):
    """Read a model and score rows with it."""
    try:
        learner = model_file.read_model(path)[0]
    except UserError:
        return
    with contextlib.suppress(Overflow):
        score(learner, rows.indptr, rows.indices, rows.values)


@pytest.mark.parametrize(("name", "change"), LARGER)
def test_a_small_file_never_takes_the_memory_that_its_header_asks_for(tmp_path, name, change):
    path, rows = tmp_path / "model.omkl", part(trained(name)[1], 100, 108)
    header, arrays = saved(name, path)
    read_and_score(path, rows)  # what is loaded once
    honest = peak_of(read_and_score, path, rows)
    change(header)
    path.write_bytes(forged(header, arrays))
    assert peak_of(read_and_score, path, rows) < 2 * honest + 20 * path.stat().st_size


@pytest.mark.slow
def test_forged_models_are_refused_in_one_line_or_predict_and_learn(tmp_path):
    target, rng = Models(tmp_path), random.Random(4)
    findings = [target.finding(target.make(rng)) for _ in range(250)]
    assert [text for text in findings if text] == []


def test_vectors_with_a_column_twice_are_refused():
    """Kernel values are looked up at dot products, which the norms bound."""
    rng = np.random.default_rng(0)
    X, y = (rng.random((400, 20)) < 0.3).astype(float), np.where(rng.random(400) < 0.5, 1, -1)
    spec, rows = learner_spec("omkc_dd"), case_stream(omkl.data.from_arrays(X, y))
    learner = Learner(spec, spec.usual("classification"), pool("paper16"), 20, 1)
    learner.run(rows)
    header, arrays = pack(learner)
    np.testing.assert_array_equal(score_of(unpack(header, arrays), rows), score_of(learner, rows))
    twice = arrays["E.indices"].copy()
    twice[arrays["E.indptr"][7] : arrays["E.indptr"][8]] = 3
    with pytest.raises(ValueError, match="E: a vector has a column twice"):
        unpack(header, arrays | {"E.indices": twice})


def score_of(learner, rows):
    return learner.run(rows, learn=False)[0].score
