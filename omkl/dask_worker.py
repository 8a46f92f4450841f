"""What runs in the workers of a dask cluster."""

import threading
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from omkl import cells
from omkl.data.cache import ARRAYS
from omkl.data.dataset import Dataset
from omkl.engine import numba_cache
from omkl.errors import OmklError
from omkl.executors.base import Function, attempt

_one_at_a_time = threading.Lock()  # cells hold the interpreter, whatever threads a worker has


def given(dataset: Dataset) -> Dataset:
    """Return the data: as a task, not a scattered value, they outlive a worker that dies with them."""
    return dataset


def work(function: Function, job: Any, dataset: Dataset | None, sources: str) -> Any:
    """Run one job in a worker, with data that came with it or were fetched before."""
    from omkl import provenance

    if sources_hash() != sources:
        raise OmklError("its omkl is another version than that of the command; install the same on both")
    with _one_at_a_time, _pools().limit(limits=1):
        if dataset is not None:
            cells.keep(replace(dataset, **_writable(dataset)))
        outcome = attempt(function, job)
    if isinstance(outcome, dict):
        here = provenance.collect("dask", 1) | provenance.stamp()
        outcome["provenance"] = {name: here[name] for name in ("host", "cpu", "cores", "load")}
    return outcome


@cache
def sources_hash() -> str:
    """A hash of the engine and the learners as they are here."""
    return numba_cache.sources_hash()


@cache
def _pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _writable(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return the arrays as compiled code has its versions for: what came over the wire may be read-only."""
    return {name: np.require(getattr(dataset, name), requirements="W") for name in ARRAYS}
