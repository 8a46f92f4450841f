"""The store: what is written is read back; keys; how little is parsed."""

import hashlib
from types import SimpleNamespace

import numpy as np
import orjson
import pytest
from support.results_lines import cell_files, line, read_quietly

from omkl.store.fields import NAMES
from omkl.store.keys import cell_key
from omkl.store.lines import encode_cell
from omkl.store.store import Store


def test_what_is_written_is_read_back(tmp_path):
    curve = {"t": [50, 100], "mistakes": [20, 30], "weights": None}
    with Store(tmp_path / "new" / "store") as store:
        store.append(line(1), curve)
        store.append(line(2, skill=0.125))
    again = Store(tmp_path / "new" / "store")
    cells = read_quietly(again)
    assert list(cells.columns) == [*NAMES, "skill"]
    for row, written in zip(cells.to_dict("records"), [line(1), line(2)], strict=True):
        assert {name: row[name] for name in written} == written
    assert cells["skill"].isna().tolist() == [True, False]
    assert again.curves([line(1)["key"], line(2)["key"]]) == {line(1)["key"]: curve}
    assert again.done([line(n)["key"] for n in (1, 2, 3)]) == {line(1)["key"], line(2)["key"]}
    assert again.cells([line(2)["key"]])["rep"].tolist() == [2]


def test_an_empty_or_missing_store_has_the_same_columns(tmp_path):
    store = Store(tmp_path / "none")
    assert list(store.cells().columns) == list(NAMES)
    assert (store.done(["x"]), store.failed(), store.curves()) == (set(), [], {})
    assert not store.path.exists()  # asking makes nothing
    with store:
        store.open()
    assert cell_files(store) == []  # nor does opening without a line leave files


def test_numpy_values_are_written_as_numbers(tmp_path):
    with Store(tmp_path) as store:
        store.append(line(1, weights=np.array([0.5, 0.5]), mistakes=np.int64(3)), {"t": np.arange(2)})
    row = store.cells().iloc[0]
    assert (row["weights"], row["mistakes"]) == ([0.5, 0.5], 3)
    assert store.curves() == {line(1)["key"]: {"t": [0, 1]}}


def test_the_latest_finished_line_of_a_key_counts(tmp_path):
    early, late = "2026-01-01T00:00:00.000000+00:00", "2026-01-02T00:00:00.000000+00:00"
    for time_, mistakes in ((late, 2), (early, 1)):  # in two files, whose names say nothing about time
        with Store(tmp_path) as store:
            store.append(line(1, time=time_, mistakes=mistakes), {"t": [9], "mistakes": [mistakes]})
    assert store.cells()["mistakes"].tolist() == [2]
    assert store.curves() == {line(1)["key"]: {"t": [9], "mistakes": [2]}}
    with Store(tmp_path) as store:
        later = "2026-01-02T00:00:00.000001+00:00"
        store.append(line(1, time=later, mistakes=3))
        store.append(line(1, time=later, mistakes=4))  # same moment: the later line of the file
        store.append(line(1, "failed", time="2026-01-03T00:00:00.000000+00:00"))
    assert store.cells()["mistakes"].tolist() == [4]
    assert store.failed() == []  # it has finished once


def test_a_failed_cell_is_never_done(tmp_path):
    with Store(tmp_path) as store:
        store.append(line(1, "failed"))
        store.append(line(2))
    assert store.done([line(1)["key"], line(2)["key"]]) == {line(2)["key"]}
    assert store.cells()["rep"].tolist() == [2]
    (failed,) = store.failed()
    assert (failed["rep"], failed["error"], failed["provenance"]["host"]) == (1, "ValueError: no", "here")
    with Store(tmp_path) as store:
        store.append(line(1))
    assert store.failed() == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), np.array([1.0, np.nan]), object()])
def test_what_is_no_number_is_refused_and_leaves_nothing(tmp_path, bad):
    with Store(tmp_path) as store:
        store.append(line(1))
        with pytest.raises((ValueError, TypeError)):
            store.append(line(2, weights=bad))
        with pytest.raises((ValueError, TypeError)):
            store.append(line(2), {"weights": bad})
        store.append(line(3))
    assert read_quietly(store)["rep"].tolist() == [1, 3]


KEY_PARTS = {
    "algo": "omkc_ss",
    "params": {"beta": 0.3, "delta": 0.01},
    "pool_spec": {"name": "p", "normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 2.0}]},
    "data_hash": "ab" * 32,
    "order": "permuted",
    "permutation_seed": 2**127 + 1,
    "revision": 1,
}


def test_the_key_names_what_the_result_depends_on_and_nothing_else():
    key = cell_key(KEY_PARTS)
    assert len(key) == 64
    pool = KEY_PARTS["pool_spec"]
    same = [
        {"params": {"delta": 0.01, "beta": 0.3}},
        {"pool_spec": {**pool, "name": "other", "label": "Other"}},
    ]
    assert {cell_key({**KEY_PARTS, **change}) for change in same} == {key}
    other = [
        {"algo": "omkc_sd"},
        {"params": {"beta": 0.30000000000000004, "delta": 0.01}},
        {"params": {"beta": 0.3, "delta": 0.01, "sampling": "max"}},
        {"pool_spec": None},
        {"pool_spec": {**pool, "normalise": "cosine"}},
        {"pool_spec": {**pool, "kernels": [{"kind": "gaussian", "sigma": 2.5}]}},
        {"data_hash": "cd" * 32},
        {"order": "file"},
        {"permutation_seed": 2**127},
        {"revision": 2},
    ]
    assert len({cell_key({**KEY_PARTS, **change}) for change in other} | {key}) == len(other) + 1


def test_the_key_is_the_same_on_every_machine():
    # sha256 of the canonical text, written out here by hand
    text = (
        '{"algo":"omkc_ss","data":"' + "ab" * 32 + '","order":"permuted","params":{"beta":0.3,"delta":0.01},'
        '"permutation_seed":"170141183460469231731687303715884105729","pool":{"kernels":[{"kind":"gaussian",'
        '"sigma":2.0}],"normalise":"none"},"revision":1,"schema":1}'
    )
    assert cell_key(KEY_PARTS) == hashlib.sha256(text.encode()).hexdigest()


def test_a_key_of_nan_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        cell_key({**KEY_PARTS, "params": {"beta": float("nan")}})


def test_what_cells_share_is_parsed_once_and_other_cells_are_not_parsed(tmp_path, monkeypatch):
    """2,000 lines of one setting. What this saves in time is measured by scripts/scale.py."""
    kernels = [{"kind": "gaussian", "sigma": 2.0**k} for k in range(-8, 8)]
    spec, weights = {"normalise": "none", "kernels": kernels}, [1 / (3 + k) for k in range(16)]
    written = [encode_cell(line(number, pool_spec=spec, weights=weights)) for number in range(2_000)]
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "all.jsonl").write_bytes(b"".join(written))
    parsed = []

    def loads(raw):
        parsed.append(len(raw))
        return orjson.loads(raw)

    monkeypatch.setattr("omkl.store.lines.orjson", SimpleNamespace(loads=loads))
    cells = read_quietly(Store(tmp_path))
    assert len(cells) == 2_000
    assert len(parsed) == 2_001
    assert sum(parsed) < 0.6 * sum(map(len, written))
    parsed.clear()
    assert len(Store(tmp_path).done(cells["key"][:100])) == 100
    assert len(parsed) == 101
