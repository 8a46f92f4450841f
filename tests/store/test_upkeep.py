"""omkl results: what a store holds, export, merge of several machines' stores, prune."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from support import ROOT, TESTS
from support.results_lines import cell_files, line, read_quietly

from omkl.cli import main
from omkl.config import learner_spec
from omkl.errors import OmklError, UserError
from omkl.reports import store_contents
from omkl.store import upkeep
from omkl.store.store import Store, StoreWarning

EARLY, LATE = (f"2026-01-0{day}T00:00:00.000000+00:00" for day in (1, 2))


def fill(path: Path, *lines: dict) -> Store:
    """A store of the lines, each with a curve unless it failed, written by one process."""
    with Store(path) as store:
        for one in lines:
            store.append(one, {"t": [one["rep"]]} if one["status"] == "ok" else None)
    return store


def content(store: Store) -> list[bytes]:
    return sorted(raw for folder in upkeep.FOLDERS for path in store.files(folder) for raw in path.open("rb"))


# -------------------------------------------------------------------- list and export


def test_list_counts_what_the_store_holds(tmp_path):
    fill(
        tmp_path,
        *(line(n, seconds=0.5, time=time) for n, time in enumerate((EARLY, LATE))),
        line(2, "failed"),
        line(3, params={"beta": 0.5, "sampling": "max"}, revision=0),
        line(
            4,
            algo="gone",
            revision=1,
            params={"eta": 1.5},
            pool=None,
            pool_spec=None,
            provenance={"host": "there"},
        ),
    )
    rows = store_contents.contents(Store(tmp_path))
    keep = ("algo", "settings", "pool", "revision", "cells", "failed", "seconds", "dates", "machines")
    now = learner_spec("omkc_dd").revision
    assert [tuple(row[name] for name in keep) for row in rows] == [
        ("gone", "eta=1.5", "", "1", 1, 0, 0.25, "", "there"),
        ("omkc_dd", "beta=0.5 sampling=max", "paper16", f"0 (now {now})", 1, 0, 0.25, "2026-01-01", "here"),
        ("omkc_dd", "sampling=max", "paper16", f"{now}", 2, 1, 1.0, "2026-01-01 to 2026-01-02", "here"),
    ]
    assert [row["algo"] for row in store_contents.contents(Store(tmp_path), ["gone"], ["toy"])] == ["gone"]
    with pytest.raises(UserError, match=r"algo=gine: the store holds none \(did you mean 'gone'\?\)"):
        store_contents.contents(Store(tmp_path), ["gine"])


def test_export_has_one_value_per_column(tmp_path, capsys):
    kernel = {"kind": "gaussian", "sigma": 2.0}
    fill(
        tmp_path,
        line(1, weights=[0.1, 1], n_sv_per_kernel=[3, 4]),
        line(2, algo="p", params={"kernel": kernel, "C": 1}, pool=None, pool_spec=None, weights=None),
        line(3, algo="q", params={"C": "auto"}),
    )
    assert main(["results", "export", f"store={tmp_path}"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["algo.beta"] for row in rows] == ["0.8", "", ""]
    assert [row["algo.kernel.sigma"] for row in rows] == ["", "2.0", ""]
    assert [row["algo.C"] for row in rows] == ["", "1", "auto"]
    assert json.loads(rows[0]["weights"]) == [0.1, 1.0]
    assert json.loads(rows[0]["pool.kernels"]) == [{"kind": "gaussian", "sigma": 0.5}]
    assert (rows[1]["pool.kernels"], rows[1]["provenance.host"]) == ("", "here")
    assert rows[0]["permutation_seed"] == str(2**100 + 1)
    assert main(["results", "export", f"store={tmp_path}", "algo=q", "--out", str(tmp_path / "q.csv")]) == 0
    assert pd.read_csv(tmp_path / "q.csv")["rep"].tolist() == [3]
    assert [path.name for path in tmp_path.glob(".*")] == []  # nothing half-written is left


def test_export_says_what_is_wrong(tmp_path, capsys):
    fill(tmp_path, line(1))
    for out, message in (
        ("x.parquet", "must end in .csv; pandas writes other formats"),
        ("nowhere/x.csv", "cannot write"),
    ):
        assert main(["results", "export", f"store={tmp_path}", "--out", str(tmp_path / out)]) in (1, 2)
        assert message in capsys.readouterr().err
        assert not (tmp_path / out).exists()


# -------------------------------------------------------------------- merge


def test_merge_copies_what_is_missing_and_the_newest_counts(tmp_path):
    target = fill(tmp_path / "all", line(1, mistakes=10), line(2, time=LATE, mistakes=20))
    fill(tmp_path / "a", line(1, time=LATE, mistakes=11), line(2, mistakes=21), line(3, "failed"))
    fill(tmp_path / "b", line(1, time=LATE, mistakes=11), line(4))
    (torn,) = cell_files(Store(tmp_path / "b"))
    torn.write_bytes(torn.read_bytes() + b'{"key":"00')
    with pytest.warns(StoreWarning, match=rf"{torn.name}:3$"):
        copied = upkeep.merge(target, [tmp_path / "a", tmp_path / "b"])
    assert copied == {"cells": 4, "curves": 3}  # of cell 1 the two machines have the same line
    assert sorted(zip(read_quietly(target)["rep"], target.cells()["mistakes"], strict=True)) == [
        *((1, 11), (2, 20), (4, 30))
    ]
    assert len(target.curves()) == 3
    assert [failed["rep"] for failed in target.failed()] == [3]
    before = content(target)
    with pytest.warns(StoreWarning):
        assert not upkeep.merge(target, [tmp_path / "b", tmp_path / "a"])
    assert content(target) == before
    assert len(cell_files(target)) == 2  # nor is an empty file left


def test_merge_refuses_what_is_no_other_store(tmp_path):
    store = fill(tmp_path / "s", line(1))
    for source, message in (
        (tmp_path / "none", "is not a results store"),
        (tmp_path / "s", "the store itself"),
    ):
        with pytest.raises(UserError, match=message):
            upkeep.merge(store, [source])


@pytest.mark.parametrize("when", range(8))
def test_a_merge_that_is_interrupted_spoils_nothing_and_goes_on(tmp_path, monkeypatch, when):
    target = fill(tmp_path / "all", line(1))
    fill(tmp_path / "a", line(2), line(3))
    calls, replace, fsync = [], os.replace, os.fsync

    def fails(function, *args):
        calls.append(function)
        if len(calls) == when:
            raise OSError(28, "No space left on device")
        return function(*args)

    monkeypatch.setattr(os, "replace", lambda *args: fails(replace, *args))
    monkeypatch.setattr(os, "fsync", lambda *args: fails(fsync, *args))
    if when in (0, 7):
        upkeep.merge(target, [tmp_path / "a"])
    else:
        with pytest.raises(OmklError, match="No space left"):
            upkeep.merge(target, [tmp_path / "a"])
    cells = set(read_quietly(target)["key"])
    assert line(1)["key"] in cells
    assert cells <= target.curves().keys()  # a cell implies its curve
    assert not list(tmp_path.rglob(".*.part"))
    calls[:] = [None] * 10
    upkeep.merge(target, [tmp_path / "a"])
    assert sorted(read_quietly(target)["rep"]) == [1, 2, 3]


# -------------------------------------------------------------------- prune


def test_prune_removes_what_no_table_uses(tmp_path, capsys):
    fill(tmp_path, line(1, "failed"), line(1, time=LATE, mistakes=1), line(2, "failed"), line(3))
    store = fill(tmp_path, line(1, mistakes=2), line(2, "failed", time=LATE), line(3, time=LATE))
    with cell_files(store)[0].open("ab") as file:
        file.write(b"torn\n")
    with pytest.warns(StoreWarning):
        was = store.cells().sort_values("key", ignore_index=True), store.failed(), store.curves()
    before = content(store)
    assert main(["results", "prune", f"store={tmp_path}", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert "nothing was removed" in err
    assert out == (
        "folder,what,lines\ncells,computed again since,3\n"
        'cells,"failed, finished since",1\ncurves,computed again since,2\n'
    )
    assert content(store) == before
    assert main(["results", "prune", f"store={tmp_path}", "--yes"]) == 0
    assert len(content(store)) == len(before) - 6
    assert b"torn\n" in content(store)
    assert main(["results", "prune", f"store={tmp_path}", "--yes", "--torn"]) == 0
    now = read_quietly(store).sort_values("key", ignore_index=True), store.failed(), store.curves()
    pd.testing.assert_frame_equal(now[0], was[0])
    assert now[1:] == was[1:]
    assert upkeep.prune(store, old=True, torn=True, really=True) == ([], [])
    capsys.readouterr()
    assert main(["results", "prune", f"store={tmp_path}", "--old"]) == 0
    assert capsys.readouterr() == ("", f"omkl: {tmp_path} has no such lines; there is nothing to remove\n")


def test_prune_old_removes_cells_of_older_revisions_with_their_curves(tmp_path):
    now = learner_spec("omkc_dd").revision
    store = fill(tmp_path, line(1, revision=now - 1), line(2, revision=now), line(3, algo="gone", revision=0))
    rows, _ = upkeep.prune(store, old=True, torn=False, really=True)
    assert rows == [{"folder": folder, "what": upkeep.OLD, "lines": 1} for folder in ("cells", "curves")]
    assert sorted(read_quietly(store)["rep"]) == [2, 3]
    assert len(store.curves()) == 2


@pytest.mark.slow
def test_prune_leaves_files_alone_that_a_run_writes_to(tmp_path, capsys):
    code = (
        f"import sys; sys.path.insert(0, {str(TESTS)!r})\n"
        "from support.results_lines import line\nfrom omkl.store import Store\n"
        "store = Store(sys.argv[1]); store.append(line(1)); print('ready', flush=True)\n"
        "sys.stdin.read(); store.append(line(2)); store.close()"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    writer.stdout.readline()
    store = fill(tmp_path, line(1, time=LATE))
    assert main(["results", "prune", f"store={tmp_path}", "--yes"]) == 0
    assert "left unchanged, because a run is writing to it" in capsys.readouterr().err
    assert len(content(store)) == 3
    writer.communicate()
    assert sorted(read_quietly(store)["rep"]) == [1, 2]  # what it wrote after that is there
    assert main(["results", "prune", f"store={tmp_path}", "--yes"]) == 0
    assert len(content(store)) == 3


@pytest.mark.slow
def test_a_prune_killed_at_any_moment_loses_nothing(tmp_path):
    for day in (1, 2, 3):
        fill(tmp_path, *(line(n, time=f"2026-01-0{day}T00:00:00.000000+00:00") for n in range(300)))
    store, killed = Store(tmp_path), 0
    for delay in (0.0, 0.001, 0.002, 0.004, 0.006, 0.008, 0.012, 0.016, 0.03):
        child = os.fork()
        if child == 0:
            upkeep.prune(store, old=False, torn=False, really=True)
            os._exit(0)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert sorted(read_quietly(store)["rep"]) == list(range(300))
        assert len(store.curves()) == 300
    assert killed
    upkeep.prune(store, old=False, torn=False, really=True)
    assert len(content(store)) == 600
    assert not list(tmp_path.rglob(".*.part"))


# -------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list", "store=nowhere"], "nowhere is not a results store"),
        (["list", "stoer=x"], "did you mean 'store'?"),
        (["list", "beta"], "takes store, algo, data"),
        (["prune", "algo=x"], "takes store"),
        (["list", "store=a", "store=b"], "given twice"),
        (["list", "algo="], "the value is missing"),
        (["merge"], "name the stores"),
        (["merge", "nowhere"], "nowhere is not a results store"),
        (["prun"], "prun"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)
    assert main(["results", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
