"""One lock for the whole store: two prunes or merges at once destroy nothing."""

import io
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from support import ROOT
from support.results_lines import line, read_quietly

from omkl.errors import OmklError
from omkl.files import hold_lock, locked, remove_lock
from omkl.store import upkeep
from omkl.store.store import Store

DAYS = [f"2026-01-0{day}T00:00:00.000000+00:00" for day in (1, 2, 3)]


def fill(path: Path, cells: int = 120) -> Store:
    """A store of three files; the newest line of a cell is in any of them, so that all are rewritten."""
    chance = random.Random(3)
    order = [chance.sample(DAYS, 3) for _ in range(cells)]
    for file in range(3):
        with Store(path) as store:
            for number in range(cells):
                store.append(line(number, time=order[number][file]), {"t": [1, 100]})
    return Store(path)


def assert_whole(store: Store, cells: int = 120) -> None:
    table = read_quietly(store)
    assert sorted(table["rep"]) == list(range(cells))
    assert {origin["time"] for origin in table["provenance"]} == {DAYS[2]}
    assert len(store.curves()) == cells


# The first process stops between its scan and its first rewrite until it gets a line on stdin.
STOPS = """
import sys
from omkl.store import upkeep
from omkl.cli import main
real, answers = upkeep.rewrite_file, []
def rewrites(*args):
    if not answers:
        print("scanned", flush=True)
        answers.append(sys.stdin.readline())
    return real(*args)
upkeep.rewrite_file = rewrites
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("second", ["prune", "merge"])
def test_a_second_one_waits_until_the_first_has_renamed(tmp_path, second):
    store = fill(tmp_path / "s")
    fill(tmp_path / "other", 10)
    given = {"prune": ["--yes"], "merge": [str(tmp_path / "other")]}[second]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    where = f"store={store.path}"
    first = subprocess.Popen(
        [sys.executable, "-c", STOPS, "results", "prune", "--yes", where], env=environment, **pipes
    )
    assert first.stdout.readline() == "scanned\n"
    command = [sys.executable, "-m", "omkl", "results", second, where, *given]
    other = subprocess.Popen(command, env=environment, **pipes)
    said = other.stderr.readline()  # it waits and says so, or has gone through with it
    first.stdin.write("on\n")
    first.stdin.flush()
    _, errors = first.communicate(timeout=120)
    other.communicate(timeout=120)
    assert (first.returncode, other.returncode) == (0, 0), errors
    assert said.startswith(f"waiting: another process ({first.pid} on ")
    assert_whole(store)


@pytest.mark.slow
def test_two_prunes_at_once_lose_no_cell_in_any_of_a_dozen_trials(tmp_path):
    for trial in range(12):
        store = fill(tmp_path / str(trial), 60)
        ready, go = os.pipe()
        children = []
        for _ in range(2):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    os.close(go)
                    os.read(ready, 1)  # both begin when the parent closes its end
                    upkeep.prune(Store(store.path), old=False, torn=True, really=True)
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        os.close(go)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
        os.close(ready)
        assert_whole(store, 60)
        assert sum(len(path.read_bytes().splitlines()) for path in store.files("cells")) == 60


def test_a_file_that_changed_since_the_scan_is_left_alone(tmp_path, monkeypatch):
    store = fill(tmp_path / "s")
    spent = upkeep._spent

    def and_then_someone_writes(*args):
        removed = spent(*args)
        for path in store.files("cells"):
            path.write_bytes(b"\n" + path.read_bytes())
        return removed

    monkeypatch.setattr(upkeep, "_spent", and_then_someone_writes)
    _, busy = upkeep.prune(store, old=False, torn=False, really=True)
    assert set(busy) >= set(store.files("cells"))
    assert_whole(store)


HOLDER = """
import sys
from pathlib import Path
from omkl.files import hold_lock
lock = hold_lock(Path(sys.argv[1]))
print(lock is not None, flush=True)
sys.stdin.read()
"""


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    holder = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert holder.stdout.readline() == "True\n"
    assert hold_lock(path) is None
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with locked(path, "testing"):
        assert hold_lock(path) is None


SUSPENDED = """
import os, signal, sys
from pathlib import Path
from omkl.files import locked
with locked(Path(sys.argv[1]), "testing"):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_wait_names_its_process_and_may_have_an_end(tmp_path, capsys):
    path = tmp_path / "lock"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen([sys.executable, "-c", SUSPENDED, str(path)], **pipes) as holder:
        assert holder.stdout.readline() == "locked\n"
        holder.send_signal(signal.SIGSTOP)
        with locked(path, "testing", longest=0.1):
            assert hold_lock(path) is None
        first, second = capsys.readouterr().err.splitlines()
        who = f"another process ({holder.pid} on {socket.gethostname()})"
        assert first == f"waiting: {who} is testing"
        assert second == f"{who} has not ended in 0 s: not waiting any longer"
        holder.send_signal(signal.SIGCONT)
        holder.communicate("")
    with locked(path, "testing", longest=0.1):
        assert hold_lock(path) is None
    assert capsys.readouterr().err == ""
    assert [own.name for own in tmp_path.iterdir()] in ([], ["lock"])  # some systems remove locks


def killed(work):
    """Do something in a process that is killed afterwards, with all its locks held."""
    child = os.fork()
    if child == 0:
        work()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def left_in(store):
    """The lock files of writers and the half-written files of a store."""
    return [*(store / "locks").glob("*.jsonl.lock"), *(path for path in store.glob("*/.*.part"))]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "merge", "prune"])
