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
    """Return the data: as a task, not a scattered value, they outlive a worker that dies with them."""
    return dataset


def work(function: Function, job: Any, dataset: Dataset | None, deciding: dict[str, str]) -> Any:
    """Run one job in a worker, with data that came with it or were fetched before.

    deciding: of the command, see `omkl.store.provenance.deciding`. Raises OmklError where it is another here.
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
    """Raise OmklError unless what decides a result is here what it is where the command runs."""
    here = provenance.deciding()
    if here == deciding:
        return
    names = [name for name in deciding | here if deciding.get(name) != here.get(name)]
    differ = "; ".join(
        f"{name} {here.get(name, 'unknown')} there, {deciding.get(name, 'unknown')} here" for name in names
    )
    raise OmklError(
        f"the one on {socket.gethostname()} has another version of what decides results, {differ}; "
        "install the same on both and start the worker again"
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
    """Return the arrays as compiled code has its versions for: what came over the wire may be read-only."""
    return {name: np.require(getattr(dataset, name), requirements="W") for name in ARRAYS}
