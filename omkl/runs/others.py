"""Two runs on one store at once take over each other's finished cells.

Before a cell begins, but not for every tiny one, a run reads the new lines of the files that others write:
those that a living writer holds the lock of, and those that came or changed since this run began. A run that
finds living writers begins its cells in an order of its own, since in the same order they would all compute
the same cell at the same time.
"""

import contextlib
import os
import random
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from omkl.errors import counted
from omkl.learning.cell import Cell
from omkl.store.lines import Extent, scan
from omkl.store.query import LINES
from omkl.store.store import writer_lock

TAKEN = "taken"  # what a job returns whose cell another run has finished
LOOK = 0.1  # seconds between looks, and more where a look takes long
SHARE = 50  # a look may take one part of this many of the time
Item = TypeVar("Item")


class Others:
    """The cells that other writers of a store have finished, as far as it has been looked at.

    own: the name of this run's own file    since: when it began, as of time.time()
    """

    def __init__(self, store: Path, own: str, since: float) -> None:
        self._store, self._since = store, since
        self._finished: set[str] = set()
        self._read: dict[str, Extent] = {}  # by name of the file
        self._known = {own}  # files that need no further thought
        self._due = 0.0

    def finished(self, key: str) -> bool:
        """Whether another writer has finished a cell since it began to write."""
        if time.monotonic() >= self._due:
            began = time.monotonic()
            self._look()
            now = time.monotonic()
            self._due = now + max(LOOK, SHARE * (now - began))
        return key in self._finished

    def _look(self) -> None:
        living = set(writers(self._store))
        for name in files(self._store, self._known):
            if name in living or _changed(self._store / "cells" / name) >= self._since:
                self._read[name] = Extent()
            self._known.add(name)
        for name, extent in self._read.items():
            with contextlib.suppress(OSError):  # it stayed empty and was removed
                lines = scan(self._store / "cells" / name, "cells", None, extent)
                self._finished.update(line.key for line in lines if line.status == "ok")


def files(store: Path, known: set[str]) -> list[str]:
    """Return the names of the files of lines in a store but for those that are known."""
    with os.scandir(store / "cells") as entries:
        return [one.name for one in entries if one.name.endswith(LINES) and one.name not in known]


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def writers(store: Path) -> list[str]:
    """Return the names of the files that runs write to, or did when they were killed."""
    suffix = writer_lock(store, "").name
    return [path.name.removesuffix(suffix) for path in (store / "locks").glob(f"*.jsonl{suffix}")]


def in_own_order(cells: list[Item], store: Path, own: str) -> list[Item]:
    """Return the cells in the order given, or in one of this writer's own where it is not alone."""
    if any(name != own for name in writers(store)):
        return random.Random(own).sample(cells, len(cells))
    return cells


_others: Callable[..., Others] = cache(Others)  # of this process


def unless_finished(store: Path, own: str, since: float, run: Callable[[Cell], Any], cell: Cell) -> Any:
    """Run a cell, or return TAKEN where another writer of the store has finished it; see `Others`."""
    return TAKEN if _others(store, own, since).finished(cell.key) else run(cell)


def taken_text(keys: Sequence[str]) -> str:
    """Return what to say of the cells that were not run."""
    count = counted(len(keys), "cell")
    return f"another run on the same store finished {count} meanwhile; they were not run again"
