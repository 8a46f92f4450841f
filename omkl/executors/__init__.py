"""Where cells are computed: in this process, in worker processes, on a cluster.

An executor takes a function and jobs and yields (job, result) as they finish, in any order. A job that raises
yields a Failure in place of its result; closing the generator stops everything at once. ``exec=NAME`` is the
class ``Name`` of the module ``NAME`` here, made with the options of conf/exec/NAME.yaml; no list is kept.
exec=slurm only submits cells to a queue, so it is not an executor: see omkl/runs/slurm.py.
"""

import importlib.util
import pkgutil
import traceback
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from omkl.errors import UserError

Function = Callable[[Any], Any]
Outcomes = Generator[tuple[Any, Any], None, None]  # (job, its result or Failure), as they finish


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
    threads: cores for each job, which may use as many threads
    """

    name: str
    workers: int
    threads: int
    remote: bool

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, ``function(job)`` or Failure) for each job, as they finish."""


def make_executor(options: dict[str, Any], jobs: int | None = None) -> Executor:
    """Return the executor of a plan's ``exec``; jobs, unless None, replaces its option ``jobs``.

    Raises UserError for a name that only submits, or jobs < 1.
    """
    options = dict(options)
    name = options.pop("name")
    if importlib.util.find_spec(f"{__name__}.{name}") is None:
        only = "only `omkl run` and `omkl sweep` take one that submits them"
        raise UserError(f"exec={name} is not an executor that waits for its cells; {only}")
    if jobs is not None and jobs < 1:
        raise UserError(f"jobs={jobs}: at least 1 worker is needed")
    if jobs is not None and "jobs" in options:
        options["jobs"] = jobs
    return pkgutil.resolve_name(f"{__name__}.{name}:{name.capitalize()}")(**options)


def attempt(function: Function, job: Any) -> Any:
    """Return ``function(job)``, or a Failure if it raises anything but Ctrl-C."""
    try:
        return function(job)
    except (Exception, SystemExit) as error:
        return Failure(error_line(error), traceback.format_exc()[-3000:])


def error_line(error: BaseException) -> str:
    """Return an error's type and message as one line of at most 500 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]
