"""A repetition run again, for what its line in the store does not have: the scores of its rounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.theorems.track import Rounds, rounds_of

if TYPE_CHECKING:
    from omkl.data import Dataset
    from omkl.learning.cell import Cell


@dataclass(frozen=True)
class Run:
    """A cell of the store, and what another pass of it shows."""

    cell: "Cell"

    @cached_property
    def stream(self) -> "tuple[Dataset, np.ndarray]":
        """Its data, and the rows in order of arrival."""
        from omkl.data import compact
        from omkl.learning.cell import stream_of

        dataset, order = stream_of(self.cell)
        return compact(dataset), order

    @cached_property
    def y(self) -> np.ndarray:
        """Labels or targets (T,) in order of arrival."""
        dataset, order = self.stream
        return np.asarray(dataset.y, dtype=float)[order]

    @cached_property
    def scores(self) -> np.ndarray:
        """The predictions' scores (T,), each before its update."""
        from omkl.learning.one_pass import run_pass

        cell, traces = self.cell, []
        how: Any = {"scaling": cell.scaling, "block": cell.block}
        dataset, order = self.stream
        run_pass(
            *(cell.spec, cell.params, cell.pool, dataset, order, cell.permutation_seed),
            **how,
            on_end=lambda learner, trace: traces.append(trace),
        )
        return traces[0].score

    @cached_property
    def rounds(self) -> Rounds:
        """Its rounds one by one, of Raker and AdaRaker."""
        return rounds_of(self)

    @property
    def hinge_loss(self) -> float:
        """The sum of the hinge losses of its predictions."""
        return float(np.maximum(0.0, 1.0 - self.y * self.scores).sum())
