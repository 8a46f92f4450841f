"""What changes stores: merging several, and removing lines that no table uses.

Each change holds the store's one lock from before its first look to its last rename, so that two never work
at once. A new file is written next to the others and renamed when it is complete, so a kill at any moment is
harmless. Files that a running sweep writes to are never changed: it holds a lock of their name.
"""

import contextlib
import hashlib
import os
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError, path_error
from omkl.files import hold_lock, locked, remove_lock, replacing
from omkl.store.lines import scan
from omkl.store.store import FOLDERS, PARTS, Store, remove_ownerless, writer_lock

if TYPE_CHECKING:
    from omkl.config import LearnerSpec

SUPERSEDED, SINCE_FINISHED = "computed again since", "failed, finished since"
OLD, OTHER = "of an older revision", "of another source of the learner"
TORN, UNFINISHED = "unreadable", "left by an interrupted merge or prune"
ADVICE = ". Nothing is lost. Make room, or make the folder writable, and run the same command again"

Places = dict[Path, dict[int, str]]  # numbers of lines by file, and why they are removed


@contextlib.contextmanager
def alone(store: Store) -> Iterator[None]:
    """Wait for the store's lock and hold it; turn any OSError into "cannot write to the store"."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(store.path / "locks" / "store.lock", f"changing {store.path}"))
        except OSError as error:
            advice = (
                "; copy it to a folder that you may write to, on a file system with locks, and work there"
            )
            raise path_error(f"lock the store {store.path}", error, advice) from error
        with store.writing(ADVICE):
            remove_ownerless(store.path)
            for folder in FOLDERS:
                for path in (store.path / folder).glob(PARTS):
                    path.unlink(missing_ok=True)  # whoever wrote it held the lock
            yield


def _state(path: Path) -> list[int]:
    """Return what changes when the file or its content does, nothing if it has gone."""
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(path)
        return [status.st_ino, status.st_size, status.st_mtime_ns]
    return []


def rewrite_file(store: Store, path: Path, seen: list[int], removed: Collection[int]) -> bool:
    """Write a file again without some lines, given by number.

    seen: the file's `_state` before the scan. False where a run writes to the file, or did since then.
    """
    lock = hold_lock(writer_lock(store.path, path.name))
    if lock is None:
        return False
    try:
        if _state(path) != seen:
            return False
        with open(path, "rb") as file, replacing(path) as part:
            part.writelines(raw for number, raw in enumerate(file, 1) if number not in removed)
            empty = not part.tell()
            file.close()  # some systems cannot rename onto an open file
        if empty:
            path.unlink()
        return True
    finally:
        remove_lock(writer_lock(store.path, path.name), lock)


# -------------------------------------------------------------------- merge


def merge(target: Store, sources: Iterable[Path]) -> Counter[str]:
    """Copy the lines of other stores that the target lacks, and return how many of each folder.

    Of two lines of one cell the newest counts, as always. Broken lines are skipped with a StoreWarning.
    Raises UserError where a source is no store, OmklError where one cannot be read or the target written.
    """
    stores = [Store(source) for source in sources]
    for source in stores:
        if not (source.path / "cells").is_dir():
            raise UserError(f"{source.path} is not a results store (it has no cells/ folder)")
        if (target.path / "cells").exists() and os.path.samefile(source.path, target.path):
            raise UserError(f"{source.path} is the store itself; name the stores to copy from")
    copied: Counter[str] = Counter()
    name = f"merged-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
    with alone(target):
        with contextlib.ExitStack() as files:  # it renames them in reverse order, the curves first
            for folder in FOLDERS:  # read the cells first: a sweep may be writing
                file = files.enter_context(replacing(target.path / folder / name))
                digests = {_digest(raw) for raw, _ in target.raw_lines(folder)}
                for raw, _ in (pair for source in stores for pair in source.raw_lines(folder)):
                    if (digest := _digest(raw)) not in digests:
                        digests.add(digest)
                        file.write(raw.rstrip() + b"\n")
                        copied[folder] += 1
        for folder in set(FOLDERS) - copied.keys():
            (target.path / folder / name).unlink()
    return copied


def _digest(raw: bytes) -> bytes:
    return hashlib.blake2b(raw.rstrip(), digest_size=16).digest()


# -------------------------------------------------------------------- prune


def prune(
    store: Store, *, old: bool, torn: bool, really: bool, sources: Mapping[str, str] | None = None
) -> tuple[list[dict[str, Any]], list[Path]]:
    """Remove lines that no table uses; return a table of them (folder, what, lines), and the busy files.

    These are the lines of a cell that was computed again, and its failures once it has finished. With ``old``
    also the cells of learners whose revision is now higher, or whose source is another: ``sources`` holds
    those of the learners of the user's folders. With ``torn`` also the lines that are not believed. Nothing
    changes unless ``really``. Files that a running sweep writes to are left alone. Raises
    OmklError where the store cannot be locked, read or written.
    """
    counts: Counter[tuple[str, str]] = Counter()
    busy = []
    removed_keys: dict[str, str] = {}
    current = _now(sources or {}) if old else {}
    for folder in FOLDERS:
        counts[folder, UNFINISHED] += len([*(store.path / folder).glob(PARTS)])
    with alone(store) if really else contextlib.nullcontext():
        for folder in FOLDERS:
            seen = {path: _state(path) for path in store.files(folder)}
            for path, lines in _spent(seen, folder, current, torn, removed_keys).items():
                if lines and really and not rewrite_file(store, path, seen[path], lines):
                    busy.append(path)
                    continue
                counts.update((folder, what) for what in lines.values())
    found = sorted((+counts).items())
    return [{"folder": folder, "what": what, "lines": count} for (folder, what), count in found], busy


Now = dict[str, tuple["LearnerSpec", str | None]]  # each learner, and its source


def _now(sources: Mapping[str, str]) -> Now:
    from omkl.config import learner_specs

    return {spec.name: (spec, sources.get(spec.name) or None) for spec in learner_specs().values()}


def _spent(paths: Iterable[Path], folder: str, current: Now, torn: bool, removed: dict[str, str]) -> Places:
    """Return by file the numbers of the lines to remove, and why; adds old cells to ``removed``, by key."""
    spent: Places = {path: {} for path in paths}
    best: dict[str, tuple[tuple, Path, int]] = {}
    for path, lines in spent.items():
        broken: list[int] = []
        with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
            for _, line in scan(path, folder, None, None, broken):
                if folder == "cells" and (
                    why := _old(line.shared, *current.get(line.shared["algo"], (None, None)))
                ):
                    removed[line.key] = why
                if line.key in removed:
                    lines[line.number] = removed[line.key]
                    continue
                mine = (line.rank, path, line.number)
                last = best.setdefault(line.key, mine)
                if last is not mine:
                    loser, winner = (last, mine) if mine[0] >= last[0] else (mine, last)
                    best[line.key] = winner
                    finished_since = winner[0][0] > loser[0][0]
                    spent[loser[1]][loser[2]] = SINCE_FINISHED if finished_since else SUPERSEDED
        if torn:
            lines |= dict.fromkeys(broken, TORN)
    return spent


def _old(shared: dict[str, Any], spec: "LearnerSpec | None", source: str | None) -> str:
    """Return why a learner of this source makes such cells no more, "" where it does."""
    if spec is None:
        return ""
    if shared.get("source") == source:
        return OLD if shared["revision"] < spec.revision else ""
    return OTHER if source is not None and shared.get("source") is not None else ""
