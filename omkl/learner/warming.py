"""Compiled code is made, or loaded from disk, before a clock or a worker starts, by one process at a time.

Two processes that compile different versions of the same helper at the same moment leave numba's index of it
pointing at the wrong one of the two (``IndexDataCacheFile.save`` writes the index, then the code, and locks
neither). So whoever may compile holds a lock, and so do workers on a fresh machine. What has been compiled
for this kind of CPU is marked, and loading that needs no lock.
"""

import hashlib
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from omkl.algorithms import function
from omkl.config import compose
from omkl.engine import numba_cache
from omkl.errors import UserError
from omkl.files import locked
from omkl.learner import outside
from omkl.learner.one_pass import run_pass
from omkl.learner.resources import absent, limits

MOST_NAMES = 8
BAR = "{desc} {n_fmt} of {total_fmt} |{bar}| {elapsed}"


def setting(own: Sequence[Any]) -> tuple[Any, dict, bool]:
    """Return learner, hyperparameters, and whether there are more than two classes, of a setting."""
    return own[0], own[1], len(own) > 2 and own[2] > 2


def version(spec: Any, params: dict, many: bool = False) -> str:
    """Return the name of what is compiled: of a function, one for each set of resources that it lacks.

    many: of more than two classes
    """
    return "-without_".join((spec.function, *absent(spec.state, params))) + ("-many" if many else "")


def warm_up(settings: Sequence[Sequence[Any]]) -> None:
    """Compile what will run, or load it from the cache on disk, before any clock or worker starts.

    settings: (LearnerSpec, hyperparameters) or, where there are more than two classes, (LearnerSpec,
    hyperparameters, classes). Says on stderr what it compiles; one process does at a time.
    """
    pool = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]}
    chosen = list(map(setting, settings))
    for spec, params, many in chosen:
        if spec.estimator:
            outside.make(spec, params, 0, 3 if many else 2)  # imports its package, and sees wrong arguments
    versions = {version(*own): own for own in chosen if not own[0].estimator}
    with compiling(versions) as missing, ExitStack() as stack:
        new = [
            name
            for name in missing
            if "-" in name or not numba_cache.has(function(versions[name][0].function))
        ]
        bar = _announce([versions[name][0].name for name in new], stack) if new else None
        for name, (spec, params, many) in versions.items():
            tiny = _tiny(many)
            if bar is not None and name in new:
                bar.set_description_str(f"compiling {spec.name} (once; kept on disk)")
            usual = spec.usual(tiny.task)
            if version(spec, usual, many) != name:
                usual |= {limit: params[limit] and 2 for limit in limits(spec.state)}
            with _faults_as_user_errors(spec):
                run_pass(spec, usual, pool if spec.kernels == "pool" else None, tiny, np.arange(2), 0)
            if bar is not None and name in new:
                bar.update()


def _tiny(many: bool) -> Any:
    """Return two examples of two classes, or of more."""
    from omkl.data import Dataset

    y = np.array([0.0, 2.0] if many else [1.0, -1.0])
    rows = (np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1.0, 2.0]), y)
    return Dataset("", *rows, 1, "classification", "", classes=("0", "1", "2") if many else None)


def _announce(names: list[str], stack: ExitStack) -> Any:
    """Name the learners to be compiled on stderr; on a terminal, return a bar that counts them instead."""
    look: dict[str, Any] = {"desc": "compiling", "bar_format": BAR, "dynamic_ncols": True}
    bar = tqdm(total=len(names), disable=None, leave=False, **look)  # None: only on a terminal
    if bar.disable:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        what = ", ".join(names[:MOST_NAMES]) + more
        print(f"compiling {what} (once; kept on disk) ...", file=sys.stderr, flush=True)
    return stack.enter_context(bar)


@contextmanager
def _faults_as_user_errors(spec: Any) -> Iterator[None]:
    """Turn numba's error for a learner of a folder into a UserError of one line with the file's name."""
    from numba.core.errors import NumbaError

    try:
        yield
    except NumbaError as error:
        path = function(spec.function).py_func.__code__.co_filename
        if compose.of_omkl("algo", spec.name):
            raise
        lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
        said = [line for line in lines if line and not line.startswith(("Failed in", "During:"))]
        raise UserError(f"{path}: {spec.function} cannot be compiled: {' '.join(said)[:500]}") from error


@contextmanager
def compiling(versions: Iterable[str]) -> Iterator[list[str]]:
    """Hold the lock of the compiled code unless these versions are marked as there; mark them at the end.

    versions: functions of learners, with -SOMETHING after the name for another compiled version of one.
    Yields those that are not marked.
    """
    folder, marks = numba_cache.base(), _marks(versions)
    # `intact` deletes what is damaged; then it is compiled here
    missing = [
        name for name, mark in marks.items() if not (numba_cache.intact(_compiled(name)) and mark.exists())
    ]
    if not missing:
        yield missing
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / "lock", "compiling the learners"))
        except OSError:  # a folder that cannot be written, or a file system without locks
            yield missing
            return
        yield missing
        with suppress(OSError):
            (folder / "ready").mkdir(exist_ok=True)
            for mark in marks.values():
                mark.touch()


def missing(settings: Iterable[Sequence[Any]]) -> list[str]:
    """Return the learners that are to be compiled before these settings run; settings: as of `warm_up`."""
    learners = {version(*setting(own)): own[0].name for own in settings}
    return [learners[name] for name, mark in _marks(learners).items() if not mark.exists()]


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
