"""What runs in the workers of a dask cluster."""

import socket
import threading
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from omkl.data.cache import ARRAYS
from omkl.data.dataset import Dataset
from omkl.errors import OmklError
from omkl.executors.base import Failure, Function, attempt
from omkl.learner import job as jobs
from omkl.store import provenance

_one_at_a_time = threading.Lock()  # cells hold the interpreter, whatever threads a worker has


def given(dataset: Dataset) -> Dataset:
    """Return the data: as a task, unlike a scattered value, they survive the death of their worker."""
    return dataset


def work(function: Function, job: Any, dataset: Dataset | None, deciding: dict[str, str]) -> Any:
    """Run one job in a worker, with data that came with it or were fetched before.

    deciding: the command's `omkl.store.provenance.deciding`. Raises OmklError where it differs here.
    """
    _check(deciding)
    with _one_at_a_time, _pools().limit(limits=1):
        if dataset is not None:
            jobs.keep(replace(dataset, **_writable(dataset)))
        outcome = attempt(function, job)
    if isinstance(outcome, dict):
        outcome["provenance"] = _origin()
    elif isinstance(outcome, Failure):
        outcome = replace(outcome, provenance=_origin())
    return outcome


def _check(deciding: dict[str, str]) -> None:
    """Raise OmklError unless the versions that decide a result are those of the command."""
    here = provenance.deciding()
    if here == deciding:
        return
    names = [name for name in deciding | here if deciding.get(name) != here.get(name)]
    differ = "; ".join(
        f"{name} {here.get(name, 'unknown')} there, {deciding.get(name, 'unknown')} here" for name in names
    )
    raise OmklError(
        f"the one on {socket.gethostname()} has other versions that decide results: {differ}; "
        "install the same versions on both and start the worker again"
    )


def _origin() -> dict[str, Any]:
    """Return the provenance that is this worker's own."""
    here = provenance.collect("dask", 1) | provenance.stamp()
    return {name: here[name] for name in ("versions", "commit", "dirty", "host", "cpu", "cores", "load")}


@cache
def _pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _writable(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return writable arrays, as the compiled code takes: those from the network may be read-only."""
    return {name: np.require(getattr(dataset, name), requirements="W") for name in ARRAYS}
