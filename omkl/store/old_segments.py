"""The segments of stores that omkl 0.2 compacted: Parquet files whose rows are lines.

They are turned back into lines once, by the first command that reads the store and may write to it. A segment
NAME.parquet becomes NAME.jsonl, under a temporary name until it is whole, and is then removed: so a kill
loses no line.
"""

import contextlib
from pathlib import Path

from omkl.errors import UserError
from omkl.files import hold, replacing
from omkl.store.lines import Line, Memo, parse_line

SUFFIX = ".parquet"
_ADVICE = "replace it by an intact copy, or keep its other lines with `omkl results prune --torn --yes`"
_PARTS = ["key", "crc", "text", "tail"]  # of a line
_FAULTS = (OSError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError)


def restored_lines(
    store: Path, kind: str, broken: list[str], is_alone: bool = False, remove: bool = False
) -> list[Line]:
    """Turn segments of "cells" or "curves" into line files, and return the sound lines of those that stay.

    Such are the damaged, and all in a store that cannot be written to or that another process is changing.
    Adds to ``broken`` what is damaged. is_alone: the caller holds the store's lock    remove: damaged ones,
    too, become files of what is sound of them. Raises UserError where pyarrow is missing.
    """
    if not any((store / kind).glob(f"*{SUFFIX}")):
        return []
    lock = None
    if not is_alone:
        with contextlib.suppress(OSError):  # a store that cannot be written to
            (store / "locks").mkdir(exist_ok=True)
            lock = hold(store / "locks" / "store.lock")
    try:
        return _converted(store / kind, kind, broken, is_alone or lock is not None, remove)
    finally:
        if lock is not None:
            lock.release()


def _converted(folder: Path, kind: str, broken: list[str], is_alone: bool, remove: bool) -> list[Line]:
    left: list[Line] = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        target, lines = path.with_suffix(".jsonl"), list[Line]()
        try:
            if not target.exists():  # else a process was killed before it had removed the segment
                lines, damaged = _decoded(path, kind)
                broken += damaged
                if not is_alone or (damaged and not remove):
                    left += lines
                    continue
                if lines:
                    with replacing(target) as file:
                        file.writelines(line.raw for line in lines)
            if is_alone:
                path.unlink()
        except FileNotFoundError:
            continue  # another process has just converted it
        except OSError:  # a full disk: the segment stays
            left += lines
    return left


def _decoded(path: Path, kind: str) -> tuple[list[Line], list[str]]:
    """Return the lines of a segment, and what of it is damaged. Raises FileNotFoundError, UserError."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            f"{path}: omkl 0.2 compacted this store, and pyarrow must turn it back into lines once: "
            "pip install 'omkl[parquet]'"
        ) from None
    if not path.is_file():
        path.lstat()
        return [], [f"{path} (not a file)"]
    lines: list[Line] = []
    memo: Memo = {}
    row = 0
    damaged: list[str] = []
    try:
        with pyarrow.parquet.ParquetFile(path) as segment:
            for group in range(segment.num_row_groups):
                first, count = row + 1, segment.metadata.row_group(group).num_rows
                row += count
                try:
                    # without threads, which now and then abort the interpreter's exit (apache/arrow 34314)
                    table = segment.read_row_group(group, _PARTS, use_threads=False).select(_PARTS)
                    table.validate(full=True)
                    found = [
                        parse_line(_line(*parts), kind, memo, path.name, first + at)
                        for at, parts in enumerate(zip(*table.to_pydict().values(), strict=True))
                    ]
                except (*_FAULTS, pyarrow.ArrowException):
                    found = [None]
                lines += [line for line in found if line is not None]
                if None in found:
                    damaged.append(f"{path} (rows {first} to {row} are damaged; {_ADVICE})")
    except FileNotFoundError:
        raise
    except (*_FAULTS, pyarrow.ArrowException) as error:
        damaged.append(f"{path} (no segment: {error}; {_ADVICE})".replace("\n", " "))
    return lines, damaged


def _line(key: bytes, crc: int, text: bytes, tail: bytes | None) -> bytes:
    """Return the line of which a row holds the parts. Raises ValueError if it would be several."""
    parts = [b'{"key":"%s","crc32":"%08x"' % (key.hex().encode(), crc), text]
    line = b",".join(parts if tail is None else [*parts, tail])
    if b"\n" in line:
        raise ValueError("a line break")
    return line + b"\n"