def test_what_killed_writers_and_merges_left_is_removed_by_the_next_command(tmp_path, command, monkeypatch):
    store, other = tmp_path / "s", fill(tmp_path / "other", 3)
    killed(lambda: Store(store).append(line(1)))

    def dies(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    def merges():
        monkeypatch.setattr(upkeep, "_digest", dies)
        upkeep.merge(Store(store), [other.path])

    assert len(left_in(store)) == 1  # the writer's lock
    killed(merges)
    assert [path.suffix for path in left_in(store)] == [".part"]
    with Store(store) as living:
        living.append(line(2))
        assert len(left_in(store)) == 1  # its own lock
        killed(merges)
        assert len(left_in(store)) == 2
        if command == "run":
            with Store(store) as another:
                another.open()
        if command == "merge":
            upkeep.merge(Store(store), [other.path])
        if command == "prune":
            _, busy = upkeep.prune(Store(store), old=False, torn=False, really=True)
            assert busy == []
        assert len(left_in(store)) == 1
        living.append(line(3))
    assert {1, 2, 3} <= set(read_quietly(Store(store))["rep"])


def test_a_full_disk_under_merge_advises_no_other_folder(tmp_path, monkeypatch):
    store, other = fill(tmp_path / "s", 3), fill(tmp_path / "other", 4)

    def full(folder, start):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("omkl.files._new_part", full)
    with pytest.raises(OmklError, match=r"No space left on device\. Nothing is lost\. Make room") as error:
        upkeep.merge(store, [other.path])
    assert "store=" not in str(error.value)
    assert_whole(store, 3)


def test_a_store_that_cannot_be_locked_can_be_written_but_not_pruned(tmp_path, monkeypatch):
    def no_locks(path, wait=False):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("omkl.store.store.hold_lock", no_locks)
    monkeypatch.setattr("omkl.files.hold_lock", no_locks)
    with Store(tmp_path) as store:
        store.append(line(1))
    with pytest.raises(OmklError, match=r"cannot lock the store .*: No locks available"):
        upkeep.prune(store, old=False, torn=False, really=True)
    upkeep.prune(store, old=False, torn=False, really=False)
    assert len(read_quietly(store)) == 1


@pytest.mark.slow
def test_what_a_killed_save_left_is_removed_by_the_next_of_the_same_file(tmp_path):
    from omkl.files import replacing

    target, other = tmp_path / "model", tmp_path / "other"
    for path in (target, other):
        child = os.fork()
        if child == 0:
            with replacing(path) as file:
                file.write(b"half")
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
    (left,) = set(tmp_path.glob(".*.part")) - {next(iter(tmp_path.glob(f"{_start(other)}*")))}
    with replacing(target) as slow, replacing(target) as fast:  # two at once do not disturb each other
        slow.write(b"slow")
        fast.write(b"fast")
    assert target.read_bytes() == b"slow"  # the last to end
    assert not left.exists()
    assert len(list(tmp_path.glob(".*.part"))) == 1  # that of the other file


def _start(path: Path) -> str:
    import hashlib

    return f".{hashlib.blake2b(path.name.encode(), digest_size=4).hexdigest()}-"


@pytest.fixture
def vanishing(monkeypatch):
    """Folders whose files another process removes between a listing and what follows."""

    def vanish(folder, *pattern, listing):
        paths = list(listing(folder, *pattern))
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return iter(paths)

    for name in ("glob", "iterdir"):
        monkeypatch.setattr(Path, name, partialmethod(vanish, listing=getattr(Path, name)))


def test_a_store_opens_while_other_processes_remove_the_same_dead_locks(tmp_path, vanishing):
    for folder, name in [("locks", "h-1-aa.jsonl.lock"), ("cells", ".aa-1.part"), ("curves", ".aa-2.part")]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    with Store(tmp_path) as store:
        store.append(line(1))
        with upkeep.alone(store):
            pass


def test_a_store_is_described_while_a_run_removes_its_empty_file(tmp_path, vanishing):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "h-1-aa.jsonl").touch()
    assert repr(Store(tmp_path)).startswith("Store(")


def test_standard_input_and_a_parsed_copy_are_kept_while_others_remove_old_ones(
    tmp_path, vanishing, monkeypatch
):
    from omkl.data import Dataset, cache
    from omkl.data.reading import opening

    monkeypatch.setenv("OMKL_CACHE", str(tmp_path))
    rows = (np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    small = Dataset("a", *rows, 1, "classification", "")
    parsed = cache.path_in_memory("a", "classification", small)
    for old in (tmp_path / "stdin" / "old", parsed.with_name(f"{parsed.name.rpartition('-')[0]}-old")):
        old.mkdir(parents=True)
        os.utime(old, (0, 0))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n3,4\n")))
    assert opening.standard_input.__wrapped__().read_bytes() == b"1,2\n3,4\n"
    assert cache.write_parsed(small, parsed) == parsed


def test_a_lock_file_is_gone_before_its_lock_is(tmp_path, monkeypatch):
    lock = hold_lock(tmp_path / "lock")
    release = lock.release

    def released():
        assert os.name == "nt" or not (tmp_path / "lock").exists()
        release()

    monkeypatch.setattr(lock, "release", released)
    remove_lock(tmp_path / "lock", lock)
    assert not lock.is_locked
    assert not (tmp_path / "lock").exists()
