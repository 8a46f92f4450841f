"""omkl results compact: what is read of segments is what was read of lines, whatever happens on the way."""

import itertools
import os
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from support.results_lines import cell_files, line, sealed

from omkl.cli import main
from omkl.errors import OmklError, UserError
from omkl.store import compact as compaction
from omkl.store import rewrite
from omkl.store.compact import compact
from omkl.store.lines import COLUMNS
from omkl.store.reading import content, read_files
from omkl.store.segments import EXTRA, Select
from omkl.store.store import Store, StoreWarning

pytest.importorskip("pyarrow")
DAYS = [f"2026-01-0{day}T00:00:00.000000+00:00" for day in range(1, 6)]
SOME = [name for name in (*COLUMNS, *EXTRA) if name not in ("weights", "n_sv_per_kernel", "provenance")]


def fill(path: Path, numbers=range(8), day: int = 0) -> Store:
    """A store with one more file: cells of many kinds, some with a curve, and a torn line."""
    changes = (
        {},
        {"seconds": 1, "rep": 2**63},  # not a float as the others, and not of 64 bits
        {"weights": None, "skill": [1, 0.5], "nlpd": 0.25},
        {"weights": [-3, 0.5], "task": "regression", "mistakes": None, "mistake_rate": None, "mse": 0.1},
        {"params": {"beta": 1.0, "kind": "ä"}, "pool": None, "pool_spec": None, "data": "other"},
        {"algo": "gone", "seed": 2**80, "revision": 1},
    )
    before = set(cell_files(Store(path)))
    with Store(path) as store:
        for number in numbers:
            status = "failed" if (number + day) % 5 == 2 else "ok"
            more = changes[number % len(changes)] if status == "ok" else {"error": "“no”"}
            one = line(number, status, time=DAYS[day], **more)
            curve = {"t": [number + 1, 100], "loss": [0.1, 1], "weights": [[1, 0.5]], "weights_t": [3]}
            store.append(one, curve if number % 3 else None)
    (new,) = set(cell_files(store)) - before
    with new.open("ab") as file:
        file.write(b'{"key":"torn\n')
    return Store(path)


def raw(store: Store) -> Counter[bytes]:
    """All lines of a store, as they are in its files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        return Counter(one.raw for folder in rewrite.FOLDERS for one in store.lines(folder))


def view(store: Store) -> list:
    """What the readers say of a store, to be compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        frames = [
            store.cells(),
            store.cells(columns=SOME),
            store.cells(columns=[*SOME, "skill"]),
            store.cells(columns=["key", "weights"], where={"data": ["other"], "algo": ["omkc_dd", "x"]}),
        ]
        frames += [store.cells(sorted(frames[0]["key"])[:3], columns) for columns in (None, SOME)]
        done = store.done([*frames[0]["key"], "x", "0" * 64])
        failed = sorted(store.failed(), key=lambda one: one["key"])
        parts = [*frames, pd.DataFrame(failed), store.curves(), done]
    return [
        part.sort_values("key", ignore_index=True).map(repr).join(part.dtypes.rename("dtype").map(str))
        if isinstance(part, pd.DataFrame)
        else part
        for part in parts
    ]


def assert_same(one: list, other: list) -> None:
    for a, b in zip(one, other, strict=True):
        pd.testing.assert_frame_equal(a, b) if isinstance(a, pd.DataFrame) else None
        assert isinstance(a, pd.DataFrame) or a == b


def segments(store: Store, folder: str = "cells") -> list[Path]:
    return sorted((store.path / folder).glob("*.parquet"))


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


# -------------------------------------------------------------------- damage


def text(value) -> str:
    """A value, whatever the type of its column."""
    return repr(float(value)) if isinstance(value, (int, float)) else repr(value).replace("None", "nan")


def test_every_flipped_byte_is_told_with_its_file_and_nothing_wrong_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compaction, "ROWS", 4)
    monkeypatch.setattr(compaction, "SMALL", 0)
    store = fill(tmp_path)
    lines = raw(store)
    cells = store.cells(columns=SOME).set_index("key").map(text)
    compact(store)
    path = segments(store)[0]
    for at in range(0, path.stat().st_size, 211):
        content = bytearray(path.read_bytes())
        content[at] ^= 4
        path.write_bytes(content)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            left = Store(tmp_path).cells(columns=SOME).set_index("key").map(text)
            kept = Counter(one.raw for folder in rewrite.FOLDERS for one in Store(tmp_path).lines(folder))
        texts = [str(one.message) for one in said if path.name in str(one.message)]
        pd.testing.assert_frame_equal(left, cells.loc[left.index])
        assert kept <= lines
        assert kept.total() >= lines.total() - 4
        assert len(left) >= len(cells) - 4
        assert texts or kept == lines
        assert all("prune --torn" in text for text in texts)
        content[at] ^= 4
        path.write_bytes(content)
    content[20] ^= 1
    path.write_bytes(content)
    rewrite.prune(store, old=False, torn=False, really=True)
    assert path.exists()  # only with --torn
    rewrite.prune(store, old=False, torn=True, really=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Store(tmp_path).cells()["key"].isin(cells.index).all()


def test_a_store_without_segments_needs_no_pyarrow_and_one_with_them_says_so(tmp_path, monkeypatch, capsys):
    store = fill(tmp_path)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pyarrow", None)
        assert raw(store)
        assert main(["results", "compact", f"store={tmp_path}"]) == 2
        assert "needs pyarrow: pip install 'omkl[parquet]'" in capsys.readouterr().err
    compact(store)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"pyarrow must read it: pip install 'omkl\[parquet\]'"):
        store.cells()
    assert main(["results", "list", f"store={tmp_path}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_forged_line_in_a_segment_is_not_read(tmp_path, monkeypatch):
    with Store(tmp_path) as store:
        store.append(line(1))
    good = cell_files(store)[0].read_bytes()
    (tmp_path / "cells" / "forged.jsonl").write_bytes(sealed(line(2, mistakes=20, mistake_rate=0.9)))
    with pytest.warns(StoreWarning, match=r"forged\.jsonl:1"):
        assert Counter([one.raw for one in store.lines("cells")]) == {good: 1}
    compact(store)
    assert [path.name for path in cell_files(store)] == ["forged.jsonl"]
