"""Compaction: the finished lines of a store are sealed in segments, and their files removed.

Each segment counts from the moment of its renaming: its footer says which beginnings of line files it stands
for, and a reader leaves these out. So a kill at any moment loses no line and leaves none twice; the next
compaction, prune or reseal removes the files that it left. Files that a run writes to stay as they are.
"""

import contextlib
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from omkl.errors import UserError
from omkl.files import hold
from omkl.store.lines import Broken, Line, open_regular, pieces, scan
from omkl.store.reading import content
from omkl.store.segments import About, Cover, Segment, Select
from omkl.store.store import FOLDERS, Store, writer_lock
from omkl.store.upkeep import alone, settle, write_segment

ROWS = 2**15  # of a segment: what a compaction holds in memory at a time, some 8 kB each
SMALL = ROWS // 2  # segments of fewer rows become part of larger ones


@dataclass
class Compacted:
    """lines: sealed by folder    segments: written    busy: files that a run writes to

    before, after: bytes of all files of lines and segments
    """

    lines: Counter[str] = field(default_factory=Counter)
    segments: int = 0
    busy: list[Path] = field(default_factory=list)
    before: int = 0
    after: int = 0


def compact(store: Store) -> Compacted:
    """Seal the finished lines of a store in segments.

    Raises UserError where pyarrow is missing, OmklError where the store cannot be locked, read or written.
    """
    try:
        import pyarrow  # noqa: F401 (before anything is done)
    except ImportError:
        raise UserError("omkl results compact needs pyarrow: pip install 'omkl[parquet]'") from None
    made = Compacted()
    with alone(store):
        made.before = _size(store)
        for folder in reversed(FOLDERS):
            settle(store, folder)
            _Sealing(store, folder, made).run()
            settle(store, folder, check=False)  # what was just written has been read again
        made.after = _size(store)
    return made


def _size(store: Store) -> int:
    return sum(path.stat().st_size for folder in FOLDERS for path in (store.path / folder).iterdir())


class _Beginning:
    """How much of a line file has been sealed."""

    def __init__(self, file: BinaryIO) -> None:
        self._pieces = pieces(file)
        self.size = self.crc = self.lines = 0
        self.broken: list[Broken] = []

    def reach(self, number: int | None) -> None:
        """Go to the end of a line, or of the file."""
        while self.lines != number and (piece := next(self._pieces, None)):
            self.lines = piece[0]
            self.size, self.crc = self.size + len(piece[1]), zlib.crc32(piece[1], self.crc)

    def cover(self) -> Cover:
        """Return what is to be said in a segment."""
        broken = sorted({place.number for place in self.broken if place.number <= self.lines})
        return Cover(self.size, self.crc, self.lines, broken)


class _Sealing:
    """The compaction of a folder."""

    def __init__(self, store: Store, folder: str, made: Compacted) -> None:
        self._store, self._folder, self._made = store, folder, made
        self._lines: list[Line] = []
        self._covers: dict[str, Cover] = {}
        self._replaces: list[str] = []

    def run(self) -> None:
        """Write the segments."""
        now = content(self._store.path / self._folder, [])
        files = [path for path in now.files if self._is_free(path)]
        small = [segment for segment in now.segments if segment.rows < SMALL]
        new = sum(self._add_file(path, now.spent.get(path)) for path in files)
        if new or len(small) > 1:
            for segment in small:
                self._add_segment(segment)
        self._flush()

    def _is_free(self, path: Path) -> bool:
        """Whether no run writes to a line file, and so none will."""
        name = writer_lock(self._store.path, path.name)
        if (lock := hold(name)) is None:
            self._made.busy.append(path)
            return False
        lock.release()
        name.unlink(missing_ok=True)
        return True

    def _add_file(self, path: Path, before: Cover | None) -> int:
        """Add the sound lines of a file and return their number; before: what of it is in segments."""
        count = 0
        with contextlib.ExitStack() as stack:
            if (file := open_regular(path)) is None:
                return 0
            begun = _Beginning(stack.enter_context(file))
            start = (0, 0)
            if before is not None:
                begun.reach(before.lines)
                begun.broken += [Broken(path, number) for number in before.broken]
                start = before.size, before.lines
            for line in scan(path, self._folder, None, begun.broken, start):
                begun.reach(line.number)
                self._lines.append(line)
                count += 1
                if len(self._lines) >= ROWS:
                    self._covers[path.name] = begun.cover()
                    self._flush()
            begun.reach(None)
            if count or before:
                self._covers[path.name] = begun.cover()
        self._made.lines[self._folder] += count
        return count

    def _add_segment(self, segment: Segment) -> None:
        lines = list(segment.lines(Select()))
        if segment.broken:
            return  # what is damaged stays, until its reader decides
        if len(self._lines) + len(lines) > ROWS:
            self._flush()
        self._lines += lines
        self._replaces.append(segment.path.name)

    def _flush(self) -> None:
        if self._lines:
            about = About(self._covers, tuple(self._replaces))
            write_segment(self._store, self._folder, self._lines, about)
            self._made.segments += 1
        self._lines, self._covers, self._replaces = [], {}, []
