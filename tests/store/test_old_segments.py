"""Stores that omkl 0.2 compacted: their segments become lines again, once, and nothing of them is lost.

store_with_segments was left by `omkl results compact` of that version; lines.txt holds its lines, sorted.
"""

import itertools
import os
import shutil
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest
from support.stored_views import assert_same, quietly, raw, view

from omkl.cli import main
from omkl.errors import UserError
from omkl.files import locked
from omkl.store import old_segments, rewrite
from omkl.store.store import Store, StoreWarning

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")

STORE = Path(__file__).with_name("store_with_segments")
LINES = Counter((STORE / "lines.txt").read_bytes().splitlines(keepends=True))


@pytest.fixture
def store(tmp_path):
    """A copy of that store."""
    shutil.copytree(STORE, tmp_path / "s")
    return Store(tmp_path / "s")


def segments(store: Store) -> list[Path]:
    return sorted(store.path.rglob("*.parquet"))


def lines_of(store: Store) -> Counter[bytes]:
    """The lines in the line files."""
    return Counter(raw for path in store.path.rglob("*.jsonl") for raw in path.open("rb"))


def test_they_become_lines_when_the_store_is_read(store, tmp_path):
    assert len(segments(store)) == 5
    with locked(store.path / "locks" / "store.lock", "changing"):  # then they are read as they are
        before = view(store)
        assert raw(store) == LINES
    assert len(segments(store)) == 5
    assert_same(view(Store(store.path)), before)
    assert segments(store) == []
    assert raw(Store(store.path)) == LINES
    assert lines_of(store) - LINES == {b'{"key":"torn\n': 4}
    assert_same(view(Store(store.path)), before)


def test_commands_read_merge_and_prune_them(store, tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        assert main(["results", "merge", str(store.path), f"store={tmp_path / 'copy'}"]) == 0
        assert raw(Store(tmp_path / "copy")) == LINES
        shutil.rmtree(store.path)
        shutil.copytree(STORE, store.path)
        assert main(["results", "prune", "--yes", f"store={store.path}"]) == 0
    assert segments(store) == []
    assert raw(store) < LINES
    assert_same(view(store), view(Store(tmp_path / "copy")))


def test_a_store_that_cannot_be_written_to_is_read_each_time(store, monkeypatch):
    def no_lock(path, wait=False):
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as without:
        without.setattr(old_segments, "hold", no_lock)
        assert raw(store) == raw(store) == LINES

    def full(target):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as without:
        without.setattr(old_segments, "replacing", full)
        assert raw(store) == raw(store) == LINES
    assert len(segments(store)) == 5


def stopped_at(step: int, store: Store) -> bool:
    """Read in another process, which kills itself at a step; whether it did."""
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
        raw(store)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_kill_at_any_step_loses_nothing_and_doubles_nothing(tmp_path):
    for step in itertools.count():
        store = Store(shutil.copytree(STORE, tmp_path / str(step)))
        killed = stopped_at(step, store)
        with locked(store.path / "locks" / "store.lock", "changing"):
            assert raw(store) == LINES
        assert raw(store) == LINES
        assert segments(store) == []
        quietly(rewrite.prune, store, old=False, torn=False, really=True)
        assert not list(store.path.rglob(".*.part"))
        if not killed:
            break
    assert step > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_several_readers_at_once_lose_nothing(store):
    children = [os.fork() for _ in range(2)]
    if 0 in children:
        good = raw(store) == LINES
        os._exit(0 if good else 1)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert raw(store) == LINES
    assert segments(store) == []


@pytest.mark.slow
def test_a_damaged_one_stays_and_is_told_of_until_prune_takes_what_is_sound(tmp_path):
    content = min(STORE.glob("cells/*.parquet")).read_bytes()
    wrong = [b"", content[:9], bytes(range(256)) * 9, content[: len(content) // 2]]
    wrong += [
        content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :] for at in range(0, len(content), 97)
    ]
    told = 0
    for number, damaged in enumerate(wrong):
        store = Store(shutil.copytree(STORE, tmp_path / str(number)))
        path = min(store.path.glob("cells/*.parquet"))
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            kept = Counter(one.raw for kind in rewrite.FOLDERS for one in store.lines(kind))
        texts = [str(one.message) for one in said if path.name in str(one.message)]
        assert kept <= LINES
        assert kept.total() >= LINES.total() - 10
        assert bool(texts) == (segments(store) == [path])
        assert texts or kept == LINES
        assert all("replace it by an intact copy, or keep its other lines" in text for text in texts)
        told += len(texts)
        if texts and number % 5 == 0:
            quietly(rewrite.prune, store, old=False, torn=False, really=True)
            assert path.exists()  # only with --torn
            rows, _ = rewrite.prune(store, old=False, torn=True, really=True)
            assert ("cells", "unreadable") in [(row["folder"], row["what"]) for row in rows]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert not path.exists()
                assert raw(Store(store.path)) <= kept
    assert told > 20


def test_without_pyarrow_the_message_says_what_to_install(store, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"turn it back into lines once: pip install 'omkl\[parquet\]'"):
        store.cells()
    assert main(["results", "list", f"store={store.path}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    for path in segments(store):
        path.unlink()
    assert quietly(lambda: len(store.cells()))
