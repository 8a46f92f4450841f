"""Which versions of learners are compiled on this machine, and whose turn it is to compile one.

What has been compiled for this kind of CPU is marked, and loading it needs no lock. Whoever compiles a
version holds its lock, so that no other process does the same work. Different versions may be compiled at the
same time: the files of the helpers that they share are saved one by one (omkl/engine/numba_cache.py).
"""

import hashlib
import platform
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.algorithms import function
from omkl.engine import numba_cache
from omkl.files import hold
from omkl.resources.state import absent

if TYPE_CHECKING:
    from omkl.files import Lock

NONE: Any = object()  # stands for the lock of a folder that cannot be written, or locked

Setting = tuple[Any, dict, bool]  # learner, hyperparameters, whether there are more than two classes


def setting(own: Sequence[Any]) -> Setting:
    """Return the setting of (LearnerSpec, hyperparameters) or (LearnerSpec, hyperparameters, classes)."""
    return own[0], own[1], len(own) > 2 and own[2] > 2


def version(spec: Any, params: dict, many: bool = False) -> str:
    """Return the name of what is compiled: of a function, one for each set of resources that it lacks.

    many: of more than two classes
    """
    return "-without_".join((spec.function, *absent(spec.state, params))) + ("-many" if many else "")


def missing(settings: Iterable[Sequence[Any]]) -> list[str]:
    """Return the learners that are to be compiled before these settings run; estimators need no compiling."""
    learners = {version(*setting(own)): own[0].name for own in settings if not own[0].estimator}
    return [learners[name] for name, mark in _marks(learners).items() if not mark.exists()]


def cold(versions: Iterable[str]) -> list[str]:
    """Return the versions that are not marked as compiled, or are damaged: what is damaged is deleted."""
    marks = _marks(versions)
    return [
        name for name, mark in marks.items() if not (numba_cache.intact(_compiled(name)) and mark.exists())
    ]


def engine_marks(spec: Any, many: bool) -> list[Path]:
    """Return the files that mark what a learner calls of the engine as compiled, one for a kind of record."""
    kinds = {resource.record for resource in spec.state.values() if resource.record}
    folder = numba_cache.base() / "ready"
    return [folder / f"engine-{kind}{'-many' * many}-{_target()}" for kind in sorted(kinds)]


def mark_engine(spec: Any, many: bool) -> None:
    """Mark what this learner calls of the engine as compiled."""
    if numba_cache.lost():
        return
    with suppress(OSError):
        for mark in engine_marks(spec, many):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


@contextmanager
def company() -> Iterator[bool]:
    """Whether this process may start others that help to compile: one at a time may.

    None may where the folder is full, or cannot be written or locked: they would compile for themselves.
    """
    lock = NONE if numba_cache.unusable() else _take("company")
    try:
        yield lock is not None and lock is not NONE
    finally:
        if lock is not None and lock is not NONE:
            lock.release()


def turns(versions: Iterable[str], helped: bool = False) -> Generator[str, None, None]:
    """Yield each version while no other process may compile it; it is marked when the next is wanted,
    unless it could not be saved.

    Those that other processes are compiling come last. A folder that cannot be locked is no error.
    helped: by processes of this command, for which nobody is told to wait
    """
    waiting, said = list(versions), helped
    while waiting:
        name, lock = next(((name, lock) for name in waiting if (lock := _take(name))), (waiting[0], None))
        if lock is None:
            if not said:
                print("waiting: another process is compiling the learners", file=sys.stderr, flush=True)
            said, lock = True, _take(name, wait=True)
        waiting.remove(name)
        try:
            yield name
            with suppress(OSError):
                for mark in _marks([name]).values() if not numba_cache.lost() else ():
                    mark.parent.mkdir(exist_ok=True)
                    mark.touch()
        finally:
            if lock is not None and lock is not NONE:
                lock.release()


def _take(version: str, wait: bool = False) -> "Lock | None":
    """Return the lock of a version, None if another process holds it."""
    path = numba_cache.base() / "locks" / version
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return hold(path, wait)
    except OSError:
        return NONE


def _marks(versions: Iterable[str]) -> dict[str, Path]:
    """Return the files that mark these versions as compiled for this kind of CPU."""
    folder = numba_cache.base() / "ready"
    return {
        name: folder / f"{name}-{numba_cache.folder_of(_compiled(name)).name}-{_target()}"
        for name in versions
    }


def _compiled(version: str) -> Any:
    return function(version.partition("-")[0])


@cache
def _target() -> str:
    """Return a hash of what numba's files depend on beside the sources: interpreter, numba, CPU."""
    import numba
    from llvmlite import binding

    cpu = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    parts = (platform.python_implementation(), platform.python_version(), numba.__version__, *cpu)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
