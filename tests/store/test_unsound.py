"""The store believes no line that was edited, is filed under another key, or says what cannot be."""

import json
import os
import stat
import warnings
import zlib
from pathlib import Path

import pytest
from support.results_lines import cell_files, line, read_quietly, sealed

from omkl.cli import main
from omkl.store import rewrite
from omkl.store.lines import encode_curve
from omkl.store.store import Store, StoreWarning

GOOD = {"t": [50, 100], "mistakes": [20, 30], "n_sv_sum": [5, 40], "weights_t": [50], "weights": [[1.0]]}


def store_of(path: Path, *raw: bytes, folder: str = "cells") -> Store:
    """A store whose first file of the folder has these lines."""
    (path / folder).mkdir(parents=True, exist_ok=True)
    (path / folder / "a.jsonl").write_bytes(b"".join(raw))
    return Store(path)


def forged_curve(key: str, curve) -> bytes:
    """A curve's line with a checksum that fits, whatever it says."""
    body = json.dumps({"time": "", "curve": curve}, separators=(",", ":")).encode()[1:]
    return b'{"key":"%s","crc32":"%08x",%s\n' % (
        key.encode(),
        zlib.crc32(body, zlib.crc32(key.encode())),
        body,
    )


def without(text: bytes) -> bytes:
    """A line without its checksum."""
    return json.dumps({k: v for k, v in json.loads(text).items() if k != "crc32"}).encode() + b"\n"


# fields of a finished cell that no cell has; each under its own key, with a checksum that fits
UNSOUND = [
    *({"mistakes": bad} for bad in (-1, 101, 29, 30.0, True, "30", [30])),
    *({"mistake_rate": bad} for bad in (0.31, -0.3, None, "0.3", [0.3])),
    {"mistakes": None, "mistake_rate": None},
    *({"mistakes": None, "mistake_rate": None, "mse": bad} for bad in (-1.0, "1", None, [1.0])),
    *({"memory": bad} for bad in (-1, 1.5, "1", None)),
    *({"nlpd": bad} for bad in ("1", [1.0], True)),
    *({"seconds": bad} for bad in (-0.1, None, "1", True, {})),
    *(
        {name: bad}
        for name in ("n_sv_sum", "n_sv_union", "n_sv_combined", "pairs")
        for bad in (-1, 1.5, "1", [])
    ),
    *({"n_sv_per_kernel": bad} for bad in (None, 3, [-1], [1.5], ["1"], {})),
    *({"weights": bad} for bad in (3, "1", [None], [[1.0]], ["1"], {})),
    *({"T": bad} for bad in (0, -1, 100.0, "100", None)),
    *({"m": bad} for bad in (-1, 1.5, "1", None)),
    *({"rep": bad} for bad in (1.0, "1", None, [])),
    *({"permutation_seed": bad} for bad in (3, "x", None, "-1")),
    *({"provenance": bad} for bad in (None, 3, [], "x", {"time": 3}, {"load": "x"}, {"host": 3})),
    *({"provenance": {"versions": bad}} for bad in ("x", 3, {"omkl": 3}, {"omkl": []})),
    *({"algo": bad} for bad in (3, None, ["omkc_dd"])),
    *({"params": bad} for bad in (3, None, [1], "x")),
    *({"pool": bad} for bad in (3, ["p"], {})),
    *({"pool_spec": bad} for bad in (3, [], "x", {"normalise": "none"}, {"normalise": "none", "kernels": 3})),
    *({"pool_spec": {"normalise": bad, "kernels": []}} for bad in (None, 3)),
    *({"pool_spec": {"normalise": "none", "kernels": [bad]}} for bad in (None, 3, "x", {}, {"kind": 3})),
    *({name: bad} for name in ("data", "data_hash", "order") for bad in (None, 3, [])),
    *({"task": bad} for bad in (None, 3, "x", [])),
    *({"seed": bad} for bad in (None, 1.5, "1", [])),
    *({"revision": bad} for bad in (None, 1.5, "1", [])),
]


def read_all(path: Path, capsys) -> dict[str, str]:
    """What every reader of a store says, in the words of the command line."""
    store = Store(path)
    keys = {line(n)["key"] for n in range(3)}
    said = {"done": sorted(store.done(keys)), "failed": store.failed(), "curves": sorted(store.curves())}
    for words in (["list", "--format", "csv"], ["export"], ["prune", "--format", "csv"]):
        assert main(["results", words[0], f"store={path}", *words[1:]]) == 0
        said[words[0]] = capsys.readouterr().out
    return said


