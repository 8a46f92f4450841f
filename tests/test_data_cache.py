"""Parsed copies: mapped and aligned, remade when the source changes, safe against torn files and races."""

import multiprocessing
import os
import zipfile

import numpy as np
import pytest

from omkl import data
from omkl.data import access, cache
from omkl.errors import OmklError

TEXT = "1 1:0.5 4:2\n-1 2:1\n1\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "my.libsvm"
    path.write_text(TEXT)
    return path


def same(a, b):
    return a.content_hash == b.content_hash and all(
        np.array_equal(getattr(a, key), getattr(b, key)) for key in cache.ARRAYS
    )


def test_copy_is_mapped_aligned_and_without_pickle(source):
    d = data.load(str(source))
    assert d.path.suffix == ".npz"
    with zipfile.ZipFile(d.path) as archive:
        assert archive.testzip() is None
        assert {m.compress_type for m in archive.infolist()} == {zipfile.ZIP_STORED}
    mapped = data.load_cached(d.path)
    assert same(mapped, d)
    for key, dtype in cache.ARRAYS.items():
        array = getattr(mapped, key)
        assert type(array) is np.ndarray
        assert array.dtype == dtype
        assert isinstance(array.base, np.memmap)
        assert array.flags.aligned
        assert array.ctypes.data % cache.ALIGNMENT == 0
    with np.load(d.path, allow_pickle=False) as plain:  # and it is an ordinary .npz
        assert np.array_equal(plain["values"], d.values)


def test_writing_to_the_arrays_does_not_reach_the_copy(source):
    d = data.load(str(source))
    d.values[:] = 7
    assert data.load_cached(d.path).values.tolist() == [0.5, 2, 1]


def test_stored_hash_is_that_of_the_arrays(source):
    d = data.load_cached(data.load(str(source)).path)
    assert data.content_hash(d.indptr, d.indices, d.values, d.y) == d.content_hash


def test_second_load_does_not_parse(source, monkeypatch):
    first = data.load(str(source))
    monkeypatch.setattr(access, "_parse", lambda *a: pytest.fail("parsed again"))
    assert same(data.load(str(source)), first)


def test_changed_source_or_parser_is_parsed_anew(source, monkeypatch):
    first = data.load(str(source))
    source.write_text(TEXT.replace("0.5", "0.6"))
    os.utime(source, ns=(1, 1))
    second = data.load(str(source))
    assert second.values[0] == 0.6
    assert second.content_hash != first.content_hash
    assert first.values[0] == 0.5  # the first copy is still there, mapped
    monkeypatch.setattr(cache, "PARSER", -1)
    assert data.load(str(source)).path != second.path


def test_old_copies_of_the_same_source_are_removed(source):
    old = data.load(str(source)).path
    os.utime(old, (1, 1))
    source.write_text(TEXT + "-1 1:1\n")
    assert data.load(str(source)).path.exists()
    assert not old.exists()


def test_torn_copies_are_noticed_and_remade(source):
    d = data.load(str(source))
    whole = d.path.read_bytes()
    at = whole.index(b"\x93NUMPY")
    torn = [
        b"",
        whole[:100],
        whole[: len(whole) // 2],
        whole[:-10],
        whole[:at] + b"garbage" + whole[at + 7 :],
    ]
    for content in torn:
        d.path.unlink()  # another file in its place: cutting the mapped one itself would be a bus error
        d.path.write_bytes(content)
        with pytest.raises(OmklError, match="not a readable parsed copy"):
            data.load_cached(d.path)
        assert same(data.load(str(source)), d)
        assert d.path.read_bytes() == whole


def test_copy_that_does_not_fit_its_own_description(source):
    d = data.load(str(source))
    for key, wrong in (("y", d.y[:-1]), ("values", d.values.astype(np.float32)), ("indptr", d.indptr + 1)):
        arrays = {name: np.array(getattr(d, name)) for name in cache.ARRAYS} | {key: wrong}
        with np.load(d.path) as file:
            meta = file["meta"]
        bad = d.path.with_name("bad.npz")
        np.savez(bad, meta=meta, **arrays)
        with pytest.raises(OmklError, match="not a readable parsed copy"):
            cache.read(bad)


def test_unaligned_npz_is_read_into_memory(source):
    d = data.load(str(source))
    with np.load(d.path) as file:
        np.savez(d.path.with_name("plain.npz"), **dict(file))
    assert same(cache.read(d.path.with_name("plain.npz")), d)


def test_missing_copy():
    with pytest.raises(OmklError, match="not a readable parsed copy"):
        data.load_cached("no/such.npz")


def test_unwritable_cache_falls_back_to_memory(source, monkeypatch):
    source.parent.joinpath("cache").write_text("a file where the folder should be")
    d = data.load(str(source))
    assert d.path is None
    assert any("not cached" in note for note in d.notes)
    assert d.values.tolist() == [0.5, 2, 1]


def test_rows_without_values_have_empty_arrays(source):
    source.write_text("1\n-1 1:0 2:0\n1 2:0\n")
    d = data.load_cached(data.load(str(source)).path)
    assert (d.T, d.nnz, d.d) == (3, 0, 2)


def _load(source):
    return data.load(source).content_hash


def test_processes_may_write_at_the_same_time(source):
    source.write_text("".join(f"{'-' if i % 3 else ''}1 1:{i} 2:{i / 7!r}\n" for i in range(20_000)))
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        hashes = set(pool.map(_load, [str(source)] * 6))
    d = data.load(str(source))
    assert hashes == {d.content_hash} == {data.content_hash(d.indptr, d.indices, d.values, d.y)}
    assert [p.name for p in d.path.parent.iterdir()] == [d.path.name]  # no temporary files left
