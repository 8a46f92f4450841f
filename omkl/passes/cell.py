"""A cell: what it is, its key, what a worker needs to run it, and how a process does."""

import dataclasses
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import OmklError, UserError, counted
from omkl.passes.noted_rounds import noting
from omkl.passes.warm import warm_up_once
from omkl.store.fields import cell_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omkl.config import LearnerSpec, Setting
    from omkl.data import DataRef, Dataset
    from omkl.data.held_out import HeldOut
    from omkl.passes.one_pass import Ended, How


@dataclass(frozen=True)
class Cell:
    """One learner with its settings on one data set in one order: a repetition, and what a worker needs.

    spec, params, pool: the learner, its hyperparameters, and the kernels of its pool
    data: which an executor's worker maps from the parsed copy, or gets with the cell
    order, seed, rep, permutation_seed: of the stream    rounds: the first and the one after the last, or None
    source: of a learner of a folder, see `omkl.passes.source`
    scaling: see `omkl.rounds.scaling`; the store has it among the hyperparameters
    planned: the setting of the plan; ``params`` has a number where a budget of it matches a size
    cost: an estimate of its seconds    block, threads: how it is run; results do not depend on it
    board, number: where its rounds are noted while it runs, and under which number
    test: what is held out    own: whether the data are numbers of the user's own
    objects: the learners of a stack's members that a call had as objects, by name
    told: what the user's own data call classes and columns, where an estimator of another package sees it
    """

    planned: "Setting"
    spec: "LearnerSpec"
    params: dict[str, Any]
    pool: dict[str, Any] | None
    data: "DataRef"
    order: str
    seed: int
    rep: int
    permutation_seed: int
    block: int | None
    source: str = ""
    rounds: tuple[int, int] | None = None
    scaling: dict[str, Any] = field(default_factory=dict)
    cost: float = 0.0
    threads: int = 1
    board: Path | None = None
    number: int = 0
    test: "HeldOut | None" = None
    own: bool = False
    objects: "dict[str, LearnerSpec]" = field(default_factory=dict)
    told: str | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields in a worker, which so knows the objects."""
        from omkl.config.learners import given

        self.__dict__.update(state)
        given.update(self.objects)

    @cached_property
    def key(self) -> str:
        """The key in the store: a hash of everything that the result depends on."""
        return cell_key(self.setting)

    @property
    def is_kept(self) -> bool:
        """Whether the store keeps it: else an object's class may be another one the next time."""
        return all(getattr(spec, "is_kept", True) for spec in (self.spec, *self.objects.values()))

    def older_keys(self) -> dict[str, int]:
        """Return the keys that it had under older revisions, with these."""
        setting = self.setting
        return {cell_key(setting | {"revision": old}): old for old in range(1, setting["revision"])}

    @property
    def setting(self) -> dict[str, Any]:
        """The fields of its line that are known before it runs, in their order; see omkl.store.fields."""
        pool = self.pool and {"normalise": self.pool["normalise"], "kernels": self.pool["kernels"]}
        return {
            "algo": self.spec.name,
            "params": {**self.params, **self.scaling},
            "pool": self.pool and self.pool["name"],
            "pool_spec": pool,
            "data": self.data.name,
            "data_hash": self.data.content_hash,
            "task": self.data.task,
            "own": 1 if self.own else None,
            "told": self.told,
            "order": self.order,
            "rep": self.rep,
            "seed": self.seed,
            "permutation_seed": str(self.permutation_seed),
            "revision": self.spec.revision,
            "source": self.source or None,
            "rounds": list(self.rounds) if self.rounds else None,
            "test": self.test and self.test.name,
            "held_out": self.test.identity if self.test else None,
        }

    @property
    def kernel_pool(self) -> dict[str, Any] | None:
        """The kernels that the learner runs on, see `omkl.config.kernel_kinds.kernel_pool`."""
        from omkl.config.kernel_kinds import kernel_pool

        return kernel_pool(self.params, self.pool)


def detach(cell: Cell) -> "tuple[Cell, Dataset]":
    """Return a cell that names its data by content only, and the data: for a worker without our files."""
    from omkl.data.ref import Parsed

    data = cell.data
    bare = Parsed(data.name, data.task, data.word, data.content_hash, data.load().told, None)
    test = cell.test
    if test is not None and (other := test.load()) is not None:
        test = dataclasses.replace(test, data=dataclasses.replace(other, path=None))
    return dataclasses.replace(cell, data=bare, test=test), dataclasses.replace(data.load(), path=None)


