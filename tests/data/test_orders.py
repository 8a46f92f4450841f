"""Orders of the examples: file, permuted, and the OMKC authors'."""

import warnings

import numpy as np
import pytest

from omkl import data
from omkl.data.dataset import Dataset
from omkl.errors import UserError
from omkl.seeds import permutation_seed


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", "")


def made(y, name="made", digest="0" * 64):
    y = np.asarray(y, float)
    nothing = np.empty(0, np.int32), np.empty(0)
    return Dataset(name, np.zeros(len(y) + 1, np.int64), *nothing, y, 1, "classification", digest)


def test_permuted_is_a_reproducible_permutation_that_depends_on_each_part():
    d = made([1, -1] * 50)
    first, seed = data.order(d, "permuted", 0, 0)
    assert np.array_equal(np.sort(first), np.arange(100))
    assert first.dtype == np.int64
    assert seed == permutation_seed(0, d.content_hash, 0)
    assert np.array_equal(first, data.order(d, "permuted", 0, 0)[0])
    others = [data.order(d, "permuted", 1, 0), data.order(d, "permuted", 0, 1)]
    others.append(data.order(made([1, -1] * 50, digest="1" * 64), "permuted", 0, 0))
    assert all(not np.array_equal(first, other) and seed != s for other, s in others)


def test_permutation_is_pinned():
    """The stream of a repetition must never change silently: stored results refer to it."""
    order, _ = data.order(made([1, -1] * 5), "permuted", 0, 0)
    rng = np.random.default_rng(permutation_seed(0, "0" * 64, 0))
    assert order.tolist() == rng.permutation(10).tolist() == PINNED


PINNED = [9, 3, 4, 1, 7, 0, 5, 2, 8, 6]


def test_halves_hold_the_same_rows_in_every_repetition_of_any_seed():
    d = made([1, -1, 1] * 7)
    orders = [data.order(d, "halves", seed, rep)[0] for seed in (0, 5) for rep in range(3)]
    assert all(np.array_equal(np.sort(order), np.arange(21)) for order in orders)
    assert len({tuple(sorted(order[:10].tolist())) for order in orders}) == 1
    assert len({tuple(order[:10].tolist()) for order in orders}) == 6
    assert len({tuple(order[10:].tolist()) for order in orders}) == 6
    assert data.order_seed(d, "halves", 5, 2) == data.order(d, "halves", 5, 2)[1]
    other = data.order(made([1, -1, 1] * 7, digest="1" * 64), "halves", 0, 0)[0]
    assert set(other[:10].tolist()) != set(orders[0][:10].tolist())


def test_file_order_and_its_warning_for_sorted_labels():
    order, seed = data.order(made([1, -1] * 50), "file", 0, 3)
    assert order.tolist() == list(range(100))
    assert seed == permutation_seed(0, "0" * 64, 3)
    with pytest.warns(UserWarning, match=r"change only 1 time in file order"):
        data.order(made([1] * 50 + [-1] * 50), "file", 0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.order(made([1] * 50 + [-1] * 50), "permuted", 0, 0)
        data.order(made([1, 1, -1]), "file", 0, 0)


@pytest.mark.parametrize(("kind", "rep"), [("fiel", 0), ("permuted", -1)])
def test_bad_arguments(kind, rep):
    with pytest.raises(UserError, match=r"did you mean 'file'|numbered from 0"):
        data.order(made([1, -1]), kind, 0, rep)


def test_authors_of_an_unregistered_set():
    with pytest.raises(UserError, match=r"made has no authors' permutations; these have: a3a, australian"):
        data.order(made([1, -1]), "authors", 0, 0)
    with pytest.raises(UserError, match="wdbc has no authors' permutations"):
        data.order(made([1, -1], name="wdbc"), "authors", 0, 0)  # the name, but not the content


def test_authors_file_absent_or_wrong(tmp_path, monkeypatch):
    d = data.find("wdbc").load()
    with pytest.raises(UserError, match=r"wdbc.id_all.txt \(.xz\) not found; looked in .*cache"):
        data.order(d, "authors", 0, 0)
    monkeypatch.setenv("OMKL_DATA", str(tmp_path))
    (tmp_path / "omkc_permutations").mkdir()
    path = tmp_path / "omkc_permutations" / "wdbc.id_all.txt"
    rows = [" ".join(map(str, np.roll(np.arange(1, 570), k))) for k in range(2)]
    rows += [rows[0].replace("569", "1"), rows[0] + " 570", rows[0].replace("569", "x")]
    path.write_text("\n".join(rows))
    assert data.order(d, "authors", 0, 1)[0][:2].tolist() == [568, 0]
    for rep in (2, 3, 4):
        with pytest.raises(UserError, match=rf":{rep + 1}: not a permutation of 1..569"):
            data.order(d, "authors", 0, rep)
    with pytest.raises(UserError, match="has 5 permutations"):
        data.order(d, "authors", 0, 5)


def test_every_authors_permutation_fits_its_set(shared_data, monkeypatch):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    having = [name for name in data.registry.registered_names() if data.registry.entry(name).permutations]
    assert {"wdbc", "ionosphere", "breast", "german", "w5a", "votes84"} <= set(having)
    for name in having:
        d = data.find(name).load()
        for rep in (0, 19):
            order, _ = data.order(d, "authors", 0, rep)
            assert np.array_equal(np.sort(order), np.arange(d.T))
        with pytest.raises(UserError, match="has 20 permutations"):
            data.order(d, "authors", 0, 20)
