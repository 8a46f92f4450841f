"""What changes stores: merging several, removing superseded lines, sealing the lines of old stores.

Each holds the store's one lock from before its first look to its last rename, so that two never work at once.
A new file is written next to the others and renamed when it is complete, so a kill at any moment is harmless.
Files that a running sweep writes to are never changed: it holds a lock of their name.
"""

import contextlib
import hashlib
import math
import os
import stat
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from omkl.errors import OmklError, UserError
from omkl.files import hold, locked, replacing
from omkl.store.lines import Broken, decoded, encode_cell, encode_curve, pieces, scan
from omkl.store.store import Store, writer_lock

FOLDERS = ("cells", "curves")  # in the order in which they are read: a cell implies its curve
SUPERSEDED, SINCE_FINISHED = "computed again since", "failed, finished since"
OLD, TORN, UNFINISHED = "of an older revision", "unreadable", "left by an interrupted merge or prune"

Places = dict[Path, dict[int, str]]  # numbers of lines by file, and why they are removed
Ends = dict[str, list[tuple[int, Any, Any]]]  # T, mistakes and mse of the finished cells of each key


@contextlib.contextmanager
def alone(store: Store) -> Iterator[None]:
    """Wait for the store's lock and hold it; turn any OSError into "cannot write to the store"."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(store.path / "locks" / "store.lock", f"changing {store.path}"))
        except OSError as error:
            raise OmklError(
                f"cannot lock the store {store.path}: {error.strerror}; "
                "copy it to a folder that you may write to, on a file system that has locks, and work there"
            ) from error
        with store.writing():
            yield


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
                known = {_digest(line.raw) for line in target.lines(folder)}
                for line in (line for source in stores for line in source.lines(folder)):
                    if (digest := _digest(line.raw)) not in known:
                        known.add(digest)
                        file.write(line.raw.rstrip() + b"\n")
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
    those of the learners of the user's folders. With ``torn`` also the lines that are not read, and FIFOs and
    devices. Nothing changes unless ``really``. Files that a running sweep writes to are left alone. Raises
    OmklError where the store cannot be locked, read or written.
    """
    counts: Counter[tuple[str, str]] = Counter()
    busy = []
    removed_keys: set[str] = set()
    now = _now(sources or {}) if old else {}
    with alone(store) if really else contextlib.nullcontext():
        for folder in FOLDERS:
            seen = _states(store, folder)
            for path, lines in _spent(list(seen), folder, now, torn, removed_keys).items():
                if really and lines and not _rewrite(store, path, seen[path], dict.fromkeys(lines, b"")):
                    busy.append(path)
                else:
                    counts.update((folder, what) for what in lines.values())
            for part in (store.path / folder).glob(".*.part"):
                if really:
                    part.unlink()  # whoever wrote it held the lock
                counts[folder, UNFINISHED] += 1
        if really:
            _forget_writers(store)
    names = ("folder", "what", "lines")
    return [dict(zip(names, (*key, count), strict=True)) for key, count in sorted(counts.items())], busy


def _states(store: Store, folder: str) -> dict[Path, tuple[int, ...]]:
    return {path: state for path in store.files(folder) if (state := _state(path))}


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what changes when the file or its content does; None if it has gone."""
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


Now = dict[str, tuple[int, str | None]]  # revision and source of each learner


def _now(sources: Mapping[str, str]) -> Now:
    from omkl.config import learner_specs

    return {spec.name: (spec.revision, sources.get(spec.name) or None) for spec in learner_specs().values()}


def _spent(paths: list[Path], folder: str, now: Now, torn: bool, removed: set[str]) -> Places:
    """Return by file the numbers of the lines to remove, and why; adds old cells' keys to ``removed``."""
    spent: Places = {path: {} for path in paths}
    best: dict[str, tuple[tuple[bool, str], Path, int]] = {}
    for path, lines in spent.items():
        broken: list[Broken] = []
        with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
            for line in scan(path, folder, None, broken):
                _, shared = line.fields
                if folder == "cells" and _is_old(shared, *now.get(shared["algo"], (0, None))):
                    removed.add(line.key)
                if line.key in removed:
                    lines[line.number] = OLD
                    continue
                mine = ((line.status != "failed", line.time), path, line.number)
                last = best.setdefault(line.key, mine)
                if last is not mine:
                    loser, winner = (last, mine) if mine[0] >= last[0] else (mine, last)
                    best[line.key] = winner
                    finished_since = winner[0][0] > loser[0][0]
                    spent[loser[1]][loser[2]] = SINCE_FINISHED if finished_since else SUPERSEDED
        if torn:
            lines |= {place.number: TORN for place in broken if place.number or not path.is_dir()}
    return spent


