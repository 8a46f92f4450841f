"""What all places to compute have in common."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Failure:
    """What a job left instead of a result: one line, and the end of the traceback if there was one.

    provenance: where it failed, as far as that is not where the command runs.
    """

    error: str
    trace: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


class Executor(Protocol):
    """What the runner needs of a place to compute.

    workers: how many jobs it computes at a time    remote: elsewhere, with compiled code of its own
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
