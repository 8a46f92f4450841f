"""omkl results compact: what is read of segments is what was read of lines, whatever happens on the way."""

import itertools
import os
import signal
import sys
import warnings
from collections import Counter

import pytest
from support.results_lines import cell_files, line
from support.segment_stores import assert_same, fill, raw, segments, view

from omkl.cli import main
from omkl.errors import OmklError
from omkl.store import compact as compaction
from omkl.store import rewrite
from omkl.store.compact import compact
from omkl.store.reading import content, read_files
from omkl.store.segments import Select
from omkl.store.store import Store, StoreWarning

pytest.importorskip("pyarrow")


# -------------------------------------------------------------------- the same as before


def test_what_is_read_of_a_segment_is_what_was_read_of_its_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "ROWS", 10)  # so that files are divided
    monkeypatch.setattr(compaction, "SMALL", 5)
    for day in (2, 0, 1):
        store = fill(tmp_path, range(day, 9), day)
    before, lines = view(store), raw(store)
    made = compact(store)
    assert made.lines.total() == lines.total()
    assert made.segments == len(segments(store)) + len(segments(store, "curves")) > 4
    assert made.busy == []
    assert [path.read_bytes() for path in cell_files(store)] == [b'{"key":"torn\n'] * 3
    assert raw(Store(tmp_path)) == lines
    assert_same(view(Store(tmp_path)), before)
    with pytest.warns(StoreWarning, match=r"\.jsonl:1, "):
        Store(tmp_path).cells()
    assert not compact(store).segments  # nothing is new
    # new lines and small segments become one
    fill(tmp_path, range(3), 4)
    before, lines, old = view(store), raw(store), segments(store)
    compact(store)
    assert raw(store) == lines
    assert_same(view(store), before)
    assert set(segments(store)) != set(old)


def test_the_newest_of_two_results_counts_wherever_it_is(tmp_path):
    for mistakes in (1, 2):  # at the same time: that of the later file, by name
        with Store(tmp_path) as store:
            store.append(line(1, mistakes=mistakes))
    newest = store.cells()["mistakes"].tolist()
    loser, winner = cell_files(store)
    winner.rename(tmp_path / "aside")
    compact(store)
    (tmp_path / "aside").rename(winner)
    assert store.cells()["mistakes"].tolist() == newest
    assert store.cells(columns=["mistakes"])["mistakes"].tolist() == newest
    compact(store)
    assert store.cells(columns=["mistakes"])["mistakes"].tolist() == newest
    assert loser.name != winner.name
    rows, _ = rewrite.prune(store, old=False, torn=False, really=True)
    assert rows == [{"folder": "cells", "what": rewrite.SUPERSEDED, "lines": 1}]
    assert store.cells()["mistakes"].tolist() == newest
    assert raw(store).total() == 1


def test_the_commands_on_a_compacted_store_say_the_same(tmp_path, capsys):
    store = fill(tmp_path / "s")
    words = [
        *(["list", "--format", "csv"], ["export"], ["export", "data=other"], ["prune", "--format", "csv"]),
    ]

    def said() -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            for own in words:
                assert main(["results", *own, f"store={store.path}"]) == 0
        return sorted(capsys.readouterr().out.splitlines())

    before, lines = said(), raw(store)
    assert main(["results", "compact", f"store={store.path}"]) == 0
    assert "8 lines of cells and 5 curves sealed, 2 segments written" in capsys.readouterr().out
    assert said() == before
    assert main(["results", "merge", str(store.path), f"store={tmp_path / 'copy'}"]) == 0
    assert raw(Store(tmp_path / "copy")) == lines


# -------------------------------------------------------------------- killed, or not alone


def stopped_at(step: int, store: Store) -> bool:
    """Compact in another process, which kills itself at a step; whether it did."""
    child = os.fork()
    if child == 0:
        count = itertools.count()

        def hook(event, args):
            steps = event in ("os.rename", "os.remove") or (
                event == "open" and str(args[0]).endswith(".part")
            )
            if steps and str(args[0]).startswith(str(store.path)) and next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        compact(store)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_compaction_killed_at_any_step_loses_nothing_and_doubles_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "ROWS", 4)
    monkeypatch.setattr(compaction, "SMALL", 3)
    store = fill(tmp_path / "0")
    expected = raw(store)
    before = view(store)
    for step in itertools.count():
        store = fill(tmp_path / str(step)) if step else store
        lines = raw(store)
        assert lines.total() == expected.total()
        killed = stopped_at(step, store)
        assert raw(store) == lines
        if step % 4 == 1:
            assert_same(view(store), before)
        if step % 2:
            rewrite.prune(store, old=False, torn=False, really=True)
        else:
            compact(store)
        assert raw(store) == lines
        assert not list(store.path.rglob(".*.part"))
        if not killed:
            break
    assert step > 10


def test_what_a_run_writes_to_stays_and_is_read_with_the_rest(tmp_path, capsys):
    store = fill(tmp_path)
    with Store(tmp_path) as busy:
        busy.append(line(20))
        before = view(store)
        assert main(["results", "compact", f"store={tmp_path}"]) == 0
        assert "left unchanged, because a run is writing to it" in capsys.readouterr().err
        assert_same(view(store), before)
        busy.append(line(21))
    assert store.done([line(n)["key"] for n in (20, 21, 22)]) == {line(n)["key"] for n in (20, 21)}
    lines = raw(store)
    compact(store)
    assert raw(store) == lines


def test_a_reader_misses_nothing_that_is_sealed_while_it_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "SMALL", 10**6)
    fill(tmp_path, range(4))
    compact(Store(tmp_path))
    for day in (1, 2):
        store = fill(tmp_path, range(4 * day, 9), day)
    lines = raw(store)
    now = content(tmp_path / "cells", [])
    compact(store)  # the segment that the reader knows, and the files, become one new segment
    seen = [one.raw for segment in now.segments for one in segment.lines(Select())]
    seen += [one.raw for one in read_files(tmp_path / "cells", "cells", now, Select(), [])]
    seen += [one.raw for one in store.lines("curves")]
    assert Counter(seen) == lines


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_two_compactions_at_once_lose_nothing_and_double_nothing(tmp_path):
    for day in range(3):
        store = fill(tmp_path, range(6), day)
    lines = raw(store)
    children = [os.fork() for _ in range(2)]
    if 0 in children:
        compact(store)
        os._exit(0)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert raw(store) == lines
    assert len(segments(store)) == 1


@pytest.mark.parametrize("when", range(1, 7))
def test_a_full_disk_loses_nothing(tmp_path, monkeypatch, when):
    store = fill(tmp_path)
    lines, calls = raw(store), itertools.count(1)

    def fsync(file):
        if next(calls) == when:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OmklError, match="No space left"):
        compact(store)
    assert raw(store) == lines
    assert not list(tmp_path.rglob(".*.part"))
    monkeypatch.undo()
    compact(store)
    assert raw(store) == lines
