"""What all executors have in common."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Failure:
    """What a job returns instead of a result: one line, and the end of the traceback if there was one.

    provenance: of the machine where it failed, where that differs from the command's.
    """

    error: str
    trace: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


class Executor(Protocol):
    """What the runner needs of an executor.

    workers: how many jobs it runs at a time    remote: on other machines, with compiled code of their own
    """

    name: str
    workers: int
    remote: bool

    def run(self, function: Function, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (job, ``function(job)`` or Failure) for each job, as they finish."""


def attempt(function: Function, job: Any) -> Any:
    """Return ``function(job)``, or a Failure if it raises anything but Ctrl-C."""
    try:
        return function(job)
    except (Exception, SystemExit) as error:
        line = " ".join(f"{type(error).__name__}: {error}".split())
        return Failure(line[:500], traceback.format_exc()[-3000:])
