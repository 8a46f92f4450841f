"""Other runs on the same store: cells that they have finished are not computed twice.

Two runs on one store at once take over each other's finished cells. Before a cell begins, a run reads the
new lines of the files that others write: those that have changed since it began. Where a store has so many
files that this takes long, it leaves out some tiny cells. A run that finds living writers begins its cells
in an order of its own, since in the same order they would all compute the same cell at the same time.
"""

import os
import random
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from omkl.passes.cell import Cell
from omkl.passes.warm import warm_up_once
from omkl.store.lines import Memo, parse_line
from omkl.store.store import writers

TAKEN = "taken"  # what a job returns whose cell another run has finished
SHARE = 20  # a look may take one part of this many of the time
Item = TypeVar("Item")


class Others:
    """The cells that other writers of a store have finished since this run began.

    own_file: the name of this run's own file    since: when it began, as of time.time()
    """

    def __init__(self, store_path: Path, own_file: str, since: float) -> None:
        self._folder, self._own, self._since = store_path / "cells", own_file, since
        self._finished: set[str] = set()
        self._read: dict[str, int] = {}  # how many bytes of each file
        self._due = 0.0

    def finished(self, key: str) -> bool:
        """Whether another writer has finished a cell."""
        if time.monotonic() >= self._due:
            began = time.monotonic()
            self._look()
            now = time.monotonic()
            self._due = now + SHARE * (now - began)
        return key in self._finished

    def _look(self) -> None:
        memo: Memo = {}
        with os.scandir(self._folder) as entries:
            names = [one.name for one in entries if one.name.endswith(".jsonl") and one.name != self._own]
        for name in names:
            path, begin = self._folder / name, self._read.get(name, 0)
            try:
                status = path.stat()
                if status.st_mtime < self._since or status.st_size <= begin:
                    continue
                with path.open("rb") as file:
                    file.seek(begin)
                    new = file.read()
            except OSError:  # it stayed empty and was removed
                continue
            end = new.rfind(b"\n") + 1  # the last line may be in the middle of being written
            self._read[name] = begin + end
            lines = (parse_line(raw, "cells", memo) for raw in new[:end].splitlines())
            self._finished.update(line.key for line in lines if line and line.status == "ok")


def in_own_order(cells: list[Item], store_path: Path, own_file: str) -> list[Item]:
    """Return the cells in the order given, or in one of this writer's own where it is not alone."""
    if any(name != own_file for name in writers(store_path)):
        return random.Random(own_file).sample(cells, len(cells))
    return cells


_others: Callable[..., Others] = cache(Others)  # of this process


def unless_finished(
    store_path: Path, own_file: str, since: float, run: Callable[[Cell], Any], cell: Cell
) -> Any:
    """Run a cell, or return TAKEN where another writer of the store has finished it; see `Others`.

    It is looked for again when the cell can begin at once: reading the data may take longer than many cells.
    """
    others = _others(store_path, own_file, since)
    if others.finished(cell.key):
        return TAKEN
    cell.data.load()
    warm_up_once([(cell.spec, cell.params, cell.data.n_classes)])
    return TAKEN if others.finished(cell.key) else run(cell)
