"""What all that changes a store does: hold its lock, replace files, remove what segments stand for.

A new file is written next to the others and renamed when it is complete, so a kill at any moment is harmless.
Files that a running sweep writes to are never changed: it holds a lock of their name.
"""

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from omkl.errors import OmklError, path_error
from omkl.files import hold, locked, replacing
from omkl.store.lines import Line, pieces
from omkl.store.reading import LINES, content, named
from omkl.store.segments import SUFFIX, About, Damaged, Segment, Select
from omkl.store.store import PARTS, Store, remove_ownerless, writer_lock

ADVICE = ". Nothing is lost. Make room, or let the folder be writable, and run the same command again"


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
            yield


def states(store: Store, folder: str) -> dict[Path, tuple[int, ...]]:
    """Return what changes when a line file or a segment does, by file."""
    paths = [*store.files(folder), *named(store.path / folder, SUFFIX)]
    return {path: state for path in paths if (state := _state(path))}


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what changes when the file or its content does; None if it has gone."""
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def rewrite_file(store: Store, path: Path, seen: tuple[int, ...] | None, changes: dict[int, bytes]) -> bool:
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


# -------------------------------------------------------------------- segments


def write_segment(store: Store, folder: str, lines: Sequence[Line], about: About) -> Path:
    """Seal lines in a new segment, read it again, and return its file. It counts from its renaming on.

    Raises OSError, and OmklError if what was written is not what is read; then nothing has changed.
    """
    from omkl.store.sealing import encode

    name, sealed = encode(folder, lines, about)
    path = store.path / folder / name
    with replacing(path) as file:
        file.write(sealed)
    try:
        segment = Segment(path)
        segment.check()
        kept = (raw for _, raw, _ in segment.raw_lines(Select()))
        good = all(line.raw.rstrip() + b"\n" == raw for line, raw in zip(lines, kept, strict=True))
    except (Damaged, ValueError):
        good = False
    if not good:
        path.unlink()
        raise OmklError(f"{path} is not read as it was written; the lines stay as they are. Check the disk")
    return path


def settle(store: Store, folder: str, check: bool = True) -> None:
    """Remove what segments stand for, and what an interrupted change left. The store's lock is held.

    Broken lines come into a file of their own. check: read the segments first; what a damaged one stands for
    stays. Raises OSError, and UserError where pyarrow is missing.
    """
    now = content(store.path / folder, [])
    whole = not (now.spent and check) or all(map(_is_whole, now.segments))
    for path, cover in now.spent.items() if whole else ():
        if cover is not None and path.stat().st_size > cover.size:
            continue  # the next compaction goes on there
        if cover is not None and cover.broken:
            with (
                open(path, "rb") as file,
                replacing(path.with_name(f"unread-{uuid.uuid4().hex[:12]}{LINES}")) as rest,
            ):
                rest.writelines(piece for number, piece in pieces(file) if number in cover.broken)
        path.unlink()  # never changed: a reader that comes late must see that it has gone
    for path in (store.path / folder).glob(PARTS):
        path.unlink()  # whoever wrote it held the lock


def _is_whole(segment: Segment) -> bool:
    try:
        segment.check()
    except Damaged:
        return False
    return True
