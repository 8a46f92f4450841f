"""The store: what is written is read back; keys; how little is parsed."""

import hashlib
from types import SimpleNamespace

import numpy as np
import orjson
import pytest
from support.results_lines import cell_files, line, read_quietly

from omkl.runs.runner import _stored
from omkl.store.fields import EXTRA, NAMES, cell_key, with_extra
from omkl.store.lines import encode_cell
from omkl.store.store import Store


def test_what_is_written_is_read_back(tmp_path):
    curve = {"t": [50, 100], "mistakes": [20, 30], "weights": None}
    with Store(tmp_path / "new" / "store") as store:
        store.append(line(1), curve)
        store.append(line(2, auc=0.125))
    again = Store(tmp_path / "new" / "store")
    cells = read_quietly(again)
    assert list(cells.columns) == [*NAMES]
    for row, written in zip(cells.to_dict("records"), [line(1), line(2)], strict=True):
        assert {name: row[name] for name in written} == written
    assert cells["auc"].isna().tolist() == [True, False]
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


REFUSED = {
    "weights": [[float("nan")], [float("inf")], [object()], np.array([1.0]), 3, "1"],
    "mistakes": [np.int64(3), 30.0, True, "30", [30]],
    "seconds": [None, "1", True, float("nan")],
    "n_sv_per_kernel": [None, 3, {}],
    "T": [None, 100.0, "100"],
    "params": [None, 3, [1]],
    "algo": [None, 3],
    "status": ["maybe", None],
    "key": [None],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_table_of_fields_does_not_allow_is_refused_and_leaves_nothing(tmp_path, name):
    with Store(tmp_path) as store:
        store.append(line(1))
        for bad in REFUSED[name]:
            with pytest.raises((ValueError, TypeError), match=f"{name} must be|JSON"):
                store.append(line(2) | {name: bad})
        with pytest.raises((ValueError, TypeError)):
            store.append(line(2), {"t": [float("nan")]})
        with pytest.raises(ValueError, match="error must be str, got None"):
            store.append(line(2, "failed") | {"error": None})
        store.append(line(3))
    assert read_quietly(store)["rep"].tolist() == [1, 3]


def test_what_a_learner_returns_wrong_is_a_failed_cell(tmp_path):
    with Store(tmp_path) as store:
        base = {k: v for k, v in line(1, "failed").items() if k not in ("status", "error")}
        figures = {k: v for k, v in line(1).items() if k not in base}
        stored = _stored(store, base, figures | {"mistakes": 3.0}, curves=True)
    said = "its figures cannot be stored: mistakes must be int, got 3.0"
    assert (stored["status"], stored["error"]) == ("failed", said)
    assert len(store.failed()) == 1


def test_a_selection_of_columns_and_rows(tmp_path):
    with Store(tmp_path) as store:
        store.append(line(1, weights=[-3, 0.5], confusion=[[60, 10], [20, 10]]))
        store.append(line(2, seconds=1, weights=None))
        store.append(line(3, data="other"))
    cells = store.cells(
        where={"data": ["toy"]}, columns=["rep", "seconds", "n_weights", "heaviest", "load", "date"]
    )
    assert cells.to_dict("list") == {
        "rep": [1, 2],
        "seconds": [0.25, 1.0],
        "n_weights": [2, pytest.approx(np.nan, nan_ok=True)],
        "heaviest": [0, pytest.approx(np.nan, nan_ok=True)],
        "load": [0.5, 0.5],
        "date": ["2026-01-01"] * 2,
    }
    assert store.cells(columns=["rep"], where={"data": ["other"]})["rep"].tolist() == [3]
    few, whole = store.cells(columns=[*EXTRA, "params"]), with_extra(store.cells())
    assert few["params"][0] is few["params"][1]
    assert few["origin"][0] is few["origin"][1]
    for name in set(EXTRA) - {"origin"}:
        assert few[name].isna().equals(whole[name].isna())
        assert few[name].dropna().tolist() == whole[name].dropna().tolist()


KEY_PARTS = {
    "algo": "omkc_ss",
    "params": {"beta": 0.3, "delta": 0.01},
    "pool_spec": {"name": "p", "normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 2.0}]},
    "data_hash": "ab" * 32,
    "order": "permuted",
    "task": "classification",
    "permutation_seed": str(2**127 + 1),
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
        {"permutation_seed": str(2**127)},
        {"task": "regression"},
        {"rounds": [0, 5]},
        {"held_out": [5, 9]},
        {"source": "x"},
        {"revision": 2},
    ]
    assert len({cell_key({**KEY_PARTS, **change}) for change in other} | {key}) == len(other) + 1


def test_the_key_is_the_same_on_every_machine():
    # sha256 of the canonical text, written out here by hand
    text = (
        '{"algo":"omkc_ss","data":"'
        + "ab" * 32
        + '","held_out":null,"order":"permuted","params":{"beta":0.3,'
        '"delta":0.01},"permutation_seed":"170141183460469231731687303715884105729","pool":{"kernels":[{"kind":'
        '"gaussian","sigma":2.0}],"normalise":"none"},"revision":1,"rounds":null,"source":null,'
        '"task":"classification"}'
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
