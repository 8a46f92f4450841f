"""A pass as a job that can be sent to a worker: what it needs, and how a process runs it."""

import dataclasses
import os
import warnings
from collections import OrderedDict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError, UserError
from omkl.paths import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omkl.config import LearnerSpec
    from omkl.data import Dataset

_KEPT = 16  # data sets a process keeps open


@dataclass(frozen=True)
class Job:
    """All that a worker needs to know: one learner, its hyperparameters, and where the data are.

    data: the parsed copy to memory-map, or the data themselves where they could not be cached, or None where
    they reach the worker separately (`keep`).
    """

    spec: "LearnerSpec"
    params: dict[str, Any]
    pool: dict[str, Any] | None
    name: str
    content_hash: str
    task: str
    data: "Path | Dataset | None"
    order: str
    seed: int
    rep: int
    permutation_seed: int
    block: int | None
    classes: int = 2
    prepared: str = ""  # how a table of the user's was prepared, for the provenance
    board: Path | None = None  # where its rounds are noted while it runs, under its number
    number: int = 0
    threads: int = 1  # that share its blocks
    source: str = ""  # of a learner of a folder, see `omkl.learner.source`
    rounds: tuple[int, int] | None = None  # the first and the one after the last, None for all
    key: str = ""  # of its cell, where other runs may finish it

    @property
    def kernel_pool(self) -> dict[str, Any] | None:
        """The kernels that the learner runs on, see `omkl.config.kernel_pools.kernel_pool`."""
        from omkl.config.kernel_pools import kernel_pool

        return kernel_pool(self.params, self.pool)


def detach(job: Job) -> "tuple[Job, Dataset]":
    """Return a job that names its data by content only, and the data: for a worker without our files."""
    return dataclasses.replace(job, data=None), dataclasses.replace(dataset_of(job), path=None)


def check_memory(job: Job) -> None:
    """Raise UserError for a learner whose state does not fit into this machine's memory."""
    from omkl.config.state import names
    from omkl.data import compact
    from omkl.learner.resources import Setup, bytes_needed, memory

    d, state = compact(dataset_of(job)).d, job.spec.state
    setup = Setup(job.params, job.kernel_pool, d, block=job.block or 0, classes=job.classes)
    needed, there = bytes_needed(state, setup), memory()
    total = sum(needed.values())
    if total > there:
        largest = max(needed, key=lambda name: needed[name])
        sizes = [f"algo.{name}={job.params[name]}" for name in names(state[largest]) if name in job.params]
        sizes = sizes or [f"{setup.m} kernel{'s' if setup.m > 1 else ''}"]
        raise UserError(
            f"{' with '.join([*dict.fromkeys(sizes), f'd = {d}'])}: {job.spec.name} takes "
            f"{total / 2**30:,.1f} GiB on data={job.name}, and this machine "
            f"has {there / 2**30:,.1f} GiB; choose less"
        )


def run_cell(job: Job) -> dict[str, Any]:
    """Run one cell in this process and return its figures, as `omkl.learner.run_pass` does."""
    import omkl.data
    from omkl.learner import board, one_pass
    from omkl.learner.source import source

    if source(job.spec) != job.source:
        raise OmklError(f"the source of {job.spec.name} changed during the run: run the same command again")
    check_memory(job)
    warm_up([(job.spec, job.params, job.classes)])
    dataset = dataset_of(job)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shown already, when the plan was expanded
        order, permutation_seed = omkl.data.order(dataset, job.order, job.seed, job.rep)
    if permutation_seed != job.permutation_seed:  # it depends on the data's content
        raise OmklError(f"{job.name} changed during the run: run the same command again")
    if job.order == "file":
        dataset = omkl.data.realisation(dataset, job.rep)
    if job.rounds:
        order = order[slice(*job.rounds)]
    how: dict[str, Any] = {"block": job.block, "threads": job.threads}
    with ExitStack() as stack:
        if job.board is not None:
            how["on_part"] = stack.enter_context(board.noting(job.board, job.number, order.size))
        return one_pass.run_pass(job.spec, job.params, job.pool, dataset, order, permutation_seed, **how)


# ------------------------------------------------------------------ what a process does once

_warm: set[tuple] = set()


def warm_up(settings: "Iterable[Sequence[Any]]") -> None:
    """Load compiled learners before their first clock starts; this process compiles what is not on disk.

    settings: as of `omkl.learner.warm_up`.
    """
    from omkl.learner import warming
    from omkl.learner.compiled import setting
    from omkl.learner.resources import absent

    cold: dict[tuple, Sequence[Any]] = {}
    for own in settings:
        spec, params, many = setting(own)
        arguments = repr(params) if spec.estimator else ""  # which are checked with it
        which = (spec.name, os.environ.get(EXTENSIONS), absent(spec.state, params), many, arguments)
        if which not in _warm:
            cold.setdefault(which, own)
    if cold:
        warming.warm_up(list(cold.values()))
        _warm.update(cold)


_open: "OrderedDict[str, Dataset]" = OrderedDict()


def keep(dataset: "Dataset") -> None:
    """Keep a data set open in this process, where jobs that name its content find it."""
    _open[dataset.content_hash] = dataset
    _open.move_to_end(dataset.content_hash)
    while len(_open) > _KEPT:
        _open.popitem(last=False)


def dataset_of(job: Job) -> "Dataset":
    """Return the data of a job, which this process keeps open."""
    dataset = _open.get(job.content_hash)
    if dataset is None:
        import omkl.data

        if job.data is None:
            raise OmklError(f"{job.name}: its data did not reach this worker; run the same command again")
        dataset = omkl.data.load_cached(job.data) if isinstance(job.data, Path) else job.data
        keep(dataset)
    return dataclasses.replace(dataset, name=job.name)
