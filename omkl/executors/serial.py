"""One job after the other in this process."""

from collections.abc import Iterable
from typing import Any

from threadpoolctl import threadpool_limits

from omkl.executors import Function, Outcomes, attempt


class Serial:
    """One job after the other in this process, with one BLAS thread as everywhere."""

    name, remote, workers = "serial", False, 1

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, result or Failure) in the order given."""
        with threadpool_limits(1):
            for job in jobs:
                yield job, attempt(function, job)
