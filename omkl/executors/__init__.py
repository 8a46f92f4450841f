"""Where cells are computed: in this process, in worker processes, on a cluster.

An executor takes a function and jobs and yields (job, result) as they finish, in any order. A job that raises
yields a Failure in place of its result; closing the generator stops everything at once. ``exec=NAME`` is the
class ``Name`` of the module ``NAME`` here, made with the options of conf/exec/NAME.yaml; no list is kept.
exec=slurm only submits cells to a queue, so it is not an executor: see omkl/run/slurm.py.
"""

import importlib
import importlib.util
from typing import Any

from omkl.config import compose
from omkl.errors import UserError, suggest
from omkl.executors.base import Executor, Failure, attempt
from omkl.executors.loky import Loky
from omkl.executors.serial import Serial

__all__ = ["Executor", "Failure", "Loky", "Serial", "attempt", "make"]


def make(options: dict[str, Any], jobs: int | None = None) -> Executor:
    """Return the executor of a plan's ``exec``; jobs, unless None, replaces its option ``jobs``.

    Raises UserError for an unknown name, one that only submits, or jobs < 1.
    """
    options = dict(options)
    name = options.pop("name")
    known = compose.options("exec")
    if name not in known:
        raise UserError(f"exec={name}: no such executor{suggest(name, known)}; one of {', '.join(known)}")
    if importlib.util.find_spec(f"{__name__}.{name}") is None:
        raise UserError(
            f"exec={name} submits cells and does not wait; only `omkl run` and `omkl sweep` do that"
        )
    made = getattr(importlib.import_module(f"{__name__}.{name}"), name.capitalize())
    if jobs is not None:
        if jobs < 1:
            raise UserError(f"jobs={jobs}: at least 1 worker is needed")
        options |= {"jobs": jobs} if "jobs" in options else {}
    return made(**options)
