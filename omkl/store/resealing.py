"""Sealing the lines of old stores, which have no seal."""

import contextlib
import math
from collections import Counter
from pathlib import Path
from typing import Any

from omkl.store.lines import Broken, decoded, encode_cell, encode_curve, pieces, scan
from omkl.store.reading import content
from omkl.store.segments import Select
from omkl.store.store import FOLDERS, Store
from omkl.store.upkeep import alone, rewrite_file, settle, states

Ends = dict[str, list[tuple[int, Any, Any]]]  # T, mistakes and mse of the finished cells of each key


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
            settle(store, folder)
            here = content(store.path / folder, [])
            for segment in here.segments if folder == "cells" and here.files else ():
                for line in segment.lines(Select(status="ok")):
                    _note(ends, {**line.fields[0], **line.fields[1]})
            seen = states(store, folder)
            for path, start in here.files.items():
                broken: list[Broken] = []
                with contextlib.suppress(FileNotFoundError):  # a run that wrote nothing has just ended
                    for line in scan(path, folder, None, broken, start):
                        _note(ends, {**line.fields[0], **line.fields[1]})
                old = [place for place in broken if place.unsealed]
                changes = _resealed(path, folder, {place.number for place in old}, ends) if old else {}
                if changes and not rewrite_file(store, path, seen.get(path), changes):
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
