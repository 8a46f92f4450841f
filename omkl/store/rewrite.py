"""What changes stores: merging several, and removing superseded lines.

Each holds the store's one lock from before its first look to its last rename, so that two never work at once.
"""

import contextlib
import hashlib
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from omkl.errors import UserError
from omkl.files import replacing
from omkl.store.lines import Broken, Line, scan
from omkl.store.reading import Content, content
from omkl.store.segments import About, Segment, Select
from omkl.store.store import FOLDERS, PARTS, Store
from omkl.store.upkeep import (
    alone,
    rewrite_file,
    settle,
    states,
    write_segment,
)

SUPERSEDED, SINCE_FINISHED = "computed again since", "failed, finished since"
OLD, OTHER = "of an older revision", "of another source of the learner"
TORN, UNFINISHED = "unreadable", "left by an interrupted merge or prune"

Places = dict[Path, dict[int, str]]  # numbers of lines by file, and why they are removed


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
    removed_keys: dict[str, str] = {}
    now = _now(sources or {}) if old else {}
    for folder in FOLDERS:
        counts[folder, UNFINISHED] += len([*(store.path / folder).glob(PARTS)])
    with alone(store) if really else contextlib.nullcontext():
        for folder in FOLDERS:
            if really:
                settle(store, folder)
            seen, unopened = states(store, folder), list[Broken]()
            here = content(store.path / folder, unopened)
            segments = {segment.path: segment for segment in here.segments}
            for path, lines in _spent(here, unopened, folder, now, torn, removed_keys).items():
                if not lines:
                    continue
                if really and path in segments:
                    _reduce(store, folder, segments[path], lines.keys())
                elif really and not rewrite_file(store, path, seen.get(path), dict.fromkeys(lines, b"")):
                    busy.append(path)
                    continue
                counts.update((folder, what) for what in lines.values())
    found = sorted((+counts).items())
    return [{"folder": folder, "what": what, "lines": count} for (folder, what), count in found], busy


Now = dict[str, tuple[int, str | None]]  # revision and source of each learner


def _now(sources: Mapping[str, str]) -> Now:
    from omkl.config import learner_specs

    return {spec.name: (spec.revision, sources.get(spec.name) or None) for spec in learner_specs().values()}


def _spent(
    here: Content, unopened: list[Broken], folder: str, now: Now, torn: bool, removed: dict[str, str]
) -> Places:
    """Return by file the numbers of the lines to remove, and why; adds old cells to ``removed``, by key."""
    broken: dict[Path, list[Broken]] = {segment.path: segment.broken for segment in here.segments}
    broken |= {path: [] for path in here.files}
    reads: dict[Path, Iterator[Line]] = {segment.path: segment.lines(Select()) for segment in here.segments}
    reads |= {path: scan(path, folder, None, broken[path], start) for path, start in here.files.items()}
    spent: Places = {path: {} for path in reads}
    best: dict[str, tuple[tuple, Path, int]] = {}
    for path, lines in spent.items():
        with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
            for line in reads[path]:
                _, shared = line.fields
                if folder == "cells" and (why := _old(shared, *now.get(shared["algo"], (0, None)))):
                    removed[line.key] = why
                if line.key in removed:
                    lines[line.number] = removed[line.key]
                    continue
                mine = ((line.status != "failed", *line.rank), path, line.number)
                last = best.setdefault(line.key, mine)
                if last is not mine:
                    loser, winner = (last, mine) if mine[0] >= last[0] else (mine, last)
                    best[line.key] = winner
                    finished_since = winner[0][0] > loser[0][0]
                    spent[loser[1]][loser[2]] = SINCE_FINISHED if finished_since else SUPERSEDED
    if torn:
        for segment in (segment for segment in here.segments if segment.broken):
            spent[segment.path] |= dict.fromkeys(segment.unread(), TORN)
        for path in here.files:
            spent[path] |= {b.number: TORN for b in broken[path] if b.number or not path.is_dir()}
        return spent | {place.path: {0: TORN} for place in unopened if not place.path.is_dir()}
    # without leave to remove what is damaged, such a segment stays as it is
    return {path: lines for path, lines in spent.items() if path in here.files or not broken[path]}


def _reduce(store: Store, folder: str, segment: Segment, gone: Iterable[int]) -> None:
    """Replace a segment by one without some of its rows, given from 1."""
    gone = set(gone)
    kept = [line for line in segment.lines(Select()) if line.number not in gone]
    if kept:
        write_segment(store, folder, kept, About({}, (segment.path.name,)))
    segment.path.unlink()


def _old(shared: dict[str, Any], revision: int, source: str | None) -> str:
    """Return why a learner of this revision and source makes such cells no more, "" where it does."""
    if shared["source"] == source:
        return OLD if shared["revision"] < revision else ""
    return OTHER if source is not None and shared["source"] is not None else ""
