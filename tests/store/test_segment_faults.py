"""Damaged segments are told with their file, and nothing wrong is read of them."""

import os
import shutil
import sys
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from support import TESTS
from support.forged_segments import forge, saying, with_column, words
from support.results_lines import cell_files, line, sealed
from support.segment_stores import MANY, SOME, assert_same, fill, raw, segments, view

from omkl.cli import main
from omkl.errors import UserError
from omkl.reports.rows import ReportPlan
from omkl.reports.summary import READ, summary_of
from omkl.store import compact as compaction
from omkl.store import rewrite
from omkl.store.compact import compact
from omkl.store.segments import Segment
from omkl.store.store import Store, StoreWarning

pytest.importorskip("pyarrow")


def text(value) -> str:
    """A value, whatever the type of its column."""
    return repr(float(value)) if isinstance(value, (int, float)) else repr(value).replace("None", "nan")


@pytest.mark.slow
def test_every_flipped_byte_is_told_with_its_file_and_nothing_wrong_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compaction, "ROWS", 4)
    monkeypatch.setattr(compaction, "SMALL", 0)
    store = fill(tmp_path)
    lines = raw(store)
    cells = store.cells(columns=SOME).set_index("key").map(text)
    compact(store)
    path = segments(store)[0]
    for at in range(0, path.stat().st_size, 211):
        content = bytearray(path.read_bytes())
        content[at] ^= 4
        path.write_bytes(content)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            left = Store(tmp_path).cells(columns=SOME).set_index("key").map(text)
            kept = Counter(one.raw for folder in rewrite.FOLDERS for one in Store(tmp_path).lines(folder))
        texts = [str(one.message) for one in said if path.name in str(one.message)]
        pd.testing.assert_frame_equal(left, cells.loc[left.index])
        assert kept <= lines
        assert kept.total() >= lines.total() - 4
        assert len(left) >= len(cells) - 4
        assert texts or kept == lines
        assert all("prune --torn" in text for text in texts)
        content[at] ^= 4
        path.write_bytes(content)
    content[20] ^= 1
    path.write_bytes(content)
    rewrite.prune(store, old=False, torn=False, really=True)
    assert path.exists()  # only with --torn
    rewrite.prune(store, old=False, torn=True, really=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Store(tmp_path).cells()["key"].isin(cells.index).all()


def test_what_is_no_segment_is_told_and_removed_by_prune_torn(tmp_path):
    store = fill(tmp_path)
    compact(store)
    (good,) = segments(store)
    content = good.read_bytes()
    lines = raw(store)
    wrong = {
        "empty": b"",
        "short": b"PAR1PAR1",
        "any": bytes(range(256)) * 9,
        "half": content[: len(content) // 2],
    }
    for name, written in wrong.items():
        (good.parent / f"sealed-{name}-0123abcd.parquet").write_bytes(written)
    (good.parent / "renamed.parquet").write_bytes(content)
    (os.mkfifo if hasattr(os, "mkfifo") else Path.touch)(good.parent / "fifo.parquet")
    with pytest.warns(StoreWarning, match=r"parquet .*parquet .*parquet .* and \d more; replace the segment"):
        assert len(Store(tmp_path).cells(columns=["key"])) == len(view(store)[0])
    assert raw(store) == lines
    assert rewrite.prune(store, old=False, torn=True, really=True)[1] == []
    assert segments(store) == [good]
    assert raw(store) == lines


def all_as(value):
    return lambda values, pa: words([value] * len(values), pa)


def last_as(value, kind):
    return lambda values, pa: pa.array([*values[:-1], value], getattr(pa, kind)())


def renamed(name, new):
    return lambda table, known: table.rename_columns([new if n == name else n for n in table.column_names])


FOOTERS = {
    "no form": {"form": None},
    "another form": {"form": ["omkl"]},
    "no covers": {"covers": None},
    "covers a list": {"covers": [1]},
    "a cover too short": {"covers": {"a.jsonl": [1, 2]}},
    "a cover of texts": {"covers": {"a.jsonl": ["1", 2, 3, []]}},
    "a cover below 0": {"covers": {"a.jsonl": [-1, 2, 3, []]}},
    "a cover whose broken lines are a number": {"covers": {"a.jsonl": [1, 2, 3, 4]}},
    "replaces a number": {"replaces": 7},
    "replaces lists": {"replaces": [["a"]]},
    "no folder": {"folder": None},
    "the other folder": {"folder": "curves"},
    "a folder that is a list": {"folder": ["cells"]},
    "no checksum": {"crc": []},
    "checksums that are a number": {"crc": 3},
    "too few checksums": {"crc": [[1]]},
}
COLUMNS_ = {
    "keys that are texts": ("key", lambda values, pa: pa.array([v.hex() for v in values])),
    "short keys": ("key", lambda values, pa: pa.array([v[:8] for v in values], pa.binary(8))),
    "a missing key": ("key", last_as(None, "binary")),
    "a missing crc": ("crc", last_as(None, "uint32")),
    "crcs that are texts": ("crc", lambda values, pa: pa.array(list(map(str, values)))),
    "a missing text": ("text", last_as(None, "binary")),
    "a text that is no JSON": ("text", last_as(b'"x', "binary")),
    "numbers that are fractions": ("number", lambda values, pa: pa.array([0.5] * len(values))),
    "a missing time": ("time", last_as(None, "string")),
    "files that are no dictionary": ("file", lambda values, pa: pa.array(values)),
    "a status that is no dictionary": ("status", lambda values, pa: pa.array(values)),
    "another status": ("status", all_as("well")),
    "no status": ("status", all_as(None)),
    "params that are no JSON": ("params", all_as("{")),
    "params that are a list": ("params", all_as("[1]")),
    "deep params": ("params", all_as("[" * 100_000)),
    "a seed that is a text": ("seed", all_as('"x"')),
    "a seed that is a list": ("seed", all_as("[[]]")),
    "rounds of one number": ("rounds", all_as("[1]")),
    "a pool without kernels": ("pool_spec", all_as('{"normalise":"none"}')),
    "kernels without a kind": ("pool_spec", all_as('{"normalise":"none","kernels":[{}]}')),
    "an origin that is a number": ("origin", all_as("3")),
    "versions that are a list": ("origin", all_as('{"versions":[]}')),
    "another task": ("task", all_as('"dance"')),
    "no rounds": ("T", all_as("0")),
    "a permutation's seed that is a word": ("permutation_seed", all_as("abc")),
    "mistakes that are texts": ("mistakes", lambda values, pa: pa.array(list(map(str, values)))),
    "a heaviest weight beyond all": ("heaviest", lambda values, pa: pa.array([99] * len(values), pa.int32())),
    "hits of half a class": ("hits", lambda values, pa: pa.array([b"1" * 24] * len(values), pa.binary())),
    "hits of other classes": (
        "hits",
        lambda values, pa: pa.array([bytes(16 * (i + 1)) for i in range(len(values))], pa.binary()),
    ),
}
FORGED = {name: saying(**said) for name, said in FOOTERS.items()}
FORGED |= {name: with_column(column, make) for name, (column, make) in COLUMNS_.items()}
FORGED |= {f"no column {name}": renamed(name, "x") for name in ("key", "crc", "file", "status", "text")}
FORGED |= {
    "a column twice": lambda table, known: table.append_column("text", table.column("crc")),
    "no rows": lambda table, known: table.slice(0, 0),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_forged_segment_is_refused_as_a_damaged_one_and_ends_no_merge(tmp_path, change):
    """Its checksums fit. What is read of it are cells as they were written; the other files are read."""
    source, target = fill(tmp_path / "s"), Store(tmp_path / "t")
    compact(source)
    forge(segments(source)[0], change)
    with Store(tmp_path / "s") as store:
        store.append(line(99))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", StoreWarning)
        fill(tmp_path / "whole")
        sound = raw(Store(tmp_path / "whole")) + raw(Store(tmp_path / "s"))
        for columns in (["key", *SOME], ["key", "skill"], None):
            cells = Store(tmp_path / "s").cells(columns=columns)
            assert line(99)["key"] in set(cells["key"])
        summary_of(Store(tmp_path / "s").cells(columns=READ), ReportPlan())
        Store(tmp_path / "s").failed()
        Store(tmp_path / "s").done([line(99)["key"], line(1)["key"]])
        copied = rewrite.merge(target, [tmp_path / "s"])
        assert copied["cells"] >= 1
        assert set(raw(target)) <= set(sound)
        assert main(["results", "list", f"store={tmp_path / 's'}"]) == 0
        rewrite.prune(Store(tmp_path / "s"), old=False, torn=True, really=True)
        compact(Store(tmp_path / "s"))
    assert line(99)["key"] in set(Store(tmp_path / "s").cells()["key"])


def test_a_store_without_segments_needs_no_pyarrow_and_one_with_them_says_so(tmp_path, monkeypatch, capsys):
    store = fill(tmp_path)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pyarrow", None)
        assert raw(store)
        assert main(["results", "compact", f"store={tmp_path}"]) == 2
        assert "needs pyarrow: pip install 'omkl[parquet]'" in capsys.readouterr().err
    compact(store)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"pyarrow must read it: pip install 'omkl\[parquet\]'"):
        store.cells()
    assert main(["results", "list", f"store={tmp_path}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_forged_line_in_a_segment_is_not_read(tmp_path, monkeypatch):
    with Store(tmp_path) as store:
        store.append(line(1))
    good = cell_files(store)[0].read_bytes()
    (tmp_path / "cells" / "forged.jsonl").write_bytes(sealed(line(2, mistakes=20, mistake_rate=0.9)))
    with pytest.warns(StoreWarning, match=r"forged\.jsonl:1"):
        assert Counter([one.raw for one in store.lines("cells")]) == {good: 1}
    compact(store)
    assert [path.name for path in cell_files(store)] == ["forged.jsonl"]


def test_a_table_with_errors_of_classes_reads_no_line_of_a_segment(tmp_path, monkeypatch):
    columns, read = set(), Segment.read
    with Store(tmp_path) as store:
        store.append(line(1, confusion=[[60, 10], [20, 10]]))
        store.append(line(2))
        store.append(line(3, confusion=MANY, data_hash="cd" * 32))
    before = summary_of(store.cells(columns=READ), ReportPlan())
    two, many = before["class_errors"]
    assert two == pytest.approx([1000 / 70, 2000 / 30])
    assert (many[0], many[3], len(many)) == (0.0, pytest.approx(1000 / 30), 40)
    compact(store)
    monkeypatch.setattr(Segment, "read", lambda *args: columns.update(args[2]) or read(*args))
    pd.testing.assert_frame_equal(summary_of(store.cells(columns=READ), ReportPlan()), before)
    assert "hits" in columns
    assert columns.isdisjoint({"text", "tail", "time"})


def test_a_store_of_before_is_compacted_and_a_table_of_few_columns_is_that_of_all(tmp_path):
    shutil.copytree(TESTS / "store" / "store_of_before", tmp_path / "s")
    store = Store(tmp_path / "s")
    lines, before = raw(store), view(store)
    compact(store)
    assert raw(store) == lines
    assert_same(view(store), before)
    tables = [summary_of(store.cells(columns=columns), ReportPlan()) for columns in (None, READ)]
    pd.testing.assert_frame_equal(*tables)
    assert len(tables[0]) > 1