@pytest.mark.filterwarnings("ignore::omkl.store.store.StoreWarning")
def test_one_well_summed_line_of_wrong_types_disables_no_reader_and_prune_removes_it(tmp_path, capsys):
    good = sealed(line(1)) + sealed(line(2, "failed"))
    alone = read_all(store_of(tmp_path / "alone", good).path, capsys)
    lines = [sealed(line(0) | wrong) for wrong in UNSOUND]
    for raw in lines:
        store = store_of(tmp_path / "one", raw, good)
        with pytest.warns(StoreWarning, match=r"skipped: .*a\.jsonl:1$"):
            assert store.cells()["rep"].tolist() == [1], raw
    store = store_of(tmp_path / "all", *lines, good)
    assert read_all(store.path, capsys) == alone
    assert main(["results", "merge", str(store.path), f"store={tmp_path / 'merged'}"]) == 0
    assert len(read_quietly(Store(tmp_path / "merged"))) == 1
    assert main(["results", "prune", f"store={store.path}", "--torn", "--yes"]) == 0
    assert cell_files(store)[0].read_bytes() == good


def test_a_failed_cell_says_why_in_words(tmp_path):
    lines = [sealed(line(n, "failed") | {"error": bad}) for n, bad in enumerate((None, 3, ["x"]))]
    store = store_of(tmp_path, *lines, sealed(line(4, "failed")))
    with pytest.warns(StoreWarning):
        assert [failed["rep"] for failed in store.failed()] == [4]


def test_a_line_filed_under_another_key_is_not_read(tmp_path):
    moved = sealed(line(1), key=line(2)["key"])
    edited = sealed(line(1, params={"beta": 0.5, "sampling": "max"}), key=line(1)["key"])
    store = store_of(tmp_path, moved, edited, sealed(line(3)))
    with pytest.warns(StoreWarning, match=r"a\.jsonl:1, .*a\.jsonl:2$"):
        assert store.cells()["rep"].tolist() == [3]
    assert store.done([line(n)["key"] for n in (1, 2, 3)]) == {line(3)["key"]}


def test_a_line_of_omkl_0_1_has_no_checksum_and_is_read_if_it_is_sound(tmp_path):
    texts = [
        without(sealed(line(1))),
        json.dumps(line(2)).encode() + b"\n",
        without(sealed(line(3, "failed"))),
    ]
    moved = without(sealed(line(4), key=line(5)["key"]))
    wrong = without(sealed(line(6) | {"mistakes": 101}))
    edited = sealed(line(7)).replace(b'"mistakes":30', b'"mistakes":20')
    store = store_of(tmp_path, *texts, moved, wrong, edited, sealed(line(8)), b'{"key":"00')
    curves = [without(forged_curve(line(1)["key"], curve)) for curve in (GOOD, GOOD | {"t": [2, 1]})]
    store_of(tmp_path, *curves, folder="curves")
    with pytest.warns(StoreWarning, match=r"a\.jsonl:4, .*a\.jsonl:5, .*a\.jsonl:6 and 1 more$"):
        cells = store.cells()
    assert sorted(cells["rep"]) == [1, 2, 8]
    assert cells["provenance"].tolist() == [line(n)["provenance"] for n in (1, 2, 8)]
    assert [failed["rep"] for failed in store.failed()] == [3]
    with pytest.warns(StoreWarning, match=r"a\.jsonl:2$"):
        assert Store(tmp_path).curves() == {line(1)["key"]: GOOD}


CURVES = [
    *(None, 3, [], "x", {}),
    *({"t": bad} for bad in (None, 3, "x", [1.5], [-1], ["1"], [2, 1], [1, 1])),
    *(
        GOOD | {"mistakes": bad}
        for bad in (None, 3, [1], [1, 101], [-1, 2], [1.0, 2.0], ["1", "2"], [[1], [2]])
    ),
    *(GOOD | {"n_sv_sum": bad} for bad in (None, [1], [1.5, 2], [-1, 2])),
    *(GOOD | {"loss": bad} for bad in (None, [1.0], ["1", "2"], [-1.0, 2.0])),
    *(GOOD | {"nlpd": bad} for bad in (None, [1.0], ["1", "2"])),
    *(GOOD | {"weights": bad} for bad in (3, [1.0], [["1"]], [[1.0], [2.0]])),
    *(GOOD | {"weights_t": bad} for bad in (None, 3, ["1"], [1, 2])),
    GOOD | {"other": 3},
]


