"""Odd files and numbers on which omkl once failed with a traceback: each is refused in one line."""

import json

import pytest
from support.results_lines import line, sealed

from omkl.config import plan
from omkl.data import raw_files, registry
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
    [b"1 " + b"9" * 30, b"1 " + b"9" * 5000, b"1 2.5", "1 \u0663".encode(), b"-1 2", b"0 2"],
)
def test_column_numbers_out_of_range(tmp_path, cells):
    path = tmp_path / "columns"
    path.write_bytes(b"1 3\n" + cells + b"\n")
    assert f"{path}: not the file that is registered" in refused(raw_files.ones, [path, path], None)


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