def _is_old(shared: dict[str, Any], revision: int, source: str | None) -> bool:
    """Whether a learner of this revision and source makes such cells no more."""
    if shared["source"] == source:
        return shared["revision"] < revision
    return source is not None and shared["source"] is not None


def _rewrite(store: Store, path: Path, seen: tuple[int, ...], changes: dict[int, bytes]) -> bool:
    """Write a file again with other lines in place of some, by number; b"" removes a line.

    seen: the file's `_state` before the scan. False where a run writes to the file, or did since then.
    """
    lock = hold(writer_lock(store.path, path.name))
    if lock is None:
        return False
    try:
        if _state(path) != seen:
            return False
        if 0 in changes:  # a FIFO or device
            path.unlink()
            return True
        with open(path, "rb") as file, replacing(path) as part:
            for number, piece in pieces(file):
                part.write(changes.get(number, piece))
            empty = not part.tell()
            file.close()  # some systems cannot rename onto an open file
        if empty:
            path.unlink()
        return True
    finally:
        lock.release()
        writer_lock(store.path, path.name).unlink(missing_ok=True)


def _forget_writers(store: Store) -> None:
    """Remove the lock files of writers that were killed: nobody holds those locks."""
    for path in (store.path / "locks").glob("*.jsonl.lock"):
        if stat.S_ISREG(path.lstat().st_mode) and (lock := hold(path)):
            lock.release()
            path.unlink(missing_ok=True)


# -------------------------------------------------------------------- reseal


def reseal(store: Store) -> tuple[Counter[str], list[Broken], list[Path]]:
    """Seal the lines of an old store that have no seal (CRC) but are sound otherwise.

    A cell is sound when its key is that of its fields and its figures agree, a curve when it ends in the
    figures of a cell of its key. A line with a wrong seal was edited and stays unread. Returns how many lines
    of each folder were sealed, which were left without a seal, and the files left alone because a run writes
    to them. Raises OmklError as `prune` does.
    """
    sealed: Counter[str] = Counter()
    left: list[Broken] = []
    busy: list[Path] = []
    ends: Ends = {}
    with alone(store):
        for folder in FOLDERS:
            for path, state in _states(store, folder).items():
                broken: list[Broken] = []
                with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
                    for line in scan(path, folder, None, broken):
                        _note(ends, {**line.fields[0], **line.fields[1]})
                old = [place for place in broken if place.unsealed]
                changes = _resealed(path, folder, {place.number for place in old}, ends) if old else {}
                if changes and not _rewrite(store, path, state, changes):
                    busy.append(path)
                    continue
                sealed[folder] += len(changes)
                left += [place for place in old if place.number not in changes]
    return sealed, left, busy


def _resealed(path: Path, folder: str, numbers: set[int], ends: Ends) -> dict[int, bytes]:
    """Return the sound ones of these lines of a file, by number, with a seal."""
    resealed = {}
    with open(path, "rb") as file:
        for number, raw in pieces(file):
            if number not in numbers:
                continue
            line = decoded(raw)
            with contextlib.suppress(ValueError, TypeError, KeyError):
                if folder == "cells":
                    resealed[number] = encode_cell(line)
                    _note(ends, line)
                else:
                    made = encode_curve(line["key"], line.get("time", ""), line["curve"])
                    if any(_is_end(line["curve"], *figures) for figures in ends.get(line["key"], [])):
                        resealed[number] = made
    return resealed


def _note(ends: Ends, cell: dict[str, Any]) -> None:
    if cell.get("status") == "ok":
        ends.setdefault(cell["key"], []).append((cell["T"], cell["mistakes"], cell.get("mse")))


def _is_end(curve: dict[str, Any], T: int, mistakes: int | None, mse: float | None) -> bool:
    if curve["t"][-1:] != [T]:
        return False
    if mse is None:
        return curve.get("mistakes", [])[-1:] == [mistakes]
    return any(math.isclose(end / T, mse) for end in curve.get("loss", [])[-1:])
