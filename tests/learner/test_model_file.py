"""Saved models: what is read is what was written, and nothing else is read."""

import hashlib
import json
import math
import os
import random
import signal
import struct
import sys

import numpy as np
import pytest
from support.engine_cases import clouds, pool_for, stream_of

import omkl.data
from omkl.config import learner_names, learner_spec, pool
from omkl.engine.stream import part
from omkl.errors import Overflow, UserError
from omkl.learner import Learner, model_file
from omkl.learner.model import score
from omkl.learner.saved import pack, unpack


def trained(name, rounds=60):
    """A learner in the middle of a stream, and the stream's rest."""
    spec, data = learner_spec(name), clouds(160)
    params = spec.usual(spec.tasks[0])
    params |= {"budget": 8} if "budget" in params else {}
    params |= {"tau": 10} if "tau" in params else {}
    given = pool_for(spec, params, spec.usual_pool or "paper16_cosine")
    return Learner(spec, params, given, data.d, 3, rounds=data.T), stream_of(data), rounds


def halves(stream, at):
    return part(stream, 0, at), part(stream, at, stream.T)


@pytest.mark.parametrize("name", learner_names())
def test_a_saved_learner_goes_on_as_if_it_had_never_stopped(name, tmp_path):
    learner, stream, at = trained(name)
    first, rest = halves(stream, at)
    learner.run(first)
    model_file.write(tmp_path / "model.omkl", learner, {"task": "any"})
    loaded, about = model_file.read(tmp_path / "model.omkl")
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
    model_file.write(path, learner, {"rounds": at})
    learner.run(rest)
    for step in range(1, 10_000, 7):
        child = os.fork()
        if not child:
            calls = iter(range(step, 0, -1))

            def dies(frame, event, argument, calls=calls):
                if event == "c_call" and next(calls) == 1:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.setprofile(dies)
            model_file.write(path, learner, {"rounds": at + 1})
            os._exit(0)
        _, status = os.waitpid(child, 0)
        loaded, about = model_file.read(path)
        left.append(about["rounds"])
        if os.waitstatus_to_exitcode(status) == 0:
            break
    assert os.waitstatus_to_exitcode(status) == 0
    assert sorted(set(left)) == [at, at + 1]
    assert left == sorted(left)  # the old one until the new one is whole
    assert pack(loaded)[0] == pack(learner)[0]


def content(path):
    """The header and the arrays' bytes of a model."""
    raw = path.read_bytes()[len(model_file.MAGIC) + 65 :]
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def forged(path, header, arrays):
    """A model with a hash that fits."""
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + arrays
    path.write_bytes(model_file.MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)


@pytest.fixture
def model(tmp_path):
    learner, stream, at = trained("bomkc_rbp")
    learner.run(halves(stream, at)[0])
    model_file.write(tmp_path / "model.omkl", learner, {})
    return tmp_path / "model.omkl"


def test_arrays_with_nan_are_refused(model):
    """Their scores would be NaN, and every prediction a mistake, without a word."""
    header, arrays = content(model)
    at, tried = 0, 0
    for name, kind, shape in header["arrays"]:
        if kind == "<f8" and math.prod(shape):
            forged(model, header, arrays[:at] + struct.pack("<d", math.nan) + arrays[at + 8 :])
            with pytest.raises(UserError, match=r"is not a valid model: .*holds NaN") as error:
                model_file.read(model)
            assert name.partition(".")[0] in str(error.value)
            tried += 1
        at += math.prod(shape) * int(kind[-1])
    assert tried > 1


def test_a_learner_that_overflowed_is_not_saved_and_the_file_stays(model):
    learner, before = model_file.read(model)[0], model.read_bytes()
    learner.state["B"].A[0, 0] = math.nan
    with pytest.raises(Overflow, match=r"what the model has learnt overflowed \(B\.A\)"):
        model_file.write(model, learner, {})
    assert model.read_bytes() == before


