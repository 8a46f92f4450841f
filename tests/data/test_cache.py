"""Parsed copies: mapped and aligned, made again when the source changes, safe against damage and races."""

import json
import multiprocessing
import os
import random
import zipfile

import numpy as np
import pytest

from omkl import data
from omkl.cli import main
from omkl.config.data_choice import distinct
from omkl.data import cache, of_dataset, ref
from omkl.data.arrays import from_arrays
from omkl.errors import OmklError

TEXT = "1 1:0.5 4:2\n-1 2:1\n1\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "my.libsvm"
    path.write_text(TEXT)
    return path


def overwrite(path, **arrays):
    """Put another copy in the place of this one, with these arrays and the others as they are."""
    with np.load(path) as file:
        arrays = dict(file) | arrays
    path.unlink()  # another file: changing the mapped one itself would change what is open
    np.savez(path, **arrays)


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
    mapped = cache.read_parsed(d.path)
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
    assert cache.read_parsed(d.path).values.tolist() == [0.5, 2, 1]


def test_second_load_does_not_parse(source, monkeypatch):
    first = data.load(str(source))
    monkeypatch.setattr(ref, "read_file", lambda *a: pytest.fail("parsed again"))
    assert same(data.load(str(source)), first)


def test_changed_source_or_parser_is_parsed_again(source, monkeypatch):
    first = data.load(str(source))
    source.write_text(TEXT.replace("0.5", "0.6"))
    os.utime(source, ns=(1, 1))
    second = data.load(str(source))
    assert second.values[0] == 0.6
    assert second.content_hash != first.content_hash
    assert first.values[0] == 0.5  # the first copy is still there, mapped
    monkeypatch.setattr(cache, "PARSER", -1)
    assert data.load(str(source)).path != second.path