def check_memory(cell: Cell) -> None:
    """Raise UserError for a learner whose state does not fit into this machine's memory."""
    from omkl.config import members_of
    from omkl.data import compact
    from omkl.engine.running_ranks import WINDOW
    from omkl.rounds.scaling import any_gaps, are_dense
    from omkl.state.cost import bytes_needed, memory
    from omkl.state.resource import Setup

    dataset = cell.data.load()
    d, state = compact(dataset).d, cell.spec.state
    setup = Setup(cell.params, cell.kernel_pool, d, block=cell.block or 0, classes=cell.data.n_classes)
    needed, there = bytes_needed(state, setup), memory()
    total = sum(needed.values())
    members = members_of(cell.spec, cell.params, d, cell.data.n_classes)
    for member in members:
        of_member = Setup(member.params, member.kernel_pool, d, classes=cell.data.n_classes)
        total += sum(bytes_needed(member.spec.state, of_member).values())
    if "scale" in cell.scaling or any_gaps(dataset):  # the rows as they are learnt
        is_dense = "scale" in cell.scaling and are_dense(dataset)
        total += 12 * (dataset.T * d if is_dense else dataset.nnz)
    words = [cell.scaling.get("scale"), *(member.scaling.get("scale") for member in members)]
    if "ranks" in words and are_dense(dataset):
        total += 8 * WINDOW * d
    if total > there:
        largest = max(needed, key=lambda name: needed[name])
        sizes = [f"algo.{name}={cell.params[name]}" for name in state[largest].sizes() if name in cell.params]
        sizes = sizes or [counted(setup.m, "kernel")]
        raise UserError(
            f"{' with '.join([*dict.fromkeys(sizes), f'd = {d}'])}: {cell.spec.name} takes "
            f"{total / 2**30:,.1f} GiB on data={cell.data.name}, and this machine "
            f"has {there / 2**30:,.1f} GiB; choose less"
        )


def _whole_stream(cell: Cell) -> "tuple[Dataset, np.ndarray]":
    """Return the data of a cell, and all rows in order of arrival."""
    import omkl.data

    dataset = cell.data.load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shown already, when the plan was expanded
        order, permutation_seed = omkl.data.order(dataset, cell.order, cell.seed, cell.rep)
    if permutation_seed != cell.permutation_seed:  # it depends on the data's content
        raise OmklError(f"{dataset.name} changed during the run: run the same command again")
    if cell.order == "file":
        dataset = omkl.data.realisation(dataset, cell.rep)
    return dataset, order


def data_and_order(cell: Cell) -> "tuple[Dataset, np.ndarray]":
    """Return the data of a cell, and the rows in order of arrival. Raises OmklError where they changed."""
    dataset, order = _whole_stream(cell)
    return dataset, order[slice(*cell.rounds)] if cell.rounds else order


def run_cell(cell: Cell) -> dict[str, Any]:
    """Run one cell in this process and return its figures, as `omkl.passes.run_pass` does."""
    from omkl.passes.one_pass import run_pass

    with _prepared(cell) as (dataset, order, how):
        return run_pass(cell.spec, cell.params, cell.pool, dataset, order, cell.permutation_seed, **how)


def run_whole(cell: Cell) -> "Ended":
    """Run one cell in this process and return its figures, its learner and its trace."""
    from omkl.passes.one_pass import whole_pass

    with _prepared(cell) as (dataset, order, how):
        return whole_pass(cell.spec, cell.params, cell.pool, dataset, order, cell.permutation_seed, **how)


@contextmanager
def _prepared(cell: Cell) -> "Iterator[tuple[Dataset, np.ndarray, How]]":
    """Give the data, order and manner of a cell's pass; its rounds are noted, where the cell says so."""
    from omkl.passes.source import source

    if source(cell.spec, cell.params) != cell.source:
        raise OmklError(f"the source of {cell.spec.name} changed during the run: run the same command again")
    check_memory(cell)
    warm_up_once([(cell.spec, cell.params, cell.data.n_classes)])
    dataset, order = _whole_stream(cell)
    test = None
    if cell.test is not None:
        other = cell.test.load()
        rows = order[slice(*cell.test.rows)] if cell.test.rows else np.arange(other.T if other else 0)
        test = (other or dataset, rows)
    order = order[slice(*cell.rounds)] if cell.rounds else order
    how: How = {"scaling": cell.scaling, "block": cell.block, "threads": cell.threads}
    how |= {"test": test, "own": cell.own}
    with ExitStack() as stack:
        if cell.board is not None:
            how["on_part"] = stack.enter_context(noting(cell.board, cell.number, order.size))
        yield dataset, order, how
