"""The copy of a store's cells: what is read of it is what is in the lines, whatever happens on the way."""

import os
import shutil
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from support.results_lines import cell_files, line
from support.stored_views import DAYS, MANY, SOME, assert_same, fill, quietly, raw, view

from omkl.reports.rows import ReportPlan
from omkl.reports.summary import READ, summary_of
from omkl.store import query, rewrite
from omkl.store.store import Store, StoreWarning

pytestmark = pytest.mark.slow

NEVER = 2**60


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder of the copies; every reading of all cells makes one."""
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(query, "WORTH", 0)
    return tmp_path / "cache" / "stores"


def of_lines(store: Store, monkeypatch) -> list:
    """What the readers say without any copy."""
    with monkeypatch.context() as without:
        without.setenv("OMKL_CACHE", str(store.path.with_name("none")))
        without.setattr(query, "WORTH", NEVER)
        return view(Store(store.path))


def no_line(*args):
    raise AssertionError("a line is parsed")


# -------------------------------------------------------------------- the same


def test_what_is_read_of_a_copy_is_what_is_read_of_lines_as_they_grow(tmp_path, cache, monkeypatch):
    for day in (2, 0, 1):
        store = fill(tmp_path / "s", range(day, 9), day)
        expected = of_lines(store, monkeypatch)
        assert_same(view(Store(store.path)), expected)
        assert_same(view(Store(store.path)), expected)
    (copy,) = cache.iterdir()
    for path in cell_files(store)[:2]:  # after the torn line
        with path.open("ab") as file:
            file.write(cell_files(store)[2].read_bytes())
    expected = of_lines(store, monkeypatch)
    with monkeypatch.context() as kept:
        kept.setattr(query, "WORTH", NEVER)  # the rest is read beside the copy
        before = copy.read_bytes()
        assert_same(view(Store(store.path)), expected)
        assert copy.read_bytes() == before
    assert_same(view(Store(store.path)), expected)
    assert copy.read_bytes() != before
    assert (
        raw(Store(store.path)).total()
        == sum(len(p.read_bytes().splitlines()) for p in store.path.rglob("*l")) - 5
    )


def test_tables_and_questions_parse_no_line_that_is_copied(tmp_path, monkeypatch):
    with Store(tmp_path / "s") as store:
        store.append(line(1, confusion=[[60, 10], [20, 10]]))
        store.append(line(2))
        store.append(line(3, confusion=MANY, data_hash="cd" * 32))
        store.append(line(4, "failed"))
    before = summary_of(store.cells(), ReportPlan())
    keys = [one.key for one in store.lines("cells")]
    two, many = before["class_errors"]
    assert two == pytest.approx([1000 / 70, 2000 / 30])
    assert (many[0], many[3], len(many)) == (0.0, pytest.approx(1000 / 30), 40)
    store.done(keys)
    monkeypatch.setattr(query, "scan", no_line)
    pd.testing.assert_frame_equal(summary_of(store.cells(columns=READ), ReportPlan()), before)
    assert store.done(keys) == set(keys[:3])


def test_lines_are_sought_by_their_place(tmp_path, monkeypatch):
    store = fill(tmp_path / "s", range(9))
    quietly(store.cells, columns=["key"])
    parsed, parse = [], query.parse_line
    monkeypatch.setattr(query, "parse_line", lambda raw, *args: parsed.append(raw) or parse(raw, *args))
    key = line(3, weights=[-3, 0.5], task="regression", mistakes=None, mistake_rate=None, mse=0.1)["key"]
    assert [one.key for one in quietly(lambda: list(store.lines("cells", [key])))] == [key]
    assert [one["rep"] for one in quietly(store.failed)] == [2, 7]
    assert len(parsed) == 3


def test_lines_that_cannot_be_read_are_told_of_again(tmp_path, monkeypatch):
    store = fill(tmp_path / "s", range(4))
    (path,) = cell_files(store)
    good = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([good[0], b'{"key":"00\n', *good[1:], good[0][:100]]))
    for _ in range(3):
        with pytest.warns(StoreWarning, match=rf"{path.name}:2, .*{path.name}:6, .*{path.name}:7$"):
            Store(store.path).cells(columns=SOME)
    for question in (lambda s: s.done([line(0)["key"]]), lambda s: s.failed(), lambda s: s.cells()):
        with pytest.warns(StoreWarning, match=rf"{path.name}:2, .*{path.name}:6, .*{path.name}:7$"):
            question(Store(store.path))


# -------------------------------------------------------------------- in doubt without it


def edited(content: bytes) -> bytes:
    return content.replace(b'"mistakes":30', b'"mistakes":20', 1)


def reversed_(content: bytes) -> bytes:
    return b"".join(reversed(content.splitlines(keepends=True)))


CHANGES = {
    "edited": edited,
    "in another order": reversed_,
    "cut": lambda content: content[:-700],
    "cut and grown": lambda content: content[len(content) // 2 :] + content,
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "in place"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_is_not_what_was_copied_is_read_as_it_is(tmp_path, monkeypatch, name, replaced):
    fill(tmp_path / "s", range(4))
    store = fill(tmp_path / "s", range(2, 8), 1)
    view(store)
    path = cell_files(store)[0]
    content, times = path.read_bytes(), path.stat()
    if replaced:
        path.unlink()
    path.write_bytes(CHANGES[name](content))
    if len(CHANGES[name](content)) != len(content) or replaced:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    expected = of_lines(store, monkeypatch)
    assert_same(view(Store(store.path)), expected)
    assert_same(view(Store(store.path)), expected)
    monkeypatch.setattr(query, "WORTH", NEVER)
    assert_same(view(Store(store.path)), expected)


def test_a_file_that_is_gone_or_pruned_is_not_read_of_the_copy(tmp_path, monkeypatch):
    for day in range(3):
        store = fill(tmp_path / "s", range(day, 6), day)
    view(store)
    cell_files(store)[1].unlink()
    assert_same(view(Store(store.path)), of_lines(store, monkeypatch))
    rewrite.prune(store, old=True, torn=True, really=True)
    expected = of_lines(store, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(view(Store(store.path)), expected)


@pytest.mark.parametrize(("columns", "when"), [(SOME, "_scanned"), (None, "_copied")])
def test_a_file_that_is_replaced_while_it_is_read_gives_what_it_then_is(tmp_path, monkeypatch, columns, when):
    with Store(tmp_path / "s") as store:
        for day in (0, 1):
            for number in range(4):
                store.append(line(number, time=DAYS[day], mistakes=10 * (day + 1)))
    store.cells(columns=SOME)
    (path,) = cell_files(store)
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("ab") as file:  # so that it is opened
        file.write(lines[0])
    reads = getattr(query.Reading, when)

    def replaced_before(self, *args):
        (tmp_path / "new").write_bytes(b"".join(lines[:2]))
        os.replace(tmp_path / "new", path)
        return reads(self, *args)

    monkeypatch.setattr(query.Reading, when, replaced_before)
    keys = [line(number)["key"] for number in range(4)]
    assert Store(store.path).cells(keys, columns)["mistakes"].tolist() == [10] * 2
    monkeypatch.undo()
    assert Store(store.path).cells(keys, columns)["mistakes"].tolist() == [10] * 2


def test_a_copy_that_is_damaged_costs_only_time(tmp_path, cache, monkeypatch):
    store, other = fill(tmp_path / "s"), fill(tmp_path / "other", range(3), 2)
    expected = of_lines(store, monkeypatch)
    quietly(other.cells, columns=["key"])
    (foreign,) = cache.iterdir()
    quietly(store.cells, columns=["key"])
    (path,) = set(cache.iterdir()) - {foreign}
    content = path.read_bytes()
    wrong = [b"", b"PK", content[:-100], content[: len(content) // 2], foreign.read_bytes()]
    for at in np.random.default_rng(1).integers(0, len(content), 60).tolist():
        wrong.append(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
    for damaged in wrong:
        path.write_bytes(damaged)
        with monkeypatch.context() as kept:
            kept.setattr(query, "WORTH", NEVER)
            assert_same(view(Store(store.path)), expected)
    quietly(store.cells, columns=["key"])  # it is made again
    monkeypatch.setattr(query, "scan", no_line)
    quietly(store.cells, columns=["key"])


@pytest.mark.parametrize("place", ["a file", "read-only"])
def test_a_cache_that_cannot_be_written_to_costs_only_time(tmp_path, cache, monkeypatch, place):
    store = fill(tmp_path / "s")
    expected = of_lines(store, monkeypatch)
    if place == "a file":
        cache.parent.write_bytes(b"")
    else:

        def full(folder, start):
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr("omkl.files._new_part", full)
    assert_same(view(store), expected)
    assert not cache.exists() or not list(cache.iterdir())


def test_small_stores_and_few_keys_make_no_copy_and_copies_of_stores_that_are_gone_go(
    tmp_path, cache, monkeypatch
):
    store, other = fill(tmp_path / "s"), fill(tmp_path / "other")
    with monkeypatch.context() as usual:
        usual.setattr(query, "_SKIPPED", 1)
        quietly(store.done, [line(0)["key"]])
    with monkeypatch.context() as usual:
        usual.setattr(query, "WORTH", 2**23)
        view(store)
    assert not cache.exists()
    quietly(store.cells, columns=["key"])
    quietly(other.cells, columns=["key"])
    assert len(list(cache.iterdir())) == 2
    shutil.rmtree(store.path)
    fill(other.path, range(9), 3)
    quietly(other.cells, columns=["key"])
    assert len(list(cache.iterdir())) == 1


def test_an_unchanged_store_is_not_read_again_to_compare_it(tmp_path, monkeypatch):
    store = fill(tmp_path / "s")
    for path in cell_files(store):
        os.utime(path, (time.time() - 60, time.time() - 60))
    quietly(store.cells, columns=["key"])
    monkeypatch.setattr(query, "_crc_of", no_line)
    quietly(Store(store.path).cells, columns=["key"])
    os.utime(cell_files(store)[0])
    with pytest.raises(AssertionError):
        quietly(Store(store.path).cells, columns=["key"])