def test_a_curve_that_is_none_is_not_read_and_prune_removes_it(tmp_path):
    good = encode_curve(line(1)["key"], "", GOOD)
    assert forged_curve(line(1)["key"], GOOD) == good
    for number, wrong in enumerate(CURVES):
        store = store_of(tmp_path / str(number), forged_curve(line(2)["key"], wrong), good, folder="curves")
        with pytest.warns(StoreWarning, match=r"a\.jsonl:1$"):
            assert store.curves() == {line(1)["key"]: GOOD}, wrong
        rewrite.prune(store, old=False, torn=True, really=True)
        assert store.files("curves")[0].read_bytes() == good, wrong


def test_the_writer_refuses_what_no_reader_would_believe(tmp_path):
    with Store(tmp_path) as store:
        for wrong in (line(1, key="0" * 64), line(1) | {"mistakes": 200}, line(1) | {"seconds": -1.0}):
            with pytest.raises(ValueError, match="a field is missing, has a wrong type or range"):
                store.append(wrong)
        with pytest.raises(ValueError, match="curve"):
            store.append(line(1), {"t": [2, 1]})
    assert len(Store(tmp_path).cells()) == 0


def test_what_a_learner_returns_wrong_is_a_failed_cell(tmp_path):
    from omkl.runs.runner import _stored

    with Store(tmp_path) as store:
        base = {k: v for k, v in line(1, "failed").items() if k not in ("status", "error")}
        figures = {k: v for k, v in line(1).items() if k not in base}
        stored = _stored(store, base, figures | {"mistakes": 101, "mistake_rate": 1.01}, curves=True)
    assert (stored["status"], stored["error"][:26]) == ("failed", "its figures cannot be stor")
    assert len(store.failed()) == 1


# -------------------------------------------------------------------- long lines, FIFOs


def test_a_line_over_the_limit_is_skipped_and_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("omkl.store.lines.LONGEST", 4096)
    long = sealed(line(0, extra="x" * 20_000))
    good = sealed(line(1))
    store = store_of(tmp_path, long, good, long, sealed(line(2)))
    with pytest.warns(StoreWarning, match=r"a\.jsonl:1, .*a\.jsonl:3$"):
        assert store.cells()["rep"].tolist() == [1, 2]
    rewrite.prune(store, old=False, torn=True, really=True)
    assert cell_files(store)[0].read_bytes() == good + sealed(line(2))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes FIFOs")
@pytest.mark.timeout(120)
def test_fifos_devices_and_folders_in_a_store_never_block(tmp_path, capsys):
    store = store_of(tmp_path, sealed(line(1)))
    for folder in ("cells", "curves"):
        (tmp_path / folder).mkdir(exist_ok=True)
        os.mkfifo(tmp_path / folder / "b.jsonl")
        (tmp_path / folder / "c.jsonl").symlink_to(os.devnull)
        (tmp_path / folder / "d.jsonl").mkdir()
    with pytest.warns(StoreWarning, match=r"b\.jsonl \(not a file\), .*c\.jsonl .*, .*d\.jsonl"):
        assert store.cells()["rep"].tolist() == [1]
    with pytest.warns(StoreWarning):
        store.curves()
    rows, _ = rewrite.prune(store, old=False, torn=True, really=True)
    assert [(row["folder"], row["what"], row["lines"]) for row in rows] == [
        *(("cells", rewrite.TORN, 2), ("curves", rewrite.TORN, 2)),
    ]
    assert sorted(path.name for path in store.files("cells")) == ["a.jsonl", "d.jsonl"]  # a folder stays
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_real_cells_of_every_task_have_the_key_of_their_fields(tmp_path):
    """What the runner writes is read back: nothing of a true cell is taken for unsound."""
    from support.runner_plans import write_data

    from omkl.config import plan
    from omkl.runs import runner

    data = write_data(tmp_path / "tiny.libsvm", 40)
    words = ["algo=omkc_dd,bomkc_spa", f"data={data}", "reps=2", f"store={tmp_path / 's'}", "exec=serial"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoreWarning)
        outcome = runner.run_plan(plan(words), progress=False)
        again = runner.run_plan(plan(words), progress=False)
    assert (outcome.failed, again.ran, len(again.cells)) == ([], 0, outcome.ran)
