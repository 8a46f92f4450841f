"""A few inputs of every fuzz target, under hypothesis and the runner; and the crashes that fuzzing found."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import script
from support.fuzzing import finding, mutated, targets

from omkl import data
from omkl.config import plan
from omkl.data import parse, raw_files, registry
from omkl.errors import OmklError, UserError
from omkl.store.store import Store, StoreWarning

TARGETS = targets()
EXAMPLES = {"config": 8, "command": 40, "words": 100, "spec": 100, "store": 100, "models": 60}
fuzz = script("fuzz")


@pytest.fixture
def target(request, tmp_path):
    made = TARGETS[request.param](tmp_path)
    yield made
    made.close()


each_target = pytest.mark.parametrize("target", TARGETS, indirect=True)


@each_target
def test_what_is_valid_is_accepted(target):
    for seed in target.seeds:
        assert finding(target, seed) is None


@each_target
def test_any_input_is_accepted_or_refused_in_one_line(target):
    @settings(
        max_examples=EXAMPLES.get(type(target).__name__.lower(), 200),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False), st.binary(max_size=60), st.integers(0, 9))
    def tried(rng, noise, kind):
        made = noise if kind == 0 else target.make(rng)
        assert finding(target, made) is None

    tried()


def test_a_finding_is_reported_kept_and_makes_the_exit_code_1(tmp_path, monkeypatch, capsys):
    class Broken(TARGETS["libsvm"]):
        def attempt(self, text):
            if b"7" in text:
                raise ZeroDivisionError("seven")
            if b"3" in text:
                raise OmklError("two\nlines")

    Broken.valid = lambda self: [b"1"]
    monkeypatch.setitem(fuzz.TARGETS, "libsvm", Broken)
    words = ["--target", "libsvm", "--count", "200", "--seed", "4", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["fuzz.py", *words])
    assert fuzz.main() == 1
    said = capsys.readouterr().out
    assert "ZeroDivisionError" in said
    assert "not one line" in said
    assert said.endswith("200 inputs, 2 findings\n")
    assert b"7" in (tmp_path / "libsvm-1").read_bytes() + (tmp_path / "libsvm-2").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "said"), [("while True: pass", "hangs"), ("bytearray(10**11)", "MemoryError")]
)
def test_the_limits_of_time_and_memory_hold(tmp_path, work, said):
    program = f"""
import sys; sys.path.insert(0, {str(Path(fuzz.__file__).parent)!r})
import fuzz, signal
class Slow(fuzz.TARGETS["libsvm"]):
    def attempt(self, text):
        {work}
fuzz.SECONDS = 1
signal.signal(signal.SIGPROF, fuzz._alarm)
print(fuzz.limited(Slow(fuzz.Path({str(tmp_path)!r})), b""))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said in ended.stdout


def test_a_seed_makes_the_same_inputs(tmp_path):
    made = TARGETS["store"](tmp_path)
    first, again = ([made.make(random.Random(3)) for _ in range(5)] for _ in range(2))
    assert first == again
    assert mutated(random.Random(1), [b"abc"], [b"d"]) == mutated(random.Random(1), [b"abc"], [b"d"])


# --- what fuzzing found


def refused(call, *args):
    """The one line that a call is refused with."""
    with pytest.raises(UserError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (b"1 " + b"9" * 30, "above 2147483647"),
        (b"1 " + b"9" * 5000, "above 2147483647"),
        (b"1 2147483648", "above 2147483647"),
        (b"1 2_3", "'2_3' is not a column number"),
        ("1 ٣".encode(), "is not a column number"),
        (b"-1 2", "'-1' is not a column number"),
    ],
)
def test_column_numbers_out_of_range(tmp_path, cells, said):
    path = tmp_path / "columns"
    path.write_bytes(b"1 3\n" + cells + b"\n")
    assert f"{path}:2: " in refused(list, raw_files.ones([path], None))
    assert said in refused(list, raw_files.ones([path], None))


def test_an_index_of_thousands_of_digits(tmp_path):
    path = tmp_path / "libsvm"
    path.write_bytes(b"1 1:1\n-1 " + b"9" * 5000 + b":1\n")
    said = refused(parse.read_libsvm, [path])
    assert said.startswith(f"{path}:2: index 999")
    assert len(said) < 400


