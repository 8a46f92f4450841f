"""Odd files and numbers on which omkl once failed with a traceback: each is refused in one line."""

import json
import zipfile

import numpy as np
import pytest
from support.results_lines import line, sealed

from omkl import data
from omkl.config import plan
from omkl.data import raw_files, registry
from omkl.data.reading import numbered, opening
from omkl.errors import UserError
from omkl.paths import conf_folder
from omkl.store.store import Store, StoreWarning


def refused(call, *args):
    """The one line that a call is refused with."""
    with pytest.raises(UserError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "cells",
    [b"1 " + b"9" * 30, b"1 " + b"9" * 5000, b"1 2147483648", b"1 2_3", "1 \u0663".encode(), b"-1 2", b"0 2"],
)
def test_column_numbers_out_of_range(tmp_path, cells):
    path = tmp_path / "columns"
    path.write_bytes(b"1 3\n" + cells + b"\n")
    assert f"{path}: not the file that is registered" in refused(list, raw_files.ones([path, path], None))


def test_an_index_of_thousands_of_digits(tmp_path):
    path = tmp_path / "libsvm"
    path.write_bytes(b"1 1:1\n-1 " + b"9" * 5000 + b":1\n")
    said = refused(numbered.read_libsvm, [path])
    assert said.startswith(f"{path}:2: index 999")
    assert len(said) < 400


def test_endless_labels_and_lines(tmp_path, monkeypatch):
    path = tmp_path / "long.csv"
    path.write_bytes(b'x,y\n1.5,a\n2,"b\nc"\n3,d\n')
    assert data.find(str(path)).load().classes == ("a", "b c", "d")
    monkeypatch.setattr(opening, "LONGEST_LINE", 100)
    monkeypatch.setattr(opening, "BLOCK", 10)
    path = tmp_path / "long.libsvm"
    path.write_bytes(b"1 1:1\n2 1:2\n1" + b" " * 500)
    assert f"{path}:3: the line is longer than 100" in refused(data.find(str(path)).load)


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
    path = tmp_path / "lies.npz"
    text = HEADERS[header].encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("X.npy", "y.npy", "meta.npy"):
            archive.writestr(name, b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(16))
    assert f"{path}: " in refused(data.find(str(path)).load)


def test_an_archive_of_an_unknown_kind(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.ones((3, 2)), y=np.array([0, 1, 1]))
    whole = path.read_bytes()
    for offset, value in ((6, 99), (8, 99)):  # the version needed, the method, in the central directory
        broken = bytearray(whole)
        broken[broken.rfind(b"PK\1\2") + offset + 2] = value
        broken[broken.find(b"PK\1\2") + offset + 2] = value
        path.write_bytes(broken)
        assert "not an .npz file" in refused(data.find(str(path)).load)


def test_half_a_character_in_a_line_of_the_store(tmp_path):
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
        ("format: libsvm", "format: [libsvm]", "format: must be one of libsvm, "),
        ("files:\n", "dataset: 3\n    files:\n", "dataset: must be text, got 3"),
        ("labels: {-1: -1, 1: 1}", "labels: {-1: [1], 1: 1}", "labels: -1: must be a whole number, got [1]"),
        (
            "labels: {-1: -1, 1: 1}",
            "labels: {-1: -1, 1: 1}\n    index_base: 2",
            "index_base: must be one of 0, 1, got 2",
        ),
        ("- https://archive.ics", "- https://[", "must be an address with https://"),
        ("title:", "day: 2001-99-99\ntitle:", "unknown key 'day'"),
        ("title:", "\x07title:", "malformed YAML"),
    ],
)
def test_data_set_files_with_values_of_another_kind(tmp_path, monkeypatch, old, new, said):
    text = (conf_folder() / "data" / "wdbc.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "conf" / "data").mkdir(parents=True)
    (tmp_path / "conf" / "data" / "own.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setenv("OMKL_PATH", str(tmp_path))
    assert said in refused(registry.entry, "own")


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
    assert said in refused(plan, ["data=breast_cancer", *words])