def test_a_damaged_file_is_refused(model):
    raw = model.read_bytes()
    for at in (0, 15, 90, len(raw) - 1):
        model.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        with pytest.raises(
            UserError, match=r"model\.omkl is (damaged|not a model|a model of another version)"
        ):
            model_file.read(model)
    model.write_bytes(raw[:-10])
    with pytest.raises(UserError, match="damaged"):
        model_file.read(model)
    with pytest.raises(UserError, match="No such file"):
        model_file.read(model.with_name("none"))


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
        (lambda h: h["model"]["pool"]["kernels"].pop(), "is float64"),
        (lambda h: h["arrays"][0].__setitem__(2, [10**9, 10**9]), "longer than the file"),
        (lambda h: h["arrays"][0].__setitem__(1, "|O"), "type or shape"),
        (lambda h: h["arrays"].pop(), "longer than its arrays"),
        (lambda h: h["arrays"].append(["B.A", "<f8", [0]]), "given twice"),
        (lambda h: h["arrays"].append(["x.y", "<f8", [0]]), "no array 'x.y'"),
    ],
)
def test_a_forged_header_is_refused(model, change, said):
    header, arrays = content(model)
    change(header)
    forged(model, header, arrays)
    with pytest.raises(UserError, match=said):
        model_file.read(model)


@pytest.mark.parametrize(
    "name", ["bomkc_rbp", "omkc_ss", "norma", "adaraker", "bomkc_nogd", "bomkc_forgetron"]
)
def test_whatever_the_arrays_hold_nothing_is_indexed_out_of_bounds(name, tmp_path):
    """Whole numbers of a model are changed at random: it is refused, or predicts and learns without harm."""
    learner, stream, at = trained(name)
    first, rest = halves(stream, at)
    learner.run(first)
    path, rng, refused = tmp_path / "model.omkl", random.Random(1), 0
    model_file.write(path, learner, {})
    header, arrays = content(path)
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
        forged(path, header, bytes(changed))
        try:
            loaded, _ = model_file.read(path)
        except UserError:
            refused += 1
            continue
        score(loaded, rest.indptr, rest.indices, rest.values)
        try:
            loaded.run(rest)
        except ZeroDivisionError:
            continue
    assert refused > 5


def test_vectors_longer_than_their_norms_are_refused():
    """Kernel values are looked up at dot products, which the norms bound."""
    rng = np.random.default_rng(0)
    X, y = (rng.random((400, 20)) < 0.3).astype(float), np.where(rng.random(400) < 0.5, 1, -1)
    spec, rows = learner_spec("omkc_dd"), stream_of(omkl.data.from_arrays(X, y))

    learner = Learner(spec, spec.usual("classification"), pool("paper16"), 20, 1)
    learner.run(rows)
    header, arrays = pack(learner)
    np.testing.assert_array_equal(score_of(unpack(header, arrays), rows), score_of(learner, rows))
    twice = arrays["E.indices"].copy()
    twice[arrays["E.indptr"][7] : arrays["E.indptr"][8]] = 3
    for change, said in [
        ({"E.values": arrays["E.values"] * 1e8}, "a squared norm is not that of its vector"),
        ({"E.norm2": arrays["E.norm2"] * (1 - 1e-10)}, "a squared norm is not that of its vector"),
        ({"E.indices": twice}, "a vector has a column twice"),
    ]:
        with pytest.raises(ValueError, match=f"E: {said}"):
            unpack(header, arrays | change)


@pytest.mark.parametrize("count", [2**40, -3])
def test_a_forged_count_of_free_places_is_refused(count):
    learner, stream, at = trained("bomkc_rbp")
    learner.run(halves(stream, at)[0])
    header, arrays = pack(learner)
    with pytest.raises(ValueError, match="B: a count of examples is outside"):
        unpack(header, arrays | {"B.n_free": np.array([count])})


def score_of(learner, rows):
    return learner.run(rows, learn=False)[0].score
