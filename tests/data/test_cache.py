"""Parsed copies: mapped, made again when the source changes, safe against damage and races."""

import json
import multiprocessing
import os

import numpy as np
import pytest

from omkl import data
from omkl.cli import main
from omkl.config.request import distinct_data
from omkl.data import cache, from_arrays, of_dataset, own_data, ref
from omkl.errors import OmklError

TEXT = "1 1:0.5 4:2\n-1 2:1\n1\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "my.libsvm"
    path.write_text(TEXT)
    return path


def overwrite(copy, **arrays):
    """Put other files in the place of these: changing the mapped ones would change what is open."""
    for key, array in arrays.items():
        (copy / f"{key}.npy").unlink()
        np.save(copy / f"{key}.npy", array)


def same(a, b):
    return a.content_hash == b.content_hash and all(
        np.array_equal(getattr(a, key), getattr(b, key)) for key in cache.ARRAYS
    )


def test_a_copy_is_mapped_and_never_changed(source, monkeypatch):
    d = data.find(str(source)).load()
    assert sorted(file.name for file in d.path.iterdir()) == sorted(
        ["meta.json", *(f"{k}.npy" for k in cache.ARRAYS)]
    )
    mapped = cache.read_parsed(d.path)
    assert same(mapped, d)
    for key, dtype in cache.ARRAYS.items():
        array = getattr(mapped, key)
        assert (type(array), array.dtype, array.flags.aligned) == (np.ndarray, dtype, True)
        assert isinstance(array.base, np.memmap)
    d.values[:] = 7
    assert cache.read_parsed(d.path).values.tolist() == [0.5, 2, 1]
    monkeypatch.setattr(own_data, "parts_of", lambda *a: pytest.fail("parsed again"))
    assert same(data.find(str(source)).load(), mapped)


def test_changed_source_or_parser_is_parsed_again(source, monkeypatch):
    first = data.find(str(source)).load()
    source.write_text(TEXT.replace("0.5", "0.6"))
    os.utime(source, ns=(1, 1))
    second = data.find(str(source)).load()
    assert second.values[0] == 0.6
    assert second.content_hash != first.content_hash
    assert first.values[0] == 0.5  # the first copy is still there, mapped
    monkeypatch.setattr(cache, "PARSER", -1)
    assert data.find(str(source)).load().path != second.path


def test_empty_columns_at_the_end_are_part_of_the_content(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    made = {}
    for columns in (2, 3, 4):
        X, y = np.zeros((4, columns)), np.array([0, 1, 0, 1])
        X[:, :2] = [[1, 2], [3, 4], [0, 1], [2, 0]]
        path = tmp_path / f"my{columns}.csv"
        names = ",".join([*"abcd"[:columns], "y"])
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=names, comments="")
        made[columns] = data.find(str(path)).load()
        in_memory = from_arrays(X, y)
        assert in_memory.content_hash == made[columns].content_hash
        assert of_dataset(in_memory).copy.exists()
        assert cache.read_parsed(made[columns].path).d == columns
    assert len({own.content_hash for own in made.values()}) == 3
    for columns, own in made.items():
        numbers = data.content_hash(own.indptr, own.indices, own.values, own.y)
        assert (own.content_hash == numbers) == (columns == 2)
    mine = [data.find(str(tmp_path / f"my{columns}.csv")) for columns in (2, 3)]
    assert len(distinct_data(mine)) == 2


def test_old_copies_of_the_same_source_are_removed(source):
    old = data.find(str(source)).load().path
    os.utime(old, (1, 1))
    source.write_text(TEXT + "-1 1:1\n")
    assert data.find(str(source)).load().path.exists()
    assert not old.exists()


DAMAGE = {
    "values": (np.array([0.5, 2, 1.5]), "another content hash"),
    "indptr": (np.array([0, 2**40, 3, 3]), "another content hash"),
    "y": (np.array([1.0, 1.0]), "another content hash"),
    "values ": (np.array([0.5, 2, 1], np.float32), "its arrays are of another kind"),
    "y ": (b"torn", "not a readable parsed copy"),
    "values  ": (None, "not a readable parsed copy"),
    "meta": (b"{", "not a readable parsed copy"),
}


@pytest.mark.parametrize("key", DAMAGE)
def test_damage_is_noticed_and_the_source_is_parsed_again(source, key):
    wrong, said = DAMAGE[key]
    d, key = data.find(str(source)).load(), key.strip()
    file = d.path / ("meta.json" if key == "meta" else f"{key}.npy")
    if isinstance(wrong, np.ndarray):
        overwrite(d.path, **{key: wrong})
    else:
        file.unlink()
        if wrong is not None:
            file.write_bytes(wrong)
    ref._open.clear()
    with pytest.raises(OmklError, match="the same command parses the source again"):
        ref.Parsed(d.name, d.task, d.name, d.content_hash, d.told, d.path).load()
    with pytest.warns(UserWarning, match=said) as caught:
        assert same(data.find(str(source)).load(), d)
    assert "it is deleted and the source is parsed again" in str(caught[0].message)
    assert same(cache.read_parsed(d.path), d)


def test_the_hash_is_computed_once_in_a_process(source, monkeypatch):
    counted, inner = [], cache.content_hash
    d = data.find(str(source)).load()
    monkeypatch.setattr(cache, "content_hash", lambda *args: counted.append(1) or inner(*args))
    cache.read_parsed(d.path)
    assert not counted
    cache._verified.clear()  # another process
    data.find(str(source)).load()
    assert len(counted) == 1
    meta = d.path / "meta.json"
    meta.write_text(meta.read_text().replace(f'"d": {d.d}', '"d": 1'))
    with pytest.raises(OmklError, match=r"it has more columns than it says|another content hash"):
        cache.read_parsed(d.path)


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
    d = data.find(str(source)).load()
    for wrong in ({"values": -d.values}, {"indices": np.full(d.nnz, 2**31 - 1, np.int32)}):
        overwrite(d.path, **wrong)
        ref._open.clear()  # as in another process
        count, err = mistakes()
        assert count == right
        assert err.count("warning: ") == 1
        assert "is parsed again" in err


def test_unwritable_cache_falls_back_to_memory(source, monkeypatch):
    source.parent.joinpath("cache").write_text("a file where the folder should be")
    d = data.find(str(source)).load()
    assert d.path is None
    assert any("not cached" in note for note in d.notes)
    assert d.values.tolist() == [0.5, 2, 1]


def test_rows_without_values_have_empty_arrays(source):
    source.write_text("1\n-1 1:0 2:0\n1 2:0\n")
    d = cache.read_parsed(data.find(str(source)).load().path)
    assert (d.T, d.nnz, d.d) == (3, 0, 2)


def _load(source):
    return data.find(source).load().content_hash


@pytest.mark.slow
def test_processes_may_write_at_the_same_time(source):
    source.write_text("".join(f"{'-' if i % 3 else ''}1 1:{i} 2:{i / 7!r}\n" for i in range(20_000)))
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        hashes = set(pool.map(_load, [str(source)] * 6))
    d = data.find(str(source)).load()
    assert hashes == {d.content_hash} == {data.content_hash(d.indptr, d.indices, d.values, d.y)}
    assert [p.name for p in d.path.parent.iterdir()] == [d.path.name]  # no temporary files left
