"""The bar of a run: it moves with the rounds inside a cell, and counts work that is estimated, not cells."""

import sys
import tempfile
import threading
import warnings
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from omkl.passes.cell import Cell
from omkl.passes.noted_rounds import read_progress

LOOK = 0.25  # seconds between looks at the processes' notes
FORM = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def _kind_of_bar(show: bool) -> tuple[Any, bool | None]:
    """Return what draws a bar here, and whether it is hidden; None hides it where stderr is no terminal.

    A notebook shows a bar of its own, if ipywidgets is installed; text would fill it with frames.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not show or not hasattr(shell, "kernel"):
        from tqdm import tqdm  # 0.06 s, which a run without missing cells does not need

        return tqdm, None if show else True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that ipywidgets is missing
        from tqdm.auto import tqdm as own
        from tqdm.notebook import IProgress
    return own, IProgress is None


class Bar:
    """A bar of the notebook, or on stderr if that is a terminal, of the cells that are to run.

    cells: in order, to be given to an executor. They note their rounds in files of this machine, which a
    thread reads; without a bar, or on other machines (``remote``), nothing is noted.
    """

    def __init__(self, cells: list[Cell], total: int, show: bool, remote: bool) -> None:
        work = sum(cell.cost for cell in cells)
        tqdm, hide = _kind_of_bar(show)
        look: dict[str, Any] = {
            "desc": f"{total - len(cells)}/{total} cells",
            "bar_format": FORM,
            "dynamic_ncols": True,
        }
        self._bar: Any = tqdm(total=work, disable=hide, leave=False, **look)
        self._stack, self._stop = ExitStack(), threading.Event()
        self._lock = threading.Lock()
        self._running = dict(enumerate(cells))
        self._total, self._worked = total, 0.0
        self.cells = cells
        self._folder: Path | None = None
        if not (self._bar.disable or remote):
            scratch = tempfile.TemporaryDirectory(prefix="omkl-", ignore_cleanup_errors=True)
            self._folder = folder = Path(self._stack.enter_context(scratch))
            self.cells = [replace(cell, board=folder, number=n) for n, cell in enumerate(cells)]
        self._places = {id(cell): number for number, cell in enumerate(self.cells)}

    def __enter__(self) -> "Bar":
        if self._folder:
            watch = threading.Thread(target=self._watch, daemon=True)
            watch.start()
            self._stack.callback(watch.join)
        self._stack.callback(self._stop.set)
        self._show({})
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._bar.close()

    def finished(self, cell: Cell) -> None:
        """Count a cell as done."""
        with self._lock:
            del self._running[self._places[id(cell)]]
            self._worked += cell.cost
        self._show({})

    def _watch(self) -> None:
        assert self._folder is not None
        while not self._stop.wait(LOOK):
            self._show(read_progress(self._folder))

    def _show(self, rounds: dict[int, tuple[int, int]]) -> None:
        """Draw the bar; rounds: as of `read_progress`."""
        if self._bar.disable:
            return
        with self._lock:
            live = {number: part for number, part in rounds.items() if number in self._running}
            inside = sum(self._running[number].cost * t / T for number, (t, T) in live.items())
            self._bar.n = max(self._bar.n, min(self._worked + inside, self._bar.total))
            self._bar.set_description_str(f"{self._total - len(self._running)}/{self._total} cells", False)
            if live:
                number = max(live, key=lambda number: self._running[number].cost)
                cell, (t, T) = self._running[number], live[number]
                self._bar.set_postfix_str(
                    f"{cell.spec.name} on {cell.data.name}: round {t:,} of {T:,}", False
                )
            self._bar.refresh()