def test_empty_columns_at_the_end_are_part_of_the_content(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    made = {}
    for columns in (2, 3, 4):
        X, y = np.zeros((4, columns)), np.array([0, 1, 0, 1])
        X[:, :2] = [[1, 2], [3, 4], [0, 1], [2, 0]]
        path = tmp_path / f"my{columns}.csv"
        np.savetxt(path, np.column_stack([X, y]), delimiter=",")
        made[columns] = data.load(str(path))
        in_memory = from_arrays(X, y)
        assert in_memory.content_hash == made[columns].content_hash
        assert of_dataset(in_memory).copy.exists()
        assert cache.read_parsed(made[columns].path).d == columns
    assert len({own.content_hash for own in made.values()}) == 3
    for columns, own in made.items():
        numbers = data.content_hash(own.indptr, own.indices, own.values, own.y)
        assert (own.content_hash == numbers) == (columns == 2)
    mine = [data.find(str(tmp_path / f"my{columns}.csv")) for columns in (2, 3)]
    assert len(distinct(mine)) == 2


def test_old_copies_of_the_same_source_are_removed(source):
    old = data.load(str(source)).path
    os.utime(old, (1, 1))
    source.write_text(TEXT + "-1 1:1\n")
    assert data.load(str(source)).path.exists()
    assert not old.exists()


def test_torn_copies_are_noticed_and_made_again(source):
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
        with pytest.raises(OmklError, match="the same command parses the source again"):
            ref.Parsed(d.name, d.task, d.name, d.content_hash, d.path).load()
        with pytest.warns(UserWarning, match="it is deleted and the source is parsed again"):
            assert same(data.load(str(source)), d)
        assert d.path.read_bytes() == whole


def test_copy_that_does_not_fit_its_own_description(source):
    d = data.load(str(source))
    for key, wrong in (("y", d.y[:-1]), ("values", d.values.astype(np.float32)), ("indptr", d.indptr + 1)):
        overwrite(d.path, **{name: getattr(d, name) for name in cache.ARRAYS} | {key: wrong})
        with pytest.raises(OmklError, match=f"not a readable parsed copy: {key}"):
            cache.read_parsed(d.path)


def test_unaligned_npz_is_read_into_memory(source):
    d = data.load(str(source))
    overwrite(d.path)
    assert same(cache.read_parsed(d.path), d)


DAMAGE = {
    "values": (np.array([0.5, 2, 1.5]), "another content hash"),
    "indices": (np.array([0, 2**30, 1], np.int32), "an index lies outside 0..3"),
    "indptr": (np.array([0, 2**40, 3, 3]), "indptr does not fit"),
    "y": (np.array([1.0, 1.0, -1.0]), "another content hash"),
}


@pytest.mark.parametrize("key", DAMAGE)
def test_overwritten_numbers_are_noticed_and_the_source_is_parsed_again(source, key):
    wrong, said = DAMAGE[key]
    d = data.load(str(source))
    whole = d.path.read_bytes()
    overwrite(d.path, **{key: wrong})
    with pytest.raises(OmklError, match=said):
        cache.read_parsed(d.path)
    with pytest.warns(UserWarning, match=said):
        assert same(data.load(str(source)), d)
    assert d.path.read_bytes() == whole


@pytest.mark.parametrize(
    ("field", "value"), [("d", 3), ("d", 2**40), ("task", "regression"), ("notes", ["x"]), ("name", "other")]
)
def test_the_description_of_a_copy_is_sealed(source, field, value):
    d = data.load(str(source))
    with np.load(d.path) as file:
        meta = json.loads(str(file["meta"]))
    assert meta[field] != value
    overwrite(d.path, meta=np.array(json.dumps(meta | {field: value})))
    with pytest.warns(UserWarning, match="its description was changed"):
        again = data.load(str(source))
    assert same(again, d)
    assert (again.d, again.task, again.notes, again.name) == (d.d, d.task, d.notes, d.name)


def test_swapped_copies_of_two_files_are_noticed(source):
    other = source.with_name("other.libsvm")
    other.write_text(TEXT.replace("0.5", "0.25"))
    one, two = data.load(str(source)), data.load(str(other))
    paths = one.path, two.path
    texts = [path.read_bytes() for path in paths]
    for path, text in zip(paths, reversed(texts), strict=True):
        path.unlink()
        path.write_bytes(text)
    for file, right in ((source, one), (other, two)):
        with pytest.warns(UserWarning, match="the copy of another file"):
            assert same(data.load(str(file)), right)
    assert [path.read_bytes() for path in paths] == texts


def test_the_hash_is_computed_once_in_a_process_and_the_bounds_always(source, monkeypatch):
    d = data.load(str(source))
    for name in ("content_hash", "_check_bounds"):
        count(monkeypatch, name)
    data.load(str(source))
    cache.read_parsed(d.path)
    assert counted == {"_check_bounds": 2}
    cache._verified.clear()  # another process
    data.load(str(source))
    assert counted == {"_check_bounds": 3, "content_hash": 1}


counted = {}


def count(monkeypatch, name):
    inner = getattr(cache, name)
    counted.clear()

    def counting(*args):
        counted[name] = counted.get(name, 0) + 1
        return inner(*args)

    monkeypatch.setattr(cache, name, counting)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*not a readable parsed copy")
def test_no_damage_gives_other_data(source):
    """Bytes flipped, overwritten, cut out or put in, and wrong numbers: the right data or an error."""
    rng = random.Random(17)
    source.write_text("".join(f"{'-' * (i % 3 > 0)}1 1:{i} {2 + i % 5}:{i / 7!r}\n" for i in range(20)))
    d = data.load(str(source))
    right = {key: np.array(getattr(d, key)) for key in cache.ARRAYS}
    whole = d.path.read_bytes()
    refused = 0
    for number in range(300):
        content = bytearray(whole)
        at = rng.randrange(len(content))
        end = at + rng.choice((1, 4, 8, 64))
        kind = number % 5
        if kind < 2:
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            content[at:end] = rng.randbytes(len(content[at:end]))
        elif kind == 3:
            content[at:end] = b"" if number % 2 else content[at:end] * 2
        cache._verified.clear()
        d.path.unlink()
        if kind < 4:
            d.path.write_bytes(content)
        else:
            key = rng.choice(list(right))
            wrong = right[key].copy()
            wrong[rng.randrange(len(wrong))] = rng.choice((-1, 0, 3, 2**31 - 1, -(2**31)))
            d.path.write_bytes(whole)
            overwrite(d.path, **{key: wrong})
        try:
            loaded = cache.read_parsed(d.path)
            assert all(np.array_equal(getattr(loaded, key), right[key]) for key in right)
            assert (loaded.d, loaded.name, loaded.task) == (d.d, d.name, d.task)
        except OmklError:
            refused += 1
            assert data.load(str(source)).content_hash == d.content_hash
            assert d.path.read_bytes() == whole
    assert refused > 150


def test_a_run_on_a_damaged_copy_counts_the_same_mistakes(source, capsys):
    rng = np.random.default_rng(3)
    source.write_text("".join(f"{rng.choice((-1, 1))} 1:{a:.3f} 2:{b:.3f}\n" for a, b in rng.random((40, 2))))
    words = ["run", "algo=arow", "yardsticks=[]", f"data={source}", "exec=serial", "--format", "json"]
    words += ["reps=1", "--fresh", f"store={source.with_name('store')}"]

    def mistakes():
        assert main(words) == 0
        out, err = capsys.readouterr()
        return json.loads(out)["cells"][0]["mistakes"], err

    right = mistakes()[0]
    d = data.load(str(source))
    for wrong in ({"values": -d.values}, {"indices": np.full(d.nnz, 2**31 - 1, np.int32)}):
        overwrite(d.path, **{key: np.array(array) for key, array in wrong.items()})
        ref._open.clear()  # as in another process
        count, err = mistakes()
        assert count == right
        assert err.count("warning: ") == 1
        assert "is parsed again" in err


def test_missing_copy():
    with pytest.raises(OmklError, match="not a readable parsed copy"):
        cache.read_parsed("no/such.npz")


def test_unwritable_cache_falls_back_to_memory(source, monkeypatch):
    source.parent.joinpath("cache").write_text("a file where the folder should be")
    d = data.load(str(source))
    assert d.path is None
    assert any("not cached" in note for note in d.notes)
    assert d.values.tolist() == [0.5, 2, 1]


def test_rows_without_values_have_empty_arrays(source):
    source.write_text("1\n-1 1:0 2:0\n1 2:0\n")
    d = cache.read_parsed(data.load(str(source)).path)
    assert (d.T, d.nnz, d.d) == (3, 0, 2)


def _load(source):
    return data.load(source).content_hash


@pytest.mark.slow
def test_processes_may_write_at_the_same_time(source):
    source.write_text("".join(f"{'-' if i % 3 else ''}1 1:{i} 2:{i / 7!r}\n" for i in range(20_000)))
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        hashes = set(pool.map(_load, [str(source)] * 6))
    d = data.load(str(source))
    assert hashes == {d.content_hash} == {data.content_hash(d.indptr, d.indices, d.values, d.y)}
    assert [p.name for p in d.path.parent.iterdir()] == [d.path.name]  # no temporary files left
