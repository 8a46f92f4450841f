"""Which files of a store are to be read: line files and segments, seen as one while other processes work.

A segment may name line files and segments that it stands for, and that are still there: its writer was killed
before it had removed them, or is about to. They are not read again. A line file that vanishes before its turn
has just been sealed by another process, so its lines are looked for in the segments that are new since then.
"""

import contextlib
import os
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from omkl.store.lines import Broken, Line, open_regular, scan
from omkl.store.segments import SUFFIX, Cover, Damaged, Segment, Select

LINES = ".jsonl"


class Content(NamedTuple):
    """What is to be read of a folder of a store.

    files: line files, by name, and the bytes and lines at the beginning of each that are in segments
    segments: by name    spent: files that segments stand for, line files maybe only in part
    """

    files: dict[Path, tuple[int, int]]
    segments: list[Segment]
    spent: dict[Path, Cover | None]


def content(folder: Path, broken: list[Broken]) -> Content:
    """Return what is to be read of a folder; adds to ``broken`` the segments that cannot be opened.

    Raises OSError, and UserError where pyarrow is missing.
    """
    lines = named(folder, LINES)  # first: see the module's text
    segments = _opened(folder, broken)
    replaced = {name for segment in segments for name in segment.about.replaces}
    covers: dict[str, list[Cover]] = defaultdict(list)
    for segment in segments:
        for name, cover in segment.about.covers.items():
            covers[name].append(cover)
    starts: dict[Path, tuple[int, int]] = dict.fromkeys(lines, (0, 0))
    spent: dict[Path, Cover | None] = {
        segment.path: None for segment in segments if segment.path.name in replaced
    }
    for path in lines:
        if path.name in covers and _begins_with(path, cover := max(covers[path.name])):
            spent[path] = cover
            starts[path] = cover.size, cover.lines
    return Content(starts, [segment for segment in segments if segment.path not in spent], spent)


def named(folder: Path, suffix: str) -> list[Path]:
    """Return the files of a folder with a suffix, by name."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == suffix and path.name[0] != ".")
    except FileNotFoundError:
        return []


def _opened(folder: Path, broken: list[Broken]) -> list[Segment]:
    """Return the segments of a folder, open, so that they stay readable when another process removes them."""
    known: dict[Path, Segment | Broken] = {}
    paths = named(folder, SUFFIX)
    while True:
        for path in paths:
            if path not in known:
                with contextlib.suppress(FileNotFoundError):  # replaced by another, which is listed next
                    known[path] = _segment(path)
        again = named(folder, SUFFIX)
        if again == paths:  # one that is written and one that is removed meanwhile could both be missed
            break
        paths = again
    here = [known[path] for path in paths if path in known]
    broken += [each for each in here if isinstance(each, Broken)]
    return [each for each in here if isinstance(each, Segment)]


def _segment(path: Path) -> Segment | Broken:
    if not path.is_file() and path.exists():
        return Broken(path, 0)
    try:
        return Segment(path)
    except Damaged as error:
        return Broken(path, 0, why=str(error))


def _begins_with(path: Path, cover: Cover) -> bool:
    """Whether a line file begins with what is in segments; True where it has gone."""
    try:
        if os.stat(path).st_size < cover.size or (file := open_regular(path)) is None:
            return False
    except FileNotFoundError:
        return True
    with file:
        left, crc = cover.size, 0
        while left and (piece := file.read(min(left, 2**20))):
            left, crc = left - len(piece), zlib.crc32(piece, crc)
    return not left and crc == cover.crc


def read_lines(folder: Path, kind: str, select: Select, broken: list[Broken]) -> Iterator[Line]:
    """Yield the sound lines of a folder, of "cells" or "curves", that are selected.

    Adds to ``broken`` what cannot be read. Raises OSError, and UserError where pyarrow is missing.
    """
    now = content(folder, broken)
    for segment in now.segments:
        yield from segment.lines(select)
        broken += segment.broken
    yield from read_files(folder, kind, now, select, broken)


def read_files(folder: Path, kind: str, now: Content, select: Select, broken: list[Broken]) -> Iterator[Line]:
    """As ``read_lines``, of the line files only, wherever their lines are by now."""
    keys = None if select.keys is None else set(select.keys.hex)
    gone: dict[str, int] = {}
    for path, start in now.files.items():
        try:
            yield from filter(select.takes, scan(path, kind, keys, broken, start))
        except FileNotFoundError:
            gone[path.name] = start[1]
    if gone:
        known = {segment.path for segment in now.segments} | now.spent.keys()
        for segment in _opened(folder, []):
            if segment.path not in known:
                yield from segment.lines(select._replace(since=gone))
                broken += segment.broken
