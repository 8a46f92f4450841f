"""One job after the other in this process."""

from collections.abc import Iterable, Iterator
from typing import Any

from omkl.executors.base import Function, attempt


class Serial:
    """One job after the other in this process, with one BLAS thread as everywhere."""

    name, remote, workers = "serial", False, 1

    def run(self, function: Function, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (job, result or Failure) in the order given."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            for job in jobs:
                yield job, attempt(function, job)