def test_endless_labels_and_lines(tmp_path, monkeypatch):
    path = tmp_path / "long.csv"
    path.write_bytes(b"1,a\n2," + b"b" * 3000 + b"\n")
    assert f"{path}:2: the label has 3,000 characters" in refused(data.load, str(path))
    path.write_bytes(b'1,a\n2,"b\nc"\n3,d\n')
    assert r"'b\nc' -> 1" in data.load(str(path)).notes[1]
    monkeypatch.setattr(data.data_files, "LONGEST_LINE", 100)
    for mark in (b",", b" "):
        path.write_bytes(b"1,a\n2,b\n".replace(b",", mark) + b"1" + mark * 500)
        assert f"{path}:3: the line is longer than 100" in refused(data.load, str(path))


HEADERS = {
    "of terabytes": "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2)}",
    "beyond C's integers": "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551616, 1)}",
    "negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}",
    "open": "{'descr': ('<f8', 'fortran_order': False, 'shape': (1, 2)}",
    "too long": "{" + " " * 60_000 + "}",
    "complex": "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1)}",
}


@pytest.mark.parametrize("header", HEADERS)
def test_npy_headers_that_lie(tmp_path, header):
    import zipfile

    path = tmp_path / "lies.npz"
    text = HEADERS[header].encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("X.npy", "y.npy", "meta.npy"):
            archive.writestr(name, b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(16))
    assert f"{path}: " in refused(data.load, str(path))


def test_an_archive_of_an_unknown_kind(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.ones((3, 2)), y=np.array([0, 1, 1]))
    whole = path.read_bytes()
    for offset, value in ((6, 99), (8, 99)):  # the version needed, the method, in the central directory
        broken = bytearray(whole)
        broken[broken.rfind(b"PK\1\2") + offset + 2] = value
        broken[broken.find(b"PK\1\2") + offset + 2] = value
        path.write_bytes(broken)
        assert "not an .npz file" in refused(data.load, str(path))


def test_half_a_character_in_a_line_of_the_store(tmp_path):
    from support.results_lines import line, sealed

    (tmp_path / "cells").mkdir()
    whole = sealed(line(1, data="\N{GRINNING FACE}"))
    for half in (sealed(line(2, data="\ud83d")), json.dumps(line(2, data="\ud83d")).encode() + b"\n"):
        (tmp_path / "cells" / "a.jsonl").write_bytes(whole + half)
        with pytest.warns(StoreWarning, match=r"a\.jsonl:2"):
            stored = Store(tmp_path).cells()
    assert stored["data"].tolist() == ["\N{GRINNING FACE}"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format: libsvm", "format: [libsvm]", "format: must be text, got ['libsvm']"),
        ("files:\n", "files: 3\n    drop:\n", "files: must be a list, got 3"),
        ("labels: {-1: -1, 1: 1}", "labels: {-1: [1], 1: 1}", "labels: -1: must be a whole number, got [1]"),
        ("labels: {-1: -1, 1: 1}", "labels: {-1: -1, 1: 1}\n    delimiter: ab", "delimiter: 'ab'"),
        (
            "labels: {-1: -1, 1: 1}",
            "labels: {-1: -1, 1: 1}\n    values: {a: b}",
            "values: a: must be a finite number, got 'b'",
        ),
        (
            "labels: {-1: -1, 1: 1}",
            "labels: {-1: -1, 1: 1}\n    drop: [x]",
            "drop[1]: must be a whole number, got 'x'",
        ),
        ("- https://archive.ics", "- https://[", "should begin with https://"),
        ("title:", "day: 2001-99-99\ntitle:", "unknown key 'day'"),
        ("title:", "\x07title:", "malformed YAML"),
    ],
)
def test_data_set_files_with_values_of_another_kind(tmp_path, old, new, said):
    from omkl.paths import conf_folder

    path = tmp_path / "wdbc.yaml"
    text = (conf_folder() / "data" / "wdbc.yaml").read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert said in refused(registry._entry.__wrapped__, path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reps=9223372036854775807"], "at most 1000000"),
        (["reps=300000"], "at most 1000000"),
        (["block=9223372036854775807"], "≥ 1 and ≤ 65536"),
        (["pool.kernels=[{kind:polynomial,degree:9223372036854775807}]"], "≥ 1 and ≤ 1000"),
    ],
)
def test_numbers_that_would_never_end(words, said):
    began = time.process_time()
    assert said in refused(plan, ["data=breast_cancer", *words])
    assert time.process_time() - began < 5


@pytest.mark.slow
def test_the_runner_from_a_shell(tmp_path):
    run = [
        sys.executable,
        fuzz.__file__,
        "--target",
        "csv",
        "orders",
        "--count",
        "50",
        "--out",
        str(tmp_path),
    ]
    ended = subprocess.run(run, capture_output=True, text=True, env=os.environ)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith("100 inputs, 0 findings\n")
